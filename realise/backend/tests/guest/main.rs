//! Partitions in guests: a small program in C, from its job to its end. Skipped where there is no
//! KVM, or one that can't run them.

#![forbid(unsafe_code)]

mod harness;
mod instructions;

use harness::{
    ARITHMETIC, CRASHES_AT_ONCE, NEVER_INITIALIZED, Outcome, build, job, program, run, run_build,
    run_program, task, variable, wish,
};
use quietcore_boot::port::REFUSED;
use quietcore_exchange::{Command, Happening, Slot, TaskState};
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::Stopped;
use quietcore_scan::guest::job::GuestJob;
use quietcore_scan::job::KernelTask;
use quietcore_units::{Nanos, Wake};

const PERIOD: Nanos = Nanos::from_millis(10);
const SLEEPS: Options = Options { polls: false, is_pc: false };
const POLLS: Options = Options { polls: true, is_pc: false };

/// Number of `SIGSEGV`, which stands for a wrong address.
const ADDRESS: u32 = 11;

fn leader(wake: Wake) -> GuestJob {
    job(vec![task(0, PERIOD, wake)], None)
}

fn ended_well(outcome: &Outcome) {
    assert_eq!(outcome.stopped, Stopped::Ended(0), "{outcome:x?}");
    assert_eq!((&*outcome.said, outcome.crash), ("", None));
}

#[test]
fn a_program_runs_its_cycles_in_a_guest_and_is_seen_from_outside() {
    let mut count = 0;
    let job = job(vec![task(0, PERIOD, Wake::Sleep)], Some(20));
    let outcome = run(job, &SLEEPS, |guest| {
        guest.wait("the end", || guest.state(0) == TaskState::Finished);
        guest.wait("terminate", || guest.variable(Slot::A, variable::TERMINATED) == 1);
        count = guest.variable(Slot::A, variable::COUNT);
        assert_eq!(guest.variable(Slot::A, variable::INITIALIZED), 1);
        assert_eq!(guest.variable(Slot::A, variable::BUILD), 1);
        assert!(guest.cycles(0) >= count, "skipped cycles count, too");
        assert!(guest.happenings(0).contains(&Happening::Started));
    });
    let Some(outcome) = outcome else { return };
    ended_well(&outcome);
    assert!((1..=20).contains(&count), "{count}");
}

#[test]
fn a_crash_is_a_fault_of_the_program_and_the_leading_task_goes_on() {
    for (wished, is_right) in [
        (wish::CRASH, (|address| address == 0x30) as fn(u64) -> bool),
        (wish::FLY, |address| address == 0x38),
        (wish::WRITE_CODE, |address| (0x7800_0000..0x7801_0000).contains(&address)),
        (wish::RUN_DATA, |address| address == 0x2000_0000),
        // Behind the data, and behind the exchange.
        (wish::RUN_OVER, |address| address == 0x2001_0000),
        (wish::WANDER, |address| address == 0x4100_0000),
        (wish::OVERFLOW, |address| (1 << 20..16 << 20).contains(&address)),
    ] {
        let outcome = run(leader(Wake::Sleep), &SLEEPS, |guest| {
            guest.wait("cycles", || guest.variable(Slot::A, variable::COUNT) > 2);
            guest.set(Slot::A, variable::WISH, wished);
            guest.wait("the fault", || guest.region.view().fault().is_some());
            let fault = guest.happenings(0).into_iter().find_map(|happening| match happening {
                Happening::Fault { signal, address, instruction, .. } => {
                    Some((signal, address, instruction))
                }
                _ => None,
            });
            let (signal, address, instruction) = fault.expect("a fault was told");
            assert!(signal == ADDRESS && is_right(address), "{signal} {address:#x}");
            let is_inside = (0x7800_0000..0x7801_0000).contains(&instruction);
            let has_left = matches!(wished, wish::FLY | wish::RUN_DATA);
            assert!(is_inside || has_left, "{instruction:#x}");
            let (count, cycles) = (guest.variable(Slot::A, variable::COUNT), guest.cycles(0));
            guest.wait("more cycles", || guest.cycles(0) > cycles + 2);
            assert_eq!(guest.variable(Slot::A, variable::COUNT), count, "no step is run");
            guest.stop();
        });
        let Some(outcome) = outcome else { return };
        ended_well(&outcome);
    }
}

#[test]
fn a_step_that_does_not_return_is_ended() {
    for (wake, options) in [(Wake::Sleep, SLEEPS), (Wake::Spin, POLLS)] {
        let outcome = run(leader(wake), &options, |guest| {
            guest.wait("cycles", || guest.variable(Slot::A, variable::COUNT) > 2);
            guest.set(Slot::A, variable::WISH, wish::LOOP);
            guest.wait("the fault", || guest.region.view().fault().is_some());
            let is_loop = |happening: &Happening| matches!(happening, Happening::Looped { .. });
            assert!(guest.happenings(0).iter().any(is_loop), "{:?}", guest.happenings(0));
            let cycles = guest.cycles(0);
            guest.wait("more cycles", || guest.cycles(0) > cycles + 2);
            guest.stop();
        });
        let Some(outcome) = outcome else { return };
        ended_well(&outcome);
    }
}

#[test]
fn a_watched_guest_that_polls_is_told_that_a_call_is_over_its_time() {
    let watched = GuestJob { is_watched: true, ..leader(Wake::Spin) };
    let outcome = run(watched, &POLLS, |guest| {
        guest.wait("cycles", || guest.variable(Slot::A, variable::COUNT) > 2);
        guest.set(Slot::A, variable::WISH, wish::LOOP);
        let mut until = None;
        guest.wait("a call", || guest.call_until().is_some());
        // Waits until the same call is over its time.
        guest.wait("its end", || {
            let now = guest.call_until();
            std::thread::sleep(std::time::Duration::from_millis(250));
            now.is_some() && now == guest.call_until()
        });
        until = guest.call_until().or(until);
        assert!(until.is_some());
        guest.call_attention();
        guest.wait("the fault", || guest.region.view().fault().is_some());
        guest.stop();
        guest.call_attention();
    });
    if let Some(outcome) = outcome {
        ended_well(&outcome);
    }
}

/// Goal: nothing that is called is without an end, also where nothing but a call is under way: no
/// task has begun, and the host looks after the leading task alone. A word of the host is no error
/// then, though it is for tasks that are not there.
#[test]
fn an_initialize_that_does_not_return_ends_the_start() {
    for (wake, options) in [(Wake::Spin, POLLS), (Wake::Sleep, SLEEPS)] {
        let watched = GuestJob { is_watched: true, ..leader(wake) };
        let outcome = run_build(NEVER_INITIALIZED, watched, &options, |guest| {
            guest.wait("the end", || {
                guest.call_attention();
                guest.is_over()
            });
        });
        let Some(outcome) = outcome else { return };
        assert_eq!(outcome.stopped, Stopped::Ended(REFUSED.into()), "{outcome:x?}");
        let [Happening::InitializeLooped { generation: 1, instruction, .. }] = outcome.told[..]
        else {
            panic!("{outcome:x?}")
        };
        assert!((0x7800_0000..0x7801_0000).contains(&instruction), "{instruction:#x}");
        let said = "`initialize` of build 1 did not return within 10.0 s: it was at 0x";
        assert!(outcome.said.starts_with(said), "{outcome:x?}");
        assert_eq!(outcome.said.lines().count(), 1, "{outcome:x?}");
    }
}

#[test]
fn a_crash_in_initialize_is_told_by_the_guest_with_its_build_and_place() {
    let outcome = run_build(CRASHES_AT_ONCE, leader(Wake::Sleep), &SLEEPS, |guest| {
        guest.wait("the end", || guest.is_over());
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.stopped, Stopped::Ended(REFUSED.into()), "{outcome:x?}");
    let [Happening::InitializeCrashed { generation, signal, address, instruction, .. }] =
        outcome.told[..]
    else {
        panic!("{outcome:x?}")
    };
    assert_eq!((generation, signal, address), (1, ADDRESS, 0x30));
    assert!((0x7800_0000..0x7801_0000).contains(&instruction), "{instruction:#x}");
}

#[test]
fn a_slow_task_runs_beside_the_leading_one_and_may_loop_without_holding_it_up() {
    for (wake, options) in [(Wake::Sleep, SLEEPS), (Wake::Spin, POLLS)] {
        let tasks = vec![task(0, PERIOD, wake), task(1, PERIOD * 4, Wake::Sleep)];
        let outcome = run(job(tasks, None), &options, |guest| {
            guest.wait("slow cycles", || guest.variable(Slot::A, variable::SLOW_COUNT) > 2);
            let count = guest.variable(Slot::A, variable::COUNT);
            let slow = guest.variable(Slot::A, variable::SLOW_COUNT);
            assert!(count >= slow, "{count} {slow}");
            guest.set(Slot::A, variable::SLOW_WISH, wish::LOOP);
            guest.wait("the fault", || guest.region.view().fault().is_some());
            let cycles = guest.cycles(0);
            guest.wait("more cycles", || guest.cycles(0) > cycles + 2);
            guest.stop();
        });
        let Some(outcome) = outcome else { return };
        ended_well(&outcome);
    }
}

#[test]
fn a_build_is_staged_and_swapped_while_the_one_before_runs() {
    let outcome = run(leader(Wake::Sleep), &SLEEPS, |guest| {
        guest.wait("cycles", || guest.variable(Slot::A, variable::COUNT) > 2);
        let image = program(1, 2);
        guest.order(&image, build(&image, 2));
        let staged = Happening::Staged { generation: 2 };
        guest.wait("the build", || guest.happenings(1).contains(&staged));
        assert_eq!(guest.variable(Slot::B, variable::INITIALIZED), 1);
        assert_eq!(guest.variable(Slot::B, variable::COUNT), 0, "it does not run yet");
        let mut commands = guest.region.command_producer().expect("commands");
        commands.publish(&[Command::Swap { generation: 2 }], 1).expect("room");
        guest.wait("the swap", || guest.region.view().active().generation == 2);
        let before = guest.variable(Slot::A, variable::COUNT);
        guest.wait("cycles", || guest.variable(Slot::B, variable::COUNT) > before);
        assert_eq!(guest.variable(Slot::A, variable::COUNT), before);
        // The slot for the next build still holds the previous one.
        let again = build(&image, 3);
        guest.order(&image, again);
        let refused = Happening::StageRefused { generation: 3 };
        guest.wait("a refusal", || guest.happenings(1).contains(&refused));
        guest.stop();
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.stopped, Stopped::Ended(0), "{outcome:x?}");
    assert!(outcome.said.starts_with("build 3 is refused: it is meant for slot 1"), "{outcome:?}");
}

#[test]
fn a_stop_is_heard_by_a_guest_that_sleeps_for_long() {
    for is_watched in [false, true] {
        let tasks = vec![task(0, Nanos::from_secs(30), Wake::Sleep)];
        let outcome = run(GuestJob { is_watched, ..job(tasks, None) }, &SLEEPS, |guest| {
            guest.wait("a cycle", || guest.variable(Slot::A, variable::COUNT) == 1);
            guest.stop();
            if is_watched {
                guest.call_attention();
            }
        });
        let Some(outcome) = outcome else { return };
        ended_well(&outcome);
    }
}

/// Goal: a task that is preempted finds its numbers as they were.
/// Method: both tasks keep some in registers, one of them over several releases of the other.
#[test]
fn numbers_in_registers_survive_that_their_task_is_preempted() {
    let tasks = vec![task(0, Nanos::from_millis(2), Wake::Sleep), task(1, PERIOD * 4, Wake::Sleep)];
    let outcome = run_program(ARITHMETIC, job(tasks, None), &SLEEPS, |guest| {
        guest.wait("preemptions", || {
            guest.variable(Slot::A, variable::PREEMPTIONS) > 20
                && guest.variable(Slot::A, variable::SLOW_COUNT) > 2
        });
        eprintln!(
            "{} jobs, {} preemptions",
            guest.variable(Slot::A, variable::SLOW_COUNT),
            guest.variable(Slot::A, variable::PREEMPTIONS)
        );
        assert_eq!(guest.variable(Slot::A, variable::WRONG), 0);
        guest.stop();
    });
    if let Some(outcome) = outcome {
        ended_well(&outcome);
    }
}

/// Goal: a task of a kernel that never ends leaves the cycle its time and goes on in the next one;
/// a fault in it is one of the program.
#[test]
fn a_kernel_in_a_guest_is_interrupted_when_its_time_is_up_and_goes_on_in_the_next_step() {
    let task_of = |name: &str| KernelTask { name: name.into(), deadline: None };
    let kernel_tasks = vec![task_of("fast"), task_of("slow")];
    // At the end the task accesses an address, or loses its stack.
    for (wake, options, wished, right) in
        [(Wake::Sleep, SLEEPS, 1, (64, Some(1))), (Wake::Spin, POLLS, 2, (u64::MAX - 7, None))]
    {
        let job = GuestJob { kernel_tasks: kernel_tasks.clone(), ..leader(wake) };
        let outcome = run(job, &options, |guest| {
            guest.wait("steps", || guest.variable(Slot::A, variable::STEPS) > 5);
            let turns = guest.variable(Slot::A, variable::TURNS);
            guest.wait("turns", || guest.variable(Slot::A, variable::TURNS) > turns);
            guest.wait("jobs", || guest.cycles(2) > 5);
            let error = Happening::KernelError { task: None, status: 8, service: 21 };
            assert!(guest.happenings(1).contains(&error));
            guest.set(Slot::A, variable::WISH, wished);
            guest.wait("the fault", || guest.region.view().fault().is_some());
            // The fault is that of the task that was under way.
            let told = guest.happenings(0);
            let is_right = |happening: &Happening| {
                let Happening::Fault { signal, address, overflowed, .. } = happening else {
                    return false;
                };
                *signal == ADDRESS && (*address, *overflowed) == right
            };
            assert!(told.iter().any(is_right), "{told:?}");
            let cycles = guest.cycles(0);
            guest.wait("more cycles", || guest.cycles(0) > cycles + 2);
            guest.stop();
        });
        let Some(outcome) = outcome else { return };
        ended_well(&outcome);
    }
}

/// Goal: what a cycle costs of exits, counted by KVM itself.
/// Method: two samples with some hundred cycles between them.
#[test]
fn a_sleeping_guest_leaves_twice_a_cycle_and_one_that_polls_never() {
    for (wake, options, most) in [(Wake::Sleep, SLEEPS, 2.0), (Wake::Spin, POLLS, 0.0)] {
        let mut seen = None;
        let watched = GuestJob { is_watched: true, ..leader(wake) };
        let outcome = run(watched, &options, |guest| {
            guest.wait("cycles", || guest.cycles(0) > 20);
            let (Some(first), begin) = (guest.sample(), guest.cycles(0)) else {
                return guest.stop();
            };
            guest.wait("cycles", || guest.cycles(0) > begin + 200);
            let (last, end) = (guest.sample().expect("as before"), guest.cycles(0));
            seen = Some((last.since(&first), end - begin));
            guest.stop();
            guest.call_attention();
        });
        let Some(outcome) = outcome else { return };
        ended_well(&outcome);
        let Some((sample, cycles)) = seen else {
            quietcore_skip::skip!("this kernel does not count a guest's exits");
            return;
        };
        let named: Vec<_> = sample.named().filter(|(_, value)| *value > 0).collect();
        eprintln!("{wake:?}: {cycles} cycles: {named:?}");
        // The host's own interrupts are not counted as the guest's.
        let own = sample.exits().saturating_sub(sample.interrupts());
        let each = own as f64 / cycles as f64;
        assert!(each <= most + 0.1, "{each} exits a cycle: {named:?}");
    }
}
