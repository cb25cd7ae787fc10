//! The first process of a virtual test machine: makes the machine ready, runs the job, leaves its
//! status, and switches the machine off.
//!
//! Its root becomes the share of the host's file system, which is read-only; what programs write
//! to (`/tmp`, `/run`, `/var/tmp`) is memory. A machine that is recorded has no shares: its root
//! remains the initramfs, and its results leave by a serial line.

#![forbid(unsafe_code)]

mod dom0;
mod hanging;
mod held;
mod mounts;
mod results;

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use quietcore_lab::job::{ALIVE, JOB, Job, OUT, STATUS};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};
use rustix::system::{RebootCommand, finit_module, reboot};
use rustix::time::{ClockId, clock_gettime};

/// Exit status of a shell for a command that can't be started.
const NOT_STARTED: i32 = 127;
/// The folders in which programs are looked for.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn main() -> ExitCode {
    if std::process::id() != 1 {
        eprintln!(
            "this is the first process of a virtual test machine; see `quietcore-lab --help`"
        );
        return ExitCode::from(2);
    }
    if let Err(error) = work() {
        eprintln!("quietcore-lab: the machine can't be made ready: {error}");
    }
    rustix::fs::sync();
    // The first process can't end: the kernel would panic.
    if let Err(error) = reboot(RebootCommand::PowerOff) {
        eprintln!("quietcore-lab: the machine can't be switched off: {error}");
    }
    ExitCode::FAILURE
}

fn work() -> Result<(), Box<dyn Error>> {
    let job: Job = serde_json::from_slice(&fs::read(JOB)?)?;
    for module in &job.modules {
        load(module)?;
    }
    if job.results_to.is_some() {
        mounts::make_alone(&job.directory)?;
    } else {
        mounts::make(&job.project, &job.layers)?;
        let shares = [PathBuf::from("/"), job.project.clone()];
        thread::Builder::new().name("beat".to_owned()).spawn(move || beat(&shares))?;
    }
    let tell_after = job.tell_after;
    thread::Builder::new()
        .name("hanging".to_owned())
        .spawn(move || hanging::tell_after(tell_after))?;
    let up = Command::new("ip").args(["link", "set", "lo", "up"]).env("PATH", PATH).status();
    up.map_err(|error| format!("ip: {error}"))?;
    if let Some(programs) = &job.hypervisor_programs {
        dom0::start(programs)?;
    }
    let _held = held::Held::machines();
    let status = run(&job);
    fs::write(Path::new(OUT).join(STATUS), format!("{status}\n"))?;
    if let Some(device) = &job.results_to {
        results::send(device)?;
    }
    Ok(())
}

/// Tells each second that this machine does not stand still: neither its processors nor any of its
/// devices. A share is asked for its size, which is kept nowhere in the machine's memory.
fn beat(shares: &[PathBuf]) {
    let path = Path::new(OUT).join(ALIVE);
    loop {
        for share in shares {
            let _ = rustix::fs::statfs(share);
        }
        let seconds = clock_gettime(ClockId::Boottime).tv_sec;
        // A share that can't be written to will be told of when the status is left there.
        let _ = fs::write(&path, format!("{seconds}\n"));
        thread::sleep(Duration::from_secs(1));
    }
}

fn load(module: &Path) -> Result<(), Box<dyn Error>> {
    let file = File::open(module)?;
    finit_module(&file, c"", 0).map_err(|error| format!("module {}: {error}", module.display()))?;
    Ok(())
}

/// The job's exit status, as a shell tells it.
fn run(job: &Job) -> i32 {
    let Some((program, arguments)) = job.command.split_first() else { return 0 };
    let started = Command::new(program)
        .args(arguments)
        .current_dir(&job.directory)
        .env_clear()
        .env("PATH", PATH)
        .env("HOME", "/tmp")
        .env("LANG", "C.UTF-8")
        .env("OUT", OUT)
        .spawn();
    let ended = match started {
        Ok(child) => wait_for(Pid::from_child(&child)),
        Err(error) => {
            eprintln!("quietcore-lab: can't run {program}: {error}");
            return NOT_STARTED;
        }
    };
    match ended {
        Ok(status) => {
            let by_signal = || status.terminating_signal().map(|signal| 128 + signal);
            status.exit_status().or_else(by_signal).unwrap_or(1)
        }
        Err(error) => {
            eprintln!("quietcore-lab: can't wait for {program}: {error}");
            1
        }
    }
}

/// Waits for a process, and collects all others that end meanwhile: those whose parents have ended
/// are the first process's, and a program that ended one of them looks whether it is gone.
fn wait_for(process: Pid) -> rustix::io::Result<WaitStatus> {
    loop {
        match retry_on_intr(|| wait(WaitOptions::empty()))? {
            Some((ended, status)) if ended == process => return Ok(status),
            _ => {}
        }
    }
}
