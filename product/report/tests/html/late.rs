//! The section of late releases: bars, courses, and what nobody explains.

use super::*;
use crate::synthetic::late::late;

/// Goal: late releases have a bar each, which is as wide as its causes together, and what could not
/// be observed is said.
/// Method: a record with ledgers of known shares, in the page and in the text.
#[test]
fn late_releases_have_a_section_that_adds_up() {
    let mut late = record("tp2", 1, 40_000, QUIET, 2);
    let mut ledgers = Ledgers::new(50_000, Means::Trace);
    ledgers.above = 5;
    ledgers.miss("SMIs", "this processor <counts> none");
    for latency_ns in [400_000, 100_000] {
        let share = |cause, what: &str, part: u64| Share {
            cause,
            what: what.to_owned(),
            ns: latency_ns / 4 * part,
            times: 1,
        };
        ledgers.add(Ledger {
            release: latency_ns,
            at_ns: 7,
            latency_ns,
            cpu: 1,
            shares: vec![
                share(Cause::Thread, "<spinner> (9)", 3),
                share(Cause::Unexplained, "", 1),
            ],
            course: Vec::new(),
            counted: Vec::new(),
            stack: ["asm_sysvec_apic_timer_interrupt", "vmstat_update"].map(str::to_owned).into(),
            remarks: Vec::new(),
        });
    }
    late.ledgers = Some(ledgers);
    let found = evidence(vec![late], EXCEEDANCE);
    let page = html::render(&found, &[]);
    check(&page);
    let xml = xml(&page);
    let document = Document::parse(&xml).unwrap();
    let bars = document.descendants().filter(|node| node.attribute("class") == Some("ledger"));
    let width = |bar: Node<'_, '_>| -> f64 {
        let parts = bar.children().filter(|part| part.has_tag_name("rect"));
        let width = |part: Node<'_, '_>| -> Option<f64> {
            part.attribute("width")?.strip_suffix('%')?.parse().ok()
        };
        parts.filter_map(width).sum()
    };
    assert_eq!(bars.map(width).collect::<Vec<_>>(), [100.0, 100.0, 25.0], "all, and each");
    assert!(page.contains("blocking threads, &lt;spinner&gt; (9): 300\u{a0}µs, 75.0 %"));
    assert!(page.contains("5 releases were later than 50\u{a0}µs; 2 of them are explained"));
    assert!(page.contains("Not observed: SMIs"));
    assert!(page.contains("<code>vmstat_update</code>"));
    let without = html::render(&mixed(), &[]);
    assert!(!without.contains("Where the time of late releases went"));
}

/// Goal: a reader of a guest's record is not told that no release was late, nor left to wonder why
/// none has a ledger.
#[test]
fn late_releases_that_nobody_explains_say_so() {
    let page_of = |above| {
        let mut late = record("tp2", 1, 40_000, QUIET, 2);
        late.ledgers = Some(Ledgers::unexplained(50_000, above, "a guest <releases> the tasks"));
        let page = html::render(&evidence(vec![late], EXCEEDANCE), &[]);
        check(&page);
        page
    };
    let page = page_of(5);
    let said = "5 releases were later than 50\u{a0}µs; none is explained: a guest &lt;releases&gt; \
                the tasks.";
    assert!(page.contains(said));
    assert!(page.contains("Not observed: where the time of late releases went"));
    assert!(!page.contains("Observing costs time itself"), "nobody observed");
    assert!(page_of(0).contains("No release was later than 50\u{a0}µs."));
}

/// Goal: no link of a row leads nowhere, wherever the row stands.
/// Method: a traced record whose stalls fill the table and are all explained, beside one with a
/// lesser stall that is not: only the table of its own record has that one.
#[test]
fn a_stall_below_the_worst_links_to_the_command_too() {
    let late = |release: u64, latency_ns| Spike {
        release,
        at_ns: release * 1_000_000,
        latency_ns,
        wakeup_ns: latency_ns,
        cpu: 1,
        conditions: Vec::new(),
    };
    let mut traced = record("tp2", 1, 40_000, QUIET, 2);
    traced.spikes = (0..16).map(|index| late(index * 10, 900_000 - index)).collect();
    let mut ledgers = Ledgers::new(50_000, Means::Trace);
    for Spike { release, at_ns, latency_ns, cpu, .. } in traced.spikes.clone() {
        let what = "spinner (9)".to_owned();
        let shares = vec![Share { cause: Cause::Thread, what, ns: latency_ns, times: 1 }];
        ledgers.add(Ledger {
            release,
            at_ns,
            latency_ns,
            cpu,
            shares,
            course: Vec::new(),
            counted: Vec::new(),
            stack: Vec::new(),
            remarks: Vec::new(),
        });
    }
    traced.ledgers = Some(ledgers);
    let mut other = record("tp3", 1, 40_000, QUIET, 3);
    other.spikes = vec![late(7, 30_000)];
    let page = html::render(&evidence(vec![traced.clone(), other], EXCEEDANCE), &[]);
    check(&page);
    assert_eq!(page.matches("href=\"#explain\"").count(), 1);
    assert!(page.contains("--explain 10us"), "for the one that is not explained");
    let explained = html::render(&evidence(vec![traced], EXCEEDANCE), &[]);
    assert!(!explained.contains("id=\"explain\""));
}

/// Goal: a reader sees what ran when between the instant a release was due and its start.
/// Method: ledgers of a made-up trace; each cause has a row whose pieces are as wide as its share.
#[test]
fn a_traced_release_has_a_chart_of_its_course() {
    let found = late();
    let ledgers = found.records[0].ledgers.as_ref().unwrap();
    let page = html::render(&found, &[]);
    check(&page);
    let xml = xml(&page);
    let document = Document::parse(&xml).unwrap();
    let charts: Vec<Node<'_, '_>> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("boxes gantt"))
        .collect();
    assert_eq!(charts.len(), 3, "the worst, and each of the two among all shares");
    let rows: Vec<Node<'_, '_>> =
        charts[0].descendants().filter(|node| node.attribute("class") == Some("course")).collect();
    let worst = &ledgers.kept[0];
    assert_eq!(rows.len(), worst.shares.len());
    let percent = |part: &Node<'_, '_>, name: &str| -> f64 {
        part.attribute(name).unwrap().trim_end_matches('%').parse().unwrap()
    };
    let pieces = |row: &Node<'_, '_>| -> Vec<(f64, f64)> {
        let parts = row.children().filter(|part| part.has_tag_name("rect"));
        parts.map(|part| (percent(&part, "x"), percent(&part, "width"))).collect()
    };
    let mut all: Vec<(f64, f64)> = rows.iter().flat_map(pieces).collect();
    assert_eq!(all.len(), worst.course.len());
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    for pair in all.windows(2) {
        assert!((pair[0].0 + pair[0].1 - pair[1].0).abs() < 0.3, "no gap, no overlap: {pair:?}");
    }
    let mut taken = late();
    let of_host =
        Differences { steal_ns: Some(100_000), within_ns: 498_000, ..Differences::default() };
    put_down_to_steal(&mut taken.records[0].ledgers.as_mut().unwrap().kept[0], &of_host);
    let chart = |page: &str| {
        let begin = page.find("<div class=\"boxes gantt\"").unwrap();
        page[begin..begin + page[begin..].find("<table").unwrap()].to_owned()
    };
    let after = html::render(&taken, &[]);
    assert_eq!(chart(&after), chart(&page), "what is put down to steal keeps its place");
    assert!(page.contains("41 virtio3-rx: 30.0\u{a0}µs, from 100\u{a0}µs on"));
}
