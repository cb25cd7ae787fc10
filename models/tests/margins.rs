//! The loops bear the lateness that their design allows: within their specification, and out of it
//! or unstable at three times as much.

use quietcore_models::margin::{
    Lateness, Margin, Subject, figures_table, margins_table, subjects, sweep,
};
use quietcore_models::timing::Timing;
use quietcore_models::{servo, tank, turbine};
use quietcore_units::Nanos;

fn times(amount: Nanos, factor: u64) -> Nanos {
    Nanos::new(amount.get() * factor)
}

fn subject(name: &str) -> Subject {
    subjects().into_iter().find(|subject| subject.name == name).expect("it is a known loop")
}

#[test]
fn every_loop_is_within_its_specification_when_punctual() {
    for subject in subjects() {
        let outcome = (subject.scenario)(Timing::PUNCTUAL);
        assert!(outcome.is_within(), "{}: {outcome:#?}", subject.name);
    }
}

#[test]
fn every_loop_is_within_its_specification_at_what_is_allowed() {
    for subject in subjects() {
        for lateness in Lateness::ALL {
            let amount = subject.allowance.of(lateness);
            let outcome = (subject.scenario)(lateness.of(amount));
            let name = lateness.name();
            assert!(outcome.is_within(), "{}, {amount} {name}: {outcome:#?}", subject.name);
        }
    }
}

#[test]
fn no_loop_is_within_its_specification_at_three_times_what_is_allowed() {
    for subject in subjects() {
        for lateness in Lateness::ALL {
            let amount = times(subject.allowance.of(lateness), 3);
            let outcome = (subject.scenario)(lateness.of(amount));
            let name = lateness.name();
            assert!(!outcome.is_within(), "{}, {amount} {name}: {outcome:#?}", subject.name);
        }
    }
}

/// Goal: too late is not a matter of figures alone; the loops lose their stability.
/// Method: lateness of all releases, up to four times the allowance; dead time as well where the
/// loop is closed in the program.
#[test]
fn releases_that_come_far_too_late_make_the_loops_unstable() {
    let unstable = [
        ("servo, torque", Lateness::DeadTime, 3),
        ("servo, torque", Lateness::Latency, 3),
        ("turbine", Lateness::Latency, 3),
        ("tank", Lateness::DeadTime, 3),
        ("tank", Lateness::Latency, 4),
    ];
    for (name, lateness, factor) in unstable {
        let subject = subject(name);
        let allowed = subject.allowance.of(lateness);
        let at_the_allowance = (subject.scenario)(lateness.of(allowed));
        let beyond = (subject.scenario)(lateness.of(times(allowed, factor)));
        assert!(at_the_allowance.is_stable, "{name}, {allowed} {}", lateness.name());
        assert!(!beyond.is_stable, "{name}, {factor} × {allowed} {}", lateness.name());
    }
}

/// Goal: the drive's own loop does not hang on the program's releases.
#[test]
fn the_velocity_mode_stays_stable_where_the_torque_mode_does_not() {
    let late = Timing::latency(Nanos::from_millis(3));
    assert!(!servo::scenario(servo::Mode::Torque, late).is_stable);
    assert!(servo::scenario(servo::Mode::Velocity, late).is_stable);
}

#[test]
fn a_latency_below_the_period_changes_nothing() {
    for subject in subjects() {
        let below = Nanos::new(subject.period.get() * 4 / 5);
        let late = (subject.scenario)(Timing::latency(below));
        let punctual = (subject.scenario)(Timing::PUNCTUAL);
        for (late, punctual) in late.figures.iter().zip(&punctual.figures) {
            // Times count from the first due release, so they are later by the latency itself.
            let tolerance = if late.unit == "s" { below.as_secs_f64() + 1e-9 } else { 1e-3 };
            let difference = (late.value - punctual.value).abs();
            assert!(difference <= tolerance, "{}: {late:?}, {punctual:?}", subject.name);
        }
    }
}

#[test]
fn a_sweep_finds_the_borders_in_their_order() {
    let Margin { out_of_specification_at, unstable_at } =
        sweep(&subject("tank"), Lateness::DeadTime);
    let out = out_of_specification_at.expect("eight times the allowance is beyond the border");
    let unstable = unstable_at.expect("eight times the allowance is beyond the border");
    assert!(tank::ALLOWANCE.dead_time < out);
    assert!(out < unstable);
}

#[test]
fn the_deadline_of_the_turbine_is_set_by_its_overspeed() {
    let outcome = turbine::scenario(Timing::dead_time(Nanos::from_millis(100)));
    let exceeded: Vec<&str> = outcome
        .figures
        .iter()
        .filter(|figure| figure.value > figure.limit)
        .map(|figure| figure.name)
        .collect();
    assert_eq!(exceeded, ["overspeed without load"]);
}

/// Goal: the figures in the README are those of the code.
#[test]
fn the_readme_shows_the_tables() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let stored = std::fs::read_to_string(&path).unwrap();
    let mut text = stored.clone();
    for (name, table) in [("figures", figures_table()), ("margins", margins_table())] {
        let (opening, closing) = (format!("<!-- {name} -->\n"), format!("<!-- end {name} -->"));
        let from = text.find(&opening).expect("the mark stands in the README") + opening.len();
        let to = text.find(&closing).expect("the mark stands in the README");
        text.replace_range(from..to, &table);
    }
    if std::env::var_os("QUIETCORE_STORE").is_some() {
        std::fs::write(&path, &text).unwrap();
        return;
    }
    assert_eq!(stored, text, "if the new tables are right, run the test with QUIETCORE_STORE=1");
}
