//! Round trips of EtherCAT frames for the terminal.

use super::Page;
use super::probe::spread;
use crate::summary::{RecordSummary, losses, rates};

impl Page {
    /// All about a record of round trips.
    pub(super) fn round_trips(&mut self, summary: &RecordSummary<'_>) {
        let record = summary.record;
        let Some(run) = &record.round_trip else { return };
        let (held, subdevices) = (&record.conditions, run.subdevices);
        self.paragraph("", &format!("EtherCAT on {}, {subdevices} SubDevices", run.interface));
        self.named("mode", &format!("{}; {} on CPU {}", held.mode, held.policy, held.affinity));
        self.named("round trip", &spread(&summary.statistics));
        self.named("rate", &rates(run));
        self.named("frames", &losses(run));
        if let Some(alarm) = &run.first_alarm {
            self.named("first alarm", alarm);
        }
        for because in &record.invalid_because {
            self.named("invalid", &because.to_string());
        }
        for because in &record.degraded {
            self.named("degraded", &because.to_string());
        }
        self.line("");
    }
}
