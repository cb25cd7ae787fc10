//! The page of a paper's reproduction says of each table and figure what became of it.

use quietcore_record::published::reproduction::{
    Course, Outcome, Ran, SCHEMA, SystemLeftOut, steps,
};
use quietcore_report::reproduction::{System, Systems, render};

use crate::synthetic::{QUIET, evidence, record};

#[expect(dead_code, reason = "other tests need the rest")]
mod synthetic;

/// Makes the course of scordino2020 with these outcomes, the last one for all further commands.
fn course(outcomes: &[Outcome]) -> Course {
    course_of("scordino2020", outcomes)
}

fn course_of(paper: &str, outcomes: &[Outcome]) -> Course {
    let commands = steps(paper).into_iter().enumerate().map(|(index, step)| Ran {
        command: step.command.to_owned(),
        words: step.words().iter().map(ToString::to_string).collect(),
        each_ns: None,
        expected_ns: 1_000_000_000,
        folder: step.folder().map(str::to_owned),
        printed: None,
        outcome: outcomes[index.min(outcomes.len() - 1)].clone(),
        left_out: Vec::new(),
    });
    Course {
        schema: SCHEMA.to_owned(),
        paper: paper.to_owned(),
        started_at: "2026-11-27T10:00:00Z".to_owned(),
        within_ns: Some(600_000_000_000),
        timing_not_valid: None,
        commands: commands.collect(),
    }
}

const DONE: Outcome = Outcome::Done { took_ns: 12_345_678_901 };

#[test]
fn each_exhibit_is_there_with_what_was_made_of_it() {
    let refused = Outcome::Refused { because: "no `/dev/kvm` <here>".to_owned() };
    let course = course(&[DONE, DONE, refused.clone(), DONE, refused]);
    let mut printed = vec![None; course.commands.len()];
    printed[1] = Some("measured  <8.31 µs>".to_owned());
    let page = render(&course, &printed, &[]);
    for exhibit in course.exhibits() {
        let id = exhibit.name().replace(' ', "-");
        assert!(page.contains(&format!(r#"<section id="{id}">"#)), "{id}");
        assert!(page.contains(&format!("href=\"#{id}\"")), "{id}");
    }
    assert!(page.contains(r#"<a href="ethercat/process/report.html">report</a>"#));
    assert!(!page.contains(r#"href="curves/report.html""#), "a folder that was not made");
    assert!(page.contains("took 12.0 s"));
    assert!(page.contains("no <code>/dev/kvm</code> &lt;here&gt;"));
    assert!(page.contains("<pre>measured  &lt;8.31 µs&gt;</pre>"));
    assert!(!page.contains("Timing not valid"));
}

#[test]
fn a_machine_whose_time_is_not_real_is_told_before_any_figure() {
    let emulated = Course {
        timing_not_valid: Some("the processor is emulated".to_owned()),
        ..course(&[DONE])
    };
    let page = render(&emulated, &[], &[]);
    let told = page.find("Timing not valid").expect("a notice");
    assert!(told < page.find("<table").expect("the overview"));
    assert!(page.contains("The processor is emulated."));
}

/// Returns the part of a page that is about an exhibit.
fn section<'p>(page: &'p str, id: &str) -> &'p str {
    let begin = page.find(&format!(r#"<section id="{id}">"#)).expect("the exhibit");
    let length = page[begin..].find("</section>").expect("its end");
    &page[begin..begin + length]
}

/// Goal: each table and plot shows the systems that it is about, under its own profiles, beside the
/// paper's, and names those that are missing.
/// Method: a process and a real-time guest under two profiles, and a domain that was left out.
#[test]
fn systems_stand_beside_those_of_the_paper_profile_by_profile() {
    let of = |partition: &str, profile: &str, seed: u64| {
        let mut record = record(profile, 1, 2_000, QUIET, seed);
        record.name = format!("{partition}.{profile}.cpu1");
        record.partition = partition.to_owned();
        record
    };
    let system = |partition: &str, is_real_time: bool| System {
        partition: partition.to_owned(),
        title: format!("Realised for {partition}"),
        is_real_time,
    };
    let records = vec![
        of("bare", "tp1", 1),
        of("bare", "tp3", 2),
        of("rtos", "tp1", 3),
        of("rtos", "tp3", 4),
    ];
    let run = Systems {
        folder: "run".to_owned(),
        evidence: evidence(records, 1e-3),
        systems: vec![system("bare", false), system("rtos", true), system("domain", true)],
    };
    let mut course = course_of("queiroz2023", &[DONE]);
    let measured = course.commands.iter().position(|it| it.folder.as_deref() == Some("run"));
    course.commands[measured.expect("the run")].left_out = vec![SystemLeftOut {
        partition: "domain".to_owned(),
        profiles: vec!["tp1".to_owned(), "tp3".to_owned()],
        because: "this kernel is not dom0".to_owned(),
    }];
    let page = render(&course, &[], std::slice::from_ref(&run));
    let (unloaded, loaded) = (section(&page, "figure-8"), section(&page, "figure-9"));
    assert!(unloaded.contains("bare: Realised for bare") && !unloaded.contains("rtos: Realised"));
    assert!(unloaded.contains("tp1: idle machine") && !unloaded.contains("tp3: the papers"));
    // One strip for each system of a profile, the paper's four and the axis.
    assert_eq!(loaded.matches("<svg").count(), 1 + 1 + 4, "{loaded}");
    assert!(unloaded.contains("#2 Hypervisor A<") && !unloaded.contains("Hypervisor A, tp1"));
    let told = "<code>domain</code> is left out (tp1, tp3): this kernel is not dom0";
    assert_eq!(page.matches(told).count(), 1, "the reason stands once");
    assert!(page.contains("Without <code>domain</code>: not measured here."));
    let (general, real_time) = (section(&page, "table-3"), section(&page, "table-4"));
    assert!(general.contains("<strong>bare</strong>") && !general.contains("<strong>rtos"));
    assert!(real_time.contains("<strong>rtos</strong>"), "{real_time}");
    assert!(real_time.contains("domain (not measured)"), "{real_time}");
    // A drawing of the same run shows no figures.
    assert!(!section(&page, "figure-4").contains("<svg"));
    let without = render(&course, &[], &[]);
    assert!(!section(&without, "figure-9").contains("<svg"));
}
