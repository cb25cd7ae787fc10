//! Tests of the list of exhibits: complete, each with a counterpart or a reason for having none.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;

/// Tables and figures of each paper, counted in the papers themselves.
const IN_PAPERS: [(&str, usize, usize); 5] = [
    ("queiroz2023", 5, 12),
    ("scordino2020", 1, 6),
    ("kong2021", 3, 6),
    ("hofer2019", 1, 1),
    ("mahmud2014", 3, 4),
];

#[test]
fn every_table_and_figure_of_the_papers_is_listed() {
    let listed: Vec<_> = exhibits().iter().map(|exhibit| exhibit.id).collect();
    let mut expected = Vec::new();
    for (paper, tables, figures) in IN_PAPERS {
        expected.extend((1..=tables).map(|number| format!("{paper}/table-{number}")));
        expected.extend((1..=figures).map(|number| format!("{paper}/figure-{number}")));
    }
    assert_eq!(listed, expected);
    assert_eq!(listed.len(), 42);
    for table in tables() {
        assert!(listed.contains(&table.id), "{} is in no list", table.id);
    }
}

#[test]
fn an_exhibit_has_one_title_and_its_figures_are_held_where_it_says_so() {
    let mut titles = BTreeSet::new();
    for exhibit in exhibits() {
        let (id, held) = (exhibit.id, exhibit.table());
        assert!(exhibit.own_title.is_some() != held.is_some(), "{id}: one title");
        assert_eq!(exhibit.content == Content::Table, held.is_some(), "{id}");
        if let Content::PlotOfTable(table) = exhibit.content {
            assert!(tables().iter().any(|it| it.id == table), "{id}: {table}");
        }
        assert!(titles.insert((exhibit.citation().key, exhibit.title())), "{id}: a title twice");
        assert!(!exhibit.title().is_empty(), "{id}");
    }
}

/// Goal: nobody is left without an answer, and nothing is claimed without a command.
/// Method: look for a command or a reason, and for the difference of what there is.
#[test]
fn an_exhibit_has_a_counterpart_or_the_reason_why_it_has_none() {
    for exhibit in exhibits() {
        let id = exhibit.id;
        assert!(!exhibit.commands.is_empty() || exhibit.missing.is_some(), "{id}");
        assert_eq!(exhibit.commands.is_empty(), exhibit.differs.is_empty(), "{id}");
        for command in exhibit.commands {
            assert!(command.starts_with("quietcore "), "{id}: {command}");
        }
        // A run can stand beside its figures: then the command for that is there.
        let beside = format!("--with {id}");
        let is_put_beside = exhibit.commands.iter().any(|command| command.ends_with(&beside));
        assert_eq!(is_put_beside, exhibit.stands_beside_runs(), "{id}");
    }
}

#[test]
fn the_page_of_the_papers_is_made_from_the_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md");
    if std::env::var_os("QUIETCORE_STORE").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        stored,
        page(),
        "docs/papers.md differs; if the new text is right, run the test with QUIETCORE_STORE=1"
    );
}
