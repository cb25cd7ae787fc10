//! A partition's reservation is read back while it runs, and what somebody takes from it is
//! reported.

#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use quietcore_backend::container::{ContainerError, Containers};
use quietcore_skip::skip;
use quietcore_supervisor::control::Activity;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use site::{SITE, Site};

/// Goal: a task whose thread somebody lets run elsewhere, as the kernel does where a CPU goes
/// offline, is named, with where it may run, and pinned again.
#[test]
fn a_task_that_somebody_moves_is_told_and_pinned_again() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skip!("one CPU only");
        return;
    }
    if !rustix::process::geteuid().is_root() {
        skip!("memory is locked by root alone, and what is refused is told as well");
        return;
    }
    let site = Site::up(SITE, "counter");
    site.wait_for("running", |activity| *activity == Activity::Running);
    let pid = site.client().list().unwrap()[0].pid.expect("it runs");
    assert_eq!(site.told("reservation"), None, "what was asked for is in force");
    let mut both = CpuSet::new();
    both.set(0);
    both.set(1);
    for thread in fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
        let number = thread.file_name().to_string_lossy().parse().unwrap();
        // A thread that has ended meanwhile can't be moved.
        let _ = sched_setaffinity(Pid::from_raw(number), &both);
    }
    let told = site.wait_for_event("reservation");
    assert_eq!(told, "task `main`: the thread was pinned to CPU 0 and may run on 0,1");
    assert_eq!(site.wait_for_event("pinned-again"), "task `main` is pinned to CPU 0 again");
    assert_eq!(site.client().list().unwrap()[0].drift, Vec::<String>::new());
}

/// Returns a site whose program takes 1 MiB a cycle, with this memory and these words on its
/// partition.
fn hoarding(memory: &str, words: &str) -> String {
    let memory = format!("cpus = [0]\nmemory = \"{memory}\"");
    SITE.replace("cpus = [0]", &memory)
        .replace("model = \"counter\"", "model = \"hoard\"")
        .replace("retain = [\"counter_DW.total\"]\n", "")
        // The watchdog does not cut it off, however slow the machine is.
        .replace("watchdog = \"1 s\"", "watchdog = \"10 s\"")
        .replace("class =", &format!("{words}class ="))
}

/// Goal: a program that takes ever more has its reservation, some more, and is refused the rest; it
/// and its partition run on.
#[test]
fn what_a_program_takes_far_beyond_its_memory_is_refused() {
    hoard("");
}

#[test]
fn what_a_program_takes_far_beyond_its_memory_is_refused_in_a_container() {
    match Containers::prepare(PathBuf::new(), "test", 1, None, None) {
        Err(error @ ContainerError::Runtime(_)) => skip!("{error}"),
        _ => hoard("backend = \"container\"\n"),
    }
}

fn hoard(words: &str) {
    let site = Site::up(&hoarding("64 MiB", words), "hoard");
    site.wait_for_value("hoard_DW.refused", |refused| refused == 1.0);
    let taken = site.value("hoard_DW.taken");
    // The heap also holds what the process itself needs.
    assert!((50.0..110.0).contains(&taken), "{taken} MiB");
    let total = site.value("hoard_DW.total");
    site.wait_for_value("hoard_DW.total", |now| now > total + 20.0);
    let events = site.client().events(0).expect("the site answers");
    assert!(events.iter().all(|event| event.kind != "process-lost"), "{events:#?}");
}

/// Goal: memory that can't be had is said, and the program runs on.
#[test]
fn memory_that_can_not_be_had_is_told() {
    let text = SITE.replace("cpus = [0]", "cpus = [0]\nmemory = \"15 TiB\"");
    let site = Site::up(&text, "counter");
    for why in [
        "15.0 TiB of memory are reserved and",
        "15.0 TiB for the program's heap can't be had: the kernel refuses it",
    ] {
        let end = Instant::now() + site::PATIENCE;
        loop {
            let events = site.client().events(0).unwrap();
            if events.iter().any(|it| it.kind == "reservation" && it.text.contains(why)) {
                break;
            }
            assert!(Instant::now() < end, "{events:#?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    site.wait_for("running", |activity| *activity == Activity::Running);
}
