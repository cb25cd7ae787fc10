//! The page as a reader meets it: the answer first, every line named, one row for each stall, the
//! same figure wherever it stands, and words instead of a program's inner notation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
mod synthetic;

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::histogram::Histogram;
use quietcore_record::reason::ForeignProblem;
use quietcore_record::record::{Record, ReleaseMode, Spike};
use quietcore_report::{html, text};
use quietcore_units::Wake;
use roxmltree::{Document, Node};
use synthetic::experiment::disturbed;
use synthetic::isolation::isolation;
use synthetic::{ASLEEP, LOUD, QUIET, evidence, record, with_program, without};

/// Excluding this takes 29 956 cycles.
const EXCEEDANCE: f64 = 1e-4;

/// Returns the anchors of the sections, in their order.
fn sections(page: &str) -> Vec<&str> {
    page.split("<section id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Returns one section of a page.
fn section<'a>(page: &'a str, anchor: &str) -> &'a str {
    let begin = page.find(&format!("<section id=\"{anchor}\"")).unwrap();
    &page[begin..begin + page[begin..].find("</section>").unwrap()]
}

/// Returns the text of markup, with single spaces.
fn words(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text = parts.collect::<Vec<_>>().join(" ").replace('\u{a0}', " ");
    // A number's fraction is an element of its own.
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" .", ".")
}

/// Returns the plots of a section as XML.
fn plots(page: &str, anchor: &str) -> Vec<String> {
    let parts = section(page, anchor).split("<svg ").skip(1);
    parts.map(|part| format!("<svg {}</svg>", part.split("</svg>").next().unwrap())).collect()
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn of_class<'a>(document: &'a Document<'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|it| it.split(' ').any(|word| word == class))
    };
    document.descendants().filter(has).collect()
}

/// Makes a run that passes for 1 ms at 1e-4.
fn quiet() -> Evidence {
    evidence(vec![record("tp2", 1, 40_000, QUIET, 2)], EXCEEDANCE)
}

fn undeclared() -> Evidence {
    let mut evidence = evidence(
        vec![record("tp2", 1, 40_000, LOUD, 2), record("tp4", 1, 40_000, ASLEEP, 3)],
        EXCEEDANCE,
    );
    evidence.manifest.declared.clear();
    evidence
}

/// Makes histograms of another program, without a period.
fn imported() -> Evidence {
    imported_with(1_000)
}

/// Makes two imported files whose latencies are divided by `divisor`, in µs.
fn imported_with(divisor: u64) -> Evidence {
    let file = |name: &str, seed| {
        let mut record = record("imported", 0, 20_000, ASLEEP, seed);
        let mut release = Histogram::imported(1_000, 400_000);
        for bin in record.release.bins() {
            release.record_many(bin.low_ns / divisor * 1_000, bin.count);
        }
        record.release = release;
        (record.partition, record.name) = (name.to_owned(), name.to_owned());
        record.probe = "cyclictest".to_owned();
        (record.wakeup, record.cpu, record.period_ns) = (None, None, None);
        record.spikes.clear();
        record
    };
    let mut evidence = evidence(vec![file("one", 5), file("two", 6)], EXCEEDANCE);
    evidence.manifest.origin = Origin::Import;
    evidence.manifest.declared.clear();
    evidence
}

/// Goal: no limit is a line that nobody can name.
#[test]
fn every_limit_line_has_its_name() {
    let mut lines = 0;
    for evidence in [quiet(), undeclared()] {
        let page = html::render(&evidence, &[]);
        for plot in plots(&page, "distributions") {
            let document = Document::parse(&plot).unwrap();
            for limit in of_class(&document, "limit") {
                let has = |class: &str| {
                    limit.children().any(|child| child.attribute("class") == Some(class))
                };
                assert!(has("label"), "a line without a name in {plot}");
                lines += usize::from(has("line"));
            }
        }
        for plot in plots(&page, "comparison") {
            let document = Document::parse(&plot).unwrap();
            if document.root_element().attribute("aria-label") == Some("Axis") {
                let leaders = of_class(&document, "leader").len();
                assert_eq!(leaders, of_class(&document, "limit-name").len());
            }
        }
    }
    assert!(lines > 0, "no limit was drawn");
}

/// Goal: whoever reads "max 382 µs" sees where.
/// Method: the text begins or ends beside its marker, or a stroke leads from the one to the other.
#[test]
fn the_maximum_is_named_at_its_marker() {
    let mut seen = 0;
    for evidence in [quiet(), undeclared()] {
        let page = html::render(&evidence, &[]);
        for plot in plots(&page, "distributions").into_iter().chain(plots(&page, "course")) {
            let document = Document::parse(&plot).unwrap();
            let markers = of_class(&document, "maximum");
            let marker = markers.first().unwrap().attribute("d").unwrap();
            let (x, y) = marker[1..].split_once('l').unwrap().0.split_once(' ').unwrap();
            let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
            let text = *of_class(&document, "maximum-label").first().unwrap();
            let away = (number(text, "x") - x).abs().max((number(text, "y") - y).abs());
            let is_led = of_class(&document, "leader").into_iter().any(|line| {
                (number(line, "x1") - x).abs() < 0.2 && (number(line, "x2") - x).abs() < 0.2
            });
            assert!(away <= 15.0 || is_led, "{away} units away in {plot}");
            seen += 1;
        }
    }
    assert_eq!(seen, 6);
}

#[test]
fn the_mean_and_the_worst_releases_have_different_signs() {
    let page = html::render(&quiet(), &[]);
    let plots = plots(&page, "comparison");
    let box_plot = plots.iter().find(|plot| plot.contains("mean-sign")).unwrap();
    let document = Document::parse(box_plot).unwrap();
    assert!(of_class(&document, "mean-sign").iter().all(|sign| sign.has_tag_name("rect")));
    assert!(of_class(&document, "spike").iter().all(|sign| sign.has_tag_name("circle")));
    assert!(words(&page).contains("the diamond the mean"));
}

#[test]
fn axes_are_named_where_they_are() {
    let page = html::render(&quiet(), &[]);
    for anchor in ["distributions", "course"] {
        for plot in plots(&page, anchor) {
            let document = Document::parse(&plot).unwrap();
            let names = of_class(&document, "name");
            let upward: Vec<_> =
                names.iter().filter(|name| name.text().unwrap().starts_with('↑')).collect();
            // One name stands above the plot at the left, where the upward axis ends, the other
            // under the marks of its axis.
            assert_eq!(upward.len(), 1, "{plot}");
            assert!(number(*upward[0], "y") < 20.0 && number(*upward[0], "x") < 1.0);
            assert!(names.iter().any(|name| name.text().unwrap().ends_with('→')));
        }
    }
}

/// Goal: a machine that stood still once has one row.
#[test]
fn one_stall_is_one_row_with_the_command_that_explains_it() {
    let mut late = record("tp4", 1, 40_000, QUIET, 2);
    late.conditions.loads = synthetic::papers_load();
    late.spikes = (0..5)
        .map(|index| Spike {
            release: 700 + index,
            at_ns: (700 + index) * 1_000_000,
            latency_ns: 4_300_000 - index * 1_000_000,
            wakeup_ns: 4_300_000 - index * 1_000_000,
            cpu: 1,
            conditions: Vec::new(),
        })
        .collect();
    late.spikes.push(Spike { release: 9, at_ns: 9_000_000, ..late.spikes[4].clone() });
    // The first is the form of an earlier record, the second that of today.
    let mut kept = late.clone();
    kept.conditions.mode = ReleaseMode::timer(Wake::Adaptive { share_percent: 25 });
    let of_today = html::render(&evidence(vec![kept], EXCEEDANCE), &[]);
    let page = html::render(&evidence(vec![late], EXCEEDANCE), &[]);
    let course = words(section(&page, "course"));
    assert!(course.contains("700 to 704 5 late by one stall"), "{course}");
    let table = section(&page, "course").split("Worst late releases").nth(1).unwrap();
    let rows = table.split("</table>").next().unwrap().matches("<tr").count();
    assert_eq!(rows, 3, "a head and two stalls");
    let command = "quietcore probe latency --cpus 1 --period 1ms --mode early-wake --priority 90 \
                   --load sqrt:10 --load memory:10 --duration 40s --explain 2ms";
    assert!(course.contains(command), "{course}");
    assert!(words(section(&of_today, "course")).contains(command));
}

/// Goal: a record with late cycles excludes what its verdict says, and not what it would without.
#[test]
fn how_sure_counts_the_cycles_that_were_late() {
    let mut late = record("tp4", 1, 298, QUIET, 2);
    for _ in 0..2 {
        late.release.record(3_000_000);
    }
    let evidence = evidence(vec![late], 1e-2);
    let judged = evidence.judgements.iter().find(|it| it.class == "motion-control").unwrap();
    assert_eq!(judged.exceedances, Some(2));
    let page = words(&html::render(&evidence, &[]));
    assert!(page.contains("has 300 cycles, and 2 of them were late."), "{page}");
    assert!(page.contains("those there are, 2 late 300 300 ms 1 in 47 "), "{page}");
    assert!(!page.contains("as many as there are"));
}

/// Goal: what was hardly late is no row of the worst, and does not ask to be explained.
#[test]
fn what_was_hardly_late_is_no_stall() {
    let mut calm = record("tp4", 1, 40_000, QUIET, 2);
    calm.period_ns = Some(10_000_000);
    calm.spikes = (0..16)
        .map(|index| Spike {
            release: index * 10,
            at_ns: index * 100_000_000,
            latency_ns: 40_000 - index,
            wakeup_ns: 40_000,
            cpu: 1,
            conditions: Vec::new(),
        })
        .collect();
    let rows = |record| {
        let page = html::render(&evidence(vec![record], EXCEEDANCE), &[]);
        let table =
            section(&page, "course").split("Worst late releases").nth(1).unwrap().to_owned();
        table.split("</table>").next().unwrap().matches("<tr").count() - 1
    };
    assert_eq!(rows(calm.clone()), 3);
    calm.spikes.iter_mut().for_each(|spike| spike.latency_ns += 100_000);
    assert_eq!(rows(calm), 16);
}

#[test]
fn captions_tell_what_cyclictest_would_have_said() {
    let page = html::render(&quiet(), &[]);
    let told = words(section(&page, "distributions"));
    assert!(told.contains("wake-up, as cyclictest measures: median 8.99 µs, p99.9"), "{told}");
}

#[test]
fn the_page_has_its_tables_as_csv() {
    let page = html::render(&quiet(), &[]);
    let figures = section(&page, "figures");
    let links: Vec<_> = figures.split("<a href=\"data:text/csv;").skip(1).collect();
    assert!(links.len() >= 2, "{}", links.len());
    assert!(links[0].contains("download=\"records.csv\"") && links[0].contains("axis.tp2.cpu1"));
    assert!(figures.contains("quietcore report . --csv tables"));
}

#[test]
fn imported_data_begin_with_what_was_imported() {
    let page = html::render(&imported(), &[]);
    let first = words(section(&page, "verdict"));
    assert!(first.starts_with("What was imported Imported from cyclictest 2 files, 40"), "{first}");
    assert!(first.contains("--interval 1ms") && !first.contains("NOT PROVEN"), "{first}");
    assert!(!section(&page, "classes").contains("<details"), "a latency exceeds some limits");
    // If no class can be judged, the page says so once, and their table is closed.
    let mut unjudged = imported_with(1_000_000_000);
    unjudged.manifest.classes.retain(|class| class.latency_ns.is_none());
    let unjudged = Evidence::of(unjudged.manifest, unjudged.records);
    let page = html::render(&unjudged, &[]);
    let classes = section(&page, "classes");
    assert!(classes.find("<details").unwrap() < classes.find("<table").unwrap());
    let mut known = imported();
    known.records.iter_mut().for_each(|record| record.period_ns = Some(1_000_000));
    let known = Evidence::of(known.manifest, known.records);
    let page = html::render(&known, &[]);
    assert!(words(section(&page, "verdict")).contains("judged against all 21 classes"));
    assert!(!section(&page, "classes").contains("<details"));
}

/// Goal: what no class is about has no classes on its page.
#[test]
fn the_page_of_a_busy_loop_has_its_times_and_no_classes() {
    let mut held_up = imported();
    for record in &mut held_up.records {
        let problem = ForeignProblem::BusyLoop { program: "oslat".to_owned(), threshold_ns: None };
        record.degraded.push(problem.into());
    }
    let page = html::render(&Evidence::of(held_up.manifest, held_up.records), &[]);
    let first = words(section(&page, "verdict"));
    assert!(first.contains("No class has a limit for that") && !first.contains("0 of"), "{first}");
    assert!(words(section(&page, "classes")).ends_with("There is no record to judge."));
    assert!(words(section(&page, "notices")).contains("for how long a busy loop was held up"));
}

#[test]
fn matrices_stand_before_what_limits_them_and_before_the_classes() {
    let page = html::render(&isolation(None), &[]);
    assert_eq!(sections(&page)[..4], ["verdict", "isolation", "notices", "classes"]);
    let mut limited = disturbed();
    limited.manifest.limits.push("the machine could be better".to_owned());
    let page = html::render(&limited, &[]);
    assert_eq!(sections(&page)[..3], ["verdict", "disturbance", "notices"]);
    assert!(!sections(&html::render(&quiet(), &[])).contains(&"notices"));
}

/// Goal: a figure that two places show is one figure.
#[test]
fn a_bound_is_the_same_in_the_answer_and_in_the_tile() {
    let evidence = evidence(vec![record("tp2", 1, 500, QUIET, 2)], 1e-2);
    let page = html::render(&evidence, &[]);
    let verdict = words(section(&page, "verdict"));
    assert_eq!(verdict.matches("1 in 167").count(), 3, "answer, quick look, tile: {verdict}");
    assert!(!verdict.contains("1 in 160"));
}

#[test]
fn a_short_run_that_passes_is_a_quick_look() {
    let short = evidence(vec![record("tp2", 1, 40_000, QUIET, 2)], EXCEEDANCE);
    let page = html::render(&short, &[]);
    let verdict = words(section(&page, "verdict"));
    assert!(verdict.contains("PASS quick look"), "{verdict}");
    assert!(verdict.contains("which is one late release each 13.4 s"), "{verdict}");
    assert!(text::render(&short, 100, false).contains("A quick look: so few cycles"));
    // A run that was long enough is no quick look, however loose the exceedance asked for.
    let long = evidence(vec![record("tp2", 1, 400_000, QUIET, 2)], EXCEEDANCE);
    assert!(!html::render(&long, &[]).contains("quick look"));
    let failed = evidence(vec![record("tp2", 1, 40_000, LOUD, 2)], EXCEEDANCE);
    assert!(!html::render(&failed, &[]).contains("quick look"));
}

/// Goal: a cell shows what its verdict was decided by.
#[test]
fn a_cell_shows_the_figure_that_decided() {
    let cells = |record: Record| {
        let page = html::render(&evidence(vec![record], EXCEEDANCE), &[]);
        words(section(&page, "classes"))
    };
    let jittery = record("tp2", 1, 40_000, ASLEEP, 2);
    let told = cells(jittery);
    assert!(told.contains("declared ✗ FAIL 1 ms 100 µs 1 µs ✗ FAIL jitter "), "{told}");
    let mut coarse = record("tp2", 1, 40_000, QUIET, 2);
    coarse.release = Histogram::imported(2_000, 400_000);
    coarse.release.record_many(4_000, 40_000);
    let told = cells(coarse);
    assert!(told.contains("1 µs ? NOT PROVEN jitter up to 2.00 µs"), "{told}");
    let held = with_program(record("tp2", 1, 40_000, QUIET, 2), "job", 0);
    assert!(cells(held).contains("✓ PASS max "));
}

#[test]
fn what_is_missing_for_one_reason_is_told_once() {
    let because = "it was not chosen on the command line";
    let mut gaps = quiet();
    for profile in ["tp1", "tp3", "tp4"] {
        gaps = without(gaps, profile, because);
    }
    let page = html::render(&gaps, &[]);
    let verdict = words(section(&page, "verdict"));
    assert!(verdict.contains("rofiles tp1, tp3 and tp4 were not measured"), "{verdict}");
    assert_eq!(verdict.matches(because).count(), 1, "{verdict}");
}

/// Goal: no page shows what only its makers read.
#[test]
fn pages_have_no_notation_of_their_makers() {
    let mut interrupted = quiet();
    interrupted.records[0].interrupted = true;
    let damaged = Evidence { damage: vec!["`records/a.json` was changed".to_owned()], ..quiet() };
    let pages = [interrupted, damaged, imported(), isolation(None), without(quiet(), "tp4", "x")];
    for evidence in pages {
        let page = html::render(&evidence, &[]);
        let body = page.split("</style>").nth(1).unwrap().split("<script>").next().unwrap();
        let told = words(body);
        for wrong in ["`", "FOLDER", " DIR ", "FILE..", "Some(", " { "] {
            assert!(!told.contains(wrong), "`{wrong}` in {told}");
        }
    }
}
