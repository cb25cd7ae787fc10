//! Generates random programs for the comparison with the reference.
//!
//! Numbers are drawn first and made to fit afterwards: an identifier is taken modulo how many there
//! are, a priority becomes unique where the class asks for it. So every drawn case is a program
//! that `check` accepts, and proptest may shrink each number by itself.
//!
//! Programs are small and crowded, because what goes wrong, goes wrong between few tasks: up to
//! five of them on four priorities, three resources, three levels of ISRs, counters of a dozen
//! ticks.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use quietcore_osek::configuration::{
    Action, ActionKind, Alarm, Checking, Class, Counter, ExpiryPoint, Isr, Kind, Resource,
    SCHEDULER_LEVEL, Scale, ScheduleTable, Task,
};

use crate::program::{Happening, Program, Script, Step, nothing};

/// An identifier beyond all tables.
const UNKNOWN: u8 = 200;
const EVENTS: std::ops::RangeInclusive<u64> = 1..=7;

#[derive(Clone, Debug)]
struct DrawnTask {
    priority: u8,
    is_extended: bool,
    activations: u8,
    /// 0 to 5: preemptable; 6 to 8: not; above: an internal resource of this ceiling less 8.
    preemption: u8,
    starts: bool,
    inter_arrival_ns: u64,
    budget_ns: u64,
    script: Script,
}

#[derive(Clone, Copy, Debug)]
struct DrawnAction {
    kind: u8,
    object: u8,
    events: u64,
}

#[derive(Clone, Copy, Debug)]
struct DrawnAlarm {
    action: DrawnAction,
    counter: u8,
    starts: bool,
    first: u32,
    cycle: u32,
}

#[derive(Clone, Debug)]
struct DrawnTable {
    counter: u8,
    duration: u32,
    repeating: bool,
    starts: bool,
    start: u32,
    points: Vec<(u32, Vec<DrawnAction>)>,
}

/// Programs whose happenings are up to so many.
pub(crate) fn programs(happenings_max: usize) -> impl Strategy<Value = Program> {
    let classes = select(vec![Class::Bcc1, Class::Bcc2, Class::Ecc1, Class::Ecc2, Class::Ecc2]);
    let modes = (classes, select(vec![Checking::Extended, Checking::Standard]));
    let isrs = vec((1..=5_u8, script(isr_step())), 0..=3);
    let time = (counters(), vec(alarm(), 0..=4), vec(table(), 0..=2));
    let happenings = vec(happening(), 1..=happenings_max);
    (modes, vec(task(), 2..=5), isrs, vec(resource(), 1..=3), time, happenings).prop_map(
        |((class, checking), tasks, isrs, resources, (counters, alarms, tables), happenings)| {
            let mut program = Program {
                class,
                checking,
                tasks: Vec::new(),
                isrs: Vec::new(),
                resources,
                counters,
                alarms: Vec::new(),
                tables: Vec::new(),
                points: Vec::new(),
                actions: Vec::new(),
                task_scripts: Vec::new(),
                isr_scripts: Vec::new(),
                happenings,
            };
            program.add_tasks(tasks);
            for (index, (drawn, script)) in isrs.into_iter().enumerate() {
                // Above 3: as many levels as there are ISRs.
                let level = if drawn > 3 { index as u8 + 1 } else { drawn };
                program.isrs.push(Isr { entry: nothing, source: 0, level, category: 2 });
                program.isr_scripts.push(script);
            }
            program.add_time(&alarms, tables);
            program.fit();
            program
        },
    )
}

fn task() -> impl Strategy<Value = DrawnTask> {
    let often_zero = |range| prop_oneof![4 => Just(0_u64), 1 => range];
    let kinds = (1..=4_u8, any::<bool>(), 1..=3_u8, 0..=12_u8, any::<bool>());
    (kinds, often_zero(1..40_u64), often_zero(3..40_u64), script(task_step())).prop_map(
        |(kinds, inter_arrival_ns, budget_ns, script)| {
            let (priority, is_extended, activations, preemption, starts) = kinds;
            DrawnTask {
                priority,
                is_extended,
                activations,
                preemption,
                starts,
                inter_arrival_ns,
                budget_ns,
                script,
            }
        },
    )
}

fn script(steps: impl Strategy<Value = Step>) -> impl Strategy<Value = Script> {
    let careless = prop_oneof![5 => Just(false), 1 => Just(true)];
    (vec(steps, 0..=9), careless).prop_map(|(steps, is_careless)| Script { steps, is_careless })
}

fn resource() -> impl Strategy<Value = Resource> {
    prop_oneof![
        4 => (2..=5_u8).prop_map(|ceiling| Resource { scale: Scale::Task, ceiling }),
        1 => Just(Resource { scale: Scale::Task, ceiling: SCHEDULER_LEVEL }),
        3 => (1..=3_u8).prop_map(|ceiling| Resource { scale: Scale::Interrupt, ceiling }),
    ]
}

/// A hardware counter, a software counter that it may advance, and another hardware counter.
fn counters() -> impl Strategy<Value = Vec<Counter>> {
    let counter = (3..=12_u32, 1..=3_u32);
    vec(counter, 1..=3).prop_map(|drawn| {
        let counters = drawn.into_iter().enumerate();
        let counters = counters.map(|(index, (max_allowed, min_cycle))| Counter {
            max_allowed,
            ticks_per_base: 1,
            min_cycle,
            hardware: index != 1,
            tick_ns: u64::from(index != 1),
        });
        counters.collect()
    })
}

fn action() -> impl Strategy<Value = DrawnAction> {
    (0..=7_u8, 0..=9_u8, EVENTS).prop_map(|(kind, object, events)| DrawnAction {
        kind,
        object,
        events,
    })
}

fn alarm() -> impl Strategy<Value = DrawnAlarm> {
    (action(), 0..=9_u8, any::<bool>(), 0..=12_u32, 0..=12_u32).prop_map(
        |(action, counter, starts, first, cycle)| DrawnAlarm {
            action,
            counter,
            starts,
            first,
            cycle,
        },
    )
}

fn table() -> impl Strategy<Value = DrawnTable> {
    let points = vec((0..=12_u32, vec(action(), 0..=2)), 1..=3);
    let flags = (any::<bool>(), any::<bool>());
    (0..=9_u8, 1..=12_u32, flags, 0..=12_u32, points).prop_map(
        |(counter, duration, (repeating, starts), start, points)| DrawnTable {
            counter,
            duration,
            repeating,
            starts,
            start,
            points,
        },
    )
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        24 => Just(Happening::Step),
        4 => (0..=9_u8).prop_map(Happening::Interrupt),
        3 => (1..=6_u32).prop_map(Happening::Ticks),
        1 => (1..=30_u32).prop_map(Happening::Ticks),
    ]
}

fn task_step() -> impl Strategy<Value = Step> {
    let id = || 0..=15_u8;
    prop_oneof![
        12 => any_step(),
        1 => Just(Step::Terminate),
        2 => id().prop_map(Step::Chain),
        3 => Just(Step::Schedule),
        1 => EVENTS.prop_map(Step::ClearEvent),
        4 => EVENTS.prop_map(Step::WaitEvent),
    ]
}

fn isr_step() -> impl Strategy<Value = Step> {
    prop_oneof![16 => any_step(), 1 => task_step()].boxed()
}

fn any_step() -> BoxedStrategy<Step> {
    let id = || 0..=15_u8;
    let ticks = || 0..=14_u32;
    let cycle = || prop_oneof![Just(0), 0..=14_u32];
    prop_oneof![
        8 => id().prop_map(Step::Activate),
        7 => id().prop_map(Step::Get),
        1 => id().prop_map(Step::Release),
        3 => Just(Step::ReleaseLast),
        6 => (id(), EVENTS).prop_map(|(task, events)| Step::SetEvent(task, events)),
        2 => (id(), ticks(), cycle()).prop_map(|(alarm, increment, cycle)| {
            Step::SetRelative(alarm, increment, cycle)
        }),
        2 => (id(), ticks(), cycle())
            .prop_map(|(alarm, start, cycle)| Step::SetAbsolute(alarm, start, cycle)),
        1 => id().prop_map(Step::Cancel),
        2 => id().prop_map(Step::Increment),
        1 => (id(), ticks()).prop_map(|(table, offset)| Step::StartRelative(table, offset)),
        1 => (id(), ticks()).prop_map(|(table, value)| Step::StartAbsolute(table, value)),
        1 => id().prop_map(Step::Stop),
        2 => (id(), id()).prop_map(|(from, to)| Step::Next(from, to)),
    ]
    .boxed()
}

impl Program {
    fn add_tasks(&mut self, drawn: Vec<DrawnTask>) {
        for (index, drawn) in drawn.into_iter().enumerate() {
            let several = self.class.has_several();
            let extended = drawn.is_extended && self.class.has_events();
            // One task a priority: their order is as good as any other.
            let priority = if several { drawn.priority } else { index as u8 + 1 };
            self.tasks.push(Task {
                entry: nothing,
                events: if extended { 7 } else { 0 },
                budget_ns: drawn.budget_ns,
                inter_arrival_ns: drawn.inter_arrival_ns,
                autostart: u32::from(drawn.starts),
                stack_bytes: 4096,
                priority,
                running_level: match drawn.preemption {
                    0..=5 => priority,
                    6..=8 => SCHEDULER_LEVEL,
                    above => priority.max(above - 8),
                },
                activations: if several && !extended { drawn.activations } else { 1 },
                kind: if extended { Kind::Extended } else { Kind::Basic },
            });
            self.task_scripts.push(drawn.script);
        }
    }

    fn add_time(&mut self, alarms: &[DrawnAlarm], tables: Vec<DrawnTable>) {
        for (index, drawn) in alarms.iter().enumerate() {
            let counter = drawn.counter % self.counters.len() as u8;
            let configured = self.counters[usize::from(counter)];
            let cycle = drawn.cycle.min(configured.max_allowed);
            self.alarms.push(Alarm {
                action: self.fit_action(drawn.action, counter, index),
                counter: u16::from(counter),
                autostart: u32::from(drawn.starts),
                first: drawn.first.min(configured.max_allowed),
                cycle: if cycle < configured.min_cycle { 0 } else { cycle },
            });
        }
        for drawn in tables {
            self.add_table(drawn);
        }
    }

    fn add_table(&mut self, drawn: DrawnTable) {
        let counter = drawn.counter % self.counters.len() as u8;
        let max_allowed = self.counters[usize::from(counter)].max_allowed;
        let duration = drawn.duration.min(max_allowed);
        let mut points = drawn.points;
        points.retain(|(offset, _)| *offset <= duration);
        points.sort_by_key(|(offset, _)| *offset);
        points.dedup_by_key(|(offset, _)| *offset);
        let ends_at_both = points.first().is_some_and(|point| point.0 == 0)
            && points.last().is_some_and(|point| point.0 == duration);
        if drawn.repeating && ends_at_both {
            points.pop();
        }
        if points.is_empty() {
            points.push((0, Vec::new()));
        }
        self.tables.push(ScheduleTable {
            counter: u16::from(counter),
            first_point: self.points.len() as u16,
            point_count: points.len() as u16,
            repeating: drawn.repeating,
            duration,
            autostart: u32::from(drawn.starts),
            start: drawn.start.min(max_allowed),
        });
        for (offset, actions) in points {
            self.points.push(ExpiryPoint {
                offset,
                first_action: self.actions.len() as u16,
                action_count: actions.len() as u16,
            });
            for action in actions {
                let index = 100 + self.actions.len();
                self.actions.push(self.fit_action(action, counter, index));
            }
        }
    }

    /// An action that an object on a counter may have; `index` names its function.
    fn fit_action(&self, drawn: DrawnAction, counter: u8, index: usize) -> Action {
        let task = u16::from(drawn.object) % self.tasks.len() as u16;
        let is_extended = self.tasks[usize::from(task)].kind == Kind::Extended;
        let increments = counter == 0 && self.counters.len() > 1;
        let (kind, object) = match drawn.kind {
            0..=2 => (ActionKind::ActivateTask, task),
            3 | 4 if is_extended => (ActionKind::SetEvent, task),
            5 | 6 if increments => (ActionKind::IncrementCounter, 1),
            _ => (ActionKind::Callback, index as u16),
        };
        Action { kind, object, events: drawn.events, callback: Some(nothing) }
    }

    fn is_extended(&self, task: u8) -> bool {
        self.tasks[usize::from(task)].kind == Kind::Extended
    }

    /// Makes ceilings and identifiers in calls and happenings fit; a few identifiers stay unknown.
    fn fit(&mut self) {
        let counts = Counts {
            tasks: self.tasks.len(),
            resources: self.resources.len(),
            alarms: self.alarms.len(),
            counters: self.counters.len(),
            tables: self.tables.len(),
            extended: (0..self.tasks.len() as u8).filter(|task| self.is_extended(*task)).collect(),
        };
        for (script, task) in self.task_scripts.iter_mut().zip(&self.tasks) {
            for step in &mut script.steps {
                if task.kind == Kind::Basic && matches!(step, Step::WaitEvent(1..7)) {
                    *step = Step::Schedule;
                }
            }
        }
        let scripts = self.task_scripts.iter_mut().chain(&mut self.isr_scripts);
        for step in scripts.flat_map(|script| &mut script.steps) {
            counts.replace(step);
            counts.fit(step);
        }
        let level_max = self.configuration().kernel_level();
        for resource in &mut self.resources {
            if resource.scale == Scale::Interrupt {
                resource.ceiling = resource.ceiling.min(level_max);
            }
        }
        let isrs = self.isrs.len() as u8;
        self.happenings
            .retain(|happening| isrs > 0 || !matches!(happening, Happening::Interrupt(_)));
        for happening in &mut self.happenings {
            if let Happening::Interrupt(isr) = happening {
                *isr %= isrs;
            }
        }
    }
}

/// The number of objects of each kind.
struct Counts {
    tasks: usize,
    resources: usize,
    alarms: usize,
    counters: usize,
    tables: usize,
    /// Numbers of the extended tasks.
    extended: Vec<u8>,
}

impl Counts {
    /// Makes most calls that can only fail, for want of an object, calls that can do something.
    fn replace(&self, step: &mut Step) {
        match *step {
            Step::SetRelative(id, ..) | Step::SetAbsolute(id, ..) | Step::Cancel(id)
                if self.alarms == 0 =>
            {
                *step = Step::Activate(id);
            }
            Step::StartRelative(id, _) | Step::StartAbsolute(id, _) | Step::Stop(id)
                if self.tables == 0 =>
            {
                *step = Step::Get(id);
            }
            Step::Next(..) if self.tables == 0 => *step = Step::ReleaseLast,
            Step::SetEvent(id, events) if events != 7 => {
                // The event of a task that can have one.
                let extended = usize::from(id).checked_rem(self.extended.len());
                *step = match extended {
                    Some(index) => Step::SetEvent(self.extended[index], events),
                    None => Step::Activate(id),
                };
            }
            _ => {}
        }
    }

    fn fit(&self, step: &mut Step) {
        let fit_to = |id: &mut u8, count: usize| {
            *id = if *id == 15 || count == 0 { UNKNOWN } else { *id % count as u8 };
        };
        match step {
            Step::Activate(task) | Step::Chain(task) | Step::SetEvent(task, _) => {
                fit_to(task, self.tasks);
            }
            Step::Get(resource) | Step::Release(resource) => fit_to(resource, self.resources),
            Step::SetRelative(alarm, _, _)
            | Step::SetAbsolute(alarm, _, _)
            | Step::Cancel(alarm) => fit_to(alarm, self.alarms),
            Step::Increment(counter) => fit_to(counter, self.counters),
            Step::StartRelative(table, _) | Step::StartAbsolute(table, _) | Step::Stop(table) => {
                fit_to(table, self.tables);
            }
            Step::Next(from, to) => {
                fit_to(from, self.tables);
                fit_to(to, self.tables);
            }
            Step::Terminate
            | Step::Schedule
            | Step::ReleaseLast
            | Step::ClearEvent(_)
            | Step::WaitEvent(_) => {}
        }
    }
}
