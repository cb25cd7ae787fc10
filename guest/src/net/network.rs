//! The network of a guest: a device of the host's, or a card that the guest drives itself.
// UNSAFETY: says to the virtio device's driver where registers are.
#![expect(unsafe_code, reason = "registers of a device are beyond what Rust knows")]

use alloc::boxed::Box;

use quietcore_boot::devices::NETWORK;
use quietcore_boot::places::NET;
use quietcore_units::Nanos;
use quietcore_wire::{Wire, WireError};

use super::card::{self, GuestCard};
use super::{Net, NetCounts, NetError};
use crate::clock::Clock;
use crate::{devices, host};

/// Number of places of the bus.
const PLACES: u8 = 32;

/// The network of this guest.
pub enum Network {
    /// Served by the host, over virtio's rings.
    Virtio(NetworkDevice),
    /// Driven by the guest itself, which leaves its processor for none of it.
    Card(NetworkCard),
}

/// A virtio device that the host serves.
pub struct NetworkDevice(Box<Net>);

/// A network card that the host has given this guest.
pub struct NetworkCard(GuestCard);

impl Network {
    /// Opens the network of a partition: a card that the host has given it, or else the device that
    /// the host serves; on the bus of a host that shares its memory as devices, or at their places.
    ///
    /// # Errors
    /// [`NetError`].
    pub fn of_partition(clock: Clock) -> Result<Self, NetError> {
        if devices::are_here() {
            return match card::find([NETWORK], clock) {
                Some(card) => Ok(Self::Card(NetworkCard(card?))),
                None => Net::on_bus(clock).map(Self::device),
            };
        }
        let page = host::page().ok();
        if let Some(card) = page.and_then(|page| card::of_host(&page, clock)) {
            return Ok(Self::Card(NetworkCard(card?)));
        }
        // SAFETY: reading there is what the place is for.
        unsafe { Net::find([NET], clock) }.map(Self::device)
    }

    /// Opens the first network card of the bus; where there is none, the first device that has its
    /// registers at one of these addresses.
    ///
    /// # Errors
    /// [`NetError`]; of the last device that was a network's.
    ///
    /// # Safety
    /// At each address, which is one of whole words, are the registers of a virtio device, or what
    /// is not changed by being read.
    pub unsafe fn find(
        places: impl IntoIterator<Item = u64>,
        clock: Clock,
    ) -> Result<Self, NetError> {
        if let Some(card) = card::find(0..PLACES, clock) {
            return Ok(Self::Card(NetworkCard(card?)));
        }
        // SAFETY: as our caller promises.
        unsafe { Net::find(places, clock) }.map(Self::device)
    }

    fn device(net: Net) -> Self {
        Self::Virtio(NetworkDevice(Box::new(net)))
    }

    /// Returns the counts of frames so far. A register of a card that was written is a bell that
    /// was rung, though nobody leaves for it.
    pub fn counts(&self) -> NetCounts {
        match self {
            Self::Virtio(NetworkDevice(net)) => net.counts(),
            Self::Card(NetworkCard(card)) => {
                let counts = card.counts();
                NetCounts {
                    sent: counts.sent,
                    received: counts.received,
                    dropped: counts.dropped,
                    rung: counts.written,
                }
            }
        }
    }
}

impl Wire for Network {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        match self {
            Self::Virtio(NetworkDevice(net)) => net.send(frame),
            Self::Card(NetworkCard(card)) => card.send(frame),
        }
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        match self {
            Self::Virtio(NetworkDevice(net)) => net.receive(buffer, until),
            Self::Card(NetworkCard(card)) => card.receive(buffer, until),
        }
    }

    #[inline]
    fn now(&self) -> Nanos {
        match self {
            Self::Virtio(NetworkDevice(net)) => net.now(),
            Self::Card(NetworkCard(card)) => card.now(),
        }
    }
}
