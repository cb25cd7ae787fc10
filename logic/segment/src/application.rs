//! What a device is for, behind its EtherCAT controller.
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

use crate::describe::Signal;
use crate::subdevice::AlState;

/// What an application may know when it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// The time of the call, on the segment's clock.
    pub now: Nanos,
    /// The AL state of the device. Outputs are valid in OP only.
    pub state: AlState,
}

/// What a device is for: it consumes outputs, acts on a plant, senses it and produces inputs.
///
/// Called inside the walk of a frame: no allocation, no waiting.
pub trait Application: Send {
    /// Takes the outputs that the MainDevice wrote. In a state other than OP they are not valid, and
    /// a device goes to its safe condition.
    fn consume(&mut self, situation: Situation, outputs: &[u8]);

    /// Writes the inputs that the next frame reads.
    fn produce(&mut self, situation: Situation, inputs: &mut [u8]);

    /// The physical connectors; their position is the number used below.
    fn signals(&self) -> &'static [Signal] {
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
}
