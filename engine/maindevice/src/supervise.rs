//! The supervision: one datagram a cycle, which travels with the process data.
//!
//! ```text
//! cycle k   ─► answer ─► lane that asked: watch or recovery
//!                            │ alarms, health of the SubDevices
//! cycle k+1 ◄─ datagram ◄─ the lanes in turn
//! ```
//!
//! - [`watch`] goes round: AL state, mailbox, error counters of one SubDevice after the other.
//!   While the working counter is wrong it finds out whose.
//! - [`recovery`] brings one SubDevice back to OP, whatever state it is in, without a restart of
//!   the MainDevice.
//!
//! Each step is bounded, allocates nothing and waits for nothing, so it may run behind the
//! program's step within the cycle's slack.

mod recovery;
mod watch;

use alloc::vec::Vec;

use quietcore_units::Nanos;

use crate::alarm::{Alarm, Alarms, ErrorCounters};
use crate::cycle::{Cycle, CycleOutcome};
use crate::mailbox::Transfer;
use crate::state::AlStatus;
use crate::subdevice::SubDevice;

pub(crate) use recovery::sync_write;
use recovery::{Ended, Recovery};
use watch::Watch;
pub(crate) use watch::emergency;

/// Time until a SubDevice that does not answer is looked for again.
const ABSENT_PAUSE: Nanos = Nanos::from_millis(100);
/// Time until a recovery that failed is tried again; longer with each failure.
const FAILED_PAUSE: Nanos = Nanos::from_millis(500);
/// Number of failures after which the pause grows no more.
const FAILURES_COUNTED: u8 = 16;

/// The presence of a SubDevice, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// It was not asked yet.
    #[default]
    Unknown,
    /// It did not answer.
    Absent,
    /// It answered with this.
    Present(AlStatus),
}

/// The health of one SubDevice.
#[derive(Clone, Copy, Debug, Default)]
struct Health {
    presence: Presence,
    /// An alarm was raised that was not taken back by [`Alarm::Recovered`].
    down: bool,
    /// Its working counter was told to be wrong.
    counter_told: bool,
    counters: Option<ErrorCounters>,
    /// Recoveries that failed in a row.
    failures: u8,
    /// No recovery before this instant.
    not_before: Nanos,
}

impl Health {
    fn needs_recovery(&self) -> bool {
        match self.presence {
            Presence::Unknown => false,
            Presence::Absent => true,
            Presence::Present(status) => !status.is_op(),
        }
    }
}

/// The lane that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Watch,
    Recovery,
}

/// The supervision of all SubDevices.
pub(crate) struct Supervisor {
    health: Vec<Health>,
    watch: Watch,
    recovery: Option<Recovery>,
    /// Of a recovery's start-up values.
    transfer: Transfer,
    asked: Option<Lane>,
    last_lane: Lane,
    /// Position from which a SubDevice in need is searched.
    next_patient: usize,
    alarms: Alarms,
    lost_cycles: u64,
    /// The SubDevice with the reference clock.
    reference: Option<usize>,
}

/// The view of a step of the supervision on the last cycle.
#[derive(Clone, Copy, Debug)]
struct Sight {
    now: Nanos,
    outcome: CycleOutcome,
    /// The time of the reference clock, carried on if the last cycle had none.
    dc_time: Option<Nanos>,
}

impl Supervisor {
    pub(crate) fn new(subdevices: &[SubDevice]) -> Self {
        Self {
            health: alloc::vec![Health::default(); subdevices.len()],
            watch: Watch::default(),
            recovery: None,
            transfer: Transfer::idle(),
            asked: None,
            last_lane: Lane::Recovery,
            next_patient: 0,
            alarms: Alarms::default(),
            lost_cycles: 0,
            reference: subdevices.iter().position(SubDevice::has_clock),
        }
    }

    /// Takes note of a cycle's outcome.
    pub(crate) fn observe(&mut self, outcome: &CycleOutcome) {
        if outcome.lost() {
            if self.lost_cycles == 0 {
                self.alarms.raise(Alarm::Lost { frames: outcome.lost_frames });
            }
            self.lost_cycles += 1;
        } else if self.lost_cycles > 0 {
            self.alarms.raise(Alarm::Returned { cycles: self.lost_cycles });
            self.lost_cycles = 0;
        }
    }

    /// One step after a cycle: takes the answer that came with it, gives the next one a datagram.
    pub(crate) fn step(
        &mut self,
        now: Nanos,
        outcome: CycleOutcome,
        dc_time: Option<Nanos>,
        cycle: &mut Cycle,
        subdevices: &mut [SubDevice],
    ) {
        let sight = Sight { now, outcome, dc_time };
        // A datagram that nobody here asked for, such as a request to all, has no one to take it.
        match (cycle.answer(), self.asked.take()) {
            (Some(answer), Some(Lane::Watch)) => self.watch_answered(sight, answer, subdevices),
            (Some(answer), Some(Lane::Recovery)) => {
                self.recovery_answered(sight, answer, subdevices);
            }
            (Some(_), None) => {}
            (None, asked) => self.asked = asked,
        }
        cycle.distribute_time(self.reference_is_right());
        if cycle.has_passenger() {
            return;
        }
        let first = if self.last_lane == Lane::Watch { Lane::Recovery } else { Lane::Watch };
        let second = self.last_lane;
        for lane in [first, second] {
            let asked = match lane {
                Lane::Watch => self.watch_ask(sight, cycle, subdevices),
                Lane::Recovery => self.recovery_ask(sight, cycle, subdevices),
            };
            if asked {
                self.asked = Some(lane);
                self.last_lane = lane;
                return;
            }
        }
    }

    /// Returns `true` if the reference clock may be followed: its SubDevice was not gone, or is
    /// back.
    fn reference_is_right(&self) -> bool {
        let Some(reference) = self.reference else { return false };
        !self.recovers(reference) && !self.health[reference].needs_recovery()
    }

    /// Returns `true` if this SubDevice is being brought back.
    fn recovers(&self, subdevice: usize) -> bool {
        self.recovery.as_ref().is_some_and(|one| one.subdevice() == subdevice)
    }

    /// Someone else took the place of the datagram that was asked with; it is asked anew.
    pub(crate) fn forget_question(&mut self) {
        self.asked = None;
    }

    pub(crate) fn take_alarm(&mut self) -> Option<Alarm> {
        self.alarms.take()
    }

    pub(crate) fn raise(&mut self, alarm: Alarm) {
        self.alarms.raise(alarm);
    }

    pub(crate) fn presence(&self, subdevice: usize) -> Presence {
        self.health.get(subdevice).map_or(Presence::Unknown, |health| health.presence)
    }

    pub(crate) fn error_counters(&self, subdevice: usize) -> Option<ErrorCounters> {
        self.health.get(subdevice)?.counters
    }

    /// Lets the recovery ask something. Returns whether it did.
    fn recovery_ask(
        &mut self,
        sight: Sight,
        cycle: &mut Cycle,
        subdevices: &mut [SubDevice],
    ) -> bool {
        if self.recovery.is_none() {
            self.recovery = self.next_recovery(sight.now);
        }
        let Some(recovery) = &mut self.recovery else { return false };
        let subdevice = &mut subdevices[recovery.subdevice()];
        recovery.ask(sight, cycle, subdevice, &mut self.transfer)
    }

    /// That of a SubDevice in need.
    fn next_recovery(&mut self, now: Nanos) -> Option<Recovery> {
        let count = self.health.len();
        for step in 0..count {
            let subdevice = (self.next_patient + step) % count;
            let health = &self.health[subdevice];
            if health.needs_recovery() && now >= health.not_before {
                self.next_patient = subdevice + 1;
                // What reached OP and is down again, or failed before, is set up from the start.
                return Some(Recovery::new(subdevice, health.failures > 0, now));
            }
        }
        None
    }

    fn recovery_answered(
        &mut self,
        sight: Sight,
        answer: Option<(&[u8], u16)>,
        subdevices: &mut [SubDevice],
    ) {
        let Some(recovery) = &mut self.recovery else { return };
        let at = recovery.subdevice();
        let Self { transfer, alarms, .. } = self;
        let ended = recovery.answered(sight, answer, &mut subdevices[at], transfer, alarms);
        if let Some(ended) = ended {
            self.recovery = None;
            self.recovery_ended(sight.now, at, ended);
        }
    }

    fn recovery_ended(&mut self, now: Nanos, subdevice: usize, ended: Ended) {
        let position = subdevice as u16;
        let health = &mut self.health[subdevice];
        let alarm = match ended {
            Ended::InOp(status) => {
                health.presence = Presence::Present(status);
                health.failures = 0;
                health.down = false;
                Some(Alarm::Recovered { subdevice: position })
            }
            Ended::Absent => {
                health.not_before = now + ABSENT_PAUSE;
                let told = health.presence == Presence::Absent && health.down;
                health.presence = Presence::Absent;
                health.down = true;
                (!told).then_some(Alarm::Absent { subdevice: position })
            }
            Ended::Foreign { vendor, product } => {
                health.not_before = now + FAILED_PAUSE * 10;
                Some(Alarm::Foreign { subdevice: position, vendor, product })
            }
            Ended::Failed { wanted, code } => {
                health.failures = (health.failures + 1).min(FAILURES_COUNTED);
                health.not_before = now + FAILED_PAUSE * u64::from(health.failures);
                Some(Alarm::NotRecovered { subdevice: position, wanted, code })
            }
        };
        if let Some(alarm) = alarm {
            self.alarms.raise(alarm);
        }
    }
}
