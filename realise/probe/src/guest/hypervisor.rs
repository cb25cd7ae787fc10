//! The hypervisor of a probe's guest, and the guest that it is asked to run.
//!
//! Each image finds its host by itself, so that a probe asks every hypervisor alike. Ours is
//! [`MicroVm`]; the others belong to the backends that start them.

use std::fmt::Debug;
use std::time::Duration;

use quietcore_exchange::Region;
use quietcore_guests::Image;
use quietcore_units::{ByteSize, Nanos, ThreadRequest};

use super::runner::{GuestError, GuestFacts, Options, run_image};
use crate::ethercat::process::Line;
use crate::measurement::OpenExchange;

/// A guest that measures: its image, its job and what it asks for.
#[derive(Clone, Copy, Debug)]
pub struct ProbeGuest<'a> {
    /// The program that runs in it.
    pub image: Image,
    /// Its job, as [`encode`](super::job::encode) has written it.
    pub job: &'a [u8],
    /// The least memory of its own.
    pub memory: ByteSize,
    /// CPU and scheduling of the thread that runs its processor.
    pub thread: ThreadRequest,
    /// Time that it is expected to take; it is stopped some time after.
    pub takes: Duration,
    /// Vectors of its doorbells, for a hypervisor that has doorbells.
    pub doorbells: &'a [u8],
    /// CPU and scheduling of its clock board's thread, for a hypervisor that
    /// [has boards](Hypervisor::has_boards); `None` for a guest without a board.
    pub board: Option<ThreadRequest>,
    /// `true` if instructions with which the guest waits shall not leave its processor, where the
    /// hypervisor can do that.
    pub polls: bool,
    /// Its network, for a hypervisor that [carries frames](Hypervisor::carries_frames); `None`
    /// where it needs none.
    pub network: Option<&'a GuestNetwork>,
}

/// The network of a guest that measures, with SubDevices at its other end.
#[derive(Clone, Debug)]
pub struct GuestNetwork {
    /// The place of the SubDevices.
    pub line: Line,
    /// Longest time that the guest's processor stands still for an answer, where it carries the
    /// frames itself. A simulated segment answers at once.
    pub wait: Nanos,
}

/// A look at the exchange of a guest that measures: it returns `true` once the guest shall end.
pub type Look<'a> = &'a mut dyn FnMut(&Region<'_>) -> bool;

/// Runs guests that measure.
pub trait Hypervisor: Debug {
    /// Returns `true` if a guest of it can have a network.
    fn carries_frames(&self) -> bool {
        false
    }

    /// Returns `true` if a guest of it can have a clock board.
    fn has_boards(&self) -> bool {
        false
    }

    /// Runs a guest to its end, on the memory of `exchange`. `look` is called now and then; once it
    /// returns `true`, the guest is asked to end.
    ///
    /// # Errors
    /// Returns [`GuestError`]. Settings of threads that the operating system refuses are no error;
    /// [`GuestFacts::standing`] lists them.
    fn run(
        &self,
        guest: &ProbeGuest<'_>,
        exchange: &OpenExchange<'_>,
        look: Look<'_>,
    ) -> Result<GuestFacts, GuestError>;
}

/// Our own virtual machine monitor, in this process.
#[derive(Clone, Copy, Debug)]
pub struct MicroVm;

impl Hypervisor for MicroVm {
    fn carries_frames(&self) -> bool {
        true
    }

    fn has_boards(&self) -> bool {
        true
    }

    fn run(
        &self,
        guest: &ProbeGuest<'_>,
        exchange: &OpenExchange<'_>,
        look: Look<'_>,
    ) -> Result<GuestFacts, GuestError> {
        let options = Options {
            memory: guest.memory,
            thread: guest.thread,
            board: guest.board,
            polls: guest.polls,
            takes: guest.takes,
            echo: guest.doorbells.to_vec(),
            network: guest.network.cloned(),
        };
        run_image(guest.image, guest.job, exchange, &options, |region, _| look(region))
            .map(GuestFacts::from)
    }
}
