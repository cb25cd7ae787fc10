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
    assert_eq!(examples.len(), 3);
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

#[test]
fn the_descriptions_of_the_models_are_accepted_without_a_remark() {
    let models = std::fs::read_dir(repository_file("models")).unwrap();
    let folders = models.map(|model| model.unwrap().path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    let descriptions: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "oil")).collect();
    assert!(!descriptions.is_empty(), "there is a model with an OIL file");
    for path in descriptions {
        let configuration = accept(&std::fs::read_to_string(&path).unwrap());
        assert_eq!(configuration.remarks(), [], "{}", path.display());
    }
}
