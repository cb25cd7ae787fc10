//! Tables of plain text: columns as wide as their content.

/// A table; its last column may have any length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    heading: Vec<&'static str>,
    /// For each column, `true` if it holds numbers, which are aligned at the right.
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table with these columns; a heading that begins with `>` is that of numbers.
    pub(crate) fn new(heading: &[&'static str]) -> Self {
        Self {
            heading: heading.iter().map(|name| name.trim_start_matches('>')).collect(),
            right: heading.iter().map(|name| name.starts_with('>')).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; control characters in it are made visible.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| crate::terminal::visible(&cell)).collect());
    }

    /// Returns the lines, the heading first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let heading: Vec<String> = self.heading.iter().map(|name| (*name).to_owned()).collect();
        let widths = self.widths();
        std::iter::once(&heading).chain(&self.rows).map(|row| self.line(row, &widths)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let heading = self.heading.iter().map(|name| name.chars().count());
        let width = |(column, heading): (usize, usize)| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(heading)
        };
        heading.enumerate().map(width).collect()
    }

    /// Returns `true` if there is no row but the heading.
    pub(crate) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the lines in at most `columns`: the last cell of a longer row is continued in the
    /// same column of the next line.
    pub(crate) fn lines_within(&self, columns: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for line in self.lines() {
            let indent = self.last_column();
            let mut rest = line;
            while rest.chars().count() > columns {
                let Some(cut) = last_space(&rest, indent, columns) else { break };
                let next = format!("{}{}", " ".repeat(indent), rest[cut..].trim_start());
                rest.truncate(cut);
                lines.push(rest);
                rest = next;
            }
            lines.push(rest);
        }
        lines
    }

    /// Returns the column in which the last cell begins.
    fn last_column(&self) -> usize {
        let widths = self.widths();
        let before = widths.len().saturating_sub(1);
        widths[..before].iter().map(|width| width + 2).sum()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, width), right) in row.iter().zip(widths).zip(&self.right) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            let cell = if *right { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
            line.push_str(&cell);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Returns the byte index of the last space of a line between two columns.
fn last_space(line: &str, from: usize, to: usize) -> Option<usize> {
    let characters = line.char_indices().enumerate();
    let spaces =
        characters.filter(|(column, (_, it))| *it == ' ' && (from + 1..=to).contains(column));
    spaces.last().map(|(_, (index, _))| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let mut table = Table::new(&["name", ">count", "why"]);
        table.row(["µs".to_owned(), "12".to_owned(), String::new()]);
        table.row(["longer".to_owned(), "3".to_owned(), "a\x1b[2Jb".to_owned()]);
        assert_eq!(
            table.lines(),
            ["name    count  why", "µs         12", "longer      3  a\u{fffd}[2Jb"]
        );
    }

    #[test]
    fn a_long_last_cell_goes_on_in_its_column() {
        let mut table = Table::new(&["name", "users"]);
        table.row(["belt".to_owned(), "one, two, three, four".to_owned()]);
        table.row(["a".to_owned(), "x".repeat(30)]);
        let long = format!("a     {}", "x".repeat(30));
        assert_eq!(
            table.lines_within(18),
            ["name  users", "belt  one, two,", "      three, four", long.as_str()]
        );
    }
}
