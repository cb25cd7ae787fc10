//! The page and the text about accesses to memory: every part is drawn, and nothing is told that
//! was not measured.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
mod synthetic;

use quietcore_evidence::Evidence;
use quietcore_record::reason::Stated;
use quietcore_record::record::MemoryMeasured;
use quietcore_report::section::Reader;
use quietcore_report::section::content::{Block, Content, Fact, Table};
use quietcore_report::{Summary, html, text};
use synthetic::memory::memory;

fn count(page: &str, text: &str) -> usize {
    page.matches(text).count()
}

/// Returns the anchors of the sections, in their order.
fn sections(page: &str) -> Vec<&str> {
    page.split("<section id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Returns the plots of a page, each of which must be XML with finite coordinates.
fn plots(page: &str) -> Vec<String> {
    let plots: Vec<String> = page
        .split("<svg ")
        .skip(1)
        .map(|rest| format!("<svg {}</svg>", rest.split("</svg>").next().unwrap()))
        .collect();
    for plot in &plots {
        roxmltree::Document::parse(plot).unwrap();
        assert!(!plot.contains("NaN") && !plot.contains("inf"), "{plot}");
    }
    plots
}

#[test]
fn curves_pressure_and_routines_are_drawn_with_their_caches_and_the_paper() {
    let page = html::render(&memory(true), &[]);
    assert_eq!(sections(&page), ["verdict", "memory", "routines", "conditions", "doctor"]);
    let plots = plots(&page);
    assert_eq!(plots.len(), 5, "two curves, the pressure, the routines twice");
    for plot in &plots[..2] {
        assert_eq!(count(plot, "class=\"curve "), 6, "four curves and two slowdowns");
        assert_eq!(count(plot, "class=\"cache-end\""), 3);
        for words in ["L1 · 32", "L2 · 256", ">memory<", "random, beside neighbours"] {
            assert!(plot.contains(words), "`{words}`");
        }
    }
    let ticks = |plot: &str| {
        let parts = plot.split("class=\"tick\"").skip(1);
        parts.map(|part| part.split('<').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ticks(&plots[0]), ticks(&plots[1]), "what is compared has the same axes");
    assert!(plots[2].contains("knee ") && plots[2].contains("class=\"onset\""));
    assert_eq!(count(&plots[3], "class=\"published\""), 10, "the paper has ten");
    assert!(page.contains("With 4 ways") && page.contains("the paper saw 11×"));
    assert!(!page.contains("NOT PROVEN"), "no class judges an access");
}

#[test]
fn the_terminal_says_what_an_access_takes_and_what_neighbours_cost() {
    let text = text::render(&memory(true), 100, false);
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    // Sentences are wrapped.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "random access",
        "in L3 of 6 MiB",
        "in memory",
        "With 4 ways of the last-level cache of its own",
        "working sets surely above 1.05×",
        "scordino2020, figure 5, saw 11× on another machine",
        "Knee: ",
        "surely slowed down above 1.05×",
        "4× to 6.5×",
        "at most 1.5×",
    ] {
        assert!(text.contains(words), "`{words}` in {text}");
    }
}

/// Returns the rest of some evidence, in which `keep` chooses among the records.
fn part(keep: impl Fn(&quietcore_record::record::Record) -> bool) -> Evidence {
    let mut evidence = memory(false);
    evidence.records.retain(|record| keep(record));
    evidence
}

#[test]
fn parts_stand_alone_and_the_smallest_ones_can_be_drawn() {
    let is_pressure = |record: &quietcore_record::record::Record| record.profile == "pressure";
    let pressure = html::render(&part(is_pressure), &[]);
    assert_eq!(plots(&pressure).len(), 1);
    assert!(pressure.contains("Neighbours at"));
    let alone = part(|record| record.memory().is_some() && record.profile == "alone");
    let page = html::render(&alone, &[]);
    assert!(page.contains("Accesses were measured without neighbours"));
    assert!(!page.contains("Slowdown by neighbours"), "there is nothing to compare with");
    plots(&page);
    // One working set, one round.
    let mut one = part(|record| record.memory().is_some() && record.profile != "pressure");
    for record in &mut one.records {
        let Some(run) = record.memory_mut() else { continue };
        if let MemoryMeasured::Curve { points } = &mut run.measured {
            points.truncate(1);
            points[0].blocks.truncate(1);
        }
    }
    plots(&html::render(&one, &[]));
    let said = text::render(&one, 100, false);
    assert!(said.contains("of 1 working sets surely above") && !said.contains("NaN"), "{said}");
}

#[test]
fn records_that_can_not_be_trusted_say_so_first() {
    let mut evidence = memory(false);
    let because = "neighbours worked while they were told to rest".to_owned();
    evidence.records[0].invalid_because = vec![Stated::from(because.clone()).into()];
    let page = html::render(&evidence, &[]);
    assert!(page.contains("The timing is not valid; see the reasons"));
    assert!(text::render(&evidence, 100, false).contains(&format!("invalid: {because}")));
}

/// Goal: a section is data, from which others can render what the page and the terminal do.
#[test]
fn a_section_yields_its_tables_and_answers_as_data() {
    let evidence = memory(false);
    let summary = Summary::of(&evidence);
    let section = summary.sections.iter().find(|section| section.kind.anchor == "memory").unwrap();
    let content = section.content(Reader::Page);
    let tables = content.blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    let tables: Vec<_> = tables.collect();
    let widths = |table: &&Table| table.rows.iter().all(|it| it.cells.len() == table.columns.len());
    assert!(!tables.is_empty() && tables.iter().copied().all(|table| widths(&table)));
    let page = html::render(&evidence, &[]);
    assert!(page.contains(&content.answers[0].word), "{}", content.answers[0].word);
    let text = text::render(&evidence, 100, false);
    let mut of_terminal = section.content(Reader::Terminal).blocks.into_iter();
    let facts = of_terminal.find_map(|block| match block {
        Block::Facts(facts) => Some(facts.facts),
        _ => None,
    });
    let Fact { name, text: caches, .. } = &facts.unwrap()[2];
    let caches = caches.replace('\u{a0}', " ");
    assert!(name == "caches" && text.contains(&caches), "{caches}");
    let others = summary.sections.iter().filter(|section| section.records.is_empty());
    assert!(others.map(|it| it.content(Reader::Page)).all(|it| it == Content::default()));
}
