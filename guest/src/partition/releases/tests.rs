//! Tests of the instants that the timer is set to, and of the tasks that hear of it.

use super::*;
use crate::partition::LOADER;

const MILLI: u64 = 1_000_000;

#[test]
fn a_cycle_that_goes_as_planned_sets_the_timer_once() {
    let releases = Releases::new();
    let mut settings = 0;
    let mut set = |setting: Option<u64>| settings += u32::from(setting.is_some());
    for cycle in 1..=10 {
        let (now, next) = (cycle * MILLI, (cycle + 1) * MILLI);
        releases.note_interrupt(true, now, NEVER);
        releases.take_due(now);
        set(releases.next_setting());
        // Before the job: the release after it, and the end of the call.
        releases.set(0, next);
        set(releases.next_setting());
        assert!(!releases.watch(LEADER, now + 2 * MILLI));
        set(releases.next_setting());
        // After it: nothing has changed.
        releases.set(0, next);
        set(releases.next_setting());
    }
    assert_eq!(settings, 10);
}

#[test]
fn a_call_is_looked_at_though_its_task_is_due_late() {
    let releases = Releases::new();
    releases.set(0, 10_000 * MILLI);
    assert_eq!(releases.next_setting(), Some(10_000 * MILLI));
    assert!(releases.watch(LEADER, 3 * MILLI));
    assert_eq!(releases.next_setting(), Some(3 * MILLI));
    releases.note_interrupt(true, 3 * MILLI, NEVER);
    assert_eq!(releases.take_due(3 * MILLI), 0);
    assert_eq!(releases.next_setting(), Some(10_000 * MILLI));
    releases.note_interrupt(true, 10_000 * MILLI, NEVER);
    assert_eq!(releases.take_due(10_000 * MILLI), 1);
    assert_eq!(releases.earliest(), NEVER);
}

#[test]
fn an_interrupt_that_was_asked_for_comes_before_the_release() {
    let releases = Releases::new();
    releases.set(0, 10 * MILLI);
    assert_eq!(releases.next_setting(), Some(10 * MILLI));
    releases.ask(9 * MILLI);
    assert_eq!(releases.next_setting(), Some(9 * MILLI));
    assert!(!releases.take_asked(9 * MILLI - 1) && releases.take_asked(9 * MILLI));
    releases.note_interrupt(true, 9 * MILLI, NEVER);
    assert_eq!(releases.next_setting(), Some(10 * MILLI));
    assert!(!releases.take_asked(10 * MILLI));
}

#[test]
fn a_guest_that_polls_sets_its_timer_while_others_have_work() {
    let releases = Releases::new();
    releases.set_mode(Mode::PollsWatched);
    releases.set(0, MILLI);
    assert!(!releases.watch(LEADER, MILLI));
    assert_eq!(releases.next_setting(), None);
    releases.set_busy(1, true);
    assert_eq!(releases.next_setting(), Some(MILLI));
    releases.set_busy(1, false);
    releases.set(0, 2 * MILLI);
    assert_eq!(releases.next_setting(), None);
    assert_eq!((releases.take_due(MILLI), releases.take_due(2 * MILLI)), (0, 1));
}

#[test]
fn a_timer_that_goes_off_early_is_set_again() {
    let releases = Releases::new();
    releases.set(LEADER, MILLI);
    assert_eq!(releases.next_setting(), Some(MILLI));
    // Something else that comes then leaves it as it is.
    releases.note_interrupt(false, MILLI - 200, NEVER);
    assert_eq!((releases.take_due(MILLI - 200), releases.next_setting()), (0, None));
    releases.note_interrupt(true, MILLI - 100, NEVER);
    assert_eq!((releases.take_due(MILLI - 100), releases.next_setting()), (0, Some(MILLI)));
}

#[test]
fn a_call_that_the_host_does_not_watch_is_looked_at_by_the_timer() {
    let releases = Releases::new();
    releases.set_mode(Mode::PollsWatched);
    // Nothing else would ever end a function of the loader's: no task has begun.
    assert!(releases.watch(LOADER, 10_000 * MILLI));
    let look = 10_000 * MILLI + POLLING_PATIENCE_NS;
    assert_eq!(releases.next_setting(), Some(look));
    assert!(!releases.watch(1, 12_000 * MILLI), "it is looked at then");
    releases.note_interrupt(true, look, NEVER);
    assert!(!releases.watch(LEADER, MILLI), "that is the host's");
}

#[test]
fn a_task_that_is_not_there_is_due_for_nothing() {
    let releases = Releases::new();
    let all = 1 << LEADER | 1 << LOADER;
    assert_eq!(releases.present(all), 0);
    releases.begin_task(LOADER);
    assert_eq!(releases.present(all), 1 << LOADER);
    releases.begin_task(LEADER);
    assert_eq!(releases.present(all), all);
    // It hears a stop, and ends with its next release set.
    releases.set(LEADER, MILLI);
    releases.end_task(LEADER);
    assert_eq!((releases.take_due(MILLI), releases.present(all)), (0, 1 << LOADER));
    // One that was taken before it ended, and is seen to afterwards.
    assert_eq!(releases.present(1 << LEADER), 0);
}

#[test]
fn a_guest_that_polls_unwatched_looks_at_its_calls_about_once_a_second() {
    let releases = Releases::new();
    releases.set_mode(Mode::Polls);
    let mut settings = 0;
    let mut timer = NEVER;
    for now in (0..10_000).map(|milli| milli * MILLI) {
        if timer <= now {
            releases.note_interrupt(true, now, NEVER);
            timer = NEVER;
        }
        releases.watch(LEADER, now + 2 * MILLI);
        if let Some(setting) = releases.next_setting() {
            (timer, settings) = (setting, settings + 1);
        }
    }
    assert!((9..=11).contains(&settings), "{settings}");
}
