//! Ethernet frames over a virtio-net device, polled: no interrupt, no allocation, no copy but one.
//!
//! ```text
//! send    ─► free buffer ─► transmit queue ─► doorbell, where the device asks for it
//! receive ─► used ring, looked at again and again ─► copy ─► the buffer is given back
//! ```
//!
//! The rings and all buffers are memory of the image, made once, so that there is one device in a
//! guest. The device is told that no interrupt is wanted. A device that looks at the rings by
//! itself asks for no doorbell, and then neither a frame nor its answer makes the guest leave its
//! processor; one that is served at the doorbell answers before the guest goes on.
//!
//! While it waits, the driver rings for the receive queue every [`RING_PAUSE`] where the device
//! asks for that: it does when it owes frames and nobody but the guest's processor can bring them.
//!
//! The registers of the device are at an address, or on the PCI bus ([`bus`]); all else is the
//! same. A guest that was given a network card of its own has that in place of this device: either
//! is a [`Network`].
//!
//! The device is the host's, which can do to the guest what it likes; so an answer of the device
//! that can't be ends as an assertion, and not as another frame than the one received.
// UNSAFETY: gives a device addresses of buffers, which it writes to at any time.
#![expect(unsafe_code, reason = "a device reads and writes memory of the guest")]

mod buffers;
mod bus;
mod card;
mod hal;
mod network;

use core::arch::x86_64::_rdtsc;
use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{Ordering::SeqCst, fence};

use quietcore_units::Nanos;
use quietcore_wire::intel::CardError;
use quietcore_wire::{FRAME_BYTES_MAX, Wire, WireError};
use virtio_drivers::queue::VirtQueue;
use virtio_drivers::transport::mmio::{MmioError, MmioTransport, MmioVersion, VirtIOHeader};
use virtio_drivers::transport::{
    DeviceStatus, DeviceType, DeviceTypeError, SomeTransport, Transport,
};

use crate::clock::Clock;
use buffers::{BUFFERS, Buffers, HEADER_BYTES};
use bus::Bells;
use hal::Identity;

pub use network::Network;

/// Time that frames are waited for before the device is rung again.
pub const RING_PAUSE: Nanos = Nanos::from_micros(50);

/// Bytes of the device's registers: what QEMU has for one; ours has a page.
pub const REGISTER_BYTES: u64 = 0x200;

/// The queues of a network device (virtio 1.2, 5.1.2).
const RECEIVE: u16 = 0;
const TRANSMIT: u16 = 1;
/// The device is of version 1 of the standard or later (6.1); nothing else is asked of it.
const FEATURE_VERSION_1: u64 = 1 << 32;

/// Why there is no network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetError {
    /// There is no network device.
    Absent,
    /// There is one of an older standard.
    Legacy,
    /// It lacks what this driver needs.
    Features,
    /// Its registers are not where those of such a device are.
    Registers,
    /// Its queues are too short, or are in use.
    Queues,
    /// The one network of this guest has been opened before.
    Taken,
    /// A network card that the host has given away is of no use.
    Card(CardError),
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Card(error) => return error.fmt(f),
            Self::Absent => "there is no network device",
            Self::Legacy => "the network device is older than virtio 1",
            Self::Features => "the network device refuses virtio 1",
            Self::Registers => "the network device has its registers at an unknown place",
            Self::Queues => "the network device's queues are too short",
            Self::Taken => "the network device is in use",
        })
    }
}

impl core::error::Error for NetError {}

/// Counts of frames, by their fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetCounts {
    /// Frames handed to the device.
    pub sent: u64,
    /// Frames taken from it.
    pub received: u64,
    /// Frames taken and dropped: longer than the buffer that they were to go to.
    pub dropped: u64,
    /// Doorbells rung, for whichever queue. Each may make the guest leave its processor.
    pub rung: u64,
}

/// The virtio device of this guest.
pub(crate) struct Net {
    transport: SomeTransport<'static>,
    /// Its doorbells, where the transport's own way to them is longer.
    bells: Option<Bells>,
    receive: VirtQueue<Identity, BUFFERS>,
    transmit: VirtQueue<Identity, BUFFERS>,
    buffers: Buffers,
    clock: Clock,
    counts: NetCounts,
}

impl Net {
    /// Opens the device on the bus of a host that shares its memory as devices.
    fn on_bus(clock: Clock) -> Result<Self, NetError> {
        let (transport, bells) = bus::find()?;
        Self::open(transport.into(), Some(bells), clock)
    }

    /// Opens the first network device that has its registers at one of these addresses.
    ///
    /// # Errors
    /// [`NetError`]; of the last device that was a network's.
    ///
    /// # Safety
    /// At each address, which is one of whole words, are the registers of a virtio device, or what
    /// is not changed by being read.
    unsafe fn find(places: impl IntoIterator<Item = u64>, clock: Clock) -> Result<Self, NetError> {
        for place in places {
            // SAFETY: as our caller promises.
            match unsafe { transport_at(place) } {
                Err(NetError::Absent) => {}
                other => return Self::open(other?.into(), None, clock),
            }
        }
        Err(NetError::Absent)
    }

    fn open(
        mut transport: SomeTransport<'static>,
        bells: Option<Bells>,
        clock: Clock,
    ) -> Result<Self, NetError> {
        let mut buffers = Buffers::take().ok_or(NetError::Taken)?;
        transport.set_status(DeviceStatus::empty());
        let known = DeviceStatus::ACKNOWLEDGE | DeviceStatus::DRIVER;
        transport.set_status(known);
        if transport.read_device_features() & FEATURE_VERSION_1 == 0 {
            return Err(NetError::Legacy);
        }
        transport.write_driver_features(FEATURE_VERSION_1);
        let agreed = known | DeviceStatus::FEATURES_OK;
        transport.set_status(agreed);
        if !transport.get_status().contains(DeviceStatus::FEATURES_OK) {
            return Err(NetError::Features);
        }
        let mut queue = |index| {
            let made = VirtQueue::<Identity, BUFFERS>::new(&mut transport, index, false, false);
            let mut queue = made.map_err(|_| NetError::Queues)?;
            queue.set_dev_notify(false);
            Ok(queue)
        };
        let (mut receive, transmit) = (queue(RECEIVE)?, queue(TRANSMIT)?);
        while let Some((buffer, place)) = buffers.take_for_receive() {
            // SAFETY: the buffer is the device's until it is taken out of the queue again.
            let token = unsafe { receive.add(&[], &mut [&mut *place.as_ptr()]) };
            buffers.given(token.map_err(|_| NetError::Queues)?, buffer);
        }
        transport.set_status(agreed | DeviceStatus::DRIVER_OK);
        let counts = NetCounts::default();
        let mut net = Self { transport, bells, receive, transmit, buffers, clock, counts };
        net.ring_for_receive();
        Ok(net)
    }

    /// Returns the counts of frames so far.
    fn counts(&self) -> NetCounts {
        self.counts
    }

    /// Gives the device's memory of a frame that it has sent back to the free ones.
    fn reclaim(&mut self) {
        while let Some(token) = self.transmit.peek_used() {
            let (buffer, bytes) = self.buffers.sent(token);
            // SAFETY: these are the bytes that were given under this token.
            let popped = unsafe { self.transmit.pop_used(token, &[&*bytes.as_ptr()], &mut []) };
            popped.expect("the token was the next");
            self.buffers.free(buffer);
        }
    }

    /// The next frame that is there, copied; frames that are too long are dropped on the way.
    #[inline]
    fn take(&mut self, into: &mut [u8]) -> Option<usize> {
        while let Some(token) = self.receive.peek_used() {
            let (buffer, place) = self.buffers.received(token);
            // SAFETY: this is the buffer that was given under this token, and nobody's but the
            // device's since.
            let whole = unsafe { &mut *place.as_ptr() };
            // SAFETY: as above.
            let used = unsafe { self.receive.pop_used(token, &[], &mut [&mut *whole]) };
            let used = used.expect("the token was the next") as usize;
            let frame = whole.get(HEADER_BYTES..used).unwrap_or_default();
            let taken = into.get_mut(..frame.len()).filter(|_| !frame.is_empty());
            let bytes = taken.map(|into| {
                into.copy_from_slice(frame);
                frame.len()
            });
            // SAFETY: from here on the buffer is the device's again.
            let token = unsafe { self.receive.add(&[], &mut [whole]) };
            self.buffers.given(token.expect("the queue had one less"), buffer);
            match bytes {
                Some(_) => {
                    self.counts.received += 1;
                    return bytes;
                }
                None => self.counts.dropped += 1,
            }
        }
        None
    }

    fn ring_for_receive(&mut self) {
        // What was put into the ring is seen before the device's wish is read: it may have asked
        // for the doorbell since it last looked.
        fence(SeqCst);
        if self.receive.should_notify() {
            self.ring(RECEIVE);
        }
    }

    fn ring_for_transmit(&mut self) {
        fence(SeqCst);
        if self.transmit.should_notify() {
            self.ring(TRANSMIT);
        }
    }

    fn ring(&mut self, queue: u16) {
        match &mut self.bells {
            Some(bells) => bells.ring(queue),
            None => self.transport.notify(queue),
        }
        self.counts.rung += 1;
    }
}

impl Wire for Net {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        if frame.len() > FRAME_BYTES_MAX {
            return Err(WireError::TooLong { bytes: frame.len(), limit: FRAME_BYTES_MAX });
        }
        self.reclaim();
        let Some((buffer, bytes)) = self.buffers.fill(frame) else {
            self.ring_for_transmit();
            return Err(WireError::Full);
        };
        // SAFETY: the buffer is not touched until the device has given it back.
        let token = unsafe { self.transmit.add(&[&*bytes.as_ptr()], &mut []) };
        self.buffers.sending(token.expect("as many places as buffers"), buffer, frame.len());
        self.counts.sent += 1;
        self.ring_for_transmit();
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        if let Some(bytes) = self.take(buffer) {
            return Ok(Some(bytes));
        }
        let mut ring_at = self.now() + RING_PAUSE;
        loop {
            // Without a pause for the processor: KVM may take many of them as a reason to leave.
            let now = self.now();
            if let Some(bytes) = self.take(buffer) {
                return Ok(Some(bytes));
            }
            if now >= until {
                return Ok(None);
            }
            if now >= ring_at {
                self.ring_for_receive();
                ring_at = now + RING_PAUSE;
            }
        }
    }

    #[inline]
    fn now(&self) -> Nanos {
        // SAFETY: every processor with 64 bits has the counter.
        Nanos::new(self.clock.now_by(|| unsafe { _rdtsc() }))
    }
}

/// The network device whose registers are at an address.
///
/// # Safety
/// As of [`Net::find`].
unsafe fn transport_at(place: u64) -> Result<MmioTransport<'static>, NetError> {
    let header = core::ptr::with_exposed_provenance_mut::<VirtIOHeader>(place as usize);
    let header = NonNull::new(header).ok_or(NetError::Absent)?;
    // SAFETY: as our caller promises; a first word that is no device's is not read further.
    let transport = match unsafe { MmioTransport::new(header, REGISTER_BYTES as usize) } {
        Err(MmioError::UnsupportedVersion(_)) => return Err(NetError::Legacy),
        Err(
            MmioError::BadMagic(_)
            | MmioError::MmioRegionTooSmall
            | MmioError::InvalidDeviceID(DeviceTypeError::InvalidDeviceType(_)),
        ) => return Err(NetError::Absent),
        Ok(transport) => transport,
    };
    match (transport.device_type(), transport.version()) {
        (DeviceType::Network, MmioVersion::Modern) => Ok(transport),
        (DeviceType::Network, MmioVersion::Legacy) => Err(NetError::Legacy),
        _ => Err(NetError::Absent),
    }
}
