//! Memory for regions and channels, as a mapping would give it.
// UNSAFETY: the tests make regions of their own memory.
#![expect(unsafe_code, reason = "a region is made of raw memory")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use quietcore_exchange::channel::{Channel, ChannelError, ChannelView, Entry, Timeouts};
use quietcore_exchange::{AttachError, Region, Shape, View};
use quietcore_units::Nanos;

/// The smallest shape that has every part.
pub(crate) const SMALL: Shape = Shape {
    task_count: 1,
    input_bytes: 20,
    output_bytes: 12,
    data_bytes: 4096,
    retain_bytes: 24,
    command_slots: 64,
    event_slots: 4,
    trace_bytes: 400,
};

pub(crate) const TIMEOUTS: Timeouts = Timeouts { first: Nanos::new(1_000), next: Nanos::new(100) };

/// A signal, a group of two, and a queue.
pub(crate) fn entries() -> [Entry; 5] {
    [
        Entry::Signal { bytes: 4, initial: 0x8877_6655, timeouts: TIMEOUTS },
        Entry::Group { members: 2, timeouts: TIMEOUTS },
        Entry::Member { bytes: 8, initial: 11 },
        Entry::Member { bytes: 1, initial: 22 },
        Entry::Queue { message_bytes: 20, slots: 4 },
    ]
}

pub(crate) struct Memory {
    base: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes, 4096).expect("a size below the address space");
        // SAFETY: the size is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).expect("memory for a region");
        Self { base, layout }
    }

    pub(crate) fn of_shape(shape: &Shape) -> Self {
        Self::new(shape.layout().expect("a possible shape").bytes)
    }

    pub(crate) fn initialise(&self, shape: &Shape) -> Result<Region<'_>, AttachError> {
        // SAFETY: allocated for the life of `self`, and only regions touch it.
        unsafe { Region::initialise(self.base, self.layout.size(), shape) }
    }

    pub(crate) fn attach(&self) -> Result<Region<'_>, AttachError> {
        // SAFETY: as above.
        unsafe { Region::attach(self.base, self.layout.size()) }
    }

    pub(crate) fn view(&self) -> Result<View<'_>, AttachError> {
        // SAFETY: as above.
        unsafe { View::attach(self.base, self.layout.size()) }
    }

    pub(crate) fn make_channel(&self, entries: &[Entry]) -> Result<Channel<'_>, ChannelError> {
        // SAFETY: as above.
        unsafe { Channel::initialise(self.base, self.layout.size(), entries) }
    }

    pub(crate) fn channel(&self) -> Result<Channel<'_>, ChannelError> {
        // SAFETY: as above.
        unsafe { Channel::attach(self.base, self.layout.size()) }
    }

    pub(crate) fn channel_view(&self) -> Result<ChannelView<'_>, ChannelError> {
        // SAFETY: as above.
        unsafe { ChannelView::attach(self.base, self.layout.size()) }
    }

    /// Overwrites bytes behind everyone's back; what lies beyond the memory is left out.
    pub(crate) fn poke(&self, offset: usize, bytes: &[u8]) {
        for (place, byte) in (offset..self.layout.size()).zip(bytes) {
            // SAFETY: inside the allocation, and no other thread looks.
            unsafe { self.base.add(place).write(*byte) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}
