//! A machine with a site and a daemon that listens, and calls of `quietcore` on both sides of it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use quietcore_supervisor::fake::FakeSite;
use quietcore_supervisor::places::{Claim, Places, SiteDescription};
use quietcore_supervisor::server::{Limits, Server};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::command::{Said, quietcore, said};

/// A machine, and the folder of a person who works on it from elsewhere.
pub(crate) struct Plant {
    pub(crate) folder: TempDir,
    pub(crate) site: Arc<FakeSite>,
    pub(crate) port: u16,
    daemon: Child,
    _server: Server,
    _claim: Claim,
}

impl Plant {
    /// Starts both; `None` where `quietcored` was not built beside `quietcore`.
    pub(crate) fn start() -> Option<Self> {
        let program = Path::new(env!("CARGO_BIN_EXE_quietcore")).with_file_name("quietcored");
        if !program.exists() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let site = Arc::new(FakeSite::new());
        let places = Places::new(folder.path().join("run"), folder.path().join("state"));
        let claim = Claim::take(&places, "line").unwrap();
        let listener = claim.listen().unwrap();
        claim.describe(&description()).unwrap();
        let server = Server::start(listener, "line", Arc::clone(&site) as _, Limits::default());
        let made = here(folder.path(), &["auth", "init", "--address", "127.0.0.1"]);
        assert_eq!(made.status, Some(0), "{}", made.err);
        let mut daemon = Command::new(program)
            .args(["--no-page", "--listen", "127.0.0.1:0"])
            .env("QUIETCORE_RUN_DIR", folder.path().join("run"))
            .env("QUIETCORE_STATE_DIR", folder.path().join("state"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let told = BufReader::new(daemon.stderr.take().unwrap()).lines();
        let port = told.map_while(Result::ok).find_map(|line| {
            let (_, address) = line.split_once("serving at 127.0.0.1:")?;
            address.split(' ').next()?.parse().ok()
        });
        let port = port.expect("it tells its port");
        Some(Self { folder, site, port, daemon, _server: server.unwrap(), _claim: claim })
    }

    /// Calls `quietcore` on the machine itself.
    pub(crate) fn here(&self, arguments: &[&str]) -> Said {
        here(self.folder.path(), arguments)
    }

    /// Calls `quietcore` of a person elsewhere, who sees no site of the machine.
    pub(crate) fn elsewhere(&self, arguments: &[&str]) -> Said {
        let mut command = quietcore(self.folder.path());
        let folder = |name: &str| self.folder.path().join(name);
        command.env("QUIETCORE_RUN_DIR", folder("none")).env("XDG_CONFIG_HOME", folder("config"));
        said(&command.env_remove("QUIETCORE_AT").args(arguments).output().unwrap())
    }

    /// Makes a certificate with a role, and a context of the same name for it.
    pub(crate) fn add(&self, name: &str, role: &str) {
        let made = self.here(&["auth", "issue", name, "--role", role, "--out", name]);
        assert_eq!(made.status, Some(0), "{}", made.err);
        let address = self.address();
        let context = ["context", "add", name, "--address", &address, "--access", name];
        let added = self.elsewhere(&context);
        assert_eq!(added.status, Some(0), "{}", added.err);
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn socket(&self) -> String {
        let socket: PathBuf = self.folder.path().join("run/@daemon/socket");
        format!("unix:{}", socket.display())
    }

    /// Ends the daemon at once.
    pub(crate) fn kill(&mut self) {
        let pid = Pid::from_child(&self.daemon);
        kill_process(pid, Signal::KILL).unwrap();
        self.daemon.wait().unwrap();
    }
}

impl Drop for Plant {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

fn here(folder: &Path, arguments: &[&str]) -> Said {
    let mut command = quietcore(folder);
    command.env("QUIETCORE_RUN_DIR", folder.join("run"));
    command.env("XDG_CONFIG_HOME", folder.join("no-config")).env_remove("QUIETCORE_AT");
    said(&command.args(arguments).output().unwrap())
}

fn description() -> SiteDescription {
    let described = serde_json::json!({
        "schema": "quietcore.site/1", "site": "line", "pid": std::process::id(),
        "site_file": "/sites/line.toml", "started_at": "2026-11-21T20:15:03Z",
        "partitions": ["axis", "tank"], "quietcore_version": "0.1.0",
        "started_by": {
            "user": "root", "login": "anna", "folder": "/sites", "terminal": "pts/3",
            "session": 900, "command": "bash",
        },
    });
    serde_json::from_value(described).unwrap()
}
