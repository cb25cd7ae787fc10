//! The peer: a server of OPC UA and its clients, by `asyncua`, each in a process of its own.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::peers::python::Package;
use crate::peers::script::Script;

/// A server and client under the LGPL, which is why it runs in processes of its own.
const ASYNCUA: Package = Package { name: "asyncua", variable: "QUIETCORE_ASYNCUA_PYTHON" };
/// The script that the processes run.
const SCRIPT: &str = include_str!("opc_ua.py");

/// A server that changes its variables. Dropping it ends the process.
pub(super) struct Server {
    script: Script,
    port: u16,
    /// From the start of the process until it serves.
    pub(super) until_ready: Duration,
}

/// Clients of a server, in one process. Dropping them ends it.
pub(super) struct Clients {
    script: Script,
}

/// The version of `asyncua` in the Python that is named.
pub(super) fn version() -> String {
    ASYNCUA.version()
}

impl Server {
    /// Starts a server with so many variables at a free port of loopback.
    pub(super) fn start(variables: usize) -> Result<Self, String> {
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr());
        let port = free.map_err(|error| error.to_string())?.port();
        let begun = Instant::now();
        let script = started("server", port, variables)?;
        Ok(Self { script, port, until_ready: begun.elapsed() })
    }

    /// The number of its process.
    pub(super) fn process_number(&self) -> u32 {
        self.script.process_number()
    }

    /// Has so many clients follow all its variables.
    pub(super) fn followed_by(&self, clients: usize) -> Result<Clients, String> {
        Ok(Clients { script: started("client", self.port, clients)? })
    }
}

impl Clients {
    /// Returns the number of values that have come to them all so far.
    pub(super) fn values(&mut self) -> Result<u64, String> {
        let line = self.script.ask("")?;
        line.parse().map_err(|_| format!("asyncua: it said `{line}`"))
    }
}

fn started(role: &str, port: u16, number: usize) -> Result<Script, String> {
    ASYNCUA.start(SCRIPT, &[role, &port.to_string(), &number.to_string()])
}
