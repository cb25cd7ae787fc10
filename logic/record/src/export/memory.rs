//! Accesses to memory as a table: a line a working set and condition.

use super::csv::Table;
use crate::record::{MemoryMeasured, PointEntry, Record};

const COLUMNS: [&str; 14] = [
    "record",
    "profile",
    "valid",
    "pattern",
    "stride_bytes",
    "ways",
    "working_set_bytes",
    "blocks",
    "access_median_ns",
    "access_low_ns",
    "access_high_ns",
    "access_min_ns",
    "access_max_ns",
    "load_bytes_per_second",
];

/// The curves of all records; `None` where there is none.
pub fn memory_csv(records: &[Record]) -> Option<String> {
    let mut table = Table::new(&COLUMNS);
    let mut is_empty = true;
    for record in records {
        let Some(run) = record.memory() else { continue };
        if !matches!(run.measured, MemoryMeasured::Curve { .. }) {
            continue;
        }
        let ways = run.ways.as_ref().map(|ways| ways.count.to_string()).unwrap_or_default();
        for point in run.entry().points {
            is_empty = false;
            let head = [
                record.name.clone(),
                record.profile.clone(),
                record.is_valid().to_string(),
                run.pattern.name().to_owned(),
                run.stride_bytes.to_string(),
                ways.clone(),
            ];
            table.row(&[&head[..], &figures(&point)].concat());
        }
    }
    (!is_empty).then(|| table.finish())
}

fn figures(point: &PointEntry) -> [String; 8] {
    let time = |value: Option<f64>| value.map(|it| format!("{it:.4}")).unwrap_or_default();
    let found = &point.access_ns;
    [
        point.working_set_bytes.to_string(),
        found.count.to_string(),
        time(Some(found.median)),
        time(found.low),
        time(found.high),
        time(Some(point.min_ns)),
        time(Some(point.max_ns)),
        format!("{:.0}", point.load_bytes_per_second),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{AccessPattern, Measured, MemoryBlock, MemoryPoint, MemoryRun};
    use crate::test_record;

    #[test]
    fn a_working_set_is_a_line_and_other_records_have_none() {
        assert_eq!(memory_csv(&[test_record(&[(5, 10)])]), None);
        let mut record = test_record(&[]);
        record.name = "process.alone.random".to_owned();
        let block = |round, time_ns| MemoryBlock {
            round,
            accesses: 1_000,
            time_ns,
            load_bytes_per_second: 0.0,
        };
        record.measured = Measured::Memory(MemoryRun {
            pattern: AccessPattern::Random,
            stride_bytes: 64,
            pages: String::new(),
            caches: Vec::new(),
            ways: None,
            interference: None,
            measured: MemoryMeasured::Curve {
                points: vec![MemoryPoint {
                    working_set_bytes: 1024,
                    blocks: vec![block(0, 1_300), block(1, 1_500)],
                }],
            },
        });
        let text = memory_csv(&[record]).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0].split(',').count(), lines[1].split(',').count());
        assert!(lines[1].starts_with("process.alone.random,"), "{text}");
        assert!(lines[1].ends_with(",random,64,,1024,2,1.4000,,,1.3000,1.5000,0"), "{text}");
    }
}
