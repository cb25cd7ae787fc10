//! Evidence of late releases whose trace was made up: the ledgers are made of it as of a real one.

use quietcore_evidence::Evidence;
use quietcore_record::ledger::{Ledgers, Means, Window, attribute, read};

use super::{QUIET, evidence, record};

/// A thread runs on after the timer has fired; a device, its softirq and an NMI interrupt it, and
/// the task begins with a page fault.
const TRACE: &str = "
   spinner-99   [001] d..2. 0.000900: sched_switch: prev_comm=task-0 \
                prev_pid=812 prev_prio=9 prev_state=S \
                ==> next_comm=spinner next_pid=99 next_prio=4
   spinner-99   [001] d.h1. 0.001004: local_timer_entry: vector=236
   spinner-99   [001] d.h2. 0.001006: sched_waking: comm=task-0 pid=812 prio=9 target_cpu=001
   spinner-99   [001] dNh1. 0.001011: local_timer_exit: vector=236
   spinner-99   [001] d.Z1. 0.001056: nmi_handler: perf_nmi_handler() delta_ns: 6000 handled: 1
   spinner-99   [001] d.h1. 0.001100: irq_handler_entry: irq=41 name=virtio3-rx
   spinner-99   [001] d.h1. 0.001130: irq_handler_exit: irq=41 ret=handled
   spinner-99   [001] ..s1. 0.001130: softirq_entry: vec=3 [action=NET_RX]
   spinner-99   [001] ..s1. 0.001185: softirq_exit: vec=3 [action=NET_RX]
   spinner-99   [001] d.h1. 0.001260: irq_handler_entry: irq=41 name=virtio3-rx
   spinner-99   [001] d.h1. 0.001275: irq_handler_exit: irq=41 ret=handled
   spinner-99   [001] d..2. 0.001400: sched_switch: prev_comm=spinner \
                prev_pid=99 prev_prio=4 prev_state=S \
                ==> next_comm=swapper/1 next_pid=0 next_prio=120
   <idle>-0     [001] d..2. 0.001420: sched_switch: prev_comm=swapper/1 \
                prev_pid=0 prev_prio=120 prev_state=R \
                ==> next_comm=task-0 next_pid=812 next_prio=9
   task-0-812   [001] d.... 0.001424: page_fault_user: address=0x7f ip=0x55 error_code=0x6
   task-0-812   [001] d..2. 0.001450: sched_switch: prev_comm=task-0 \
                prev_pid=812 prev_prio=9 prev_state=R \
                ==> next_comm=spinner next_pid=99 next_prio=4
   spinner-99   [001] d..2. 0.001490: sched_switch: prev_comm=spinner \
                prev_pid=99 prev_prio=4 prev_state=S \
                ==> next_comm=task-0 next_pid=812 next_prio=9
";

/// Makes evidence of two late releases: the same course, of which one ends sooner.
pub(crate) fn late() -> Evidence {
    let events = read(TRACE).events;
    let mut ledgers = Ledgers::new(50_000, Means::Trace);
    ledgers.above = 2;
    ledgers.observed.push("interrupts, softirqs, NMIs, switches, page faults".to_owned());
    ledgers.miss("SMIs", "this processor counts none");
    for (release, started_ns) in [(61_234, 1_498_000), (812, 1_150_000)] {
        let window = Window {
            release,
            due_ns: 1_000_000,
            started_ns,
            first_release_ns: 0,
            cpu: 1,
            thread: 812,
            traced_from_ns: Some(0),
        };
        ledgers.add(attribute(&window, &events));
    }
    let mut late = record("tp2", 1, 40_000, QUIET, 2);
    late.ledgers = Some(ledgers);
    evidence(vec![late], 1e-5)
}
