//! An isolation matrix that was never measured.

use quietcore_evidence::Evidence;

use super::{ASLEEP, Shape, evidence, papers_load, record, without};

/// Makes nine rows of the matrix: row 5 without its controls, row 6 never reached, the last two
/// left out. `margin_ns` lets the partition wake early, in a container.
pub(crate) fn isolation(margin_ns: Option<f64>) -> Evidence {
    let records = (1..=10).filter(|row| *row != 6).map(|row: u64| {
        let is_loaded = row.is_multiple_of(2);
        let shape = Shape {
            wakeup_ns: 30_000.0 / (row as f64).sqrt() + if is_loaded { 9_000.0 } else { 0.0 },
            spike_every: 100 * row,
            spike_times: if row < 3 { 900.0 } else { 90.0 },
            margin_ns,
            ..ASLEEP
        };
        let mut record = record(&format!("iso{row}"), 1, 20_000, shape, row);
        record.reserved = row > 2;
        if is_loaded {
            record.conditions.loads = papers_load();
            let cpus = if row < 7 { "0-1" } else { "0" };
            record
                .conditions
                .loads
                .iter_mut()
                .for_each(|load| load.cpus = cpus.parse().expect("it is a list"));
        }
        let container = ("container".to_owned(), "runc version 0 (synthetic)".to_owned());
        record.conditions.machine.extend(margin_ns.is_some().then_some(container));
        if row == 5 {
            record.degraded = vec![
                quietcore_record::reason::NotInForce::Control {
                    problem: "control `load-balance` has no effect: `<x>` is refused".into(),
                }
                .into(),
            ];
        }
        record
    });
    without(evidence(records.collect(), 1e-4), "iso6", "the load could not be started: `<y>`")
}
