//! A processor's thread does what it is told, whatever its guest does. Skipped where there is no
//! KVM.

#![deny(unsafe_code)]

#[expect(dead_code, reason = "other tests use what this one does not")]
mod bare;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bare::{Everything, count, machine, processor};
use quietcore_microvm::bus::{After, Bus};
use quietcore_microvm::exits::{Exits, Reason};
use quietcore_microvm::machine::Machine;
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::Stopped;
use quietcore_microvm::runner::{Ended, Runner, RunnerError};
use quietcore_microvm::slot::{Access, Shared};
use quietcore_units::{ByteSize, Causes};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use vm_memory::{Bytes as _, GuestAddress};

/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(20);

fn start(code: &[u8]) -> Option<(Machine, Runner, Arc<Exits>)> {
    start_with(code, &Options::default())
}

fn start_with(code: &[u8], options: &Options) -> Option<(Machine, Runner, Arc<Exits>)> {
    let machine = machine(code, options)?;
    let (bus, exits) = (Arc::new(Everything::default()), Arc::new(Exits::default()));
    let runner = Runner::spawn("test", processor(&machine), bus, exits.clone(), || Ok(()));
    Some((machine, runner.expect("a thread"), exits))
}

/// Waits until the guest has counted on.
fn wait_for_progress(machine: &Machine) {
    let (before, started) = (count(machine), Instant::now());
    while count(machine) == before {
        assert!(started.elapsed() < LONG, "the guest does not run");
        std::thread::yield_now();
    }
}

#[test]
fn a_guest_begins_when_it_is_told_to_and_its_end_is_told() {
    let Some((machine, runner, exits)) = start(bare::ending()) else { return };
    assert_eq!((exits.total(), count(&machine)), (0, 0));
    assert!(runner.wait(Duration::ZERO).is_none());
    runner.resume().expect("it stands still");
    let mut end = [PollFd::new(&runner, PollFlags::IN)];
    let limit = Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(poll(&mut end, Some(&limit)).expect("a poll"), 1);
    assert!(runner.has_ended());
    assert!(matches!(runner.pause(LONG), Err(RunnerError::Over)));
    let outcome = runner.stop();
    assert!(matches!(outcome.ended, Ended::Guest(Stopped::Ended(7))), "{outcome:?}");
    assert_eq!(outcome.crash, None);
}

#[test]
fn a_guest_that_never_leaves_stands_still_goes_on_and_stops() {
    let Some((machine, runner, exits)) = start(bare::counting()) else { return };
    runner.resume().expect("it stands still");
    wait_for_progress(&machine);
    runner.pause(LONG).expect("it stands still");
    let paused = count(&machine);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(count(&machine), paused, "it stood still");
    let stood = runner.resume().expect("it goes on");
    assert!(stood >= Duration::from_millis(20), "{stood:?}");
    wait_for_progress(&machine);
    let outcome = runner.stop();
    assert!(matches!(outcome.ended, Ended::Told), "{outcome:?}");
    assert!(outcome.stood >= Duration::from_millis(20));
    let (pauses, time_ns) = exits.of(Reason::Pause);
    assert_eq!(pauses, 1);
    assert!(time_ns >= 20_000_000, "{time_ns}");
    assert!(exits.of(Reason::Signal).0 >= 2);
}

#[test]
fn endless_exits_keep_nobody_waiting() {
    let Some((machine, runner, exits)) = start(bare::leaving()) else { return };
    runner.resume().expect("it stands still");
    wait_for_progress(&machine);
    runner.pause(LONG).expect("it stands still");
    assert!(exits.of(Reason::PortWrite).0 > 0);
    let outcome = runner.stop();
    assert!(matches!(outcome.ended, Ended::Told), "{outcome:?}");
}

#[test]
fn a_guest_that_halts_for_good_is_stopped() {
    for polls in [false, true] {
        let options = Options { polls, ..Options::default() };
        let Some((_machine, runner, _)) = start_with(bare::halting(), &options) else { return };
        runner.resume().expect("it stands still");
        std::thread::sleep(Duration::from_millis(20));
        assert!(!runner.has_ended());
        let outcome = runner.stop();
        assert!(matches!(outcome.ended, Ended::Told), "{outcome:?}");
    }
}

/// Goal: no kick is lost, whenever it comes.
/// Method: a pause at once after a resume, many times; one that is lost would never return.
#[test]
fn no_kick_is_lost() {
    for code in [bare::counting(), bare::leaving()] {
        let Some((machine, runner, _)) = start(code) else { return };
        for round in 0..3000_u32 {
            runner.resume().expect("it stands still");
            for _ in 0..round % 1000 {
                std::hint::spin_loop();
            }
            runner.pause(LONG).expect("the kick came through");
        }
        runner.resume().expect("it stands still");
        wait_for_progress(&machine);
        runner.stop();
    }
}

#[test]
fn a_triple_fault_is_an_end() {
    let Some((_machine, runner, _)) = start(bare::faulting()) else { return };
    runner.resume().expect("it stands still");
    runner.wait(LONG).expect("it ends");
    let outcome = runner.stop();
    assert!(matches!(outcome.ended, Ended::Guest(Stopped::Shutdown)), "{outcome:?}");
    assert_eq!(outcome.crash.expect("a record").what(), "double fault");
}

#[test]
fn a_guest_that_goes_on_where_there_is_no_memory_ends_with_the_address() {
    let Some((_machine, runner, _)) = start(bare::jumping_away()) else { return };
    runner.resume().expect("it stands still");
    runner.wait(LONG).expect("it ends");
    let outcome = runner.stop();
    assert!(matches!(outcome.ended, Ended::Stuck(_)), "{outcome:?}");
    assert_eq!(outcome.crash.expect("a record").instruction, 0x700_0000);
}

#[test]
fn a_reset_guest_begins_anew() {
    let Some(machine) = machine(bare::counting(), &Options::default()) else { return };
    let processor = processor(&machine);
    let checkpoint = Arc::new(processor.checkpoint().expect("a checkpoint"));
    let (bus, exits) = (Arc::new(Everything::default()), Arc::new(Exits::default()));
    let runner = Runner::spawn("test", processor, bus, exits, || Ok(())).expect("a thread");
    runner.resume().expect("it stands still");
    wait_for_progress(&machine);
    let running = runner.with_processor(LONG, |_| ());
    assert!(matches!(running, Err(RunnerError::Runs)), "{running:?}");
    runner.pause(LONG).expect("it stands still");
    // Another guest, in the same memory and with the same processor.
    let memory = machine.memory().mapping();
    memory.write_slice(bare::ending(), GuestAddress(bare::ENTRY)).expect("room");
    let to = checkpoint.clone();
    let reset = runner.with_processor(LONG, move |processor| {
        processor.reset(&to)?;
        Ok::<_, quietcore_microvm::processor::ProcessorError>(processor.crash_record(0, 0))
    });
    let at = reset.expect("it answers").expect("it is reset");
    assert_eq!((at.instruction, at.registers[14]), (bare::ENTRY, 0));
    runner.resume().expect("it stands still");
    runner.wait(LONG).expect("it ends");
    let outcome = runner.stop();
    assert!(matches!(outcome.ended, Ended::Guest(Stopped::Ended(7))), "{outcome:?}");
}

#[test]
fn what_can_not_be_prepared_does_not_run() {
    let Some(machine) = machine(bare::counting(), &Options::default()) else { return };
    let (bus, exits) = (Arc::new(Everything::default()), Arc::new(Exits::default()));
    let refused = Runner::spawn("test", processor(&machine), bus, exits.clone(), || {
        Err(io::Error::other("no such CPU"))
    });
    let refused = Causes(&refused.expect_err("it is refused")).to_string();
    assert_eq!(refused, "the thread of a processor can't be prepared: no such CPU");
    assert_eq!((exits.total(), count(&machine)), (0, 0));
}

#[test]
fn a_preparation_that_panics_is_refused_and_nobody_waits_for_it() {
    let Some(machine) = machine(bare::counting(), &Options::default()) else { return };
    let (bus, exits) = (Arc::new(Everything::default()), Arc::new(Exits::default()));
    let refused = Runner::spawn("test", processor(&machine), bus, exits, || panic!("on purpose"));
    let refused = Causes(&refused.expect_err("it is refused")).to_string();
    assert_eq!(refused, "the thread of a processor can't be prepared: it panicked");
}

#[test]
fn a_write_to_memory_that_may_only_be_read_is_told_as_one() {
    let Some(machine) = machine(bare::writing_above(), &Options::default()) else { return };
    let code = Shared::create("test", ByteSize::new(4096)).expect("memory");
    machine.give("code", 64 << 20, Arc::new(code), Access::ReadOnly).expect("room");
    let (bus, exits) = (Arc::new(Everything::default()), Arc::new(Exits::default()));
    let runner = Runner::spawn("test", processor(&machine), bus, exits, || Ok(()));
    let runner = runner.expect("a thread");
    runner.resume().expect("it stands still");
    runner.wait(LONG).expect("it ends");
    let crash = runner.stop().crash.expect("a record");
    assert_eq!((crash.what(), crash.access()), ("page fault", Some("writing to")));
    assert_eq!((crash.error_code, crash.address), (0b11, 64 << 20));
}

#[test]
fn the_thread_has_its_name_and_goes_with_its_runner() {
    let Some((_machine, runner, _)) = start(bare::counting()) else { return };
    let thread = format!("/proc/self/task/{}", runner.thread_id());
    let name = std::fs::read_to_string(format!("{thread}/comm")).expect("the thread is there");
    assert_eq!(name, "test\n");
    runner.resume().expect("it stands still");
    drop(runner);
    // The kernel takes its name off the list a moment after it is over.
    let dropped = Instant::now();
    while std::path::Path::new(&thread).exists() {
        assert!(dropped.elapsed() < LONG, "the thread is still there");
        std::thread::yield_now();
    }
}

/// A device that is broken.
struct Broken;

impl Bus for Broken {
    fn write_port(&self, _: u16, _: &[u8]) -> After {
        panic!("on purpose");
    }

    fn read_port(&self, _: u16, _: &mut [u8]) {}

    fn write_address(&self, _: u64, _: &[u8]) -> After {
        After::GoOn
    }

    fn read_address(&self, _: u64, _: &mut [u8]) {}
}

#[test]
fn a_device_that_panics_ends_the_guest_and_nobody_waits_for_it() {
    let Some(machine) = machine(bare::leaving(), &Options::default()) else { return };
    let exits = Arc::new(Exits::default());
    let runner = Runner::spawn("test", processor(&machine), Arc::new(Broken), exits, || Ok(()));
    let runner = runner.expect("a thread");
    runner.resume().expect("it stands still");
    runner.wait(LONG).expect("it ends");
    let outcome = runner.stop();
    assert!(matches!(outcome.ended, Ended::Panicked), "{outcome:?}");
}

#[test]
fn a_policy_is_not_inherited_by_accident() {
    let Some(machine) = machine(bare::counting(), &Options::default()) else { return };
    let processor = processor(&machine);
    // From a thread of its own, which has the policy alone.
    let started = std::thread::spawn(move || {
        bare::become_real_time()?;
        let (bus, exits) = (Arc::new(Everything::default()), Arc::new(Exits::default()));
        let runner = Runner::spawn("test", processor, bus, exits, || Ok(()));
        Ok::<_, io::Error>(runner.expect_err("it is refused").to_string())
    });
    match started.join().expect("it does not panic") {
        Ok(refused) => assert!(refused.contains("inherit scheduling policy 1"), "{refused}"),
        Err(error) => quietcore_skip::skip!("no real-time priority: {error}"),
    }
    let _ = Everything::default().asked.load(Relaxed);
}
