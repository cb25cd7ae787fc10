//! `quietcore-lab`: starts a virtual test machine, runs a scenario in it and brings the results
//! back.

#![forbid(unsafe_code)]

mod repeat;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};
use indicatif::ProgressBar;
use quietcore_lab::emulator::{Broken, Machine};
use quietcore_lab::job::{ALIVE, Job, STATUS};
use quietcore_lab::kernel::Kernel;
use quietcore_lab::kind::{self, KINDS, Kind, MODULES};
use quietcore_lab::scenario::Scenario;
use quietcore_lab::standstill::{ANEW_MAX, run_anew};
use quietcore_lab::{initramfs, kernel, scenario};
use quietcore_linux_guest::modules;
use quietcore_linux_guest::modules::NoModule;
use quietcore_units::Nanos;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Begins the names of consoles of machines that were started anew.
const EARLIER_CONSOLES: &str = "console-stood-still-";

/// Virtual test machines: what needs PREEMPT_RT or KVM, on a machine that has neither
///
/// QEMU emulates the processor: what a scenario finds says what a kernel does, and never how long
/// that takes. Kernels are Debian's; they are fetched once.
///
/// Exit status: 0 the scenario passed, 1 it failed, 2 it could not be run to its end.
#[derive(Debug, Parser)]
#[command(name = "quietcore-lab")]
struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Runs a scenario, or a command, in a machine of its own
    Run(Box<Run>),
    Replay(repeat::Replay),
    /// Lists the kinds of machines and the scenarios
    List,
    /// Fetches the kernel of a kind, and does nothing else
    Fetch {
        #[arg(value_parser = kind)]
        kind: &'static Kind,
    },
}

#[derive(Args, Debug)]
struct Run {
    /// The scenario's name; see `list`
    #[arg(required_unless_present = "command")]
    scenario: Option<String>,
    /// The kind of machine [default: the scenario's first, or rt]
    #[arg(long, value_parser = kind)]
    kind: Option<&'static Kind>,
    /// The folder that gets the results: `console.txt`, and what the scenario leaves in `$OUT`
    #[arg(long, default_value = "lab-out")]
    out: PathBuf,
    /// Number of processors of the machine; a recorded one has one
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=16))]
    processors: u8,
    /// Memory of the machine, in MiB [default: 1024; of kind xen 2048]
    #[arg(long, value_parser = clap::value_parser!(u32).range(256..=65536))]
    memory: Option<u32>,
    /// Time that the scenario may take
    #[arg(long, default_value = "10 min")]
    limit: Nanos,
    /// Time since its start after which the machine tells on its console what hangs [default: four
    /// fifths of the limit]
    #[arg(long)]
    tell_after: Option<Nanos>,
    /// Lets time follow the number of instructions, so that runs can be compared by their count
    #[arg(long)]
    count_instructions: bool,
    /// Lets the processors take turns in one thread of the emulator: none of them runs the kernel's
    /// code while another one replaces it
    #[arg(long)]
    take_turns: bool,
    /// Records the run, so that `replay` can repeat it instruction by instruction
    ///
    /// The machine sees no files of this one, but usual programs of a shell, those given by
    /// `--with`, and files that its command names. Results are in the folder `results`.
    #[arg(long, conflicts_with_all = ["take_turns", "count_instructions", "processors"])]
    record: bool,
    /// A further program of the recorded machine by its name, or file by its path
    #[arg(long, requires = "record", value_name = "FILE")]
    with: Vec<String>,
    /// Records again until a run fails, so often at most; the last run is kept
    #[arg(
        long,
        requires = "record",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    tries: u32,
    /// A command in place of a scenario, behind `--`
    #[arg(last = true, conflicts_with = "scenario")]
    command: Vec<String>,
}

fn kind(name: &str) -> Result<&'static Kind, String> {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    kind::find(name).ok_or_else(|| format!("there is no such kind; there are {}", names.join(", ")))
}

fn main() -> ExitCode {
    let done = match Arguments::parse().action {
        Action::Run(request) if request.record => repeat::record(&request),
        Action::Run(request) => run(&request),
        Action::Replay(request) => repeat::replay(&request),
        Action::List => list(),
        Action::Fetch { kind } => fetch(kind),
    };
    match done {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("quietcore-lab: {error}");
            ExitCode::from(2)
        }
    }
}

fn list() -> Result<i32, Box<dyn Error>> {
    println!("kinds");
    for kind in KINDS {
        println!("  {:<10} {}", kind.name, kind.about);
    }
    println!("scenarios");
    for scenario in scenario::all(&project()?.join("lab/scenarios"))? {
        let kinds: Vec<&str> = scenario.kinds.iter().map(|kind| kind.name).collect();
        println!("  {:<10} {} ({})", scenario.name, scenario.about, kinds.join(", "));
    }
    Ok(0)
}

fn fetch(kind: &Kind) -> Result<i32, Box<dyn Error>> {
    let kernel = kernel::fetch(kind, &kernel::cache(), |what| eprintln!("{what}"))?;
    println!("{}", kernel.image.display());
    Ok(0)
}

fn run(request: &Run) -> Result<i32, Box<dyn Error>> {
    let goes_on = interruption()?;
    let project = project()?;
    let (kind, command) = what_to_run(request, &project)?;
    let progress = ProgressBar::new_spinner();
    progress.enable_steady_tick(Duration::from_millis(200));
    let kernel = kernel::fetch(kind, &kernel::cache(), |what| {
        progress.set_message(what.to_owned());
    })?;
    let limit = Duration::from_nanos(request.limit.get());
    let job = job(request, kind, &kernel, &project, command)?;
    let scratch = tempfile::tempdir()?;
    let initramfs = scratch.path().join("initramfs");
    let init = std::env::current_exe()?.with_file_name("quietcore-lab-init");
    initramfs::write(&initramfs, &init, &job, &BTreeMap::new())?;
    let out = prepare(&request.out)?;
    let machine = Machine {
        kind,
        kernel: &kernel,
        initramfs: &initramfs,
        project: &project,
        out: &out,
        console: &out.join("console.txt"),
        resets: &out.join("resets.txt"),
        processors: request.processors,
        memory_mib: request.memory.unwrap_or(kind.memory_mib),
        counts_instructions: request.count_instructions,
        takes_turns: request.take_turns,
    };
    let started = Instant::now();
    let there = names_in(&out)?;
    let look = || {
        progress.set_message(format!("machine {}, {} s", kind.name, started.elapsed().as_secs()));
        goes_on()
    };
    let before_anew = |anew, why: &Broken| {
        progress.suspend(|| {
            eprintln!(
                "quietcore-lab: {why}; this emulator does so now and then; started anew ({anew} \
                 of {ANEW_MAX})"
            );
        });
        begin_anew(&machine, &there, anew).map_err(Broken::NoEmulator)
    };
    let ended = run_anew(|| machine.run(limit, look), before_anew);
    progress.finish_and_clear();
    print!("{}", String::from_utf8_lossy(&fs::read(machine.console)?));
    match ended {
        Ok(status) => {
            let took = started.elapsed().as_secs_f64();
            eprintln!("status {status} after {took:.1} s; results are in {}", out.display());
            Ok(status)
        }
        // What it ended with has just been shown.
        Err(Broken::Early { status, .. }) => {
            Err(format!("the machine ended before the scenario did ({status})").into())
        }
        Err(broken) => Err(broken.into()),
    }
}

/// Returns a closure that returns `false` once somebody has asked this program to end.
fn interruption() -> io::Result<impl Fn() -> bool> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&is_interrupted))?;
    }
    Ok(move || !is_interrupted.load(Relaxed))
}

/// The job of a machine that runs this command.
fn job(
    request: &Run,
    kind: &Kind,
    kernel: &Kernel,
    project: &Path,
    command: Vec<String>,
) -> Result<Job, NoModule> {
    let limit = Duration::from_nanos(request.limit.get());
    let names: Vec<&str> = [MODULES, kind.modules].concat();
    Ok(Job {
        modules: modules::in_order(&kernel.modules, &names)?,
        layers: kernel.layers().into_iter().map(|(tag, _)| tag).collect(),
        hypervisor_programs: kind.hypervisor.map(|it| PathBuf::from(it.programs)),
        directory: project.to_owned(),
        project: project.to_owned(),
        command,
        results_to: None,
        tell_after: request.tell_after.map_or(limit * 4 / 5, |it| Duration::from_nanos(it.get())),
    })
}

fn what_to_run(
    request: &Run,
    project: &Path,
) -> Result<(&'static Kind, Vec<String>), Box<dyn Error>> {
    let Some(name) = &request.scenario else {
        return Ok((request.kind.unwrap_or(&KINDS[0]), request.command.clone()));
    };
    let scenarios = scenario::all(&project.join("lab/scenarios"))?;
    let found = scenarios.iter().find(|scenario| scenario.name == *name);
    let Scenario { kinds, path, .. } =
        found.ok_or_else(|| format!("there is no scenario `{name}`; see `quietcore-lab list`"))?;
    let kind = request.kind.unwrap_or(kinds[0]);
    if !kinds.contains(&kind) {
        let possible: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        let possible = possible.join(", ");
        return Err(
            format!("scenario `{name}` is for {possible}, and not for {}", kind.name).into()
        );
    }
    Ok((kind, vec!["bash".to_owned(), path.display().to_string()]))
}

/// The folder of the project: the first one from here upwards that holds the scenarios.
fn project() -> io::Result<PathBuf> {
    let here = std::env::current_dir()?;
    let found = here.ancestors().find(|folder| folder.join("lab/scenarios").is_dir());
    found.map(Path::to_owned).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "call it in the project: no lab/scenarios here")
    })
}

/// Makes the folder of results, without those of a run before.
fn prepare(out: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(out)?;
    for name in [STATUS, ALIVE] {
        match fs::remove_file(out.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    out.canonicalize()
}

fn names_in(folder: &Path) -> io::Result<BTreeSet<OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Takes away what a machine that stood still left, but for what was `there` before it, and keeps
/// its console under another name, as those of machines before it.
fn begin_anew(machine: &Machine<'_>, there: &BTreeSet<OsString>, anew: u32) -> io::Result<()> {
    let console = fs::read(machine.console)?;
    let is_kept = |name: &OsString| name.to_string_lossy().starts_with(EARLIER_CONSOLES);
    for name in names_in(machine.out)?.difference(there).filter(|name| !is_kept(name)) {
        let path = machine.out.join(name);
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    prepare(machine.out)?;
    fs::write(machine.out.join(format!("{EARLIER_CONSOLES}{anew}.txt")), console)
}
