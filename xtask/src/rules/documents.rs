//! The documents that belong to the house, and their form.
//!
//! | rule | says |
//! |---|---|
//! | `documents` | the documents of the root and the glossary exist |
//! | `front-door` | the README has at most 150 lines of at most 100 columns, the map at most 200 lines |
//! | `floor-readmes` | each floor has a `README.md` of at most 15 lines |
//! | `map` | `ARCHITECTURE.md` names every crate by its folder |
//! | `changelog` | changes stand under Added, Changed, Fixed, Removed or Timing |
//! | `decisions` | `NNNN-title.md`, numbered without gaps, with their four headings |
//!
//! The tables of measured figures: [`figures`]. The targets of links: [`links`].

pub(crate) mod figures;
pub(crate) mod links;

use crate::finding::Finding;
use crate::manifest::manifests;
use crate::rules::floors::FLOORS;
use crate::tree::{TrackedFile, Tree, is_below};

const DOCUMENTS: [&str; 6] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SPECIFICATION.md",
    "docs/glossary.md",
];
/// The documents that everyone reads first, with their limits in lines and in columns.
const FRONT_DOOR: [(&str, usize, usize); 2] =
    [("README.md", 150, 100), ("ARCHITECTURE.md", 200, usize::MAX)];
const README_LINES_MAX: usize = 15;
const CHANGE_KINDS: [&str; 5] = ["Added", "Changed", "Fixed", "Removed", "Timing"];
const DECISION_HEADINGS: [&str; 4] = ["Context", "Choice", "Price", "What was turned down"];

/// Finds documents that are missing or have another form.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in DOCUMENTS.iter().filter(|path| tree.file(path).is_none()) {
        findings.push(Finding::new("documents", path, 1, "it is missing", "write it"));
    }
    findings.extend(check_front_door(tree));
    findings.extend(check_readmes(tree));
    findings.extend(check_map(tree));
    if let Some(file) = tree.file("CHANGELOG.md") {
        findings.extend(check_changelog(file));
    }
    findings.extend(check_decisions(tree));
    findings.extend(figures::check(tree));
    findings.extend(links::check(tree));
    findings
}

fn check_front_door(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, lines_max, columns_max) in FRONT_DOOR {
        let Some(file) = tree.file(path) else { continue };
        let remedy = "move what is not for everyone to a page of `docs/`";
        let lines = file.text.lines().count();
        if lines > lines_max {
            let what = format!("it has {lines} lines, and {lines_max} are the most");
            findings.push(Finding::new("front-door", path, lines_max + 1, what, remedy));
        }
        for (index, line) in file.text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > columns_max {
                let what =
                    format!("the line has {columns} columns, and {columns_max} are the most");
                findings.push(Finding::new("front-door", path, index + 1, what, "break it"));
            }
        }
    }
    findings
}

fn check_readmes(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for floor in FLOORS.iter().filter(|floor| tree.has_folder(floor)) {
        let path = format!("{floor}/README.md");
        let Some(file) = tree.file(&path) else {
            let remedy = "say in it what belongs on this floor and what does not";
            findings.push(Finding::new("floor-readmes", &path, 1, "it is missing", remedy));
            continue;
        };
        let lines = file.text.lines().count();
        if lines > README_LINES_MAX {
            findings.push(Finding::new(
                "floor-readmes",
                &path,
                README_LINES_MAX + 1,
                format!("it has {lines} lines, and {README_LINES_MAX} are the most"),
                "what belongs on the floor and what does not; the rest is ARCHITECTURE.md's",
            ));
        }
    }
    findings
}

fn check_map(tree: &Tree) -> Vec<Finding> {
    let Some(map) = tree.file("ARCHITECTURE.md") else {
        return Vec::new();
    };
    let (manifests, _) = manifests(tree);
    let missing = manifests.iter().filter(|it| !map.text.contains(&format!("`{}`", it.folder())));
    missing
        .map(|manifest| {
            Finding::new(
                "map",
                &map.path,
                1,
                format!("the crate `{}` is not on the map", manifest.folder()),
                "add a line that says what it is and why no other crate is its home",
            )
        })
        .collect()
}

/// The headings of a document: line, depth and text. Fenced blocks have none.
fn headings(text: &str) -> Vec<(usize, usize, &str)> {
    let mut in_fence = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        }
        let depth = line.chars().take_while(|character| *character == '#').count();
        if !in_fence && depth > 0 && line[depth..].starts_with(' ') {
            found.push((index + 1, depth, line[depth..].trim()));
        }
    }
    found
}

fn check_changelog(file: &TrackedFile) -> Vec<Finding> {
    let kinds = headings(&file.text).into_iter().filter(|(_, depth, _)| *depth > 2);
    kinds
        .filter(|(_, _, kind)| !CHANGE_KINDS.contains(kind))
        .map(|(line, _, kind)| {
            Finding::new(
                "changelog",
                &file.path,
                line,
                format!("`{kind}` is no kind of change"),
                format!("use one of {}", CHANGE_KINDS.join(", ")),
            )
        })
        .collect()
}

fn check_decisions(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let decisions = tree.files.iter().filter(|file| is_below(&file.path, "docs/decisions"));
    for (index, file) in decisions.enumerate() {
        let expected = format!("{:04}", index + 1);
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let title = name.strip_suffix(".md").and_then(|name| name.strip_prefix(&expected));
        let is_title = |title: &str| {
            title.len() > 1
                && title.starts_with('-')
                && title
                    .chars()
                    .all(|it| it == '-' || it.is_ascii_lowercase() || it.is_ascii_digit())
        };
        if !title.is_some_and(is_title) {
            findings.push(Finding::new(
                "decisions",
                &file.path,
                1,
                "its name is not the next number with a title",
                format!("call it `{expected}-what-was-chosen.md`"),
            ));
        }
        let found: Vec<&str> = headings(&file.text)
            .into_iter()
            .filter(|(_, depth, _)| *depth == 2)
            .map(|(_, _, heading)| heading)
            .collect();
        if found != DECISION_HEADINGS {
            findings.push(Finding::new(
                "decisions",
                &file.path,
                1,
                format!("its headings are `{}`", found.join("`, `")),
                format!("use `{}`", DECISION_HEADINGS.join("`, `")),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECISION: &str = "# A\n## Context\n## Choice\n## Price\n## What was turned down\n";

    fn texts(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn missing_documents_are_found_one_by_one() {
        let found = check(&Tree::of(&[("README.md", "# A\n")]));
        assert_eq!(found.len(), 5);
        assert!(found.iter().all(|finding| finding.rule == "documents"));
    }

    #[test]
    fn the_readme_is_short_and_narrow() {
        let longest = format!("{}\n", "µ".repeat(100)).repeat(150);
        assert_eq!(check_front_door(&Tree::of(&[("README.md", &longest)])), []);
        let over = format!("{longest}µ{longest}");
        assert_eq!(
            texts(&check_front_door(&Tree::of(&[("README.md", &over)]))),
            [
                "README.md:151: front-door: it has 300 lines, and 150 are the most; move what is \
                 not for everyone to a page of `docs/`",
                "README.md:151: front-door: the line has 101 columns, and 100 are the most; break \
                 it",
            ]
        );
    }

    #[test]
    fn each_floor_says_briefly_what_belongs_on_it() {
        let long = "a\n".repeat(16);
        let found = check_readmes(&Tree::of(&[
            ("ground/README.md", "# Ground\n"),
            ("logic/README.md", &long),
            ("machine/clock/Cargo.toml", ""),
        ]));
        let found = texts(&found);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("logic/README.md:16: floor-readmes: it has 16 lines"));
        assert!(found[1].starts_with("machine/README.md:1: floor-readmes: it is missing"));
    }

    #[test]
    fn every_crate_is_on_the_map() {
        let manifest = "[package]\nname = \"a\"\n";
        let files = |map| {
            check_map(&Tree::of(&[("ARCHITECTURE.md", map), ("ground/units/Cargo.toml", manifest)]))
        };
        assert_eq!(files("| `ground/units` | quantities |"), []);
        assert_eq!(texts(&files("| `ground/unit` |")).len(), 1);
    }

    #[test]
    fn changes_have_a_kind() {
        let found = check(&Tree::of(&[(
            "CHANGELOG.md",
            "# Changes\n## Unreleased\n### Added\n### Timing\n### Improved\n```\n### x\n```\n",
        )]));
        let found: Vec<_> = found.iter().filter(|it| it.rule == "changelog").collect();
        assert_eq!(found.iter().map(|it| it.line).collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn decisions_are_numbered_and_complete() {
        let found = |name: &str, text: &str| {
            let path = format!("docs/decisions/{name}");
            check_decisions(&Tree::of(&[(path.as_str(), text)])).len()
        };
        assert_eq!(found("0001-processes.md", DECISION), 0);
        assert_eq!(found("0002-processes.md", DECISION), 1);
        assert_eq!(found("0001-Processes.md", DECISION), 1);
        assert_eq!(found("0001-.md", DECISION), 1);
        assert_eq!(found("0001-processes.md", &DECISION.replace("## Price\n", "")), 1);
    }
}
