//! Tables of plain text in as many columns as there are.
//!
//! ```text
//! class            cycle overall      tp2              what fits stands in one line
//! motion-control    1 ms ✗ FAIL       ✗ FAIL 4.17 ms
//!
//! class            cycle overall      tp4              what doesn't stands below, behind the
//! motion-control    1 ms ✗ FAIL       ✗ FAIL 2.30 ms   columns that say which row it is
//! ```
//!
//! The leading columns say which row it is. Where a row is wider than the terminal its first cell
//! is shortened to [`NAME_MIN`], and then columns go on in a table below, behind the same leading
//! ones: nothing is left out, and no line is broken by the terminal. Only a column that is wider
//! than the terminal by itself is cut, with `…` at its end. Text loses its control characters.

/// The fewest columns of a name that is shortened.
pub const NAME_MIN: usize = 14;

/// Between two columns.
const GAP: usize = 1;

/// The side of its column at which a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// The colour of a cell, where colour is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// As all text.
    #[default]
    Plain,
    /// Of less account.
    Dim,
    /// Good.
    Good,
    /// Open.
    Open,
    /// Bad.
    Bad,
}

impl Look {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Plain, Self::Dim, Self::Good, Self::Open, Self::Bad];

    /// The escape sequence that ends each look.
    pub const END: &str = "\u{1b}[0m";

    /// The escape sequence that begins this look; empty for [`Plain`](Self::Plain).
    pub const fn begin(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\u{1b}[2m",
            Self::Good => "\u{1b}[32m",
            Self::Open => "\u{1b}[33m",
            Self::Bad => "\u{1b}[1;31m",
        }
    }

    /// The text with escape sequences around it, where `color` is true.
    pub fn paint(self, text: &str, color: bool) -> String {
        if !color || self == Self::Plain {
            return text.to_owned();
        }
        format!("{}{text}{}", self.begin(), Self::END)
    }
}

/// A field of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
    look: Look,
}

impl Field {
    /// A field that looks like this.
    pub fn new(text: &str, look: Look) -> Self {
        Self { text: visible(text), look }
    }
}

impl<T: AsRef<str>> From<T> for Field {
    fn from(text: T) -> Self {
        Self::new(text.as_ref(), Look::Plain)
    }
}

#[derive(Clone, Debug)]
struct Column {
    heading: String,
    side: Side,
    least: usize,
}

/// A table, whose leading columns say which row it is.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    leading: usize,
    rows: Vec<Vec<Field>>,
}

impl Table {
    /// A table of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// With another leading column.
    #[must_use]
    pub fn leading(mut self, heading: &str, side: Side) -> Self {
        self.leading += 1;
        self.column(heading, side, 0)
    }

    /// With another column, `least` wide at least.
    #[must_use]
    pub fn column(mut self, heading: &str, side: Side, least: usize) -> Self {
        self.columns.push(Column { heading: visible(heading), side, least });
        self
    }

    /// With several columns of numbers, each `least` wide at least.
    #[must_use]
    pub fn numbers<'a>(self, headings: impl IntoIterator<Item = &'a str>, least: usize) -> Self {
        headings.into_iter().fold(self, |table, heading| table.column(heading, Side::Right, least))
    }

    /// Adds a row; fields that are missing stay empty.
    pub fn row<T: Into<Field>>(&mut self, fields: impl IntoIterator<Item = T>) {
        self.rows.push(fields.into_iter().map(Into::into).collect());
    }

    /// Returns whether the heading and every row fit in one line of `width` columns.
    pub fn fits(&self, width: usize) -> bool {
        self.taken(&self.widths(usize::MAX), 0..self.columns.len()) <= width
    }

    /// The lines, none of them wider than `width`, with escape sequences where `color` is true.
    pub fn lines(&self, width: usize, color: bool) -> Vec<String> {
        let mut widths = self.widths(width);
        let all = self.taken(&widths, 0..self.columns.len());
        if let Some(name) = widths.first_mut()
            && all > width
        {
            // The names give way first, then columns go on below.
            *name = (*name).min(NAME_MIN.max(name.saturating_sub(all - width)));
        }
        let mut lines = Vec::new();
        for (index, part) in self.parts(&widths, width).into_iter().enumerate() {
            if index > 0 {
                lines.push(String::new());
            }
            let shown: Vec<usize> = (0..self.leading).chain(part).collect();
            lines.push(self.heading(&widths, &shown));
            let rows = self.rows.iter().map(|row| self.line(row, &widths, &shown, color));
            lines.extend(rows);
        }
        lines
    }

    /// The width of each column: that of its widest field, and `most` at most.
    fn widths(&self, most: usize) -> Vec<usize> {
        let width = |(index, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            let longest = cells.map(|field| length(&field.text)).max().unwrap_or(0);
            longest.max(length(&column.heading)).max(column.least).min(most)
        };
        self.columns.iter().enumerate().map(width).collect()
    }

    fn taken(&self, widths: &[usize], columns: impl Iterator<Item = usize>) -> usize {
        columns.map(|column| widths[column] + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// The columns behind the leading ones, in parts that fit beside those.
    fn parts(&self, widths: &[usize], width: usize) -> Vec<Vec<usize>> {
        let begin = self.taken(widths, 0..self.leading);
        let mut parts = vec![Vec::new()];
        let mut taken = begin;
        for (column, own) in widths.iter().enumerate().skip(self.leading) {
            let last = parts.last_mut().expect("there is a part at least");
            if !last.is_empty() && taken + GAP + own > width {
                parts.push(vec![column]);
                taken = begin;
            } else {
                last.push(column);
            }
            taken += GAP + own;
        }
        parts
    }

    fn heading(&self, widths: &[usize], shown: &[usize]) -> String {
        let cells = shown.iter().map(|index| {
            let column = &self.columns[*index];
            placed(&column.heading, column.side, widths[*index])
        });
        joined(cells)
    }

    fn line(&self, row: &[Field], widths: &[usize], shown: &[usize], color: bool) -> String {
        let cells = shown.iter().map(|index| {
            let nothing = Field::default();
            let field = row.get(*index).unwrap_or(&nothing);
            field.look.paint(&placed(&field.text, self.columns[*index].side, widths[*index]), color)
        });
        joined(cells)
    }
}

/// Cells with a gap between, and no spaces at the end.
fn joined(cells: impl Iterator<Item = String>) -> String {
    let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
    line.trim_end().to_owned()
}

/// A text at its side of a column; a longer one ends in `…`.
fn placed(text: &str, side: Side, width: usize) -> String {
    let text = cut(text, width);
    match side {
        Side::Left => format!("{text:<width$}"),
        Side::Right => format!("{text:>width$}"),
    }
}

/// A text of at most so many columns; a longer one ends in `…`.
pub fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Replaces what a terminal would obey, and spaces of other kinds by plain ones: columns are
/// counted in characters.
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{a0}' | '\u{202f}' | '\n' | '\t' => ' ',
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table() -> Table {
        let mut table = Table::new()
            .leading("record", Side::Left)
            .numbers(["median", "max"], 6)
            .column("why", Side::Left, 0);
        table.row(["tp1 · task0", "11 ns", "2.30\u{a0}ms", "late"]);
        table.row(["tp2\u{1b}[2J", "9 ns", "4 ms"]);
        table
    }

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        assert_eq!(
            table().lines(100, false),
            [
                "record      median     max why",
                "tp1 · task0  11 ns 2.30 ms late",
                "tp2\u{fffd}[2J       9 ns    4 ms"
            ]
        );
    }

    #[test]
    fn what_does_not_fit_stands_below_behind_the_name() {
        let lines = table().lines(26, false);
        assert_eq!(lines[0], "record      median     max");
        assert_eq!(lines[3], "");
        assert_eq!(lines[4], "record      why");
        assert_eq!(lines[5], "tp1 · task0 late");
    }

    #[test]
    fn a_name_gives_way_before_a_column_does() {
        let mut table = Table::new().leading("class", Side::Left).numbers(["max"], 0);
        table.row(["electricity-distribution-medium-voltage", "23 µs"]);
        assert_eq!(
            table.lines(30, false),
            ["class                      max", "electricity-distributio… 23 µs"]
        );
    }

    #[test]
    fn colour_takes_no_columns() {
        let mut table = Table::new().leading("a", Side::Left).column("b", Side::Left, 0);
        table.row([Field::from("x"), Field::new("✗ FAIL", Look::Bad)]);
        assert_eq!(table.lines(80, true)[1], "x \u{1b}[1;31m✗ FAIL\u{1b}[0m");
        assert_eq!(table.lines(80, false)[1], "x ✗ FAIL");
    }

    proptest! {
        /// Whatever stands in it, no line is wider than the terminal, and no column is lost.
        #[test]
        fn every_table_fits(
            rows in prop::collection::vec(prop::collection::vec(".{0,30}", 7), 0..5),
            width in prop::sample::select(vec![60_usize, 80, 100, 120]),
        ) {
            let headings = ["one", "two", "three", "four", "five", "six"];
            let mut table = Table::new().leading("name", Side::Left).numbers(headings, 9);
            for row in &rows {
                table.row(row.iter().map(String::as_str));
            }
            let lines = table.lines(width, false);
            for line in &lines {
                prop_assert!(line.chars().count() <= width, "{line}");
            }
            let text = lines.join("\n");
            for heading in headings {
                prop_assert!(text.contains(heading));
            }
        }
    }
}
