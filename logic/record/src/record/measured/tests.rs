//! Records of each kind that are written and read back.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::histogram::Histogram;
use crate::record::{
    AccessPattern, MemoryBlock, MemoryMeasured, MemoryPoint, Routine, Trigger, Variant,
};
use crate::{test_record, test_scan_record};

fn histogram(values: &[u32]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|value| histogram.record(u64::from(*value)));
    histogram
}

fn routine(values: &[u32], part: f64) -> RoutineRun {
    RoutineRun {
        routine: Routine::Isrentry,
        trigger: Some(Trigger::Software),
        kernel: "hosted port".to_owned(),
        hertz: 2_500_000_000,
        offset: 50,
        offset_mean: part,
        clamped: 1,
        raw: histogram(values),
        block_means_ns: vec![part, 2.0 * part],
    }
}

fn memory(time_ns: u64, part: f64) -> MemoryRun {
    let block = MemoryBlock { round: 0, accesses: 7, time_ns, load_bytes_per_second: part };
    let points = vec![MemoryPoint { working_set_bytes: 4096, blocks: vec![block] }];
    MemoryRun {
        pattern: AccessPattern::Random,
        stride_bytes: 64,
        pages: "4 KiB".to_owned(),
        caches: Vec::new(),
        ways: None,
        interference: None,
        measured: MemoryMeasured::Curve { points },
    }
}

fn round_trip(cycles: u64, rate: f64) -> RoundTripRun {
    RoundTripRun {
        interface: "sim".to_owned(),
        subdevices: 3,
        cycles,
        lost: 2,
        incomplete: 1,
        mean_cycles_per_second: rate,
        sustained_cycles_per_second: Some(rate),
        first_alarm: None,
    }
}

fn interrupt(values: &[u32]) -> InterruptRun {
    InterruptRun {
        path: "board".to_owned(),
        kernel: "bare port".to_owned(),
        register: histogram(values),
        switch: histogram(values),
        until_task: histogram(values),
        left_out: 3,
    }
}

fn trial() -> Trial {
    Trial { variant: Variant::Beside { aggressor: None }, blocks: Vec::new() }
}

fn kinds() -> impl Strategy<Value = Measured> {
    let values = || prop::collection::vec(any::<u32>(), 0..20);
    let part = || 0.0..1e12;
    let with = any::<bool>().prop_map(|with_scan| {
        Measured::releases(test_scan_record().scan().filter(|_| with_scan).cloned())
    });
    prop_oneof![
        with,
        (values(), part()).prop_map(|(values, part)| Measured::Routine(routine(&values, part))),
        values().prop_map(|values| Measured::Interrupt(interrupt(&values))),
        (any::<u64>(), part()).prop_map(|(time, part)| Measured::Memory(memory(time, part))),
        (any::<u64>(), part())
            .prop_map(|(cycles, rate)| { Measured::RoundTrip(round_trip(cycles, rate)) }),
    ]
}

proptest! {
    #[test]
    fn a_record_of_each_kind_is_read_as_it_was_written(
        measured in kinds(),
        is_of_experiment in any::<bool>(),
    ) {
        let mut record = test_record(&[(4_000, 970)]);
        record.measured = measured;
        record.trial = is_of_experiment.then(trial);
        let text = serde_json::to_string(&record).unwrap();
        prop_assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
    }
}

/// Goal: each kind stands under the key of earlier versions, and no other kind beside it.
#[test]
fn a_file_has_the_keys_that_it_always_had() {
    let keys = |measured: Measured| {
        let value = serde_json::to_value(measured).unwrap();
        value.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(Measured::default()), [""; 0]);
    let scan = test_scan_record().scan().cloned();
    assert_eq!(keys(Measured::releases(scan)), ["scan"]);
    assert_eq!(keys(Measured::Routine(routine(&[7], 0.5))), ["routine"]);
    assert_eq!(keys(Measured::RoundTrip(round_trip(9, 0.5))), ["round_trip"]);
}

#[test]
fn what_excludes_each_other_is_no_record() {
    let mut file = serde_json::to_value(test_scan_record()).unwrap();
    file["round_trip"] = serde_json::to_value(round_trip(9, 0.5)).unwrap();
    let error = serde_json::from_value::<Record>(file.clone()).unwrap_err().to_string();
    assert!(error.contains("more than one of releases, a routine"), "{error}");
    // As earlier versions have written it.
    for key in ["round_trip", "routine", "memory"] {
        file[key] = Value::Null;
    }
    assert_eq!(serde_json::from_value::<Record>(file.clone()).unwrap(), test_scan_record());
    file["scan"] = json!(null);
    assert!(serde_json::from_value::<Record>(file).unwrap().scan().is_none());
}
