//! Every kind of load works, is measured, and is gone after it was stopped.

#![expect(clippy::unwrap_used, reason = "the helpers of a test end it as its body does")]

mod processes;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use processes::{helper_program, members};
use quietcore_load::{Achieved, LoadError, LoadRequest, LoadSet, Pace, RequestProblem};
use quietcore_site::LoadKind;
use quietcore_units::{ByteSize, CpuId, CpuSet, Nanos};
use rustix::process::Pid;
use rustix::thread::{sched_getaffinity, sched_setaffinity};

const START_WITHIN: Nanos = Nanos::from_secs(30);
/// The longest wait, long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn small(kind: LoadKind, folder: &Path) -> LoadRequest {
    let size = match kind {
        LoadKind::Malloc | LoadKind::MemoryBandwidth => Some(8 << 20),
        LoadKind::Cache | LoadKind::Disk => Some(1 << 20),
        _ => None,
    };
    LoadRequest {
        size: size.map(ByteSize::new),
        folder: (kind == LoadKind::Disk).then(|| folder.to_owned()),
        ..LoadRequest::new(kind, 1)
    }
}

/// Measures until every load has moved; a slow disk may need more than one look.
fn measure_until_all_moved(set: &mut LoadSet, count: usize) -> Vec<Achieved> {
    let begin = Instant::now();
    let mut moved: Vec<Option<Achieved>> = vec![None; count];
    while moved.contains(&None) {
        assert!(begin.elapsed() < PATIENCE, "{moved:?}");
        thread::sleep(Duration::from_millis(200));
        for (place, achieved) in moved.iter_mut().zip(set.measure()) {
            assert!(achieved.is_complete(), "{achieved:?}");
            if achieved.operations_per_second > 0.0 {
                *place = Some(achieved);
            }
        }
    }
    moved.into_iter().flatten().collect()
}

/// Measures the only load twice a second until `is_so`: in some of the intervals the machine may
/// stand still.
fn measure_until(set: &mut LoadSet, is_so: impl Fn(&Achieved) -> bool) -> Achieved {
    let begin = Instant::now();
    loop {
        thread::sleep(Duration::from_millis(500));
        let achieved = set.measure().remove(0);
        assert!(achieved.is_complete(), "{achieved:?}");
        if is_so(&achieved) {
            return achieved;
        }
        assert!(begin.elapsed() < PATIENCE, "{achieved:?}");
    }
}

/// Goal: each kind does something countable, and nothing of it remains.
/// Method: one small worker of each kind at the same time; look for processes and files.
#[test]
fn every_kind_works_and_leaves_nothing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut requests: Vec<_> =
        LoadKind::ALL.iter().map(|kind| small(*kind, folder.path())).collect();
    let disk = [small(LoadKind::Disk, folder.path())];
    if let Err(LoadError::Refused { problems }) = LoadSet::start(&helper_program(), &disk) {
        println!("SKIPPED for `disk`: {problems:?}");
        requests.retain(|request| request.kind != LoadKind::Disk);
    }
    let mut set = LoadSet::start(&helper_program(), &requests).unwrap();
    set.wait_until_running(START_WITHIN).unwrap();
    let workers = set.process_ids();
    assert_eq!(workers.len(), requests.len());

    let achieved = measure_until_all_moved(&mut set, requests.len());
    for (achieved, request) in achieved.iter().zip(&requests) {
        assert_eq!(achieved.kind, request.kind);
        assert_eq!(achieved.unit, request.kind.unit());
        assert!(!achieved.cpus.is_empty());
        assert_eq!(achieved.bytes_per_second.is_some(), request.kind.counts_bytes());
        assert!(achieved.bytes_per_second.is_none_or(|bytes| bytes > 0.0));
    }
    // A machine that stands still gives them nothing for a while.
    let begin = Instant::now();
    let mut shares = 0.0;
    while shares <= 0.05 {
        assert!(begin.elapsed() < PATIENCE, "all together used {shares} CPUs");
        thread::sleep(Duration::from_millis(200));
        shares = set.measure().iter().map(|load| load.cpu_share).sum::<f64>();
    }
    assert_eq!(set.remarks(), Vec::<String>::new());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    set.stop().unwrap();
    // Not even zombies: the set has waited for its children. A forked grandchild that was killed
    // belongs to the first process of the system by now.
    let left = members(&workers);
    assert!(
        left.iter().all(|process| !process.is_alive() && !workers.contains(&process.id)),
        "{left:?}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Goal: a load does what its pace says, and is no weaker or stronger than told.
/// Method: rest, a low rate, rest and full pace in turn; rates compared by what is counted.
#[test]
fn a_load_rests_keeps_a_rate_and_goes_on() {
    let request = LoadRequest {
        size: Some(ByteSize::new(4 << 20)),
        ..LoadRequest::new(LoadKind::MemoryBandwidth, 2)
    };
    let mut set = LoadSet::start(&helper_program(), &[request]).unwrap();
    set.wait_until_running(START_WITHIN).unwrap();
    set.set_pace(Pace::Rest);
    set.wait_until_resting(START_WITHIN).unwrap();
    // Longer than the silence after which a worker counts as stalled.
    thread::sleep(Duration::from_millis(2_300));
    let rested = set.measure().remove(0);
    assert!(rested.is_complete(), "{rested:?}");
    assert!(rested.operations_per_second.abs() < 1e-9, "{rested:?}");

    set.set_pace(Pace::AtMost(100.try_into().unwrap()));
    set.wait_until_running(START_WITHIN).unwrap();
    let slow = measure_until(&mut set, |slow| {
        // Two workers; each may be ahead by the batch with which the interval begins.
        assert!(slow.operations_per_second < 250.0, "{slow:?}");
        slow.operations_per_second > 0.0
    });

    set.set_pace(Pace::Full);
    measure_until(&mut set, |full| full.operations_per_second > slow.operations_per_second);
    set.set_pace(Pace::Rest);
    set.stop().unwrap();
}

#[test]
fn workers_lead_groups_of_their_own_and_share_the_cpu_they_are_bound_to() {
    let cpu: CpuSet = allowed().iter().take(1).collect();
    let request = LoadRequest { cpus: Some(cpu), ..LoadRequest::new(LoadKind::Sqrt, 3) };
    let mut set = LoadSet::start(&helper_program(), &[request]).unwrap();
    set.wait_until_running(START_WITHIN).unwrap();
    for worker in set.process_ids() {
        let groups = members(&[worker]);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].id, worker);
        let score = fs::read_to_string(format!("/proc/{worker}/oom_score_adj")).unwrap();
        assert_eq!(score.trim(), "1000");
    }
    let achieved = measure_until(&mut set, |achieved| {
        // The kernel counts in steps of 10 ms for each worker.
        assert!(achieved.cpu_share < 1.2, "{achieved:?}");
        achieved.cpu_share > 0.02
    });
    assert_eq!(achieved.cpus, cpu);
    assert_eq!((achieved.workers, achieved.workers_alive), (3, 3));
    set.stop().unwrap();
}

#[test]
fn anywhere_does_not_depend_on_where_the_caller_is_bound() {
    let allowed = allowed();
    let before = sched_getaffinity(None).unwrap();
    let Some(first) = allowed.iter().next().filter(|_| allowed.len() > 1) else {
        println!("SKIPPED: this test may use one CPU only");
        return;
    };
    let mut one = rustix::thread::CpuSet::new();
    one.set(first.get() as usize);
    sched_setaffinity(None, &one).unwrap();
    let started = LoadSet::start(&helper_program(), &[LoadRequest::new(LoadKind::Sqrt, 1)]);
    sched_setaffinity(None, &before).unwrap();

    let mut set = started.unwrap();
    set.wait_until_running(START_WITHIN).unwrap();
    assert!(set.measure()[0].cpus.len() > 1);
}

#[test]
fn an_empty_set_runs_measures_and_stops() {
    let mut set = LoadSet::start(Path::new("/nowhere"), &[]).unwrap();
    set.wait_until_running(Nanos::ZERO).unwrap();
    assert_eq!(set.measure(), []);
    set.stop().unwrap();
}

#[test]
fn more_memory_than_there_is_is_refused_before_anything_starts() {
    let request = LoadRequest {
        size: Some(ByteSize::new(64 << 30)),
        ..LoadRequest::new(LoadKind::Malloc, 256)
    };
    // A program that isn't there shows that nothing was started.
    let error = LoadSet::start(Path::new("/nowhere"), &[request]).unwrap_err();
    let LoadError::Refused { problems } = &error else {
        panic!("{error:?}");
    };
    assert!(matches!(problems[..], [RequestProblem::TooMuchMemory { .. }]));
    assert!(error.to_string().starts_with("the loads need 16.0 TiB of memory with "));
}

fn allowed() -> CpuSet {
    // Of this process and of the first one, because the workers don't inherit ours.
    let read = |process| {
        let mask = sched_getaffinity(process).unwrap();
        (0..rustix::thread::CpuSet::MAX_CPU)
            .filter(|number| mask.is_set(*number))
            .filter_map(|number| CpuId::new(number as u32))
            .collect::<CpuSet>()
    };
    read(None).intersection(&read(Some(Pid::INIT)))
}
