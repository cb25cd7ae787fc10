//! A file has one subject, says at its head what it is, and can be read on one screen's width.
//!
//! | rule | says |
//! |---|---|
//! | `header` | a Rust file opens with `//!` |
//! | `length` | at most 600 lines, unless it holds tests or is waived as a table |
//! | `length-limit` | at most 1000 lines, whatever it holds |
//! | `width` | lines end at 100 columns; tables and single long words in comments are excepted |
//! | `file-names` | nothing is called `common`, `util`, `helpers`, `misc`, `base` or `imp` |
//! | `folder-size` | a folder holds at most 12 Rust files |
//! | `examples` | two crates have no example of one name: Cargo writes both to the same file |

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::source::{Source, is_test_path};
use crate::tree::Tree;

const LENGTH_MAX: usize = 600;
const LENGTH_LIMIT: usize = 1000;
const COLUMNS_MAX: usize = 100;
const FOLDER_MAX: usize = 12;

/// Names that say nothing about what is inside, and their plurals.
const EMPTY_NAMES: [&str; 9] =
    ["common", "util", "utils", "helper", "helpers", "misc", "base", "imp", "impl"];

/// Finds files that are too long, too wide, without a header or without a name.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        findings.extend(check_header(source));
        findings.extend(check_length(source));
        findings.extend(check_width(source));
    }
    for file in &tree.files {
        findings.extend(check_name(&file.path));
    }
    findings.extend(check_folders(tree));
    findings.extend(check_examples(tree));
    findings
}

/// Whichever example of a name is linked last is the one that all tests start.
fn check_examples(tree: &Tree) -> Vec<Finding> {
    let mut first = BTreeMap::new();
    let mut findings = Vec::new();
    for source in &tree.sources {
        let Some((folder, name)) = source.path.rsplit_once('/') else { continue };
        if !folder.ends_with("/examples") {
            continue;
        }
        let other = *first.entry(name).or_insert(&source.path);
        if *other != source.path {
            findings.push(Finding::new(
                "examples",
                &source.path,
                1,
                format!("`{other}` has the same name, and Cargo writes both to one file"),
                "give it a name that no other crate's example has",
            ));
        }
    }
    findings
}

fn check_header(source: &Source) -> Option<Finding> {
    let first = source.text.lines().next().unwrap_or_default();
    let says_something = first.strip_prefix("//!").is_some_and(|rest| !rest.trim().is_empty());
    (!says_something).then(|| {
        Finding::new(
            "header",
            &source.path,
            1,
            "it does not open with `//!`",
            "let its first line say what the file is",
        )
    })
}

fn check_length(source: &Source) -> Option<Finding> {
    let lines = source.text.lines().count();
    let (rule, max) = if lines > LENGTH_LIMIT {
        ("length-limit", LENGTH_LIMIT)
    } else if lines > LENGTH_MAX && !is_test_path(&source.path) {
        ("length", LENGTH_MAX)
    } else {
        return None;
    };
    Some(Finding::new(
        rule,
        &source.path,
        max + 1,
        format!("it has {lines} lines, and {max} are the most"),
        "split it by subject, or move its tests to a file of their own",
    ))
}

fn check_width(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > COLUMNS_MAX && !may_be_wide(line) {
            findings.push(Finding::new(
                "width",
                &source.path,
                index + 1,
                format!("the line has {columns} columns, and {COLUMNS_MAX} are the most"),
                "break it; a long text continues after `\\` at the end of the line",
            ));
        }
    }
    findings
}

/// A row of a table in a comment, or a comment of one word that can't be broken: an address.
fn may_be_wide(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else {
        return false;
    };
    let comment = comment.trim_start_matches(['/', '!']).trim();
    comment.starts_with('|') || !comment.contains(' ')
}

fn check_name(path: &str) -> Option<Finding> {
    let is_code =
        [".rs", ".py", ".ts", ".js", ".c", ".h"].iter().any(|ending| path.ends_with(ending));
    let empty = path
        .split('/')
        .map(|part| part.split('.').next().unwrap_or(part))
        .find(|part| EMPTY_NAMES.contains(part));
    empty.filter(|_| is_code).map(|name| {
        Finding::new(
            "file-names",
            path,
            1,
            format!("`{name}` says nothing about what is inside"),
            "name it after its subject",
        )
    })
}

fn check_folders(tree: &Tree) -> Vec<Finding> {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for source in &tree.sources {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder).or_default() += 1;
    }
    let full = folders.into_iter().filter(|(_, count)| *count > FOLDER_MAX);
    full.map(|(folder, count)| {
        Finding::new(
            "folder-size",
            folder,
            1,
            format!("it holds {count} Rust files, and {FOLDER_MAX} are the most"),
            "give the files that belong together a folder of their own",
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| (finding.rule, finding.line)).collect()
    }

    fn long(lines: usize) -> String {
        format!("//! A.\n{}", "// a\n".repeat(lines - 1))
    }

    #[test]
    fn a_file_opens_with_what_it_is() {
        assert_eq!(rules("a/src/b.rs", "//! A.\n"), []);
        for text in ["", "// a\n", "//!\n", "\n//! A.\n"] {
            assert_eq!(rules("a/src/b.rs", text), [("header", 1)], "{text:?}");
        }
    }

    #[test]
    fn two_crates_have_no_example_of_one_name() {
        let example = |path| (path, "//! A.\n");
        let apart = [example("a/examples/b.rs"), example("c/examples/d.rs")];
        assert_eq!(check(&Tree::of(&apart)), []);
        let same = [example("a/examples/b.rs"), example("c/examples/b.rs")];
        let findings = check(&Tree::of(&same));
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!((findings[0].rule, &*findings[0].path), ("examples", "c/examples/b.rs"));
        assert!(findings[0].what.contains("a/examples/b.rs"), "{}", findings[0].what);
    }

    #[test]
    fn long_files_are_found_and_tests_may_be_longer() {
        assert_eq!(rules("a/src/b.rs", &long(600)), []);
        assert_eq!(rules("a/src/b.rs", &long(601)), [("length", 601)]);
        assert_eq!(rules("a/tests/b.rs", &long(1000)), []);
        assert_eq!(rules("a/tests/b.rs", &long(1001)), [("length-limit", 1001)]);
    }

    #[test]
    fn wide_lines_are_found_and_tables_excepted() {
        let wide = "x".repeat(100);
        assert_eq!(rules("a/src/b.rs", &format!("//! A b {wide}\n")), [("width", 1)]);
        assert_eq!(rules("a/src/b.rs", &format!("//! | {wide} |\n//! {wide}\n")), []);
        assert_eq!(rules("a/src/b.rs", &format!("//! {}\n", "µ ".repeat(48))), []);
    }

    #[test]
    fn names_without_meaning_are_found_in_any_part() {
        assert_eq!(rules("a/src/util.rs", "//! A.\n"), [("file-names", 1)]);
        assert_eq!(rules("a/common/b.rs", "//! A.\n"), [("file-names", 1)]);
        assert_eq!(rules("a/src/utility_meter.rs", "//! A.\n"), []);
    }

    #[test]
    fn a_full_folder_is_found() {
        let names: Vec<String> = (0..13).map(|index| format!("a/src/f{index}.rs")).collect();
        let files: Vec<(&str, &str)> =
            names.iter().map(|name| (name.as_str(), "//! A.\n")).collect();
        assert_eq!(check(&Tree::of(&files[1..])), []);
        assert_eq!(check(&Tree::of(&files))[0].path, "a/src");
    }
}
