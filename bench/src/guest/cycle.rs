//! Instructions of a scan cycle of the same program, in the guest of `kvm` and in that of `qemu`.
//!
//! ```text
//! step ─ outputs ─ statistics ─ timer ─ halt │ interrupt ─ inputs ─ commands ─ step
//! └────────────────── a cycle, from the first instruction of a step to the next ──┘
//! ```
//!
//! QEMU's translator runs either guest one instruction after the other and writes the address of
//! each down, so nothing is estimated. That of `kvm` is laid out as our monitor does it, in QEMU's
//! `microvm` ([`super::peer`]). That of `qemu` is a partition as it always is: its process
//! finds a program [in front of QEMU](super::front) that hands on its arguments with those for
//! writing down behind.
//!
//! Only addresses of the guest's image and program are written down; QEMU's firmware has others.
//! A cycle that is longer than the others has served an interrupt of its host, or was late.

use std::fs;
use std::path::{Path, PathBuf};

use quietcore_boot::places::PROGRAM_CODE;
use quietcore_program_image::ProgramImage;
use quietcore_scan::process::job::ProgramJob;
use quietcore_units::{Nanos, ReleaseRule, Wake};

use super::Request;
use super::front::{place_in_front_of_qemu, quoted, script};
use super::instructions::{COUNTER_HZ, STEP, address_of, function};
use super::peer::{self, Peer};
use super::program::{Program, steps, until};
use crate::findings::{Findings, Goal};
use crate::site::runtime;

/// Both counts are to be within 2 % of one another.
const GOAL: Goal = Goal::AtMost(1.02);
/// Runs of either guest; a goal is answered by six at least.
const RUNS: usize = 6;
/// Runs of a quick comparison.
const RUNS_QUICK: usize = 1;
/// Steps of a run.
const STEPS: u64 = 24;
/// Cycles at its begin that don't count.
const WARM_UP: usize = 4;
/// A period that a guest keeps which is written down instruction by instruction.
const PERIOD: Nanos = Nanos::from_millis(50);
/// A step that is written down takes long, the first one longest.
const WATCHDOG: Nanos = Nanos::from_millis(10_000);
/// QEMU's list of the addresses that are written down: the image, whose code is between 1 and 4
/// MiB, and programs in either slot.
const ADDRESSES: &str = "0x100000..0x3fffff,0x78000000..0x7bffffff";
/// The line about the partition that lets QEMU translate its guest.
pub(super) const EMULATED: &str = "guest = { accelerator = \"tcg\" }\n";

pub(super) fn measure(
    program: &Program,
    request: &Request,
    findings: &mut Findings,
) -> Result<(), String> {
    let runs = if findings.is_quick() { RUNS_QUICK } else { RUNS };
    let model = request.model.canonicalize().map_err(|error| format!("the model: {error}"))?;
    let other = Program::of_backend(&model, "qemu", request.cpu, EMULATED)?;
    let (kvm, qemu) = (Own::lay_out(program)?, Other::lay_out(&other)?);
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        own.push(kvm.run()?);
        others.push(qemu.run()?);
    }
    for (backend, counts) in [("kvm", &own), ("qemu", &others)] {
        let of = |place: fn(&Cycles) -> usize| -> Vec<f64> {
            counts.iter().map(|cycles| place(cycles) as f64).collect()
        };
        findings.figure(&format!("a cycle of `{backend}`"), "instr", &of(|it| it.median));
        let most = counts.iter().map(|it| it.most).max().unwrap_or_default();
        let least = counts.iter().map(|it| it.least).min().unwrap_or_default();
        findings.remark(format!("cycles of `{backend}`: {least} to {most} instructions"));
    }
    let of = |counts: &[Cycles]| -> Vec<f64> { counts.iter().map(|it| it.median as f64).collect() };
    let (own, others) = (of(&own), of(&others));
    findings.ratio("instructions of a cycle, `qemu` / `kvm`", &others, &own, Some(GOAL));
    findings.ratio("instructions of a cycle, `kvm` / `qemu`", &own, &others, Some(GOAL));
    findings.not_measured(
        "instructions of a cycle under `xen`: nothing tells a domain's from those of Xen and dom0",
    );
    Ok(())
}

/// The job of a run.
fn job(program: &Program) -> ProgramJob {
    let mut job = ProgramJob { cycles: Some(STEPS), ..program.one_cycle() };
    for task in &mut job.tasks {
        (task.wake, task.deadline, task.watchdog) = (Wake::Sleep, PERIOD, WATCHDOG);
        task.release = ReleaseRule::Cyclic { period: PERIOD, offset: Nanos::ZERO };
    }
    job
}

/// The guest of `kvm`.
struct Own {
    peer: Peer,
    log: PathBuf,
}

impl Own {
    fn lay_out(program: &Program) -> Result<Self, String> {
        let folder = program.folder().join("cycle");
        let peer = Peer::lay_out(&folder, program, &job(program), COUNTER_HZ, true)?;
        Ok(Self { peer, log: folder.join("log") })
    }

    fn run(&self) -> Result<Cycles, String> {
        let mut command = self.peer.written_down(&self.log);
        // An instruction takes a nanosecond of the guest's time, however long it is written down.
        command.args(["-dfilter", ADDRESSES, "-icount", "shift=0,sleep=off"]);
        peer::run(command)?;
        Cycles::of(&self.log, &self.peer.program)
            .map_err(|why| format!("the guest of `kvm`: {why}"))
    }
}

/// The guest of `qemu`.
struct Other<'a> {
    program: &'a Program,
    image: ProgramImage,
    /// The program that becomes the partition's process.
    runtime: PathBuf,
    log: PathBuf,
}

impl<'a> Other<'a> {
    fn lay_out(program: &'a Program) -> Result<Self, String> {
        let folder = program.folder().join("cycle");
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let (log, wrapper) = (folder.join("log"), folder.join("quietcore-runtime"));
        let words = format!("-singlestep -d exec,nochain -dfilter {ADDRESSES} -D {}", quoted(&log));
        let enter = place_in_front_of_qemu(&folder, "", &words)?;
        let words = format!("exec {} {} \"$@\"\n", quoted(&enter), quoted(&runtime()?));
        script(&wrapper, &words)?;
        let bytes = fs::read(&program.job.build.module).map_err(|error| error.to_string())?;
        let image = ProgramImage::parse(&bytes).map_err(|error| error.to_string())?;
        Ok(Self { program, image, runtime: wrapper, log })
    }

    fn run(&self) -> Result<Cycles, String> {
        let job = job(self.program);
        let mut partition = self.program.start_by(&self.runtime, &job, Vec::new())?;
        // It ends by itself after its cycles, in which a step may have been left out.
        let waited = until(&mut partition, "its last step", |it| steps(it) >= STEPS);
        // QEMU has written all down when it has ended.
        partition.stop().map_err(|error| error.to_string())?;
        let failed = |why| {
            let waited = waited.err().unwrap_or_default();
            format!("the guest of `qemu`: {why}; {} steps; {waited}", steps(&partition))
        };
        Cycles::of(&self.log, &self.image).map_err(failed)
    }
}

/// Instructions of the cycles of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cycles {
    least: usize,
    median: usize,
    most: usize,
}

impl Cycles {
    /// Reads QEMU's log of a guest with this program.
    fn of(log: &Path, program: &ProgramImage) -> Result<Self, String> {
        let step = function(program, STEP).ok_or("the program's face can't be read")?;
        assert!(step >= PROGRAM_CODE[0], "a program is where the guest has programs");
        let text = fs::read_to_string(log).map_err(|error| format!("QEMU's log: {error}"))?;
        Self::between(text.lines().filter_map(address_of), step)
            .ok_or_else(|| "the program's step was not called often enough".to_owned())
    }

    /// Counts from each instruction at `step` to the next one. `None` if there are too few.
    fn between(addresses: impl Iterator<Item = u64>, step: u64) -> Option<Self> {
        let starts: Vec<usize> = addresses
            .enumerate()
            .filter_map(|(place, address)| (address == step).then_some(place))
            .collect();
        let cycles = starts.windows(2).map(|pair| pair[1] - pair[0]);
        let mut cycles: Vec<usize> = cycles.skip(WARM_UP).collect();
        cycles.sort_unstable();
        let (least, most) = (*cycles.first()?, *cycles.last()?);
        Some(Self { least, median: cycles[cycles.len() / 2], most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_from_one_step_to_the_next() {
        let cycle = |length: u64| (0..length).map(|place| 100 + place);
        let run: Vec<u64> = [9, 9, 9, 9, 5, 7, 6].into_iter().flat_map(cycle).collect();
        let counted = Cycles::between(run.iter().copied(), 100);
        // The last one has no end, and the first four don't count.
        assert_eq!(counted, Some(Cycles { least: 5, median: 7, most: 7 }));
        assert_eq!(Cycles::between(run.into_iter(), 7), None);
    }
}
