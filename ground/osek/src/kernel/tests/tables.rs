//! Tests of schedule tables.

use super::*;
use crate::configuration::{ExpiryPoint, ScheduleTable};
use crate::kernel::{Due, TableStatus};
use crate::status::Status;
use std::vec::Vec;

const fn point(offset: u32, first_action: u16, action_count: u16) -> ExpiryPoint {
    ExpiryPoint { offset, first_action, action_count }
}

/// The points of three tables: at 0 and 4 of 10; at 2 of 5; at 6, the end.
const POINTS: [ExpiryPoint; 4] = [point(0, 0, 1), point(4, 1, 2), point(2, 3, 1), point(6, 4, 1)];

const fn table(first_point: u16, point_count: u16, duration: u32) -> ScheduleTable {
    let (counter, autostart, start) = (0, 0, 0);
    ScheduleTable {
        counter,
        first_point,
        point_count,
        repeating: false,
        duration,
        autostart,
        start,
    }
}

const TABLES: [ScheduleTable; 3] = [table(0, 2, 10), table(2, 1, 5), table(3, 1, 6)];

/// Runs a story with those tables, the first `repeating` of them.
fn with_tables(repeating: usize, story: impl FnOnce(Kernel<'_>)) {
    let mut tables = TABLES;
    for table in &mut tables[..repeating] {
        table.repeating = true;
    }
    let tasks = [basic(1)];
    let counters = [hardware(15)];
    let actions = [activation(0); 5];
    let configuration = Configuration {
        tasks: &tasks,
        counters: &counters,
        schedule_tables: &tables,
        expiry_points: &POINTS,
        actions: &actions,
        ..PLAIN
    };
    story(started(&configuration));
}

/// Advances, and tells the ticks and first actions of the points that were reached.
fn reached(kernel: &mut Kernel<'_>, ticks: u32) -> Vec<(u32, u16)> {
    let mut left = ticks;
    let mut reached = Vec::new();
    while left > 0 {
        left -= kernel.advance(0, left);
        while let Some(due) = kernel.take_due(0) {
            if let Due::Point { first, count: 1.. } = due {
                reached.push((ticks - left, first));
            }
        }
    }
    reached
}

#[test]
fn a_table_runs_once_from_its_start_to_its_end() {
    with_tables(0, |mut kernel| {
        kernel.start_table_relative(0, 3).unwrap();
        assert_eq!(kernel.table_status(0), Ok(TableStatus::Running));
        assert_eq!(kernel.start_table_relative(0, 3), Err(Status::State));
        assert_eq!(kernel.start_table_absolute(0, 3), Err(Status::State));
        assert_eq!(reached(&mut kernel, 12), [(3, 0), (7, 1)]);
        assert_eq!(kernel.table_status(0), Ok(TableStatus::Running), "it has its last ticks left");
        assert_eq!(reached(&mut kernel, 1), []);
        assert_eq!(kernel.table_status(0), Ok(TableStatus::Stopped));
    });
}

#[test]
fn a_repeating_table_begins_again_at_its_end() {
    with_tables(1, |mut kernel| {
        kernel.start_table_absolute(0, 2).unwrap();
        let expected = [(2, 0), (6, 1), (12, 0), (16, 1), (22, 0), (26, 1), (32, 0)];
        assert_eq!(reached(&mut kernel, 33), expected);
        kernel.stop_table(0).unwrap();
        assert_eq!(kernel.stop_table(0), Err(Status::NoFunction));
        assert_eq!(reached(&mut kernel, 33), []);
    });
}

/// A point at the very end is reached, then the run is over, at the same tick.
#[test]
fn a_point_at_the_end_is_reached() {
    with_tables(3, |mut kernel| {
        kernel.start_table_relative(2, 1).unwrap();
        assert_eq!(reached(&mut kernel, 20), [(7, 4), (13, 4), (19, 4)]);
    });
}

#[test]
fn a_table_follows_another_without_a_gap() {
    with_tables(1, |mut kernel| {
        assert_eq!(kernel.next_table(0, 1), Err(Status::NoFunction), "it does not run");
        kernel.start_table_relative(0, 1).unwrap();
        kernel.next_table(0, 2).unwrap();
        kernel.next_table(0, 1).unwrap();
        let status = [0, 1, 2].map(|table| kernel.table_status(table).unwrap());
        assert_eq!(status, [TableStatus::Running, TableStatus::Next, TableStatus::Stopped]);
        assert_eq!(kernel.next_table(0, 1), Err(Status::State));
        assert_eq!(kernel.next_table(0, 0), Err(Status::State));
        assert_eq!(kernel.next_table(1, 2), Err(Status::NoFunction), "it does not run yet");
        assert_eq!(kernel.start_table_relative(1, 1), Err(Status::State));
        assert_eq!(reached(&mut kernel, 20), [(1, 0), (5, 1), (13, 3)]);
        let status = [0, 1].map(|table| kernel.table_status(table).unwrap());
        assert_eq!(status, [TableStatus::Stopped; 2]);
    });
}

/// Two tables take turns: the point at offset 0 is due at the tick at which the other one ends.
#[test]
fn a_follower_with_a_point_at_its_start_begins_at_once() {
    with_tables(0, |mut kernel| {
        kernel.start_table_relative(1, 1).unwrap();
        kernel.next_table(1, 0).unwrap();
        assert_eq!(reached(&mut kernel, 6), [(3, 3), (6, 0)]);
        kernel.next_table(0, 1).unwrap();
        assert_eq!(reached(&mut kernel, 20), [(4, 1), (12, 3)]);
    });
}

#[test]
fn a_follower_stops_with_or_without_the_other() {
    with_tables(1, |mut kernel| {
        kernel.start_table_relative(0, 1).unwrap();
        kernel.next_table(0, 1).unwrap();
        kernel.stop_table(1).unwrap();
        assert_eq!(kernel.table_status(1), Ok(TableStatus::Stopped));
        assert_eq!(reached(&mut kernel, 12), [(1, 0), (5, 1), (11, 0)], "it repeats itself");
        kernel.next_table(0, 1).unwrap();
        kernel.stop_table(0).unwrap();
        assert_eq!(kernel.table_status(1), Ok(TableStatus::Stopped));
        assert_eq!(kernel.start_table_relative(1, 1), Ok(()));
    });
}

#[test]
fn values_and_identifiers_are_looked_at() {
    with_tables(0, |mut kernel| {
        assert_eq!(kernel.start_table_relative(0, 0), Err(Status::Value));
        assert_eq!(kernel.start_table_relative(0, 16), Err(Status::Value));
        assert_eq!(kernel.start_table_absolute(0, 16), Err(Status::Value));
        assert_eq!(kernel.start_table_relative(3, 1), Err(Status::Id));
        assert_eq!(kernel.start_table_absolute(3, 1), Err(Status::Id));
        assert_eq!(kernel.stop_table(3), Err(Status::Id));
        assert_eq!(kernel.next_table(0, 3), Err(Status::Id));
        assert_eq!(kernel.next_table(3, 0), Err(Status::Id));
        assert_eq!(kernel.table_status(3), Err(Status::Id));
    });
}
