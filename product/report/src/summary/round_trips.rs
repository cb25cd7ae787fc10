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

/// Says how many cycles a second there were, on average and in the slowest thousand.
pub fn rates(run: &RoundTripRun) -> String {
    let mean = format!("mean {} cycles/s", figures::amount(run.mean_cycles_per_second));
    match run.sustained_cycles_per_second {
        Some(rate) => {
            format!("{mean}, {} in the slowest thousand cycles", figures::amount(rate))
        }
        None => mean,
    }
}

/// Says how many cycles lost a frame or came back wrong.
pub fn losses(run: &RoundTripRun) -> String {
    format!(
        "of {} cycles {} lost a frame, {} came back with a wrong working counter",
        figures::count(run.cycles),
        figures::count(run.lost),
        figures::count(run.incomplete)
    )
}
