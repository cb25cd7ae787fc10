//! A partition in a guest: how soon it runs, what its cycles cost of exits, what its monitor
//! takes, and how fast a signal goes there and back.
//!
//! ```text
//! start    own monitor ─ QEMU's microvm ─ own ─ QEMU …   the same image, program and job; whole
//! commands exits    KVM's counters │ cycles … cycles │ KVM's counters         asleep, and polling
//! signal   near thread ── n ──► program in a guest ── n ──► back │ program in a process, in turn
//! ```
//!
//! Instructions are counted by QEMU's translator, one by one, and need no KVM; all else does. Where
//! this machine's KVM can't run guests, or interprets them, that is said and nothing is measured.

mod backends;
mod cycle;
mod exits;
mod front;
mod instructions;
mod kvm;
mod peer;
mod program;
mod resident;
mod signal;
mod start;

use std::path::PathBuf;

use quietcore_clock::INTERPRETED_BELOW;
use quietcore_host::facts::Facts;
use quietcore_units::Nanos;

use crate::findings::{Common, Findings};
use program::Program;

/// A partition in a guest, beside QEMU's `microvm` and a partition in a process
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Parts that are measured; all of them by default
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// The program: a folder of generated C
    #[arg(long, default_value = "models/servo")]
    model: PathBuf,
    /// The CPU of the partitions whose cycles count
    #[arg(long, default_value_t = 1)]
    cpu: u32,
    /// The CPU of the near end of signals
    #[arg(long, default_value_t = 0)]
    other_cpu: u32,
    /// The image of the Linux guest whose start is measured, as `quietcore guest build` makes it
    #[arg(long, value_name = "FOLDER")]
    linux_image: Option<PathBuf>,
    /// Cycles in which exits are counted, a round
    #[arg(long)]
    cycles: Option<u64>,
    /// The period of the partitions whose exits are counted: one that this machine keeps
    #[arg(long, default_value = "1 ms")]
    period: Nanos,
}

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// From the start of a partition to its first cycle, beside QEMU's `microvm`
    Start,
    /// From `quietcore up` to the first cycle
    Up,
    /// The same on each backend that this machine has, with QEMU's part apart
    Backends,
    /// Instructions of the guest to its first cycle
    Instructions,
    /// Instructions of a cycle, in the guest of `kvm` and in that of `qemu`
    Cycle,
    /// Exits in a cycle, by reason
    Exits,
    /// Memory of the monitor
    Resident,
    /// A signal there and back, beside a process
    Signal,
}

impl Part {
    /// Returns `true` if it needs no KVM: an emulator counts, or each backend is asked for itself.
    fn needs_no_kvm(self) -> bool {
        matches!(self, Self::Backends | Self::Instructions | Self::Cycle)
    }
}

const PARTS: [Part; 8] = [
    Part::Start,
    Part::Up,
    Part::Backends,
    Part::Instructions,
    Part::Cycle,
    Part::Exits,
    Part::Resident,
    Part::Signal,
];

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let facts = Facts::read();
    let rounds = common.rounds_or(20);
    let method = format!(
        "{} in a guest of 16 MiB, 1 ms; starts as whole commands in turn with QEMU's microvm under \
         KVM, which gets the same image, program and job; exits from KVM's own counters; signals \
         from CPU {} to CPU {} and back",
        request.model.display(),
        request.other_cpu,
        request.cpu
    );
    let mut findings = Findings::begin_on(&facts, "guest", method, common, rounds);
    let program = Program::of_model(&request.model, request.cpu);
    match program {
        Ok(program) => measure(request, &facts, &program, rounds, &mut findings),
        Err(why) => findings.not_measured(format!("anything: {why}")),
    }
    findings.remark(
        "where time is emulated, times of either side say nothing, and a ratio says what it says \
         of this emulator; counts are counts",
    );
    findings.print(common)
}

/// Measures what was asked for. One part that fails doesn't keep the others from being measured.
fn measure(
    request: &Request,
    facts: &Facts,
    program: &Program,
    rounds: usize,
    findings: &mut Findings,
) {
    let wanted = if request.only.is_empty() { &PARTS } else { &*request.only };
    let no_guests = why_no_guests(facts);
    if let Some(why) = &no_guests {
        findings
            .not_measured(format!("anything but instructions and `up` on other backends: {why}"));
    }
    let can_be = |part: &&Part| part.needs_no_kvm() || no_guests.is_none();
    for part in wanted.iter().filter(can_be) {
        eprintln!("guest: {part:?}");
        let done = match part {
            Part::Start => start::measure(program, rounds, findings),
            Part::Up => start::measure_up(program, rounds, findings),
            Part::Backends => backends::measure(request, facts, rounds, findings),
            Part::Instructions => instructions::measure(program, findings),
            Part::Cycle => cycle::measure(program, request, findings),
            Part::Exits => exits::measure(program, request, findings),
            Part::Resident => resident::measure(program, findings),
            Part::Signal => signal::measure(request, rounds, findings),
        };
        if let Err(why) = done {
            findings.not_measured(format!("{}: {why}", format!("{part:?}").to_lowercase()));
        }
    }
}

/// Why guests of this machine's KVM can't be measured; `None` where they can.
fn why_no_guests(facts: &Facts) -> Option<String> {
    let opens = &facts.virtualization.kvm.opens;
    if opens.get().is_none() {
        return Some(format!("/dev/kvm: {}", opens.describe(|()| String::new())));
    }
    // By its own speed alone: an emulated host may run a guest, and its own code far faster.
    let speed = facts.virtualization.kvm.speed.get()?.instructions_per_second;
    (speed < INTERPRETED_BELOW).then(|| {
        let millions = speed / 1e6;
        format!("this machine's KVM interprets its guests: {millions:.1} million instructions/s")
    })
}
