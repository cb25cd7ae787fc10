//! Running the compiler: bounded in time, memory and in what it may say.

use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal};

use crate::build::telling::diagnostic;
use crate::build::{Diagnostic, Options, Severity};

/// Most of the compiler's text that is kept, in bytes.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;

/// Most memory of one run of the compiler, in bytes.
const MEMORY_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;

/// Largest file that it may write, in bytes.
const OUTPUT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The folder that it believes to work in. A true path would end up in the debug information, and
/// builds of one program in two places would differ.
pub(super) const WORKING_FOLDER: &str = "/proc/self/cwd";

/// A compiler that was asked for its name.
#[derive(Debug, Clone)]
pub(crate) struct Compiler {
    words: Vec<String>,
    /// Its version and what it compiles for; part of the hash.
    pub(crate) identity: String,
    /// The machine that it compiles for, as `x86_64-linux-gnu`.
    pub(crate) machine: String,
    time_limit: Duration,
}

/// The outcome of one run.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) success: bool,
    /// The output, word for word.
    pub(crate) text: String,
}

impl Outcome {
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        diagnostic::parse(&self.text)
    }

    pub(crate) fn errors(&self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics();
        diagnostics.retain(|it| it.severity == Severity::Error);
        diagnostics
    }
}

/// A compiler that could not be run.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// It can't be started.
    #[error("the compiler `{program}` cannot be run; install gcc, or name one with CC")]
    Missing {
        /// The program that was to be run.
        program: String,
        /// Why it could not.
        #[source]
        source: io::Error,
    },
    /// It is not the GNU compiler.
    #[error("`{program}` is not the GNU C compiler, which builds are made with: it says `{says}`")]
    Unknown {
        /// The program that was run.
        program: String,
        /// The first line of its output.
        says: String,
    },
    /// It did not end.
    #[error("`{program}` did not end within {limit:?}; it was stopped")]
    TooSlow {
        /// The program that was run.
        program: String,
        /// The time after which it was ended.
        limit: Duration,
    },
    /// Reading from it failed.
    #[error("the compiler's answer could not be read")]
    Io(#[from] io::Error),
}

impl Compiler {
    /// Finds the compiler that the options or the environment name.
    pub(crate) fn find(options: &Options) -> Result<Self, CompilerError> {
        let named = options.compiler.as_ref().map(|path| vec![path.to_string_lossy().into_owned()]);
        let from_environment = || {
            let value = std::env::var("CC").ok()?;
            let words: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
            (!words.is_empty()).then_some(words)
        };
        let words = named.or_else(from_environment).unwrap_or_else(|| vec!["gcc".to_owned()]);
        let mut compiler = Self {
            words,
            identity: String::new(),
            machine: String::new(),
            time_limit: options.time_limit,
        };
        let here = PathBuf::from("/");
        let said = compiler.run(&here, &["-v".to_owned()])?.text;
        let after = |head| said.lines().find_map(|line| line.strip_prefix(head)).map(str::trim);
        let (Some(version), Some(machine)) = (after("gcc version "), after("Target: ")) else {
            let program = compiler.words.join(" ");
            let says = said.lines().next().unwrap_or_default().to_owned();
            return Err(CompilerError::Unknown { program, says });
        };
        compiler.identity = format!("gcc {version} for {machine}");
        machine.clone_into(&mut compiler.machine);
        Ok(compiler)
    }

    /// Runs the compiler in a folder.
    pub(crate) fn run(
        &self,
        folder: &Path,
        arguments: &[String],
    ) -> Result<Outcome, CompilerError> {
        let program = self.words.join(" ");
        let (mut reader, writer) = io::pipe()?;
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(arguments).current_dir(folder);
        command.env("LC_ALL", "C").env("PWD", WORKING_FOLDER).env("SOURCE_DATE_EPOCH", "0");
        command.env_remove("GCC_COLORS").env_remove("CPATH").env_remove("C_INCLUDE_PATH");
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        // A group of its own, so that what the compiler starts can be stopped with it.
        command.process_group(0);
        let spawned = command.spawn();
        drop(command);
        let mut child = spawned
            .map_err(|source| CompilerError::Missing { program: program.clone(), source })?;
        limit(&child);
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut text = Vec::new();
            let read = reader.by_ref().take(TEXT_BYTES_MAX).read_to_end(&mut text);
            // The rest is read and dropped: a compiler that can't write would wait forever.
            let drained = read.and_then(|_| io::copy(&mut reader, &mut io::sink()));
            // The receiver is gone only when the time was up.
            let _ = sender.send(drained.map(|_| text));
        });
        let Ok(text) = receiver.recv_timeout(self.time_limit) else {
            stop(&mut child);
            return Err(CompilerError::TooSlow { program, limit: self.time_limit });
        };
        let status = child.wait()?;
        let text = String::from_utf8_lossy(&text?).into_owned();
        Ok(Outcome { success: status.success(), text })
    }
}

/// Bounds the memory and the files of a process that was just started. It is a net below the limits
/// on the sources, so the instant before it holds does not matter, nor whether the kernel grants
/// it.
fn limit(child: &Child) {
    let Some(pid) = pid_of(child) else {
        return;
    };
    for (resource, bytes) in [(Resource::As, MEMORY_BYTES_MAX), (Resource::Fsize, OUTPUT_BYTES_MAX)]
    {
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        let _ = rustix::process::prlimit(Some(pid), resource, limit);
    }
}

/// Stops a process with all that it started.
fn stop(child: &mut Child) {
    if let Some(pid) = pid_of(child) {
        // A group that ended by itself is gone, which is as good.
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn pid_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}
