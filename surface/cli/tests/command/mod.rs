//! Calls of `quietcore` as a person makes them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

/// The program, in an empty folder.
pub(crate) fn quietcore(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quietcore"));
    command.current_dir(folder).env_remove("NO_COLOR");
    // No test makes a key of the machine's own.
    command.env("QUIETCORE_STATE_DIR", folder.join("state"));
    command
}

/// Output and exit status of a call.
pub(crate) struct Said {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the program with these arguments.
pub(crate) fn call(folder: &Path, arguments: &[&str]) -> Said {
    said(&quietcore(folder).args(arguments).output().unwrap())
}

pub(crate) fn said(output: &Output) -> Said {
    Said {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Makes a site file fit a machine that others use: each task may take a second, so that its
/// watchdog does not strike when the machine stands still for a moment.
pub(crate) fn patient(text: &str) -> String {
    let has_its_own = |line: &str| line.starts_with("watchdog = ");
    let is_watched = text.lines().any(has_its_own);
    let changed = text.lines().map(|line| match line {
        line if has_its_own(line) => "watchdog = \"1 s\"",
        line if line.starts_with("sensitivity = ") && is_watched => "",
        line if line.starts_with("sensitivity = ") => "watchdog = \"1 s\"",
        line => line,
    });
    let changed = changed.collect::<Vec<_>>().join("\n") + "\n";
    assert!(changed.contains("watchdog = \"1 s\""), "{text}");
    changed
}

/// Writes a site with one partition on the last CPU; returns `None` on a machine with one CPU.
pub(crate) fn site(folder: &Path, campaign: &str) -> Option<String> {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let last = online.trim().rsplit([',', '-']).next().unwrap().parse::<u32>().unwrap();
    if last == 0 {
        return None;
    }
    let text = format!(
        "[site]\nname = \"test\"\n[host]\nhousekeeping = [0]\n[[partition]]\nname = \
         \"axis\"\nclass = \"process-control\"\nbackend = \"process\"\n[partition.vcr]\ncpus = \
         [{last}]\n[partition.program]\nperiod = \"1 ms\"\npriority = 50\nearly_wake = \
         \"adaptive\"\n[campaign]\nwarm_up = \"100 ms\"\nexceedance = 1e-2\n{campaign}\n"
    );
    std::fs::write(folder.join("site.toml"), text).unwrap();
    Some("site.toml".to_owned())
}
