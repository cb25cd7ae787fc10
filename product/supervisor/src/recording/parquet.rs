//! A recording as Apache Parquet: the columns of the text table, each of its own type.
//!
//! | variable | physical type | logical type |
//! |----------|---------------|--------------|
//! | bool | BOOLEAN | |
//! | whole numbers and enumerations up to 32 bits | INT32 | INTEGER of their width and sign |
//! | of 64 bits, addresses | INT64 | INTEGER of 64 bits and their sign |
//! | f32, f64 | FLOAT, DOUBLE | |
//!
//! Rows are written in groups, so memory stays bounded however long the recording is.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use quietcore_program::place::Scalar;
use quietcore_record::trace::{HEAD, Moment, Number};
use quietcore_units::DataType;

use super::Column;

/// Rows in a group: with all variables about 32 MiB.
const GROUP_ROWS: usize = 1 << 16;

/// Name of the schema, written into the file.
const SCHEMA: &str = "quietcore.trace/1";

/// The values of a column that wait until their group is full.
#[derive(Debug)]
enum Buffer {
    Bool(Vec<bool>),
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Buffer {
    fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::Narrow(values) => values.len(),
            Self::Wide(values) => values.len(),
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
        }
    }

    /// Adds a number of the column's type; one of another type becomes the nearest value.
    fn push(&mut self, number: Number) {
        match (self, number) {
            (Self::Bool(values), number) => values.push(number.as_f64() != 0.0),
            // Unsigned numbers keep their bits, as the format requires.
            (Self::Narrow(values), number) => values.push(bits_of(number) as i32),
            (Self::Wide(values), number) => values.push(bits_of(number)),
            (Self::Single(values), Number::Single(value)) => values.push(value),
            (Self::Single(values), number) => values.push(number.as_f64() as f32),
            (Self::Double(values), number) => values.push(number.as_f64()),
        }
    }

    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Self::Bool(values) => {
                column.typed::<BoolType>().write_batch(values, None, None)?;
                values.clear();
            }
            Self::Narrow(values) => {
                column.typed::<Int32Type>().write_batch(values, None, None)?;
                values.clear();
            }
            Self::Wide(values) => {
                column.typed::<Int64Type>().write_batch(values, None, None)?;
                values.clear();
            }
            Self::Single(values) => {
                column.typed::<FloatType>().write_batch(values, None, None)?;
                values.clear();
            }
            Self::Double(values) => {
                column.typed::<DoubleType>().write_batch(values, None, None)?;
                values.clear();
            }
        }
        Ok(())
    }
}

fn bits_of(number: Number) -> i64 {
    match number {
        Number::Bool(value) => i64::from(value),
        Number::Signed(value) => value,
        Number::Unsigned(value) => value.cast_signed(),
        Number::Single(value) => value as i64,
        Number::Double(value) => value as i64,
    }
}

/// Writes the table, group by group.
pub(super) struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    buffers: Vec<Buffer>,
}

impl<W: Write + Send> std::fmt::Debug for ParquetWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetWriter")
            .field("columns", &self.buffers.len())
            .finish_non_exhaustive()
    }
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(super) fn new(output: W, columns: &[Column]) -> io::Result<Self> {
        let unsigned = LogicalType::integer(64, false);
        let [cycle, monotonic_ns, seconds, lost_before] = HEAD;
        let mut fields = vec![
            field(cycle, Physical::INT64, Some(unsigned.clone()))?,
            field(monotonic_ns, Physical::INT64, Some(unsigned.clone()))?,
            field(seconds, Physical::DOUBLE, None)?,
            field(lost_before, Physical::INT64, Some(unsigned))?,
        ];
        let mut buffers = vec![
            Buffer::Wide(Vec::new()),
            Buffer::Wide(Vec::new()),
            Buffer::Double(Vec::new()),
            Buffer::Wide(Vec::new()),
        ];
        for column in columns {
            let (physical, logical, buffer) = kind_of(&column.scalar);
            fields.push(field(&column.path, physical, logical)?);
            buffers.push(buffer);
        }
        let schema = Type::group_type_builder("trace").with_fields(fields).build();
        let schema = schema.map_err(io::Error::other)?;
        let named = KeyValue { key: "schema".to_owned(), value: Some(SCHEMA.to_owned()) };
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("quietcore {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![named]))
            .build();
        let file = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties));
        Ok(Self { file: file.map_err(io::Error::other)?, buffers })
    }

    pub(super) fn row(&mut self, moment: &Moment, values: &[Number]) -> io::Result<()> {
        if values.len() + HEAD.len() != self.buffers.len() {
            return Err(io::Error::other(
                "a row has another number of values than there are columns",
            ));
        }
        let head = [
            Number::Unsigned(moment.cycle),
            Number::Unsigned(moment.monotonic_ns),
            Number::Double(moment.seconds),
            Number::Unsigned(moment.lost_before),
        ];
        for (buffer, number) in self.buffers.iter_mut().zip(head.iter().chain(values)) {
            buffer.push(*number);
        }
        if self.buffers[0].len() >= GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut group = self.file.next_row_group().map_err(io::Error::other)?;
        for buffer in &mut self.buffers {
            let column = group.next_column().map_err(io::Error::other)?;
            let mut column = column.ok_or_else(|| io::Error::other("a column is missing"))?;
            buffer.write(&mut column).map_err(io::Error::other)?;
            column.close().map_err(io::Error::other)?;
        }
        group.close().map_err(io::Error::other)?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        if self.buffers[0].len() > 0 {
            self.write_group()?;
        }
        self.file.into_inner().map_err(io::Error::other)
    }
}

fn field(name: &str, physical: Physical, logical: Option<LogicalType>) -> io::Result<TypePtr> {
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
        .map_err(io::Error::other)
}

fn kind_of(scalar: &Scalar) -> (Physical, Option<LogicalType>, Buffer) {
    match scalar {
        Scalar::Number(DataType::Bool) => (Physical::BOOLEAN, None, Buffer::Bool(Vec::new())),
        Scalar::Number(DataType::F32) => (Physical::FLOAT, None, Buffer::Single(Vec::new())),
        Scalar::Number(DataType::F64) => (Physical::DOUBLE, None, Buffer::Double(Vec::new())),
        whole => {
            let bits = if whole.bytes() > 4 { 64 } else { 8 * whole.bytes() as i8 };
            let logical = LogicalType::integer(bits, whole.is_signed());
            if bits == 64 {
                (Physical::INT64, Some(logical), Buffer::Wide(Vec::new()))
            } else {
                (Physical::INT32, Some(logical), Buffer::Narrow(Vec::new()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    /// Goal: what is written is what another reader of the format finds, over several groups.
    #[test]
    fn values_come_back_with_their_types() {
        let column = |path: &str, scalar| Column { path: path.to_owned(), scalar };
        let columns = [
            column("a.bool", Scalar::Number(DataType::Bool)),
            column("a.u8", Scalar::Number(DataType::U8)),
            column("a.i16", Scalar::Number(DataType::I16)),
            column("a.u64", Scalar::Number(DataType::U64)),
            column("a.f32", Scalar::Number(DataType::F32)),
            column("a.f64[2]", Scalar::Number(DataType::F64)),
        ];
        let mut file = tempfile::tempfile().unwrap();
        let mut table = ParquetWriter::new(file.try_clone().unwrap(), &columns).unwrap();
        let rows = GROUP_ROWS as u64 + 3;
        for cycle in 0..rows {
            let moment = Moment { cycle, monotonic_ns: cycle, seconds: -0.5, lost_before: 2 };
            let values = [
                Number::Bool(cycle % 2 == 0),
                Number::Unsigned(255),
                Number::Signed(-2),
                Number::Unsigned(u64::MAX),
                Number::Single(0.1),
                Number::Double(cycle as f64),
            ];
            table.row(&moment, &values).unwrap();
            assert!(table.row(&moment, &values[1..]).is_err());
        }
        table.finish().unwrap().flush().unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        assert_eq!(reader.metadata().file_metadata().num_rows() as u64, rows);
        let last = reader.get_row_iter(None).unwrap().last().unwrap().unwrap();
        let found: Vec<(String, Field)> = last.into_columns();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[..4], HEAD);
        assert_eq!(names[4..], ["a.bool", "a.u8", "a.i16", "a.u64", "a.f32", "a.f64[2]"]);
        let values: Vec<Field> = found.into_iter().map(|(_, value)| value).collect();
        let cycle = rows - 1;
        assert_eq!(
            values,
            [
                Field::ULong(cycle),
                Field::ULong(cycle),
                Field::Double(-0.5),
                Field::ULong(2),
                Field::Bool(cycle.is_multiple_of(2)),
                Field::UByte(255),
                Field::Short(-2),
                Field::ULong(u64::MAX),
                Field::Float(0.1),
                Field::Double(cycle as f64),
            ]
        );
    }
}
