//! Counters, alarms and schedule tables (OSEK OS 2.2.3, 13.6), and what happens when they expire.

use core::sync::atomic::Ordering::Relaxed;

use super::services::{LOOKING, TASK_OR_ISR};
use super::{Call, System};
use crate::configuration::{Action, ActionKind, TICK_STEPS_MAX};
use crate::kernel::{AlarmBase, CallLevel, Due, Kernel, TableStatus};
use crate::port::Port;
use crate::status::{Service, Status};

impl<P: Port> System<P> {
    /// `GetAlarmBase`
    ///
    /// # Errors
    /// [`Status::Id`]; extended status: [`Status::CallLevel`].
    pub fn alarm_base(&self, alarm: u8) -> Result<AlarmBase, Status> {
        let call = || Call::of_one(Service::GetAlarmBase, alarm);
        self.serve(LOOKING, call, |kernel| kernel.alarm_base(alarm))
    }

    /// `GetAlarm`: ticks until an alarm expires.
    ///
    /// # Errors
    /// [`Status::NoFunction`] where it is not set, [`Status::Id`]; extended status:
    /// [`Status::CallLevel`].
    pub fn remaining_ticks(&self, alarm: u8) -> Result<u32, Status> {
        let call = || Call::of_one(Service::GetAlarm, alarm);
        self.serve(LOOKING, call, |kernel| kernel.remaining_ticks(alarm))
    }

    /// `SetRelAlarm`: it expires `increment` ticks from now, then every `cycle` ticks unless zero.
    ///
    /// # Errors
    /// [`Status::State`] where it is set, [`Status::Id`]; extended status: [`Status::Value`],
    /// [`Status::CallLevel`].
    pub fn set_relative_alarm(&self, alarm: u8, increment: u32, cycle: u32) -> Result<(), Status> {
        let parameters = [u64::from(alarm), u64::from(increment), u64::from(cycle)];
        let call = || Call::new(Service::SetRelAlarm, parameters);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.set_relative_alarm(alarm, increment, cycle))
    }

    /// `SetAbsAlarm`: it expires when its counter is `start` next, then every `cycle` ticks unless
    /// zero.
    ///
    /// # Errors
    /// As [`System::set_relative_alarm`].
    pub fn set_absolute_alarm(&self, alarm: u8, start: u32, cycle: u32) -> Result<(), Status> {
        let parameters = [u64::from(alarm), u64::from(start), u64::from(cycle)];
        let call = || Call::new(Service::SetAbsAlarm, parameters);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.set_absolute_alarm(alarm, start, cycle))
    }

    /// `CancelAlarm`
    ///
    /// # Errors
    /// [`Status::NoFunction`] where it is not set, [`Status::Id`]; extended status:
    /// [`Status::CallLevel`].
    pub fn cancel_alarm(&self, alarm: u8) -> Result<(), Status> {
        let call = || Call::of_one(Service::CancelAlarm, alarm);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.cancel_alarm(alarm))
    }

    /// `GetCounterValue`; beyond OSEK.
    ///
    /// # Errors
    /// [`Status::Id`]; extended status: [`Status::CallLevel`].
    pub fn counter_value(&self, counter: u8) -> Result<u32, Status> {
        let call = || Call::of_one(Service::GetCounterValue, counter);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.counter_value(counter))
    }

    /// `IncrementCounter`: advances a software counter by one tick; beyond OSEK.
    ///
    /// # Errors
    /// [`Status::Id`], also for a hardware counter; extended status: [`Status::CallLevel`].
    pub fn increment_counter(&self, counter: u8) -> Result<(), Status> {
        let call = || Call::of_one(Service::IncrementCounter, counter);
        let decide = |kernel: &mut Kernel<'static>| kernel.software_counter(counter);
        let advance = |index: &usize, before| {
            self.advance(*index);
            before
        };
        self.serve_and(TASK_OR_ISR, call, decide, advance).map(drop)
    }

    /// `StartScheduleTableRel`: begins `offset` ticks from now; beyond OSEK, as all of this kind.
    ///
    /// # Errors
    /// [`Status::State`] where it is started, [`Status::Id`]; extended status: [`Status::Value`],
    /// [`Status::CallLevel`].
    pub fn start_table_relative(&self, table: u8, offset: u32) -> Result<(), Status> {
        let parameters = [u64::from(table), u64::from(offset), 0];
        let call = || Call::new(Service::StartScheduleTableRel, parameters);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.start_table_relative(table, offset))
    }

    /// `StartScheduleTableAbs`: begins when its counter is `value` next.
    ///
    /// # Errors
    /// As [`System::start_table_relative`].
    pub fn start_table_absolute(&self, table: u8, value: u32) -> Result<(), Status> {
        let parameters = [u64::from(table), u64::from(value), 0];
        let call = || Call::new(Service::StartScheduleTableAbs, parameters);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.start_table_absolute(table, value))
    }

    /// `StopScheduleTable`
    ///
    /// # Errors
    /// [`Status::NoFunction`] where it is not started, [`Status::Id`]; extended status:
    /// [`Status::CallLevel`].
    pub fn stop_table(&self, table: u8) -> Result<(), Status> {
        let call = || Call::of_one(Service::StopScheduleTable, table);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.stop_table(table))
    }

    /// `NextScheduleTable`: `to` begins when this run of `from` is over.
    ///
    /// # Errors
    /// [`Status::NoFunction`] where `from` is not started, [`Status::State`] where `to` is,
    /// [`Status::Id`]; extended status: [`Status::CallLevel`].
    pub fn next_table(&self, from: u8, to: u8) -> Result<(), Status> {
        let call = || Call::new(Service::NextScheduleTable, [u64::from(from), u64::from(to), 0]);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.next_table(from, to))
    }

    /// `GetScheduleTableStatus`
    ///
    /// # Errors
    /// [`Status::Id`]; extended status: [`Status::CallLevel`].
    pub fn table_status(&self, table: u8) -> Result<TableStatus, Status> {
        let call = || Call::of_one(Service::GetScheduleTableStatus, table);
        self.serve(TASK_OR_ISR, call, |kernel| kernel.table_status(table))
    }

    /// The machine's tick: advances all hardware counters. The port calls it as an ISR of category
    /// 2 at level 1 or above, with the ticks that are due and the instant at which the last was.
    ///
    /// Ticks at which nothing expires are passed over, so the work is bounded by what expires.
    /// Where that takes more than [`TICK_STEPS_MAX`] steps, ticks are left for the next interrupt:
    /// `leave` is told how many, before any task runs. The port raises the tick again then, and
    /// brings them beside those that are due meanwhile.
    ///
    /// Before that all messages are looked at, also where no tick is due.
    pub fn tick(&self, ticks: u32, due_ns: u64, leave: impl FnOnce(u32)) {
        self.as_isr(None, || {
            self.look_at_messages();
            let mut left = ticks;
            let counters = self.cell.with(|kernel| kernel.configuration().counters);
            let period_ns = counters.iter().map(|counter| counter.tick_ns).max().unwrap_or(0);
            let mut steps = 0;
            while left > 0 && steps < TICK_STEPS_MAX {
                left -= self.cell.with(|kernel| kernel.advance_hardware(left));
                // What a late tick releases was due at that tick, not at the last one.
                let late_ns = period_ns.saturating_mul(u64::from(left));
                self.tick_ns.store(due_ns.saturating_sub(late_ns), Relaxed);
                for counter in (0..counters.len()).filter(|index| counters[*index].hardware) {
                    steps += self.expire(counter);
                }
            }
            self.tick_ns.store(0, Relaxed);
            if left != 0 {
                leave(left);
            }
        });
    }

    /// Advances a counter by one tick, and carries out what expires. Returns the steps.
    fn advance(&self, counter: usize) -> u32 {
        self.cell.with(|kernel| kernel.advance(counter, 1));
        self.expire(counter)
    }

    /// Carries out what expires now. Returns the steps, which the check of the tables has bounded.
    fn expire(&self, counter: usize) -> u32 {
        let mut steps = 0;
        while let Some(due) = self.cell.with(|kernel| kernel.take_due(counter)) {
            match due {
                Due::Alarm(action) => steps += self.carry_out(&action),
                Due::Point { first, count } => {
                    let actions = self.cell.with(|kernel| kernel.configuration().actions);
                    let first = usize::from(first);
                    let actions = &actions[first..first + usize::from(count)];
                    steps += 1 + actions.iter().map(|action| self.carry_out(action)).sum::<u32>();
                }
            }
        }
        steps
    }

    /// Carries out an action. One that fails is told of the task that it is for: who runs at that
    /// tick has nothing to do with it. Returns the steps that it took.
    fn carry_out(&self, action: &Action) -> u32 {
        // Identifiers of tasks and counters are below 255; the tables were checked.
        let object = action.object as u8;
        match action.kind {
            ActionKind::ActivateTask => {
                let at_ns = self.release_ns();
                let result = self.cell.with(|kernel| kernel.activate_task(object, at_ns));
                if let Err(status) = result {
                    let call = Call::of_one(Service::ActivateTask, object);
                    self.fail_in(&call, status, Some(object));
                }
            }
            ActionKind::SetEvent => {
                let at_ns = self.release_ns();
                let events = action.events;
                let result = self.cell.with(|kernel| kernel.set_event(object, events, at_ns));
                if let Err(status) = result {
                    let call = Call::new(Service::SetEvent, [u64::from(object), events, 0]);
                    self.fail_in(&call, status, Some(object));
                }
            }
            ActionKind::Callback => self.call_hook(action.callback, CallLevel::AlarmCallback),
            // A counter advances only those after it, so this ends.
            ActionKind::IncrementCounter => return 1 + self.advance(usize::from(object)),
        }
        1
    }
}
