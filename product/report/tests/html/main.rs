//! The page as a whole: well-formed, self-contained, complete, and safe against what files hold.
//!
//! Apart from its void elements the page is XML, so an XML parser checks it, every plot included.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conditions;
mod late;
#[expect(dead_code, reason = "the tests of memory use the rest")]
#[path = "../synthetic/mod.rs"]
mod synthetic;

use std::path::Path;

use proptest::prelude::*;
use quietcore_evidence::{Evidence, Origin};
use quietcore_record::histogram::Histogram;
use quietcore_record::ledger::{
    Cause, Differences, Ledger, Ledgers, Means, Share, put_down_to_steal,
};
use quietcore_record::reason::Stated;
use quietcore_record::record::{
    AffinityInForce, FirmwareVersions, Injection, InterruptPlacement, Limit, Platform,
    PolicyInForce, ReleaseMode, ReservationInForce, Spike, SpikeCondition, TimeReality,
};
use quietcore_report::{Published, PublishedBox, html, junit, text};
use roxmltree::{Document, Node};
use serde_json::json;
use synthetic::interrupt::interrupt;
use synthetic::kernel::kernel;
use synthetic::{ASLEEP, LOUD, QUIET, Shape, evidence, papers_load, record, with_program, without};

/// The exceedance of the evidence; excluding it takes 29 956 cycles.
const EXCEEDANCE: f64 = 1e-4;

/// Turns a page into XML: void elements are closed, style and script left out.
fn xml(page: &str) -> String {
    let mut text = page.strip_prefix("<!DOCTYPE html>").unwrap().to_owned();
    for element in ["style", "script"] {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        let begin = text.find(&open).unwrap() + open.len();
        let end = text[begin..].find(&close).unwrap() + begin;
        text.replace_range(begin..end, "");
    }
    let mut closed = String::with_capacity(text.len());
    for (index, part) in text.split("<meta").enumerate() {
        if index > 0 {
            closed.push_str("<meta");
            closed.push_str(&part.replacen('>', "/>", 1));
        } else {
            closed.push_str(part);
        }
    }
    closed
}

/// Checks what must hold for every page.
fn check(page: &str) {
    let xml = xml(page);
    let document = Document::parse(&xml).unwrap();
    for forbidden in ["http://", "https://", " src=", "url(", "@import", "<link", "<img", "<iframe"]
    {
        assert!(!page.contains(forbidden), "the page has `{forbidden}`");
    }
    assert_eq!(page.matches("<script").count(), 1, "one script, our own");
    let policy = document.descendants().find(|n| n.attribute("http-equiv").is_some()).unwrap();
    assert!(policy.attribute("content").unwrap().starts_with("default-src 'none'"));
    // Every link within the page leads somewhere, and no anchor stands twice.
    let mut anchors: Vec<_> = document.descendants().filter_map(|n| n.attribute("id")).collect();
    anchors.sort_unstable();
    assert!(anchors.is_sorted_by(|a, b| a < b), "an anchor stands twice: {anchors:?}");
    for link in document.descendants().filter(|node| node.has_tag_name("a")) {
        let href = link.attribute("href").unwrap();
        if let Some(name) = link.attribute("download") {
            assert!(name.ends_with(".csv") && href.starts_with("data:text/csv;"), "{name}");
            continue;
        }
        let target = href.strip_prefix('#').unwrap();
        assert!(anchors.contains(&target), "`{target}` doesn't exist");
    }
    for plot in document.descendants().filter(|node| node.has_tag_name("svg")) {
        assert!(child(plot, "title").is_some() && child(plot, "desc").is_some());
        for number in plot.descendants().flat_map(|node| node.attributes()) {
            assert!(!number.value().contains("NaN") && !number.value().contains("inf"));
        }
    }
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|child| child.has_tag_name(name))
}

/// Makes a campaign with a FAIL, a NOT PROVEN and an interrupted record beside one for comparison.
fn mixed() -> Evidence {
    let mut free = record("tp1", 0, 30_000, LOUD, 1);
    free.reserved = false;
    let quiet = record("tp2", 1, 40_000, QUIET, 2);
    let mut loaded = record("tp3", 1, 40_000, LOUD, 3);
    loaded.conditions.loads = papers_load();
    let mut short = record("tp4", 1, 16_000, QUIET, 4);
    short.interrupted = true;
    let mut evidence = evidence(vec![free, quiet, loaded, short], EXCEEDANCE);
    evidence.site = Some("[site]\nname = \"press-line\"\n".to_owned());
    evidence.doctor = Some(json!({
        "schema": "quietcore.doctor/1",
        "facts": { "kernel": "synthetic" },
        "findings": [
            { "id": "a", "area": "x", "subject": "Advised", "read": "1", "right": "2",
              "effect": "3", "fix": "4", "severity": "advice" },
            { "id": "b", "subject": "Forbidden", "severity": "conformance" },
            { "id": "c", "subject": "Strange", "severity": "of another version" },
            { "id": "d", "subject": "Fine", "severity": "ok" },
        ],
    }));
    evidence
}

/// Goal: a change of the page's structure is seen.
/// Method: compare headings, tables, plots and closed parts with a stored list. After a change that
/// is meant, run with `QUIETCORE_STORE=1` and look at the difference.
#[test]
fn the_structure_is_the_stored_one() {
    let page = html::render(&mixed(), &[published()]);
    check(&page);
    let xml = xml(&page);
    let document = Document::parse(&xml).unwrap();
    let mut outline = String::new();
    for node in document.descendants().filter(Node::is_element) {
        let text = || {
            node.descendants().filter(Node::is_text).filter_map(|n| n.text()).collect::<String>()
        };
        let line = match node.tag_name().name() {
            "section" => format!("section {}", node.attribute("id").unwrap()),
            name @ ("h1" | "h2" | "h3" | "h4" | "summary") => format!("  {name} {}", text()),
            "table" => format!("    table, {} rows", count(node, "tr")),
            "svg" => format!("    svg {}", child(node, "title").unwrap().text().unwrap()),
            "dl" => format!("    dl, {} terms", count(node, "dt")),
            _ => continue,
        };
        outline.push_str(line.trim_end());
        outline.push('\n');
    }
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/html/outline.txt");
    if std::env::var_os("QUIETCORE_STORE").is_some() {
        std::fs::write(&stored, &outline).unwrap();
    }
    assert_eq!(outline, std::fs::read_to_string(stored).unwrap());
}

fn count(node: Node<'_, '_>, name: &str) -> usize {
    node.descendants().filter(|node| node.has_tag_name(name)).count()
}

fn published() -> Published {
    Published {
        title: "A published table".to_owned(),
        source: "Nobody, never".to_owned(),
        rows: vec![PublishedBox {
            label: "rounded to zero".to_owned(),
            lower_whisker_ns: 0,
            q1_ns: 0,
            median_ns: 2_000,
            mean_ns: None,
            q3_ns: 3_000,
            upper_whisker_ns: 4_000,
            max_ns: None,
        }],
    }
}

#[test]
fn the_verdict_comes_before_every_plot() {
    let page = html::render(&mixed(), &[]);
    let verdict = page.find("✗</span> FAIL").unwrap();
    assert!(verdict < page.find("<svg").unwrap());
    assert!(verdict < page.find("<table").unwrap());
    assert!(page.contains("must not move here"));
}

/// Goal: no text from a file becomes markup.
/// Method: put hostile text wherever a file may hold some, and look for elements made of it.
#[test]
fn hostile_text_stays_text() {
    const EVIL: &str = "<script>alert(1)</script><b id='evil'>\"'&\u{202e}\u{1b}[2J\u{0}";
    let evil = || EVIL.to_owned();
    let mut record = record("tp2", 1, 300, LOUD, 5);
    (record.name, record.partition, record.profile) = (evil(), evil(), evil());
    (record.cpu, record.interrupted) = (None, true);
    record.degraded.push(Stated::from(evil()).into());
    record.invalid_because.push(Stated::from(evil()).into());
    record.conditions.machine.insert(evil(), evil());
    record.conditions.machine.insert("kernel".to_owned(), evil());
    record.conditions.activity.insert(evil(), evil());
    record.conditions.mode = ReleaseMode::not_timed(evil());
    record.conditions.policy = PolicyInForce::Stated { words: evil(), fifo_priority: None };
    record.conditions.affinity = AffinityInForce::Stated(evil());
    record.conditions.time = TimeReality::Emulated(evil());
    record.conditions.injection = Some(Injection::Stated(evil()));
    record.conditions.loads = papers_load();
    record.conditions.loads[0].kind = evil();
    record.conditions.loads[0].unit = evil();
    record.spikes[0].conditions = vec![SpikeCondition::Stated(evil())];
    let mut evidence = evidence(vec![record], EXCEEDANCE);
    evidence.manifest.name = evil();
    evidence.manifest.started_at = evil();
    evidence.manifest.declared = [(evil(), evil())].into();
    evidence.manifest.profiles.push((evil(), evil()));
    for class in &mut evidence.manifest.classes {
        (class.title, class.source) = (evil(), evil());
    }
    evidence.damage.push(evil());
    evidence.site = Some(evil());
    evidence.doctor = Some(json!({
        "facts": evil(),
        "findings": [{ "id": evil(), "subject": evil(), "fix": evil(), "severity": evil() }],
    }));
    let mut table = published();
    (table.title, table.source, table.rows[0].label) = (evil(), evil(), evil());
    let page = html::render(&without(evidence, EVIL, EVIL), &[table]);
    check(&page);
    assert!(!page.contains("<b id="), "an element was made of a name");
    assert!(!page.contains(['\u{0}', '\u{1b}', '\u{202e}']));
    assert!(page.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn evidence_without_a_record_says_so() {
    let page = html::render(&evidence(Vec::new(), EXCEEDANCE), &[]);
    check(&page);
    assert!(page.contains("NOT PROVEN"));
    assert!(!page.contains("PASS</span>"));
}

#[test]
fn the_smallest_records_can_be_drawn() {
    for cycles in [0, 1, 2] {
        let mut record = record("tp2", 1, cycles, QUIET, 6);
        if cycles == 0 {
            record.wakeup = None;
        }
        let page = html::render(&evidence(vec![record], EXCEEDANCE), &[]);
        check(&page);
        assert!(page.contains("NOT PROVEN"));
    }
    // A value of zero, and one at the end of the range.
    let mut record = record("tp2", 1, 1, QUIET, 6);
    for value in [0, u64::MAX] {
        record.release = Histogram::new();
        record.release.record(value);
        check(&html::render(&evidence(vec![record.clone()], EXCEEDANCE), &[]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Goal: whatever numbers a file holds, the page is made and is well-formed.
    /// Method: records whose parts contradict each other, as no probe would write them.
    #[test]
    fn no_number_breaks_the_page(
        values in proptest::collection::vec((0_u64..1 << 60, 1_u64..1000), 0..20),
        resolution in 0_u64..1 << 40,
        overflow_from in any::<u64>(),
        period in proptest::option::of(any::<u64>()),
        slots in proptest::collection::vec(any::<(u64, u64, u64)>(), 0..9),
        limits in proptest::collection::vec(proptest::option::of(any::<u64>()), 19),
        spike in any::<u64>(),
    ) {
        let mut record = record("tp2", 1, 10, QUIET, 3);
        record.release = Histogram::imported(resolution, overflow_from);
        for (value, times) in values {
            record.release.record_many(value, times);
        }
        record.period_ns = period;
        record.timeline.slots = slots;
        (record.spikes[0].at_ns, record.spikes[0].latency_ns) = (spike, spike);
        (record.counters.spin_ns, record.conditions.duration_ns) = (spike, resolution);
        let mut evidence = evidence(Vec::new(), EXCEEDANCE);
        evidence.records.push(record);
        for (class, limit) in evidence.manifest.classes.iter_mut().zip(limits) {
            (class.cycle_ns, class.jitter_ns) = (limit, limit);
        }
        check(&html::render(&evidence, &[published()]));
        text::render(&evidence, 100, true);
        junit::render(&evidence);
    }
}

/// A quantile among values that were only counted is a bound, in the table and in the plot.
#[test]
fn what_is_only_known_from_below_is_never_a_number() {
    let mut record = record("imported", 0, 100, ASLEEP, 7);
    record.release = Histogram::imported(1_000, 400_000);
    record.release.record_many(90_000, 970);
    record.release.record_overflow(30, 5_000_000, 30_000_000);
    (record.wakeup, record.cpu) = (None, None);
    record.spikes.clear();
    let mut evidence = evidence(vec![record], EXCEEDANCE);
    evidence.manifest.origin = Origin::Import;
    evidence.manifest.declared.clear();
    let page = html::render(&evidence, &[]);
    check(&page);
    assert!(page.contains("→ ≥ 400\u{a0}µs"), "the box has no open end");
    assert!(page.contains("<span class=\"i\">≥\u{a0}400</span>"), "the table has no bound");
    assert!(page.contains("class=\"overflow\""), "the histogram hides the overflow");
}

#[test]
fn emulated_time_is_said_before_everything_else() {
    let mut record = record("tp2", 1, 300, ASLEEP, 8);
    record.conditions.time = TimeReality::Emulated("interpreted".to_owned());
    let page = html::render(&evidence(vec![record.clone()], EXCEEDANCE), &[]);
    check(&page);
    let alarm = page.find("this time is emulated").unwrap();
    assert!(alarm < page.find("class=\"hero").unwrap());
    record.conditions.time = TimeReality::Unknown("not measured".to_owned());
    let page = html::render(&evidence(vec![record], EXCEEDANCE), &[]);
    assert!(!page.contains("this time is emulated"));
}

/// Goal: 24 records stay below 3 MiB, also where every bar of every plot is filled.
/// Method: the wide range of early wake, and a linear axis with latencies all over it.
#[test]
fn a_large_campaign_stays_small() {
    let dense = Shape {
        wakeup_ns: 80_000.0,
        spread: 0.4,
        spike_every: 3,
        spike_times: 6.0,
        margin_ns: None,
    };
    for shape in [LOUD, dense] {
        let profiles = ["tp1", "tp2", "tp3", "tp4"];
        let records = profiles.iter().flat_map(|profile| {
            (0..6).map(move |cpu| {
                let mut record = record(profile, cpu, 20_000, shape, u64::from(cpu) + 9);
                // A sum of its own, so that both series are drawn.
                record.wakeup.iter_mut().for_each(|wakeup| wakeup.record(1));
                record
            })
        });
        let page = html::render(&evidence(records.collect(), EXCEEDANCE), &[]);
        check(&page);
        println!("{} bytes", page.len());
        assert!(page.len() < 3 << 20, "{} bytes", page.len());
        assert!(page.contains("worst of 6"));
    }
}

/// Goal: a kernel's routines are neither judged nor drawn as releases.
#[test]
fn the_routines_of_a_kernel_have_a_page_of_their_own() {
    let evidence = kernel(&[100, 2_000]);
    let page = html::render(&evidence, &[]);
    check(&page);
    let xml = xml(&page);
    let document = Document::parse(&xml).unwrap();
    let sections: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("section"))
        .map(|node| node.attribute("id").unwrap())
        .collect();
    assert_eq!(sections, ["verdict", "routines", "conditions", "doctor"]);
    let plots: Vec<_> = document.descendants().filter(|node| node.has_tag_name("svg")).collect();
    assert_eq!(plots.len(), 1);
    let of = |class: &str| {
        let has = |node: &Node<'_, '_>| {
            node.attribute("class").is_some_and(|it| it.split(' ').any(|word| word == class))
        };
        plots[0].descendants().filter(has).count()
    };
    // Sixteen rows, twice; the maximum of those with more loops is written.
    assert_eq!((of("name"), of("span"), of("middle"), of("value")), (16, 32, 32, 16));
    assert_eq!((of("highest"), of("border")), (1, 1));
    let tables = document.descendants().filter(|node| node.has_tag_name("table"));
    assert_eq!(tables.map(|table| count(table, "tr")).collect::<Vec<_>>(), [17, 17]);
    assert!(!page.contains("NOT PROVEN") && !page.contains("Release latency"));
    assert!(page.contains("quietcore probe osek"));
    assert!(!page.contains("The timing is not valid"));
    let mut invalid = kernel(&[100]);
    invalid.records[0].invalid_because =
        vec![Stated::from("this machine's time is emulated").into()];
    assert!(html::render(&invalid, &[]).contains("The timing is not valid; see the reasons"));
}

/// Goal: beside releases the routines are a section, and change nothing else.
#[test]
fn routines_beside_releases_take_no_part_in_the_verdict() {
    let mut with = mixed();
    with.records.extend(kernel(&[100]).records);
    let page = html::render(&with, &[]);
    check(&page);
    let without = html::render(&mixed(), &[]);
    let part = |page: &str, from: &str, to: &str| {
        page[page.find(from).unwrap()..page.find(to).unwrap()].to_owned()
    };
    let verdict =
        |page: &str| part(page, "<section id=\"verdict\"", "<section id=\"distributions\"");
    assert_eq!(verdict(&page), verdict(&without));
    assert!(page.contains("<section id=\"routines\"") && !without.contains("id=\"routines\""));
}

/// Goal: interrupts stand beside what was published of the same, on one axis, and are not judged.
#[test]
fn interrupts_have_a_page_of_their_own_with_the_published_figures() {
    let page = html::render(&interrupt(), &[]);
    check(&page);
    let xml = xml(&page);
    let document = Document::parse(&xml).unwrap();
    let sections = document.descendants().filter(|node| node.has_tag_name("section"));
    let sections: Vec<_> = sections.map(|node| node.attribute("id").unwrap()).collect();
    assert_eq!(sections, ["verdict", "interrupts", "conditions", "doctor"]);
    let plots: Vec<_> = document.descendants().filter(|node| node.has_tag_name("svg")).collect();
    let places = |plot: &Node<'_, '_>| {
        let ticks = plot.descendants().filter(|node| node.attribute("class") == Some("tick"));
        ticks.map(|tick| tick.attribute("x").unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(plots.len(), 2);
    assert_eq!(places(&plots[0]), places(&plots[1]), "what is compared has one axis");
    let tables = document.descendants().filter(|node| node.has_tag_name("table"));
    // A head, four quantities, five published rows.
    assert_eq!(tables.map(|table| count(table, "tr")).collect::<Vec<_>>()[..2], [10, 10]);
    for word in ["JARI-Works 3.2", "kong2021/table-2", "3 interrupts more were left out"] {
        assert!(page.contains(word), "{word}");
    }
    assert!(!page.contains("NOT PROVEN"));
}
