//! One command of a campaign as a process of its own: what it prints goes to a file.
//!
//! A process of its own, since a command may change what is the whole program's, such as its
//! working folder, and since one that fails must not end the others.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_record::published::reproduction::Outcome;
use rustix::process::{Pid, Signal, kill_process};

/// Time between two looks at a process.
const LOOK: Duration = Duration::from_millis(100);
/// Longest time in which a command that was told to stop ends by itself: it puts settings back and
/// writes what it has measured.
const STOP_MAX: Duration = Duration::from_secs(60);
/// Limit of what is read of an error, in bytes, and in lines from its end.
const ERROR_BYTES_MAX: u64 = 8 << 10;
const ERROR_LINES_MAX: usize = 3;

/// The process that a campaign's command is told to end with, by its number.
pub(crate) const ENDS_WITH: &str = "QUIETCORE_ENDS_WITH";

/// Runs a command in a folder, with its output in `printed`. `look` is called again and again.
pub(super) fn run(
    words: &[String],
    folder: &Path,
    printed: &Path,
    stop: &AtomicBool,
    mut look: impl FnMut(),
) -> io::Result<Outcome> {
    let mut errors = tempfile::tempfile()?;
    let output = File::create(printed).map_err(|error| {
        let why = format!("`{}` can't be written: {error}", printed.display());
        io::Error::new(error.kind(), why)
    })?;
    let begun = Instant::now();
    let mut child = Command::new(std::env::current_exe()?)
        .args(words)
        .current_dir(folder)
        .env(ENDS_WITH, std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors.try_clone()?)
        // So that Ctrl-C reaches it once, from here.
        .process_group(0)
        .spawn()?;
    let mut told = None;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if stop.load(Ordering::Relaxed) {
            tell_to_stop(&mut child, told.get_or_insert_with(|| (Instant::now(), false)))?;
        }
        look();
        thread::sleep(LOOK);
    };
    let took_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(match status.code() {
        _ if told.is_some() => Outcome::Interrupted,
        Some(0 | 1) => Outcome::Done { took_ns },
        Some(_) => Outcome::Refused { because: last_lines(&mut errors)? },
        None => Outcome::Refused { because: format!("it was ended from outside ({status})") },
    })
}

/// Tells a process to stop, once; ends it if it has not stopped in time.
fn tell_to_stop(child: &mut Child, (since, is_told): &mut (Instant, bool)) -> io::Result<()> {
    if !std::mem::replace(is_told, true)
        && let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    {
        kill_process(pid, Signal::INT)?;
    }
    if since.elapsed() > STOP_MAX { child.kill() } else { Ok(()) }
}

/// Returns the last lines that a process said about its failure.
fn last_lines(errors: &mut File) -> io::Result<String> {
    let length = errors.seek(SeekFrom::End(0))?;
    errors.seek(SeekFrom::Start(length.saturating_sub(ERROR_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    errors.read_to_end(&mut bytes)?;
    let text = crate::terminal::harmless(&String::from_utf8_lossy(&bytes));
    let is_own = |line: &&str| !line.trim().is_empty() && !line.starts_with("remark:");
    let lines = text.lines().filter(is_own);
    let lines: Vec<&str> = lines.map(|line| line.trim_start_matches("quietcore: ")).collect();
    let last = &lines[lines.len().saturating_sub(ERROR_LINES_MAX)..];
    Ok(if last.is_empty() { "it said nothing".to_owned() } else { last.join("; ") })
}

/// Has the kernel end this process with the campaign that started it, if one did.
pub(crate) fn end_with_campaign() {
    let Some(campaign) = std::env::var(ENDS_WITH).ok().and_then(|text| text.parse::<i32>().ok())
    else {
        return;
    };
    // Best effort: without it, a command of a campaign that was killed goes on to its end.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    if parent != campaign {
        let own = rustix::process::getpid();
        let _ = kill_process(own, Signal::TERM);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_last_lines_of_an_error_are_told_without_remarks() {
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(last_lines(&mut file).unwrap(), "it said nothing");
        file.write_all(&vec![b'x'; 10_000]).unwrap();
        file.write_all(b"\nremark: not signed\none\n\ntwo\nthree\n").unwrap();
        assert_eq!(last_lines(&mut file).unwrap(), "one; two; three");
    }
}
