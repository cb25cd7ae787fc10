//! The section about the isolation matrix: the paper's order, its figures beside the run, and a
//! mark on each row that is not what it should be.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
mod synthetic;

use quietcore_report::{html, text};
use synthetic::isolation::isolation;

/// Returns the section of the page.
fn section(page: &str) -> &str {
    let begin = page.find("<section id=\"isolation\"").unwrap();
    &page[begin..begin + page[begin..].find("</section>").unwrap()]
}

/// Returns a page's text, with single spaces.
fn words(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text = parts.collect::<Vec<_>>().join(" ").replace('\u{a0}', " ");
    // A number's fraction is an element of its own.
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" .", ".")
}

#[test]
fn the_page_has_the_rows_in_the_papers_order_with_its_table_beside_them() {
    let page = html::render(&isolation(None), &[]);
    let section = section(&page);
    let plot = section.split("<svg ").nth(1).unwrap().split("</svg>").next().unwrap();
    let plot = format!("<svg {plot}</svg>");
    roxmltree::Document::parse(&plot).unwrap();
    assert!(!plot.contains("NaN") && !plot.contains("inf"), "{plot}");
    assert_eq!(plot.matches("class=\"few\"").count(), 36, "three kernels a row");
    assert_eq!(plot.matches("class=\"many\"").count(), 8);
    assert_eq!(plot.matches("class=\"many doubtful\"").count(), 1);
    assert_eq!(plot.matches("class=\"limit-line\"").count(), 2);
    let places: Vec<_> = (1..=12)
        .map(|row| section.find(&format!("<th scope=\"row\" title=\"{}\">{row} · ", title(row))))
        .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    let words = words(section);
    for said in [
        "releases beyond hofer2019, table I: mean, and below it the maximum min mean σ max 100 µs \
         10 ms Standard Xenomai Preempt-RT",
        "1 · not pinned, no load iso1",
        "iso11 · measured as row 9 · not measured",
        "Row 5 is not as asked: Control load-balance has no effect: &lt;x&gt; is refused.",
        "Row 6 was not measured: The load could not be started: &lt;y&gt;.",
        "6.12 ms 768 ms 7.37 ms 916 ms 8.07 ms 1.15 s",
        "Without load, fewest release latencies beyond 100 µs in row ",
        "Table I as printed, in µs",
        "530 million values",
        "VirtualBox",
    ] {
        assert!(words.contains(said), "`{said}` in {words}");
    }
    assert!(!words.contains("Wake-up latency"), "it slept until its releases");
    assert!(!words.contains("Measured in the same way"), "rows 11 and 12 were not measured");
}

const fn title(row: u8) -> &'static str {
    quietcore_record::isolation::ROWS[row as usize - 1].title
}

#[test]
fn where_a_partition_wakes_early_both_latencies_are_shown() {
    let page = html::render(&isolation(Some(45_000.0)), &[]);
    let words = words(section(&page));
    assert!(words.contains("Wake-up latency, as the paper measures"));
    assert!(words.contains("Without load, fewest wake-up latencies beyond 100 µs"), "{words}");
    assert!(words.contains("Release latency of the same runs, woken early"));
    assert!(words.contains("axis a container of runc version 0 (synthetic)"), "{words}");
    let page = text::render(&isolation(Some(45_000.0)), 100, false);
    let head =
        "Isolation matrix of axis, a container of runc version 0 (synthetic), wake-up latency";
    assert!(page.contains(head), "{page}");
    assert!(page.contains("Isolation matrix of axis, release latency"), "{page}");
}

#[test]
fn without_two_rows_there_is_no_section() {
    let mut evidence = isolation(None);
    evidence.records.truncate(1);
    assert!(!html::render(&evidence, &[]).contains("id=\"isolation\""));
    assert!(!text::render(&evidence, 100, false).contains("Isolation matrix"));
}

#[test]
fn the_terminal_has_the_matrix_and_the_papers_range() {
    let evidence = isolation(None);
    let wide = text::render(&evidence, 100, false);
    assert!(wide.lines().all(|line| line.chars().count() <= 100), "{wide}");
    let row = wide.lines().find(|line| line.starts_with("iso6  ")).unwrap();
    assert!(row.contains('–') && row.ends_with("8.20 to 10.6 ms 68.1 ms to 5.11 s"), "{row}");
    let row = wide.lines().find(|line| line.starts_with("iso2  ")).unwrap();
    assert!(row.ends_with("495 to 648 µs   13.2 to 18.2 ms"), "{row}");
    assert!(wide.lines().any(|line| line.starts_with("iso5*  ")), "{wide}");
    let said = wide.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("* not as asked: control `load-balance` has no effect"), "{said}");
    assert!(said.contains("not measured: the load could not be started: `<y>`"), "{said}");
    assert!(said.contains("load on the other CPUs; measured as row 10"), "{said}");
    let narrow = text::render(&evidence, 80, false);
    assert!(narrow.contains("paper's max") && narrow.contains("> 100 µs"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
}
