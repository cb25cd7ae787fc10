//! Workers that don't start, stop working or die, and parents that die.

#![expect(clippy::unwrap_used, reason = "the helpers of a test end it as its body does")]

mod processes;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use processes::{Process, helper_program, members};
use quietcore_load::{LoadError, LoadRequest, LoadSet, WorkerProblem};
use quietcore_site::LoadKind;
use quietcore_units::Nanos;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::sched_setaffinity;

const START_WITHIN: Nanos = Nanos::from_secs(30);

fn running(requests: &[LoadRequest]) -> LoadSet {
    let mut set = LoadSet::start(&helper_program(), requests).unwrap();
    set.wait_until_running(START_WITHIN).unwrap();
    set
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let request = LoadRequest::new(LoadKind::Sqrt, 2);
    let error = LoadSet::start(Path::new("/nowhere/helper"), &[request]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "could not start `/nowhere/helper` as a worker; give the path of an executable"
    );
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_program_that_ends_at_once_is_told_with_its_last_words() {
    // One worker: of several, whichever is seen to have ended first is told.
    let request = [LoadRequest::new(LoadKind::Sqrt, 1)];
    let mut set = LoadSet::start(Path::new("/bin/true"), &request).unwrap();
    let error = set.wait_until_running(START_WITHIN).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("the worker 0 of `sqrt` (process "), "{text}");
    assert!(text.ends_with(") ended with exit status: 0"), "{text}");

    // It takes the arguments for names of files and complains.
    let mut set = LoadSet::start(Path::new("/bin/cat"), &request).unwrap();
    let text = set.wait_until_running(START_WITHIN).unwrap_err().to_string();
    assert!(text.contains("ended with exit status: 1: "), "{text}");
    assert!(text.contains("cat"), "{text}");
}

#[test]
fn a_worker_that_never_works_is_named() {
    let request = LoadRequest::new(LoadKind::Futex, 1);
    let mut set = LoadSet::start(&helper_program(), &[request]).unwrap();
    let workers = set.process_ids();
    signal(workers[0], Signal::STOP);
    let error = set.wait_until_running(Nanos::from_millis(50)).unwrap_err();
    let LoadError::NotRunning { worker, waited, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(*worker, format!("worker 0 of `futex` (process {})", workers[0]));
    assert!(*waited >= Nanos::from_millis(50));
    drop(set);
    assert_eq!(members(&workers).len(), 0);
}

#[test]
fn a_stopped_worker_is_reported_and_may_come_back() {
    let mut set = running(&[LoadRequest::new(LoadKind::Sqrt, 2)]);
    let workers = set.process_ids();
    signal(workers[1], Signal::STOP);
    wait_for("the stop to be seen", || {
        let achieved = set.measure().remove(0);
        achieved.workers_stalled == 1
    });
    let achieved = set.measure().remove(0);
    assert_eq!((achieved.workers_alive, achieved.workers_stalled), (2, 1));
    assert_eq!(achieved.faults.len(), 1);
    assert_eq!(achieved.faults[0].worker, 1);
    assert_eq!(achieved.faults[0].process_id, workers[1]);
    assert_eq!(achieved.faults[0].problem, WorkerProblem::Stopped);
    assert!(!achieved.is_complete());

    signal(workers[1], Signal::CONT);
    wait_for("the worker to come back", || set.measure()[0].is_complete());
}

#[test]
fn a_worker_that_died_is_reported_as_long_as_it_is_asked_for() {
    let mut set = running(&[LoadRequest::new(LoadKind::Timer, 2)]);
    let workers = set.process_ids();
    signal(workers[0], Signal::KILL);
    wait_for("the death to be seen", || set.measure()[0].workers_alive == 1);
    let achieved = set.measure().remove(0);
    assert_eq!(achieved.workers_stalled, 0);
    let problem =
        WorkerProblem::Ended { status: "signal: 9 (SIGKILL)".to_owned(), stderr: String::new() };
    assert_eq!(achieved.faults[0].problem, problem);
    assert_eq!(set.process_ids(), &workers[1..]);
    set.stop().unwrap();
}

#[test]
fn a_worker_that_is_moved_to_other_cpus_is_reported() {
    let mut set = running(&[LoadRequest::new(LoadKind::Sqrt, 1)]);
    let cpus = set.measure()[0].cpus;
    let Some(first) = cpus.iter().next().filter(|_| cpus.len() > 1) else {
        println!("SKIPPED: a worker may use one CPU only");
        return;
    };
    let mut one = rustix::thread::CpuSet::new();
    one.set(first.get() as usize);
    sched_setaffinity(Some(process(set.process_ids()[0])), &one).unwrap();
    let achieved = set.measure().remove(0);
    assert!(!achieved.is_complete());
    let WorkerProblem::Conditions { found, expected } = &achieved.faults[0].problem else {
        panic!("{achieved:?}");
    };
    assert_eq!(*found, format!("policy 0, niceness 0, cpus `{first}`"));
    assert_eq!(*expected, format!("policy 0, niceness 0, cpus `{cpus}`"));
}

#[test]
fn a_stopped_worker_is_ended_by_force() {
    let mut set = running(&[LoadRequest::new(LoadKind::Fork, 2)]);
    let workers = set.process_ids();
    signal(workers[0], Signal::STOP);
    let begin = Instant::now();
    set.stop().unwrap();
    // The grace is half a second; a worker that can't be ended is waited for another 5 s.
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    assert!(time_to_die(&workers).is_ok());
}

/// Goal: workers never outlive their parent.
/// Method: the example starts all kinds; it is ended in several ways, and the groups of its workers
/// are searched for survivors.
#[test]
fn the_death_of_the_parent_ends_all_workers() {
    for ending in [Signal::KILL, Signal::INT, Signal::TERM] {
        let mut parent = Parent::start(&[
            "sqrt=2",
            "malloc=1:16MiB",
            "cache=1:1MiB",
            "memory-bandwidth=1:8MiB",
            "network",
            "fork=2",
            "timer",
            "futex",
        ]);
        signal(parent.process.id(), ending);
        parent.process.wait().unwrap();
        let died_within = time_to_die(&parent.workers).unwrap();
        println!("{ending:?}: all workers dead after {died_within:?}");
    }
}

/// A stopped worker can't notice that its parent died, so the kernel must kill it. The example
/// starts its workers from the main thread.
#[test]
fn the_death_of_the_parent_ends_a_stopped_worker_too() {
    let mut parent = Parent::start(&["sqrt=2"]);
    signal(parent.workers[0], Signal::STOP);
    wait_for("the worker to stop", || {
        let stopped = |process: &Process| process.id == parent.workers[0] && process.state == 'T';
        members(&parent.workers).iter().any(stopped)
    });
    signal(parent.process.id(), Signal::KILL);
    parent.process.wait().unwrap();
    time_to_die(&parent.workers).unwrap();
}

/// Niceness and policy of the parent do not matter: they are set back, or refused with a remedy.
#[test]
fn a_nice_or_real_time_parent_has_ordinary_workers() {
    let helper = helper_program();
    for wrapper in [["nice", "-n", "7"], ["chrt", "-f", "1"]] {
        let works = Command::new(wrapper[0]).args(&wrapper[1..]).arg("true").output();
        if !works.is_ok_and(|output| output.status.success()) {
            println!("SKIPPED: `{}` does not work here", wrapper.join(" "));
            continue;
        }
        let output = Command::new(wrapper[0])
            .args(&wrapper[1..])
            .arg(&helper)
            .args(["--seconds", "0", "sqrt=1"])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let refused = stderr.contains("start without `nice`");
        assert!(output.status.success() || refused, "{wrapper:?}: {stderr}");
    }
}

/// A program started with SIGCHLD ignored can't learn how its children end, but it must end them.
#[test]
fn a_parent_that_ignores_its_children_ends_them_all_the_same() {
    let begin = Instant::now();
    let output = Command::new("sh")
        .args(["-c", "trap '' CHLD; exec \"$0\" --seconds 0 sqrt=1 fork=1"])
        .arg(helper_program())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_worker_started_by_hand_says_what_it_is() {
    let output = Command::new(helper_program())
        .args(["load", "--kind", "sqrt"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "load: `--board-fd` is missing; loads are started by their parent, not by hand\n"
    );
}

/// The example as a parent of its own workers.
struct Parent {
    process: Child,
    workers: Vec<u32>,
}

impl Parent {
    /// Returns once all workers were seen to work.
    fn start(loads: &[&str]) -> Self {
        let mut process = Command::new(helper_program())
            .args(["--seconds", "60"])
            .args(loads)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = process.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let words = line.strip_prefix("processes ").expect("it started");
        let workers: Vec<u32> =
            words.split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert!(!workers.is_empty());
        Self { process, workers }
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        // For the case that an assertion failed before the test ended it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !happened() {
        assert!(begin.elapsed() < Duration::from_secs(10), "waited for {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Sends `signal` to a process.
fn signal(id: u32, signal: Signal) {
    kill_process(process(id), signal).unwrap();
}

fn process(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).unwrap()).unwrap()
}

/// The longest wait for the end of workers, far below the minute for which they were started.
const DEATH_MAX: Duration = Duration::from_secs(10);

/// The time until no member of the groups is alive, or what is left after [`DEATH_MAX`].
fn time_to_die(groups: &[u32]) -> Result<Duration, Vec<Process>> {
    let begin = Instant::now();
    loop {
        let mut left = members(groups);
        left.retain(Process::is_alive);
        if left.is_empty() {
            return Ok(begin.elapsed());
        }
        if begin.elapsed() > DEATH_MAX {
            return Err(left);
        }
        thread::sleep(Duration::from_millis(5));
    }
}
