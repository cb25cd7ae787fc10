//! Tests of the attribution: known streams to known shares, and any stream to the whole.

use proptest::prelude::*;

use super::*;
use crate::ledger::read;

const TASK: u32 = 812;

fn window(due_us: u64, started_us: u64) -> Window {
    Window {
        release: 7,
        due_ns: due_us * 1000,
        started_ns: started_us * 1000,
        first_release_ns: 0,
        cpu: 1,
        thread: TASK,
        traced_from_ns: None,
    }
}

/// The events of a text in which switches are short: `prev pid prio state ==> next pid prio`.
fn events(text: &str) -> Vec<Event> {
    let line = |line: &str| {
        let Some((head, switch)) = line.split_once("sched_switch: ") else {
            return line.to_owned();
        };
        let words: Vec<&str> = switch.split_whitespace().collect();
        let [from, pid, priority, state, arrow, to, next, next_priority] = words[..] else {
            panic!("{line}");
        };
        format!(
            "{head}sched_switch: prev_comm={from} prev_pid={pid} prev_prio={priority} \
             prev_state={state} {arrow} next_comm={to} next_pid={next} next_prio={next_priority}"
        )
    };
    let text: Vec<String> = text.lines().map(line).collect();
    read(&text.join("\n")).events
}

fn share(ledger: &Ledger, cause: Cause) -> Vec<(&str, u64)> {
    let of = ledger.shares.iter().filter(|share| share.cause == cause);
    of.map(|share| (share.what.as_str(), share.ns / 1000)).collect()
}

/// An idle CPU: the timer fires 5 µs late, its interrupt takes 3 µs, and 4 µs later the task runs.
const IDLE: &str = "
   task-0-812   [001] d..2. 0.000100: sched_switch: task-0 812 9 S ==> swapper/1 0 120
   <idle>-0     [001] d.h1. 0.001005: local_timer_entry: vector=236
   <idle>-0     [001] d.h2. 0.001006: sched_waking: comm=task-0 pid=812 prio=9 target_cpu=001
   <idle>-0     [001] dNh1. 0.001008: local_timer_exit: vector=236
   <idle>-0     [001] d..2. 0.001012: sched_switch: swapper/1 0 120 R ==> task-0 812 9
";

#[test]
fn an_idle_cpu_is_late_by_its_timer_the_interrupt_and_the_switch() {
    let ledger = attribute(&window(1000, 1014), &events(IDLE));
    assert!(ledger.adds_up());
    assert_eq!(share(&ledger, Cause::TimerLate), [("the CPU was idle", 5)]);
    assert_eq!(share(&ledger, Cause::TimerInterrupt), [("", 3)]);
    assert_eq!(share(&ledger, Cause::RunDelay), [("", 4)]);
    assert_eq!(share(&ledger, Cause::Own), [("", 2)]);
    assert_eq!(ledger.remarks, Vec::<String>::new());
}

/// A thread of higher priority runs on after the timer has woken the task; a device interrupts it,
/// an NMI that, and a softirq follows.
const BLOCKED: &str = "
   spinner-99   [001] d..2. 0.000900: sched_switch: task-0 812 9 S ==> spinner 99 4
   spinner-99   [001] d.h1. 0.001001: local_timer_entry: vector=236
   spinner-99   [001] d.h2. 0.001002: sched_waking: comm=task-0 pid=812 prio=9 target_cpu=001
   spinner-99   [001] d.h4. 0.001002: <stack trace>
 => hrtimer_wakeup
 => copy_page
   spinner-99   [001] dNh1. 0.001004: local_timer_exit: vector=236
   spinner-99   [001] d.h1. 0.001100: irq_handler_entry: irq=41 name=virtio3-rx
   spinner-99   [001] d.Z1. 0.001108: nmi_handler: perf_nmi_handler() delta_ns: 3000 handled: 1
   spinner-99   [001] d.h1. 0.001110: irq_handler_exit: irq=41 ret=handled
   spinner-99   [001] ..s1. 0.001110: softirq_entry: vec=3 [action=NET_RX]
   spinner-99   [001] ..s1. 0.001130: softirq_exit: vec=3 [action=NET_RX]
   spinner-99   [001] d..2. 0.001500: sched_switch: spinner 99 4 S ==> task-0 812 9
   task-0-812   [001] d.... 0.001502: page_fault_user: address=0x7f ip=0x55 error_code=0x6
";

#[test]
fn a_blocking_thread_is_named_with_its_stack_and_what_interrupted_it_is_not_its() {
    let ledger = attribute(&window(1000, 1512), &events(BLOCKED));
    assert!(ledger.adds_up());
    let thread = "spinner (99, real-time priority 95)";
    // 96 µs before the device, and 370 µs after its softirq.
    assert_eq!(share(&ledger, Cause::Thread), [(thread, 466)]);
    let ran = format!("{thread} ran");
    assert_eq!(share(&ledger, Cause::TimerLate), [(&*ran, 1)]);
    assert_eq!(share(&ledger, Cause::Interrupt), [("41 virtio3-rx", 10)]);
    assert_eq!(share(&ledger, Cause::Softirq), [("NET_RX", 20)]);
    assert_eq!(share(&ledger, Cause::PageFault), [("", 10)]);
    assert_eq!(ledger.stack, ["hrtimer_wakeup", "copy_page"]);
    assert_eq!(ledger.counted[0].what, "page faults");
    assert_eq!(ledger.shares[0].times, 1, "it ran once, interrupted twice");
    let course = ledger.course.iter().map(|piece| (piece.cause, piece.at_ns / 1000));
    let expected = [
        (Cause::TimerLate, 0),
        (Cause::TimerInterrupt, 1),
        (Cause::Thread, 4),
        (Cause::Interrupt, 100),
        (Cause::Softirq, 110),
        (Cause::Thread, 130),
        (Cause::Own, 500),
        (Cause::PageFault, 502),
    ];
    assert_eq!(course.collect::<Vec<_>>(), expected);
}

/// The processor of a guest, which halted: the host wakes its thread, takes 6 µs to enter it, and
/// an interrupt has it leave once more before the guest's task starts.
const GUEST: &str = "
   proc-812     [001] ..... 0.000100: kvm_exit: vcpu 0 reason HLT rip 0x10 info1 0x0 info2 0x0
   proc-812     [001] d..2. 0.000102: sched_switch: proc 812 9 S ==> swapper/1 0 120
   <idle>-0     [001] d.h1. 0.001002: local_timer_entry: vector=236
   <idle>-0     [001] d.h2. 0.001003: sched_waking: comm=proc pid=812 prio=9 target_cpu=001
   <idle>-0     [001] dNh1. 0.001004: local_timer_exit: vector=236
   <idle>-0     [001] d..2. 0.001007: sched_switch: swapper/1 0 120 R ==> proc 812 9
   proc-812     [001] ..... 0.001013: kvm_entry: vcpu 0, rip 0x11
   proc-812     [001] ..... 0.001020: kvm_exit: vcpu 0 reason EXTERNAL_INTERRUPT rip 0x12 info1 0
   proc-812     [001] d.h1. 0.001021: irq_handler_entry: irq=41 name=virtio3-rx
   proc-812     [001] d.h1. 0.001031: irq_handler_exit: irq=41 ret=handled
   proc-812     [001] ..... 0.001033: kvm_entry: vcpu 0, rip 0x12
";

#[test]
fn what_the_host_does_for_a_guest_is_no_way_of_the_guests_own() {
    let ledger = attribute(&window(1000, 1040), &events(GUEST));
    assert!(ledger.adds_up());
    assert_eq!(share(&ledger, Cause::TimerLate), [("the CPU was idle", 2)]);
    assert_eq!(share(&ledger, Cause::TimerInterrupt), [("", 2)]);
    assert_eq!(share(&ledger, Cause::RunDelay), [("", 3)]);
    assert_eq!(share(&ledger, Cause::Exit), [("HLT", 6), ("EXTERNAL_INTERRUPT", 3)]);
    assert_eq!(share(&ledger, Cause::Interrupt), [("41 virtio3-rx", 10)]);
    assert_eq!(share(&ledger, Cause::Own), [("", 14)]);
    assert_eq!(ledger.remarks, Vec::<String>::new());
}

/// Goal: the priority of a thread is known, though it ran already when the trace began.
#[test]
fn the_priority_of_what_ran_before_the_trace_is_that_of_its_end() {
    let (_, later) = BLOCKED.trim_start().split_once('\n').unwrap();
    let ledger = attribute(&window(1000, 1512), &events(later));
    let thread = "spinner (99, real-time priority 95)";
    assert_eq!(share(&ledger, Cause::Thread), [(thread, 466)]);
}

#[test]
fn a_noise_told_by_its_length_takes_from_the_thread_it_interrupted() {
    let noise = "
   spinner-99 [001] d..2. 0.000900: sched_switch: a 812 9 R ==> spinner 99 120
   spinner-99 [001] d.h1. 0.001100: irq_noise: eth0:33 start 7.000001 duration 40000 ns
   spinner-99 [001] d.Z1. 0.001200: nmi_noise: start 7.000001 duration 20000 ns
   spinner-99 [001] d..2. 0.001300: sched_switch: spinner 99 120 S ==> a 812 9
";
    let ledger = attribute(&window(1000, 1300), &events(noise));
    assert!(ledger.adds_up());
    assert_eq!(share(&ledger, Cause::Interrupt), [("33 eth0", 40)]);
    assert_eq!(share(&ledger, Cause::Nmi), [("", 20)]);
    assert_eq!(share(&ledger, Cause::Thread), [("spinner (99)", 240)]);
}

#[test]
fn what_the_trace_does_not_hold_is_unexplained_and_said() {
    let ledger = attribute(&window(1000, 1100), &[]);
    assert_eq!(share(&ledger, Cause::Unexplained), [("", 100)]);
    assert!(ledger.remarks[0].contains("holds nothing"));
    // The trace begins 12 µs before the start.
    let late = IDLE.lines().last().unwrap();
    let ledger = attribute(&window(1000, 1014), &events(late));
    assert_eq!(share(&ledger, Cause::Unexplained), [("", 12)]);
    assert!(ledger.remarks[0].contains("begins after"));
    let lost =
        IDLE.replace("   <idle>-0     [001] dNh1", "CPU:1 [LOST 5 EVENTS]\n <idle>-0 [001] dNh1");
    let ledger = attribute(&window(1000, 1014), &events(&lost));
    assert!(ledger.adds_up());
    assert!(ledger.remarks[0].contains("lost"));
    assert!(ledger.of(Cause::Unexplained) > 0 || ledger.of(Cause::TimerInterrupt) > 0);
    // That it is whole says who ran before its first event.
    let whole = Window { traced_from_ns: Some(999_000), ..window(1000, 1014) };
    let ledger = attribute(&whole, &events(late));
    assert_eq!(share(&ledger, Cause::TimerLate), [("the CPU was idle", 12)]);
    let not_so_early = Window { traced_from_ns: Some(1_000_001), ..whole };
    assert_eq!(attribute(&not_so_early, &events(late)).of(Cause::Unexplained), 12_000);
    // The task does not appear.
    let other = IDLE.replace("812", "813");
    let ledger = attribute(&window(1000, 1014), &events(&other));
    assert!(ledger.remarks[0].contains("PID namespace"), "{ledger:?}");
    // Its last event, the switch to the task, is missing.
    let cut = IDLE.trim_end().rsplit_once('\n').unwrap().0;
    let ledger = attribute(&window(1000, 1014), &events(cut));
    assert_eq!(share(&ledger, Cause::Unexplained), [("", 6)]);
    assert!(ledger.remarks[0].contains("ends before"), "{ledger:?}");
}

#[test]
fn other_cpus_and_later_events_are_passed_over() {
    let other = IDLE.replace("[001]", "[000]");
    let mut all = events(&other);
    all.extend(events(IDLE));
    all.extend(events(&IDLE.replace(" 0.00", " 9.00")));
    let ledger = attribute(&window(1000, 1014), &all);
    assert_eq!(ledger.shares, attribute(&window(1000, 1014), &events(IDLE)).shares);
}

fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        Just(Frame::Timer),
        (0_u8..3).prop_map(|n| Frame::Interrupt(n.to_string())),
        (0_u8..3).prop_map(|n| Frame::Softirq(n.to_string())),
        Just(Frame::Nmi("n".to_owned())),
    ]
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        frame().prop_map(Happening::Entry),
        frame().prop_map(Happening::Exit),
        (frame(), 0_u64..5_000).prop_map(|(frame, ns)| Happening::Lasted(frame, ns)),
        (810_u32..815, any::<bool>(), 810_u32..815, -2_i64..140).prop_map(
            |(from, still_runnable, to, priority)| Happening::Switch {
                from,
                from_priority: priority,
                still_runnable,
                to: Thread { name: "t".to_owned(), number: if to == 814 { 0 } else { to } },
                priority,
            }
        ),
        (810_u32..815).prop_map(Happening::Waking),
        Just(Happening::PageFault),
        Just(Happening::Frequency(7)),
        Just(Happening::Stack(vec!["f".to_owned()])),
        Just(Happening::Lost),
        Just(Happening::Other),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let running = proptest::option::of(809_u32..815)
        .prop_map(|number| number.map(|number| Thread { name: "t".to_owned(), number }));
    (0_u64..20_000, 0_u32..2, running, happening())
        .prop_map(|(at_ns, cpu, running, happening)| Event { at_ns, cpu, running, happening })
}

proptest! {
    /// Whatever is told, in whatever order, the shares are the window, no more and no less.
    #[test]
    fn the_shares_are_the_whole_window(
        mut events in proptest::collection::vec(event(), 0..60),
        sorted in any::<bool>(),
        due_ns in 0_u64..20_000,
        lasts_ns in 0_u64..20_000,
        traced_from_ns in any::<bool>(),
    ) {
        if sorted {
            events.sort_by_key(|event| event.at_ns);
        }
        let traced_from_ns = traced_from_ns.then_some(due_ns);
        let window =
            Window { due_ns, started_ns: due_ns + lasts_ns, traced_from_ns, ..window(0, 0) };
        let ledger = attribute(&window, &events);
        prop_assert_eq!(ledger.latency_ns, lasts_ns);
        prop_assert!(ledger.adds_up(), "{:?}", ledger);
        prop_assert!(ledger.shares.iter().all(|share| share.ns > 0));
        prop_assert!(ledger.shares.is_sorted_by(|a, b| a.ns >= b.ns));
        let mut now = 0;
        for piece in &ledger.course {
            prop_assert_eq!(piece.at_ns, now, "no gap and no overlap: {:?}", ledger.course);
            now += piece.ns;
        }
        prop_assert_eq!(now, lasts_ns);
    }

    /// Nesting never counts twice: an interrupt has all of its time, but for what interrupted it.
    #[test]
    fn nested_interrupts_have_their_own_time_each(
        outer_us in 1_u64..100, inner_us in 1_u64..100, after_us in 1_u64..100,
    ) {
        let at = |us: u64, happening| Event {
            at_ns: (1000 + us) * 1000,
            cpu: 1,
            running: Some(Thread { name: "x".to_owned(), number: 5 }),
            happening,
        };
        let device = Frame::Interrupt("9 disk".to_owned());
        let softirq = Frame::Softirq("BLOCK".to_owned());
        let events = [
            at(0, Happening::Entry(softirq.clone())),
            at(outer_us, Happening::Entry(device.clone())),
            at(outer_us + inner_us, Happening::Exit(Frame::Interrupt("9".to_owned()))),
            at(outer_us + inner_us + after_us, Happening::Exit(softirq)),
        ];
        let end = 1000 + outer_us + inner_us + after_us;
        let ledger = attribute(&window(1000, end), &events);
        prop_assert_eq!(ledger.of(Cause::Interrupt), inner_us * 1000);
        prop_assert_eq!(ledger.of(Cause::Softirq), (outer_us + after_us) * 1000);
        prop_assert!(ledger.adds_up());
    }
}
