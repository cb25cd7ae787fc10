//! The figures that documents claim.
//!
//! | rule | says |
//! |---|---|
//! | `figures` | a table between the marks of `cargo xtask figures` is what that writes, from runs that may claim something |

use crate::figures::{self, FOLDER, ROWS};
use crate::finding::Finding;
use crate::tree::{Tree, is_below};

/// Finds tables that don't match what was recorded.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let documents: Vec<_> = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with(".md") && figures::has_table(&file.text))
        .collect();
    let rows = tree.file(ROWS).map(|file| file.text.as_str());
    if documents.is_empty() && rows.is_none() {
        return Vec::new();
    }
    let recorded = tree.files.iter().filter(|file| is_below(&file.path, FOLDER));
    let recorded = recorded.map(|file| (file.path.as_str(), file.text.as_str()));
    let broken = |error: &figures::FiguresError, path: &str| {
        let remedy = "mend it, or measure again";
        Finding::new("figures", path, 1, error.to_string(), remedy)
    };
    let tables = match figures::tables(rows.unwrap_or_default(), recorded) {
        Ok(tables) => tables,
        Err(error) => return vec![broken(&error, ROWS)],
    };
    let mut findings = Vec::new();
    for file in documents {
        match figures::rewritten(&file.path, &file.text, &tables) {
            Ok((_, None)) => {}
            Ok((_, Some(line))) => findings.push(Finding::new(
                "figures",
                &file.path,
                line,
                format!("the table is not what the files in {FOLDER} say"),
                "run `cargo xtask figures`, and add those files to git",
            )),
            Err(error) => findings.push(broken(&error, &file.path)),
        }
    }
    findings
}
