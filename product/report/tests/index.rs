//! The page over a folder of runs: each partition's runs in their order, with what changed between
//! them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
mod synthetic;

use quietcore_evidence::Evidence;
use quietcore_record::reason::NotReal;
use quietcore_report::index::{Entry, GENERATOR, render};
use roxmltree::Document;
use synthetic::{LOUD, QUIET, evidence, record, without};

/// Makes a run that started on this day of the month.
fn run(day: u32, shape: synthetic::Shape, change: impl Fn(&mut Evidence)) -> Entry {
    let mut run = evidence(vec![record("tp2", 1, 40_000, shape, u64::from(day))], 1e-4);
    run.manifest.started_at = format!("2026-11-{day:02}T08:00:00Z");
    change(&mut run);
    Entry::of(&format!("2026-11-{day:02}-press-line"), &run)
}

fn kernel(name: &'static str) -> impl Fn(&mut Evidence) {
    move |run| {
        let machine = &mut run.records[0].conditions.machine;
        machine.insert("kernel".to_owned(), name.to_owned());
    }
}

/// Returns the text of markup, with single spaces.
fn words(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text = parts.collect::<Vec<_>>().join(" ").replace('\u{a0}', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" .", ".")
}

/// Returns the body of a page, without the script.
fn body(page: &str) -> &str {
    page.split("</style>").nth(1).unwrap().split("<script>").next().unwrap()
}

/// Goal: whoever opens the folder sees how a partition stands, and since when.
/// Method: three runs given out of order, the second with another kernel, the third failing.
#[test]
fn runs_stand_in_their_order_with_what_changed_between_them() {
    let runs = [
        run(22, LOUD, kernel("6.2")),
        run(20, QUIET, kernel("6.1")),
        run(21, QUIET, kernel("6.2")),
    ];
    let page = render("runs", &runs, &[], 0);
    let told = words(body(&page));
    let at = |day: u32| told.find(&format!("2026-11-{day} 08:00:00 UTC 2026-11")).unwrap();
    assert!(at(22) < at(21) && at(21) < at(20), "the newest comes first");
    assert!(
        told.contains("axis press-line (synthetic) Motion control (factory automation) ✗ FAIL")
    );
    let row = |day: u32| &told[at(day)..][..told[at(day)..].find("press-line").unwrap() + 160];
    assert!(row(21).contains("✓ PASS quick look") && row(21).contains("◇ kernel : 6.1 → 6.2"));
    assert!(row(22).contains("✗ FAIL") && row(22).contains("40 000 nothing"), "{}", row(22));
    assert!(row(20).contains("the first run"));
    assert!(page.contains("href=\"./2026-11-21-press-line/report.html\""));
    assert!(page[..512].contains(GENERATOR), "whoever writes over it looks there");
}

/// Goal: another backend is called so, and not by the runtime that one of them has.
#[test]
fn another_backend_is_a_change_of_its_own() {
    let contained = |run: &mut Evidence| {
        let machine = &mut run.records[0].conditions.machine;
        machine.insert("container".to_owned(), "runc version 1.1.5".to_owned());
    };
    let page = render("runs", &[run(20, QUIET, |_| {}), run(21, QUIET, contained)], &[], 0);
    let told = words(body(&page));
    assert!(told.contains("◇ backend : process → container"), "{told}");
    assert!(!told.contains("container : not known"), "{told}");
}

/// Makes a run of the probe of routines in a backend, on this day of the month.
fn routines(day: u32, backend: &str, loops: u64, change: impl Fn(&mut Evidence)) -> Entry {
    let mut run = synthetic::kernel::kernel(&[loops]);
    run.manifest.started_at = format!("2026-11-{day:02}T08:00:00Z");
    for record in &mut run.records {
        record.conditions.machine.insert("backend".to_owned(), backend.to_owned());
    }
    change(&mut run);
    Entry::of(&format!("{backend}-{day}"), &run)
}

/// Goal: figure 4 of scordino2020 is one figure of all hypervisors, and says of each whether its
/// times can be trusted. Method: runs of four backends, one of them twice and one emulated.
#[test]
fn routines_of_several_backends_stand_in_one_figure() {
    let emulated = |run: &mut Evidence| {
        let evidence = "emulated by QEMU (TCG)".to_owned();
        run.records[1].invalid_because.push(NotReal::Guests { interpreted: evidence }.into());
    };
    let runs = [
        routines(22, "xen", 100, |_| {}),
        routines(21, "qemu", 200, emulated),
        routines(20, "process", 300, |_| {}),
        routines(20, "kvm", 400, |_| {}),
        routines(21, "kvm", 500, emulated),
    ];
    let page = render("figure-4", &runs, &[], 0);
    let figure = page.split("<section id=\"routines\"").nth(1).unwrap();
    let figure = figure.split("</section>").next().unwrap();
    let told = words(figure);
    let legend =
        "process, 300 loops kvm, 500 loops, not valid qemu, 200 loops, not valid xen, 100 loops";
    assert!(told.contains(legend), "{told}");
    let notice = "Not valid: kvm, qemu. Timing not valid: guests here are emulated by QEMU (TCG).";
    assert!(told.contains(notice), "{told}");
    assert!(!figure.contains("kvm-20"), "an older run of a backend is left out");
    for class in ["s0", "s1", "s2", "s3"] {
        let strokes = figure.matches(&format!("class=\"span {class}")).count();
        assert_eq!(strokes, 11, "{class}: a stroke for each routine");
    }
    assert_eq!(figure.matches("class=\"span s2 doubtful\"").count(), 11);
    let markup = figure.split("<svg").nth(1).unwrap().split("</svg>").next().unwrap();
    Document::parse(&format!("<svg{markup}</svg>")).unwrap();
    let alone = render("one", &runs[..1], &[], 0);
    assert!(!alone.contains("id=\"routines\""), "one backend is compared with nothing");
}

#[test]
fn the_trend_has_each_run_with_its_limit_and_a_mark_where_conditions_changed() {
    let runs = [run(20, QUIET, kernel("6.1")), run(21, LOUD, kernel("6.2")), run(22, LOUD, |_| {})];
    let page = render("runs", &runs, &[], 0);
    let plot = body(&page).split("<svg ").nth(1).unwrap().split("</svg>").next().unwrap();
    let plot = format!("<svg {plot}</svg>");
    let document = Document::parse(&plot).unwrap();
    let count = |class: &str| {
        let is = |node: &roxmltree::Node<'_, '_>| node.attribute("class") == Some(class);
        document.descendants().filter(is).count()
    };
    assert_eq!(count("ring"), 6, "p99.9 and maximum of three runs");
    // The kernel became 6.2, and then that of the other records.
    assert_eq!((count("changed"), count("changed-sign")), (2, 2));
    assert_eq!((count("sign pass"), count("sign fail")), (1, 2));
    assert_eq!((count("limit-line declared"), count("limit-name declared")), (1, 1));
    assert!(plot.contains(">maximum<") && plot.contains(">p99.9<"));
    assert!(!plot.contains("NaN") && !plot.contains("inf"));
}

#[test]
fn what_can_not_be_shown_is_named() {
    let gap = without(evidence(Vec::new(), 1e-4), "tp2", "no memory");
    let unread = [("broken".to_owned(), "`manifest.json` is <damaged>".to_owned())];
    let page = render("runs", &[Entry::of("empty", &gap)], &unread, 3);
    let told = words(body(&page));
    assert!(told.contains("? NOT PROVEN") && told.contains("3 older runs."), "{told}");
    assert!(told.contains("broken : manifest.json is &lt;damaged&gt;."), "{told}");
    assert!(words(body(&render("runs", &[], &[], 0))).contains("No campaign was run here yet."));
}

/// Goal: the name of a folder leads nowhere else and becomes no markup.
#[test]
fn the_name_of_a_folder_is_only_a_name() {
    let hostile = "javascript:alert(1)\"><script>x</script>\u{202e}";
    let run = evidence(vec![record("tp2", 1, 100, QUIET, 1)], 1e-4);
    let page = render(hostile, &[Entry::of(hostile, &run)], &[], 0);
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("href=\"./javascript:alert%281%29%22"), "{}", body(&page));
    assert!(!page.contains('\u{202e}'));
}
