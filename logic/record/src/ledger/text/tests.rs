//! Tests of the reader: lines of two kernels, hostile names, and any text.

use proptest::prelude::*;

use super::*;

fn one(line: &str) -> Event {
    let trace = read(line);
    assert_eq!((trace.events.len(), trace.unread), (1, 0), "{line}");
    trace.events.into_iter().next().unwrap()
}

#[test]
fn a_line_is_read_with_and_without_flags_and_process_numbers() {
    for line in [
        "  lto cgu.00-11742   [000] d.h2. 42356.112451: local_timer_entry: vector=236",
        "  lto cgu.00-11742   (  11740) [000] d.h2. 42356.112451: local_timer_entry: vector=236",
        "  lto cgu.00-11742   [000] 42356.112451: local_timer_entry: vector=236",
    ] {
        let event = one(line);
        assert_eq!((event.at_ns, event.cpu), (42_356_112_451_000, 0), "{line}");
        assert_eq!(event.running, Some(Thread { name: "lto cgu.00".to_owned(), number: 11742 }));
        assert_eq!(event.happening, Happening::Entry(Frame::Timer));
    }
    let idle = one("<idle>-0 [012] d..2. 1.000001: irq_handler_entry: irq=41 name=virtio3-rx");
    assert!(idle.running.unwrap().is_idle());
    assert_eq!(idle.happening, Happening::Entry(Frame::Interrupt("41 virtio3-rx".to_owned())));
}

#[test]
fn each_event_is_what_it_says() {
    let of = |fields: &str| one(&format!("x-1 [001] d..2. 1.000001: {fields}")).happening;
    assert_eq!(
        of("irq_handler_exit: irq=41 ret=handled"),
        Happening::Exit(Frame::Interrupt("41".into()))
    );
    assert_eq!(
        of("softirq_entry: vec=9 [action=RCU]"),
        Happening::Entry(Frame::Softirq("RCU".into()))
    );
    let call = Frame::Interrupt("call function single".into());
    assert_eq!(of("call_function_single_exit: vector=251"), Happening::Exit(call));
    assert_eq!(of("vector_alloc_entry: irq=3"), Happening::Other);
    assert_eq!(
        of("sched_waking: comm=a b pid=7 pid=8 prio=120 target_cpu=001"),
        Happening::Waking(8)
    );
    assert_eq!(of("page_fault_user: address=0x1 ip=0x2 error_code=0x6"), Happening::PageFault);
    assert_eq!(of("cpu_frequency: state=2400000 cpu_id=1"), Happening::Frequency(2_400_000));
    assert_eq!(
        of("nmi_handler: perf_event_nmi_handler() delta_ns: 1234 handled: 1"),
        Happening::Lasted(Frame::Nmi("perf_event_nmi_handler()".into()), 1234)
    );
    assert_eq!(
        of("irq_noise: local_timer:236 start 85.140 duration 99 ns"),
        Happening::Lasted(Frame::Timer, 99)
    );
    assert_eq!(
        of("softirq_noise:   SCHED:7 start 85.140 duration 98 ns"),
        Happening::Lasted(Frame::Softirq("SCHED".into()), 98)
    );
    let left = Happening::Left("HLT".into());
    assert_eq!(of("kvm_exit: vcpu 0 reason HLT rip 0x10be info1 0x0 info2 0x0"), left);
    assert_eq!(of("kvm_exit: reason HLT rip 0x10be info 0 0"), left);
    assert_eq!(of("kvm_entry: vcpu 0, rip 0x10bf"), Happening::Entered);
    assert_eq!(
        of("sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=b c \
            next_pid=2 next_prio=-1"),
        Happening::Switch {
            from: 1,
            from_priority: 120,
            still_runnable: true,
            to: Thread { name: "b c".into(), number: 2 },
            priority: -1,
        }
    );
}

/// A thread may be called what it likes, within 15 bytes.
#[test]
fn a_name_can_not_pose_as_something_else() {
    let line = "a-1 [001] 1.0: x-55    [003] d..2. 2.000001: sched_switch: prev_comm=] prev_pid=9 \
                prev_pid=55 prev_prio=120 prev_state=S ==> next_comm= ==> next_pid=3 next_pid=0 \
                next_prio=120";
    let event = one(line);
    assert_eq!((event.cpu, event.at_ns), (3, 2_000_001_000));
    let Happening::Switch { from, to, .. } = event.happening else { panic!("{event:?}") };
    assert_eq!((from, to.number), (55, 0));
    let escape = one("\u{1b}[2J-5 [001] d..2. 1.000001: sched_waking: comm=x pid=3 prio=1");
    assert_eq!(escape.running.unwrap().name, "[2J", "control characters are left out");
}

#[test]
fn a_stack_belongs_to_the_event_before_and_has_a_limit() {
    let mut text = "x-1 [001] d.h4. 1.000001: <stack trace>\n".to_owned();
    text.push_str(&" => f\n".repeat(100));
    let event = one(&text);
    assert_eq!(event.happening, Happening::Stack(vec!["f".to_owned(); STACK_MAX]));
}

#[test]
fn only_the_last_lines_of_an_endless_text_are_read() {
    let line = "x-1 [001] d.h4. 1.000001: local_timer_entry: vector=236\n";
    let trace = read(&line.repeat(LINES_MAX + 3));
    assert_eq!((trace.events.len(), trace.skipped), (LINES_MAX, 3));
}

#[test]
fn the_kernel_tells_whether_all_is_there() {
    let head = "# tracer: nop\n#\n# entries-in-buffer/entries-written: ";
    assert!(read(&format!("{head}17/17   #P:2\n")).is_whole);
    assert!(!read(&format!("{head}17/18   #P:2\n")).is_whole);
    assert!(!read("# entries-in-buffer/entries-written:").is_whole);
}

#[test]
fn losses_and_nonsense_are_told() {
    let trace = read("# tracer: nop\n\nCPU:1 [LOST 17 EVENTS]\nhello\n");
    assert_eq!(trace.events[0].happening, Happening::Lost);
    assert_eq!(trace.unread, 1);
}

proptest! {
    #[test]
    fn no_text_makes_it_fail(text in "\\PC{0,400}") {
        let _ = read(&text);
    }

    #[test]
    fn no_line_of_the_right_parts_makes_it_fail(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("x-1 "), Just("[001] "), Just("[LOST"), Just("d..2. "), Just("1.000001: "),
                Just("18446744073709551615.999999999: "), Just("sched_switch: "), Just(" => "),
                Just(" ==> next_comm="), Just(" prev_pid="), Just("prev_state="), Just("-"),
                Just(" next_pid="), Just(" next_prio="), Just("99999999999999999999"), Just("("),
                Just("<stack trace>"), Just("irq_noise: "), Just("duration "), Just("start "),
                Just("\n"), Just("vec=1 [action="), Just("µ"), Just("] "),
            ],
            0..40,
        ),
    ) {
        let _ = read(&parts.concat());
    }

    /// Goal: a line that a kernel writes is read back, whatever the thread is called.
    #[test]
    fn a_header_is_read_back(
        name in "[ -~]{1,15}", number in 0_u32..4_194_304, cpu in 0_u32..1024,
        micros in 0_u64..1_000_000_000_000,
    ) {
        let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
        let line = format!(
            "{name:>16}-{number:<7} [{cpu:03}] d..2. {seconds:5}.{fraction:06}: local_timer_exit: \
             vector=236"
        );
        prop_assume!(!name.starts_with('#') && !name.trim_start().starts_with("=> "));
        prop_assume!(!line.contains("[LOST ") && !line.starts_with("CPU:"));
        let trace = read(&line);
        prop_assert_eq!(trace.events.len(), 1, "{}", line);
        prop_assert_eq!(trace.events[0].cpu, cpu);
        prop_assert_eq!(trace.events[0].at_ns, micros * 1000);
        prop_assert_eq!(trace.events[0].running.as_ref().unwrap().number, number);
    }
}
