//! Measures the lateness that a loop bears: a sweep upwards until it leaves its specification, and
//! further until it is unstable.
//!
//! "Up to" means that every smaller amount of the sweep held as well. A lateness that is good again
//! beyond a bad one is luck and counts for nothing.

use std::fmt::Write as _;

use quietcore_units::Nanos;

use crate::closed_loop::{Figure, Outcome};
use crate::timing::Timing;
use crate::{servo, tank, turbine};

/// A kind of lateness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lateness {
    /// Outputs act later by a constant time.
    DeadTime,
    /// Releases are late by random amounts.
    Jitter,
    /// All releases are late by the same amount.
    Latency,
}

impl Lateness {
    /// All three kinds of lateness.
    pub const ALL: [Self; 3] = [Self::DeadTime, Self::Jitter, Self::Latency];

    /// A run that is late by this amount and in no other way.
    #[must_use]
    pub const fn of(self, amount: Nanos) -> Timing {
        match self {
            Self::DeadTime => Timing::dead_time(amount),
            Self::Jitter => Timing::jitter(amount),
            Self::Latency => Timing::latency(amount),
        }
    }

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeadTime => "dead time",
            Self::Jitter => "jitter",
            Self::Latency => "latency",
        }
    }
}

/// The lateness of each kind alone that the design of a loop allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// From the frame that brings the outputs until they act, beyond the one period of the scan
    /// cycle.
    pub dead_time: Nanos,
    /// Random lateness of releases.
    pub jitter: Nanos,
    /// Lateness of every release.
    pub latency: Nanos,
}

impl Allowance {
    /// The amount of this kind.
    #[must_use]
    pub const fn of(&self, lateness: Lateness) -> Nanos {
        match lateness {
            Lateness::DeadTime => self.dead_time,
            Lateness::Jitter => self.jitter,
            Lateness::Latency => self.latency,
        }
    }
}

/// A loop with its scenario.
#[derive(Clone, Copy)]
pub struct Subject {
    /// Name of the loop in tables.
    pub name: &'static str,
    /// Period of its controller.
    pub period: Nanos,
    /// The lateness that its design allows.
    pub allowance: Allowance,
    /// Step of a sweep.
    pub step: Nanos,
    /// Runs its scenario with late cycles.
    pub scenario: fn(Timing) -> Outcome,
}

/// Returns the loops of all models.
#[must_use]
pub fn subjects() -> [Subject; 4] {
    let servo_of = |name, allowance, scenario| Subject {
        name,
        period: servo::PERIOD,
        allowance,
        step: Nanos::from_micros(250),
        scenario,
    };
    [
        servo_of("servo, torque", servo::ALLOWANCE, |timing| {
            servo::scenario(servo::Mode::Torque, timing)
        }),
        servo_of("servo, velocity", servo::ALLOWANCE_VELOCITY, |timing| {
            servo::scenario(servo::Mode::Velocity, timing)
        }),
        Subject {
            name: "turbine",
            period: turbine::PERIOD,
            allowance: turbine::ALLOWANCE,
            step: Nanos::from_millis(5),
            scenario: turbine::scenario,
        },
        Subject {
            name: "tank",
            period: tank::PERIOD,
            allowance: tank::ALLOWANCE,
            step: Nanos::from_millis(50),
            scenario: tank::scenario,
        },
    ]
}

/// Steps that a sweep makes at most.
pub const SWEEP_STEPS_MAX: u64 = 100;

/// The result of a sweep. A border that lies beyond its end is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margin {
    /// The first lateness at which the loop is out of its specification.
    pub out_of_specification_at: Option<Nanos>,
    /// The first lateness at which the loop does not calm down.
    pub unstable_at: Option<Nanos>,
}

/// Makes a loop later and later, until it is unstable or eight times its allowance is reached.
#[must_use]
pub fn sweep(subject: &Subject, lateness: Lateness) -> Margin {
    let mut margin = Margin { out_of_specification_at: None, unstable_at: None };
    for index in 0..=SWEEP_STEPS_MAX {
        let amount = Nanos::new(subject.step.get() * index);
        if amount.get() > 8 * subject.allowance.of(lateness).get() {
            break;
        }
        let outcome = (subject.scenario)(lateness.of(amount));
        if !outcome.is_within() {
            margin.out_of_specification_at.get_or_insert(amount);
        }
        if !outcome.is_stable {
            margin.unstable_at = Some(amount);
            break;
        }
    }
    margin
}

/// The margins of all loops as a table, one row a loop and kind of lateness.
#[must_use]
pub fn margins_table() -> String {
    let mut table = String::from(
        "| loop | period | lateness | allowed | out of specification at | unstable at |\n\
         |---|--:|---|--:|--:|--:|\n",
    );
    for subject in subjects() {
        for lateness in Lateness::ALL {
            let margin = sweep(&subject, lateness);
            let border = |found: Option<Nanos>| found.map_or("—".to_owned(), |at| at.to_string());
            let (out, unstable) = (margin.out_of_specification_at, margin.unstable_at);
            let _ = writeln!(
                table,
                "| {} | {} | {} | {} | {} | {} |",
                subject.name,
                subject.period,
                lateness.name(),
                subject.allowance.of(lateness),
                border(out),
                border(unstable),
            );
        }
    }
    table
}

/// The figures of all loops when they are punctual, with their limits in brackets, as a table.
#[must_use]
pub fn figures_table() -> String {
    let mut table = String::from("| loop | punctual (at most) |\n|---|---|\n");
    for subject in subjects() {
        let outcome = (subject.scenario)(Timing::PUNCTUAL);
        let figures: Vec<String> = outcome.figures.iter().map(words).collect();
        let _ = writeln!(table, "| {} | {} |", subject.name, figures.join("; "));
    }
    table
}

fn words(figure: &Figure) -> String {
    let [value, limit] = [figure.value, figure.limit].map(three_digits);
    format!("{} {value} {unit} ({limit})", figure.name, unit = figure.unit)
}

/// Three significant digits, as far as they are known: figures come from cycles.
fn three_digits(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}
