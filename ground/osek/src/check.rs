//! Makes sure that a configuration can work, before a kernel runs by it.
//!
//! A configuration refused here would make the kernel run beyond its tables, or break a rule that
//! it relies on. Errors of a person are found earlier and told better, by the crate that reads OIL.

use crate::configuration::{
    ACTIVATIONS_MAX, ALARMS_MAX, Action, ActionKind, COUNTERS_MAX, Configuration,
    INTERRUPT_LEVEL_MAX, ISRS_MAX, Kind, MESSAGES_MAX, MODES_MAX, Message, Notification,
    RESOURCES_MAX, SCHEDULE_TABLES_MAX, SCHEDULER_LEVEL, Scale, TASKS_MAX, TICK_STEPS_MAX,
};

/// The entry of a configuration that can't work, and the rule that it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The table of the entry.
    pub table: Table,
    /// Which entry of it; zero for the table as a whole.
    pub index: usize,
    /// The rule, as a sentence that should hold.
    pub rule: &'static str,
}

/// A table of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The configuration itself, and no table of it.
    System,
    /// `tasks`
    Tasks,
    /// `isrs`
    Isrs,
    /// `resources`
    Resources,
    /// `counters`
    Counters,
    /// `alarms`
    Alarms,
    /// `schedule_tables`
    ScheduleTables,
    /// `expiry_points`
    ExpiryPoints,
    /// `actions`
    Actions,
    /// `messages`
    Messages,
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}[{}]: {}", self.table, self.index, self.rule)
    }
}

impl core::error::Error for Refusal {}

/// Fails with a rule that does not hold.
fn hold(holds: bool, table: Table, index: usize, rule: &'static str) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(Refusal { table, index, rule }) }
}

/// Checks all tables, and the references between them.
///
/// # Errors
/// The first rule that does not hold.
pub fn check(configuration: &Configuration<'_>) -> Result<(), Refusal> {
    check_sizes(configuration)?;
    check_tasks(configuration)?;
    check_isrs(configuration)?;
    check_resources(configuration)?;
    check_counters(configuration)?;
    for (index, alarm) in configuration.alarms.iter().enumerate() {
        check_alarm(configuration, index, alarm)?;
    }
    for (index, action) in configuration.actions.iter().enumerate() {
        check_action(configuration, Table::Actions, index, action)?;
    }
    for index in 0..configuration.schedule_tables.len() {
        check_schedule_table(configuration, index)?;
    }
    for (index, message) in configuration.messages.iter().enumerate() {
        check_message(configuration, index, message)?;
    }
    check_increments(configuration)?;
    check_steps(configuration)
}

fn check_sizes(configuration: &Configuration<'_>) -> Result<(), Refusal> {
    let sizes = [
        (configuration.tasks.len(), TASKS_MAX, Table::Tasks),
        (configuration.isrs.len(), ISRS_MAX, Table::Isrs),
        (configuration.resources.len(), RESOURCES_MAX, Table::Resources),
        (configuration.counters.len(), COUNTERS_MAX, Table::Counters),
        (configuration.alarms.len(), ALARMS_MAX, Table::Alarms),
        (configuration.schedule_tables.len(), SCHEDULE_TABLES_MAX, Table::ScheduleTables),
        (configuration.expiry_points.len(), usize::from(u16::MAX), Table::ExpiryPoints),
        (configuration.actions.len(), usize::from(u16::MAX), Table::Actions),
        (configuration.messages.len(), MESSAGES_MAX, Table::Messages),
    ];
    for (length, most, table) in sizes {
        hold(length <= most, table, 0, "there are no more entries than the kernel has places")?;
    }
    let modes = (1..=MODES_MAX).contains(&usize::from(configuration.mode_count));
    hold(modes, Table::System, 0, "there are 1 to 32 application modes")
}

fn check_tasks(configuration: &Configuration<'_>) -> Result<(), Refusal> {
    let class = configuration.class;
    let mut activations = 0;
    let mut used = [false; 256];
    for (index, task) in configuration.tasks.iter().enumerate() {
        let hold = |holds, rule| hold(holds, Table::Tasks, index, rule);
        hold((1..SCHEDULER_LEVEL).contains(&task.priority), "a priority is 1 to 254")?;
        hold(task.running_level >= task.priority, "a task does not run below its priority")?;
        hold(task.activations >= 1, "a task can be activated once at least")?;
        let extended = task.kind == Kind::Extended;
        hold(!extended || class.has_events(), "extended tasks need class ECC1 or ECC2")?;
        hold(extended || task.events == 0, "a basic task has no events")?;
        hold(!extended || task.activations == 1, "an extended task is activated once")?;
        let one = task.activations == 1;
        hold(one || class.has_several(), "several activations need class BCC2 or ECC2")?;
        let timed = task.budget_ns != 0 || task.inter_arrival_ns != 0;
        hold(!timed || configuration.accounting, "budgets and arrival times need accounting")?;
        let taken = core::mem::replace(&mut used[usize::from(task.priority)], true);
        let shared = taken && !class.has_several();
        hold(!shared, "several tasks of one priority need class BCC2 or ECC2")?;
        activations += usize::from(task.activations);
    }
    let rule = "all tasks together have 1024 activations at most";
    hold(activations <= ACTIVATIONS_MAX, Table::Tasks, 0, rule)
}

fn check_isrs(configuration: &Configuration<'_>) -> Result<(), Refusal> {
    let kernel_level = configuration.kernel_level();
    for (index, isr) in configuration.isrs.iter().enumerate() {
        let hold = |holds, rule| hold(holds, Table::Isrs, index, rule);
        hold((1..=INTERRUPT_LEVEL_MAX).contains(&isr.level), "an interrupt level is 1 to 62")?;
        hold(matches!(isr.category, 1 | 2), "a category is 1 or 2")?;
        let above = isr.category == 2 || isr.level > kernel_level;
        hold(above, "an ISR of category 1 lies above all of category 2")?;
    }
    Ok(())
}

fn check_resources(configuration: &Configuration<'_>) -> Result<(), Refusal> {
    let kernel_level = configuration.kernel_level();
    for (index, resource) in configuration.resources.iter().enumerate() {
        let fits = match resource.scale {
            Scale::Task => resource.ceiling >= 1,
            Scale::Interrupt => (1..=kernel_level).contains(&resource.ceiling),
        };
        let rule = "a ceiling is a level of a task, or of an ISR of category 2";
        hold(fits, Table::Resources, index, rule)?;
    }
    Ok(())
}

fn check_counters(configuration: &Configuration<'_>) -> Result<(), Refusal> {
    let mut hardware = configuration.counters.iter().filter(|counter| counter.hardware);
    let tick_ns = hardware.next().map_or(0, |counter| counter.tick_ns);
    for (index, counter) in configuration.counters.iter().enumerate() {
        let hold = |holds, rule| hold(holds, Table::Counters, index, rule);
        hold(counter.max_allowed >= 1, "a counter counts to 1 at least")?;
        let cycle = (1..=counter.max_allowed).contains(&counter.min_cycle);
        hold(cycle, "the shortest cycle is 1 to the largest value")?;
        let timed = counter.hardware == (counter.tick_ns != 0);
        hold(timed, "a hardware counter has a tick, and a software counter has none")?;
        let same = !counter.hardware || counter.tick_ns == tick_ns;
        hold(same, "all hardware counters have the same tick, which is the machine's")?;
    }
    Ok(())
}

fn check_alarm(
    configuration: &Configuration<'_>,
    index: usize,
    alarm: &crate::configuration::Alarm,
) -> Result<(), Refusal> {
    let hold = |holds, rule| hold(holds, Table::Alarms, index, rule);
    let counter = configuration.counters.get(usize::from(alarm.counter));
    hold(counter.is_some(), "its counter exists")?;
    if let (Some(counter), true) = (counter, alarm.autostart != 0) {
        hold(alarm.first <= counter.max_allowed, "it first expires within the counter's range")?;
        let cycles = counter.min_cycle..=counter.max_allowed;
        let fits = alarm.cycle == 0 || cycles.contains(&alarm.cycle);
        hold(fits, "its cycle is zero, or within what the counter allows")?;
    }
    check_action(configuration, Table::Alarms, index, &alarm.action)
}

fn check_action(
    configuration: &Configuration<'_>,
    table: Table,
    index: usize,
    action: &Action,
) -> Result<(), Refusal> {
    let object = usize::from(action.object);
    let fits = match action.kind {
        ActionKind::ActivateTask => object < configuration.tasks.len(),
        ActionKind::SetEvent => {
            let task = configuration.tasks.get(object);
            task.is_some_and(|task| task.kind == Kind::Extended)
        }
        ActionKind::Callback => action.callback.is_some(),
        ActionKind::IncrementCounter => {
            let counter = configuration.counters.get(object);
            counter.is_some_and(|counter| !counter.hardware)
        }
    };
    let rule = "an action has a task, an extended task, a function or a software counter";
    hold(fits, table, index, rule)
}

fn check_message(
    configuration: &Configuration<'_>,
    index: usize,
    message: &Message,
) -> Result<(), Refusal> {
    let object = usize::from(message.object);
    let fits = match message.notification {
        Notification::ActivateTask => object < configuration.tasks.len(),
        Notification::SetEvent => {
            let task = configuration.tasks.get(object);
            task.is_some_and(|task| task.kind == Kind::Extended)
        }
        Notification::RaiseIsr => {
            configuration.isrs.get(object).is_some_and(|isr| isr.category == 2)
        }
    };
    let rule = "a notification has a task, an extended task or an ISR of category 2";
    hold(fits, Table::Messages, index, rule)
}

fn check_schedule_table(configuration: &Configuration<'_>, index: usize) -> Result<(), Refusal> {
    let table = &configuration.schedule_tables[index];
    let hold = |holds, rule| hold(holds, Table::ScheduleTables, index, rule);
    let counter = configuration.counters.get(usize::from(table.counter));
    let max_allowed = counter.map_or(0, |counter| counter.max_allowed);
    hold(counter.is_some(), "its counter exists")?;
    hold((1..=max_allowed).contains(&table.duration), "its duration is 1 to the counter's range")?;
    hold(table.start <= max_allowed, "it starts within the counter's range")?;
    let first = usize::from(table.first_point);
    let points = configuration.expiry_points.get(first..first + usize::from(table.point_count));
    hold(table.point_count >= 1 && points.is_some(), "it has one point at least, and they exist")?;
    let points = points.unwrap_or_default();
    let rising = points.windows(2).all(|pair| pair[0].offset < pair[1].offset);
    hold(rising, "the offsets of its points rise")?;
    let within = points.iter().all(|point| point.offset <= table.duration);
    hold(within, "its points lie within its duration")?;
    let last = points.last().is_some_and(|point| point.offset == table.duration);
    let collides = table.repeating && last && points.first().is_some_and(|point| point.offset == 0);
    hold(!collides, "its last point and the first one of the next run are not at the same tick")?;
    for point in points {
        let first = usize::from(point.first_action);
        let actions = configuration.actions.get(first..first + usize::from(point.action_count));
        hold(actions.is_some(), "the actions of its points exist")?;
    }
    Ok(())
}

/// No counter may advance itself, not even by way of others: each step of a chain leads to a
/// counter of a higher number. That is what bounds the work of one tick.
fn check_increments(configuration: &Configuration<'_>) -> Result<(), Refusal> {
    let rule = "a counter advances only counters that come after it in the table";
    let rises = |counter: u16, action: &Action| {
        action.kind != ActionKind::IncrementCounter || action.object > counter
    };
    for (index, alarm) in configuration.alarms.iter().enumerate() {
        hold(rises(alarm.counter, &alarm.action), Table::Alarms, index, rule)?;
    }
    for (index, table) in configuration.schedule_tables.iter().enumerate() {
        let first = usize::from(table.first_point);
        let points = &configuration.expiry_points[first..first + usize::from(table.point_count)];
        let actions = points.iter().flat_map(|point| {
            let first = usize::from(point.first_action);
            &configuration.actions[first..first + usize::from(point.action_count)]
        });
        let all = actions.into_iter().all(|action| rises(table.counter, action));
        hold(all, Table::ScheduleTables, index, rule)?;
    }
    Ok(())
}

/// Chains of counters multiply: of ten alarms on each of ten counters, all of which increment the
/// next, ten thousand millions would expire in one tick. So they are counted, as if all that can
/// expire in a tick did.
fn check_steps(configuration: &Configuration<'_>) -> Result<(), Refusal> {
    let counters = configuration.counters;
    let mut steps_of = [0_u32; COUNTERS_MAX];
    let mut of_machine = 0_u32;
    // Those that a counter increments come after it.
    for (index, counter) in counters.iter().enumerate().rev() {
        let steps = steps(configuration, index, &steps_of);
        steps_of[index] = steps;
        if counter.hardware {
            of_machine = of_machine.saturating_add(steps);
        }
        let rule = "all that one tick of it can lead to are 4096 steps at most, those of all \
                    hardware counters together";
        hold(steps.max(of_machine) <= TICK_STEPS_MAX, Table::Counters, index, rule)?;
    }
    Ok(())
}

/// Bounds the actions that a tick of a counter can lead to. A schedule table reaches one of its
/// points in a tick.
fn steps(configuration: &Configuration<'_>, counter: usize, steps_of: &[u32; COUNTERS_MAX]) -> u32 {
    let add = |sum: u32, action: &Action| {
        let increments = action.kind == ActionKind::IncrementCounter;
        let more = if increments { steps_of[usize::from(action.object)] } else { 0 };
        sum.saturating_add(1).saturating_add(more)
    };
    let alarms = configuration.alarms.iter().filter(|it| usize::from(it.counter) == counter);
    let of_alarms = alarms.map(|alarm| &alarm.action).fold(0, add);
    let tables = configuration.schedule_tables.iter();
    let of_table = |table: &crate::configuration::ScheduleTable| {
        let first = usize::from(table.first_point);
        let points = &configuration.expiry_points[first..first + usize::from(table.point_count)];
        let of_point = points.iter().map(|point| {
            let first = usize::from(point.first_action);
            configuration.actions[first..first + usize::from(point.action_count)]
                .iter()
                .fold(1, add)
        });
        // The end of its run may come in the same tick as its last point.
        of_point.max().unwrap_or(0).saturating_add(1)
    };
    tables
        .filter(|it| usize::from(it.counter) == counter)
        .map(of_table)
        .fold(of_alarms, u32::saturating_add)
}

#[cfg(test)]
mod tests;
