//! The two that a cycle drives: a program, and a fieldbus.

use alloc::boxed::Box;

use quietcore_exchange::{EventWriter, ShortText};
use quietcore_units::Nanos;

use crate::fault::Fault;
use crate::stage::Stage;

/// A loaded control program.
pub trait Program {
    /// Runs step function `rate` for task `task`. Tasks may run at the same time, each with a rate
    /// of its own.
    ///
    /// # Errors
    /// [`Fault`] when it crashed or was cancelled; the program's data are as that left them.
    fn step(&self, task: usize, rate: u32) -> Result<(), Fault>;

    /// The number in the exchange of the task whose job a step, or a fault in one, has left in the
    /// middle. `None` where each step ends what it began.
    fn task_under_way(&self) -> Option<u32> {
        None
    }

    /// Returns `true` if the model has an error status.
    fn has_error(&self) -> bool;

    /// Returns that error in the model's own words, as much of them as fits.
    fn error_status(&self) -> ShortText {
        ShortText::default()
    }
}

/// A program in one of the two data slots, with its places.
#[derive(Debug)]
pub struct Build<P> {
    /// The places, which were checked.
    pub stage: Stage,
    /// The program itself, ready to be called.
    pub program: P,
}

/// A fieldbus, as one process image of inputs and one of outputs.
pub trait Fieldbus {
    /// Sends the outputs and receives the inputs. What goes wrong is told as an event of cycle
    /// `cycle`; the inputs are then those of the last frame that came back.
    fn exchange(&mut self, cycle: u64, now: Nanos, events: &mut EventWriter<'_>);

    /// Returns the inputs, as received last.
    fn inputs(&self) -> &[u8];

    /// Returns the outputs, to be sent next.
    fn outputs(&mut self) -> &mut [u8];
}

impl<F: Fieldbus + ?Sized> Fieldbus for Box<F> {
    fn exchange(&mut self, cycle: u64, now: Nanos, events: &mut EventWriter<'_>) {
        (**self).exchange(cycle, now, events);
    }

    fn inputs(&self) -> &[u8] {
        (**self).inputs()
    }

    fn outputs(&mut self) -> &mut [u8] {
        (**self).outputs()
    }
}

/// The fieldbus of a partition that has none: no inputs and no outputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFieldbus;

impl Fieldbus for NoFieldbus {
    fn exchange(&mut self, _: u64, _: Nanos, _: &mut EventWriter<'_>) {}

    fn inputs(&self) -> &[u8] {
        &[]
    }

    fn outputs(&mut self) -> &mut [u8] {
        &mut []
    }
}
