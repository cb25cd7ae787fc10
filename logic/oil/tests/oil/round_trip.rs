//! Reading restores the meaning: random applications are written down and read again.

use proptest::prelude::*;
use quietcore_oil::{self as oil, Configuration, Function, Tables, header, source};
use quietcore_osek::check::check;
use quietcore_osek::configuration::{Checking, Entry, Hooks, Scale};

use crate::applications::{
    Action, Application, Choices, Notification, Property, application, write,
};
use crate::support::{accept, read_text, stored};

extern "C" fn nothing() {}

/// The kernel takes the tables of what was read.
fn kernel_takes(configuration: &Configuration) -> Result<(), TestCaseError> {
    let mut function = |_: Function<'_>| -> Entry { nothing };
    let tables = Tables::new(configuration, Hooks::default(), &mut function);
    check(&tables.configuration()).map_err(|refusal| TestCaseError::fail(refusal.to_string()))
}

fn compare(meant: &Application, read: &Configuration) -> Result<(), TestCaseError> {
    prop_assert_eq!(read.modes().len(), meant.modes.max(1));
    let hooks = read.hooks();
    let hooks = [hooks.startup, hooks.shutdown, hooks.error, hooks.pre_task, hooks.post_task];
    prop_assert_eq!(hooks, meant.hooks);
    prop_assert_eq!(read.checking() == Checking::Extended, meant.extended);
    compare_tasks(meant, read)?;
    compare_resources(meant, read)?;
    compare_events(meant, read)?;
    compare_times(meant, read)
}

fn compare_tasks(meant: &Application, read: &Configuration) -> Result<(), TestCaseError> {
    prop_assert_eq!(read.tasks().len(), meant.tasks.len());
    for (one, task) in meant.tasks.iter().zip(read.tasks()) {
        prop_assert_eq!(task.given_priority, one.priority);
        prop_assert_eq!(task.preemptable, !one.non);
        prop_assert_eq!(task.activations, one.activations);
        prop_assert_eq!(task.stack_bytes, one.stack.unwrap_or(16_384));
        prop_assert_eq!(task.budget_ns, one.budget);
        prop_assert_eq!(&task.events, &one.events);
        let modes = one.autostart.iter().flatten().fold(0_u32, |modes, mode| modes | 1 << mode);
        prop_assert_eq!(task.autostart, modes);
        // Levels have the order of the priorities, and begin at 1 without a gap.
        for (other, beside) in meant.tasks.iter().zip(read.tasks()) {
            prop_assert_eq!(one.priority.cmp(&other.priority), task.priority.cmp(&beside.priority));
        }
        let below = read.tasks().iter().any(|beside| beside.priority + 1 == task.priority);
        prop_assert!(task.priority == 1 || below);
        let uses_internal =
            one.resources.iter().any(|it| meant.resources[*it] == Property::Internal);
        let internal = read.internal_resources().first().filter(|_| uses_internal);
        let level = if one.non { 255 } else { internal.map_or(task.priority, |it| it.ceiling) };
        prop_assert_eq!(task.running_level, level);
    }
    Ok(())
}

/// The resource that a resource is another name of in the end.
fn root(meant: &Application, mut resource: usize) -> usize {
    while let Property::Linked(to) = meant.resources[resource] {
        resource = to;
    }
    resource
}

fn compare_resources(meant: &Application, read: &Configuration) -> Result<(), TestCaseError> {
    for (index, property) in meant.resources.iter().enumerate() {
        let uses = |resources: &Vec<usize>| {
            resources.iter().any(|it| root(meant, *it) == root(meant, index))
        };
        let tasks = meant.tasks.iter().zip(read.tasks()).filter(|(one, _)| uses(&one.resources));
        let of_tasks = tasks.map(|(_, task)| task.priority).max();
        let of_isrs =
            meant.isrs.iter().filter(|isr| uses(&isr.resources)).map(|isr| isr.level).max();
        let ceiling = of_isrs.or(of_tasks).unwrap();
        let name = format!("r{index}");
        if *property == Property::Internal {
            let found = read.internal_resources().iter().find(|it| it.name == name).unwrap();
            prop_assert_eq!(found.ceiling, ceiling);
            continue;
        }
        let found = read.resources().iter().find(|it| it.name == name).unwrap();
        let scale = if of_isrs.is_some() { Scale::Interrupt } else { Scale::Task };
        prop_assert_eq!((found.scale, found.ceiling), (scale, ceiling));
        let linked = found.linked_to.map(|to| read.resources()[to].name.clone());
        let meant_link = match property {
            Property::Linked(to) => Some(format!("r{to}")),
            _ => None,
        };
        prop_assert_eq!(linked, meant_link);
    }
    prop_assert_eq!(&read.resources().last().unwrap().name, "RES_SCHEDULER");
    Ok(())
}

fn compare_events(meant: &Application, read: &Configuration) -> Result<(), TestCaseError> {
    for (mask, event) in meant.events.iter().zip(read.events()) {
        prop_assert!(event.mask != 0 && mask.is_none_or(|mask| mask == event.mask));
    }
    for task in read.tasks() {
        let bits: u32 = task.events.iter().map(|it| read.events()[*it].mask.count_ones()).sum();
        prop_assert_eq!(task.event_mask.count_ones(), bits, "events of a task share no bit");
    }
    Ok(())
}

fn compare_times(meant: &Application, read: &Configuration) -> Result<(), TestCaseError> {
    let counter = &read.counters()[0];
    prop_assert_eq!(counter.max_allowed, meant.max_allowed);
    prop_assert_eq!(counter.min_cycle, meant.min_cycle);
    for (one, alarm) in meant.alarms.iter().zip(read.alarms()) {
        let action = match one.action {
            Action::Activate(task) => oil::Action::ActivateTask(task),
            Action::Set(task, event) => {
                oil::Action::SetEvent { task, event, mask: read.events()[event].mask }
            }
            Action::Call(function) => oil::Action::Callback(format!("f{function}")),
        };
        prop_assert_eq!(&alarm.action, &action);
        let start = alarm.start.map(|start| (start.first, start.cycle));
        prop_assert_eq!(start, one.start);
    }
    let points = read.schedule_tables().iter().flat_map(|table| &table.points);
    let points: Vec<_> = points.map(|it| (it.offset, it.actions.clone())).collect();
    let meant_points = meant.points.iter();
    let expected: Vec<_> = meant_points
        .map(|(offset, task)| (*offset, vec![oil::Action::ActivateTask(*task)]))
        .collect();
    prop_assert_eq!(points, expected);
    let messages = read.messages().iter().map(|it| (it.name.clone(), it.notification.clone()));
    let expected = meant.messages.iter().enumerate().map(|(index, message)| {
        let notification = match *message {
            Notification::Activate(task) => oil::Notification::ActivateTask(task),
            Notification::Set(task, event) => {
                oil::Notification::SetEvent { task, event, mask: read.events()[event].mask }
            }
            Notification::Raise(isr) => oil::Notification::RaiseIsr(isr),
        };
        (format!("t{index}"), notification)
    });
    prop_assert_eq!(messages.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    Ok(())
}

/// A configuration without its remarks, as it is written.
fn written(configuration: &Configuration) -> String {
    oil::oil(configuration)
}

proptest! {
    /// Goal: an application that is written down in whatever way is read as it was meant, the
    /// kernel takes it, and it is the same when it is written by us and read again.
    /// Method: random valid applications; levels, ceilings and masks are computed once more here.
    #[test]
    fn an_application_is_read_as_it_was_meant(
        numbers in prop::collection::vec(any::<u32>(), 0..600),
    ) {
        let mut choices = Choices::new(&numbers);
        let meant = application(&mut choices);
        let text = write(&meant, &mut choices);
        let read = match read_text(&text) {
            Ok(read) => read,
            Err(problems) => return Err(TestCaseError::fail(format!("{problems}\n{text}"))),
        };
        compare(&meant, &read)?;
        kernel_takes(&read)?;
        let again = read_text(&written(&read)).unwrap();
        prop_assert_eq!(written(&again), written(&read));
        prop_assert_eq!(again.tasks(), read.tasks());
        prop_assert_eq!(again.resources(), read.resources());
        prop_assert_eq!(again.alarms(), read.alarms());
        prop_assert_eq!(again.schedule_tables(), read.schedule_tables());
        prop_assert_eq!(again.messages(), read.messages());
    }
}

#[test]
fn the_whole_text_of_a_configuration_means_the_same() {
    let first = accept(&stored("conveyor.oil"));
    let again = accept(&written(&first));
    assert_eq!(again.tasks(), first.tasks());
    assert_eq!(again.isrs(), first.isrs());
    assert_eq!(again.resources(), first.resources());
    assert_eq!(again.internal_resources(), first.internal_resources());
    assert_eq!(again.events(), first.events());
    assert_eq!(again.counters(), first.counters());
    assert_eq!(again.alarms(), first.alarms());
    assert_eq!(again.schedule_tables(), first.schedule_tables());
    assert_eq!(again.messages(), first.messages());
    // What is left: modes, hooks, and what the OS object says.
    assert_eq!(header(&again), header(&first));
    assert_eq!(source(&again), source(&first));
    assert_eq!(written(&again), written(&first));
}
