//! `docs/oil.md`: what it says is so.

use quietcore_oil::reference;

use crate::support::{accept, assert_stored, problems, repository_file};

#[test]
fn the_reference_is_up_to_date() {
    assert_stored("docs/oil.md", &reference());
}

/// The blocks of Markdown that begin with this line.
fn blocks(text: &str, fence: &str) -> Vec<String> {
    let fence = format!("\n{fence}\n");
    let parts = text.split(&fence).skip(1);
    parts.map(|part| part.split("\n```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_examples_of_the_reference_are_accepted() {
    let examples = blocks(&reference(), "```oil");
    assert_eq!(examples.len(), 2);
    for example in examples {
        accept(&example);
    }
}

/// Goal: the problems that the reference shows are what a reader would see.
/// Method: make three mistakes in its example.
#[test]
fn the_problems_of_the_reference_are_said_so() {
    let example = &blocks(&reference(), "```oil")[0];
    let wrong = example
        .replacen("PRIORITY", "PRIORTY", 1)
        .replacen("AUTOSTART = TRUE", "AUTOSTART = YES", 1)
        .replacen("EVENT = part", "EVENT = parts", 1);
    let said = problems(&wrong).replace("a.oil", "conveyor.oil");
    let shown = blocks(&reference(), "```text").pop().unwrap();
    assert_eq!(said, shown);
}

#[test]
fn the_guide_to_the_documents_knows_the_reference() {
    let map = std::fs::read_to_string(repository_file("ARCHITECTURE.md")).unwrap();
    assert!(map.contains("docs/oil.md"));
}
