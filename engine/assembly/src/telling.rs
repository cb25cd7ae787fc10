//! Events of a partition in words, with the names that the program gives to places.

use quietcore_exchange::Happening;
use quietcore_program::symbolise;
use quietcore_units::Nanos;

use serde::{Deserialize, Serialize};

use crate::Staged;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Information,
    /// Not as it should be, and the program runs.
    Warning,
    /// The program stopped or lost its fieldbus.
    Fault,
}

/// An event for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its kind, in a word.
    pub kind: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What happened, as a sentence.
    pub text: String,
}

/// Tells an event of task `task`.
pub fn tell(what: &Happening, task: &str, staged: &Staged) -> Told {
    use Severity::{Fault, Information, Warning};
    let (kind, severity, text) = match *what {
        Happening::Started => ("started", Information, "the first cycle is about to come".into()),
        Happening::Overrun { response_ns, in_a_row } => (
            "overrun",
            Warning,
            format!(
                "task `{task}` took {} from its release, beyond its deadline, {in_a_row} in a row",
                Nanos::new(response_ns)
            ),
        ),
        Happening::WatchdogHit { elapsed_ns } => (
            "watchdog-hit",
            Warning,
            format!(
                "a cycle of task `{task}` took {}, beyond its watchdog time",
                Nanos::new(elapsed_ns)
            ),
        ),
        Happening::WatchdogExpired { cycles, elapsed_ns } => (
            "watchdog",
            Fault,
            format!(
                "the watchdog of task `{task}` expired: {cycles} cycles in a row, the last took {}",
                Nanos::new(elapsed_ns)
            ),
        ),
        Happening::StoppedByOverrun { response_ns } => (
            "overrun-stop",
            Fault,
            format!(
                "task `{task}` was not done at its next release, after {}",
                Nanos::new(response_ns)
            ),
        ),
        Happening::Fault { signal, address, instruction } => (
            "crash",
            Fault,
            format!(
                "the program crashed: {} {}, at address {address:#x}",
                signal_name(signal),
                location(staged, instruction)
            ),
        ),
        Happening::Looped { instruction } => (
            "loop",
            Fault,
            format!(
                "a step of task `{task}` did not return: it was {}",
                location(staged, instruction)
            ),
        ),
        Happening::ModelError => {
            ("model-error", Fault, "the program has set its error status".into())
        }
        _ => return tell_rest(what, staged),
    };
    Told { kind, severity, text }
}

/// Tells what is no fault of a task.
fn tell_rest(what: &Happening, staged: &Staged) -> Told {
    use Severity::{Fault, Information, Warning};
    let name = |offset: u32| {
        staged.build.symbols.name_at(offset).unwrap_or_else(|| format!("the data at {offset}"))
    };
    let (kind, severity, text) = match *what {
        Happening::ForceApplied { target, .. } => {
            ("force", Information, format!("`{}` is held by force", name(target.offset)))
        }
        Happening::ForceReleased { target } => {
            ("unforce", Information, format!("`{}` is let go", name(target.offset)))
        }
        Happening::ForcesReleased { count } => {
            ("unforce", Information, format!("all forced variables are let go, {count} of them"))
        }
        Happening::Staged { .. } => ("staged", Information, what.to_string()),
        Happening::StageRefused { .. } => ("stage-refused", Warning, what.to_string()),
        Happening::Swapped { .. } => ("swapped", Information, what.to_string()),
        Happening::Reverted { .. } => ("reverted", Fault, what.to_string()),
        Happening::CommandRejected { .. } => ("command-rejected", Warning, what.to_string()),
        Happening::FieldbusLost { .. } => ("fieldbus-lost", Fault, what.to_string()),
        Happening::FieldbusRecovered { outage_ns } => (
            "fieldbus-recovered",
            Information,
            format!("the fieldbus answers again after {}", Nanos::new(outage_ns)),
        ),
        Happening::WorkingCounter { .. } => ("working-counter", Warning, what.to_string()),
        Happening::AlState { .. } => ("al-state", Warning, what.to_string()),
        Happening::SubDeviceAbsent { .. } => ("subdevice-lost", Warning, what.to_string()),
        Happening::SubDeviceForeign { .. } => ("subdevice-foreign", Warning, what.to_string()),
        Happening::SubDeviceRecovered { .. } => {
            ("subdevice-recovered", Information, what.to_string())
        }
        Happening::SubDeviceNotRecovered { .. } => {
            ("subdevice-not-recovered", Warning, what.to_string())
        }
        Happening::ErrorCounters { .. } => ("error-counters", Information, what.to_string()),
        Happening::Emergency { .. } => ("emergency", Warning, what.to_string()),
        _ => ("other", Information, what.to_string()),
    };
    Told { kind, severity, text }
}

/// Where an instruction lies, in the words of the source.
fn location(staged: &Staged, instruction: u64) -> String {
    match symbolise(&staged.build.module, instruction) {
        Some(found) => {
            let place = match (found.file, found.line) {
                (Some(file), Some(line)) => format!(" ({file}:{line})"),
                (Some(file), None) => format!(" ({file})"),
                _ => String::new(),
            };
            format!("in `{}`{place}", found.function)
        }
        None => format!("at {instruction:#x}"),
    }
}

/// The name of a signal that a program may die of.
fn signal_name(signal: u32) -> String {
    match i32::try_from(signal).ok().and_then(rustix::process::Signal::from_named_raw) {
        Some(rustix::process::Signal::SEGV) => "SIGSEGV".to_owned(),
        Some(rustix::process::Signal::BUS) => "SIGBUS".to_owned(),
        Some(rustix::process::Signal::FPE) => "SIGFPE".to_owned(),
        Some(rustix::process::Signal::ILL) => "SIGILL".to_owned(),
        Some(rustix::process::Signal::ABORT) => "SIGABRT".to_owned(),
        Some(rustix::process::Signal::TRAP) => "SIGTRAP".to_owned(),
        _ => format!("signal {signal}"),
    }
}
