//! Experiments: what was varied made a difference, or not, and how sure that is.
//!
//! | part | what |
//! |---|---|
//! | [`tuning`] | controls of the machine, each left out of all: helped, hurt, or no effect |
//! | [`disturbances`] | neighbours, each at each place: how much later releases come beside it |
//! | [`costs`] | backends, each against the one that the others are compared with |
//! | [`Exceedances`] | releases above a limit, which a high quantile rests on |
//! | `pairs` | ratios of blocks of the same round, with their interval and their probability |
//!
//! The blocks of a round were measured in chance order right after each other, so each ratio is
//! that of a pair which has seen the same machine. Nothing is assumed about the distribution of the
//! ratios: the median has the interval of the sign test, and the probability is that of the sign
//! test. Where several variants are tested, probabilities are corrected for their number (Holm), so
//! that one experiment in twenty says anything false at all.

mod cost;
mod disturbance;
mod exceedances;
mod pairs;
mod tune;

pub use cost::{BackendCost, Cost, CostFigure, CostMeasure, CostQuantity, CostRound, costs};
pub use disturbance::{Disturbance, DisturbanceCell, MainCause, disturbances};
pub use exceedances::Exceedances;
pub use pairs::{Figure, Finding, Ratio, factor};
pub use tune::{Confirmed, ControlEffect, Effect, SetsFound, Tuning, tuning};

use crate::record::Record;
use exceedances::p99_9_ns;

/// The part of a record's name behind partition and profile: which task it is of.
fn task_of(record: &Record) -> &str {
    let front = format!("{}.{}.", record.partition, record.profile);
    record.name.strip_prefix(&front).unwrap_or(&record.name)
}

#[cfg(test)]
mod tests;
