//! `quietcore compare --tables`: every table and figure of the papers, with its counterpart.

use std::fmt::Write as _;

use quietcore_record::published::exhibit::{Availability, Content, Exhibit, exhibits};
use quietcore_record::published::{Citation, Table};
use serde::Serialize;

use crate::status::{Failure, Status};
use crate::terminal;

/// The text below the list.
const LEGEND: &str = "`*` marks what `compare FOLDER --with NAME` puts beside a run. Commands are \
                      typed in the root of the repository. docs/papers.md says what differs from \
                      each paper's method; --json has that and all published figures.";

/// An entry of the list as JSON: what is published, and what makes its counterpart.
#[derive(Serialize)]
struct Entry {
    #[serde(flatten)]
    published: Published,
    content: Content,
    counterpart: Counterpart,
}

/// The published table, or the name of what was printed as a picture.
#[derive(Serialize)]
#[serde(untagged)]
enum Published {
    Figures(&'static Table),
    Picture { id: &'static str, title: &'static str, citation: &'static Citation, place: String },
}

#[derive(Serialize)]
struct Counterpart {
    availability: Availability,
    stands_beside_runs: bool,
    commands: &'static [&'static str],
    missing: Option<&'static str>,
    differs: Option<&'static str>,
}

pub(super) fn list(json: bool) -> Result<Status, Failure> {
    if json {
        let entries: Vec<Entry> = exhibits().iter().map(entry).collect();
        super::print_json(&entries)?;
    } else {
        super::print(&listing(terminal::width()))?;
    }
    Ok(Status::Done)
}

fn entry(exhibit: &Exhibit) -> Entry {
    let picture = || Published::Picture {
        id: exhibit.id,
        title: exhibit.title(),
        citation: exhibit.citation(),
        place: exhibit.name(),
    };
    Entry {
        published: exhibit.table().map_or_else(picture, Published::Figures),
        content: exhibit.content,
        counterpart: Counterpart {
            availability: exhibit.availability(),
            stands_beside_runs: exhibit.stands_beside_runs(),
            commands: exhibit.commands,
            missing: exhibit.missing,
            differs: Some(exhibit.differs).filter(|differs| !differs.is_empty()),
        },
    }
}

/// Returns what each paper shows below its citation, in lines of at most `width` columns.
fn listing(width: usize) -> String {
    let mut text = String::new();
    let mut paper = "";
    for exhibit in exhibits() {
        let citation = exhibit.citation();
        if citation.key != paper {
            paper = citation.key;
            fill(&mut text, &citation.line(), ["", "  "], width, "");
            text.push('\n');
        }
        let mark = if exhibit.stands_beside_runs() { '*' } else { ' ' };
        let title = format!("{mark} {}  {}", exhibit.id, exhibit.title());
        fill(&mut text, &title, ["", "    "], width, "");
        for command in exhibit.commands {
            fill(&mut text, command, ["    ", "      "], width, " \\");
        }
        if let Some(missing) = exhibit.missing {
            fill(&mut text, &format!("not there yet: {missing}"), ["    ", "      "], width, "");
        }
        text.push('\n');
    }
    fill(&mut text, LEGEND, ["", ""], width, "");
    text
}

/// Adds `words` in lines of at most `width` columns, each but the last ended by `end`; a word that
/// is longer than a line stands alone.
fn fill(text: &mut String, words: &str, [first, rest]: [&str; 2], width: usize, end: &str) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in words.split(' ') {
        let columns = line.chars().count() + 1 + word.chars().count() + end.len();
        if !is_empty && columns > width {
            writeln!(text, "{line}{end}").expect("writing to a string cannot fail");
            rest.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    writeln!(text, "{line}").expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests;
