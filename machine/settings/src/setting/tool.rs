//! Programs of the system that are asked for what the kernel has no file for.
//!
//! A program is looked for in the system's own folders only, whatever the caller's `PATH` says, and
//! gets its arguments one by one and no environment. It has [`LIMIT`] to answer, unless whoever
//! asks gives it more.

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::SettingError;

/// The time after which a program is killed.
const LIMIT: Duration = Duration::from_secs(5);
/// Time between two looks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// The most bytes that are read of what it says.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;
/// Folders of the system's programs.
const FOLDERS: [&str; 6] =
    ["/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/local/bin"];

/// A program, and the package of Debian that has it.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// Name of its file.
    pub name: &'static str,
    /// Name of the package.
    pub package: &'static str,
}

/// The failure of a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It was not there, was not allowed to run, or took too long.
    #[error("{0}")]
    NotRun(String),
    /// Its own words on standard error, after its name.
    #[error("{0}")]
    Said(String),
}

impl From<ToolError> for SettingError {
    fn from(failed: ToolError) -> Self {
        match failed {
            ToolError::NotRun(words) | ToolError::Said(words) => Self::Refused(words),
        }
    }
}

impl Tool {
    /// Runs it and returns what it printed.
    pub(super) fn run(self, arguments: &[&str]) -> Result<String, ToolError> {
        self.run_within(LIMIT, arguments)
    }

    /// Runs it and returns what it printed. It is killed if it takes longer than `limit`.
    ///
    /// # Errors
    /// [`ToolError`].
    pub fn run_within(self, limit: Duration, arguments: &[&str]) -> Result<String, ToolError> {
        self.run_while(&|| true, limit, arguments)
    }

    /// Runs it and returns what it printed. It is killed if it takes longer than `limit`, and as
    /// soon as it is no longer `wanted`.
    ///
    /// # Errors
    /// [`ToolError`].
    pub fn run_while(
        self,
        wanted: &dyn Fn() -> bool,
        limit: Duration,
        arguments: &[&str],
    ) -> Result<String, ToolError> {
        let Self { name, package } = self;
        let missing = || {
            let words = format!("`{name}` is not installed; install Debian's package `{package}`");
            ToolError::NotRun(words)
        };
        let places = FOLDERS.iter().map(|folder| PathBuf::from(folder).join(name));
        let program = places.into_iter().find(|place| place.is_file()).ok_or_else(missing)?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let not_run = |error: io::Error| {
            ToolError::NotRun(format!(
                "`{name}` can't be run: {}",
                quietcore_host::error_text(&error)
            ))
        };
        let mut child = child.map_err(not_run)?;
        let printed = gathered(child.stdout.take());
        let complained = gathered(child.stderr.take());
        let Some(status) = ended(&mut child, limit, wanted).map_err(not_run)? else {
            return Err(ToolError::NotRun(if wanted() {
                format!("`{name}` did not end within {} s", limit.as_secs_f32())
            } else {
                format!("`{name}` was ended: its answer is no longer wanted")
            }));
        };
        let text = |bytes: Receiver<Vec<u8>>| {
            let bytes = bytes.recv_timeout(limit).unwrap_or_default();
            String::from_utf8_lossy(&bytes).trim().to_owned()
        };
        if status.success() {
            return Ok(text(printed));
        }
        let words = text(complained);
        let words: Vec<&str> = words.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        Err(ToolError::Said(match words.as_slice() {
            [] => format!("`{name}` failed with {status}"),
            lines => format!("`{name}`: {}", lines.join("; ")),
        }))
    }
}

/// Reads a pipe until its end, in a thread.
fn gathered(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (to, from) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What was read before an error is all there is.
            let _ = pipe.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        }
        // Nobody listens any more where it took too long.
        let _ = to.send(bytes);
    });
    from
}

/// Waits for the end of the program; returns `None` if it had to be killed.
fn ended(
    child: &mut Child,
    limit: Duration,
    wanted: &dyn Fn() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit || !wanted() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELL: Tool = Tool { name: "sh", package: "dash" };

    fn said(script: &str) -> Result<String, ToolError> {
        SHELL.run(&["-c", script])
    }

    #[test]
    fn what_a_program_prints_and_what_it_complains_about_is_told() {
        assert_eq!(said("echo one; echo two >&2").as_deref(), Ok("one"));
        assert_eq!(
            said("echo one; echo two >&2; exit 3"),
            Err(ToolError::Said("`sh`: two".into()))
        );
        assert_eq!(said("exit 3"), Err(ToolError::Said("`sh` failed with exit status: 3".into())));
        assert_eq!(said("echo \"$HOME\"").as_deref(), Ok(""));
        let much = said("head -c 3000000 /dev/zero | tr '\\0' x");
        assert!(matches!(&much, Err(ToolError::Said(_))) || much.unwrap().len() == 1 << 20);
    }

    #[test]
    fn a_program_that_is_missing_or_hangs_is_told_with_what_to_do() {
        let none = Tool { name: "quietcore-no-such-tool", package: "iproute2" }.run(&[]);
        let words = "`quietcore-no-such-tool` is not installed; install Debian's package \
                     `iproute2`";
        assert_eq!(none, Err(ToolError::NotRun(words.into())));
        let limit = Duration::from_millis(200);
        let begun = Instant::now();
        let hangs = |wanted: &dyn Fn() -> bool, limit| {
            SHELL.run_while(wanted, limit, &["-c", "exec sleep 60"])
        };
        let hung = hangs(&|| true, limit);
        assert_eq!(hung, Err(ToolError::NotRun("`sh` did not end within 0.2 s".into())));
        let unwanted = hangs(&|| begun.elapsed() < limit * 2, Duration::from_secs(50));
        let words = "`sh` was ended: its answer is no longer wanted";
        assert_eq!(unwanted, Err(ToolError::NotRun(words.into())));
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
}
