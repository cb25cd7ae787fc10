//! The tables as C lays them out.
//!
//! C can write any byte where Rust knows only a few values, and a null pointer where there must be
//! a function. So everything of that kind is read as a plain byte or pointer first; only when all
//! is well are the tables borrowed as what they are. What the values mean together is for
//! [`check`](crate::check::check) to judge.
// UNSAFETY: reads tables behind pointers.
#![expect(unsafe_code, reason = "tables behind pointers")]

use core::ffi::{CStr, c_char};
use core::mem::offset_of;
use core::ptr;

use crate::check::{Refusal, Table};
use crate::configuration::{
    ALARMS_MAX, Action, ActionKind, Alarm, COUNTERS_MAX, Checking, Class, Configuration, Counter,
    ExpiryPoint, Hooks, ISRS_MAX, Isr, Kind, MESSAGES_MAX, Message, Notification, RESOURCES_MAX,
    Resource, SCHEDULE_TABLES_MAX, Scale, ScheduleTable, TASKS_MAX, Task,
};

/// Version of the layouts.
pub const VERSION: u32 = 2;

/// Most expiry points, and most actions.
const POINTS_MAX: usize = u16::MAX as usize;

/// `struct quietcore_osek_configuration`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Tables {
    /// [`VERSION`].
    pub version: u32,
    /// A [`Class`], as a byte.
    pub conformance: u8,
    /// A [`Checking`], as a byte.
    pub checking: u8,
    /// 0 or 1.
    pub accounting: u8,
    /// Number of application modes.
    pub mode_count: u8,
    /// The hooks; null for those that the program doesn't have.
    pub hooks: Hooks,
    /// The tasks; the index of one is its `TaskType`.
    pub tasks: *const Task,
    /// The ISRs; the index of one is its number.
    pub isrs: *const Isr,
    /// The resources; the index of one is its `ResourceType`.
    pub resources: *const Resource,
    /// The counters, hardware and software.
    pub counters: *const Counter,
    /// The alarms; the index of one is its `AlarmType`.
    pub alarms: *const Alarm,
    /// The schedule tables, which use `expiry_points`.
    pub schedule_tables: *const ScheduleTable,
    /// The expiry points of all schedule tables, one after the other.
    pub expiry_points: *const ExpiryPoint,
    /// The actions of all expiry points, one after the other.
    pub actions: *const Action,
    /// The messages whose arrival something follows.
    pub messages: *const Message,
    /// Names of the tasks, as many as tasks; null where unknown.
    pub task_names: *const *const c_char,
    /// Entries of `tasks`, at most [`TASKS_MAX`](crate::configuration::TASKS_MAX).
    pub task_count: u32,
    /// Entries of `isrs`, at most [`ISRS_MAX`](crate::configuration::ISRS_MAX).
    pub isr_count: u32,
    /// Entries of `resources`; zero if it is null.
    pub resource_count: u32,
    /// Entries of `counters`, at most [`COUNTERS_MAX`](crate::configuration::COUNTERS_MAX).
    pub counter_count: u32,
    /// Entries of `alarms`, at most [`ALARMS_MAX`](crate::configuration::ALARMS_MAX).
    pub alarm_count: u32,
    /// Entries of `schedule_tables`; zero if it is null.
    pub schedule_table_count: u32,
    /// Entries of `expiry_points`; zero if it is null.
    pub expiry_point_count: u32,
    /// Entries of `actions`; zero if it is null.
    pub action_count: u32,
    /// Entries of `messages`; zero if it is null.
    pub message_count: u32,
}

/// Conditions on the bytes of an entry, before it is read as one.
struct Demands {
    table: Table,
    most: usize,
    /// Offsets of pointers that must not be null.
    functions: &'static [usize],
    /// Offsets of bytes with few valid values, and the largest valid one.
    bytes: &'static [(usize, u8)],
}

const TASKS: Demands = Demands {
    table: Table::Tasks,
    most: TASKS_MAX,
    functions: &[offset_of!(Task, entry)],
    bytes: &[(offset_of!(Task, kind), Kind::Extended as u8)],
};
const ISRS: Demands = Demands {
    table: Table::Isrs,
    most: ISRS_MAX,
    functions: &[offset_of!(Isr, entry)],
    bytes: &[],
};
const RESOURCES: Demands = Demands {
    table: Table::Resources,
    most: RESOURCES_MAX,
    functions: &[],
    bytes: &[(offset_of!(Resource, scale), Scale::Interrupt as u8)],
};
const COUNTERS: Demands = Demands {
    table: Table::Counters,
    most: COUNTERS_MAX,
    functions: &[],
    bytes: &[(offset_of!(Counter, hardware), 1)],
};
const ALARMS: Demands = Demands {
    table: Table::Alarms,
    most: ALARMS_MAX,
    functions: &[],
    bytes: &[(
        offset_of!(Alarm, action) + offset_of!(Action, kind),
        ActionKind::IncrementCounter as u8,
    )],
};
const SCHEDULE_TABLES: Demands = Demands {
    table: Table::ScheduleTables,
    most: SCHEDULE_TABLES_MAX,
    functions: &[],
    bytes: &[(offset_of!(ScheduleTable, repeating), 1)],
};
const EXPIRY_POINTS: Demands =
    Demands { table: Table::ExpiryPoints, most: POINTS_MAX, functions: &[], bytes: &[] };
const ACTIONS: Demands = Demands {
    table: Table::Actions,
    most: POINTS_MAX,
    functions: &[],
    bytes: &[(offset_of!(Action, kind), ActionKind::IncrementCounter as u8)],
};

const MESSAGES: Demands = Demands {
    table: Table::Messages,
    most: MESSAGES_MAX,
    functions: &[],
    bytes: &[
        (offset_of!(Message, notification), Notification::RaiseIsr as u8),
        (offset_of!(Message, is_group), 1),
    ],
};

const fn refusal(table: Table, index: usize, rule: &'static str) -> Refusal {
    Refusal { table, index, rule }
}

/// Borrows the tables of a C program as a configuration.
///
/// # Errors
/// The first rule that does not hold.
///
/// # Safety
/// Null, or tables of the counts that they say they have, unchanged from now on.
pub unsafe fn read(tables: *const Tables) -> Result<Configuration<'static>, Refusal> {
    let of_system = |rule| refusal(Table::System, 0, rule);
    if tables.is_null() || !tables.is_aligned() {
        return Err(of_system("there is a configuration"));
    }
    // SAFETY: every version begins with its version.
    if unsafe { (*tables).version } != VERSION {
        return Err(of_system("the tables have the kernel's version; generate them again"));
    }
    // SAFETY: laid out as this version is, as our caller promises. All its members may have any
    // bytes, hooks included: null is none.
    let given = unsafe { tables.read() };
    let class = match given.conformance {
        0 => Class::Bcc1,
        1 => Class::Bcc2,
        2 => Class::Ecc1,
        3 => Class::Ecc2,
        _ => return Err(of_system("a conformance class is 0 to 3")),
    };
    let checking = match given.checking {
        0 => Checking::Standard,
        1 => Checking::Extended,
        _ => return Err(of_system("status is 0 or 1")),
    };
    if given.accounting > 1 {
        return Err(of_system("accounting is 0 or 1"));
    }
    // SAFETY: as our caller promises, for this table and those below.
    let tasks = unsafe { table(given.tasks, given.task_count, &TASKS) }?;
    // SAFETY: as above.
    let isrs = unsafe { table(given.isrs, given.isr_count, &ISRS) }?;
    // SAFETY: as above.
    let resources = unsafe { table(given.resources, given.resource_count, &RESOURCES) }?;
    // SAFETY: as above.
    let counters = unsafe { table(given.counters, given.counter_count, &COUNTERS) }?;
    // SAFETY: as above.
    let alarms = unsafe { table(given.alarms, given.alarm_count, &ALARMS) }?;
    let (place, count) = (given.schedule_tables, given.schedule_table_count);
    // SAFETY: as above.
    let schedule_tables = unsafe { table(place, count, &SCHEDULE_TABLES) }?;
    let (place, count) = (given.expiry_points, given.expiry_point_count);
    // SAFETY: as above.
    let expiry_points = unsafe { table(place, count, &EXPIRY_POINTS) }?;
    // SAFETY: as above.
    let actions = unsafe { table(given.actions, given.action_count, &ACTIONS) }?;
    // SAFETY: as above.
    let messages = unsafe { table(given.messages, given.message_count, &MESSAGES) }?;
    Ok(Configuration {
        class,
        checking,
        accounting: given.accounting == 1,
        mode_count: given.mode_count,
        hooks: given.hooks,
        tasks,
        isrs,
        resources,
        counters,
        alarms,
        schedule_tables,
        expiry_points,
        actions,
        messages,
    })
}

/// Borrows a table, whose entries are what they say.
///
/// # Safety
/// Null, or so many entries, unchanged from now on.
unsafe fn table<T>(
    entries: *const T,
    count: u32,
    demands: &Demands,
) -> Result<&'static [T], Refusal> {
    let count = count as usize;
    if count == 0 {
        return Ok(&[]);
    }
    let of_table = |index, rule| refusal(demands.table, index, rule);
    if count > demands.most {
        return Err(of_table(0, "there are no more entries than the kernel has places"));
    }
    if entries.is_null() || !entries.is_aligned() {
        return Err(of_table(0, "a table that has entries has a place"));
    }
    for index in 0..count {
        // SAFETY: within the table.
        let entry = unsafe { entries.add(index) };
        for offset in demands.functions {
            // SAFETY: within the entry, where a function's pointer is.
            if unsafe { entry.byte_add(*offset).cast::<*const ()>().read() }.is_null() {
                return Err(of_table(index, "its function is not null"));
            }
        }
        for (offset, largest) in demands.bytes {
            // SAFETY: within the entry, where a byte is.
            if unsafe { entry.byte_add(*offset).cast::<u8>().read() } > *largest {
                return Err(of_table(index, "its kind is one that the kernel knows"));
            }
        }
    }
    // SAFETY: so many entries, each of them valid now: functions are not null, enumerations and
    // truth values have values of theirs, and all else may have any.
    Ok(unsafe { core::slice::from_raw_parts(entries, count) })
}

/// The name of a task, where the tables have one.
///
/// # Safety
/// As [`read`], and the tables were read without an error.
pub unsafe fn task_name(tables: *const Tables, task: u8) -> Option<&'static CStr> {
    // SAFETY: as our caller promises.
    let given = unsafe { tables.as_ref() }?;
    if given.task_names.is_null() || u32::from(task) >= given.task_count {
        return None;
    }
    // SAFETY: there are as many names as tasks.
    let name = unsafe { given.task_names.add(usize::from(task)).read() };
    if ptr::eq(name, ptr::null()) {
        return None;
    }
    // SAFETY: a name is a string of C that is never changed.
    Some(unsafe { CStr::from_ptr(name) })
}
