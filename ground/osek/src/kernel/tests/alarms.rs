//! Tests of counters and alarms.

use super::*;
use crate::configuration::{Alarm, Checking};
use crate::kernel::{AlarmBase, Due};
use crate::status::Status;
use std::vec::Vec;

fn alarm(counter: u16) -> Alarm {
    Alarm { action: activation(0), counter, autostart: 0, first: 0, cycle: 0 }
}

/// Advances a counter to the end, and tells at which ticks something expired.
fn expiries(kernel: &mut Kernel<'_>, ticks: u32) -> Vec<u32> {
    let mut left = ticks;
    let mut at = Vec::new();
    while left > 0 {
        left -= kernel.advance(0, left);
        while kernel.take_due(0).is_some() {
            at.push(ticks - left);
        }
    }
    at
}

#[test]
fn an_alarm_expires_once_or_again_and_again_without_drift() {
    let tasks = [basic(1)];
    let counters = [hardware(9)];
    let alarms = [alarm(0), alarm(0)];
    let configuration =
        Configuration { tasks: &tasks, counters: &counters, alarms: &alarms, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.remaining_ticks(0), Err(Status::NoFunction));
    kernel.set_relative_alarm(0, 4, 0).unwrap();
    assert_eq!(kernel.remaining_ticks(0), Ok(4));
    assert_eq!(expiries(&mut kernel, 30), [4]);
    assert_eq!(kernel.remaining_ticks(0), Err(Status::NoFunction), "it is over");
    kernel.set_relative_alarm(0, 4, 7).unwrap();
    assert_eq!(expiries(&mut kernel, 30), [4, 11, 18, 25]);
    assert_eq!(kernel.remaining_ticks(0), Ok(2));
    assert_eq!(kernel.set_relative_alarm(0, 1, 0), Err(Status::State));
    assert_eq!(kernel.cancel_alarm(0), Ok(()));
    assert_eq!(kernel.cancel_alarm(0), Err(Status::NoFunction));
    assert!(expiries(&mut kernel, 30).is_empty());
}

/// A value that was reached before the call comes again after a whole round only.
#[test]
fn an_absolute_alarm_expires_when_its_counter_has_the_value_next() {
    let tasks = [basic(1)];
    let counters = [hardware(9)];
    let alarms = [alarm(0)];
    let configuration =
        Configuration { tasks: &tasks, counters: &counters, alarms: &alarms, ..PLAIN };
    let mut kernel = started(&configuration);
    kernel.advance(0, 6);
    for (start, remaining) in [(6, 10), (7, 1), (5, 9), (0, 4), (9, 3)] {
        kernel.set_absolute_alarm(0, start, 0).unwrap();
        assert_eq!(kernel.remaining_ticks(0), Ok(remaining), "from 6 to {start}");
        kernel.cancel_alarm(0).unwrap();
    }
    assert_eq!(kernel.counter_value(0), Ok(6));
}

#[test]
fn values_are_looked_at_under_extended_status() {
    let tasks = [basic(1)];
    let counters = [Counter { min_cycle: 3, ..hardware(9) }];
    let alarms = [alarm(0)];
    let extended = Configuration { tasks: &tasks, counters: &counters, alarms: &alarms, ..PLAIN };
    let mut kernel = started(&extended);
    for (increment, cycle) in [(0, 0), (10, 0), (1, 2), (1, 10)] {
        let result = kernel.set_relative_alarm(0, increment, cycle);
        assert_eq!(result, Err(Status::Value), "{increment}, {cycle}");
    }
    for (start, cycle) in [(10, 0), (0, 2), (0, 10)] {
        let result = kernel.set_absolute_alarm(0, start, cycle);
        assert_eq!(result, Err(Status::Value), "{start}, {cycle}");
    }
    for (increment, cycle) in [(1, 0), (9, 3), (9, 9)] {
        assert_eq!(kernel.set_relative_alarm(0, increment, cycle), Ok(()));
        kernel.cancel_alarm(0).unwrap();
    }
    let standard = Configuration { checking: Checking::Standard, ..extended };
    let mut kernel = started(&standard);
    assert_eq!(kernel.set_relative_alarm(0, 0, 2), Ok(()), "not looked at, and harmless");
    assert_eq!(expiries(&mut kernel, 6), [1, 3, 5]);
    kernel.cancel_alarm(0).unwrap();
    assert_eq!(kernel.set_absolute_alarm(0, 60, 0), Ok(()));
    assert_eq!(kernel.remaining_ticks(0), Ok(4), "60 is 0 modulo 10");
}

#[test]
fn what_does_not_exist_is_refused() {
    let counters = [hardware(9), software(9)];
    let configuration = Configuration { counters: &counters, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.alarm_base(0), Err(Status::Id));
    assert_eq!(kernel.remaining_ticks(0), Err(Status::Id));
    assert_eq!(kernel.set_relative_alarm(0, 1, 0), Err(Status::Id));
    assert_eq!(kernel.set_absolute_alarm(0, 1, 0), Err(Status::Id));
    assert_eq!(kernel.cancel_alarm(0), Err(Status::Id));
    assert_eq!(kernel.counter_value(2), Err(Status::Id));
    assert_eq!(kernel.software_counter(0), Err(Status::Id), "that one is the machine's");
    assert_eq!(kernel.software_counter(1), Ok(1));
    assert_eq!(kernel.software_counter(2), Err(Status::Id));
}

/// Nothing is looked at between two expiries, so four thousand million ticks take no time.
#[test]
fn many_ticks_at_once_are_passed_over() {
    let tasks = [basic(1)];
    let counters = [hardware(u32::MAX)];
    let alarms = [alarm(0)];
    let configuration =
        Configuration { tasks: &tasks, counters: &counters, alarms: &alarms, ..PLAIN };
    let mut kernel = started(&configuration);
    assert!(expiries(&mut kernel, u32::MAX).is_empty());
    kernel.set_relative_alarm(0, u32::MAX, u32::MAX).unwrap();
    assert!(expiries(&mut kernel, u32::MAX - 1).is_empty());
    assert_eq!(kernel.remaining_ticks(0), Ok(1));
    assert_eq!(expiries(&mut kernel, u32::MAX), [1]);
    assert_eq!(kernel.remaining_ticks(0), Ok(1), "a cycle later, less one tick");
    kernel.cancel_alarm(0).unwrap();
    assert_eq!(kernel.alarm_base(0).map(|base| base.max_allowed), Ok(u32::MAX));
}

#[test]
fn alarms_that_start_by_themselves_do_in_their_modes() {
    let tasks = [basic(1)];
    let counters = [Counter { ticks_per_base: 7, min_cycle: 2, ..hardware(9) }];
    let alarms = [
        Alarm { autostart: 0b01, first: 3, cycle: 5, ..alarm(0) },
        Alarm { autostart: 0b10, first: 3, cycle: 5, ..alarm(0) },
        Alarm { autostart: 0b01, first: 0, cycle: 0, ..alarm(0) },
    ];
    let configuration = Configuration {
        tasks: &tasks,
        counters: &counters,
        alarms: &alarms,
        mode_count: 2,
        ..PLAIN
    };
    let mut kernel = started(&configuration);
    let base = AlarmBase { max_allowed: 9, ticks_per_base: 7, min_cycle: 2 };
    assert_eq!(kernel.alarm_base(1), Ok(base));
    let remaining = [0, 1, 2].map(|alarm| kernel.remaining_ticks(alarm));
    assert_eq!(remaining, [Ok(3), Err(Status::NoFunction), Ok(1)]);
    assert_eq!(expiries(&mut kernel, 9), [1, 3, 8]);
}

/// Two counters and one row of ticks: what expires comes in the order of time, not of counters.
#[test]
fn hardware_counters_advance_together() {
    let tasks = [basic(1), basic(2)];
    let counters = [hardware(9), software(9), hardware(3)];
    let alarms = [alarm(0), Alarm { action: activation(1), ..alarm(2) }];
    let configuration =
        Configuration { tasks: &tasks, counters: &counters, alarms: &alarms, ..PLAIN };
    let mut kernel = started(&configuration);
    kernel.set_relative_alarm(0, 5, 0).unwrap();
    kernel.set_relative_alarm(1, 3, 0).unwrap();
    let due = |kernel: &mut Kernel<'_>, counter| match kernel.take_due(counter) {
        Some(Due::Alarm(action)) => Some(action.object),
        _ => None,
    };
    assert_eq!(kernel.advance_hardware(20), 3);
    assert_eq!((due(&mut kernel, 0), due(&mut kernel, 2)), (None, Some(1)));
    assert_eq!(kernel.advance_hardware(17), 2);
    assert_eq!((due(&mut kernel, 0), due(&mut kernel, 2)), (Some(0), None));
    assert_eq!(kernel.advance_hardware(15), 15);
    let values = [0, 1, 2].map(|counter| kernel.counter_value(counter));
    assert_eq!(values, [Ok(0), Ok(0), Ok(0)]);
    assert_eq!(kernel.advance_hardware(0), 0);
}
