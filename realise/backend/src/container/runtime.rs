//! `runc` and `crun`: programs that run what an OCI bundle describes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::{Deserialize, Serialize};

/// A container runtime: a program with the command line of `runc`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RuntimeProgram(PathBuf);

impl RuntimeProgram {
    /// Takes the absolute path of the program.
    pub(crate) fn new(program: PathBuf) -> Self {
        Self(program)
    }

    /// Returns its file name: `runc` or `crun`.
    pub(crate) fn name(&self) -> &str {
        self.0.file_name().and_then(|name| name.to_str()).unwrap_or("the container runtime")
    }

    /// Returns the first line of its answer to `--version`; `None` if it can't be started.
    pub(super) fn version(&self) -> Option<String> {
        let output = Command::new(&self.0).arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().next().map(str::to_owned)
    }

    /// Returns a command that calls it, with its state in the folder `state`.
    fn call(&self, state: &Path) -> Command {
        let mut command = Command::new(&self.0);
        command.arg("--root").arg(state);
        command
    }

    /// Returns the command that starts the container of a bundle. The container gets the standard
    /// streams of that command and the `files` descriptors behind them; the command ends when the
    /// container's process runs.
    pub(super) fn run(&self, place: &Place<'_>, files: &str) -> Command {
        let mut command = self.call(&place.state());
        command.args(["run", "--detach", "--preserve-fds", files]);
        command.arg("--bundle").arg(place.bundle());
        command.arg("--pid-file").arg(place.process_file());
        command.arg(place.name);
        command
    }

    /// Removes what there is of a container: processes, control groups and state.
    pub(super) fn delete(&self, place: &Place<'_>) -> std::io::Result<Output> {
        let mut command = self.call(&place.state());
        command.args(["delete", "--force", place.name]);
        command.stdin(Stdio::null()).output()
    }
}

impl fmt::Display for RuntimeProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.display())
    }
}

/// Returns the messages in a container runtime's log, with a remedy where one is known. A text of
/// another form stays as it is.
pub(crate) fn words(remarks: &str) -> String {
    let message = |line: &str| {
        let (_, message) = line.split_once("msg=\"")?;
        Some(message.trim_end().trim_end_matches('"').replace("\\\"", "\""))
    };
    let said: Vec<String> = remarks.lines().filter_map(message).collect();
    let said = if said.is_empty() { remarks.trim().to_owned() } else { said.join("; ") };
    match REMEDIES.iter().find(|(sign, _)| said.contains(sign)) {
        Some((_, remedy)) => format!("{said}; {remedy}"),
        None => said,
    }
}

/// Parts of messages, each with the remedy for it.
const REMEDIES: [(&str, &str); 2] = [
    (
        "cpu.rt_runtime_us",
        "other control groups have the real-time run time: lower their cpu.rt_runtime_us, or boot \
         with rt_group_sched=0",
    ),
    (
        "cpuset.cpus",
        "the CPUs belong to another control group: see its cpuset.cpus and cpuset.cpus.partition",
    ),
];

/// The folder of a container, and the paths within.
pub(super) struct Place<'a> {
    pub(super) folder: &'a Path,
    pub(super) name: &'a str,
}

impl Place<'_> {
    /// Returns the folder of its OCI bundle.
    pub(super) fn bundle(&self) -> PathBuf {
        self.folder.join("bundle")
    }

    /// Returns the folder in which the container runtime keeps its state.
    pub(super) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// Returns the file into which the container runtime writes the number of the container's
    /// process.
    pub(super) fn process_file(&self) -> PathBuf {
        self.folder.join("pid")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_said_in_words_with_its_remedy() {
        let log = "time=\"2026-11-23T08:25:03Z\" level=error msg=\"runc run failed: failed to \
                   write \\\"475000\\\": write cpu.rt_runtime_us: invalid argument\"\n\
                   quietcore-runtime: /usr/sbin/runc: exit status: 1\n";
        let words = words(log);
        assert!(words.starts_with("runc run failed: failed to write \"475000\": "), "{words}");
        assert!(words.ends_with("or boot with rt_group_sched=0"), "{words}");
    }

    #[test]
    fn what_has_another_form_stays_as_it_is() {
        assert_eq!(words(" crun: cannot do that\n"), "crun: cannot do that");
    }
}
