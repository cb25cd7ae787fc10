//! The page of a paper's reproduction says of each table and figure what became of it.

use quietcore_record::published::reproduction::{Course, Outcome, Ran, SCHEMA, steps};
use quietcore_report::reproduction::render;

/// Makes the course of scordino2020 with these outcomes, the last one for all further commands.
fn course(outcomes: &[Outcome]) -> Course {
    let commands = steps("scordino2020").into_iter().enumerate().map(|(index, step)| Ran {
        command: step.command.to_owned(),
        words: step.words().iter().map(ToString::to_string).collect(),
        each_ns: None,
        expected_ns: 1_000_000_000,
        folder: step.folder().map(str::to_owned),
        printed: None,
        outcome: outcomes[index.min(outcomes.len() - 1)].clone(),
    });
    Course {
        schema: SCHEMA.to_owned(),
        paper: "scordino2020".to_owned(),
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
    let page = render(&course, &printed);
    for exhibit in course.exhibits() {
        let id = exhibit.name().replace(' ', "-");
        assert!(page.contains(&format!(r#"<section id="{id}">"#)), "{id}");
        assert!(page.contains(&format!("href=\"#{id}\"")), "{id}");
    }
    assert!(page.contains(r#"<a href="ethercat/report.html">report</a>"#));
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
    let page = render(&emulated, &[]);
    let told = page.find("Timing not valid").expect("a notice");
    assert!(told < page.find("<table").expect("the overview"));
    assert!(page.contains("The processor is emulated."));
}
