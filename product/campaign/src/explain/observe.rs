//! The thread that observes a partition's late releases.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use quietcore_backend::process::ThreadNumbers;
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::TaskStatistics;
use quietcore_process::exchange::Exchange;
use quietcore_process::snare::{Caught, Snare};
use quietcore_record::ledger::{
    Differences, Ledger, Ledgers, Means, Trace, Window, attribute, from_counters,
    put_down_to_steal, read,
};
use quietcore_trace::counters::{Counters, Reader, Subject};
use quietcore_trace::instance::Instance;
use quietcore_units::Nanos;

use super::words;
use super::{Explained, Prepared};
use crate::world::Process;

/// Time between two looks at the snare.
const LOOK: Duration = Duration::from_millis(10);
/// The most that the clock of a guest may be ahead of this machine's.
const CLOCKS_APART: Nanos = Nanos::from_millis(1);
/// Looks between two readings of the counters.
const COUNTERS_EVERY: u32 = 4;

/// The thread that observes one partition: its sources, and what it found so far.
#[derive(Debug)]
pub(super) struct Observation {
    snare: Arc<Snare>,
    instance: Result<Arc<Instance>, String>,
    exchange: Arc<Exchange>,
    process: u32,
    numbers: ThreadNumbers,
    limit: Nanos,
    /// `true` if its tasks are those of a guest, whose processor the host takes back by exits.
    has_exits: bool,
    cpus: Vec<Option<u32>>,
    reader: Reader,
    tasks: Vec<Task>,
    /// Start of the observation: no release was due before.
    since: Nanos,
    /// Events that the kernel refused to trace, each with its reason.
    refused: Vec<(&'static str, String)>,
    /// Instant at which the trace was last switched on.
    armed: Option<Nanos>,
    density: Option<f64>,
    trouble: Option<String>,
}

/// A task and its counters at the last reading.
#[derive(Debug)]
struct Task {
    thread: u32,
    cpu: Option<u32>,
    ledgers: Ledgers,
    last: Option<(Nanos, Counters)>,
    quiet: Quiet,
}

/// Sums over all stretches without a late release.
#[derive(Clone, Copy, Debug, Default)]
struct Quiet {
    time: Nanos,
    run_delay: Nanos,
}

impl Observation {
    pub(super) fn new(prepared: &Prepared, partition: &dyn Process) -> Self {
        Self {
            snare: Arc::clone(&prepared.snare),
            instance: prepared.instance.clone(),
            exchange: partition.exchange(),
            process: partition.process_id(),
            numbers: partition.thread_numbers(),
            limit: prepared.limit,
            has_exits: !partition.tasks_are_threads(),
            cpus: prepared.cpus.clone(),
            reader: Reader::live(),
            tasks: Vec::new(),
            since: Monotonic.now(),
            refused: Vec::new(),
            armed: None,
            density: None,
            trouble: None,
        }
    }

    /// Observes until `stop` is set.
    pub(super) fn run(mut self, stop: &AtomicBool) -> Explained {
        let mut looks = 0_u32;
        loop {
            let last = stop.load(Ordering::Relaxed);
            if self.tasks.is_empty() {
                self.follow();
            } else if let Some(caught) = self.snare.caught() {
                self.explain(caught);
            } else if looks.is_multiple_of(COUNTERS_EVERY) {
                self.count();
            }
            if last {
                return self.finish();
            }
            looks = looks.wrapping_add(1);
            thread::sleep(LOOK);
        }
    }

    /// Follows the threads of all tasks, once these are known, and arms the snare.
    fn follow(&mut self) {
        let region = self.exchange.region();
        let own: Vec<u32> = region.tasks().map(TaskStatistics::thread_id).collect();
        if own.is_empty() || own.contains(&0) {
            return;
        }
        let threads: Result<Vec<u32>, _> =
            own.iter().map(|thread| self.numbers.of_host(*thread)).collect();
        // A thread that has ended meanwhile no longer has a number.
        let Ok(threads) = threads else { return };
        let means = if self.instance.is_ok() { Means::Trace } else { Means::Counters };
        let cpus = self.cpus.iter().copied().chain(std::iter::repeat(None));
        let task = |(thread, cpu): (&u32, Option<u32>)| Task {
            thread: *thread,
            cpu,
            ledgers: Ledgers::new(self.limit.get(), means),
            last: None,
            quiet: Quiet::default(),
        };
        self.tasks = threads.iter().zip(cpus).map(task).collect();
        if let Ok(instance) = &self.instance {
            self.refused = instance.follow(&threads);
            if self.has_exits {
                self.refused.extend(instance.follow_exits(&threads));
            }
        }
        self.count();
        self.arm();
    }

    fn arm(&mut self) {
        if let Ok(instance) = &self.instance
            && let Err(error) = instance.arm()
        {
            self.trouble = Some(super::told(&error));
        }
        self.armed = Some(Monotonic.now());
        self.snare.arm();
    }

    /// Reads the counters of all tasks at the end of a stretch without a late release.
    fn count(&mut self) {
        let now = Monotonic.now();
        for task in &mut self.tasks {
            let cpu = task.cpu.unwrap_or_default();
            let subject = Subject { cpu, process: self.process, thread: task.thread };
            let counters = self.reader.read(subject);
            if let Some((then, before)) = &task.last {
                let delay = rise(before.run_delay, counters.run_delay);
                task.quiet.time += now.saturating_sub(*then);
                task.quiet.run_delay += delay.unwrap_or_default();
            }
            task.last = Some((now, counters));
        }
    }

    /// Makes the ledger of a late release, and arms the snare again.
    fn explain(&mut self, caught: Caught) {
        let region = self.exchange.region();
        let (Some(task), Some(shared)) =
            (self.tasks.get_mut(caught.task as usize), region.task(caught.task))
        else {
            return self.arm();
        };
        if !is_possible(&caught, self.since, Monotonic.now()) {
            self.trouble = Some("they were told of with instants that can't be".to_owned());
            return self.arm();
        }
        let mut window = Window {
            release: caught.release,
            due_ns: caught.due.get(),
            started_ns: caught.started.get(),
            first_release_ns: shared.first_release_ns(),
            cpu: caught.cpu,
            thread: task.thread,
            traced_from_ns: None,
        };
        let subject = Subject { cpu: caught.cpu, process: self.process, thread: task.thread };
        let now = Monotonic.now();
        let counters = self.reader.read(subject);
        let seen = match &task.last {
            // Counters of another CPU say nothing about this one.
            Some((then, before)) if task.cpu == Some(caught.cpu) => {
                differences(before, &counters, now.saturating_sub(*then), task.quiet)
            }
            _ => Differences::default(),
        };
        task.cpu = Some(caught.cpu);
        task.last = Some((now, counters));
        let ledger = match self.instance.as_ref().map(|instance| traced(instance, caught.cpu)) {
            Ok(Ok(trace)) => {
                self.density = density(&trace).or(self.density);
                window.traced_from_ns = self.armed.filter(|_| trace.is_whole).map(Nanos::get);
                from_trace(&window, &trace, &seen)
            }
            Ok(Err(error)) => {
                let mut ledger = from_counters(&window, &seen);
                ledger.remarks.push(error);
                ledger
            }
            Err(_) => from_counters(&window, &seen),
        };
        task.ledgers.add(ledger);
        self.arm();
    }

    fn finish(self) -> Explained {
        self.snare.disarm();
        let traced = self.instance.as_ref().ok();
        if let Some(instance) = traced {
            // The trace is removed a moment later, so a failure to halt it does no harm.
            let _ = instance.halt();
        }
        let conditions =
            traced.map_or_else(String::new, |instance| words::conditions(instance, self.density));
        let mut explained = Explained { tasks: Vec::new(), conditions };
        for (number, mut task) in (0_u32..).zip(self.tasks) {
            task.ledgers.above = self.snare.late(number).max(task.ledgers.ledgered);
            let subject = Subject {
                cpu: task.cpu.unwrap_or_default(),
                process: std::process::id(),
                thread: std::process::id(),
            };
            let traced = traced.map(|instance| &**instance);
            words::observed(&mut task.ledgers, traced, self.has_exits);
            words::not_observed(
                &mut task.ledgers,
                self.instance.as_deref().map_err(String::as_str),
                &self.refused,
                self.reader.missing(subject),
                self.has_exits,
            );
            if let Some(trouble) = &self.trouble {
                task.ledgers.miss("some late releases", trouble.clone());
            }
            explained.tasks.push(task.ledgers);
        }
        explained
    }
}

/// Returns `true` if the release lies between `since` and `now`. It is reported by the partition,
/// which is not trusted.
fn is_possible(caught: &Caught, since: Nanos, now: Nanos) -> bool {
    since <= caught.due && caught.due <= caught.started && caught.started <= now + CLOCKS_APART
}

fn traced(instance: &Instance, cpu: u32) -> Result<Trace, String> {
    let text = instance.halt().and_then(|()| instance.read(cpu));
    text.map(|text| read(&text)).map_err(|error| super::told(&error))
}

fn from_trace(window: &Window, trace: &Trace, seen: &Differences) -> Ledger {
    let mut ledger = attribute(window, &trace.events);
    put_down_to_steal(&mut ledger, seen);
    if trace.unread > 0 {
        ledger.remarks.push(format!("{} lines of the trace could not be read", trace.unread));
    }
    ledger
}

/// Returns the number of events per millisecond of a trace.
fn density(trace: &Trace) -> Option<f64> {
    let (first, last) = (trace.events.first()?, trace.events.last()?);
    let span_ns = last.at_ns.checked_sub(first.at_ns).filter(|span| *span > 0)?;
    Some(trace.events.len() as f64 * 1e6 / span_ns as f64)
}

fn rise(before: Option<Nanos>, after: Option<Nanos>) -> Option<Nanos> {
    Some(after?.saturating_sub(before?))
}

/// Returns the rise of each counter; of the run delay, only what exceeds its rise in quiet
/// stretches of the same length.
fn differences(before: &Counters, after: &Counters, within: Nanos, quiet: Quiet) -> Differences {
    let usual = u128::from(quiet.run_delay.get()) * u128::from(within.get())
        / u128::from(quiet.time.get().max(1));
    let usual = u64::try_from(usual).unwrap_or(u64::MAX);
    let run_delay = rise(before.run_delay, after.run_delay);
    let number = |before: Option<u64>, after: Option<u64>| {
        after.zip(before).map_or(0, |(after, before)| after.saturating_sub(before))
    };
    let minor = |counters: &Counters| counters.faults.map(|(minor, _)| minor);
    let major = |counters: &Counters| counters.faults.map(|(_, major)| major);
    let mut counts = vec![
        ("SMIs".to_owned(), number(before.smis, after.smis)),
        ("times displaced".to_owned(), number(before.displaced, after.displaced)),
        ("page faults without a disk".to_owned(), number(minor(before), minor(after))),
        ("page faults with a disk".to_owned(), number(major(before), major(after))),
    ];
    if before.frequency_khz != after.frequency_khz {
        counts.push(("changes of the frequency, at least".to_owned(), 1));
    }
    for (kind, before, after) in [
        ("interrupts", &before.interrupts, &after.interrupts),
        ("softirqs", &before.softirqs, &after.softirqs),
    ] {
        let each = after.iter().map(|(name, count)| {
            let before = before.get(name).copied().unwrap_or(*count);
            (format!("{kind}: {name}"), count.saturating_sub(before))
        });
        counts.extend(each);
    }
    Differences {
        within_ns: within.get(),
        run_delay_ns: run_delay.map(|delay| delay.get().saturating_sub(usual)),
        steal_ns: rise(before.steal, after.steal).map(Nanos::get),
        counts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_that_can_not_have_been_have_no_ledger() {
        let at = Nanos::from_millis;
        let caught = |due, started| Caught { due, started, ..Caught::default() };
        let is = |due, started| is_possible(&caught(due, started), at(100), at(200));
        assert!(is(at(150), at(190)) && is(at(100), at(201)));
        assert!(!is(at(99), at(190)), "before all");
        assert!(!is(at(150), at(149)) && !is(at(150), Nanos::new(u64::MAX)));
    }

    #[test]
    fn counters_are_told_by_their_rise_and_the_usual_run_delay_is_left_out() {
        let at = |delay: u64, steal: u64, irqs: u64| Counters {
            run_delay: Some(Nanos::new(delay)),
            steal: Some(Nanos::from_millis(steal)),
            smis: Some(irqs),
            faults: None,
            interrupts: [("LOC".to_owned(), irqs)].into(),
            ..Counters::default()
        };
        let quiet = Quiet { time: Nanos::from_millis(100), run_delay: Nanos::new(1_000) };
        let seen = differences(&at(0, 10, 5), &at(9_000, 30, 7), Nanos::from_millis(50), quiet);
        assert_eq!(seen.run_delay_ns, Some(8_500));
        assert_eq!(seen.steal_ns, Some(20_000_000));
        let count = |name: &str| seen.counts.iter().find(|(what, _)| what == name).unwrap().1;
        assert_eq!((count("SMIs"), count("interrupts: LOC")), (2, 2));
        assert_eq!(count("page faults with a disk"), 0);
        let unknown = Counters::default();
        let seen = differences(&unknown, &at(9, 9, 9), Nanos::ZERO, Quiet::default());
        assert_eq!((seen.run_delay_ns, seen.steal_ns), (None, None));
    }
}
