//! Tasks that are released by the clock, by an event and by a state, and the effects of overruns.

#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use quietcore_record::trace::Recording;
use quietcore_supervisor::control::{Activity, ChangeKind, Done, Restart, Verb};
use quietcore_supervisor::recording::{Length, Progress, RecordingRequest, record};
use site::{PATIENCE, Site};

const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "fast-control-loop"

[partition.vcr]
cpus = [0]

[partition.program]
model = "rates"
policy = "other"
overrun = "OVERRUN"
restart = { limit = 0 }

[[partition.program.task]]
name = "fast"
kind = "cyclic"
period = "5 ms"
watchdog = "1 s"

[[partition.program.task]]
name = "event"
kind = "event"
trigger = "rates_DW.start"
gap = "1 ms"
watchdog = "1 s"

[[partition.program.task]]
name = "state"
kind = "status"
trigger = "rates_DW.on"
gap = "5 ms"
watchdog = "1 s"
"#;

fn up(overrun: &str) -> Site {
    Site::up(&SITE.replace("OVERRUN", overrun), "rates")
}

/// Makes the fast task run once far beyond its period, and far below the second at which the
/// watchdog calls it a loop.
fn overrun(site: &Site, millis: &str) {
    site.change(ChangeKind::Set, "rates_DW.spin_ms", Some(millis));
}

#[test]
fn an_event_runs_its_task_once_for_each_edge() {
    let site = up("skip");
    site.wait_for_value("rates_DW.fast", |count| count > 20.0);
    assert_eq!(site.value("rates_DW.by_event"), 0.0, "nothing happened yet");
    for count in 1..=3 {
        site.change(ChangeKind::Set, "rates_DW.start", Some("1"));
        site.wait_for_value("rates_DW.by_event", |seen| seen == f64::from(count));
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(site.value("rates_DW.by_event"), f64::from(count), "the edge counts alone");
        site.change(ChangeKind::Set, "rates_DW.start", Some("0"));
        let fast = site.value("rates_DW.fast");
        site.wait_for_value("rates_DW.fast", |count| count > fast + 2.0);
    }
}

/// Goal: a recording of a task that rests waits for its next job.
/// Method: it begins before the event, and its progress says that it waits.
#[test]
fn an_event_is_waited_for_by_a_recording() {
    let site = up("skip");
    let wanted = RecordingRequest {
        variables: vec!["rates_DW.by_event".to_owned()],
        every: 1,
        task: 1,
        trigger: None,
        pre_percent: 0,
        length: Length::Samples(2),
    };
    let mut recording = Recording::new(Vec::new());
    let mut looks = 0;
    let mut tell = |_: Progress| {
        looks += 1;
        let value = if looks % 2 == 1 { "1" } else { "0" };
        site.change(ChangeKind::Set, "rates_DW.start", Some(value));
    };
    let stop = AtomicBool::new(false);
    let summary = record(&mut site.client(), "axis", &wanted, &mut recording, &mut tell, &stop);
    let summary = summary.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((summary.kept, summary.ended_early), (2, None));
    site.wait_for_value("rates_DW.by_event", |count| count >= 2.0);
}

#[test]
fn a_status_task_runs_as_long_as_its_variable_is_true() {
    let site = up("skip");
    site.change(ChangeKind::Set, "rates_DW.on", Some("1"));
    site.wait_for_value("rates_DW.by_state", |count| count > 10.0);
    site.change(ChangeKind::Set, "rates_DW.on", Some("0"));
    let fast = site.value("rates_DW.fast");
    site.wait_for_value("rates_DW.fast", |count| count > fast + 4.0);
    let stopped = site.value("rates_DW.by_state");
    let fast = site.value("rates_DW.fast");
    site.wait_for_value("rates_DW.fast", |count| count > fast + 20.0);
    // A job whose release came before the change may run after it, where its thread gets no CPU.
    let late = site.value("rates_DW.by_state") - stopped;
    assert!(late <= 1.0, "{late} jobs after the variable was false");
}

#[test]
fn a_task_with_the_policy_stop_is_at_fault_at_its_first_overrun_until_the_restart() {
    // The period is one that this machine does not overrun by itself, even if it stands still for
    // half a second.
    let slow = SITE
        .replace("OVERRUN", "stop")
        .replace("period = \"5 ms\"", "period = \"800 ms\"")
        .replace("watchdog = \"1 s\"", "watchdog = \"5 s\"");
    // A campaign of that period would take months with the usual number of cycles.
    let site = Site::up(&format!("{slow}\n[campaign]\ncycles = 100\n"), "rates");
    overrun(&site, "1000");
    site.wait_for_event("overrun-stop");
    let state = site.wait_for("in fault", |state| matches!(state, Activity::Fault { .. }));
    assert!(state.to_string().contains("fast"), "{state}");
    let seen = site.client().list().unwrap().remove(0);
    let steps = site.value("rates_DW.fast");
    let end = Instant::now() + PATIENCE;
    while site.client().list().unwrap()[0].cycles < seen.cycles + 2 {
        assert!(Instant::now() < end, "the fieldbus has to go on in fault");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(site.value("rates_DW.fast"), steps, "no step is run in fault");
    site.client().ask::<Done>("axis", Verb::Restart { how: Restart::Warm }).unwrap();
    site.wait_for("running", |state| *state == Activity::Running);
    assert_eq!(site.client().list().unwrap()[0].pid, seen.pid, "in the same process");
    // The restart has set the count back.
    site.wait_for_value("rates_DW.fast", |count| count > steps);
}

#[test]
fn skipped_releases_are_counted_and_the_program_goes_on() {
    let site = up("skip");
    site.wait_for_value("rates_DW.fast", |count| count > 5.0);
    let before = site.client().list().unwrap()[0].missed_cycles;
    overrun(&site, "60");
    let fast = site.value("rates_DW.fast");
    site.wait_for_value("rates_DW.fast", |count| count > fast + 20.0);
    // The supervisor publishes the counts a while after the program has made them.
    let end = Instant::now() + PATIENCE;
    loop {
        let after = site.client().list().unwrap().remove(0);
        if after.missed_cycles > before + 2 && after.overruns > 0 {
            break;
        }
        assert!(Instant::now() < end, "{before} missed before: {after:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
