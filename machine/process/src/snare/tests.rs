//! Tests of the springing of a snare, and of what is left in it.

use std::os::fd::AsRawFd as _;

use super::*;

const LIMIT: Nanos = Nanos::from_micros(50);

fn at(micros: u64) -> Nanos {
    Nanos::from_micros(micros)
}

fn seen(due: u64, started: u64, cpu: u32) -> Release {
    Release::unawaited(at(due), at(started), cpu)
}

#[test]
fn the_first_late_cycle_springs_it_and_the_others_are_counted() {
    let host = Snare::create().unwrap();
    let partition = Snare::inherited(host.file().unwrap().as_raw_fd()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let switch = folder.path().join("tracing_on");
    let file = File::create(&switch).unwrap();
    let mut trap = Trap::new(&partition, Some(&file), LateLimit::new(Some(LIMIT)), 3).unwrap();
    trap.started(1, &seen(1000, 1100, 2));
    assert_eq!((host.caught(), host.late(3)), (None, 1), "it is not armed");
    host.arm();
    trap.started(2, &seen(2000, 2050, 2));
    assert_eq!((host.caught(), host.late(3)), (None, 1), "at the limit is not later");
    trap.started(3, &seen(3000, 3051, 2));
    trap.started(4, &seen(4000, 4999, 2));
    let caught = Caught { task: 3, release: 3, due: at(3000), started: at(3051), cpu: 2 };
    assert_eq!((host.caught(), host.late(3)), (Some(caught), 3));
    assert_eq!(std::fs::read(&switch).unwrap(), b"0", "one write for three late cycles");
    host.arm();
    assert_eq!(host.caught(), None);
    host.disarm();
    trap.started(5, &seen(5000, 5999, 2));
    assert_eq!((host.caught(), host.late(3)), (None, 4));
}

#[test]
fn releases_that_were_skipped_count_where_they_were_late() {
    let host = Snare::create().unwrap();
    let mut trap = Trap::new(&host, None, LateLimit::new(Some(LIMIT)), 0).unwrap();
    // 20, 40 and at last 60 µs late.
    trap.skipped(at(20), 3);
    assert_eq!(host.late(0), 1);
    trap.skipped(at(20), 2);
    assert_eq!(host.late(0), 1);
    trap.skipped(at(1000), 7);
    assert_eq!((host.late(0), host.caught()), (8, None));
}

#[test]
fn what_a_guest_tells_counts_and_springs_it() {
    let host = Snare::create().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let switch = folder.path().join("tracing_on");
    let file = File::create(&switch).unwrap();
    let of_guest = host.file().unwrap();
    let job =
        SnareJob { limit: LIMIT, memory: of_guest.as_raw_fd(), tracing_on: Some(file.as_raw_fd()) };
    let laid = Laid::take_over(&job).unwrap();
    host.arm();
    laid.told(1, 4, None);
    assert_eq!((host.late(1), host.caught()), (4, None));
    let caught = Caught { task: 1, release: 9, due: at(900), started: at(980), cpu: 3 };
    laid.told(1, 5, Some(caught));
    assert_eq!((host.late(1), host.caught()), (5, Some(caught)));
    assert_eq!(std::fs::read(&switch).unwrap(), b"0");
    laid.told(TASKS_MAX, 7, Some(caught));
    assert_eq!(host.late(TASKS_MAX), 0);
}

#[test]
fn one_of_several_tasks_springs_it() {
    let snare = Snare::create().unwrap();
    snare.arm();
    std::thread::scope(|scope| {
        for task in 0..4 {
            let mut trap = Trap::new(&snare, None, LateLimit::new(Some(LIMIT)), task).unwrap();
            scope.spawn(move || {
                for release in 0..1000 {
                    trap.started(release, &seen(0, 100, task));
                }
            });
        }
    });
    let caught = snare.caught().unwrap();
    assert_eq!((caught.started, caught.cpu), (at(100), caught.task));
    assert!((0..4).all(|task| snare.late(task) == 1000));
}

#[test]
fn what_is_no_snare_is_refused() {
    let other = SharedMemory::create("other", WORDS * 8).unwrap();
    let file = other.file().unwrap();
    assert!(Snare::inherited(file.as_raw_fd()).is_err());
    let short = SharedMemory::create("short", 8).unwrap();
    assert!(Snare::inherited(short.file().unwrap().as_raw_fd()).is_err());
    assert!(Snare::inherited(i32::MAX).is_err());
    let snare = Snare::create().unwrap();
    assert!(Trap::new(&snare, None, LateLimit::new(Some(LIMIT)), TASKS_MAX).is_none());
    assert_eq!(snare.late(TASKS_MAX), 0);
}
