//! `cargo xtask figures`: the documents' tables of measured figures, written from what the benches
//! recorded.
//!
//! ```text
//! quietcore-bench all --out bench/figures ──► bench/figures/NAME.json ┐
//!                                             bench/figures/rows.toml ┴► the tables between
//!                     <!-- figures: TABLE -->  …  <!-- figures end -->  of a document
//! ```
//!
//! `rows.toml` says which rows a table has and in which words; every number, date, machine and
//! version comes from the JSON. A row whose comparison has no JSON yet shows what was typed before,
//! and says that it was. [The rule](crate::rules::documents::figures) compares each table with what
//! would be written.

mod quantity;
mod row;
mod run;
mod table;

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

pub(crate) use run::Run;
pub(crate) use table::Tables;

/// Folder of the JSON of the benches and of the rows.
pub(crate) const FOLDER: &str = "bench/figures";
/// The rows of all tables.
pub(crate) const ROWS: &str = "bench/figures/rows.toml";

const BEGIN: &str = "<!-- figures: ";
const BEGIN_END: &str = " -->";
const END: &str = "<!-- figures end -->";

/// Why a table can't be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FiguresError {
    /// The rows can't be read.
    #[error("{ROWS}: {0}")]
    Rows(String),
    /// A file of a bench can't be used.
    #[error("{path}: {problem}")]
    Run {
        /// Path of the file.
        path: String,
        /// The problem with it.
        problem: run::RunError,
    },
    /// A row asks for what the run does not have.
    #[error("{ROWS}: the row `{row}` asks for `{wanted}`, and `{bench}` has: {has}")]
    Unknown {
        /// Subject of the row in the table.
        row: String,
        /// The figure that it asks for.
        wanted: String,
        /// The comparison by name.
        bench: String,
        /// The figures that there are.
        has: String,
    },
    /// A document asks for a table that is not there, or does not end it.
    #[error("{path}:{line}: {problem}")]
    Document {
        /// Path of the document.
        path: String,
        /// The line of the mark.
        line: usize,
        /// The problem in it.
        problem: String,
    },
    /// A file can't be read or written.
    #[error("`{path}`: {cause}")]
    File {
        /// Path of the file.
        path: String,
        /// The error of the kernel.
        cause: io::Error,
    },
}

/// Reads rows and runs from files of the repository, given by path and text. A file that is no JSON
/// below the folder is passed over.
pub(crate) fn tables<'a>(
    rows: &str,
    files: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Tables, FiguresError> {
    let mut runs = BTreeMap::new();
    for (path, text) in files.filter(|(path, _)| path.ends_with(".json")) {
        let run = Run::read(text)
            .map_err(|problem| FiguresError::Run { path: path.to_owned(), problem })?;
        runs.insert(run.bench.clone(), run);
    }
    Tables::new(rows, runs)
}

/// A document with its tables as they should be, and the line of the first one that differs.
pub(crate) fn rewritten(
    path: &str,
    text: &str,
    tables: &Tables,
) -> Result<(String, Option<usize>), FiguresError> {
    let wrong = |line: usize, problem: &str| FiguresError::Document {
        path: path.to_owned(),
        line: line + 1,
        problem: problem.to_owned(),
    };
    let mut written = String::new();
    let mut differs = None;
    let mut lines = text.split_inclusive('\n').enumerate();
    while let Some((number, line)) = lines.next() {
        written.push_str(line);
        let Some(name) = named(line) else { continue };
        let table = tables.table(name)?;
        let table = table.ok_or_else(|| wrong(number, "no such table stands in rows.toml"))?;
        let mut stood = String::new();
        loop {
            let (_, line) = lines.next().ok_or_else(|| wrong(number, "the table has no end"))?;
            if line.trim_end() == END {
                written.push_str(&table);
                written.push_str(line);
                break;
            }
            stood.push_str(line);
        }
        if stood != table {
            differs = differs.or(Some(number + 1));
        }
    }
    Ok((written, differs))
}

/// The table that a line begins.
fn named(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix(BEGIN)?.strip_suffix(BEGIN_END)
}

/// Returns `true` if a document has such a table.
pub(crate) fn has_table(text: &str) -> bool {
    text.lines().any(|line| named(line).is_some())
}

/// Rewrites the tables of these documents below `root`; returns what a person should know.
pub(crate) fn rewrite(root: &Path, documents: &[String]) -> Result<Vec<String>, FiguresError> {
    let failed = |path: &str| {
        let path = path.to_owned();
        move |cause| FiguresError::File { path, cause }
    };
    let rows = fs::read_to_string(root.join(ROWS)).map_err(failed(ROWS))?;
    // Read from the folder and not from git: what was measured a minute ago is not added yet.
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join(FOLDER)).map_err(failed(FOLDER))? {
        let entry = entry.map_err(failed(FOLDER))?;
        let path = format!("{FOLDER}/{}", entry.file_name().to_string_lossy());
        if path.ends_with(".json") {
            let text = fs::read_to_string(root.join(&path)).map_err(failed(&path))?;
            files.push((path, text));
        }
    }
    let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let tables = tables(&rows, files)?;
    let mut told = Vec::new();
    for path in documents {
        let text = fs::read_to_string(root.join(path)).map_err(failed(path))?;
        if let (new, Some(_)) = rewritten(path, &text, &tables)? {
            fs::write(root.join(path), new).map_err(failed(path))?;
            told.push(format!("{path}: rewritten"));
        }
    }
    told.extend(tables.remarks());
    Ok(told)
}

#[cfg(test)]
mod tests;
