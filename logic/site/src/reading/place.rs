//! The file as a tree that knows where each of its parts stands.

use std::collections::BTreeMap;

use quietcore_wording::FilePosition;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::KeyPosition;
use crate::words;

/// One step from a table or array to what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// A way from the top of the file to a value. It need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(Vec<Step>);

impl Path {
    /// The top of the file.
    pub(crate) const fn top() -> Self {
        Self(Vec::new())
    }

    /// The path to `key` in the table at this path.
    #[must_use]
    pub(crate) fn key(&self, key: &str) -> Self {
        self.then(Step::Key(key.to_owned()))
    }

    /// The path to an element of the array at this path.
    #[must_use]
    pub(crate) fn index(&self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    fn then(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// The table as its header is written: `[partition.vcr]`; `double` for arrays of tables.
    pub(crate) fn header(&self, double: bool) -> String {
        let keys: Vec<_> = self.keys().map(words::shortened).collect();
        let keys = keys.join(".");
        if double || matches!(self.0.last(), Some(Step::Index(_))) {
            format!("[[{keys}]]")
        } else {
            format!("[{keys}]")
        }
    }

    /// Counts the keys that lead here.
    pub(crate) fn depth(&self) -> usize {
        self.keys().count()
    }

    /// Returns `true` if this path goes on from `other`, whichever elements of arrays are on the
    /// way.
    pub(crate) fn is_below(&self, other: &Self) -> bool {
        let mut own = self.keys();
        other.keys().all(|key| own.next() == Some(key)) && own.next().is_some()
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
    }

    /// Returns `true` if this is the top of the file.
    pub(crate) const fn is_top(&self) -> bool {
        self.0.is_empty()
    }
}

/// The parsed text of a file.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    file: String,
    text: &'t str,
    line_starts: Vec<usize>,
    root: Spanned<DeValue<'t>>,
}

impl<'t> Document<'t> {
    /// A document of `text` and the tree that was parsed from it.
    pub(crate) fn new(file: &str, text: &'t str, tree: Spanned<DeTable<'t>>) -> Self {
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let span = tree.span();
        let root = Spanned::new(span, DeValue::Table(tree.into_inner()));
        Self { file: file.to_owned(), text, line_starts, root }
    }

    /// Returns the top of the tree.
    pub(crate) const fn root(&self) -> &Spanned<DeValue<'t>> {
        &self.root
    }

    /// Returns `true` if something is written at `path`, right or wrong.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.follow(path).2
    }

    /// Returns `true` if nothing is written at `path`, or a table without a key.
    pub(crate) fn is_empty(&self, path: &Path) -> bool {
        let value = path.0.iter().try_fold(&self.root, |value, step| match step {
            Step::Key(key) => value.get_ref().get(key.as_str()),
            Step::Index(index) => value.get_ref().get(*index),
        });
        let table = value.and_then(|value| value.get_ref().as_table());
        value.is_none() || table.is_some_and(toml::map::Map::is_empty)
    }

    /// The place of the value at `path`, or of the nearest table around it that is written.
    pub(crate) fn place(&self, path: &Path) -> KeyPosition {
        let (offset, key, _) = self.follow(path);
        self.place_at(offset, key)
    }

    /// The place of the last key of `path` itself, for a key that should not be there.
    pub(crate) fn key_place(&self, path: &Path) -> KeyPosition {
        let (offset, key, _) = self.follow(path);
        let offset = self.key_offset(path).unwrap_or(offset);
        self.place_at(offset, key)
    }

    /// The place of an offset in bytes.
    pub(crate) fn place_at(&self, offset: usize, key: String) -> KeyPosition {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_of(offset);
        let start = self.line_starts[line - 1];
        let column = 1 + self.text[start..offset].chars().count();
        KeyPosition { position: FilePosition::new(&self.file, line, column), key }
    }

    /// The place of every key in the file, by its dotted name. Meant for files without a problem,
    /// where names are unique.
    pub(crate) fn places(&self) -> BTreeMap<String, KeyPosition> {
        let mut keys = Vec::new();
        self.gather(&self.root, &Path::top(), &mut keys);
        keys.sort();
        // One sweep over the text: counting each column from the start of its line would take
        // hours for a file of one long line.
        let mut places = BTreeMap::new();
        let (mut last_offset, mut last_line, mut last_column) = (0, 1, 1);
        for (offset, key) in keys {
            let line = self.line_of(offset);
            let (from, column) = if line == last_line {
                (last_offset, last_column)
            } else {
                (self.line_starts[line - 1], 1)
            };
            let passed = self.text.get(from..offset).unwrap_or_default();
            let column = column + passed.chars().count();
            let position = FilePosition::new(&self.file, line, column);
            (last_offset, last_line, last_column) = (offset, line, column);
            places.insert(key.clone(), KeyPosition { position, key });
        }
        places
    }

    /// Adds offset and dotted name of a value and of all below it.
    fn gather(&self, value: &Spanned<DeValue<'_>>, path: &Path, keys: &mut Vec<(usize, String)>) {
        match value.get_ref() {
            DeValue::Table(table) => {
                for (key, value) in table.iter() {
                    self.gather(value, &path.key(key.get_ref()), keys);
                }
            }
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.gather(item, &path.index(index), keys);
                }
            }
            _ => {}
        }
        let (offset, key, _) = self.follow(path);
        keys.push((offset, key));
    }

    /// The line of an offset, counted from 1.
    fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// The text of the line at an offset, for a guess at its key.
    pub(crate) fn line_at(&self, offset: usize) -> &'t str {
        let line = self.line_of(offset.min(self.text.len()));
        let rest = &self.text[self.line_starts[line - 1]..];
        rest.lines().next().unwrap_or("")
    }

    /// Walks as far as the file goes: the offset there, the dotted name of the whole path, and
    /// whether the end was reached.
    fn follow(&self, path: &Path) -> (usize, String, bool) {
        let mut value = Some(&self.root);
        let mut offset = self.root.span().start;
        let mut dotted = String::new();
        for step in &path.0 {
            value = value.and_then(|value| match step {
                Step::Key(key) => value.get_ref().get(key.as_str()),
                Step::Index(index) => value.get_ref().get(*index),
            });
            offset = value.map_or(offset, |value| value.span().start);
            let name = match step {
                Step::Key(key) => words::shortened(key),
                Step::Index(index) => match value.and_then(|value| name_of(value.get_ref())) {
                    Some(name) => words::shortened(name),
                    None => {
                        dotted.push_str(&format!("[{index}]"));
                        continue;
                    }
                },
            };
            if !dotted.is_empty() {
                dotted.push('.');
            }
            dotted.push_str(&name);
        }
        (offset, dotted, value.is_some())
    }

    fn key_offset(&self, path: &Path) -> Option<usize> {
        let (last, parents) = path.0.split_last()?;
        let Step::Key(key) = last else { return None };
        let mut value = &self.root;
        for step in parents {
            value = match step {
                Step::Key(key) => value.get_ref().get(key.as_str())?,
                Step::Index(index) => value.get_ref().get(*index)?,
            };
        }
        let (key, _) = value.get_ref().as_table()?.get_key_value(key.as_str())?;
        Some(key.span().start)
    }
}

/// The name of an array's element, where it has one that can stand in a dotted path.
fn name_of<'v>(value: &'v DeValue<'_>) -> Option<&'v str> {
    let name = value.as_table()?.get("name")?.get_ref().as_str()?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[site]\nname = \"é\" # x\n[[partition]]\nname = \
                        'axis'\n[partition.vcr]\ncpus = [1, 2]\n[[partition]]\nname = ''\n";

    fn document() -> Document<'static> {
        let (tree, errors) = DeTable::parse_recoverable(TEXT);
        assert!(errors.is_empty());
        Document::new("f", TEXT, tree)
    }

    #[test]
    fn a_value_is_found_with_line_column_and_names() {
        let document = document();
        let vcr = Path::top().key("partition").index(0).key("vcr");
        let place = document.place(&vcr.key("cpus").index(1));
        assert_eq!((place.position.line, place.position.column), (6, 12));
        assert_eq!(place.key, "partition.axis.vcr.cpus[1]");
        assert_eq!(document.key_place(&vcr.key("cpus")).position.column, 1);
        assert_eq!(vcr.header(false), "[partition.vcr]");
        let all = document.places();
        assert_eq!(all["partition.axis.vcr.cpus[1]"], place);
        assert_eq!(all["site.name"].position.column, 8);
        let second = Path::top().key("partition").index(1);
        assert_eq!(document.place(&second).to_string(), "f:7:1: `partition[1]`");
    }

    #[test]
    fn what_is_missing_is_placed_at_the_table_around_it() {
        let document = document();
        let path = Path::top().key("partition").index(0).key("program").key("period");
        assert!(!document.has(&path));
        let place = document.place(&path);
        assert_eq!((place.position.line, place.position.column), (3, 1));
        assert_eq!(place.key, "partition.axis.program.period");
    }
}
