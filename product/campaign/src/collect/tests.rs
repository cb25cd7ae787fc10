//! Tests of the way from an exchange to records.

use std::os::unix::fs::FileExt as _;

use quietcore_backend::setting::BackendSetting;
use quietcore_exchange::{Recorder, Release, Shape};
use quietcore_load::WorkerProblem;
use quietcore_probe::job::LatencyJob;
use quietcore_process::exchange::Exchange;
use quietcore_record::reason::{
    MachineDrift, MachineSetting, NotInForce, Refusal, SettingFailure, sentences,
};
use quietcore_record::record::{Scheduled, TimeReality};
use quietcore_settings::{MemoryShare, RequestedSettings, SettingsReport};
use quietcore_units::{ByteSize, Scheduling, SchedulingPolicy, ThreadSettings, Wake, WakeKind};

use super::*;
use crate::world::simulated::Simulated;

const PERIOD: Nanos = Nanos::from_millis(1);

fn run() -> Run {
    let job = LatencyJob {
        cpus: vec![Some(1)],
        period: PERIOD,
        cycles: 3,
        warm_up_cycles: 0,
        policy: Scheduling::Fifo { priority: 90 },
        wake: Wake::Adaptive { share_percent: 25 },
        injection: None,
        memory: None,
        snare: None,
    };
    Run {
        profile: "tp2".to_owned(),
        reserved: true,
        settings: RequestedSettings::default(),
        container_runtime: None,
        partitions: vec![PartitionRun {
            name: "axis".to_owned(),
            work: PartitionWork::Latency(job),
            setting: BackendSetting::default(),
            share: MemoryShare::default(),
            confines: None,
        }],
        loads: Vec::new(),
        neighbours: Vec::new(),
        explain: None,
        site_sha256: String::new(),
    }
}

fn in_force(policy: u32, affinity: &str) -> ThreadSettings {
    let (policy, affinity) = (SchedulingPolicy::from_kernel(policy, 90), affinity.parse().unwrap());
    ThreadSettings { policy, affinity, locked: ByteSize::new(1 << 20) }
}

/// Returns the record of an exchange in which three cycles were recorded, after `change`.
fn collect(first: Option<ThreadSettings>, change: impl FnOnce(&Exchange)) -> Record {
    collect_with(first, |_| {}, change)
}

/// Does the same with what was found beside the exchange.
fn collect_with(
    first: Option<ThreadSettings>,
    find: impl FnOnce(&mut Findings),
    change: impl FnOnce(&Exchange),
) -> Record {
    let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
    let task = exchange.region().task(0).unwrap();
    let mut recorder = Recorder::new(task, PERIOD, 1);
    recorder.set_first_release(PERIOD);
    for number in 1..=3 {
        let due = PERIOD * number;
        recorder.record(&Release {
            due,
            started: due + Nanos::from_micros(number),
            wakeup_latency: Nanos::from_micros(20),
            margin: Nanos::ZERO,
            spin: Nanos::ZERO,
            cpu: 1,
        });
    }
    recorder.set_state(TaskState::Finished);
    change(&exchange);
    let run = run();
    Simulated::on_time().with_machine(|machine| {
        let mut findings = Findings::begin(&run, machine);
        findings.partitions[0].states[0].first = first;
        find(&mut findings);
        let activity = Activity::begin();
        let collector = Collector {
            run: &run,
            findings: &findings,
            activity: &activity,
            machine,
            goes_on: false,
        };
        let mut records = collector.records(0, exchange.region());
        assert_eq!(records.len(), 1);
        records.remove(0)
    })
}

#[test]
fn a_run_in_order_becomes_a_valid_record() {
    let record = collect(Some(in_force(1, "1")), |_| {});
    assert_eq!(record.name, "axis.tp2.cpu1");
    assert_eq!((&record.degraded[..], &record.invalid_because[..]), (&[][..], &[][..]));
    assert_eq!((record.release.count(), record.release.max_ns()), (3, 3_000));
    assert_eq!(record.conditions.duration_ns, 3_000_000);
    let scheduled = Scheduled { wake: Some(WakeKind::Early), fifo_priority: Some(90) };
    assert_eq!(record.conditions.scheduled(), Some(scheduled));
    assert_eq!(record.conditions.time, TimeReality::Native);
}

#[test]
fn what_was_granted_and_is_not_in_force_degrades_the_record() {
    let record = collect(Some(in_force(0, "0-1")), |_| {});
    assert_eq!(record.degraded.len(), 2, "{:?}", record.degraded);
    assert!(record.degraded[0].to_string().contains("SCHED_OTHER is in force"));
    assert!(record.degraded[1].to_string().contains("may run on 0,1"));
}

#[test]
fn settings_that_were_never_read_back_make_the_record_invalid() {
    let record = collect(None, |_| {});
    assert_eq!(record.invalid_because, [RunProblem::SettingsUnknown.into()]);
}

#[test]
fn a_task_that_never_ended_makes_the_record_invalid() {
    let record = collect(Some(in_force(1, "1")), |exchange| {
        let task = exchange.region().task(0).unwrap();
        Recorder::new(task, PERIOD, 1).set_state(TaskState::Running);
    });
    let state = TaskEnd::Running;
    assert_eq!(record.invalid_because[0], RunProblem::TaskNotEnded { state }.into());
}

/// Goal: whatever a partition writes into its exchange, the host makes a record that proves
/// nothing.
/// Method: everything behind the header is overwritten.
#[test]
fn an_exchange_full_of_nonsense_becomes_an_invalid_record() {
    for byte in [0xff, 0x80, 0x01] {
        let record = collect(Some(in_force(1, "1")), |exchange| {
            let file = exchange.file().unwrap();
            let size = usize::try_from(file.metadata().unwrap().len()).unwrap();
            file.write_all_at(&vec![byte; size - 4096], 4096).unwrap();
        });
        assert!(!record.is_valid());
        assert_eq!(record.release.count(), 0);
    }
}

#[test]
fn settings_that_drifted_make_a_record_invalid() {
    let setting = MachineSetting::File { path: "/proc/irq/7".to_owned() };
    let refusal = Refusal::Machine { error: "refused".to_owned() };
    let first = SettingFailure::Refused { setting: setting.clone(), refusal };
    let governor = NotInForce::ControlRefused { control: "governor".to_owned(), first, more: 0 };
    let (given, found) = ("0".to_owned(), "0,1".to_owned());
    let drift = MachineDrift::OtherValue { setting, given, found };
    let found = SettingsReport {
        controls: "interrupts 20 changed".to_owned(),
        troubles: vec![governor.clone()],
        absent: Vec::new(),
        drifts: vec![drift, MachineDrift::CpuOffline { cpu: 1 }],
    };
    let record = collect_with(Some(in_force(1, "1")), |findings| findings.settings = found, |_| {});
    assert_eq!(record.conditions.machine["controls"], "interrupts 20 changed");
    assert_eq!(record.degraded, [governor.into()]);
    let said = "the machine's settings drifted during the run: /proc/irq/7: given `0`, \
                holds `0,1`; and 1 more";
    assert_eq!(sentences(&record.invalid_because), said);
}

#[test]
fn a_run_that_nobody_watched_for_long_is_no_evidence() {
    assert_eq!(unwatched(Nanos::from_millis(140)), None);
    let told = unwatched(Nanos::from_secs(5)).unwrap();
    assert!(told.to_string().starts_with("nobody watched the run for 5.00 s"), "{told}");
}

/// Goal: two runs on one machine have the same facts about it, whenever they were looked at.
#[test]
fn how_long_nobody_looked_is_no_fact_about_the_machine() {
    let watched = |millis| {
        let gap = Nanos::from_millis(millis);
        collect_with(Some(in_force(1, "1")), |found| found.watch_gap = gap, |_| {}).conditions
    };
    let (one, other) = (watched(140), watched(150));
    assert_eq!(one.machine, other.machine);
    assert!(one.machine[WATCH].starts_with("tasks every 200 ms, loads every 1000 ms"));
    assert_eq!(one.activity[WATCH_GAP], "the longest time between two looks was 140 ms");
    assert_eq!(other.activity[WATCH_GAP], "the longest time between two looks was 150 ms");
}

/// Goal: what people read of a load is words, each said once.
#[test]
fn faults_of_workers_are_told_in_words_and_once() {
    let fault = |worker, problem| WorkerFault { worker, process_id: 7, problem };
    let policy = |nice| format!("policy 0, niceness {nice}, cpus `0-1`");
    let moved = || WorkerProblem::Conditions { found: policy(5), expected: policy(0) };
    let faults = [fault(0, moved()), fault(1, WorkerProblem::Stopped), fault(2, moved())];
    assert_eq!(
        problems(&faults).join("; "),
        "a worker is scheduled otherwise than at its start: policy 0, niceness 5, cpus `0-1`; it \
         was policy 0, niceness 0, cpus `0-1` (2 workers); a worker was stopped by a signal or a \
         debugger"
    );
}
