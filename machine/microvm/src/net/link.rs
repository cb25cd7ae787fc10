//! The link for frames of a guest: a wire, and the sign that it has a frame.

use std::os::fd::{AsFd as _, BorrowedFd};

use quietcore_clock::Clock;
use quietcore_units::Nanos;
use quietcore_wire::{PacketWire, SegmentWire, TapWire, Wire};

/// The sign that a frame has come, without asking for it.
#[derive(Clone, Copy, Debug)]
pub enum Readiness<'link> {
    /// The file can be read then.
    File(BorrowedFd<'link>),
    /// It is there from this instant on, of the wire's clock; none comes by itself.
    At(Option<Nanos>),
}

/// A wire that a device can wait at.
pub trait Link: Wire + Send {
    /// When the next frame comes.
    fn readiness(&self) -> Readiness<'_>;
}

impl Link for PacketWire {
    fn readiness(&self) -> Readiness<'_> {
        Readiness::File(self.as_fd())
    }
}

impl Link for TapWire {
    fn readiness(&self) -> Readiness<'_> {
        Readiness::File(self.as_fd())
    }
}

impl<C: Clock + Send> Link for SegmentWire<C> {
    fn readiness(&self) -> Readiness<'_> {
        Readiness::At(self.next_due())
    }
}

impl<L: Link + ?Sized> Link for Box<L> {
    fn readiness(&self) -> Readiness<'_> {
        (**self).readiness()
    }
}
