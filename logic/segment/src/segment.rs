//! A line of SubDevices, and the walk of a frame through it.

use quietcore_units::Nanos;

use crate::faults::Faults;
use crate::subdevice::SubDevice;

/// How a segment behaves as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Start of the generator from which faults with a chance are drawn.
    pub seed: u64,
    /// Time from one SubDevice to the next, in one direction.
    pub hop_delay: Nanos,
}

impl Default for Options {
    /// Seed 1; 500 ns a hop, half of what an ESC with two Ethernet ports and its cables take.
    fn default() -> Self {
        Self { seed: 1, hop_delay: Nanos::new(500) }
    }
}

/// What becomes of a frame that was processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It goes back as it is now.
    Deliver,
    /// It does not go back: lost by a fault, no SubDevice reached, or no EtherCAT frame.
    Lost,
    /// It goes back this much later.
    Late(Nanos),
    /// It goes back and was damaged on the way; an Ethernet controller would drop it.
    Corrupted,
    /// It goes back twice.
    Duplicate,
}

/// A simulated segment.
pub struct Segment {
    subdevices: Vec<SubDevice>,
    faults: Faults,
    options: Options,
}

impl Segment {
    /// A segment of these SubDevices, in the order in which frames reach them.
    pub fn new(subdevices: Vec<SubDevice>, options: Options) -> Self {
        Self { subdevices, faults: Faults::default(), options }
    }

    /// Lets a frame pass through all SubDevices at the time `now` and answers it in place.
    ///
    /// `frame` is an Ethernet frame from its destination address on, without check sequence. Its
    /// length stays. `now` is on any clock that never goes back; DC times follow it. Nothing is
    /// allocated.
    pub fn process(&mut self, frame: &mut [u8], now: Nanos) -> Delivery {
        let _ = (frame, now, &self.options);
        Delivery::Lost
    }

    /// The SubDevices, in the order in which frames reach them.
    pub fn subdevices(&self) -> &[SubDevice] {
        &self.subdevices
    }

    /// The faults.
    pub fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }
}
