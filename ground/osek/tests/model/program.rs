//! A random program: a configuration, what its tasks and ISRs do, and what happens from outside.
//!
//! A program is data, printed as a person would write it down, because the one that a failing test
//! shows is all that there is to find the fault by.

use std::fmt::{self, Display, Formatter};

use quietcore_osek::configuration::{
    Action, ActionKind, Alarm, Checking, Class, Configuration, Counter, ExpiryPoint, Hooks, Isr,
    Kind, Resource, SCHEDULER_LEVEL, Scale, ScheduleTable, Task,
};

/// A call of a service, as a task or an ISR makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Activate(u8),
    Terminate,
    Chain(u8),
    Schedule,
    Get(u8),
    Release(u8),
    /// Releases what the caller took last; nothing where it holds nothing.
    ReleaseLast,
    SetEvent(u8, u64),
    ClearEvent(u64),
    WaitEvent(u64),
    SetRelative(u8, u32, u32),
    SetAbsolute(u8, u32, u32),
    Cancel(u8),
    Increment(u8),
    StartRelative(u8, u32),
    StartAbsolute(u8, u32),
    Stop(u8),
    Next(u8, u8),
}

/// The next event of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// Whatever runs makes its next call.
    Step,
    /// An ISR is asked for; it comes when the interrupt level allows.
    Interrupt(u8),
    /// So many ticks have passed.
    Ticks(u32),
}

/// The calls of a task or an ISR.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) steps: Vec<Step>,
    /// `true` if it ends with what it holds; `false` if it releases that first.
    pub(crate) is_careless: bool,
}

/// A program: its objects and the calls of each.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) class: Class,
    pub(crate) checking: Checking,
    pub(crate) tasks: Vec<Task>,
    pub(crate) isrs: Vec<Isr>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) counters: Vec<Counter>,
    pub(crate) alarms: Vec<Alarm>,
    pub(crate) tables: Vec<ScheduleTable>,
    pub(crate) points: Vec<ExpiryPoint>,
    pub(crate) actions: Vec<Action>,
    pub(crate) task_scripts: Vec<Script>,
    pub(crate) isr_scripts: Vec<Script>,
    pub(crate) happenings: Vec<Happening>,
}

/// The function of everything: scripts are interpreted, nothing is called.
pub(crate) extern "C" fn nothing() {}

impl Program {
    /// Borrows the tables of the program.
    pub(crate) fn configuration(&self) -> Configuration<'_> {
        Configuration {
            class: self.class,
            checking: self.checking,
            accounting: true,
            mode_count: 1,
            hooks: Hooks::default(),
            tasks: &self.tasks,
            isrs: &self.isrs,
            resources: &self.resources,
            counters: &self.counters,
            alarms: &self.alarms,
            schedule_tables: &self.tables,
            expiry_points: &self.points,
            actions: &self.actions,
            messages: &[],
        }
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Activate(task) => write!(f, "ActivateTask({task})"),
            Self::Terminate => write!(f, "TerminateTask()"),
            Self::Chain(task) => write!(f, "ChainTask({task})"),
            Self::Schedule => write!(f, "Schedule()"),
            Self::Get(resource) => write!(f, "GetResource({resource})"),
            Self::Release(resource) => write!(f, "ReleaseResource({resource})"),
            Self::ReleaseLast => write!(f, "ReleaseResource(last)"),
            Self::SetEvent(task, events) => write!(f, "SetEvent({task}, {events:#b})"),
            Self::ClearEvent(events) => write!(f, "ClearEvent({events:#b})"),
            Self::WaitEvent(events) => write!(f, "WaitEvent({events:#b})"),
            Self::SetRelative(alarm, increment, cycle) => {
                write!(f, "SetRelAlarm({alarm}, {increment}, {cycle})")
            }
            Self::SetAbsolute(alarm, start, cycle) => {
                write!(f, "SetAbsAlarm({alarm}, {start}, {cycle})")
            }
            Self::Cancel(alarm) => write!(f, "CancelAlarm({alarm})"),
            Self::Increment(counter) => write!(f, "IncrementCounter({counter})"),
            Self::StartRelative(table, offset) => {
                write!(f, "StartScheduleTableRel({table}, {offset})")
            }
            Self::StartAbsolute(table, value) => {
                write!(f, "StartScheduleTableAbs({table}, {value})")
            }
            Self::Stop(table) => write!(f, "StopScheduleTable({table})"),
            Self::Next(from, to) => write!(f, "NextScheduleTable({from}, {to})"),
        }
    }
}

impl Display for Happening {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step => write!(f, "step"),
            Self::Interrupt(isr) => write!(f, "interrupt {isr}"),
            Self::Ticks(ticks) => write!(f, "{ticks} ticks"),
        }
    }
}

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{")?;
        for step in &self.steps {
            write!(f, " {step};")?;
        }
        write!(f, "{} }}", if self.is_careless { " returns with what it holds" } else { "" })
    }
}

fn write_action(f: &mut Formatter<'_>, action: &Action) -> fmt::Result {
    match action.kind {
        ActionKind::ActivateTask => write!(f, "activates task {}", action.object),
        ActionKind::SetEvent => {
            write!(f, "sets {:#b} of task {}", action.events, action.object)
        }
        ActionKind::Callback => write!(f, "calls function {}", action.object),
        ActionKind::IncrementCounter => write!(f, "increments counter {}", action.object),
    }
}

fn write_task(f: &mut Formatter<'_>, task: &Task) -> fmt::Result {
    let kind = if task.kind == Kind::Extended { "extended" } else { "basic" };
    write!(f, "priority {}, {kind}, {} activations", task.priority, task.activations)?;
    match task.running_level {
        SCHEDULER_LEVEL => write!(f, ", not preemptable")?,
        level if level > task.priority => write!(f, ", internal resource of ceiling {level}")?,
        _ => {}
    }
    if task.inter_arrival_ns != 0 {
        write!(f, ", every {} ns at most", task.inter_arrival_ns)?;
    }
    if task.budget_ns != 0 {
        write!(f, ", runs for {} ns at most", task.budget_ns)?;
    }
    write!(f, "{}", if task.autostart == 0 { "" } else { ", starts by itself" })
}

impl Program {
    fn write_counters(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, counter) in self.counters.iter().enumerate() {
            let driver = if counter.hardware { "hardware" } else { "software" };
            let (max, cycle) = (counter.max_allowed, counter.min_cycle);
            writeln!(f, "counter {index}: {driver}, 0 to {max}, shortest cycle {cycle}")?;
        }
        for (index, alarm) in self.alarms.iter().enumerate() {
            write!(f, "alarm {index}: on counter {}, ", alarm.counter)?;
            write_action(f, &alarm.action)?;
            if alarm.autostart != 0 {
                write!(f, ", starts by itself at {}, cycle {}", alarm.first, alarm.cycle)?;
            }
            writeln!(f)?;
        }
        for (index, table) in self.tables.iter().enumerate() {
            write!(f, "table {index}: on counter {}, {} ticks", table.counter, table.duration)?;
            write!(f, "{}", if table.repeating { ", repeating" } else { "" })?;
            if table.autostart != 0 {
                write!(f, ", starts by itself after {}", table.start)?;
            }
            for point in table.first_point..table.first_point + table.point_count {
                let point = &self.points[usize::from(point)];
                write!(f, "; at {}", point.offset)?;
                let first = usize::from(point.first_action);
                for action in &self.actions[first..first + usize::from(point.action_count)] {
                    write!(f, " ")?;
                    write_action(f, action)?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "class {:?}, {:?} status", self.class, self.checking)?;
        for (index, resource) in self.resources.iter().enumerate() {
            let scale = if resource.scale == Scale::Interrupt { "interrupt " } else { "" };
            writeln!(f, "resource {index}: {scale}ceiling {}", resource.ceiling)?;
        }
        self.write_counters(f)?;
        for (index, (task, script)) in self.tasks.iter().zip(&self.task_scripts).enumerate() {
            write!(f, "task {index}: ")?;
            write_task(f, task)?;
            writeln!(f, " {script}")?;
        }
        for (index, (isr, script)) in self.isrs.iter().zip(&self.isr_scripts).enumerate() {
            writeln!(f, "isr {index}: level {} {script}", isr.level)?;
        }
        write!(f, "happenings:")?;
        for happening in &self.happenings {
            write!(f, " {happening},")?;
        }
        writeln!(f)
    }
}

/// A failing case is printed by its `Debug` text, which is to be read as well.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}
