//! The MainDevice with its SubDevices: what a scan cycle works with.
//!
//! ```text
//! let mut fieldbus = Fieldbus::bring_up(wire, &expectation)?;      before the first cycle
//! each cycle:
//!     fieldbus.outputs_mut(axis)[..2].copy_from_slice(..);
//!     let outcome = fieldbus.cycle(release + timeout);              real time: bounded waiting
//!     fieldbus.inputs(axis);
//!     …the program's step…
//!     fieldbus.supervise();                                         in the slack: no waiting
//!     while let Some(alarm) = fieldbus.take_alarm() { … }
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use quietcore_units::Nanos;
use quietcore_wire::{FRAME_BYTES_MAX, Wire, WireError};

use crate::alarm::{Alarm, ErrorCounters};
use crate::bring_up::{BringUpError, bring_up};
use crate::cycle::{Cycle, CycleOutcome};
use crate::expectation::Expectation;
use crate::frame::Request;
use crate::frame::register;
use crate::state::{AlState, AlStatus};
use crate::subdevice::SubDevice;
use crate::supervise::{Presence, Supervisor};
use crate::topology::Topology;

/// An EtherCAT segment in operation.
pub struct Fieldbus<W> {
    wire: W,
    cycle: Cycle,
    subdevices: Vec<SubDevice>,
    supervisor: Supervisor,
    last: CycleOutcome,
    /// The reference clock's time, and when on the wire's clock it was read.
    clock: Option<(Nanos, Nanos)>,
}

impl<W: Wire> Fieldbus<W> {
    /// Finds the SubDevices, compares them with what is expected, sets them up and brings all of
    /// them to OP.
    ///
    /// # Errors
    /// See [`BringUpError`]; a wire that is not as expected is told with all differences.
    pub fn bring_up(wire: W, expectation: &Expectation) -> Result<Self, BringUpError> {
        bring_up(wire, expectation)
    }

    /// A MainDevice for SubDevices that are set up already.
    pub(crate) fn assemble(wire: W, subdevices: Vec<SubDevice>) -> Self {
        let reference = subdevices.iter().find(|one| one.has_clock()).map(|one| one.address);
        Self {
            cycle: Cycle::new(&subdevices, reference),
            supervisor: Supervisor::new(&subdevices),
            wire,
            subdevices,
            last: CycleOutcome::default(),
            clock: None,
        }
    }

    /// One cycle: sends all outputs, takes all inputs, and waits no longer than `until`, on the
    /// wire's clock. For the real-time path: allocates nothing.
    ///
    /// Inputs that did not come keep their last values; the outcome tells.
    pub fn cycle(&mut self, until: Nanos) -> CycleOutcome {
        self.last = self.cycle.run(&mut self.wire, until);
        self.supervisor.observe(&self.last);
        self.last
    }

    /// One step of the supervision: takes the answer that the last cycle brought, and gives the
    /// next one a datagram to take along. Allocates nothing and waits for nothing.
    pub fn supervise(&mut self) {
        let now = self.wire.now();
        if let Some(time) = self.last.dc_time {
            self.clock = Some((time, now));
        }
        let dc_time = self.dc_time_at(now);
        self.supervisor.step(now, self.last, dc_time, &mut self.cycle, &mut self.subdevices);
    }

    /// The next alarm, in the order in which they were raised.
    pub fn take_alarm(&mut self) -> Option<Alarm> {
        self.supervisor.take_alarm()
    }

    /// The SubDevices in the order in which frames pass.
    pub fn subdevices(&self) -> &[SubDevice] {
        &self.subdevices
    }

    /// The inputs of the SubDevice at this position, as of the last cycle; empty for one that does
    /// not exist.
    pub fn inputs(&self, subdevice: usize) -> &[u8] {
        &self.cycle.image()[self.range(subdevice, SubDevice::inputs)]
    }

    /// The outputs of the SubDevice at this position, as they go out with the next cycle.
    pub fn outputs(&self, subdevice: usize) -> &[u8] {
        &self.cycle.image()[self.range(subdevice, SubDevice::outputs)]
    }

    /// The outputs of the SubDevice at this position, to be set.
    pub fn outputs_mut(&mut self, subdevice: usize) -> &mut [u8] {
        let range = self.range(subdevice, SubDevice::outputs);
        &mut self.cycle.image_mut()[range]
    }

    /// The whole process image; [`SubDevice::inputs`] and [`SubDevice::outputs`] say what is where.
    pub fn image(&self) -> &[u8] {
        self.cycle.image()
    }

    /// Returns `true` if the last cycle passed all SubDevices and found all of them in OP.
    pub fn all_in_op(&self) -> bool {
        usize::from(self.last.present) == self.subdevices.len()
            && self.last.al_states == AlState::Op.number()
    }

    /// Returns the presence and state of the SubDevice at this position, as far as known.
    pub fn presence(&self, subdevice: usize) -> Presence {
        self.supervisor.presence(subdevice)
    }

    /// The error counters of the SubDevice at this position, as they were read last.
    pub fn error_counters(&self, subdevice: usize) -> Option<ErrorCounters> {
        self.supervisor.error_counters(subdevice)
    }

    /// Returns the links between the SubDevices, as found in the bring-up.
    pub fn topology(&self) -> Topology {
        Topology::of(&self.subdevices)
    }

    /// Requests a state of all SubDevices with the next cycle; nobody waits for them to reach it.
    /// The supervision brings them back to OP, so run [`cycle`](Self::cycle) without it afterwards.
    pub fn request_all(&mut self, state: AlState) {
        let request = Request::write_all(register::AL_CONTROL, 2);
        self.supervisor.forget_question();
        self.cycle.take_along(request, |data| {
            data[0] = state.number();
        });
    }

    /// Gives the wire back, and leaves the SubDevices to themselves: their watchdogs bring the
    /// outputs to safety.
    pub fn into_wire(self) -> W {
        self.wire
    }

    /// Returns the wire that frames go over.
    pub fn wire(&self) -> &W {
        &self.wire
    }

    /// The wire, to be told something while no cycle runs.
    pub fn wire_mut(&mut self) -> &mut W {
        &mut self.wire
    }

    /// The reference clock's time now, carried on from when it was read last.
    pub(crate) fn dc_time_at(&self, now: Nanos) -> Option<Nanos> {
        self.clock.map(|(time, at)| time + now.saturating_sub(at))
    }

    pub(crate) fn raise(&mut self, alarm: Alarm) {
        self.supervisor.raise(alarm);
    }

    /// Waits; what arrives meanwhile belongs to nobody any more.
    ///
    /// # Errors
    /// When the wire is of no use any more.
    pub(crate) fn idle_until(&mut self, until: Nanos) -> Result<(), WireError> {
        let mut stray = [0; FRAME_BYTES_MAX];
        while self.wire.now() < until {
            self.wire.receive(&mut stray, until)?;
        }
        Ok(())
    }

    /// The error that says who is missing.
    pub(crate) fn not_in_op(&self, after: Nanos) -> BringUpError {
        let waiting = self.subdevices.iter().filter_map(|one| {
            let presence = self.presence(usize::from(one.position));
            let fine = matches!(presence, Presence::Present(status) if AlStatus::is_op(status));
            (!fine).then(|| (one.position, one.name.clone(), presence))
        });
        BringUpError::NotInOp {
            after,
            waiting: waiting.collect(),
            working_counter: (self.last.working_counter, self.last.expected),
        }
    }

    fn range(&self, subdevice: usize, of: impl Fn(&SubDevice) -> Range<usize>) -> Range<usize> {
        self.subdevices.get(subdevice).map_or(0..0, of)
    }
}

#[cfg(test)]
mod tests;
