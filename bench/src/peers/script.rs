//! A script in a process of its own, which is told and answers line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time in which a script has to end when it is told nothing more.
const ENDING_MAX: Duration = Duration::from_secs(3);
/// Time between two looks whether it has.
const LOOK: Duration = Duration::from_millis(10);

/// A script that runs. Dropping it ends the process.
pub(crate) struct Script {
    name: &'static str,
    process: Child,
    /// `None` once it is told that nothing follows.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Script {
    /// Starts a script, and waits until it says `ready`. Problems begin with `name`.
    pub(crate) fn start(name: &'static str, command: &mut Command) -> Result<Self, String> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        let orders = process.stdin.take();
        let answers = process.stdout.take().ok_or("it has no standard output")?;
        let mut script = Self { name, process, orders, answers: BufReader::new(answers) };
        match script.line()?.as_str() {
            "ready" => Ok(script),
            other => Err(format!("{name}: it said `{other}`")),
        }
    }

    /// The number of its process.
    pub(crate) fn process_number(&self) -> u32 {
        self.process.id()
    }

    /// Tells it a line, and returns its answer to it.
    pub(crate) fn ask(&mut self, order: &str) -> Result<String, String> {
        let name = self.name;
        let orders = self.orders.as_mut().ok_or("it has ended")?;
        writeln!(orders, "{order}").map_err(|error| format!("{name}: {error}"))?;
        self.line()
    }

    /// Returns what it says next.
    pub(crate) fn line(&mut self) -> Result<String, String> {
        let name = self.name;
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(1..) => Ok(line.trim().to_owned()),
            Ok(0) => Err(format!("{name}: it has ended; see what it said above")),
            Err(error) => Err(format!("{name}: {error}")),
        }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // A script ends where its orders do, and puts in order what it holds.
        self.orders = None;
        let end = Instant::now() + ENDING_MAX;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(LOOK);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
