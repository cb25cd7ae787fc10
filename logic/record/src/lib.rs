//! What a probe run yields, and what follows from it. Pure: no I/O, no clock, no thread.
//!
//! ```text
//! exchange or file ─► Record ─► Statistics ─► judge(class) ─► Judgement
//!                       │
//!                       └─► formats: import, export, evidence document
//! ```
//!
//! - [`histogram`]: the values, none lost.
//! - [`record`]: the values with counters, spikes, time line and conditions.
//! - [`statistics`]: the summary, with every definition named.
//! - [`class`], [`verdict`]: the application classes, and PASS, FAIL or NOT PROVEN.
//! - [`document`]: the evidence document, records and verdicts in figures.
//! - [`import`], [`export`]: other programs' formats in, theirs and tables out.
//! - [`published`]: the papers' tables.
//! - [`compare`]: run against run with how sure that is, and run beside a published table.

#![forbid(unsafe_code)]

pub mod class;
pub mod compare;
pub mod document;
pub mod export;
pub mod histogram;
pub mod import;
pub mod published;
pub mod record;
pub mod statistics;
pub mod verdict;

#[cfg(test)]
fn test_record(values: &[(u64, u64)]) -> record::Record {
    let mut release = histogram::Histogram::new();
    for (value, times) in values {
        release.record_many(*value, *times);
    }
    record::Record {
        schema: record::RECORD_SCHEMA.to_owned(),
        name: "axis.tp2.cpu1".to_owned(),
        probe: "latency".to_owned(),
        partition: "axis".to_owned(),
        profile: "tp2".to_owned(),
        reserved: true,
        cpu: Some(1),
        period_ns: Some(1_000_000),
        release,
        wakeup: None,
        counters: record::Counters::default(),
        spikes: Vec::new(),
        timeline: record::Timeline::default(),
        conditions: record::Conditions::default(),
        interrupted: false,
        degraded: Vec::new(),
        invalid_because: Vec::new(),
    }
}
