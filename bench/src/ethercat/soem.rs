//! The peer SOEM, through `pysoem`, in a process of its own.
//!
//! Python's own time is part of the figure of a round trip: two calls into the library.

use crate::cores::Cores;
use crate::ethercat::echo::Far;
use crate::ethercat::{Side, own};
use crate::peers::python::Package;
use crate::peers::script::Script;

/// The package, in a Python such as the one that `./test` makes.
const PYSOEM: Package = Package { name: "pysoem", variable: "QUIETCORE_PYSOEM_PYTHON" };
/// The script that the process runs.
const SCRIPT: &str = include_str!("soem.py");

/// The process of the peer.
pub(super) struct Soem {
    script: Script,
    _far: Far,
}

impl Soem {
    /// At OP over a pair of interfaces.
    pub(super) fn new(cores: Cores) -> Result<Self, String> {
        let far = Far::start("soem", cores.other_cpu, own::serve)?;
        let script = PYSOEM.start(SCRIPT, &["soem", &cores.cpu.to_string()])?;
        Ok(Self { script, _far: far })
    }
}

/// The version of `pysoem` in the Python that is named.
pub(super) fn version() -> String {
    PYSOEM.version()
}

impl Side for Soem {
    fn block(&mut self, cycles: usize) -> Result<Vec<u64>, String> {
        let line = self.script.ask(&cycles.to_string())?;
        let trips = line.split_whitespace().map(str::parse).collect::<Result<_, _>>();
        trips.map_err(|_| format!("pysoem: it said `{line}`"))
    }
}
