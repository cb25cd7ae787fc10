//! The peer SOEM, through `pysoem`, in a process of its own.
//!
//! Python's own time is part of the figure of a round trip: two calls into the library.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::cores::Cores;
use crate::ethercat::echo::Far;
use crate::ethercat::{Side, own};
use crate::versions;

/// Names a Python with pysoem, as for `./test`.
const PYTHON: &str = "QUIETCORE_PYSOEM_PYTHON";
/// The script that the process runs.
const SCRIPT: &str = include_str!("soem.py");

/// The process of the peer.
pub(super) struct Soem {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    _far: Far,
}

impl Soem {
    /// At OP over a pair of interfaces.
    pub(super) fn new(cores: Cores) -> Result<Self, String> {
        let python = env::var_os(PYTHON).ok_or_else(|| {
            format!("pysoem: set {PYTHON} to a Python that has it, such as the one `./test` makes")
        })?;
        let far = Far::start("soem", cores.other_cpu, own::serve)?;
        let mut process = Command::new(python)
            .args(["-c", SCRIPT, "soem", &cores.cpu.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let orders = process.stdin.take().ok_or("it has no standard input")?;
        let answers = process.stdout.take().ok_or("it has no standard output")?;
        let mut soem = Self { process, orders, answers: BufReader::new(answers), _far: far };
        match soem.line().map_err(|error| format!("pysoem: {error}"))?.as_str() {
            "ready" => Ok(soem),
            other => Err(format!("pysoem: it said `{other}`")),
        }
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(1..) => Ok(line.trim().to_owned()),
            Ok(0) => Err("it has ended; see what it said above".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The version of `pysoem` in the Python that is named.
pub(super) fn version() -> String {
    versions::of_python_package(&env::var_os(PYTHON).unwrap_or_default(), "pysoem")
}

impl Side for Soem {
    fn block(&mut self, cycles: usize) -> Result<Vec<u64>, String> {
        let failed = |error: String| format!("pysoem: {error}");
        writeln!(self.orders, "{cycles}").map_err(|error| failed(error.to_string()))?;
        let line = self.line().map_err(failed)?;
        let trips = line.split_whitespace().map(str::parse).collect::<Result<_, _>>();
        trips.map_err(|_| failed(format!("it said `{line}`")))
    }
}

impl Drop for Soem {
    fn drop(&mut self) {
        // It holds nothing that has to be put in order.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
