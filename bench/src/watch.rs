//! Measures the disturbance of a partition by watching it.
//!
//! A partition runs a program with [`LEAVES`] variables at 1 ms, without an end. Blocks of cycles
//! alternate in pairs, `off on on off off on …`:
//!
//! | block | what the machine does beside |
//! |-------|------------------------------|
//! | off | nothing |
//! | on | a process of ordinary priority on another CPU reads all variables 100 times a second, as `quietcore watch` does |
//!
//! Two statements are made. Each pair of blocks gives the difference of each quantile; that is
//! robust against a machine that drifts. All blocks of a side together are a record, and the two
//! records are compared like those of two campaigns, with what successive latencies resemble each
//! other taken into account.

pub(crate) mod model;

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use quietcore_record::compare::{Comparison, Finding, compare};
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{Record, Timeline};
use quietcore_supervisor::monitor::watch::Watch;
use quietcore_units::Causes;

use crate::cores::{Awake, pin};
use crate::findings::pairs::Median;
use crate::findings::{Common, Findings, ROUNDS_MIN};
pub(crate) use crate::site::Window;
use crate::site::{Life, Stand, quantile};

/// Variables in the array of the program, which are watched.
const LEAVES: usize = 10_000;
/// Time between two looks at all variables.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The quantiles that are compared pair by pair.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
/// Cycles after a change of sides that count for neither.
const SETTLING: u64 = 100;

/// A partition with and without somebody who watches 10 000 of its variables
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The CPU of the partition
    #[arg(long, default_value_t = 1)]
    cpu: u32,
    /// The CPU of who watches
    #[arg(long, default_value_t = 0)]
    other_cpu: u32,
    /// Cycles of a block
    #[arg(long)]
    cycles: Option<u64>,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let rounds = common.rounds_or(60);
    let cycles = request.cycles.unwrap_or(common.length(2_000, 300));
    let method = format!(
        "blocks of {cycles} cycles at 1 ms on CPU {}, alternately alone and with all {LEAVES} \
         variables read 100 times a second from CPU {}, {rounds} pairs",
        request.cpu, request.other_cpu
    );
    let mut findings = Findings::begin("watch", method, common, rounds);
    let _awake = Awake::hold(&mut findings);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = model::write(folder.path(), request.cpu, LEAVES)?;
    let stand = Stand::new(&file, folder)?;
    pin(request.other_cpu)?;
    let life = stand.up()?;
    let (client, partition) = life.client()?;
    let pattern = [model::ALL.to_owned()];
    let watch =
        Watch::begin(client, partition, &pattern).map_err(|error| Causes(&error).to_string())?;
    let gate = Gate::default();
    let (off, on, looks) = thread::scope(|scope| {
        let watcher = scope.spawn(|| gate.watch(watch));
        let turn = |open| gate.turn(open, watcher.thread());
        let blocks = blocks(&life, turn, rounds, cycles);
        gate.ended.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        let looks = watcher.join().map_err(|_| "the watching thread panicked".to_owned())??;
        blocks.map(|(off, on)| (off, on, looks))
    })?;
    drop(life);
    tell(&mut findings, &off, &on, cycles)?;
    looks.tell(&mut findings);
    findings.print(common)
}

/// Runs all blocks; those without and those with somebody who watches.
fn blocks(
    life: &Life,
    turn: impl Fn(bool),
    rounds: usize,
    cycles: u64,
) -> Result<(Vec<Window>, Vec<Window>), String> {
    let (mut off, mut on) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // The order within the pair turns, so that neither side always comes first.
        let alone_is_first = round.is_multiple_of(2);
        for side in [!alone_is_first, alone_is_first] {
            turn(side);
            let window = block(life, cycles)?;
            if side { on.push(window) } else { off.push(window) }
        }
    }
    Ok((off, on))
}

/// Runs a block of cycles, after those that count for no side.
pub(crate) fn block(life: &Life, cycles: u64) -> Result<Window, String> {
    life.cycles_since(&life.moment()?, SETTLING)?;
    life.cycles_since(&life.moment()?, cycles)
}

/// Tells the watching thread when to watch.
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    ended: AtomicBool,
}

/// The work of the watching thread.
#[derive(Default)]
struct Looks {
    variables: usize,
    inconsistent: u64,
    late: u64,
    took_us: Vec<f64>,
}

impl Gate {
    /// Opens or closes it, and wakes the thread behind it.
    fn turn(&self, open: bool, watcher: &Thread) {
        self.open.store(open, Ordering::Relaxed);
        watcher.unpark();
    }

    /// Watches while the gate is open.
    fn watch(&self, mut watch: Watch) -> Result<Looks, String> {
        let mut looks = Looks { variables: watch.variable_count(), ..Looks::default() };
        let mut due = Instant::now();
        while !self.ended.load(Ordering::Relaxed) {
            if !self.open.load(Ordering::Relaxed) {
                // Not even a timer: the other blocks are to be undisturbed.
                thread::park();
                due = Instant::now();
                continue;
            }
            due += LOOK_EVERY;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let begin = Instant::now();
            let sample = watch.sample().map_err(|error| Causes(&error).to_string())?;
            looks.took_us.push(begin.elapsed().as_secs_f64() * 1e6);
            looks.inconsistent += u64::from(!sample.consistent);
            if Instant::now() > due + LOOK_EVERY {
                // It could not keep up; looks that it missed are not made up for.
                looks.late += 1;
                due = Instant::now();
            }
        }
        Ok(looks)
    }
}

impl Looks {
    fn tell(&self, findings: &mut Findings) {
        findings.figure("one look at all variables", "µs", &self.took_us);
        findings.remark(format!(
            "{} looks at {} variables each; {} took longer than 10 ms, {} were not of one instant",
            self.took_us.len(),
            self.variables,
            self.late,
            self.inconsistent
        ));
    }
}

/// Tells whether blocks with somebody who watches differ from those without.
pub(crate) fn tell(
    findings: &mut Findings,
    off: &[Window],
    on: &[Window],
    cycles: u64,
) -> Result<(), String> {
    let of = |windows: &[Window], part| {
        windows.iter().map(|window| quantile(&window.release, part)).collect::<Result<Vec<_>, _>>()
    };
    for (name, part) in QUANTILES {
        let (alone, watched) = (of(off, part)?, of(on, part)?);
        findings.figure(&format!("release latency {name}, alone"), "ns", &alone);
        findings.figure(&format!("release latency {name}, watched"), "ns", &watched);
        let differences: Vec<f64> =
            watched.iter().zip(&alone).map(|(watched, alone)| watched - alone).collect();
        findings.figure(&format!("release latency {name}, difference"), "ns", &differences);
        findings.remark(sentence(name, &differences));
    }
    let comparison = compare(&record("alone", off, cycles), &record("watched", on, cycles));
    for text in pooled(&comparison) {
        findings.remark(text);
    }
    Ok(())
}

/// Describes the differences of the pairs.
fn sentence(name: &str, differences: &[f64]) -> String {
    let Some(median) = Median::of(differences) else {
        return format!("{name}: no pairs");
    };
    if median.count < ROUNDS_MIN {
        return format!("{name}: {} pairs are too few to say anything", median.count);
    }
    let (low, high) = (median.low, median.high);
    let known = format!("95 %: {low:.0} ns to {high:.0} ns, {} pairs", median.count);
    if low <= 0.0 && 0.0 <= high {
        format!("{name}: no difference beyond the uncertainty of the pairs ({known})")
    } else {
        format!("{name}: DIFFERS ({known})")
    }
}

/// Describes the comparison of the two records, quantile by quantile.
fn pooled(comparison: &Comparison) -> Vec<String> {
    let mut texts = Vec::new();
    for difference in &comparison.statistics {
        let mut text = format!("all blocks together, {}: {}", difference.title, difference.finding);
        if let Some(interval) = difference.interval.filter(|interval| !interval.of_ratio)
            && let (Some(low), Some(high)) = (interval.low, interval.high)
        {
            let _ = write!(text, " (95 %: {low:.0} to {high:.0})");
        }
        if difference.finding == Finding::Differs {
            text = format!("{text}; {}", difference.sentence);
        }
        texts.push(text);
    }
    texts
}

/// All blocks of a side as one record. The time line wants stretches of equal length, and a block
/// ends a few cycles late; so its mean stands for exactly `cycles` of them.
fn record(name: &str, windows: &[Window], cycles: u64) -> Record {
    let mut release = Histogram::new();
    let mut slots = Vec::new();
    for window in windows {
        release.merge(&window.release);
        let sum = window.release.mean_ns().unwrap_or_default() * cycles as f64;
        slots.push((cycles, window.release.max_ns(), sum as u64));
    }
    let mut record = Record::empty(name.to_owned(), "exec", "wide", "watch");
    record.period_ns = Some(1_000_000);
    record.release = release;
    record.timeline = Timeline { slot_cycles: cycles, slots };
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(value: u64) -> Window {
        let mut release = Histogram::new();
        (0..1_000).for_each(|index| release.record(value + index % 50));
        Window { release, wakeup: Histogram::new(), execution: Histogram::new() }
    }

    #[test]
    fn a_difference_is_told_and_none_is_not() {
        let same: Vec<_> = (0..30).map(|round| window(5_000 + round % 3)).collect();
        let later: Vec<_> = (0..30).map(|round| window(6_000 + round % 3)).collect();
        let against = |other: &[Window]| {
            pooled(&compare(&record("a", &same, 1_000), &record("b", other, 1_000))).join("\n")
        };
        assert!(against(&later).contains("median: differs"), "{}", against(&later));
        assert!(!against(&same).contains(": differs"), "{}", against(&same));
        assert!(sentence("p50", &[5.0, 6.0, 7.0, 5.5, 6.5, 5.2]).contains("DIFFERS"));
        assert!(sentence("p50", &[-5.0, 6.0, -7.0, 5.5, 6.5, 0.2]).contains("no difference"));
    }
}
