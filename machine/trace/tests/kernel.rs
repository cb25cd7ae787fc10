//! A trace on this machine's kernel: made, followed, stopped, read, removed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use quietcore_skip::skip;
use quietcore_trace::instance::Instance;
use quietcore_trace::tracefs::Tracefs;
use quietcore_units::CpuSet;

/// Both tests count the instances of this process.
static ALONE: Mutex<()> = Mutex::new(());

/// The kernel's tracing files, or why they can't be used.
macro_rules! tracefs_or_skip {
    () => {
        match Tracefs::open() {
            Ok(tracefs) => Arc::new(tracefs),
            Err(error) => {
                skip!("{error}");
                return;
            }
        }
    };
}

fn instances(tracefs: &Tracefs) -> Vec<PathBuf> {
    let entries = fs::read_dir(tracefs.root().join("instances")).unwrap();
    let process = format!("quietcore-{}-", std::process::id());
    let own = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&process)));
    own.map(|entry| entry.path()).collect()
}

/// Returns CPU, instant and content of each event. The name of its task is left out: the kernel
/// looks it up whenever the trace is read, and may have forgotten it by then.
fn events(trace: &str) -> Vec<&str> {
    let events = trace.lines().filter(|line| !line.starts_with('#'));
    events.map(|line| line.find(" [").map_or(line, |cpu| &line[cpu..])).collect()
}

/// Goal: the trace holds what happened until its switch was written, and nothing is left of it.
/// Method: a sleep is traced, the switch written, and another sleep is not in the trace.
#[test]
fn a_trace_ends_where_its_switch_is_written_and_is_removed() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let tracefs = tracefs_or_skip!();
    let instance = Instance::create(&tracefs, CpuSet::EMPTY).unwrap();
    let refused = instance.follow(&[std::process::id()]);
    assert!(refused.len() < 3, "{refused:?}");
    assert!(instance.events().contains(&"sched/sched_switch"));
    instance.arm().unwrap();
    thread::sleep(Duration::from_millis(20));
    instance.switch().unwrap().write_all(b"0").unwrap();
    let cpus = thread::available_parallelism().unwrap().get() as u32;
    let read = || (0..cpus).map(|cpu| instance.read(cpu).unwrap()).collect::<String>();
    let traced = read();
    assert!(traced.contains("sched_switch: prev_comm="), "{traced}");
    thread::sleep(Duration::from_millis(20));
    assert_eq!(events(&read()), events(&traced), "it stands still");
    assert_eq!(instances(&tracefs).len(), 1);
    drop(instance);
    assert_eq!(instances(&tracefs), Vec::<PathBuf>::new());
}

/// Goal: an instance whose process was killed is removed by the next one.
/// Method: a folder with the name of a process that has ended.
#[test]
fn what_a_killed_process_left_is_removed_by_the_next() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let tracefs = tracefs_or_skip!();
    let mut dead = Command::new("true").stdout(Stdio::null()).spawn().unwrap();
    let number = dead.id();
    dead.wait().unwrap();
    let left = tracefs.root().join(format!("instances/quietcore-{number}-1-0"));
    fs::create_dir(&left).unwrap();
    drop(Instance::create(&tracefs, CpuSet::EMPTY).unwrap());
    assert!(!left.exists());
}
