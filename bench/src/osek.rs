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

use std::path::PathBuf;

use quietcore_probe::osek::{ClockUsed, Routine, Variant};

use crate::findings::{Common, Findings, Goal};
use block::{Block, ROUTINES, Wanted};
use counts::Counts;
use peers::Peers;

/// Tasks of a program: those of the comparison, the first one what the others are compared with.
const SIZES: [u8; 5] = [8, 16, 64, 128, 255];
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
    wanted: Wanted,
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
    let mut sides = sides(&peers);
    for round in 0..rounds {
        // The order turns with the rounds, so that no side always follows the same other.
        let count = sides.len();
        for place in 0..count {
            sides[(round + place) % count].take(request, &mut peers, loops)?;
        }
    }
    tell(&mut findings, &sides);
    for why in peers.missing {
        findings.not_measured(why);
    }
    findings.not_measured(
        "r3_kernel on r3_port_std: written for a nightly compiler of 2022, and no later one builds \
         it",
    );
    tell_counts(&mut findings);
    findings.print(common)
}

/// What takes part.
enum What {
    /// Our kernel.
    Kernel(Variant),
    /// A peer, by its place among those built.
    Peer(usize),
}

/// One that takes part, with a value a round for each of [`ROUTINES`]; of a peer, the way to the
/// higher one and the way back are the first and the last.
struct Side {
    name: String,
    what: What,
    median_ns: [Vec<f64>; 3],
    mean_ns: [Vec<f64>; 3],
    degraded: Vec<String>,
}

/// Places in a side's values.
const ACT: usize = 0;
const ACTL: usize = 1;
const TERML: usize = 2;
const _: () = assert!(ROUTINES.len() == 3);

/// Places of the sides that are compared with each other.
const BASE: usize = 0;
const FIRST_SIZE: usize = 1;
const EXTENDED: usize = FIRST_SIZE + SIZES.len();
const ACCOUNTED: usize = EXTENDED + 1;
const FIRST_PEER: usize = ACCOUNTED + 1;

fn sides(peers: &Peers) -> Vec<Side> {
    let plain = Variant::default();
    let mut all = vec![("as published".to_owned(), What::Kernel(plain))];
    for size in SIZES {
        let variant = Variant { others: size - OWN_TASKS, ..plain };
        all.push((format!("{size} tasks"), What::Kernel(variant)));
    }
    let extended = Variant { extended: true, ..plain };
    let accounted = Variant { accounting: true, ..plain };
    all.push(("extended status".to_owned(), What::Kernel(extended)));
    all.push(("jobs accounted".to_owned(), What::Kernel(accounted)));
    let names = peers.built.iter().enumerate();
    all.extend(names.map(|(index, peer)| (peer.name.to_owned(), What::Peer(index))));
    let side = |(name, what)| Side {
        name,
        what,
        median_ns: Default::default(),
        mean_ns: Default::default(),
        degraded: Vec::new(),
    };
    all.into_iter().map(side).collect()
}

impl Side {
    /// One block. A peer that fails takes no further part.
    fn take(&mut self, request: &Request, peers: &mut Peers, loops: u64) -> Result<(), String> {
        match self.what {
            What::Kernel(variant) => {
                let Block { took, degraded } = block::apart(request, variant, loops)?;
                for (index, took) in took.iter().enumerate().take(ROUTINES.len()) {
                    self.median_ns[index].push(took.median_ns);
                    self.mean_ns[index].push(took.mean_ns);
                }
                self.degraded = degraded;
            }
            What::Peer(index) => {
                if peers.missing.iter().any(|why| why.starts_with(&self.name)) {
                    return Ok(());
                }
                match peers.run(&peers.built[index], request, loops) {
                    Ok(ways) => {
                        for (index, took) in [(ACT, ways.there), (TERML, ways.back)] {
                            self.median_ns[index].push(took.median_ns);
                            self.mean_ns[index].push(took.mean_ns);
                        }
                    }
                    Err(why) => peers.missing.push(why),
                }
            }
        }
        Ok(())
    }
}

fn tell(findings: &mut Findings, sides: &[Side]) {
    let base = &sides[BASE];
    for (index, name, goal) in [
        (ACT, "act, median", 100.0),
        (TERML, "terml, median", 100.0),
        (ACTL, "actl (ActivateTask of a lower task), median", 30.0),
    ] {
        findings.goal(name, "ns", &base.median_ns[index], Goal::AtMost(goal));
    }
    for (index, routine) in ROUTINES.iter().enumerate() {
        findings.figure(&format!("{}, mean", routine.name()), "ns", &base.mean_ns[index]);
    }
    let first = &sides[FIRST_SIZE];
    for (index, routine) in ROUTINES.iter().enumerate() {
        let name = format!("{}, {}, mean", routine.name(), first.name);
        findings.figure(&name, "ns", &first.mean_ns[index]);
        for side in &sides[FIRST_SIZE + 1..EXTENDED] {
            let name = format!("{}, {} / {}", routine.name(), side.name, first.name);
            let (above, below) = (&side.mean_ns[index], &first.mean_ns[index]);
            findings.ratio(&name, above, below, Some(Goal::AtMost(1.1)));
        }
    }
    for side in [&sides[EXTENDED], &sides[ACCOUNTED]] {
        for (index, routine) in ROUTINES.iter().enumerate() {
            let name = format!("{}, {} / {}", routine.name(), side.name, base.name);
            findings.ratio(&name, &side.mean_ns[index], &base.mean_ns[index], None);
        }
    }
    for side in &sides[FIRST_PEER..] {
        if side.mean_ns[ACT].is_empty() {
            continue;
        }
        findings.figure(&format!("{}, there", side.name), "ns", &side.median_ns[ACT]);
        findings.figure(&format!("{}, back", side.name), "ns", &side.median_ns[TERML]);
        // Where a peer failed in some round, only those before it are pairs.
        findings.ratio(
            &format!("{} / act", side.name),
            &side.mean_ns[ACT],
            &base.mean_ns[ACT],
            None,
        );
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

/// Instructions, which repeat exactly: of the program as published, and of the smallest and the
/// largest number of tasks.
fn tell_counts(findings: &mut Findings) {
    let largest = SIZES[SIZES.len() - 1];
    let variants = [0, SIZES[0] - OWN_TASKS, largest - OWN_TASKS];
    let counted: Result<Vec<Counts>, String> = variants
        .into_iter()
        .map(|others| {
            let variant = Variant { others, ..Variant::default() };
            let (once, again) = (counts::count(variant)?, counts::count(variant)?);
            if once == again {
                Ok(once)
            } else {
                Err("two runs of one program took different instructions".to_owned())
            }
        })
        .collect();
    let counted = match counted {
        Ok(counted) => counted,
        Err(why) => return findings.not_measured(format!("instructions: {why}")),
    };
    for routine in Routine::ALL.into_iter().filter(|routine| *routine != Routine::Empty) {
        let of = |index: usize| counted[index].get(&routine).copied().unwrap_or_default();
        findings.remark(format!(
            "instructions of {:<10} {:>4}; with {} tasks {:>4}, with {largest} tasks {:>4}",
            routine.name(),
            of(0),
            SIZES[0],
            of(1),
            of(2)
        ));
    }
    findings.remark("counted by callgrind, the same in two runs; interrupts by software");
}
