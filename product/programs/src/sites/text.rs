//! The text of a site that came from elsewhere, with the programs that its partitions get.
//!
//! Each key that names a file is one of these, and nothing else in a site file does:
//!
//! | key | rule |
//! |-----|------|
//! | `model` | a program that was sent, `NAME` or `NAME@VERSION`; a choice replaces it |
//! | `oil` | a file in the folder of the program |
//! | `image`, `neighbour_image` | refused: an image is a file of the machine |

use std::ops::Range;

use quietcore_record::class::catalogue;
use quietcore_site::{KeyPosition, Problem, Problems};
use quietcore_wording::FilePosition;
use serde::{Deserialize, Serialize};
use toml_edit::{Document, Item, TableLike};

use crate::name::{self, EntryName};

/// Name of the text in the places of problems.
const FILE_NAME: &str = "site.toml";
/// Character between the name of a program and its version.
const AT: char = '@';

/// A program for a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenProgram {
    /// Name of the partition.
    pub partition: String,
    /// Name of the program.
    pub program: String,
    /// Number of its version; 0 for the newest.
    pub version: u64,
}

/// A text that was checked as a site file, and names no file of the machine.
#[derive(Clone, Debug)]
pub struct SiteText {
    site: String,
    text: String,
    programs: Vec<ChosenProgram>,
    /// The values of `model` in the text, one for each of the programs.
    models: Vec<Range<usize>>,
}

impl SiteText {
    /// Checks a text, with programs that are chosen beside it.
    ///
    /// # Errors
    /// All problems of the site file; if it has none, all of what it names.
    pub fn read(text: &str, chosen: &[ChosenProgram]) -> Result<Self, Problems> {
        let site = quietcore_site::read(FILE_NAME, text.as_bytes(), &catalogue())?;
        let document = Document::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let problem = problem(text, at, "", error.message(), "correct the TOML here");
            Problems::new(vec![problem], 0)
        })?;
        let mut walk = Walk { text, chosen, ..Walk::default() };
        let partitions: Vec<_> = site.partitions().iter().map(|it| it.name.as_str()).collect();
        walk.check_choices(&partitions);
        for partition in tables(document.get("partition")) {
            walk.partition(partition);
        }
        if let Some(campaign) = document.get("campaign").and_then(Item::as_table_like) {
            walk.refuse_image(campaign, "neighbour_image", "campaign");
        }
        let Walk { mut problems, programs, models, .. } = walk;
        problems.sort();
        if !problems.is_empty() {
            return Err(Problems::new(problems, 0));
        }
        Ok(Self { site: site.name().to_owned(), text: text.to_owned(), programs, models })
    }

    /// Returns the name of the site.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Returns the text as it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the programs of its partitions, in the order of the text.
    pub fn programs(&self) -> &[ChosenProgram] {
        &self.programs
    }

    /// Returns the text with a folder for each program in place of its name.
    pub fn with_folders(&self, folder: impl Fn(&ChosenProgram) -> String) -> String {
        let mut text = self.text.clone();
        let mut places: Vec<_> = self.models.iter().zip(&self.programs).collect();
        places.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        for (place, program) in places {
            let folder = toml_edit::Value::from(folder(program)).to_string();
            text.replace_range(place.clone(), folder.trim());
        }
        text
    }
}

/// A look at everything in a text that names a file.
#[derive(Default)]
struct Walk<'t> {
    text: &'t str,
    chosen: &'t [ChosenProgram],
    problems: Vec<Problem>,
    programs: Vec<ChosenProgram>,
    models: Vec<Range<usize>>,
}

impl Walk<'_> {
    fn check_choices(&mut self, partitions: &[&str]) {
        for (index, choice) in self.chosen.iter().enumerate() {
            let ChosenProgram { partition, program, .. } = choice;
            let shown = partition.escape_debug();
            if !partitions.contains(&partition.as_str()) {
                let told = format!("there is no partition `{shown}`");
                self.refuse(0, "programs", &told, "choose a program for a partition of the text");
            } else if self.chosen[..index].iter().any(|it| it.partition == *partition) {
                let told = format!("two programs are chosen for partition `{shown}`");
                self.refuse(0, "programs", &told, "choose one");
            }
            if !name::is_program(program) {
                let told = format!("`{}` is no name of a program", program.escape_debug());
                self.refuse(0, "programs", &told, "give the name by which it was sent");
            }
        }
    }

    fn partition(&mut self, partition: &dyn TableLike) {
        let name = partition.get("name").and_then(Item::as_str).unwrap_or_default();
        if let Some(guest) = partition.get("guest").and_then(Item::as_table_like) {
            self.refuse_image(guest, "image", &format!("partition.{name}.guest"));
        }
        let program = partition.get("program").and_then(Item::as_table_like);
        let key = format!("partition.{name}.program");
        if let Some(oil) = program.and_then(|program| program.get("oil")) {
            self.check_oil(oil, &format!("{key}.oil"));
        }
        let chosen = self.chosen.iter().find(|choice| choice.partition == name).cloned();
        let key = format!("{key}.model");
        match (program.and_then(|program| program.get("model")), chosen) {
            (Some(model), Some(chosen)) => self.take(model, chosen),
            (Some(model), None) => self.take_named(model, name, &key),
            (None, Some(_)) => {
                let at = start(partition.get("name"));
                let remedy = "write one, such as `model = \"axis\"`, or choose none for it";
                self.refuse(at, &key, "a program is chosen, and there is no `model`", remedy);
            }
            (None, None) => {}
        }
    }

    fn take(&mut self, model: &Item, chosen: ChosenProgram) {
        if let Some(place) = model.span() {
            self.programs.push(chosen);
            self.models.push(place);
        }
    }

    /// Takes the program that the text itself names.
    fn take_named(&mut self, model: &Item, partition: &str, key: &str) {
        let written = model.as_str().unwrap_or_default();
        let (program, version) = match written.split_once(AT) {
            None => (written, Some(0)),
            Some((program, number)) => (program, number.parse().ok().filter(|it| *it > 0)),
        };
        match version.filter(|_| name::is_program(program)) {
            Some(version) => {
                let (partition, program) = (partition.to_owned(), program.to_owned());
                self.take(model, ChosenProgram { partition, program, version });
            }
            None => {
                let told = format!("`{}` is no program that was sent", written.escape_debug());
                let remedy = "give its name, such as `axis`, or a version of it, such as `axis@3`; \
                              a path is not followed";
                self.refuse(start(Some(model)), key, &told, remedy);
            }
        }
    }

    fn check_oil(&mut self, oil: &Item, key: &str) {
        let written = oil.as_str().unwrap_or_default();
        if EntryName::check(written.as_bytes()).is_err() {
            let told = format!("`{}` is no file of the program", written.escape_debug());
            let remedy = "name a file in the folder of the program, without `..`";
            self.refuse(start(Some(oil)), key, &told, remedy);
        }
    }

    fn refuse_image(&mut self, table: &dyn TableLike, key: &str, of: &str) {
        if let Some(image) = table.get(key) {
            let told = "a text that was sent can't name an image, which is a file of the machine";
            let remedy = "leave it out, or bring the site up with `quietcore up` on the machine";
            self.refuse(start(Some(image)), &format!("{of}.{key}"), told, remedy);
        }
    }

    fn refuse(&mut self, at: usize, key: &str, told: &str, remedy: &str) {
        self.problems.push(problem(self.text, at, key, told, remedy));
    }
}

fn start(item: Option<&Item>) -> usize {
    item.and_then(Item::span).map_or(0, |span| span.start)
}

fn problem(text: &str, at: usize, key: &str, told: &str, remedy: &str) -> Problem {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let position = FilePosition::new(FILE_NAME, line, column);
    let place = KeyPosition { position, key: key.to_owned() };
    Problem { place, problem: told.to_owned(), remedy: remedy.to_owned() }
}

/// Returns the tables of an array, however it is written.
fn tables(item: Option<&Item>) -> Vec<&dyn TableLike> {
    let Some(item) = item else { return Vec::new() };
    if let Some(array) = item.as_array_of_tables() {
        return array.iter().map(|table| table as &dyn TableLike).collect();
    }
    let inline = item.as_array().into_iter().flatten();
    inline.filter_map(|it| it.as_inline_table()).map(|table| table as &dyn TableLike).collect()
}

#[cfg(test)]
mod tests;
