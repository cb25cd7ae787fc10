//! The product's own command line, started by the daemon.
//!
//! A site that is brought up by a call is brought up by `quietcore up`, the program beside the
//! daemon's own. It leads a process group of its own and writes into files, so that it goes on when
//! the daemon is killed.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_supervisor::places::{Places, STATE_VARIABLE};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::command_line;
use crate::cpus;
use crate::failure::CallError;

/// The longest time in which a site is brought up or down, builds of its programs included.
pub const APPLY_TIME_MAX: Duration = Duration::from_secs(900);
/// The longest time of a plan, builds of its programs included.
pub const PLAN_TIME_MAX: Duration = Duration::from_secs(600);
/// The most bytes of a command's output that are read; of more the last ones are.
pub const OUTPUT_BYTES_MAX: u64 = 1 << 20;
/// The most lines of an answer; of more the last ones are sent.
pub const LINES_MAX: usize = 100;

/// Time that a command has to end in an orderly way when it is asked to.
const END_TIME_MAX: Duration = Duration::from_secs(60);
/// Time between two looks at a command.
const LOOK: Duration = Duration::from_millis(20);
/// Name of the program, beside the daemon's.
const PROGRAM: &str = "quietcore";

/// A command that is to be run.
pub(super) struct Request<'a> {
    pub(super) arguments: &'a [&'a str],
    /// Path of a site file, the last argument.
    pub(super) site_file: Option<&'a Path>,
    /// Folder of state in place of the daemon's, for what is not to be kept.
    pub(super) state: Option<&'a Path>,
    /// A file that stays open until the command has ended, such as one that is locked.
    pub(super) held: Option<&'a File>,
    pub(super) time_max: Duration,
}

/// A command that has ended.
pub(super) struct Ended {
    pub(super) is_success: bool,
    pub(super) output: String,
    /// The last lines that it has said to a person.
    pub(super) lines: Vec<String>,
}

/// Runs a command to its end, with its output in a folder.
///
/// # Errors
/// `FAILED_PRECONDITION` where the program is missing, can't be started or takes too long; it is
/// asked to end then.
pub(super) fn run(
    places: &Places,
    folder: &Path,
    request: &Request<'_>,
) -> Result<Ended, CallError> {
    let own = std::env::current_exe().map_err(|error| unusable(Path::new(PROGRAM), &error))?;
    let program = own.with_file_name(PROGRAM);
    if !program.is_file() {
        return Err(CallError::NotNow(format!(
            "`{}` is missing; install it beside the daemon, both come from one build",
            program.display()
        )));
    }
    let (output, said) = (folder.join("output"), folder.join("said"));
    let made = |path: &Path| File::create(path).map_err(|error| unusable(path, &error));
    let mut command = command_line::command(&program, places)?;
    command.args(request.arguments).args(request.site_file).current_dir("/").process_group(0);
    command.stdout(made(&output)?).stderr(made(&said)?).stdin(stdin(request.held)?);
    command.env("NO_COLOR", "1");
    if let Some(state) = request.state {
        command.env(STATE_VARIABLE, state);
    }
    let started = cpus::start_apart(&mut command);
    let mut child = started.map_err(|error| unusable(&program, &error))?;
    let is_success = wait(&mut child, request.time_max);
    cpus::forget(child.id());
    let is_success = is_success?;
    let read = |path: &Path| tail(path).map_err(|error| unusable(path, &error));
    let said = read(&said)?;
    let lines: Vec<String> = said.lines().map(str::to_owned).collect();
    let lines = lines[lines.len().saturating_sub(LINES_MAX)..].to_vec();
    Ok(Ended { is_success, output: read(&output)?, lines })
}

fn stdin(held: Option<&File>) -> Result<Stdio, CallError> {
    let Some(held) = held else { return Ok(Stdio::null()) };
    Ok(held.try_clone().map_err(|error| unusable(Path::new(PROGRAM), &error))?.into())
}

/// Waits for the end of a child and returns `true` if it has done what was asked.
fn wait(child: &mut Child, time_max: Duration) -> Result<bool, CallError> {
    let begun = Instant::now();
    let mut is_asked = false;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if !is_asked => return Ok(status.success()),
            Ok(Some(_)) => return Err(too_long(time_max)),
            Ok(None) => {}
            Err(error) => return Err(unusable(Path::new(PROGRAM), &error)),
        }
        let pid = Pid::from_raw(child.id().cast_signed());
        if !is_asked && begun.elapsed() > time_max {
            is_asked = true;
            let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
        }
        if begun.elapsed() > time_max + END_TIME_MAX {
            let _ = pid.map(|pid| kill_process_group(pid, Signal::KILL));
        }
        thread::sleep(LOOK);
    }
}

fn too_long(time_max: Duration) -> CallError {
    CallError::NotNow(format!(
        "`{PROGRAM}` took longer than {} s and was ended; see what runs",
        time_max.as_secs()
    ))
}

fn unusable(path: &Path, error: &io::Error) -> CallError {
    CallError::NotNow(format!("`{}` can't be used: {error}", path.display()))
}

/// Reads the last bytes of a file.
fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let beyond = fs::metadata(path)?.len().saturating_sub(OUTPUT_BYTES_MAX);
    file.seek(SeekFrom::Start(beyond))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_child_that_takes_too_long_is_asked_to_end() {
        let mut child = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let refused = wait(&mut child, Duration::ZERO).unwrap_err().to_string();
        assert!(refused.contains("took longer than 0 s"), "{refused}");
    }

    #[test]
    fn of_a_long_output_the_end_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("said");
        let long = "a".repeat(usize::try_from(OUTPUT_BYTES_MAX).unwrap()) + "end";
        fs::write(&path, long).unwrap();
        let read = tail(&path).unwrap();
        assert!(read.len() as u64 == OUTPUT_BYTES_MAX && read.ends_with("aend"));
    }
}
