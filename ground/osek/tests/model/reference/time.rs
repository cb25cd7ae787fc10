//! Counters, alarms and schedule tables, one tick at a time (OSEK OS 2.2.3, 9 and 13.6).

use quietcore_osek::configuration::ActionKind;
use quietcore_osek::status::Status;

use super::Reference;
use crate::observation::{Effect, Table};
use crate::program::Step;

/// An alarm in the reference.
#[derive(Default)]
pub(super) struct AlarmModel {
    /// Ticks until it expires; none where it is not set.
    left: Option<u64>,
    cycle: u32,
    order: u64,
}

impl AlarmModel {
    pub(super) fn remaining(&self) -> Result<u32, Status> {
        self.left.map(|left| left as u32).ok_or(Status::NoFunction)
    }
}

/// A schedule table in the reference.
#[derive(Default)]
pub(super) enum TableModel {
    #[default]
    Stopped,
    Next,
    Running {
        /// Ticks since the run began; negative before.
        position: i64,
        /// Number of points that have expired.
        passed: usize,
        follower: Option<usize>,
        order: u64,
    },
}

impl TableModel {
    pub(super) fn status(&self) -> Table {
        match self {
            Self::Stopped => Table::Stopped,
            Self::Next => Table::Next,
            Self::Running { .. } => Table::Running,
        }
    }
}

/// An object that expires.
enum Expired {
    Alarm(usize),
    Table(usize),
}

impl Reference<'_> {
    pub(super) fn start_counting(&mut self) {
        for (index, alarm) in self.configuration.alarms.iter().enumerate() {
            if alarm.autostart & 1 != 0 {
                self.set_alarm(index, u64::from(alarm.first.max(1)), alarm.cycle);
            }
        }
        for (index, table) in self.configuration.schedule_tables.iter().enumerate() {
            if table.autostart & 1 != 0 {
                self.start_table(index, i64::from(table.start.max(1)));
            }
        }
    }

    pub(super) fn serve_time(&mut self, step: &Step) -> Result<(), Status> {
        match *step {
            Step::SetRelative(alarm, increment, cycle) => {
                let max_allowed = self.find_free_alarm(alarm, cycle)?;
                if self.is_extended() && !(1..=max_allowed).contains(&increment) {
                    return Err(Status::Value);
                }
                self.set_alarm(usize::from(alarm), u64::from(increment.max(1)), cycle);
            }
            Step::SetAbsolute(alarm, start, cycle) => {
                let max_allowed = self.find_free_alarm(alarm, cycle)?;
                if self.is_extended() && start > max_allowed {
                    return Err(Status::Value);
                }
                let alarm = usize::from(alarm);
                let counter = usize::from(self.configuration.alarms[alarm].counter);
                self.set_alarm(alarm, self.ticks_until(counter, start), cycle);
            }
            Step::Cancel(alarm) => {
                let model = self.alarms.get_mut(usize::from(alarm)).ok_or(Status::Id)?;
                model.left.take().ok_or(Status::NoFunction)?;
            }
            Step::Increment(counter) => {
                let index = usize::from(counter);
                let configured = self.configuration.counters.get(index).ok_or(Status::Id)?;
                if configured.hardware {
                    return Err(Status::Id);
                }
                self.increment(index, self.now);
            }
            Step::StartRelative(table, offset) => {
                let max_allowed = self.find_table_range(table)?;
                if self.is_extended() && !(1..=max_allowed).contains(&offset) {
                    return Err(Status::Value);
                }
                self.refuse_started(table)?;
                self.start_table(usize::from(table), i64::from(offset.max(1)));
            }
            Step::StartAbsolute(table, value) => {
                let max_allowed = self.find_table_range(table)?;
                if self.is_extended() && value > max_allowed {
                    return Err(Status::Value);
                }
                self.refuse_started(table)?;
                let table = usize::from(table);
                let counter = usize::from(self.configuration.schedule_tables[table].counter);
                self.start_table(table, self.ticks_until(counter, value) as i64);
            }
            Step::Stop(table) => return self.stop_table(usize::from(table)),
            Step::Next(from, to) => return self.follow(usize::from(from), usize::from(to)),
            _ => unreachable!("all other calls were dealt with before"),
        }
        Ok(())
    }

    /// Advances the hardware counters by one tick.
    pub(super) fn count_hardware(&mut self, at: u64) {
        let counters = 0..self.configuration.counters.len();
        let hardware: Vec<usize> =
            counters.filter(|index| self.configuration.counters[*index].hardware).collect();
        for counter in &hardware {
            self.count(*counter);
        }
        for counter in hardware {
            self.expire(counter, at);
        }
    }

    fn increment(&mut self, counter: usize, at: u64) {
        self.count(counter);
        self.expire(counter, at);
    }

    fn count(&mut self, counter: usize) {
        let max_allowed = self.configuration.counters[counter].max_allowed;
        let value = &mut self.values[counter];
        *value = if *value == max_allowed { 0 } else { *value + 1 };
        for (alarm, configured) in self.alarms.iter_mut().zip(self.configuration.alarms) {
            if usize::from(configured.counter) == counter {
                alarm.left = alarm.left.map(|left| left - 1);
            }
        }
        for (table, configured) in self.tables.iter_mut().zip(self.configuration.schedule_tables) {
            if let TableModel::Running { position, .. } = table
                && usize::from(configured.counter) == counter
            {
                *position += 1;
            }
        }
    }

    fn expire(&mut self, counter: usize, at: u64) {
        while let Some(expired) = self.next_expired(counter) {
            match expired {
                Expired::Alarm(alarm) => {
                    self.alarms[alarm].left = None;
                    if self.alarms[alarm].cycle != 0 {
                        let cycle = self.alarms[alarm].cycle;
                        self.set_alarm(alarm, u64::from(cycle), cycle);
                    }
                    self.carry_out(self.configuration.alarms[alarm].action, at);
                }
                Expired::Table(table) => self.reach(table, at),
            }
        }
    }

    /// The oldest of those on a counter that expire now.
    fn next_expired(&self, counter: usize) -> Option<Expired> {
        let mut oldest = None;
        for (index, alarm) in self.alarms.iter().enumerate() {
            let is_on = usize::from(self.configuration.alarms[index].counter) == counter;
            if is_on && alarm.left == Some(0) {
                oldest = older(oldest, alarm.order, Expired::Alarm(index));
            }
        }
        for (index, table) in self.tables.iter().enumerate() {
            let configured = &self.configuration.schedule_tables[index];
            if let TableModel::Running { position, passed, order, .. } = table
                && usize::from(configured.counter) == counter
                && *position == i64::from(self.offset(index, *passed))
            {
                oldest = older(oldest, *order, Expired::Table(index));
            }
        }
        oldest.map(|(_, expired)| expired)
    }

    /// The offset of a point of a table; behind the last one it is the end of the run.
    fn offset(&self, table: usize, point: usize) -> u32 {
        let configured = &self.configuration.schedule_tables[table];
        if point == usize::from(configured.point_count) {
            return configured.duration;
        }
        self.configuration.expiry_points[usize::from(configured.first_point) + point].offset
    }

    fn reach(&mut self, table: usize, at: u64) {
        let configured = &self.configuration.schedule_tables[table];
        self.order += 1;
        let newest = self.order;
        let TableModel::Running { position, passed, follower, order } = &mut self.tables[table]
        else {
            unreachable!("only a running table expires");
        };
        if *passed < usize::from(configured.point_count) {
            let point = usize::from(configured.first_point) + *passed;
            *passed += 1;
            *order = newest;
            let point = &self.configuration.expiry_points[point];
            let first = usize::from(point.first_action);
            for action in first..first + usize::from(point.action_count) {
                self.carry_out(self.configuration.actions[action], at);
            }
            return;
        }
        let next = match *follower {
            Some(follower) => Some(follower),
            None => configured.repeating.then_some(table),
        };
        assert!(*position == i64::from(configured.duration), "a run ends at its end");
        self.tables[table] = TableModel::Stopped;
        if let Some(next) = next {
            let (follower, order) = (None, newest);
            self.tables[next] = TableModel::Running { position: 0, passed: 0, follower, order };
            if self.offset(next, 0) == 0 {
                self.reach(next, at);
            }
        }
    }

    fn carry_out(&mut self, action: quietcore_osek::configuration::Action, at: u64) {
        let object = usize::from(action.object);
        let failed = |status| Effect::Failed(action.object, status);
        let effect = match action.kind {
            ActionKind::ActivateTask => {
                self.activate(object, at).map_or_else(failed, |()| Effect::Activated(object))
            }
            ActionKind::SetEvent => {
                let result = self.set_event(object, action.events, at);
                result.map_or_else(failed, |()| Effect::EventSet(object))
            }
            ActionKind::Callback => Effect::Callback(action.object),
            ActionKind::IncrementCounter => {
                self.effects.push(Effect::Incremented(action.object));
                return self.increment(object, at);
            }
        };
        self.effects.push(effect);
    }

    fn set_alarm(&mut self, alarm: usize, ticks: u64, cycle: u32) {
        self.order += 1;
        self.alarms[alarm] = AlarmModel { left: Some(ticks), cycle, order: self.order };
    }

    fn find_free_alarm(&self, alarm: u8, cycle: u32) -> Result<u32, Status> {
        let index = usize::from(alarm);
        let configured = self.configuration.alarms.get(index).ok_or(Status::Id)?;
        let counter = &self.configuration.counters[usize::from(configured.counter)];
        if self.alarms[index].left.is_some() {
            return Err(Status::State);
        }
        let too_short = cycle != 0 && cycle < counter.min_cycle;
        if self.is_extended() && (too_short || cycle > counter.max_allowed) {
            return Err(Status::Value);
        }
        Ok(counter.max_allowed)
    }

    /// Counts how often a counter has to be advanced until it has a value.
    fn ticks_until(&self, counter: usize, value: u32) -> u64 {
        let max_allowed = self.configuration.counters[counter].max_allowed;
        let mut at = self.values[counter];
        let mut ticks = 0;
        loop {
            at = if at == max_allowed { 0 } else { at + 1 };
            ticks += 1;
            if at == value % (max_allowed + 1) {
                return ticks;
            }
        }
    }

    fn find_table_range(&self, table: u8) -> Result<u32, Status> {
        let tables = self.configuration.schedule_tables;
        let configured = tables.get(usize::from(table)).ok_or(Status::Id)?;
        Ok(self.configuration.counters[usize::from(configured.counter)].max_allowed)
    }

    fn refuse_started(&self, table: u8) -> Result<(), Status> {
        let stopped = self.tables[usize::from(table)].status() == Table::Stopped;
        if stopped { Ok(()) } else { Err(Status::State) }
    }

    fn start_table(&mut self, table: usize, ticks: i64) {
        self.order += 1;
        let (follower, order) = (None, self.order);
        self.tables[table] = TableModel::Running { position: -ticks, passed: 0, follower, order };
    }

    fn stop_table(&mut self, table: usize) -> Result<(), Status> {
        let model = self.tables.get_mut(table).ok_or(Status::Id)?;
        match std::mem::take(model) {
            TableModel::Stopped => return Err(Status::NoFunction),
            TableModel::Running { follower: Some(follower), .. } => {
                self.tables[follower] = TableModel::Stopped;
            }
            _ => {}
        }
        for other in &mut self.tables {
            if let TableModel::Running { follower, .. } = other
                && *follower == Some(table)
            {
                *follower = None;
            }
        }
        Ok(())
    }

    fn follow(&mut self, from: usize, to: usize) -> Result<(), Status> {
        let tables = self.configuration.schedule_tables;
        let counter_of = |table: usize| tables.get(table).map(|table| table.counter);
        let from_counter = counter_of(from).ok_or(Status::Id)?;
        if counter_of(to) != Some(from_counter) {
            return Err(Status::Id);
        }
        let to_is_stopped = self.tables[to].status() == Table::Stopped;
        let TableModel::Running { follower, .. } = &mut self.tables[from] else {
            return Err(Status::NoFunction);
        };
        if !to_is_stopped {
            return Err(Status::State);
        }
        if let Some(former) = follower.replace(to) {
            self.tables[former] = TableModel::Stopped;
        }
        self.tables[to] = TableModel::Next;
        Ok(())
    }
}

fn older(oldest: Option<(u64, Expired)>, order: u64, expired: Expired) -> Option<(u64, Expired)> {
    match oldest {
        Some((first, _)) if first < order => oldest,
        _ => Some((order, expired)),
    }
}
