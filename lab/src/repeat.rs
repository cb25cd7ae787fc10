//! `run --record` and `replay`: a run that is written down, and the same run again.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use quietcore_lab::emulator::Broken;
use quietcore_lab::initramfs;
use quietcore_lab::job::Job;
use quietcore_lab::kernel::{self, Kernel};
use quietcore_lab::kind::Kind;
use quietcore_lab::record::{self, Ended, INITRAMFS, KERNEL, Manifest, NoReplay, Recording};
use quietcore_lab::record::{RESULTS_LINE, contents};
use quietcore_linux_guest::modules;
use quietcore_units::Nanos;

use super::{Run, interruption, project, what_to_run};

/// Modules of a recorded machine, which has no shares: interfaces for fieldbuses and partitions.
const MODULES: &[&str] = &["veth", "tun", "sch_tbf"];

/// Repeats a recorded run
///
/// Everything that came from outside (the clock, random numbers) comes again, at the same
/// instruction, so that a failure that depends on it comes again, too. Refused where QEMU, its
/// firmware or a file is not the one of the record.
///
/// Exit status: 0 the run passed when it was recorded, 1 it failed, both times in the same way; 2
/// it could not be replayed, or the replay differs.
#[derive(clap::Args, Debug)]
pub(crate) struct Replay {
    /// The folder of the record: what `run --record` got as `--out`
    folder: PathBuf,
    /// Replays, one after the other, of which each must come out the same
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    times: u32,
    /// Time that each replay may take
    #[arg(long, default_value = "10 min")]
    limit: Nanos,
}

/// Records runs until one fails, as often as was asked for.
pub(crate) fn record(request: &Run) -> Result<i32, Box<dyn Error>> {
    let look = interruption()?;
    let project = project()?;
    let (kind, command) = what_to_run(request, &project)?;
    if kind.hypervisor.is_some() {
        return Err(NoReplay::Kind(kind.name.to_owned()).into());
    }
    let kernel = kernel::fetch(kind, &kernel::cache(), |what| eprintln!("{what}"))?;
    fs::create_dir_all(&request.out)?;
    let out = request.out.canonicalize()?;
    prepare(request, kind, &kernel, &project, &command, &out)?;
    let memory_mib = request.memory.unwrap_or(kind.memory_mib);
    let recording = Recording { kind, memory_mib, command: &command, folder: &out };
    let limit = Duration::from_nanos(request.limit.get());
    for attempt in 1..=request.tries {
        let begun = Instant::now();
        let manifest = watched("recording", &look, |look| recording.record(limit, look))?;
        let took = begun.elapsed().as_secs_f64();
        eprintln!("run {attempt} of {}: {} after {took:.1} s", request.tries, how(manifest.ended));
        if manifest.ended != Ended::Status(0) || attempt == request.tries {
            return Ok(conclude(&manifest, &out)?);
        }
    }
    unreachable!("there is one run at least")
}

/// Puts kernel and initramfs into the folder of the record.
fn prepare(
    request: &Run,
    kind: &Kind,
    kernel: &Kernel,
    project: &Path,
    command: &[String],
    out: &Path,
) -> Result<(), Box<dyn Error>> {
    let limit = Duration::from_nanos(request.limit.get());
    let kernels: Vec<&str> = kind.modules.iter().chain(MODULES).copied().collect();
    let job = Job {
        modules: modules::in_order(&kernel.modules, &kernels)?,
        layers: Vec::new(),
        hypervisor_programs: None,
        directory: project.to_owned(),
        project: project.to_owned(),
        command: command.to_vec(),
        results_to: Some(RESULTS_LINE.into()),
        tell_after: request.tell_after.map_or(limit * 4 / 5, |it| Duration::from_nanos(it.get())),
    };
    let files = contents::files(project, command, &request.with)?;
    let init = std::env::current_exe()?.with_file_name("quietcore-lab-init");
    initramfs::write(&out.join(INITRAMFS), &init, &job, &files)?;
    fs::copy(&kernel.image, out.join(KERNEL))?;
    Ok(())
}

/// Replays a record as often as was asked for.
pub(crate) fn replay(request: &Replay) -> Result<i32, Box<dyn Error>> {
    let look = interruption()?;
    let limit = Duration::from_nanos(request.limit.get());
    let mut status = 0;
    for attempt in 1..=request.times {
        let scratch = tempfile::tempdir()?;
        let begun = Instant::now();
        let replayed = watched("replaying", &look, |look| {
            record::replay(&request.folder, scratch.path(), limit, look)
        });
        if let Err(NoReplay::Diverged { .. }) = replayed {
            // The error names the folder.
            let _ = scratch.keep();
        }
        let manifest = replayed?;
        let took = begun.elapsed().as_secs_f64();
        if attempt == request.times {
            status = conclude(&manifest, &request.folder)?;
        }
        eprintln!("replay {attempt} of {}: the same after {took:.1} s", request.times);
    }
    Ok(status)
}

/// Does work that calls a closure again and again, which tells of it and says whether it goes on.
fn watched<T>(
    what: &str,
    look: impl Fn() -> bool,
    work: impl FnOnce(&mut dyn FnMut() -> bool) -> T,
) -> T {
    let progress = ProgressBar::new_spinner();
    progress.enable_steady_tick(Duration::from_millis(200));
    let begun = Instant::now();
    let done = work(&mut || {
        progress.set_message(format!("{what}, {} s", begun.elapsed().as_secs()));
        look()
    });
    progress.finish_and_clear();
    done
}

/// Shows the console of a run, and how it ended. Returns the exit status of the scenario.
fn conclude(manifest: &Manifest, folder: &Path) -> Result<i32, Broken> {
    let console = fs::read(folder.join(record::CONSOLE)).map_err(Broken::NoEmulator)?;
    print!("{}", String::from_utf8_lossy(&console));
    eprintln!("{}; the record is in {}", how(manifest.ended), folder.display());
    Ok(match manifest.ended {
        Ended::Status(status) => status,
        Ended::Early | Ended::CutOff => 1,
    })
}

fn how(ended: Ended) -> String {
    match ended {
        Ended::Status(status) => format!("status {status}"),
        Ended::Early => "the machine ended before the scenario did".to_owned(),
        Ended::CutOff => "cut off at its limit".to_owned(),
    }
}
