//! Tracers: with which means a late cycle can be explained here.

use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::source::Source;

/// Tracers and their permissions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tracing {
    /// Folder of the kernel's tracing files; absent when they are not mounted.
    pub folder: Reading<String>,
    /// The tracers, such as `osnoise`, `timerlat`, `hwlat`, `function`.
    pub tracers: Reading<Vec<String>>,
    /// The tracer in use; `nop` is none.
    pub current: Reading<String>,
    /// The right to count events: −1 everyone, 2 root only for the kernel, 3 nobody else.
    pub perf_paranoid: Reading<i32>,
    /// Refusal of programs in the kernel (eBPF) to ordinary users; 0 allows them.
    pub unprivileged_bpf_disabled: Reading<u32>,
    /// `true` if the kernel describes its types for eBPF.
    pub bpf_types: Reading<bool>,
}

impl Tracing {
    /// Returns `true` if a tracer is there; `None` if the list can't be read.
    pub fn has(&self, tracer: &str) -> Option<bool> {
        Some(self.tracers.get()?.iter().any(|other| other == tracer))
    }
}

pub(super) fn read(source: &Source) -> Tracing {
    let folder = folder(source);
    let within = |name: &str| folder.clone().map(|folder| format!("{folder}/{name}"));
    Tracing {
        tracers: within("available_tracers").and_then(|path| source.words(&path)),
        current: within("current_tracer").and_then(|path| source.text(&path)),
        folder,
        perf_paranoid: source.value("/proc/sys/kernel/perf_event_paranoid"),
        unprivileged_bpf_disabled: source.value("/proc/sys/kernel/unprivileged_bpf_disabled"),
        bpf_types: source.exists("/sys/kernel/btf/vmlinux"),
    }
}

/// The folder is there on every kernel with tracing; only a mounted one has files. An ordinary user
/// may not look into it, so the table of mounts is asked.
fn folder(source: &Source) -> Reading<String> {
    source.text("/proc/self/mountinfo").and_then(|table| {
        table
            .lines()
            .find_map(|line| {
                let (mount, kind) = line.split_once(" - ")?;
                let folder = mount.split_whitespace().nth(4)?;
                match kind.split_whitespace().next()? {
                    "tracefs" => Some(folder.to_owned()),
                    "debugfs" => Some(format!("{folder}/tracing")),
                    _ => None,
                }
            })
            .map_or(Reading::Absent, Reading::Read)
    })
}
