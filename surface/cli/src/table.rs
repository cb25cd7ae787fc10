//! Tables of plain text: columns as wide as what stands in them.

/// A table; its last column may be as long as it likes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    heading: Vec<&'static str>,
    /// Whether a column holds numbers, which stand at its right.
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns; a heading that begins with `>` is one of numbers.
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

    /// The lines, the heading first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let heading: Vec<String> = self.heading.iter().map(|name| (*name).to_owned()).collect();
        let rows = || std::iter::once(&heading).chain(&self.rows);
        let length = |text: &String| text.chars().count();
        let widths: Vec<usize> = (0..self.heading.len())
            .map(|column| rows().filter_map(|row| row.get(column)).map(length).max().unwrap_or(0))
            .collect();
        rows().map(|row| self.line(row, &widths)).collect()
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
}
