//! Exits a cycle, as KVM itself counts them.
//!
//! ```text
//! cycles   ├──────────────────── a round ────────────────────┤     read first, and last
//! exits      ├─────────────────────────────────────────────┤       read between them
//! ```
//!
//! The exits of a round so lie within its cycles; a round has so many that one more or less doesn't
//! show. Exits because an interrupt came for the host are none of the guest's, and stand beside.
//!
//! In steady state: a job that overruns has its timer set once more, so a machine that does not
//! keep the period has more exits a cycle. How many jobs did so is told beside.
//!
//! The partitions have the ordinary policy. One that polls under SCHED_FIFO leaves nothing of its
//! CPU to the kernel's own threads, which is as it should be on a CPU of its own; here it would
//! stop the machine that counts. How often a guest leaves does not depend on it.

use std::collections::BTreeMap;

use quietcore_backend::process::Partition;
use quietcore_units::{Nanos, ReleaseRule, Scheduling, Wake};

use super::Request;
use super::kvm::{Counters, Reasons};
use super::program::{Program, steps, until};
use crate::findings::{Findings, Goal};

/// Rounds; a goal is answered by six at least.
const ROUNDS: usize = 6;
/// Rounds of a quick comparison.
const ROUNDS_QUICK: usize = 2;
/// Cycles before those that count.
const WARM_UP: u64 = 500;

/// Ways in which a partition comes to its releases, with the exits that it may take a cycle.
const WAYS: [(&str, Wake, f64); 2] = [("asleep", Wake::Sleep, 2.0), ("polling", Wake::Spin, 0.0)];

/// The counts of a round.
struct Round {
    cycles: f64,
    own: f64,
    interrupts: f64,
    /// Those that the monitor saw.
    seen: f64,
}

pub(super) fn measure(
    program: &Program,
    request: &Request,
    findings: &mut Findings,
) -> Result<(), String> {
    let rounds = if findings.is_quick() { ROUNDS_QUICK } else { ROUNDS };
    let cycles = request.cycles.unwrap_or(request.common.length(2_000, 200));
    for (name, wake, most) in WAYS {
        let mut job = program.job.clone();
        let task = job.tasks.first_mut().ok_or("there is no task")?;
        (task.wake, task.policy) = (wake, Scheduling::Other);
        let period = request.period;
        (task.release, task.deadline) =
            (ReleaseRule::Cyclic { period, offset: Nanos::ZERO }, period);
        let mut partition = program.start(&job, Vec::new())?;
        until(&mut partition, "cycles", |partition| steps(partition) >= WARM_UP)?;
        let counters = Counters::of(partition.process_id())?;
        let thread = partition.region().task(0).map_or(0, |task| task.thread_id());
        let reasons = Reasons::count(thread);
        let (before, first) = (counters.all(), steps(&partition));
        let overrun = overruns(&partition);
        let told = reasons.as_ref().map_err(String::clone).and_then(Reasons::read);
        let mut all = Vec::new();
        for _ in 0..rounds {
            all.push(round(&mut partition, &counters, cycles)?);
        }
        let (after, passed) = (counters.all(), steps(&partition) - first);
        let overrun = overruns(&partition).saturating_sub(overrun);
        let later = reasons.as_ref().map_err(String::clone).and_then(Reasons::read);
        // Ending the count waits for all CPUs, which a guest that polls would hold up.
        partition.stop().map_err(|error| error.to_string())?;
        drop(reasons);
        tell(findings, name, &all, most);
        findings.remark(format!("{name}: {overrun} of {passed} jobs overran, at {period}"));
        let counted = words(&difference(&after, &before));
        findings.remark(format!("{name}, {passed} cycles, KVM's counters: {counted}"));
        match told.and_then(|before| Ok(difference(&later?, &before))) {
            Ok(counts) => {
                findings.remark(format!("{name}, {passed} cycles, by reason: {}", words(&counts)));
            }
            Err(why) => findings.not_measured(format!("{name}, exits by reason: {why}")),
        }
    }
    Ok(())
}

/// Counts the jobs of its leading task that have overrun.
fn overruns(partition: &Partition) -> u64 {
    let task = partition.region().task(0);
    // A reading that the guest was writing is read once more.
    let counters = task.and_then(|task| (0..10).find_map(|_| task.scan_counters().ok()));
    counters.map_or(0, |counters| counters.overruns)
}

fn round(partition: &mut Partition, counters: &Counters, cycles: u64) -> Result<Round, String> {
    let seen = |partition: &Partition| partition.exit_counts().map_or(0, |exits| exits.to_process);
    let first = steps(partition);
    let (before, seen_before) = (counters.exits()?, seen(partition));
    until(partition, "cycles", |partition| steps(partition) >= first + cycles)?;
    let (after, seen_after) = (counters.exits()?, seen(partition));
    Ok(Round {
        cycles: (steps(partition) - first) as f64,
        own: after.own_since(before) as f64,
        interrupts: (after.interrupts - before.interrupts) as f64,
        seen: (seen_after - seen_before) as f64,
    })
}

fn tell(findings: &mut Findings, name: &str, rounds: &[Round], most: f64) {
    let each = |of: fn(&Round) -> f64| -> Vec<f64> {
        rounds.iter().map(|round| of(round) / round.cycles).collect()
    };
    let (own, goal) = (each(|round| round.own), Goal::AtMost(most));
    findings.goal(&format!("exits a cycle, {name}"), "", &own, goal);
    let name_of = |what: &str| format!("exits a cycle, {name}, {what}");
    findings.figure(&name_of("to the monitor"), "", &each(|round| round.seen));
    findings.figure(&name_of("host's interrupts"), "", &each(|round| round.interrupts));
}

fn difference(after: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>) -> Counts {
    let since = |(name, value): (&String, &u64)| {
        (name.clone(), value.saturating_sub(before.get(name).copied().unwrap_or(0)))
    };
    after.iter().map(since).collect()
}

type Counts = BTreeMap<String, u64>;

fn words(counts: &Counts) -> String {
    let mut counts: Vec<(&u64, &String)> =
        counts.iter().map(|(name, count)| (count, name)).filter(|(count, _)| **count > 0).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let words: Vec<String> = counts.iter().map(|(count, name)| format!("{name} {count}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
