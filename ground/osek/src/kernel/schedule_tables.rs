//! Schedule tables: actions at fixed offsets, again and again. Beyond OSEK, after AUTOSAR OS.
//!
//! ```text
//! offset   0         20        50              100 = duration, or 0 of the next run
//!          ├─────────┼─────────┼───────────────┤
//!          start     points with their actions
//! ```

use super::Kernel;
use super::alarms::Due;
use super::timeline::NodeId;
use crate::configuration::{ExpiryPoint, SCHEDULE_TABLES_MAX, ScheduleTable};
use crate::status::Status;

/// The state of a schedule table, as `GetScheduleTableStatus` tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TableStatus {
    /// It is not started.
    #[default]
    Stopped = 0,
    /// It starts when another one is over.
    Next = 1,
    /// It is started, and its points expire.
    Running = 2,
}

/// The kernel's state of a schedule table.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableState {
    status: TableStatus,
    /// The point that comes next; beyond the last one it is the end of the run.
    point: u16,
    /// When this run began, in ticks since the kernel's start.
    began: u64,
    /// The table that starts when this one is over.
    next: Option<u8>,
}

impl TableState {
    pub(super) const NEW: Self =
        Self { status: TableStatus::Stopped, point: 0, began: 0, next: None };
}

/// The states of all tables.
pub(super) type TableStates = [TableState; SCHEDULE_TABLES_MAX];

impl Kernel<'_> {
    /// `StartScheduleTableRel`: its offset 0 is so many ticks from now.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::Value`], [`Status::State`].
    pub fn start_table_relative(&mut self, table: u8, offset: u32) -> Result<(), Status> {
        let configured = *self.table(table)?;
        let counter = usize::from(configured.counter);
        let max_allowed = self.configuration.counters[counter].max_allowed;
        if self.checks() && (offset == 0 || offset > max_allowed) {
            return Err(Status::Value);
        }
        self.start_table(table, u64::from(offset).max(1))
    }

    /// `StartScheduleTableAbs`: its offset 0 is when the counter has this value next.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::Value`], [`Status::State`].
    pub fn start_table_absolute(&mut self, table: u8, value: u32) -> Result<(), Status> {
        let counter = usize::from(self.table(table)?.counter);
        if self.checks() && value > self.configuration.counters[counter].max_allowed {
            return Err(Status::Value);
        }
        self.start_table(table, self.timeline.ticks_until(counter, value))
    }

    /// `StopScheduleTable`. A table that was to follow it is stopped, too.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::NoFunction`].
    pub fn stop_table(&mut self, table: u8) -> Result<(), Status> {
        let counter = usize::from(self.table(table)?.counter);
        let index = usize::from(table);
        match self.tables[index].status {
            TableStatus::Stopped => return Err(Status::NoFunction),
            TableStatus::Running => {
                self.timeline.remove(counter, NodeId::table(index));
            }
            TableStatus::Next => {
                for other in &mut self.tables {
                    if other.next == Some(table) {
                        other.next = None;
                    }
                }
            }
        }
        self.drop_follower(index);
        self.tables[index] = TableState::NEW;
        Ok(())
    }

    /// `NextScheduleTable`: `to` starts when this run of `from` is over.
    ///
    /// # Errors
    /// [`Status::Id`], also where they have different counters; [`Status::NoFunction`] where `from`
    /// is not started; [`Status::State`] where `to` is.
    pub fn next_table(&mut self, from: u8, to: u8) -> Result<(), Status> {
        if self.table(from)?.counter != self.table(to)?.counter {
            return Err(Status::Id);
        }
        if self.tables[usize::from(from)].status != TableStatus::Running {
            return Err(Status::NoFunction);
        }
        if self.tables[usize::from(to)].status != TableStatus::Stopped {
            return Err(Status::State);
        }
        self.drop_follower(usize::from(from));
        self.tables[usize::from(from)].next = Some(to);
        self.tables[usize::from(to)].status = TableStatus::Next;
        Ok(())
    }

    /// `GetScheduleTableStatus`.
    ///
    /// # Errors
    /// [`Status::Id`].
    pub fn table_status(&self, table: u8) -> Result<TableStatus, Status> {
        self.table(table).map(|_| self.tables[usize::from(table)].status)
    }

    /// Starts the tables that start by themselves.
    pub(super) fn start_tables(&mut self) {
        self.tables = [TableState::NEW; SCHEDULE_TABLES_MAX];
        for (index, table) in self.configuration.schedule_tables.iter().enumerate() {
            if table.autostart & (1 << self.mode) != 0 {
                self.begin_run(index, u64::from(table.start).max(1));
            }
        }
    }

    /// A table has reached its next point, or its end. Its next one is set before the actions of
    /// this one are carried out.
    pub(super) fn reach_point(&mut self, counter: usize, table: usize) -> Due {
        let configured = self.configuration.schedule_tables[table];
        let state = self.tables[table];
        if state.point < configured.point_count {
            let point = self.point(&configured, state.point);
            self.tables[table].point += 1;
            self.set_next_point(counter, table);
            return Due::Point { first: point.first_action, count: point.action_count };
        }
        let ended = state.began + u64::from(configured.duration);
        if let Some(next) = state.next {
            self.tables[table] = TableState::NEW;
            return self.run_from(counter, usize::from(next), ended);
        }
        if configured.repeating {
            return self.run_from(counter, table, ended);
        }
        self.tables[table] = TableState::NEW;
        Due::Point { first: 0, count: 0 }
    }

    /// Begins a run at this very tick. A point at offset 0 is due at once.
    fn run_from(&mut self, counter: usize, table: usize, began: u64) -> Due {
        let next = self.tables[table].next;
        self.tables[table] = TableState { status: TableStatus::Running, point: 0, began, next };
        let configured = self.configuration.schedule_tables[table];
        let first = self.point(&configured, 0);
        if first.offset == 0 {
            return self.reach_point(counter, table);
        }
        self.set_next_point(counter, table);
        Due::Point { first: 0, count: 0 }
    }

    fn set_next_point(&mut self, counter: usize, table: usize) {
        let configured = self.configuration.schedule_tables[table];
        let state = self.tables[table];
        let offset = if state.point < configured.point_count {
            self.point(&configured, state.point).offset
        } else {
            configured.duration
        };
        self.timeline.insert(counter, NodeId::table(table), state.began + u64::from(offset));
    }

    fn start_table(&mut self, table: u8, ticks: u64) -> Result<(), Status> {
        if self.tables[usize::from(table)].status != TableStatus::Stopped {
            return Err(Status::State);
        }
        self.begin_run(usize::from(table), ticks);
        Ok(())
    }

    fn begin_run(&mut self, table: usize, ticks: u64) {
        let counter = usize::from(self.configuration.schedule_tables[table].counter);
        let began = self.timeline.ticks(counter) + ticks;
        self.tables[table] =
            TableState { status: TableStatus::Running, point: 0, began, next: None };
        self.set_next_point(counter, table);
    }

    /// The table that was to follow will not. Nothing follows that one: it does not run.
    fn drop_follower(&mut self, table: usize) {
        if let Some(next) = self.tables[table].next.take() {
            self.tables[usize::from(next)] = TableState::NEW;
        }
    }

    fn point(&self, table: &ScheduleTable, point: u16) -> ExpiryPoint {
        self.configuration.expiry_points[usize::from(table.first_point + point)]
    }

    fn table(&self, table: u8) -> Result<&ScheduleTable, Status> {
        self.configuration.schedule_tables.get(usize::from(table)).ok_or(Status::Id)
    }
}
