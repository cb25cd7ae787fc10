//! The yield of a probe run, and the conclusions from it. Pure: no I/O, no clock, no thread.
//!
//! ```text
//! exchange or file ─► Record ─► Statistics ─► judge(class) ─► Judgement
//!                       │
//!                       └─► formats: import, export, evidence document
//! ```
//!
//! - [`histogram`]: the values, none lost.
//! - [`record`]: the values with counters, spikes, time line and conditions.
//! - [`reason`]: why a record can't be trusted, and what was not in force.
//! - [`statistics`]: the summary, with every definition named.
//! - [`class`], [`verdict`]: the application classes, and PASS, FAIL or NOT PROVEN.
//! - [`ageing`]: what a verdict depends on, then and now.
//! - [`document`]: the evidence document, records and verdicts in figures.
//! - [`import`], [`export`]: other programs' formats in, theirs and tables out.
//! - [`published`]: the papers' tables, and the counterpart of all that they show.
//! - [`ledger`]: where the time of each late release went.
//! - [`trace`]: variables of a program over time.
//! - [`compare`]: run against run with how sure that is, and run beside a published table.
//! - [`experiment`]: what a control helps and a neighbour costs, from blocks measured in turns.
//! - [`isolation`]: the isolation matrix of hofer2019, a run beside its table.
//! - [`renewal`]: what of an earlier folder was measured again, and what was taken over.
//! - [`slowdown`]: what neighbours cost, from records that were measured in turns.

#![forbid(unsafe_code)]

pub mod ageing;
pub mod class;
pub mod compare;
pub mod document;
pub mod experiment;
pub mod export;
pub mod histogram;
pub mod import;
pub mod isolation;
pub mod ledger;
pub mod published;
pub mod reason;
pub mod record;
pub mod statistics;
pub mod trace;
pub mod verdict;

pub use ageing::renewal;
pub use compare::slowdown;

#[cfg(test)]
use record::{test_record, test_scan_record};
