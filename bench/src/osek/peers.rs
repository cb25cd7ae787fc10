//! Hand-overs beside the kernel's: what Linux offers, and FreeRTOS on its POSIX port.
//!
//! They are C programs, built with `gcc` when the comparison begins. FreeRTOS is not part of this
//! repository: its sources are built from the folder that `--freertos` names.

use std::path::{Path, PathBuf};
use std::process::Command;

use quietcore_probe::osek::ClockUsed;
use quietcore_record::histogram::Histogram;
use tempfile::TempDir;

use super::Request;
use super::block::Took;

/// A block that takes longer hangs.
const BLOCK_SECONDS_MAX: u32 = 60;

/// The programs, by the name of their file.
const FILES: [(&str, &str); 4] = [
    ("reading.h", include_str!("peers/reading.h")),
    ("hand_over.c", include_str!("peers/hand_over.c")),
    ("freertos.c", include_str!("peers/freertos.c")),
    ("FreeRTOSConfig.h", include_str!("peers/FreeRTOSConfig.h")),
];

/// Sources that FreeRTOS needs.
const FREERTOS_SOURCES: [&str; 5] = [
    "tasks.c",
    "list.c",
    "portable/ThirdParty/GCC/Posix/port.c",
    "portable/ThirdParty/GCC/Posix/utils/wait_for_event.c",
    "portable/MemMang/heap_3.c",
];
const FREERTOS_INCLUDES: [&str; 3] =
    ["include", "portable/ThirdParty/GCC/Posix", "portable/ThirdParty/GCC/Posix/utils"];

/// A peer that was built.
pub(super) struct Peer {
    /// Its name in figures.
    pub(super) name: &'static str,
    program: PathBuf,
    kind: Option<&'static str>,
}

/// The results of a block of a peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    /// To the higher one.
    pub(super) there: Took,
    /// Times of the way back.
    pub(super) back: Took,
}

/// The peers, and why others are not there.
pub(super) struct Peers {
    pub(super) built: Vec<Peer>,
    pub(super) missing: Vec<String>,
    clock: ClockUsed,
    _folder: TempDir,
}

impl Peers {
    /// Builds what can be built.
    pub(super) fn build(request: &Request, clock: ClockUsed) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        for (name, text) in FILES {
            std::fs::write(folder.path().join(name), text).map_err(|error| error.to_string())?;
        }
        let mut peers = Self { built: Vec::new(), missing: Vec::new(), clock, _folder: folder };
        let program = peers.compile("hand_over", &[], &[]);
        match program {
            Ok(program) => {
                for (name, kind) in [
                    ("futex between SCHED_FIFO threads", "futex"),
                    ("condition variable between threads", "condvar"),
                    ("swapcontext", "context"),
                ] {
                    let program = program.clone();
                    peers.built.push(Peer { name, program, kind: Some(kind) });
                }
            }
            Err(why) => peers.missing.push(format!("hand-overs of Linux: {why}")),
        }
        match peers.freertos(request.freertos.as_deref()) {
            Ok(program) => {
                peers.built.push(Peer { name: "FreeRTOS, POSIX port", program, kind: None });
            }
            Err(why) => peers.missing.push(format!("FreeRTOS: {why}")),
        }
        Ok(peers)
    }

    fn freertos(&self, sources: Option<&Path>) -> Result<PathBuf, String> {
        let sources =
            sources.ok_or("give the source tree of FreeRTOS-Kernel with --freertos DIR")?;
        let under =
            |names: &[&str]| names.iter().map(|name| sources.join(name)).collect::<Vec<_>>();
        let files = under(&FREERTOS_SOURCES);
        if let Some(missing) = files.iter().find(|file| !file.is_file()) {
            return Err(format!("`{}` is not there; is it FreeRTOS-Kernel?", missing.display()));
        }
        self.compile("freertos", &files, &under(&FREERTOS_INCLUDES))
    }

    fn compile(
        &self,
        name: &str,
        sources: &[PathBuf],
        includes: &[PathBuf],
    ) -> Result<PathBuf, String> {
        let folder = self._folder.path();
        let program = folder.join(name);
        let mut command = Command::new("gcc");
        command.args(["-O2", "-std=gnu11", "-pthread", "-I"]).arg(folder);
        if matches!(self.clock, ClockUsed::Monotonic(_)) {
            command.arg("-DREAD_MONOTONIC");
        }
        for include in includes {
            command.arg("-I").arg(include);
        }
        command.arg(folder.join(format!("{name}.c"))).args(sources).arg("-o").arg(&program);
        let output = command.output().map_err(|error| format!("`gcc`: {error}"))?;
        if output.status.success() {
            Ok(program)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }

    /// Runs a block of a peer.
    pub(super) fn run(&self, peer: &Peer, request: &Request, times: u64) -> Result<Ways, String> {
        let output = Command::new("timeout")
            .arg(BLOCK_SECONDS_MAX.to_string())
            .arg(&peer.program)
            .args(peer.kind)
            .args([request.cpu.to_string(), request.priority.to_string(), times.to_string()])
            .output()
            .map_err(|error| format!("{}: {error}", peer.name))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {}", peer.name, said.trim()));
        }
        read(&String::from_utf8_lossy(&output.stdout), self.clock.hertz())
            .ok_or_else(|| format!("{}: it did not print what it measured", peer.name))
    }
}

/// The three columns of a peer.
fn read(text: &str, hertz: u64) -> Option<Ways> {
    let mut columns = [Histogram::new(), Histogram::new(), Histogram::new()];
    for line in text.lines() {
        let mut cells = line.split_whitespace();
        for column in &mut columns {
            column.record(cells.next()?.parse().ok()?);
        }
    }
    let [empty, there, back] = &columns;
    Some(Ways { there: Took::of(there, empty, hertz)?, back: Took::of(back, empty, hertz)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_a_peer_are_read() {
        let ways = read("50 150 250\n50 152 248\n50 151 249\n", 1_000_000_000).unwrap();
        assert!((ways.there.median_ns - 101.0).abs() < 1e-9);
        assert!((ways.back.median_ns - 199.0).abs() < 1e-9);
        assert!(read("50 150\n", 1_000_000_000).is_none(), "a column is missing");
        assert!(read("", 1_000_000_000).is_none(), "nothing was measured");
    }
}
