//! Descriptions of what was observed of late releases, and of what was not.

use quietcore_record::ledger::{Ledgers, Means};
use quietcore_trace::instance::Instance;

/// Facts that a trace tells and counters do not.
const BY_TRACE_ONLY: [&str; 6] =
    ["timer interrupt", "other interrupts", "NMIs", "softirqs", "blocking threads", "stacks"];

/// Describes the trace that ran during a record's run.
pub(super) fn conditions(instance: &Instance, density: Option<f64>) -> String {
    let density = density.map_or_else(String::new, |density| {
        format!("; {density:.0} events a millisecond on the CPU before the last late release")
    });
    format!(
        "{} events and groups traced on the task's CPUs during the whole run, a stack at each \
         wake-up of a task, which adds to every latency{density}",
        instance.events().len()
    )
}

/// Adds to the ledgers what was observed.
pub(super) fn observed(ledgers: &mut Ledgers, traced: Option<&Instance>, has_exits: bool) {
    if let Some(instance) = traced {
        let exits = if has_exits { ", exits of the guest" } else { "" };
        let events = instance.events().join(", ") + exits;
        ledgers.observed.push(format!("the kernel's trace: {events}; instants in steps of 1 µs"));
    }
    let counters = "counters of the CPU and the thread, read before and after: run delay, steal, \
                    page faults, SMIs, frequency, interrupts, softirqs";
    ledgers.observed.push(counters.to_owned());
}

/// Adds to the ledgers what was not observed, and why.
pub(super) fn not_observed(
    ledgers: &mut Ledgers,
    traced: Result<&Instance, &str>,
    refused: &[(&'static str, String)],
    counters: Vec<(&'static str, String)>,
    has_exits: bool,
) {
    match traced {
        Ok(instance) => {
            for event in instance.missing() {
                ledgers.miss(event, absence(event));
            }
            for (what, because) in refused {
                ledgers.miss(what, because.clone());
            }
        }
        Err(because) => {
            for what in BY_TRACE_ONLY {
                ledgers.miss(what, because);
            }
        }
    }
    for (what, because) in counters {
        ledgers.miss(what, because);
    }
    if ledgers.means == Means::Trace {
        ledgers.miss(
            "how long SMIs and changes of the frequency took",
            "the kernel counts them and times none; their time is in `timer late`, `own way to \
             the start`, or whatever they interrupted",
        );
    }
    if has_exits {
        ledgers.miss(
            "what the guest does before the task",
            "interrupts and tasks of its own kernel are not traced; their time is in `own way to \
             the start`",
        );
    }
    ledgers.miss(
        "exits of this machine, if it is a virtual one",
        "its host alone sees them, and they are part of `steal` or of what they interrupted",
    );
}

fn absence(event: &str) -> &'static str {
    match event {
        "osnoise" => {
            "this kernel has no such tracers (CONFIG_OSNOISE_TRACER); what they tell of \
             interrupts and threads is taken from the other events"
        }
        "irq_vectors" => {
            "this kernel does not trace interrupts by vector; the timer's are in what they \
             interrupted"
        }
        _ => "this kernel has no such event",
    }
}
