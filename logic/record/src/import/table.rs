//! A table of buckets as text: a row a bucket, a column a thread or CPU.
//!
//! The bucket numbers ascend strictly. Rows may be absent, since `rtla` leaves out those without
//! values; the totals tell whether one was lost.

use super::column::Column;
use super::error::{Problems, quoted};
use super::lines::{Line, Word};
use super::{CELLS_MAX, COLUMNS_MAX};

/// The table read so far.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) last_bucket: Option<u64>,
    width: Option<(usize, usize)>,
    cells: usize,
}

impl Table {
    /// A table whose width a header gives.
    pub(crate) fn with_columns(count: usize, header_line: usize) -> Self {
        Self {
            columns: vec![Column::default(); count],
            width: Some((count, header_line)),
            ..Self::default()
        }
    }

    /// Adds a row. A row with a problem leaves the table as it was.
    pub(crate) fn add(&mut self, line: Line<'_>, problems: &mut Problems) {
        let mut words = line.words();
        let Some(first) = words.next() else { return };
        let Some(bucket) = first.number("the bucket", problems) else { return };
        self.add_row((line, first), bucket, words, problems);
    }

    /// Adds a row of a bucket, which stands at a word of it, and its counts.
    pub(crate) fn add_row<'a>(
        &mut self,
        (line, first): (Line<'_>, Word<'_>),
        bucket: u64,
        counts: impl Iterator<Item = Word<'a>>,
        problems: &mut Problems,
    ) {
        match self.last_bucket {
            Some(last) if last == bucket => problems.at(
                first.place(),
                format!("bucket {} is there twice; each bucket has one row", quoted(first.text)),
            ),
            Some(last) if last > bucket => problems.at(
                first.place(),
                format!(
                    "bucket {} follows a later one; the buckets of an unchanged file ascend",
                    quoted(first.text)
                ),
            ),
            _ => {}
        }
        self.last_bucket = self.last_bucket.max(Some(bucket));
        let cells: Option<Vec<u64>> = counts
            .map(|word| word.number("the count", problems))
            .collect::<Vec<_>>()
            .into_iter()
            .collect();
        let Some(cells) = cells else { return };
        if !self.fits(line, cells.len(), problems) {
            return;
        }
        for (column, count) in self.columns.iter_mut().zip(cells) {
            if count == 0 {
                continue;
            }
            self.cells += 1;
            if self.cells > CELLS_MAX {
                // One problem suffices: the count stays above the limit.
                if self.cells == CELLS_MAX + 1 {
                    problems.at(line.place(), format!("more than {CELLS_MAX} cells hold values"));
                }
                return;
            }
            if let Err(what) = column.add(bucket, count) {
                problems.at(line.place(), what);
            }
        }
    }

    fn fits(&mut self, line: Line<'_>, width: usize, problems: &mut Problems) -> bool {
        match self.width {
            Some((expected, _)) if expected == width => true,
            Some((expected, since)) => {
                problems.at(
                    line.place(),
                    format!("the row has {width} counts; expected {expected} as in line {since}"),
                );
                false
            }
            None if width == 0 => {
                problems.at(
                    line.place(),
                    "the row has a bucket and no count; expected a count for each thread",
                );
                false
            }
            None if width > COLUMNS_MAX => {
                problems
                    .at(line.place(), format!("{width} columns; at most {COLUMNS_MAX} are read"));
                false
            }
            None => {
                self.width = Some((width, line.number));
                self.columns = vec![Column::default(); width];
                true
            }
        }
    }
}

/// The numbers of a summary line, if there are `count` of them and all are numbers.
pub(crate) fn summary<'a>(
    line: Line<'a>,
    label: &str,
    counts: &[usize],
    problems: &mut Problems,
) -> Option<Vec<u64>> {
    let words: Vec<_> = line.after(label)?.collect();
    if !counts.contains(&words.len()) {
        problems.at(
            line.place(),
            format!(
                "`{label}` has {} numbers; expected {}, one a column: the line was cut off or \
                 changed",
                words.len(),
                counts[0]
            ),
        );
        return None;
    }
    words.iter().map(|word| word.number(label, problems)).collect::<Vec<_>>().into_iter().collect()
}
