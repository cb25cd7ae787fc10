//! The OSEK kernel on its hosted port: how long its switches take, on what that depends, and what
//! others take for the like.
//!
//! ```text
//! round   kernel ─ 8 tasks ─ 16 … 255 tasks ─ extended ─ accounted ─ futex ─ condvar ─ swapcontext
//! next            8 tasks ─ 16 … ─ swapcontext ─ kernel                (the order turns)
//! ```
//!
//! Each block is a process of its own on the same CPU. A figure of a block is a median or a mean
//! over its loops, without the empty measurement; what is printed is the median of the blocks.
//! Where the clock counts in steps of 10 ns, medians are multiples of it, and the means are finer:
//! ratios are of means.

mod block;
mod counts;
mod peers;

use std::collections::BTreeMap;
use std::path::PathBuf;

use quietcore_probe::osek::{ClockUsed, Routine, Variant};

use crate::findings::{Common, Findings, Goal};
use crate::peers::versions;
use block::{BlockArguments, SWITCHES, Took};
use counts::Counts;
use peers::Peers;

/// Tasks of a program: those of the comparison, the first one what the others are compared with.
const SIZES: [u8; 5] = [8, 16, 64, 128, 255];
/// A peer in Rust that was looked at.
const NO_R3: &str = "r3_kernel 0.1.4 on r3_port_std 0.2.1: they need what nightly compilers had in \
                     2022, and that of 2026-05-19 does not build them";

/// Tasks that the routines themselves take.
const OWN_TASKS: u8 = 4;

/// The OSEK kernel beside futexes, condition variables, `swapcontext` and FreeRTOS
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The CPU that all of it runs on
    #[arg(long, default_value_t = 1)]
    cpu: u32,
    /// Priority of SCHED_FIFO; the higher side of a hand-over has one more
    #[arg(long, default_value_t = 80, value_parser = clap::value_parser!(u8).range(1..=98))]
    priority: u8,
    /// Loops of a routine in a block
    #[arg(long)]
    loops: Option<u64>,
    /// A source tree of FreeRTOS-Kernel, whose POSIX port takes part then
    #[arg(long, value_name = "DIR")]
    freertos: Option<PathBuf>,
    #[command(flatten)]
    wanted: BlockArguments,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let loops = request.loops.unwrap_or(common.length(20_000, 500));
    if request.wanted.marks {
        return counts::carry_out(request.wanted.variant());
    }
    if request.wanted.block {
        let block = block::here(request, loops)?;
        println!("{}", serde_json::to_string(&block).map_err(|error| error.to_string())?);
        return Ok(());
    }
    let rounds = common.rounds_or(40);
    let clock = ClockUsed::choose();
    let method = format!(
        "hosted port, full preemption, blocks of {loops} loops on CPU {} under SCHED_FIFO {}, each \
         in a process of its own; {}; the empty measurement subtracted",
        request.cpu,
        request.priority,
        clock.words()
    );
    let mut findings = Findings::begin("osek", method, common, rounds);
    let mut peers = Peers::build(request, clock)?;
    let is_built = peers.built.iter().any(|peer| peer.name.starts_with("FreeRTOS"));
    if let Some(sources) = request.freertos.as_deref().filter(|_| is_built) {
        findings.peer("FreeRTOS", versions::of_freertos(sources));
    }
    let mut sides = sides(&peers);
    for round in 0..rounds {
        // The order turns with the rounds, so that no side always follows the same other.
        let count = sides.len();
        for place in 0..count {
            sides[(round + place) % count].take(request, &mut peers, loops)?;
        }
    }
    let counted = count(common);
    tell(&mut findings, &sides, counted.as_deref().unwrap_or_default());
    match counted {
        Ok(_) => findings.remark(
            "instructions by callgrind, the same in several loops and in two runs; interrupts by \
             software",
        ),
        Err(why) => findings.not_measured(format!("instructions: {why}")),
    }
    for why in peers.missing {
        findings.not_measured(why);
    }
    findings.not_measured(NO_R3);
    findings.print(common)
}

/// A system that takes part.
enum What {
    /// Our kernel, and whether all routines are measured.
    Kernel(Variant, bool),
    /// A peer, by its place among those built.
    Peer(usize),
}

/// The values of a routine, one a round, in ns.
#[derive(Default)]
struct Values {
    median: Vec<f64>,
    mean: Vec<f64>,
}

/// One that takes part. Of a peer, the way to the higher one is `act`, and the way back `terml`.
struct Side {
    name: String,
    what: What,
    values: BTreeMap<Routine, Values>,
    degraded: Vec<String>,
}

/// Places of the sides that are compared with each other.
const BASE: usize = 0;
const FIRST_SIZE: usize = 1;
const EXTENDED: usize = FIRST_SIZE + SIZES.len();
const ACCOUNTED: usize = EXTENDED + 1;
const FIRST_PEER: usize = ACCOUNTED + 1;

fn sides(peers: &Peers) -> Vec<Side> {
    let plain = Variant::default();
    let mut all = vec![("as published".to_owned(), What::Kernel(plain, true))];
    for size in SIZES {
        let variant = Variant { others: size - OWN_TASKS, ..plain };
        all.push((format!("{size} tasks"), What::Kernel(variant, false)));
    }
    let extended = Variant { extended: true, ..plain };
    let accounted = Variant { accounting: true, ..plain };
    all.push(("extended status".to_owned(), What::Kernel(extended, false)));
    all.push(("jobs accounted".to_owned(), What::Kernel(accounted, false)));
    let names = peers.built.iter().enumerate();
    all.extend(names.map(|(index, peer)| (peer.name.to_owned(), What::Peer(index))));
    let side = |(name, what)| Side { name, what, values: BTreeMap::new(), degraded: Vec::new() };
    all.into_iter().map(side).collect()
}

impl Side {
    /// One block. A peer that fails takes no further part.
    fn take(&mut self, request: &Request, peers: &mut Peers, loops: u64) -> Result<(), String> {
        match self.what {
            What::Kernel(variant, all) => {
                let block = block::apart(request, BlockArguments::block(variant, all), loops)?;
                for (routine, took) in &block.took {
                    self.add(*routine, took);
                }
                self.degraded = block.degraded;
            }
            What::Peer(index) => {
                if peers.missing.iter().any(|why| why.starts_with(&self.name)) {
                    return Ok(());
                }
                match peers.run(&peers.built[index], request, loops) {
                    Ok(ways) => {
                        self.add(Routine::Act, &ways.there);
                        self.add(Routine::Terml, &ways.back);
                    }
                    Err(why) => peers.missing.push(why),
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, routine: Routine, took: &Took) {
        let values = self.values.entry(routine).or_default();
        values.median.push(took.median_ns);
        values.mean.push(took.mean_ns);
    }

    fn median(&self, routine: Routine) -> &[f64] {
        self.values.get(&routine).map_or(&[], |values| &values.median)
    }

    fn mean(&self, routine: Routine) -> &[f64] {
        self.values.get(&routine).map_or(&[], |values| &values.mean)
    }
}

fn tell(findings: &mut Findings, sides: &[Side], counted: &[Counts]) {
    let base = &sides[BASE];
    for (routine, name, goal) in [
        (Routine::Act, "act, median", 100.0),
        (Routine::Terml, "terml, median", 100.0),
        (Routine::Actl, "actl (ActivateTask of a lower task), median", 30.0),
    ] {
        findings.goal(name, "ns", base.median(routine), Goal::AtMost(goal));
    }
    for routine in Routine::ALL.into_iter().filter(|routine| *routine != Routine::Empty) {
        findings.figure(&format!("{}, mean", routine.name()), "ns", base.mean(routine));
        if let Some(counts) = counted.first() {
            let name = format!("{}, instructions", routine.name());
            findings.figure(&name, "", &counts.of(routine));
        }
    }
    tell_sizes(findings, sides, counted);
    for side in [&sides[EXTENDED], &sides[ACCOUNTED]] {
        for routine in SWITCHES {
            let name = format!("{}, {} / {}", routine.name(), side.name, base.name);
            findings.ratio(&name, side.mean(routine), base.mean(routine), None);
        }
    }
    for side in sides[FIRST_PEER..].iter().filter(|side| !side.values.is_empty()) {
        findings.figure(&format!("{}, there", side.name), "ns", side.median(Routine::Act));
        findings.figure(&format!("{}, back", side.name), "ns", side.median(Routine::Terml));
        // Where a peer failed in some round, only those before it are pairs.
        let name = format!("{} / act", side.name);
        findings.ratio(&name, side.mean(Routine::Act), base.mean(Routine::Act), None);
    }
    let mut degraded: Vec<&String> = Vec::new();
    for text in sides.iter().flat_map(|side| &side.degraded) {
        if !degraded.contains(&text) {
            degraded.push(text);
        }
    }
    for text in degraded {
        findings.remark(format!("not as asked for: {text}"));
    }
}

/// On how many tasks it depends: those beside the four of the program are ready all the time.
fn tell_sizes(findings: &mut Findings, sides: &[Side], counted: &[Counts]) {
    let first = &sides[FIRST_SIZE];
    for routine in SWITCHES {
        let name = format!("{}, {}, mean", routine.name(), first.name);
        findings.figure(&name, "ns", first.mean(routine));
        for side in &sides[FIRST_SIZE + 1..EXTENDED] {
            let name = format!("{}, {} / {}", routine.name(), side.name, first.name);
            let (above, below) = (side.mean(routine), first.mean(routine));
            findings.ratio(&name, above, below, Some(Goal::AtMost(1.1)));
        }
        if let [_, few, many] = counted {
            let (last, first) = (SIZES[SIZES.len() - 1], &first.name);
            let name = format!("{}, instructions, {last} tasks / {first}", routine.name());
            findings.ratio(&name, &many.of(routine), &few.of(routine), None);
        }
    }
}

/// Counts of the program as published, and with the smallest and the largest number of tasks; of
/// the first alone in a quick run.
fn count(common: &Common) -> Result<Vec<Counts>, String> {
    let largest = SIZES[SIZES.len() - 1];
    let variants = [0, SIZES[0] - OWN_TASKS, largest - OWN_TASKS];
    let wanted = &variants[..common.length(variants.len(), 1)];
    let counts = |others: &u8| counts::count(Variant { others: *others, ..Variant::default() });
    wanted.iter().map(counts).collect()
}
