//! The frame of a file that a program of rt-tests writes: its command line, time and machine.

use serde::Deserialize;

use super::time::Instant;
use crate::record::Conditions;

/// The entries around the figures. Any of them may be absent.
#[derive(Default, Deserialize)]
pub(in crate::import) struct Frame {
    #[serde(default, rename = "cmdline:", alias = "cmdline")]
    pub(in crate::import) command_line: Option<String>,
    #[serde(default)]
    start_time: Option<String>,
    #[serde(default)]
    end_time: Option<String>,
    #[serde(default)]
    sysinfo: Option<System>,
}

/// The machine that the file was written on.
#[derive(Default, Deserialize)]
pub(in crate::import) struct System {
    #[serde(default)]
    sysname: String,
    #[serde(default)]
    release: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    machine: String,
    #[serde(default)]
    realtime: Option<u64>,
}

impl Frame {
    /// Adds what is known about the run and its machine.
    pub(in crate::import) fn describe(&self, conditions: &mut Conditions) {
        let started = self.start_time.as_deref().and_then(Instant::parse);
        let ended = self.end_time.as_deref().and_then(Instant::parse);
        if let Some(started) = started {
            conditions.started_at = started.to_string();
            conditions.duration_ns = ended.map_or(0, |ended| ended.nanos_since(started));
        }
        if let Some(line) = &self.command_line {
            conditions.machine.insert("command".to_owned(), line.clone());
        }
        if let Some(system) = &self.sysinfo {
            system.describe(conditions);
        }
    }
}

impl System {
    /// Adds what is known about the machine.
    pub(in crate::import) fn describe(&self, conditions: &mut Conditions) {
        let kernel = format!("{} {} {}", self.sysname, self.release, self.version);
        let realtime = self.realtime.map(|realtime| if realtime == 0 { "no" } else { "yes" });
        for (subject, fact) in [
            ("kernel", kernel.trim()),
            ("architecture", self.machine.as_str()),
            ("realtime kernel", realtime.unwrap_or_default()),
        ] {
            if !fact.is_empty() {
                conditions.machine.insert(subject.to_owned(), fact.to_owned());
            }
        }
    }
}
