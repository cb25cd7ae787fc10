//! A site with the program of the supervisor's own tests, brought up by the command line.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::command::{Said, quietcore, said};

/// The longest wait, long enough for the busiest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with the site file `press.toml` and its program.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(site: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let model = root.join("product/supervisor/tests/counter");
        fs::create_dir(folder.path().join("counter")).unwrap();
        for entry in fs::read_dir(model).unwrap().flatten() {
            fs::copy(entry.path(), folder.path().join("counter").join(entry.file_name())).unwrap();
        }
        fs::write(folder.path().join("press.toml"), site).unwrap();
        Self { folder }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = quietcore(self.folder.path());
        command
            .args(arguments)
            .env("QUIETCORE_RUN_DIR", self.folder.path().join("run"))
            .env("QUIETCORE_STATE_DIR", self.folder.path().join("state"));
        command
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Said {
        said(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn up(&self) -> Child {
        let log = fs::File::create(self.folder.path().join("up.log")).unwrap();
        let errors = log.try_clone().unwrap();
        let mut command = self.command(&["up", "press.toml"]);
        command.stdin(Stdio::null()).stdout(log).stderr(errors).spawn().unwrap()
    }

    /// Returns the output of `up` so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("up.log")).unwrap_or_default()
    }

    pub(crate) fn partition(&self) -> Option<Value> {
        let shown: Value = serde_json::from_str(&self.call(&["ps", "--json"]).out).ok()?;
        find(&shown, "axis")
    }

    pub(crate) fn wait_until_running(&self) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(partition) = self.partition()
                && partition["state"]["is"] == "running"
            {
                return partition;
            }
            assert!(Instant::now() < end, "not running within {PATIENCE:?}: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the `/proc` folders of processes that run in this folder.
    pub(crate) fn processes(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let place = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let ended = stat.rsplit(')').next().unwrap_or("").trim().starts_with('Z');
            if place == self.folder.path() && !ended {
                found.push(entry.path());
            }
        }
        found
    }
}

/// Ends the site, so that a test that fails leaves nothing running.
impl Drop for Bench {
    fn drop(&mut self) {
        self.call(&["down"]);
    }
}

/// Returns the object with this name, wherever it is in the document.
pub(crate) fn find(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.get("name").is_some_and(|it| it == name) => {
            Some(value.clone())
        }
        Value::Object(fields) => fields.values().find_map(|inner| find(inner, name)),
        Value::Array(items) => items.iter().find_map(|inner| find(inner, name)),
        _ => None,
    }
}

/// Kills a process with `SIGKILL`.
pub(crate) fn kill(pid: u64) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}
