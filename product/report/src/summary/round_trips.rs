//! Round trips of EtherCAT frames: what the probe `ethercat` measured.
//!
//! They are no releases: no class judges them, and they take no part in the verdicts.

use quietcore_evidence::Evidence;
use quietcore_record::record::RoundTripRun;

use super::{RecordSummary, summarise};
use crate::figures;

/// The records of round trips, each with its statistics, in the order of the evidence.
pub(super) fn records(evidence: &Evidence) -> Vec<RecordSummary<'_>> {
    evidence.records.iter().filter(|record| record.round_trip.is_some()).map(summarise).collect()
}

/// What the cycles ran on, and how fast they went, in words.
pub fn rates(run: &RoundTripRun) -> String {
    let mean = format!("mean {} cycles/s", figures::amount(run.mean_cycles_per_second));
    match run.sustained_cycles_per_second {
        Some(rate) => {
            format!("{mean}, {} in the slowest thousand cycles", figures::amount(rate))
        }
        None => mean,
    }
}

/// What was lost or came back wrong, in words.
pub fn losses(run: &RoundTripRun) -> String {
    format!(
        "of {} cycles {} lost a frame, {} came back with a wrong working counter",
        figures::count(run.cycles),
        figures::count(run.lost),
        figures::count(run.incomplete)
    )
}
