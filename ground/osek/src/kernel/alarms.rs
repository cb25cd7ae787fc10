//! Counters and alarms (OSEK OS 2.2.3, 9 and 13.6).

use super::Kernel;
use super::timeline::{NodeId, Of};
use crate::configuration::{Action, Alarm};
use crate::status::Status;

/// The properties of an alarm's counter, as `GetAlarmBase` returns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlarmBase {
    /// Its largest value, in ticks.
    pub max_allowed: u32,
    /// Ticks of its source for one of its own.
    pub ticks_per_base: u32,
    /// Shortest cycle of an alarm, in ticks.
    pub min_cycle: u32,
}

/// Something that expired: actions to be carried out, in their order.
#[derive(Clone, Copy, Debug)]
pub enum Due {
    /// The action of an alarm that expired.
    Alarm(Action),
    /// Those of an expiry point: a range of [`Configuration::actions`].
    ///
    /// [`Configuration::actions`]: crate::configuration::Configuration::actions
    Point {
        /// Index of its first action.
        first: u16,
        /// Number of its actions.
        count: u16,
    },
}

impl Kernel<'_> {
    /// `GetAlarmBase`.
    ///
    /// # Errors
    /// [`Status::Id`].
    pub fn alarm_base(&self, alarm: u8) -> Result<AlarmBase, Status> {
        let counter = &self.configuration.counters[usize::from(self.alarm(alarm)?.counter)];
        Ok(AlarmBase {
            max_allowed: counter.max_allowed,
            ticks_per_base: counter.ticks_per_base,
            min_cycle: counter.min_cycle,
        })
    }

    /// `GetAlarm`: ticks until it expires.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::NoFunction`].
    pub fn remaining_ticks(&self, alarm: u8) -> Result<u32, Status> {
        let counter = usize::from(self.alarm(alarm)?.counter);
        let remaining = self.timeline.remaining(counter, NodeId::alarm(usize::from(alarm)));
        // At most a whole round of a counter of 32 bits.
        remaining.map(|ticks| u32::try_from(ticks).unwrap_or(u32::MAX)).ok_or(Status::NoFunction)
    }

    /// `SetRelAlarm`.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::State`], [`Status::Value`].
    pub fn set_relative_alarm(
        &mut self,
        alarm: u8,
        increment: u32,
        cycle: u32,
    ) -> Result<(), Status> {
        let counter = self.settable(alarm, cycle)?;
        let max_allowed = self.configuration.counters[counter].max_allowed;
        if self.checks() && (increment == 0 || increment > max_allowed) {
            return Err(Status::Value);
        }
        let ticks = u64::from(increment).max(1);
        self.set_alarm(alarm, counter, ticks, cycle);
        Ok(())
    }

    /// `SetAbsAlarm`. A value that the counter has now is reached after a whole round.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::State`], [`Status::Value`].
    pub fn set_absolute_alarm(&mut self, alarm: u8, start: u32, cycle: u32) -> Result<(), Status> {
        let counter = self.settable(alarm, cycle)?;
        if self.checks() && start > self.configuration.counters[counter].max_allowed {
            return Err(Status::Value);
        }
        let ticks = self.timeline.ticks_until(counter, start);
        self.set_alarm(alarm, counter, ticks, cycle);
        Ok(())
    }

    /// `CancelAlarm`.
    ///
    /// # Errors
    /// [`Status::Id`], [`Status::NoFunction`].
    pub fn cancel_alarm(&mut self, alarm: u8) -> Result<(), Status> {
        let counter = usize::from(self.alarm(alarm)?.counter);
        let was_set = self.timeline.remove(counter, NodeId::alarm(usize::from(alarm)));
        if was_set { Ok(()) } else { Err(Status::NoFunction) }
    }

    /// `GetCounterValue`; beyond OSEK.
    ///
    /// # Errors
    /// [`Status::Id`].
    pub fn counter_value(&self, counter: u8) -> Result<u32, Status> {
        let known = usize::from(counter) < self.configuration.counters.len();
        if known { Ok(self.timeline.value(usize::from(counter))) } else { Err(Status::Id) }
    }

    /// Returns the counter's index if `IncrementCounter` may advance it.
    ///
    /// # Errors
    /// [`Status::Id`], also for a counter that is driven by hardware.
    pub fn software_counter(&self, counter: u8) -> Result<usize, Status> {
        let index = usize::from(counter);
        let configured = self.configuration.counters.get(index).ok_or(Status::Id)?;
        if configured.hardware { Err(Status::Id) } else { Ok(index) }
    }

    /// Advances a counter, at most to its next expiry. Returns the ticks that it advanced by; what
    /// expired comes from [`Kernel::take_due`], and all of it is to be taken before the next call.
    pub fn advance(&mut self, counter: usize, ticks: u32) -> u32 {
        // At most the ticks that were asked for.
        let step = self.timeline.until_expiry(counter).min(u64::from(ticks)) as u32;
        self.timeline.advance(counter, step);
        step
    }

    /// Advances all hardware counters, at most to the first expiry on any of them, so that what
    /// expires comes in the order of time. Returns the ticks; then as [`Kernel::advance`].
    pub fn advance_hardware(&mut self, ticks: u32) -> u32 {
        let counters = self.configuration.counters.iter().enumerate();
        let hardware = counters.filter(|(_, counter)| counter.hardware);
        let expiries = hardware.clone().map(|(index, _)| self.timeline.until_expiry(index));
        let step = expiries.min().unwrap_or(u64::MAX).min(u64::from(ticks)) as u32;
        for (index, _) in hardware {
            self.timeline.advance(index, step);
        }
        step
    }

    /// Takes what expires now. A cyclic alarm is set again before its action is carried out.
    pub fn take_due(&mut self, counter: usize) -> Option<Due> {
        match self.timeline.take_due(counter)?.of() {
            Of::Alarm(alarm) => {
                let cycle = self.cycles[alarm];
                if cycle != 0 {
                    let next = self.timeline.ticks(counter) + u64::from(cycle);
                    self.timeline.insert(counter, NodeId::alarm(alarm), next);
                }
                Some(Due::Alarm(self.configuration.alarms[alarm].action))
            }
            Of::Table(table) => Some(self.reach_point(counter, table)),
        }
    }

    /// Sets the alarms that start by themselves.
    pub(super) fn start_alarms(&mut self) {
        for (index, alarm) in self.configuration.alarms.iter().enumerate() {
            if alarm.autostart & (1 << self.mode) != 0 {
                let counter = usize::from(alarm.counter);
                let ticks = u64::from(alarm.first).max(1);
                // The number of an alarm is below 255.
                self.set_alarm(index as u8, counter, ticks, alarm.cycle);
            }
        }
    }

    fn set_alarm(&mut self, alarm: u8, counter: usize, ticks: u64, cycle: u32) {
        self.cycles[usize::from(alarm)] = cycle;
        let expiry = self.timeline.ticks(counter) + ticks;
        self.timeline.insert(counter, NodeId::alarm(usize::from(alarm)), expiry);
    }

    /// The counter of an alarm that can be set.
    fn settable(&self, alarm: u8, cycle: u32) -> Result<usize, Status> {
        let index = usize::from(self.alarm(alarm)?.counter);
        let counter = &self.configuration.counters[index];
        if self.timeline.remaining(index, NodeId::alarm(usize::from(alarm))).is_some() {
            return Err(Status::State);
        }
        let fits = cycle == 0 || (counter.min_cycle..=counter.max_allowed).contains(&cycle);
        if self.checks() && !fits { Err(Status::Value) } else { Ok(index) }
    }

    fn alarm(&self, alarm: u8) -> Result<&Alarm, Status> {
        self.configuration.alarms.get(usize::from(alarm)).ok_or(Status::Id)
    }
}
