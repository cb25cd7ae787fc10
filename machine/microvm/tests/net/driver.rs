//! A driver in a guest's memory, and a link that is a function: the two ends of the device.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use quietcore_microvm::net::{Link, Net, Readiness, Service};
use quietcore_units::Nanos;
use quietcore_wire::{Wire, WireError};
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

/// The guest's memory, in bytes.
pub(crate) const MEMORY_BYTES: usize = 1 << 18;
/// Entries of each queue.
pub(crate) const ENTRIES: u16 = 8;
/// Address of the rings of queue 0; those of queue 1 are one stretch further.
pub(crate) const RINGS: u64 = 0x1000;
pub(crate) const STRETCH: u64 = 0x3000;
/// Address of the first buffer.
pub(crate) const BUFFERS: u64 = 0x1_0000;
pub(crate) const BUFFER_BYTES: u64 = 0x800;

/// Flags of a descriptor: another one follows; the device writes.
pub(crate) const NEXT: u16 = 1;
pub(crate) const WRITE: u16 = 2;

/// The frames that a test sees of the link.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Frames that were sent.
    pub(crate) sent: Vec<Vec<u8>>,
    /// Frames that will come, and when.
    pub(crate) coming: VecDeque<(Nanos, Vec<u8>)>,
    pub(crate) now: Nanos,
    /// The delay after which each frame is answered; `None` if it is not.
    pub(crate) echo: Option<Nanos>,
    /// The memory of a guest that offers the frame of its first descriptor again as soon as it was
    /// sent.
    pub(crate) endless: Option<GuestMemoryMmap>,
}

/// A link whose far end is the test. Its time stands still but for waiting.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestLink(pub(crate) Arc<Mutex<Seen>>);

impl TestLink {
    /// Returns what the test sees, and may change.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("no test panics with it")
    }
}

impl Wire for TestLink {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        let mut seen = self.seen();
        assert!((14..=1514).contains(&frame.len()), "a frame of {} bytes", frame.len());
        if seen.sent.len() < 1 << 12 {
            seen.sent.push(frame.to_vec());
        }
        if let Some(delay) = seen.echo.filter(|_| seen.coming.len() < 64) {
            let due = seen.now + delay;
            seen.coming.push_back((due, frame.to_vec()));
        }
        if let Some(memory) = &seen.endless {
            let index = GuestAddress(RINGS + STRETCH + 0x1002);
            let offered: u16 = memory.read_obj(index).expect("it is in memory");
            memory.write_obj(offered.wrapping_add(1), index).expect("it is in memory");
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        let mut seen = self.seen();
        let Some(due) = seen.coming.front().map(|(due, _)| *due) else { return Ok(None) };
        if due > seen.now.max(until) {
            return Ok(None);
        }
        seen.now = seen.now.max(due);
        let (_, frame) = seen.coming.pop_front().expect("it was looked at");
        buffer[..frame.len()].copy_from_slice(&frame);
        Ok(Some(frame.len()))
    }

    fn now(&self) -> Nanos {
        self.seen().now
    }
}

impl Link for TestLink {
    fn readiness(&self) -> Readiness<'_> {
        Readiness::At(self.seen().coming.front().map(|(due, _)| *due))
    }
}

/// A guest with the device.
pub(crate) struct Guest {
    pub(crate) net: Net,
    pub(crate) memory: GuestMemoryMmap,
    pub(crate) link: TestLink,
}

impl Guest {
    pub(crate) fn new(service: Service) -> Self {
        let memory =
            GuestMemoryMmap::from_ranges(&[(GuestAddress(0), MEMORY_BYTES)]).expect("memory");
        let link = TestLink::default();
        let address = [2, 0, 0, 0, 0, 1];
        let net =
            Net::new(memory.clone(), Box::new(link.clone()), address, service).expect("a device");
        Self { net, memory, link }
    }

    pub(crate) fn read(&self, offset: u64) -> u32 {
        let mut data = [0xFF; 4];
        self.net.read(offset, &mut data);
        u32::from_le_bytes(data)
    }

    pub(crate) fn write(&self, offset: u64, value: u32) {
        self.net.write(offset, &value.to_le_bytes());
    }

    /// Takes the features, as far as FEATURES_OK.
    pub(crate) fn agree(&self) {
        self.write(0x70, 0);
        self.write(0x70, 3);
        for (half, features) in [(0, 0), (1, 1)] {
            self.write(0x24, half);
            self.write(0x20, features);
        }
        self.write(0x70, 11);
    }

    /// Makes a queue ready, with its rings from `rings` on.
    pub(crate) fn make_queue(&self, queue: u32, rings: u64) {
        self.write(0x30, queue);
        self.write(0x38, u32::from(ENTRIES));
        for (register, place) in [(0x80, rings), (0x90, rings + 0x1000), (0xA0, rings + 0x2000)] {
            self.write(register, place as u32);
            self.write(register + 4, (place >> 32) as u32);
        }
        self.write(0x44, 1);
    }

    /// A driver that is ready to work.
    pub(crate) fn begin(&self) {
        self.memory.write_slice(&[0; 0x8000], GuestAddress(RINGS)).expect("it is in memory");
        self.agree();
        self.make_queue(0, RINGS);
        self.make_queue(1, RINGS + STRETCH);
        self.write(0x70, 15);
    }

    fn word(&self, place: u64) -> u16 {
        self.memory.read_obj(GuestAddress(place)).expect("it is in memory")
    }

    pub(crate) fn set_word(&self, place: u64, value: u16) {
        self.memory.write_obj(value, GuestAddress(place)).expect("it is in memory");
    }

    pub(crate) fn describe(
        &self,
        queue: u64,
        index: u16,
        place: u64,
        bytes: u32,
        flags: u16,
        next: u16,
    ) {
        let entry = RINGS + queue * STRETCH + u64::from(index) * 16;
        self.memory.write_obj(place, GuestAddress(entry)).expect("it is in memory");
        self.memory.write_obj(bytes, GuestAddress(entry + 8)).expect("it is in memory");
        self.set_word(entry + 12, flags);
        self.set_word(entry + 14, next);
    }

    /// Puts the chain that begins with this descriptor into the ring.
    pub(crate) fn offer(&self, queue: u64, head: u16) {
        let ring = RINGS + queue * STRETCH + 0x1000;
        let index = self.word(ring + 2);
        self.set_word(ring + 4 + u64::from(index % ENTRIES) * 2, head);
        self.set_word(ring + 2, index.wrapping_add(1));
    }

    pub(crate) fn ring(&self, queue: u32) {
        self.write(0x50, queue);
    }

    /// Returns how many entries of a queue were used, and the last of them: head and bytes.
    pub(crate) fn used(&self, queue: u64) -> (u16, u32, u32) {
        let ring = RINGS + queue * STRETCH + 0x2000;
        let count = self.word(ring + 2);
        let last = ring + 4 + u64::from(count.wrapping_sub(1) % ENTRIES) * 8;
        let read =
            |place| self.memory.read_obj::<u32>(GuestAddress(place)).expect("it is in memory");
        (count, read(last), read(last + 4))
    }

    /// Returns `true` if the guest is to ring for a queue.
    pub(crate) fn shall_ring(&self, queue: u64) -> bool {
        self.word(RINGS + queue * STRETCH + 0x2000) & 1 == 0
    }

    /// Offers a buffer to receive into, without ringing.
    pub(crate) fn offer_buffer(&self, index: u16) {
        let place = BUFFERS + u64::from(index) * BUFFER_BYTES;
        self.describe(0, index, place, BUFFER_BYTES as u32, WRITE, 0);
        self.offer(0, index);
    }

    /// Returns the first bytes of that buffer.
    pub(crate) fn buffer(&self, index: u16, bytes: usize) -> Vec<u8> {
        let mut content = vec![0; bytes];
        let place = GuestAddress(BUFFERS + u64::from(index) * BUFFER_BYTES);
        self.memory.read_slice(&mut content, place).expect("it is in memory");
        content
    }

    /// Offers a frame, in one piece behind its header, without ringing.
    pub(crate) fn offer_frame(&self, index: u16, frame: &[u8]) {
        let place = BUFFERS + 0x1_0000 + u64::from(index) * BUFFER_BYTES;
        self.memory.write_slice(&[0; 12], GuestAddress(place)).expect("it is in memory");
        self.memory.write_slice(frame, GuestAddress(place + 12)).expect("it is in memory");
        self.describe(1, index, place, 12 + frame.len() as u32, 0, 0);
        self.offer(1, index);
    }
}

/// A frame of so many bytes.
pub(crate) fn frame(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| index as u8).collect()
}
