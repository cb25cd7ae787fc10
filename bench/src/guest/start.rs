//! Measures how soon a partition runs, beside QEMU's `microvm` with the same guest.
//!
//! ```text
//! own    start ─ process ─ monitor ─ guest ─ first cycle ─┬─ guest's end ─ process's end
//!                                                         └─ seen in the exchange
//! QEMU   start ─ process ─ monitor ─ firmware ─ guest ─ first cycle ─ guest's end ─ process's end
//! ```
//!
//! Both are whole commands, at ordinary priority on any CPU, and take turns; the first pair doesn't
//! count. Ours makes the exchange too, and has its memory locked, present and in a sandbox.
//!
//! Beside them stands what no monitor can do without: a process that ends at once, and KVM's part
//! of a machine with one slot, one processor and nothing in it.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_microvm::image::GuestAddress;
use quietcore_microvm::machine::Machine;
use quietcore_microvm::memory::Memory;
use quietcore_process::exchange::ExchangeView;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::places::Places;
use quietcore_units::{ByteSize, Causes};
use rustix::process::{Pid, Signal, kill_process};

use super::peer::{self, Parts, Peer};
use super::program::{Program, steps, until};
use crate::findings::{Findings, Goal};
use crate::site::{Stand, runtime};

/// Our start is to be so many times faster.
const GOAL: Goal = Goal::AtLeast(5.0);
/// The longest that a site may take to its first cycle.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time between two looks at a site.
const GLANCE: Duration = Duration::from_micros(500);

/// The parts of a start of ours, in µs.
struct Own {
    first_cycle: f64,
    whole: f64,
}

/// Our monitor and QEMU's, in turn.
pub(super) fn measure(
    program: &Program,
    rounds: usize,
    findings: &mut Findings,
) -> Result<(), String> {
    let peer = laid_out(program)?;
    let (mut first_cycle, mut whole) = (Vec::new(), Vec::new());
    let (mut usual, mut fewest) = (Vec::new(), Vec::new());
    let (mut process, mut machine) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        // The order turns with the rounds.
        for place in 0..4 {
            let counts = round > 0;
            match (round + place) % 4 {
                0 => {
                    let own = start(program)?;
                    first_cycle.extend(counts.then_some(own.first_cycle));
                    whole.extend(counts.then_some(own.whole));
                }
                1 => usual.extend(Some(start_peer(&peer, Parts::Usual)?).filter(|_| counts)),
                2 => fewest.extend(Some(start_peer(&peer, Parts::Fewest)?).filter(|_| counts)),
                _ => {
                    process.extend(Some(start_nothing()?).filter(|_| counts));
                    machine.extend(Some(least_machine()?).filter(|_| counts));
                }
            }
        }
    }
    findings.figure("start to the end of the first cycle", "ms", &milli(&first_cycle));
    findings.figure("start to the end of the process", "ms", &milli(&whole));
    for (name, qemu) in [("QEMU's microvm", &usual), ("the least microvm", &fewest)] {
        findings.figure(&format!("start to the end of {name}"), "ms", &milli(qemu));
        findings.ratio(&format!("start, {name} / first cycle"), qemu, &first_cycle, Some(GOAL));
        findings.ratio(&format!("start, {name} / own, whole"), qemu, &whole, Some(GOAL));
    }
    findings.figure("start to the end of `true`", "ms", &milli(&process));
    findings.figure("KVM's part of a machine with nothing in it", "ms", &milli(&machine));
    findings.remark(format!("the peer is {}; the least one has qboot", peer::version()?));
    Ok(())
}

/// A whole site, with a program that was built before: by the command, by its supervisor without
/// what the command does first, and QEMU in turn.
pub(super) fn measure_up(
    program: &Program,
    rounds: usize,
    findings: &mut Findings,
) -> Result<(), String> {
    let peer = laid_out(program)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let stand = Stand::new(program.site_file(), folder)?;
    let (mut up, mut supervisor, mut qemu) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds {
        let took = (
            bring_up(program.site_file(), program.folder(), None)?,
            supervise(&stand)?,
            start_peer(&peer, Parts::Usual)?,
        );
        // The first one builds the program.
        if round > 0 {
            up.push(took.0);
            supervisor.push(took.1);
            qemu.push(took.2);
        }
    }
    for (name, own) in [("`quietcore up`", &up), ("its supervisor", &supervisor)] {
        findings.figure(&format!("{name} to the end of the first cycle"), "ms", &milli(own));
        findings.ratio(&format!("start, QEMU's microvm / {name}"), &qemu, own, Some(GOAL));
    }
    Ok(())
}

fn laid_out(program: &Program) -> Result<Peer, String> {
    let folder = program.folder().join("qemu");
    Peer::lay_out(&folder, program, &program.one_cycle(), peer::counter_hz()?, false)
}

pub(super) fn milli(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value / 1000.0).collect()
}

fn since(begin: Instant) -> f64 {
    begin.elapsed().as_nanos() as f64 / 1000.0
}

/// A partition of ours, from its start to its end.
fn start(program: &Program) -> Result<Own, String> {
    let job = program.one_cycle();
    let begin = Instant::now();
    let mut partition = program.start(&job, Vec::new())?;
    until(&mut partition, "a first cycle", |partition| steps(partition) > 0)?;
    let first_cycle = since(begin);
    let status = partition.stop().map_err(|error| error.to_string())?;
    let whole = since(begin);
    if status.success() {
        Ok(Own { first_cycle, whole })
    } else {
        Err(format!("the partition ended with {status}: {}", partition.take_remarks()))
    }
}

/// A process that ends at once, in µs.
fn start_nothing() -> Result<f64, String> {
    let begin = Instant::now();
    let status = Command::new("true").status().map_err(|error| format!("true: {error}"))?;
    if status.success() { Ok(since(begin)) } else { Err(format!("`true` ended with {status}")) }
}

/// A machine of KVM with one slot, whose pages are not there, and a processor that does not run, in
/// µs.
fn least_machine() -> Result<f64, String> {
    let memory =
        Memory::new(ByteSize::new(2 << 20), false).map_err(|error| Causes(&error).to_string())?;
    let begin = Instant::now();
    let machine = Machine::new(memory).map_err(|error| Causes(&error).to_string())?;
    let processor = machine.processor(0, GuestAddress(0)).map_err(|error| error.to_string())?;
    let took = since(begin);
    drop(processor);
    Ok(took)
}

/// QEMU from its start to its end, in µs.
fn start_peer(peer: &Peer, parts: Parts) -> Result<f64, String> {
    let command = peer.under_kvm(parts);
    let begin = Instant::now();
    peer::run(command)?;
    Ok(since(begin))
}

/// A site that is ended when nobody waits for it any more.
struct Up(Child);

impl Drop for Up {
    fn drop(&mut self) {
        if let Some(process) = Pid::from_raw(self.0.id().cast_signed()) {
            // It may have ended by itself.
            let _ = kill_process(process, Signal::TERM);
        }
        let _ = self.0.wait();
    }
}

/// Does what `quietcore up` does once it has looked at the machine, to the first cycle; returns µs.
fn supervise(stand: &Stand) -> Result<f64, String> {
    let work = || {
        let begin = Instant::now();
        let life = stand.up()?;
        let begun = life.moment()?;
        life.cycles_since(&begun, 1)?;
        Ok(since(begin))
    };
    // In a thread of its own: it keeps to the housekeeping CPUs from then on.
    thread::scope(|scope| scope.spawn(work).join().map_err(|_| "it panicked".to_owned()))?
}

/// `quietcore up` from its start to the first cycle of the partition `axis`, in µs. All that it
/// leaves is in `folder`. It is run by `enter`, if any, a program that runs its arguments.
pub(super) fn bring_up(site: &Path, folder: &Path, enter: Option<&Path>) -> Result<f64, String> {
    let program = runtime()?.with_file_name("quietcore");
    let (run, state) = (folder.join("run"), folder.join("state"));
    let remarks = folder.join("remarks");
    let errors = File::create(&remarks).map_err(|error| error.to_string())?;
    let mut command = Command::new(enter.unwrap_or(&program));
    command.args(enter.map(|_| &program)).args([Path::new("up"), site]);
    command.env("QUIETCORE_RUN_DIR", &run).env("QUIETCORE_STATE_DIR", &state);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    let begin = Instant::now();
    let child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
    let mut up = Up(child);
    let places = Places::new(run, state);
    let mut exchange: Option<ExchangeView> = None;
    loop {
        exchange = exchange.or_else(|| open(&places));
        let task = exchange.as_ref().and_then(|exchange| exchange.view().task(0));
        if task.is_some_and(|task| task.completed_steps() > 0) {
            return Ok(since(begin));
        }
        if let Some(status) = up.0.try_wait().map_err(|error| error.to_string())? {
            let said = fs::read_to_string(&remarks).unwrap_or_default();
            return Err(format!("`quietcore up` ended with {status}: {}", said.trim()));
        }
        if begin.elapsed() > PATIENCE {
            return Err(format!("no cycle within {} s", PATIENCE.as_secs()));
        }
        thread::sleep(GLANCE);
    }
}

/// The exchange of the site's partition; `None` while there is none.
fn open(places: &Places) -> Option<ExchangeView> {
    let mut client = Client::connect(places, None).ok()?;
    let (_, file) = client.open("axis").ok()?;
    ExchangeView::open(file).ok()
}
