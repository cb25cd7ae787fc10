//! The outputs of a recording: a table in a file, and whatever else takes rows.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use quietcore_program::place::Scalar;
use quietcore_record::trace::{Meaning, Moment, Number, Recording, TableWriter};
use quietcore_units::DataType;
use tempfile::NamedTempFile;

use super::Column;
use super::parquet::ParquetWriter;

/// A consumer of a recording's rows.
pub trait Output {
    /// Takes the columns. It is called once, first.
    ///
    /// # Errors
    /// When they can't be written; the recording does not begin then.
    fn begin(&mut self, columns: &[Column]) -> io::Result<()>;

    /// Takes the values of one sample.
    ///
    /// # Errors
    /// When they can't be written; the recording ends then.
    fn row(&mut self, moment: &Moment, values: &[Number]) -> io::Result<()>;

    /// Takes note that a window begins, whose first row comes next: the trigger came in cycle
    /// `cycle`, and `before` rows are from before it. Outputs of one window have no use for it.
    fn window(&mut self, _cycle: u64, _before: u64) {}
}

/// Takes the rows for a plot.
impl Output for Recording {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        *self = Self::new(columns.iter().map(|column| column.path.clone()).collect());
        self.meanings = columns.iter().map(|column| meaning_of(&column.scalar)).collect();
        Ok(())
    }

    fn row(&mut self, moment: &Moment, values: &[Number]) -> io::Result<()> {
        let values: Vec<f64> = values.iter().map(|value| value.as_f64()).collect();
        self.push(moment, &values);
        Ok(())
    }
}

/// Returns the meaning of a type's numbers in a plot.
fn meaning_of(scalar: &Scalar) -> Meaning {
    match scalar {
        Scalar::Number(DataType::Bool) => Meaning::Level,
        Scalar::Enum(names) => {
            let names = names.values.iter().map(|(name, value)| (*value, name.clone()));
            Meaning::Names(names.collect())
        }
        _ => Meaning::Plain,
    }
}

/// Passes all rows to several outputs, in their order.
impl Output for Vec<&mut dyn Output> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        self.iter_mut().try_for_each(|output| output.begin(columns))
    }

    fn row(&mut self, moment: &Moment, values: &[Number]) -> io::Result<()> {
        self.iter_mut().try_for_each(|output| output.row(moment, values))
    }
}

/// The format of a table's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Text, see [`quietcore_record::trace`].
    Csv,
    /// Apache Parquet with the same columns, each of its own type.
    Parquet,
}

impl FileFormat {
    /// Returns the format for a file's extension; `None` if it is another one.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// A table in a file. The file appears, or replaces an older one, when it is
/// [finished](Self::finish).
#[derive(Debug)]
pub struct TableFile {
    path: PathBuf,
    format: FileFormat,
    table: Option<Table>,
    /// The temporary file, in which the table is written.
    part: NamedTempFile,
}

#[derive(Debug)]
enum Table {
    Csv(Box<TableWriter<BufWriter<File>>>),
    Parquet(Box<ParquetWriter<File>>),
}

impl TableFile {
    /// Makes sure that the file can be written, before anything is recorded.
    ///
    /// # Errors
    /// When its folder can't be written to, or there is something else than a plain file.
    pub fn create(path: &Path, format: FileFormat) -> io::Result<Self> {
        // Renaming would put a file in the place of a device, or of a link.
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other("it is there and is not a plain file"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let part = tempfile::Builder::new()
            .prefix(".quietcore-")
            .permissions(fs::Permissions::from_mode(0o644))
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            // Its text names the temporary file, which nobody asked for.
            .map_err(|error| io::Error::from(error.kind()))?;
        Ok(Self { path: path.to_owned(), format, table: None, part })
    }

    /// Ends the table, whereupon the file appears.
    ///
    /// # Errors
    /// When the last of it can't be written, or nothing was recorded.
    pub fn finish(self) -> io::Result<()> {
        let file = match self.table {
            None => return Err(io::Error::other("nothing was recorded")),
            Some(Table::Csv(table)) => {
                table.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?
            }
            Some(Table::Parquet(table)) => table.finish()?,
        };
        file.sync_all()?;
        self.part.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Output for TableFile {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        if self.table.is_some() {
            return Err(io::Error::other("the table has begun"));
        }
        // By a handle of its own, whose errors don't name the temporary file.
        let file = self.part.as_file().try_clone()?;
        self.table = Some(match self.format {
            FileFormat::Csv => {
                let names: Vec<String> = columns.iter().map(|it| it.path.clone()).collect();
                Table::Csv(Box::new(TableWriter::new(BufWriter::new(file), &names)?))
            }
            FileFormat::Parquet => Table::Parquet(Box::new(ParquetWriter::new(file, columns)?)),
        });
        Ok(())
    }

    fn row(&mut self, moment: &Moment, values: &[Number]) -> io::Result<()> {
        match &mut self.table {
            None => Err(io::Error::other("the table has not begun")),
            Some(Table::Csv(table)) => table.row(moment, values),
            Some(Table::Parquet(table)) => table.row(moment, values),
        }
    }
}
