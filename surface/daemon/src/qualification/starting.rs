//! The start of a run: the product's own program, which outlives the daemon.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use super::asked::CheckedRun;
use super::kept::{RunError, Runs};
use crate::command_line;
use crate::cpus;
use crate::failure::CallError;

/// Starts the program of a run in `folder`, with the lock of runs as its standard input: the kernel
/// has it held as long as a process of the run is there, and the daemon need not be.
///
/// # Errors
/// [`RunError::Start`] when the program is not there, or can't be started.
pub(super) fn start(
    runs: &Runs,
    run: &CheckedRun,
    site: &Path,
    folder: &Path,
    lock: File,
) -> Result<(), CallError> {
    let program = runs.program();
    let log_path = folder.join("log");
    let log = File::create(&log_path).map_err(RunError::at(&log_path))?;
    let also = log.try_clone().map_err(RunError::at(&log_path))?;
    let mut command = command_line::command(&program, runs.places())?;
    command.arg(run.kind.verb()).arg(site).args(&run.options).arg("--detached");
    command.arg("--progress").arg(folder.join("progress.json"));
    command.arg("--out").arg(folder.join("evidence"));
    command.stdin(Stdio::from(lock)).stdout(log).stderr(also).current_dir(folder);
    Ok(spawn(command).map_err(|source| RunError::Start { program, source })?)
}

/// Starts a program on all CPUs that the daemon was given, and waits for its end on a thread.
fn spawn(mut command: Command) -> std::io::Result<()> {
    let child = cpus::start_apart(&mut command)?;
    thread::Builder::new().name("run".to_owned()).spawn(move || wait(child))?;
    // The lock is the run's alone when the command is dropped here.
    Ok(())
}

/// Waits for the end of a run, so that nothing of it is left in the table of processes.
fn wait(mut child: Child) {
    let number = child.id();
    let _ = child.wait();
    cpus::forget(number);
}
