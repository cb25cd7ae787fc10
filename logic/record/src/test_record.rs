//! A record for the tests of this crate.

use crate::histogram::Histogram;
use crate::record::{Conditions, Counters, RECORD_SCHEMA, Record, Timeline};

/// A valid record of these values, each as often as said, measured every 1 ms on CPU 1.
pub(crate) fn test_record(values: &[(u64, u64)]) -> Record {
    let mut release = Histogram::new();
    for (value, times) in values {
        release.record_many(*value, *times);
    }
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: "axis.tp2.cpu1".to_owned(),
        probe: "latency".to_owned(),
        partition: "axis".to_owned(),
        profile: "tp2".to_owned(),
        reserved: true,
        cpu: Some(1),
        period_ns: Some(1_000_000),
        release,
        wakeup: None,
        counters: Counters::default(),
        spikes: Vec::new(),
        timeline: Timeline::default(),
        conditions: Conditions::default(),
        interrupted: false,
        degraded: Vec::new(),
        invalid_because: Vec::new(),
    }
}
