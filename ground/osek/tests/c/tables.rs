//! Tables with bytes that no generator writes: each is refused before it becomes a value of Rust.
// UNSAFETY: makes tables with bytes that no Rust value has.
#![expect(unsafe_code, reason = "tables as C could write them")]

use std::mem::offset_of;
use std::ptr;

use quietcore_osek::c::tables::{self, Tables, VERSION};
use quietcore_osek::check::{Refusal, Table};
use quietcore_osek::configuration::{
    Action, ActionKind, Alarm, Counter, ExpiryPoint, Hooks, Isr, Kind, Message, Notification,
    Resource, Scale, ScheduleTable, Task,
};

extern "C" fn nothing() {}

/// Memory of C: as many words as needed, each with any bytes.
struct Memory(Vec<u64>);

impl Memory {
    /// One valid entry of a table.
    fn of<T>(entry: T) -> Self {
        let mut words = vec![0; size_of::<T>().div_ceil(8)];
        assert!(align_of::<T>() <= 8);
        // SAFETY: aligned, and large enough.
        unsafe { words.as_mut_ptr().cast::<T>().write(entry) };
        Self(words)
    }

    fn set<V>(&mut self, offset: usize, value: V) {
        assert!(offset + size_of::<V>() <= self.0.len() * 8);
        // SAFETY: within the memory.
        let place = unsafe { self.0.as_mut_ptr().byte_add(offset).cast::<V>() };
        // SAFETY: as above.
        unsafe { place.write_unaligned(value) };
    }

    fn place<T>(&self) -> *const T {
        self.0.as_ptr().cast()
    }
}

/// A configuration with one entry in each table.
struct Program {
    task: Memory,
    isr: Memory,
    resource: Memory,
    counter: Memory,
    alarm: Memory,
    schedule_table: Memory,
    point: Memory,
    action: Memory,
    message: Memory,
    counts: [u32; 9],
    system: [u8; 4],
    version: u32,
}

const ACTION: Action =
    Action { kind: ActionKind::ActivateTask, object: 0, events: 0, callback: None };

impl Program {
    fn new() -> Self {
        let task = Task {
            entry: nothing,
            events: 0,
            budget_ns: 0,
            inter_arrival_ns: 0,
            autostart: 1,
            stack_bytes: 1024,
            priority: 1,
            running_level: 1,
            activations: 1,
            kind: Kind::Basic,
        };
        let counter = Counter {
            max_allowed: 9,
            ticks_per_base: 1,
            min_cycle: 1,
            hardware: false,
            tick_ns: 0,
        };
        let table = ScheduleTable {
            counter: 0,
            first_point: 0,
            point_count: 1,
            repeating: false,
            duration: 5,
            autostart: 0,
            start: 1,
        };
        Self {
            task: Memory::of(task),
            isr: Memory::of(Isr { entry: nothing, source: 0, level: 1, category: 2 }),
            resource: Memory::of(Resource { scale: Scale::Task, ceiling: 1 }),
            counter: Memory::of(counter),
            alarm: Memory::of(Alarm {
                action: ACTION,
                counter: 0,
                autostart: 0,
                first: 0,
                cycle: 0,
            }),
            schedule_table: Memory::of(table),
            point: Memory::of(ExpiryPoint { offset: 0, first_action: 0, action_count: 1 }),
            action: Memory::of(ACTION),
            message: Memory::of(Message {
                events: 0,
                number: 7,
                object: 0,
                notification: Notification::RaiseIsr,
                is_group: false,
            }),
            counts: [1; 9],
            system: [2, 1, 0, 1],
            version: VERSION,
        }
    }

    fn tables(&self) -> Tables {
        let [conformance, checking, accounting, mode_count] = self.system;
        let [task_count, isr_count, resource_count, counter_count, ..] = self.counts;
        let [
            ..,
            alarm_count,
            schedule_table_count,
            expiry_point_count,
            action_count,
            message_count,
        ] = self.counts;
        Tables {
            version: self.version,
            conformance,
            checking,
            accounting,
            mode_count,
            hooks: Hooks::default(),
            tasks: self.task.place(),
            isrs: self.isr.place(),
            resources: self.resource.place(),
            counters: self.counter.place(),
            alarms: self.alarm.place(),
            schedule_tables: self.schedule_table.place(),
            expiry_points: self.point.place(),
            actions: self.action.place(),
            messages: self.message.place(),
            task_names: ptr::null(),
            task_count,
            isr_count,
            resource_count,
            counter_count,
            alarm_count,
            schedule_table_count,
            expiry_point_count,
            action_count,
            message_count,
        }
    }

    fn refused(&self) -> Option<Table> {
        read(&self.tables()).err().map(|refusal| refusal.table)
    }
}

fn read(tables: &Tables) -> Result<(), Refusal> {
    // SAFETY: one entry a table, unless a count says more than there are places, or none. What was
    // borrowed is not used.
    unsafe { tables::read(tables) }.map(drop)
}

#[test]
fn tables_without_a_fault_are_read_as_they_are() {
    let program = Program::new();
    let given = program.tables();
    // SAFETY: as in `read`; the tables outlive what is borrowed of them.
    let configuration = unsafe { tables::read(&raw const given) }.unwrap();
    assert_eq!(configuration.tasks[0].stack_bytes, 1024);
    assert_eq!(configuration.schedule_tables[0].duration, 5);
    quietcore_osek::check::check(&configuration).unwrap();
}

#[test]
fn a_byte_that_is_no_value_is_refused() {
    type Change = fn(&mut Program);
    let changes: [(Table, Change); 13] = [
        (Table::System, |it| it.system[0] = 4),
        (Table::System, |it| it.system[1] = 2),
        (Table::System, |it| it.system[2] = 2),
        (Table::System, |it| it.version = 1),
        (Table::Tasks, |it| it.task.set(offset_of!(Task, kind), 2_u8)),
        (Table::Resources, |it| it.resource.set(offset_of!(Resource, scale), 2_u8)),
        (Table::Counters, |it| it.counter.set(offset_of!(Counter, hardware), 2_u8)),
        (Table::Alarms, |it| it.alarm.set(offset_of!(Action, kind), 4_u8)),
        (Table::ScheduleTables, |it| {
            it.schedule_table.set(offset_of!(ScheduleTable, repeating), 255_u8);
        }),
        (Table::Actions, |it| it.action.set(offset_of!(Action, kind), 200_u8)),
        (Table::Messages, |it| it.message.set(offset_of!(Message, notification), 3_u8)),
        (Table::Messages, |it| it.message.set(offset_of!(Message, is_group), 2_u8)),
        (Table::Isrs, |it| it.isr.set(offset_of!(Isr, entry), 0_usize)),
    ];
    for (index, (table, change)) in changes.into_iter().enumerate() {
        let mut program = Program::new();
        change(&mut program);
        assert_eq!(program.refused(), Some(table), "change {index}");
    }
    let mut program = Program::new();
    program.task.set(offset_of!(Task, entry), 0_usize);
    assert_eq!(program.refused(), Some(Table::Tasks), "a null function");
}

#[test]
fn a_table_that_can_not_be_there_is_refused() {
    // SAFETY: null is allowed.
    assert!(unsafe { tables::read(ptr::null()) }.is_err());
    let program = Program::new();
    let without = Tables { tasks: ptr::null(), ..program.tables() };
    assert_eq!(read(&without).unwrap_err().table, Table::Tasks);
    let empty = Tables { alarms: ptr::null(), alarm_count: 0, ..program.tables() };
    assert_eq!(read(&empty), Ok(()), "an empty table needs no place");
    let crooked = Tables {
        counters: program.counter.place::<Counter>().wrapping_byte_add(1),
        ..program.tables()
    };
    assert_eq!(read(&crooked).unwrap_err().table, Table::Counters);
    for index in 0..9 {
        let mut program = Program::new();
        program.counts[index] = u32::MAX;
        assert!(program.refused().is_some(), "count {index}");
    }
}
