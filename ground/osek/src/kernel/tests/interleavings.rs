//! Every interleaving of a few interrupts with tasks that share resources with them.
//!
//! Goal: whenever an interrupt comes, no activation and no event is lost, nobody enters a critical
//! section that another one is in, and a task waits for a lower one during one critical section at
//! most. Method: before each call of whatever runs, each interrupt that is left may come or not;
//! all choices are tried, each on a copy of the kernel. What is held back comes when the level
//! falls.
//!
//! ```text
//! low    priority 1   takes the task resource, then the one of ISRs; activates high; sets event 1
//! middle priority 2   uses nothing
//! high   priority 3   takes the task resource
//! waiter priority 4   waits for events, notes and clears them, waits again
//! isr 0  level 1      takes the resource of ISRs; sets event 2; activates middle
//! isr 1  level 2      takes the resource of ISRs; activates high
//! isr 2  level 3      sets event 4; activates middle
//! ```

use super::*;
use crate::configuration::{Isr, Resource, Scale};
use crate::kernel::{Interrupted, TaskState};
use std::boxed::Box;
use std::collections::BTreeSet;
use std::vec::Vec;

const LOW: u8 = 0;
const MIDDLE: u8 = 1;
const HIGH: u8 = 2;
const WAITER: u8 = 3;
const OF_TASKS: u8 = 0;
const OF_ISRS: u8 = 1;

#[derive(Clone, Copy)]
enum Step {
    Get(u8),
    Release(u8),
    Activate(u8),
    Set(u64),
    Wait,
    /// Notes the events that are set, clears them and begins anew.
    Note,
    End,
}

use Step::{Activate, End, Get, Note, Release, Set, Wait};

const TASK_STEPS: [&[Step]; 4] = [
    &[
        Get(OF_TASKS),
        Get(OF_ISRS),
        Activate(HIGH),
        Release(OF_ISRS),
        Set(1),
        Release(OF_TASKS),
        End,
    ],
    &[End],
    &[Get(OF_TASKS), Release(OF_TASKS), End],
    &[Wait, Note],
];
const ISR_STEPS: [&[Step]; 3] = [
    &[Get(OF_ISRS), Set(2), Release(OF_ISRS), Activate(MIDDLE), End],
    &[Get(OF_ISRS), Activate(HIGH), Release(OF_ISRS), End],
    &[Set(4), Activate(MIDDLE), End],
];

/// The kernel with everything around it.
#[derive(Clone)]
struct World<'c> {
    kernel: Box<Kernel<'c>>,
    positions: [usize; 4],
    /// The ISRs that run, the innermost last.
    isrs: Vec<(usize, usize, Interrupted)>,
    /// For each interrupt, how many more may come.
    left: [u8; 3],
    pending: [bool; 3],
    held: [bool; 2],
    activated: [u32; 4],
    begun: [u32; 4],
    set: u64,
    noted: u64,
}

/// The findings of all paths.
#[derive(Default)]
struct Findings {
    paths: u64,
    seen: BTreeSet<&'static str>,
}

impl World<'_> {
    /// The context that runs makes its next call. `false` where nothing runs.
    fn step(&mut self, findings: &mut Findings) -> bool {
        let step = match (self.isrs.last_mut(), self.kernel.running()) {
            (Some((isr, position, _)), _) => {
                *position += 1;
                ISR_STEPS[*isr][*position - 1]
            }
            (None, Some(task)) => {
                let position = &mut self.positions[usize::from(task)];
                *position += 1;
                TASK_STEPS[usize::from(task)][*position - 1]
            }
            (None, None) => return false,
        };
        self.perform(step);
        self.dispatch(findings);
        true
    }

    fn perform(&mut self, step: Step) {
        match step {
            Get(resource) => {
                self.kernel.get_resource(resource).expect("the one before has released it");
                let held = &mut self.held[usize::from(resource)];
                assert!(!*held, "two are in one critical section");
                *held = true;
            }
            Release(resource) => {
                self.held[usize::from(resource)] = false;
                self.kernel.release_resource(resource).expect("it was taken last");
            }
            Activate(task) => {
                self.kernel.activate_task(task, 0).expect("there are activations left");
                self.activated[usize::from(task)] += 1;
            }
            Set(events) => {
                self.kernel.set_event(WAITER, events, 0).expect("the waiter is active");
                self.set |= events;
            }
            Wait => drop(self.kernel.wait_event(u64::MAX).expect("it holds nothing")),
            Note => {
                self.noted |= self.kernel.event(WAITER).expect("the waiter runs");
                self.kernel.clear_event(u64::MAX).expect("the waiter runs");
                self.positions[usize::from(WAITER)] = 0;
            }
            End if self.isrs.is_empty() => self.kernel.terminate_task().expect("it holds nothing"),
            End => {
                let (_, _, interrupted) = self.isrs.pop().expect("an ISR ends");
                assert!(!self.kernel.leave_isr(interrupted, 0), "it holds nothing");
            }
        }
    }

    fn dispatch(&mut self, findings: &mut Findings) {
        if self.kernel.call_level() != CallLevel::Task {
            return;
        }
        let held = self.held;
        if let Some(switch) = self.kernel.dispatch(0) {
            if let Enter::Begin(task, _) = switch.enter {
                self.begun[usize::from(task)] += 1;
                self.positions[usize::from(task)] = 0;
            }
            let within = matches!(switch.leave, Leave::Task(LOW)) && held[usize::from(OF_TASKS)];
            findings.note(within, "preempted in a critical section");
        }
        self.check();
    }

    /// At the level of tasks: the running one is the most urgent, but for one critical section.
    fn check(&self) {
        let priority = |task: u8| self.kernel.configuration().tasks[usize::from(task)].priority;
        for task in 0..4 {
            let state = self.kernel.task_state(task).unwrap();
            let waits_in_vain =
                state == TaskState::Waiting && self.kernel.event(task).unwrap() != 0;
            assert!(!waits_in_vain, "an event is lost");
            if state != TaskState::Ready {
                continue;
            }
            let running = self.kernel.running().expect("one is ready, so one runs");
            let ceiling = match (self.held, running) {
                ([_, true], LOW) => u8::MAX,
                ([true, false], LOW | HIGH) => 3,
                _ => 0,
            };
            assert!(priority(task) <= priority(running).max(ceiling), "an inversion");
        }
    }

    /// An interrupt comes, or is held back.
    fn interrupt(&mut self, isr: usize, findings: &mut Findings) {
        self.left[isr] -= 1;
        self.pending[isr] = true;
        self.deliver(findings);
        findings.note(self.pending[isr], "held back");
    }

    /// Interrupts held back come as soon as the level allows, the most urgent first.
    fn deliver(&mut self, findings: &mut Findings) {
        for isr in (0..3).rev() {
            let passes = usize::from(self.kernel.interrupt_level()) <= isr;
            if passes && core::mem::take(&mut self.pending[isr]) {
                findings.note(!self.isrs.is_empty(), "nested");
                findings.note(self.held[usize::from(OF_ISRS)], "in a critical section");
                let interrupted = self.kernel.enter_isr(Some(isr as u8), 0);
                self.isrs.push((isr, 0, interrupted));
            }
        }
    }

    /// Nothing is left to do.
    fn check_end(&self) {
        assert_eq!(self.activated, self.begun, "an activation is lost");
        assert_eq!(self.set, self.noted, "an event is lost");
        assert_eq!((self.kernel.level(), self.kernel.interrupt_level()), (0, 0));
    }
}

impl Findings {
    fn note(&mut self, happened: bool, what: &'static str) {
        if happened {
            self.seen.insert(what);
        }
    }
}

fn explore(mut world: World<'_>, findings: &mut Findings) {
    loop {
        for isr in 0..3 {
            if world.left[isr] > 0 {
                let mut other = world.clone();
                other.interrupt(isr, findings);
                explore(other, findings);
            }
        }
        // Now those paths on which no interrupt comes here.
        if !world.step(findings) {
            break;
        }
        world.deliver(findings);
    }
    world.check_end();
    findings.paths += 1;
}

fn explore_all(left: [u8; 3]) -> Findings {
    let isr = |level| Isr { entry: nothing, source: 0, level, category: 2 };
    let isrs = [1, 2, 3].map(isr);
    let resources = [
        Resource { scale: Scale::Task, ceiling: 3 },
        Resource { scale: Scale::Interrupt, ceiling: 2 },
    ];
    let several = |task| Task { activations: 9, ..task };
    let tasks = [at_start(basic(1)), several(basic(2)), several(basic(3)), at_start(extended(4))];
    let configuration =
        Configuration { tasks: &tasks, isrs: &isrs, resources: &resources, ..PLAIN };
    assert_eq!(crate::check::check(&configuration), Ok(()));
    let mut kernel = Box::new(Kernel::new());
    kernel.start(&configuration, 0, 0).unwrap();
    kernel.enter(CallLevel::Task);
    let mut findings = Findings::default();
    let mut world = World {
        kernel,
        positions: [0; 4],
        isrs: Vec::new(),
        left,
        pending: [false; 3],
        held: [false; 2],
        activated: [1, 0, 0, 1],
        begun: [0; 4],
        set: 0,
        noted: 0,
    };
    world.dispatch(&mut findings);
    explore(world, &mut findings);
    findings
}

#[test]
fn nothing_is_lost_whenever_three_interrupts_come() {
    let left = if cfg!(miri) { [0, 1, 0] } else { [1, 1, 1] };
    let findings = explore_all(left);
    std::println!("{} paths: {:?}", findings.paths, findings.seen);
    let expected =
        ["held back", "in a critical section", "nested", "preempted in a critical section"];
    assert!(cfg!(miri) || expected.iter().all(|what| findings.seen.contains(what)));
    assert!(cfg!(miri) || findings.paths > 10_000);
}
