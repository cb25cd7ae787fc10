//! The application of a device, behind its EtherCAT controller.
//!
//! ```text
//! frame k written ─► consume(outputs) ─► actuators ─► plant advances ─► sensors
//!                                                                        │
//!                     frame k+1 reads ◄─ inputs ◄─ produce(inputs) ◄─────┘
//! ```
//!
//! Both halves run at the device's synchronisation event: with the frame where the device is
//! synchronous to its SyncManagers, and at SYNC0 where distributed clocks are on.

use quietcore_units::Nanos;

use crate::coe::Emergency;
use crate::coe::abort::Abort;
use crate::describe::Signal;
use crate::esc::al_state::AlState;
use crate::subdevice::SubDevice;

/// The facts that an application is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// The time of the call, on the segment's clock.
    pub now: Nanos,
    /// The AL state of the device.
    pub state: AlState,
    /// `true` if the outputs are valid: in OP, and not older than the watchdog allows.
    pub outputs_valid: bool,
}

/// The application of a device: it consumes outputs, acts on a plant, senses it and produces
/// inputs.
///
/// Called inside the walk of a frame: no allocation, no waiting.
pub trait Application: Send {
    /// Takes the outputs that the MainDevice wrote, in the layout that the device describes. Where
    /// they are not valid the device goes to its safe condition.
    fn consume(&mut self, situation: Situation, outputs: &[u8]);

    /// Writes the inputs that the next frame reads, in the layout that the device describes.
    fn produce(&mut self, situation: Situation, inputs: &mut [u8]);

    /// The physical connectors; their position is the number used below.
    fn signals(&self) -> &[Signal] {
        &[]
    }

    /// The present value of an actuator, in its unit; zero for one that does not exist.
    fn actuator(&self, signal: usize) -> f64 {
        let _ = signal;
        0.0
    }

    /// Tells the value that a sensor sees, in its unit; ignored for one that does not exist.
    fn sense(&mut self, signal: usize, value: f64) {
        let _ = (signal, value);
    }

    /// A value was written by SDO; it is stored unless this refuses it.
    ///
    /// # Errors
    ///
    /// The code with which the transfer is aborted.
    fn download(&mut self, index: u16, subindex: u8, data: &[u8]) -> Result<(), Abort> {
        let _ = (index, subindex, data);
        Ok(())
    }

    /// The present value of an object that follows from the device's own doing; `None` where the
    /// stored one counts.
    fn upload(&self, index: u16, subindex: u8) -> Option<u64> {
        let _ = (index, subindex);
        None
    }

    /// An emergency to be sent, once each.
    fn take_emergency(&mut self) -> Option<Emergency> {
        None
    }
}

/// The surroundings of the devices: plants, wired to the devices' physical signals.
pub trait Surroundings: Send {
    /// Moves to `now`: reads actuators, advances, tells sensors.
    fn advance(&mut self, now: Nanos, subdevices: &mut [SubDevice]);
}
