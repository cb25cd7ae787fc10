//! Tables of plain text in as many columns as there are.
//!
//! ```text
//! class            cycle overall      tp2              a row that fits has one line
//! motion-control    1 ms ✗ FAIL       ✗ FAIL 4.17 ms
//!
//! class            cycle overall      tp4              a wider one goes on below, behind the
//! motion-control    1 ms ✗ FAIL       ✗ FAIL 2.30 ms   columns that identify the row
//! ```
//!
//! The leading columns identify the row. Where a row is wider than the terminal, its first cell is
//! shortened, to [`NAME_MIN`] or to where the names still differ; then columns go on in a table
//! below, behind the same leading ones. So nothing is left out, and no line is broken by the
//! terminal. Only a column that is wider than the terminal by itself is cut, with `…` at its end.
//! Text loses its control characters.

use std::collections::BTreeSet;

/// The fewest columns of a name that is shortened.
pub const NAME_MIN: usize = 14;

/// Spaces between two columns.
const GAP: usize = 1;

/// The side of its column to which a cell is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To the left, as words are.
    Left,
    /// To the right, as numbers are.
    Right,
}

/// The colour of a cell, where colour is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// The look of all text.
    #[default]
    Plain,
    /// Of less account than others.
    Dim,
    /// Good, such as a PASS.
    Good,
    /// Open, such as NOT PROVEN.
    Open,
    /// Bad, such as a FAIL.
    Bad,
}

impl Look {
    /// All looks, in their order.
    pub const ALL: [Self; 5] = [Self::Plain, Self::Dim, Self::Good, Self::Open, Self::Bad];

    /// Escape sequence that ends each look.
    pub const END: &str = "\u{1b}[0m";

    /// Returns the escape sequence that begins this look; empty for [`Plain`](Self::Plain).
    pub const fn begin(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\u{1b}[2m",
            Self::Good => "\u{1b}[32m",
            Self::Open => "\u{1b}[33m",
            Self::Bad => "\u{1b}[1;31m",
        }
    }

    /// Returns the text, between escape sequences where `color` is true.
    pub fn paint(self, text: &str, color: bool) -> String {
        if !color || self == Self::Plain {
            return text.to_owned();
        }
        format!("{}{text}{}", self.begin(), Self::END)
    }
}

/// A field of a table, with its look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
    look: Look,
}

impl Field {
    /// Makes a field of this look; the text loses its control characters.
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

/// A table, whose leading columns identify the row.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    leading: usize,
    rows: Vec<Vec<Field>>,
}

impl Table {
    /// Makes a table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a leading column.
    #[must_use]
    pub fn leading(mut self, heading: &str, side: Side) -> Self {
        self.leading += 1;
        self.column(heading, side, 0)
    }

    /// Adds a column, `least` wide at least.
    #[must_use]
    pub fn column(mut self, heading: &str, side: Side, least: usize) -> Self {
        self.columns.push(Column { heading: visible(heading), side, least });
        self
    }

    /// Adds several columns of numbers, each `least` wide at least.
    #[must_use]
    pub fn numbers<'a>(self, headings: impl IntoIterator<Item = &'a str>, least: usize) -> Self {
        headings.into_iter().fold(self, |table, heading| table.column(heading, Side::Right, least))
    }

    /// Adds a row; fields that are missing stay empty.
    pub fn row<T: Into<Field>>(&mut self, fields: impl IntoIterator<Item = T>) {
        self.rows.push(fields.into_iter().map(Into::into).collect());
    }

    /// Returns `true` if the heading and every row fit in one line of `width` columns.
    pub fn fits(&self, width: usize) -> bool {
        self.taken(&self.widths(usize::MAX), 0..self.columns.len()) <= width
    }

    /// Returns the lines, none of them wider than `width`, with escape sequences where `color` is
    /// true.
    pub fn lines(&self, width: usize, color: bool) -> Vec<String> {
        let mut widths = self.widths(width);
        let all = self.taken(&widths, 0..self.columns.len());
        if let Some(name) = widths.first().copied()
            && all > width
        {
            // The names are shortened first, then columns go on below. Names stay as long as the
            // fewest parts allow.
            let parts_with = |own: usize| {
                let mut widths = widths.clone();
                widths[0] = own;
                let is_whole = self.hold(&widths, width);
                (!is_whole, self.parts(&widths, width).len())
            };
            let least = self.name_min().min(name);
            let fewest = parts_with(least);
            let longest = (least..=name).rev().find(|own| parts_with(*own) == fewest);
            widths[0] = longest.unwrap_or(least);
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

    /// Returns the fewest columns in which all names that differ still do, but [`NAME_MIN`] at
    /// least.
    fn name_min(&self) -> usize {
        let names: BTreeSet<&str> =
            self.rows.iter().filter_map(|row| Some(row.first()?.text.as_str())).collect();
        let longest = names.iter().map(|name| length(name)).max().unwrap_or(0);
        let differ = |width: &usize| {
            let cut: BTreeSet<String> = names.iter().map(|name| cut_inside(name, *width)).collect();
            cut.len() == names.len()
        };
        (NAME_MIN..longest).find(differ).unwrap_or(longest.max(NAME_MIN))
    }

    /// Returns the width of each column: that of its widest field, and `most` at most.
    fn widths(&self, most: usize) -> Vec<usize> {
        let width = |(index, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            let longest = cells.map(|field| length(&field.text)).max().unwrap_or(0);
            longest.max(length(&column.heading)).max(column.least).min(most)
        };
        self.columns.iter().enumerate().map(width).collect()
    }

    /// Returns `true` if each column fits beside the leading ones.
    fn hold(&self, widths: &[usize], width: usize) -> bool {
        let begin = self.taken(widths, 0..self.leading);
        widths.iter().skip(self.leading).all(|own| begin + GAP + own <= width)
    }

    fn taken(&self, widths: &[usize], columns: impl Iterator<Item = usize>) -> usize {
        columns.map(|column| widths[column] + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// Divides the columns behind the leading ones into parts that fit beside these.
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
            if *index == 0 && self.leading > 0 {
                let name = cut_inside(&field.text, widths[0]);
                return field.look.paint(&placed(&name, self.columns[0].side, widths[0]), color);
            }
            field.look.paint(&placed(&field.text, self.columns[*index].side, widths[*index]), color)
        });
        joined(cells)
    }
}

/// Joins cells with a gap between them, without spaces at the end.
fn joined(cells: impl Iterator<Item = String>) -> String {
    let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
    line.trim_end().to_owned()
}

/// Places a text at its side of a column; a longer one ends in `…`.
fn placed(text: &str, side: Side, width: usize) -> String {
    let text = cut(text, width);
    match side {
        Side::Left => format!("{text:<width$}"),
        Side::Right => format!("{text:>width$}"),
    }
}

/// Cuts a text to at most `width` columns; a longer one ends in `…`.
pub fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Cuts a name to at most `width` columns; of a longer one both ends remain, since names of one
/// kind begin alike: `iec-61…ose-ed1`.
fn cut_inside(name: &str, width: usize) -> String {
    let count = length(name);
    if count <= width {
        return name.to_owned();
    }
    let kept = width.saturating_sub(1);
    let (begin, end) = (kept / 2, kept - kept / 2);
    let head = name.chars().take(begin);
    head.chain(['…']).chain(name.chars().skip(count - end)).collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Replaces characters that a terminal would obey, and special spaces by plain ones, because
/// columns are counted in characters.
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
mod tests;
