//! The output for the terminal and for continuous integration, which both agree with the page.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod synthetic;

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::class::{Class, Strictness};
use quietcore_record::histogram::Histogram;
use quietcore_record::reason::Stated;
use quietcore_record::record::{
    Injected, KernelErrors, LoadAchieved, Measured, NeighbourAchieved, RoundTripRun,
};
use quietcore_record::verdict::Verdict;
use quietcore_report::summary::Figure;
use quietcore_report::{Summary, html, junit, text};
use roxmltree::{Document, Node};
use synthetic::interrupt::interrupt;
use synthetic::kernel::kernel;
use synthetic::{LOUD, QUIET, evidence, record, with_program, without};

const EXCEEDANCE: f64 = 1e-4;

fn mixed() -> Evidence {
    let mut free = record("tp1", 0, 30_000, LOUD, 1);
    free.reserved = false;
    let quiet = record("tp2", 1, 40_000, QUIET, 2);
    let short = record("tp4", 1, 16_000, QUIET, 4);
    evidence(vec![free, quiet, short], EXCEEDANCE)
}

fn cases<'a>(document: &'a Document<'a>) -> Vec<(&'a str, Option<Node<'a, 'a>>)> {
    document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
        .map(|case| (case.attribute("name").unwrap(), case.children().find(Node::is_element)))
        .collect()
}

fn outcome<'a>(cases: &[(&str, Option<Node<'a, 'a>>)], name: &str) -> &'a str {
    let (_, outcome) = cases.iter().find(|(case, _)| *case == name).unwrap();
    outcome.map_or("passed", |node| node.tag_name().name())
}

#[test]
fn every_verdict_becomes_what_ci_understands() {
    let xml = junit::render(&mixed());
    let document = Document::parse(&xml).unwrap();
    let cases = cases(&document);
    assert_eq!(outcome(&cases, "motion-control under tp2"), "passed");
    // Declared and not proven: never green, never merely skipped.
    assert_eq!(outcome(&cases, "motion-control under tp4"), "error");
    assert_eq!(outcome(&cases, "motion-control overall"), "error");
    assert_eq!(outcome(&cases, "high-speed-io under tp2"), "skipped");
    // For comparison only, so its FAIL doesn't fail the run.
    assert_eq!(outcome(&cases, "motion-control under tp1"), "skipped");
    let (_, error) = cases.iter().find(|(name, _)| *name == "motion-control overall").unwrap();
    assert_eq!(error.unwrap().attribute("type"), Some("NOT PROVEN"));
    let suites = document.root_element();
    assert_eq!(suites.attribute("tests"), Some(cases.len().to_string().as_str()));
    assert_eq!(cases.len(), 1 + 3 * mixed().manifest.classes.len());
}

#[test]
fn a_limit_that_does_not_hold_is_a_failure() {
    let loud = record("tp3", 1, 40_000, LOUD, 3);
    let xml = junit::render(&evidence(vec![loud], EXCEEDANCE));
    let document = Document::parse(&xml).unwrap();
    let cases = cases(&document);
    assert_eq!(outcome(&cases, "motion-control overall"), "failure");
    assert_eq!(outcome(&cases, "motion-control under tp3"), "failure");
}

#[test]
fn what_is_missing_or_damaged_is_an_error() {
    let xml = junit::render(&evidence(Vec::new(), EXCEEDANCE));
    let document = Document::parse(&xml).unwrap();
    assert_eq!(outcome(&cases(&document), "something was measured"), "error");
    let quiet = || evidence(vec![record("tp2", 1, 40_000, QUIET, 2)], EXCEEDANCE);
    let mut damaged = without(quiet(), "tp3", "no load \u{1b}[2J & <more>");
    damaged.damage.push("`site.toml` was changed".to_owned());
    let xml = junit::render(&damaged);
    let document = Document::parse(&xml).unwrap();
    let cases = cases(&document);
    assert_eq!(outcome(&cases, "tp3 was measured"), "error");
    assert_eq!(outcome(&cases, "the evidence folder is undamaged"), "error");
    assert_eq!(outcome(&cases, "motion-control overall"), "error");
}

/// Goal: a task that is held to nothing is listed as such, and what a kernel lost is said.
#[test]
fn tasks_without_a_deadline_and_lost_activations_stand_in_the_text() {
    let quiet = || record("tp2", 1, 40_000, QUIET, 2);
    let mut lead = with_program(quiet(), "cycle", 0);
    lead.scan_mut().unwrap().kernel_errors = vec![KernelErrors {
        task: Some("report".to_owned()),
        status: "E_OS_LIMIT".to_owned(),
        service: Some("ActivateTask".to_owned()),
        is_lost_work: true,
        count: 4_321,
    }];
    let mut free = with_program(quiet(), "report", 0);
    let terms = &mut free.scan_mut().unwrap().terms;
    (terms.by_kernel, terms.deadline_ns) = (true, None);
    let evidence = evidence(vec![lead, free], EXCEEDANCE);
    assert_eq!(Summary::of(&evidence).verdict(), Some(Verdict::Fail));
    let shown = text::render(&evidence, 100, false);
    let lost = "task `report`: E_OS_LIMIT in ActivateTask (4 321 times)";
    assert!(shown.contains(&format!("work of the program was lost: {lost}")), "{shown}");
    assert!(shown.contains("! The program's kernel found errors: task `report`"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.contains("tp2 · report ")).count(), 2, "{shown}");
    assert!(shown.contains("No deadline, and so in no verdict: tp2 · report."), "{shown}");
}

#[test]
fn the_summary_takes_the_worst_that_counts() {
    let verdict = |evidence: &Evidence| {
        let verdict = Summary::of(evidence).verdict();
        // The exit status follows the evidence's own rule; the two may not differ.
        assert_eq!(verdict.unwrap_or(Verdict::NotProven), evidence.declared_verdict());
        verdict
    };
    let quiet = || record("tp2", 1, 40_000, QUIET, 2);
    assert_eq!(verdict(&evidence(vec![quiet()], EXCEEDANCE)), Some(Verdict::Pass));
    let mut free = record("tp1", 0, 30_000, LOUD, 1);
    free.reserved = false;
    let with_comparison = evidence(vec![free.clone(), quiet()], EXCEEDANCE);
    assert_eq!(verdict(&with_comparison), Some(Verdict::Pass));
    // Without a profile that keeps the reservation, nothing is proven.
    assert_eq!(verdict(&evidence(vec![free], EXCEEDANCE)), Some(Verdict::NotProven));
    assert_eq!(verdict(&mixed()), Some(Verdict::NotProven));
    let gap = without(evidence(vec![quiet()], EXCEEDANCE), "tp3", "no memory");
    assert_eq!(verdict(&gap), Some(Verdict::NotProven));
    let loud = record("tp3", 1, 40_000, LOUD, 3);
    let failed = without(evidence(vec![quiet(), loud], EXCEEDANCE), "tp4", "no memory");
    assert_eq!(verdict(&failed), Some(Verdict::Fail));
    let mut undeclared = evidence(vec![quiet()], EXCEEDANCE);
    undeclared.manifest.declared.clear();
    assert_eq!(verdict(&undeclared), None);
    let mut unknown = evidence(vec![quiet()], EXCEEDANCE);
    unknown.manifest.declared = [("axis".to_owned(), "no such class".to_owned())].into();
    assert_eq!(verdict(&unknown), Some(Verdict::NotProven));
}

#[test]
fn the_terminal_gets_words_and_signs_that_fit() {
    for (width, fits) in [(100, 100), (80, 80), (20, text::WIDTH_MIN)] {
        let page = text::render(&mixed(), width, false);
        for line in page.lines() {
            assert!(line.chars().count() <= fits, "{width}: {line}");
        }
        assert!(page.contains("? NOT PROVEN") && page.contains("✓ PASS"));
        assert!(!page.contains('\u{1b}'), "colour that nobody asked for");
    }
    let first: Vec<_> =
        text::render(&mixed(), 100, false).lines().take(4).map(str::to_owned).collect();
    assert!(first[3].starts_with("? NOT PROVEN  axis: Motion control"), "{first:?}");
}

/// Goal: what was left out is named, with what that costs, and with a remedy that can be taken.
#[test]
fn profiles_that_were_left_out_are_named_with_what_it_costs() {
    let quiet = || evidence(vec![record("tp2", 1, 40_000, QUIET, 2)], EXCEEDANCE);
    let mut compared = without(quiet(), "tp1", "it was not chosen");
    compared.manifest.not_measured[0].reserved = false;
    compared.manifest.complete = true;
    let shown = text::render(&compared, 200, false);
    let said = "! Not measured, for comparison only: it was not chosen. No verdict rests on it.\n  \
                Concerns axis · tp1.";
    assert!(shown.contains(said) && !shown.contains("NOT PROVEN at best"), "{shown}");
    // It doesn't fail continuous integration whose verdict is PASS either.
    let xml = junit::render(&compared);
    let document = Document::parse(&xml).unwrap();
    assert_eq!(outcome(&cases(&document), "tp1 was measured"), "skipped");
    let mut left = without(quiet(), "tp3", "it was not chosen");
    left.manifest.profiles = vec![("tp2".to_owned(), String::new())];
    let shown = text::render(&left, 200, false);
    assert!(shown.contains("Concerns axis · tp3.") && shown.contains("Remedy: Qualify again"));
    assert!(shown.contains("NOT PROVEN at best") && !shown.contains("--resume"), "{shown}");
    // A profile that was chosen and could not be measured can still be measured.
    left.manifest.profiles.push(("tp3".to_owned(), String::new()));
    assert!(text::render(&left, 200, false).contains("qualify --resume ."));
}

/// Goal: whoever sees the end of a long text sees the verdict, and what its signs mean.
#[test]
fn the_verdict_stands_at_the_end_of_a_long_text_too() {
    let shown = text::render(&mixed(), 80, false);
    let last = shown.lines().last().unwrap();
    assert!(last.starts_with("? NOT PROVEN  axis: Motion control"), "{shown}");
    let shown = text::render(&mixed(), 200, false);
    assert!(shown.contains("so many of the cycles that a PASS takes were measured."), "{shown}");
}

#[test]
fn colour_is_added_to_the_words() {
    let plain = text::render(&mixed(), 100, false);
    let coloured = text::render(&mixed(), 100, true);
    assert!(coloured.contains("\u{1b}[32m✓ PASS"));
    let without_colour: String = coloured
        .split('\u{1b}')
        .enumerate()
        .map(|(index, part)| if index == 0 { part } else { part.split_once('m').unwrap().1 })
        .collect();
    // Trailing spaces in front of a colour's end can't be trimmed.
    let trimmed: Vec<_> = without_colour.lines().map(str::trim_end).collect();
    assert_eq!(trimmed.join("\n").trim_end_matches('\n'), plain.trim_end_matches('\n'));
}

#[test]
fn a_name_cannot_move_the_cursor() {
    let mut hostile = record("tp2", 1, 100, QUIET, 5);
    hostile.partition = "axis\u{1b}[2J\u{7}".to_owned();
    hostile.profile = "tp\r2\u{9b}31m".to_owned();
    hostile.invalid_because.push(Stated::from("\u{1b}]0;title\u{7}").into());
    let page = text::render(&evidence(vec![hostile], EXCEEDANCE), 100, false);
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page:?}");
}

#[test]
fn the_terminal_shows_what_the_cycles_of_a_program_took() {
    let fast = with_program(record("tp2", 1, 40_000, QUIET, 2), "fast", 0);
    let slow = with_program(record("tp2", 1, 40_000, QUIET, 3), "slow", 3);
    let evidence = evidence(vec![fast, slow], EXCEEDANCE);
    for width in [60, 80, 100, 200] {
        let shown = text::render(&evidence, width, false);
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{width}:\n{shown}");
        let table: Vec<_> =
            shown.lines().skip_while(|line| !line.starts_with("execution")).collect();
        assert!(table[0].ends_with("overruns watchdog"), "{shown}");
        assert!(table[1].starts_with("tp2 · fast") && table[1].ends_with("0        0"), "{shown}");
        assert!(table[2].contains("870 µs        3        0"), "{shown}");
        assert_eq!(table[0].contains("median"), width > 60, "{shown}");
    }
    assert!(!text::render(&mixed(), 100, false).contains("overruns"));
}

/// Goal: the page says who was beside a partition, where, and what it did there; a page without
/// neighbours says nothing of them.
#[test]
fn the_page_has_a_table_of_the_neighbours() {
    let mut beside = record("tp6", 1, 40_000, QUIET, 2);
    beside.conditions.neighbours = vec![NeighbourAchieved {
        name: "neighbour-1".to_owned(),
        kind: "Linux guest of QEMU".to_owned(),
        cpus: "2,3".parse().unwrap(),
        processors: Some(2),
        loads: vec![LoadAchieved {
            kind: "sqrt".to_owned(),
            workers: 10,
            working: 9,
            cpus: "2,3".parse().unwrap(),
            operations_per_second: 1.5e6,
            unit: "sqrt/s".to_owned(),
            bytes_per_second: None,
            cpu_share: 1.9,
        }],
    }];
    let page = html::render(&evidence(vec![beside], EXCEEDANCE), &[]);
    for part in ["Neighbours, and what their loads achieved", "neighbour-1", "9 of 10", "1.90 CPUs"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("Linux guest of QEMU, 2 processors"));
    assert!(!html::render(&mixed(), &[]).contains("Neighbours, and what"));
}

/// Goal: the figures of a kernel stand below each other, and what the sample does not carry is a
/// dash.
#[test]
fn the_terminal_has_a_table_of_the_routines() {
    let text = text::render(&kernel(&[100, 100_000]), 100, false);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("100 loops, as published") && text.contains("100 000 loops"));
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("act ") || line.starts_with("isrentry,"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 6, "{text}");
    assert_eq!(rows[0][4..6], ["–", "–"], "100 loops carry neither p99 nor p99.99");
    assert_eq!((rows[1][1], rows[2][1]), ("software", "signal"));
    assert!(rows[3][5].parse::<f64>().unwrap() > 50.0, "100 000 loops carry p99.99");
    let numbers: Vec<usize> = text
        .lines()
        .filter(|line| line.starts_with("act ") || line.starts_with("empty "))
        .map(|line| line.chars().position(|c| c == '.').unwrap())
        .collect();
    assert!(numbers.windows(2).all(|pair| pair[0] == pair[1]), "decimals are aligned: {text}");
}

#[test]
fn routines_alone_are_something_that_was_measured() {
    let junit = junit::render(&kernel(&[100]));
    assert!(!junit.contains("something was measured"), "{junit}");
}

#[test]
fn interrupts_stand_above_the_published_figures() {
    let shown = text::render(&interrupt(), 100, false);
    let row = |name: &str| {
        let line = shown.lines().find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no `{name}` in {shown}"));
        line[name.len()..].split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("by the register *")[0], "9.30");
    assert_eq!(row("context switch")[0], "0.70");
    assert_eq!(
        row("  Linux+KVM+RT Patch, JARI-Works 3.2"),
        ["18.32", "19.76", "–", "21.85", "10", "000"]
    );
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
}

/// Goal: whatever was measured, what the terminal is given fits in it.
#[test]
fn every_kind_of_evidence_fits_80_100_and_120_columns() {
    let fast = with_program(record("tp2", 1, 40_000, QUIET, 2), "fast", 0);
    let free = record("tp1", 0, 30_000, LOUD, 1);
    let all = [
        ("mixed", mixed()),
        ("program", evidence(vec![free, fast], EXCEEDANCE)),
        ("kernel", kernel(&[100, 100_000])),
        ("interrupt", interrupt()),
        ("memory", synthetic::memory::memory(true)),
        ("tuned", synthetic::experiment::tuned()),
        ("disturbed", synthetic::experiment::disturbed()),
        ("compared", synthetic::experiment::compared()),
        ("compared by routines", synthetic::experiment::compared_by_routines()),
        ("isolation", synthetic::isolation::isolation(Some(30_000.0))),
        ("round trips", round_trips()),
    ];
    for (name, evidence) in &all {
        for width in [80, 100, 120] {
            for line in text::render(evidence, width, false).lines() {
                assert!(line.chars().count() <= width, "{name} in {width}: {line}");
            }
        }
    }
}

/// Makes the evidence of a probe of round trips that was run by hand.
fn round_trips() -> Evidence {
    let mut record = record("by-hand", 1, 40_000, QUIET, 2);
    record.probe = "ethercat".to_owned();
    record.measured = Measured::RoundTrip(RoundTripRun {
        interface: "sim".to_owned(),
        subdevices: 6,
        cycles: 40_003,
        lost: 3,
        incomplete: 1,
        mean_cycles_per_second: 20_450.0,
        sustained_cycles_per_second: Some(12_100.0),
        first_alarm: Some("lost a frame".to_owned()),
    });
    let mut evidence = evidence(vec![record], EXCEEDANCE);
    evidence.manifest.origin = Origin::Probe;
    evidence.manifest.classes.clear();
    evidence.manifest.declared.clear();
    evidence
}

/// Goal: round trips are no release latencies, neither on the terminal nor on the page.
#[test]
fn round_trips_are_shown_as_what_they_are() {
    let evidence = round_trips();
    let shown = text::render(&evidence, 100, false);
    for words in ["EtherCAT on sim, 6 SubDevices", "round trip", "40 003 cycles 3 lost a frame"] {
        assert!(shown.contains(words), "`{words}` in {shown}");
    }
    assert!(!shown.contains("release"), "{shown}");
    let page = html::render(&evidence, &[]);
    assert!(page.contains("id=\"round-trips\"") && page.contains("No class judges a round trip"));
    assert!(!page.contains("Latency by profile"), "nothing was released");
    let mut invalid = evidence;
    invalid.records[0].invalid_because.push(Stated::from("`sim` was <reset>").into());
    let page = html::render(&invalid, &[]);
    assert!(page.contains("<b>Not valid: </b><code>sim</code> was &lt;reset&gt;."));
}

/// Goal: beside each verdict stands what decided it; a class that failed by its jitter shows that.
#[test]
fn a_cell_of_the_terminal_shows_what_decided() {
    let shown = text::render(&mixed(), 200, false);
    let row = |class: &str| shown.lines().find(|line| line.starts_with(class)).unwrap().to_owned();
    let motion = row("motion-control");
    assert!(motion.contains("✓ PASS") && motion.contains("? NOT PROVEN 53 %"), "{motion}");
    let mut wide = record("tp2", 1, 40_000, QUIET, 2);
    wide.release = Histogram::new();
    wide.release.record_many(10_000, 20_000);
    wide.release.record_many(60_000, 20_000);
    let evidence = evidence(vec![wide], EXCEEDANCE);
    let shown = text::render(&evidence, 200, false);
    assert!(shown.contains("✗ FAIL jitter 50."), "{shown}");
    let summary = Summary::of(&evidence);
    let jitters = summary.partitions.iter().flat_map(|it| &it.rows).flat_map(|row| &row.cells);
    let jitters = jitters.filter(|cell| matches!(cell.figure, Figure::Jitter(_))).count();
    assert_eq!(shown.matches("FAIL jitter").count(), jitters);
}

/// Goal: of a class that bears misses, the misses are shown and not the largest latency.
/// Method: 60 late releases, of which no two are known to have come together.
#[test]
fn a_class_that_bears_misses_shows_how_many_there_were() {
    let mut late = record("tp2", 1, 40_000, QUIET, 2);
    late.release = Histogram::new();
    late.release.record_many(20_000, 39_940);
    late.release.record_many(3_000_000, 60);
    late.spikes.clear();
    let Evidence { mut manifest, records, .. } = evidence(vec![late], EXCEEDANCE);
    let hard = manifest.classes.iter().find(|class| class.name == "motion-control").unwrap();
    let hard = Class { jitter_ns: None, ..hard.clone() };
    for (name, strictness) in [
        ("firm-90", Strictness::Firm { survival_cycles: 90 }),
        ("firm-2", Strictness::Firm { survival_cycles: 2 }),
        ("soft", Strictness::Soft { misses_ppm: 1_000 }),
    ] {
        manifest.classes.push(Class { name: name.to_owned(), strictness, ..hard.clone() });
    }
    manifest.declared.insert("axis".to_owned(), "firm-90".to_owned());
    let evidence = Evidence::of(manifest, records);
    let shown = text::render(&evidence, 200, false);
    let row = |class: &str| shown.lines().find(|line| line.starts_with(class)).unwrap().to_owned();
    assert!(row("firm-90 ").contains("✓ PASS 1 to 60 in a row"), "{shown}");
    assert!(row("firm-2 ").contains("? NOT PROVEN 1 to 60 in a row"), "{shown}");
    assert!(row("soft ").contains("✗ FAIL 0.150 % missed"), "{shown}");
    assert!(shown.contains("except of these classes: firm-90 (firm: at most 90 in a row), firm-2"));
    assert!(shown.contains("which is one longer run of misses each 13.4 s"), "{shown}");
    assert!(shown.contains("Fastest cycle by the tenth-of-cycle rule: "), "{shown}");
    assert!(shown.contains("or that of the source. Beside"), "the table has a column of limits");
    let narrow = text::render(&evidence, 60, false);
    let narrow = narrow.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(narrow.contains("of the source (rhel-real-time-150us 150 µs, rhel-"), "{narrow}");
    let page = html::render(&evidence, &[]);
    assert!(
        page.contains("soft: at most 0.1 % of the cycles") && page.contains("0.150\u{a0}% missed")
    );
    assert!(page.contains("A firm class takes as many cycles"), "how sure is that?");
    let hard = text::render(&mixed(), 200, false);
    assert!(!hard.contains("except of these classes") && !hard.contains("tenth-of-cycle rule"));
}

/// Goal: what was put in and not seen is never called seen.
#[test]
fn an_injection_that_is_not_seen_is_never_called_seen() {
    let with = |latency_ns: u64| {
        let mut record = record("tp2", 1, 40_000, QUIET, 2);
        record.conditions.injection = Some(Injected { delay_ns: 500_000, release: 7 }.into());
        record.spikes[0].release = 7;
        record.spikes[0].latency_ns = latency_ns;
        text::render(&evidence(vec![record], EXCEEDANCE), 200, false)
    };
    assert!(with(500_010).contains("shows the delay: the probe sees what happens"));
    let unseen = with(499_000);
    assert!(unseen.contains("the record does not show it"), "{unseen}");
    assert!(!unseen.contains("the probe sees"), "{unseen}");
}

#[test]
fn a_late_release_is_told_with_its_largest_shares() {
    let mut found = synthetic::late::late();
    found.manifest.origin = Origin::Probe;
    let page = text::render(&found, 100, false);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("2 releases were later than 50 µs, all explained"), "{words}");
    assert!(words.contains("498 µs at release 61 234: blocking threads, spinner (99,"), "{words}");
}
