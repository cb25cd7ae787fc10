//! Lies in records: what was measured, and under which conditions.

use serde_json::{Value, json};

use crate::edit::{Lie, change, lie, put, set};
use crate::sample;

/// The record that makes the sample fail.
const RECORD: &str = sample::RECORD;
/// A record of a program's task, and one of a task of its own kernel.
const PROGRAM: &str = "records/press.tp4.cycle.json";
const KERNEL: &str = "records/press.tp4.Sort.json";

pub(crate) fn lies() -> Vec<Lie> {
    let mut lies = identity();
    lies.extend(values());
    lies.extend(counters());
    lies.extend(kept());
    lies.extend(conditions());
    lies.extend(program());
    lies
}

/// One value of the failing record that is replaced.
fn of(name: &'static str, place: &'static str, value: Value) -> Lie {
    set(name, RECORD, place, value)
}

fn identity() -> Vec<Lie> {
    vec![
        of("a record of another schema", "/schema", json!("quietcore.record/9")),
        of("a record of another name", "/name", json!("axis.tp4.cpu2")),
        of("a record of another probe", "/probe", json!("exec")),
        of("a record of a foreign probe", "/probe", json!("cyclictest")),
        of("a record of another partition", "/partition", json!("press")),
        of("a record of no partition", "/partition", json!("nobody")),
        of("a record of another profile", "/profile", json!("tp2")),
        of("a record without the reservation", "/reserved", json!(false)),
        of("a record of another CPU", "/cpu", json!(2)),
        of("a record of no CPU", "/cpu", json!(null)),
        of("a shorter period", "/period_ns", json!(100_000)),
        of("a longer period", "/period_ns", json!(10_000_000)),
        of("no period", "/period_ns", json!(null)),
        of("a run that was ended early", "/interrupted", json!(true)).beyond(),
        of("a record that is degraded", "/degraded", json!(["no lock"])).beyond(),
        of("a record that is invalid", "/invalid_because", json!(["the clock broke"])).beyond(),
        set("what was refused, away", "records/press.tp1.cycle.json", "/degraded", json!([])),
        set("what is wrong, away", "records/press.tp1.Sort.json", "/invalid_because", json!([]))
            .beyond(),
    ]
}

fn values() -> Vec<Lie> {
    vec![
        of("a smaller maximum", "/release/max_ns", json!(21_000)),
        of("a smaller minimum", "/release/min_ns", json!(1)),
        of("a larger count", "/release/count", json!(10_000_000)),
        of("a count of 2⁶⁴", "/release/count", json!(1.844_674_407_370_955_2e19)),
        of("a count just below 2⁶⁴", "/release/count", json!(u64::MAX)),
        of("another sum", "/release/sum_ns", json!(1)),
        of("an overflow", "/release/overflow", json!(3)),
        of("a coarser resolution", "/release/resolution_ns", json!(1_000_000)),
        of("an earlier end", "/release/overflow_from_ns", json!(1_000_000)),
        lie("the late release moved to an early bin", |root| {
            change(root, RECORD, |record| {
                record["release"]["bins"].as_array_mut().unwrap().pop();
                let first = record["release"]["bins"][0][1].as_u64().unwrap();
                record["release"]["bins"][0][1] = json!(first + 1);
                record["release"]["max_ns"] = json!(15_000);
            });
        }),
        lie("the late release away from bins, count and sum", |root| {
            change(root, RECORD, |record| {
                let max = record["release"]["max_ns"].as_u64().unwrap();
                let sum = record["release"]["sum_ns"].as_u64().unwrap();
                let count = record["release"]["count"].as_u64().unwrap();
                let bins = record["release"]["bins"].as_array_mut().unwrap();
                bins.pop();
                let last = bins.last().unwrap()[0].clone();
                record["release"]["max_ns"] = last;
                record["release"]["sum_ns"] = json!(sum - max);
                record["release"]["count"] = json!(count - 1);
            });
        }),
        lie("all counts ten times", |root| {
            change(root, RECORD, |record| {
                for bin in record["release"]["bins"].as_array_mut().unwrap() {
                    bin[1] = json!(bin[1].as_u64().unwrap() * 10);
                }
                for key in ["count", "sum_ns"] {
                    let value = record["release"][key].as_u64().unwrap();
                    record["release"][key] = json!(value * 10);
                }
            });
        }),
        lie("counts near 2⁶⁴ that add up", |root| {
            change(root, RECORD, |record| {
                let first = record["release"]["bins"][0][1].as_u64().unwrap();
                let count = record["release"]["count"].as_u64().unwrap();
                let more = u64::MAX - count;
                record["release"]["bins"][0][1] = json!(first + more);
                record["release"]["count"] = json!(u64::MAX);
                record["release"]["sum_ns"] = json!(u64::MAX);
            });
        }),
        of("no wake-up latency", "/wakeup", json!(null)),
        of("another count of wake-ups", "/wakeup/count", json!(1_999)),
    ]
}

fn counters() -> Vec<Lie> {
    let of = |name, place, value| set(name, RECORD, place, value);
    vec![
        of("no misses", "/counters/missed_cycles", json!(0)),
        of("10⁹ misses", "/counters/missed_cycles", json!(1_000_000_000)),
        of("an unknown number of misses", "/counters/missed_cycles", json!(null)),
        of("a longer run of misses", "/counters/longest_miss_run", json!(7)),
        of("55 early releases", "/counters/early", json!(55)),
        of("more cycles asked for", "/counters/planned_cycles", json!(4_000)),
        of("fewer cycles asked for", "/counters/planned_cycles", json!(1_000)),
        of("no number of cycles asked for", "/counters/planned_cycles", json!(0)),
        of("no differences", "/counters/difference_sum_ns", json!(0)),
        of("huge differences", "/counters/difference_sum_ns", json!(u64::MAX)),
        of("an endless spin", "/counters/spin_ns", json!(u64::MAX)),
        of("another number of migrations", "/counters/migrations", json!(12)).beyond(),
        of("another margin", "/counters/margin_ns", json!(50)).beyond(),
        of("another cost of the probe", "/counters/own_cost_ns", json!(1)).beyond(),
    ]
}

fn kept() -> Vec<Lie> {
    let of = |name, place, value| set(name, RECORD, place, value);
    vec![
        of("a spike above the maximum", "/spikes/0/latency_ns", json!(9_000_000)),
        of("a spike below the maximum", "/spikes/0/latency_ns", json!(22_000)),
        of("a spike at another release", "/spikes/0/release", json!(778)),
        of("a spike after the run", "/spikes/0/release", json!(1_u64 << 50)),
        of("a spike at another time", "/spikes/0/at_ns", json!(1)),
        of("a spike on another CPU", "/spikes/0/cpu", json!(0)),
        of("a spike with another cause", "/spikes/0/conditions", json!(["steal 90 %"])).beyond(),
        lie("the worst spike away", |root| {
            change(root, RECORD, |record| {
                record["spikes"].as_array_mut().unwrap().remove(0);
            });
        }),
        of("no spikes", "/spikes", json!([])),
        of("no time line", "/timeline/slots", json!([])),
        of("a calmer stretch of the time line", "/timeline/slots/38/1", json!(16_000)),
        of("a stretch of another length", "/timeline/slots/0/0", json!(19)),
        of("other stretches", "/timeline/slot_cycles", json!(40)),
    ]
}

fn conditions() -> Vec<Lie> {
    let of = |name, place, value| set(name, RECORD, place, value);
    vec![
        of("a longer run", "/conditions/duration_ns", json!(3_600_000_000_000_u64)),
        of("a run before the campaign", "/conditions/started_at", json!("2025-06-01T00:00:00Z")),
        of("another instant of the run", "/conditions/started_at", json!("2026-01-02T03:30:00Z")),
        of("another mode", "/conditions/release_mode/wait", json!("sleep")),
        of("another policy", "/conditions/scheduling_policy/read_back", json!("other")),
        of("a higher priority", "/conditions/scheduling_policy/read_back/fifo/priority", json!(99)),
        of("another affinity", "/conditions/cpus_allowed/read_back", json!("0-2")),
        of("CPUs that were not awake", "/conditions/dma_latency_held", json!(false)),
        of("another kernel", "/conditions/machine/kernel", json!("6.12.0-rt")),
        of("another processor", "/conditions/machine/cpu_model", json!("Fast CPU")),
        of("a condition that was not there", "/conditions/machine/isolcpus", json!("1")),
        of("time that was not real", "/conditions/time", json!({ "emulated": "slow" })),
        lie("another kernel in all records", |root| {
            for entry in std::fs::read_dir(root.join("records")).unwrap() {
                let file = format!("records/{}", entry.unwrap().file_name().to_string_lossy());
                change(root, &file, |it| put(it, "/conditions/machine/kernel", json!("6.12-rt")));
            }
        }),
        of("no loads", "/conditions/loads", json!([])),
        of("fewer workers", "/conditions/loads/0/workers", json!(1)),
        of("workers that did not work", "/conditions/loads/0/working", json!(3)),
        of("another load", "/conditions/loads/0/kind", json!("disk")),
        of("a load that did more", "/conditions/loads/0/operations_per_second", json!(9e9)),
        of("a load on other CPUs", "/conditions/loads/0/cpus", json!("0-2")),
        of("what else happened", "/conditions/activity/steal", json!("0.00 %")).beyond(),
        of(
            "a part of an earlier run",
            "/conditions/earlier_part",
            json!({ "cycles": 9, "started_at": "2026-01-02T03:00:00Z" }),
        )
        .beyond(),
        of("another site file", "/conditions/site_sha256", json!("5e".repeat(32))),
        of("another version of the record", "/conditions/quietcore_version", json!("9.9.9")),
        of("an injected delay", "/conditions/injection", json!("5 ms at release 777")),
    ]
}

fn program() -> Vec<Lie> {
    let of = |name, place, value| set(name, PROGRAM, place, value);
    vec![
        of("a later deadline", "/scan/terms/deadline_ns", json!(1_000_000)),
        of("no deadline", "/scan/terms/deadline_ns", json!(null)),
        of("a later watchdog", "/scan/terms/watchdog_ns", json!(9_000_000)),
        of("a slower program", "/scan/terms/program_period_ns", json!(9_000_000)),
        of("released by its kernel", "/scan/terms/by_kernel", json!(true)),
        lie("released by its kernel, with a huge deadline", |root| {
            change(root, PROGRAM, |record| {
                record["scan"]["terms"]["by_kernel"] = json!(true);
                record["scan"]["terms"]["deadline_ns"] = json!(600_000_000_000_u64);
            });
        }),
        set(
            "a huge deadline of a kernel's task",
            KERNEL,
            "/scan/terms/deadline_ns",
            json!(1_u64 << 60),
        ),
        set("no deadline of a kernel's task", KERNEL, "/scan/terms/deadline_ns", json!(null)),
        set("a kernel's task by the clock", KERNEL, "/scan/terms/by_kernel", json!(false)),
        of("overruns that were none", "/scan/counters/overruns", json!(3)),
        of("a longer run of overruns", "/scan/counters/longest_overrun_run", json!(3)),
        of("a program that failed", "/scan/faults", json!(["it crashed"])).beyond(),
        of("a shorter longest execution", "/scan/worst_execution/value_ns", json!(100)),
        of("no longest response", "/scan/worst_response", json!(null)),
        of("another sum of execution times", "/scan/execution/sum_ns", json!(300_000_000)),
        of("another count of responses", "/scan/response/count", json!(1_999)),
        of("no cycles of the program", "/scan", json!(null)),
        of("another build", "/conditions/machine/program_build", json!("aa".repeat(32))),
        of("another compiler", "/conditions/machine/compiler", json!("gcc 99")),
    ]
}
