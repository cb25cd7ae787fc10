//! The frames of the network device: memory of the image, and who has which.
//!
//! A buffer is a header and a frame in one piece, so that each is one descriptor. Half of them are
//! always the device's, to receive into; the other half are free, or on their way out.
// UNSAFETY: the buffers are memory that a device writes to.
#![expect(unsafe_code, reason = "buffers are shared with a device")]

use core::cell::UnsafeCell;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use quietcore_wire::FRAME_BYTES_MAX;

/// Number of buffers in each direction.
pub(super) const BUFFERS: usize = 32;
/// The header before each frame (virtio 1.2, 5.1.6); all zero is a frame as it is.
pub(super) const HEADER_BYTES: usize = 12;
const BUFFER_BYTES: usize = HEADER_BYTES + FRAME_BYTES_MAX;

#[repr(C, align(64))]
struct Buffer(UnsafeCell<[u8; BUFFER_BYTES]>);

// SAFETY: `Buffers`, of which there is one, says whose each is.
unsafe impl Sync for Buffer {}

static RECEIVE: [Buffer; BUFFERS] = [const { Buffer(UnsafeCell::new([0; BUFFER_BYTES])) }; BUFFERS];
static TRANSMIT: [Buffer; BUFFERS] =
    [const { Buffer(UnsafeCell::new([0; BUFFER_BYTES])) }; BUFFERS];
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The owner of each buffer. A token is what the queue calls one that is in it.
pub(super) struct Buffers {
    /// Buffers to receive into that were not given to the device so far.
    first: usize,
    received: [usize; BUFFERS],
    /// Buffer and length of its frame.
    sent: [(usize, usize); BUFFERS],
    free: [usize; BUFFERS],
    free_count: usize,
}

impl Buffers {
    /// All of them; `None` where somebody has them.
    pub(super) fn take() -> Option<Self> {
        if TAKEN.swap(true, Relaxed) {
            return None;
        }
        Some(Self {
            first: 0,
            received: [0; BUFFERS],
            sent: [(0, 0); BUFFERS],
            free: core::array::from_fn(|index| index),
            free_count: BUFFERS,
        })
    }

    /// The next buffer that has never been the device's.
    pub(super) fn take_for_receive(&mut self) -> Option<(usize, NonNull<[u8]>)> {
        let index = self.first;
        let buffer = RECEIVE.get(index)?;
        self.first += 1;
        Some((index, whole(buffer)))
    }

    /// Notes that the queue took a buffer to receive into, under this token.
    pub(super) fn given(&mut self, token: u16, buffer: usize) {
        self.received[usize::from(token)] = buffer;
    }

    /// The buffer that the queue has under a token.
    pub(super) fn received(&self, token: u16) -> (usize, NonNull<[u8]>) {
        let index = self.received[usize::from(token)];
        (index, whole(&RECEIVE[index]))
    }

    /// Copies a frame into a free buffer; `None` where there is none. The frame is not too long.
    pub(super) fn fill(&mut self, frame: &[u8]) -> Option<(usize, NonNull<[u8]>)> {
        self.free_count = self.free_count.checked_sub(1)?;
        let index = self.free[self.free_count];
        // SAFETY: the buffer was free, so that nobody has it but us.
        let place = unsafe { &mut *TRANSMIT[index].0.get() };
        place[HEADER_BYTES..HEADER_BYTES + frame.len()].copy_from_slice(frame);
        Some((index, part(&TRANSMIT[index], frame.len())))
    }

    /// Notes that the queue took a frame of so many bytes, under this token.
    pub(super) fn sending(&mut self, token: u16, buffer: usize, bytes: usize) {
        self.sent[usize::from(token)] = (buffer, bytes);
    }

    /// Returns the buffer that the queue has under a token, as it was given.
    pub(super) fn sent(&self, token: u16) -> (usize, NonNull<[u8]>) {
        let (index, bytes) = self.sent[usize::from(token)];
        (index, part(&TRANSMIT[index], bytes))
    }

    /// Notes that a frame is out of the queue.
    pub(super) fn free(&mut self, buffer: usize) {
        self.free[self.free_count] = buffer;
        self.free_count += 1;
    }
}

fn whole(buffer: &Buffer) -> NonNull<[u8]> {
    NonNull::slice_from_raw_parts(NonNull::from(&buffer.0).cast(), BUFFER_BYTES)
}

/// The header and a frame of so many bytes.
fn part(buffer: &Buffer, frame_bytes: usize) -> NonNull<[u8]> {
    NonNull::slice_from_raw_parts(NonNull::from(&buffer.0).cast(), HEADER_BYTES + frame_bytes)
}
