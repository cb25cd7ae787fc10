//! The formats of `cyclictest`: summary lines with the block of `-h`, and the JSON of `--json`.
//!
//! A figure that a record doesn't know stands as 0: the thread's number in the system, and `Act`,
//! the last value. The end of the histogram stands in the JSON's command line, where readers look
//! for it.

use std::fmt::Write as _;

use quietcore_units::Nanos;
use serde_json::{Map, Value, json};

use super::bucket::{self, Buckets};
use crate::record::Record;

/// The interval that is printed where the record knows none, in µs.
const INTERVAL_UNKNOWN: u64 = 0;

/// The text that `cyclictest -h END` prints: a summary line and a column a record.
///
/// `end` is the end of the histogram, at most one second. It is earlier where a record itself has
/// no buckets so far. No records give an empty text.
pub fn cyclictest_text(records: &[Record], end: Nanos) -> String {
    let columns = columns(records, end);
    let Some(rows) = columns.first().map(|column| column.end) else { return String::new() };
    let mut text = String::new();
    if records.iter().all(|record| record.conditions.dma_latency_held) {
        text.push_str("# /dev/cpu_dma_latency set to 0us\n");
    }
    for (thread, (record, column)) in records.iter().zip(&columns).enumerate() {
        line(
            &mut text,
            format_args!(
                "T:{thread:2} ({:5}) P:{:2} I:{} C:{:7} Min:{:7} Act:{:5} Avg:{:5} Max:{:8}",
                0,
                priority(record),
                interval_us(record).unwrap_or(INTERVAL_UNKNOWN),
                column.count,
                column.min,
                0,
                column.mean as u64,
                column.max
            ),
        );
    }
    text.push_str("# Histogram\n");
    let mut places = vec![0; columns.len()];
    for bucket in 0..rows {
        let _ = write!(text, "{bucket:06} ");
        for (index, (column, place)) in columns.iter().zip(&mut places).enumerate() {
            let count = match column.filled.get(*place) {
                Some((filled, count)) if *filled == bucket => {
                    *place += 1;
                    *count
                }
                _ => 0,
            };
            let _ = write!(text, "{}{count:06}", if index == 0 { "" } else { "\t" });
        }
        text.push('\n');
    }
    summary(&mut text, &columns);
    text
}

fn summary(text: &mut String, columns: &[Buckets]) {
    let mut row = |label: &str, width: usize, figure: fn(&Buckets) -> u64| {
        text.push_str(label);
        for column in columns {
            let _ = write!(text, " {:0width$}", figure(column));
        }
        text.push('\n');
    };
    row("# Total:", 9, Buckets::total);
    row("# Min Latencies:", 5, |column| column.min);
    row("# Avg Latencies:", 5, |column| column.mean as u64);
    row("# Max Latencies:", 5, |column| column.max);
    row("# Histogram Overflows:", 5, |column| column.overflow);
    text.push_str("# Histogram Overflow at cycle number:\n");
    for (thread, column) in columns.iter().enumerate() {
        let _ = write!(text, "# Thread {thread}:");
        if column.overflow > 0 {
            // Which cycles they were, the record doesn't know.
            let _ = write!(text, " # {:05} others", column.overflow);
        }
        text.push('\n');
    }
    text.push('\n');
}

/// The JSON that `cyclictest -h END --json=FILE` writes, a thread a record.
///
/// Interval and end stand in the command line; the interval only where all records have the same.
pub fn cyclictest_json(records: &[Record], end: Nanos) -> String {
    let columns = columns(records, end);
    let mut command = "quietcore".to_owned();
    if let Some(first) = columns.first() {
        let _ = write!(command, " -h {}", first.end);
    }
    let interval = records.first().and_then(interval_us);
    if let Some(interval) =
        interval.filter(|_| records.iter().all(|record| interval_us(record) == interval))
    {
        let _ = write!(command, " -i {interval}");
    }
    let threads: Map<String, Value> = records
        .iter()
        .zip(&columns)
        .enumerate()
        .map(|(thread, (record, column))| (thread.to_string(), json_thread(record, column)))
        .collect();
    let first = records.first();
    let document = json!({
        "file_version": 1,
        "cmdline:": command,
        "rt_test_version:": concat!("quietcore ", env!("CARGO_PKG_VERSION")),
        "start_time": first.map_or("", |record| &record.conditions.started_at),
        "return_code": 0,
        "num_threads": records.len(),
        "resolution_in_ns": 0,
        "thread": threads,
    });
    let mut text =
        serde_json::to_string_pretty(&document).expect("strings and numbers have a JSON form");
    text.push('\n');
    text
}

fn json_thread(record: &Record, column: &Buckets) -> Value {
    let histogram: Map<String, Value> = column
        .filled
        .iter()
        .map(|(bucket, count)| (bucket.to_string(), Value::from(*count)))
        .collect();
    json!({
        "name": record.name,
        "histogram": histogram,
        "cycles": column.count,
        "min": column.min,
        "max": column.max,
        "avg": (column.mean * 100.0).round() / 100.0,
        "cpu": record.cpu.map_or(-1, i64::from),
        "node": -1,
    })
}

fn columns(records: &[Record], end: Nanos) -> Vec<Buckets> {
    let histograms: Vec<_> = records.iter().map(|record| &record.release).collect();
    let end = bucket::end(&histograms, end);
    histograms.into_iter().map(|histogram| Buckets::of(histogram, end)).collect()
}

fn interval_us(record: &Record) -> Option<u64> {
    record.period_ns.map(|period| period / 1_000)
}

/// The priority under whatever policy has one; 0 where there is none.
fn priority(record: &Record) -> u64 {
    record.conditions.policy.priority().unwrap_or(0)
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("a string takes everything");
    text.push('\n');
}
