//! Running the compiler: bounded in time, memory and in what it may say; for code that was received
//! in a sandbox.

mod listener;
pub(super) mod reads;

use std::io::{self, PipeReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_sandbox::{RESULT, Sandbox, SandboxError, View, make_readable};
use rustix::process::{Pid, Resource, Rlimit, Signal};

use crate::build::telling::diagnostic;
use crate::build::{Diagnostic, Options, Severity};

pub use listener::Listener;

/// Most of the compiler's text that is kept, in bytes.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;

/// Most that it may print, in bytes.
const PRINTED_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Most memory of one run of the compiler, in bytes.
const MEMORY_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;

/// Largest file that it may write, in bytes.
const OUTPUT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Longest time of all runs for code that was received.
const RECEIVED_TIME_MAX: Duration = Duration::from_secs(300);

/// The folder that it believes to work in. A true path would end up in the debug information, and
/// builds of one program in two places would differ.
pub(super) const WORKING_FOLDER: &str = "/proc/self/cwd";

/// Variables by which others would decide about a build.
const NOT_FROM_OUTSIDE: [&str; 6] = [
    "GCC_COLORS",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
];

/// A compiler that was asked for its name.
#[derive(Debug, Clone)]
pub(crate) struct Compiler {
    words: Vec<String>,
    /// Its version and what it compiles for; part of the hash.
    pub(crate) identity: String,
    /// The machine that it compiles for, as `x86_64-linux-gnu`.
    pub(crate) machine: String,
    time_limit: Duration,
    listener: Option<Listener>,
    confined: Option<Confined>,
}

/// The sandbox of a compiler whose code was received.
#[derive(Debug, Clone)]
struct Confined {
    sandbox: Sandbox,
    /// Folders that it sees beside the system's.
    readable: Vec<PathBuf>,
    /// When all runs have to have ended.
    end: Instant,
}

impl Confined {
    fn new() -> Self {
        let end = Instant::now() + RECEIVED_TIME_MAX;
        Self { sandbox: Sandbox::default(), readable: Vec::new(), end }
    }
}

/// The outcome of one run.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) success: bool,
    /// Its remarks on the code, word for word.
    pub(crate) text: String,
    /// The answer to an option that makes it print one.
    pub(crate) printed: String,
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
    /// The code was received, and there is no sandbox for the compiler.
    #[error("code that was received is compiled in a sandbox only")]
    Sandbox(#[from] SandboxError),
    /// It did not list what it has read.
    #[error(
        "`{program}` does not list the files that it reads, as `-MD -MF -` asks it to; name gcc \
         itself with CC"
    )]
    Unlisted {
        /// The program that was run.
        program: String,
    },
    /// It printed more than is read.
    #[error("`{program}` printed more than {} MiB", PRINTED_BYTES_MAX >> 20)]
    Talkative {
        /// The program that was run.
        program: String,
    },
    /// Reading from it failed.
    #[error("the compiler's answer could not be read")]
    Io(#[from] io::Error),
}

impl Compiler {
    /// Finds the compiler that the options or the environment name; it is run in a sandbox where
    /// the code was received.
    pub(crate) fn find(options: &Options, is_received: bool) -> Result<Self, CompilerError> {
        let named = options.compiler.as_ref().map(|path| vec![path.to_string_lossy().into_owned()]);
        let from_environment = || {
            let value = std::env::var("CC").ok()?;
            // With `-pipe` its list of files would go to the assembler.
            let words = value.split_whitespace().filter(|word| *word != "-pipe");
            let words: Vec<String> = words.map(str::to_owned).collect();
            (!words.is_empty()).then_some(words)
        };
        let words = named.or_else(from_environment).unwrap_or_else(|| vec!["gcc".to_owned()]);
        let mut compiler = Self {
            words,
            identity: String::new(),
            machine: String::new(),
            time_limit: options.time_limit,
            listener: None,
            confined: is_received.then(Confined::new),
        };
        let here = PathBuf::from("/");
        let answer = compiler.run(&here, &["-v".to_owned()], None)?;
        let said = answer.text + &answer.printed;
        // What follows is about the program.
        compiler.listener.clone_from(&options.listener);
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

    /// The words behind its name that it is always run with.
    pub(crate) fn options(&self) -> &[String] {
        &self.words[1..]
    }

    /// Returns `true` if it is run in a sandbox.
    pub(crate) fn is_confined(&self) -> bool {
        self.confined.is_some()
    }

    /// Lets it read a folder in its sandbox, if it has one.
    pub(crate) fn show(&mut self, folder: &Path) {
        if let Some(confined) = &mut self.confined {
            confined.readable.push(folder.to_owned());
        }
    }

    /// Tells the listener of the build, if there is one.
    pub(crate) fn tell(&self, line: &str) {
        if let Some(listener) = &self.listener {
            listener.hear(line);
        }
    }

    /// Runs the compiler in a folder; `output` is the file that comes of it.
    pub(crate) fn run(
        &self,
        folder: &Path,
        arguments: &[String],
        output: Option<&Path>,
    ) -> Result<Outcome, CompilerError> {
        let program = self.words.join(" ");
        let (said, says) = io::pipe()?;
        let (printed, prints) = io::pipe()?;
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(arguments);
        match &self.confined {
            None => {
                command.current_dir(folder).env("LC_ALL", "C");
                NOT_FROM_OUTSIDE.iter().for_each(|name| _ = command.env_remove(name));
                // Builds are kept here, and the list of files is of this machine.
                command.env("CCACHE_DISABLE", "1").env("DISTCC_HOSTS", "localhost");
                command.args(output.into_iter().flat_map(|it| [Path::new("-o"), it]));
            }
            Some(confined) => {
                confined.enclose(&mut command, folder, output)?;
                command.args(output.into_iter().flat_map(|_| ["-o", RESULT]));
            }
        }
        command.env("PWD", WORKING_FOLDER).env("SOURCE_DATE_EPOCH", "0");
        command.stdin(Stdio::null()).stdout(prints).stderr(says);
        // A group of its own, so that what the compiler starts can be stopped with it.
        command.process_group(0);
        let spawned = command.spawn();
        drop(command);
        let mut child = spawned.map_err(|source| self.not_started(&program, source))?;
        if self.confined.is_none() {
            limit(&child);
        }
        let limit = self.confined.as_ref().map_or(self.time_limit, |confined| {
            confined.end.saturating_duration_since(Instant::now()).min(self.time_limit)
        });
        let end = Instant::now() + limit;
        let read = [(said, TEXT_BYTES_MAX), (printed, PRINTED_BYTES_MAX)].map(read_all);
        let left = || end.saturating_duration_since(Instant::now());
        let [text, printed] = read.map(|receiver| receiver.recv_timeout(left()));
        let (Ok(text), Ok(printed)) = (text, printed) else {
            stop(&mut child);
            return Err(CompilerError::TooSlow { program, limit });
        };
        let status = child.wait()?;
        let [text, printed] = [text?, printed?].map(|it| String::from_utf8_lossy(&it).into_owned());
        if printed.len() as u64 >= PRINTED_BYTES_MAX {
            return Err(CompilerError::Talkative { program });
        }
        // A wrapper that fails may say why on the other one.
        let is_silent = !status.success() && text.is_empty();
        let text = if is_silent { printed.clone() } else { text };
        text.lines().for_each(|line| self.tell(line));
        Ok(Outcome { success: status.success(), text, printed })
    }

    /// The error of a compiler that has not listed what it has read.
    pub(crate) fn unlisted(&self) -> CompilerError {
        CompilerError::Unlisted { program: self.words.join(" ") }
    }

    fn not_started(&self, program: &str, source: io::Error) -> CompilerError {
        let program = program.to_owned();
        if self.confined.is_none() {
            return CompilerError::Missing { program, source };
        }
        match Sandbox::why_not(source) {
            SandboxError::Program(source) => CompilerError::Missing { program, source },
            refused => refused.into(),
        }
    }
}

impl Confined {
    fn enclose(
        &self,
        command: &mut Command,
        folder: &Path,
        output: Option<&Path>,
    ) -> Result<(), SandboxError> {
        for folder in &self.readable {
            make_readable(folder)?;
        }
        let readable: Vec<&Path> = self.readable.iter().map(PathBuf::as_path).collect();
        self.sandbox.confine(command, &View { readable: &readable, folder, result: output })
    }
}

/// Reads a pipe to its end in a thread of its own, and keeps so many bytes. The rest is read and
/// dropped: a compiler that can't write would wait forever.
fn read_all((mut pipe, bytes_max): (PipeReader, u64)) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let read = pipe.by_ref().take(bytes_max).read_to_end(&mut text);
        let drained = read.and_then(|_| io::copy(&mut pipe, &mut io::sink()));
        // The receiver is gone only when the time was up.
        let _ = sender.send(drained.map(|_| text));
    });
    receiver
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
