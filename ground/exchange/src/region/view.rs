//! The region as it is seen by those who only read it.
//!
// UNSAFETY: the region is raw memory that another process writes too; the constructors turn it into
// references to atomics, which is sound whatever the other side does.
#![expect(unsafe_code, reason = "the region is raw memory shared with another process")]

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::commands::OutcomeReader;
use crate::control::{
    Active, FieldbusStatus, read_active, read_fault, read_fieldbus, read_held, read_paused,
    read_troubles,
};
use crate::data::{DataSlot, Slot};
use crate::events::EventReader;
use crate::forces::ForceReader;
use crate::image::ImageReader;
use crate::primitive::words::WORD_BYTES;
use crate::region::header::{AttachError, HEADER_BYTES, Header};
use crate::region::layout::{Layout, Pieces, Section};
use crate::retain::RetainReader;
use crate::statistics::TaskStatistics;
use crate::sync::AtomicU64;
use crate::trace::TraceReader;

/// A mapped exchange that is only read. The mapping may be read-only.
#[derive(Clone, Copy, Debug)]
pub struct View<'map> {
    base: NonNull<u8>,
    layout: Layout,
    mapped: PhantomData<&'map TaskStatistics>,
}

// SAFETY: a view gives out shared references to atomics only.
unsafe impl Send for View<'_> {}
// SAFETY: as above.
unsafe impl Sync for View<'_> {}

impl<'map> View<'map> {
    /// Attaches to an exchange that another party made.
    ///
    /// # Errors
    /// When the memory holds no exchange, or one of another version, layout or size.
    ///
    /// # Safety
    /// `base` is mapped and readable for `size` bytes during `'map`, and nothing but atomic
    /// accesses reach it while it is.
    pub unsafe fn attach(base: NonNull<u8>, size: usize) -> Result<Self, AttachError> {
        check_memory(base, size)?;
        // SAFETY: as promised by the caller; aligned and large enough, as checked. All bit patterns
        // are valid atomics.
        let header = unsafe { base.cast::<Header>().as_ref() };
        // Read once, checked, and never read again: the other side may change it.
        let layout = header.read(size)?;
        Ok(Self { base, layout, mapped: PhantomData })
    }

    /// The view of a region of this layout.
    ///
    /// # Safety
    /// As for [`attach`](Self::attach), and the memory has the bytes of `layout`.
    pub(super) unsafe fn new(base: NonNull<u8>, layout: Layout) -> Self {
        Self { base, layout, mapped: PhantomData }
    }

    pub(super) fn header(&self) -> &'map Header {
        // SAFETY: the constructors checked alignment and size, their caller promised that the
        // memory stays mapped for `'map`, and all bit patterns are valid atomics.
        unsafe { self.base.cast::<Header>().as_ref() }
    }

    /// The words of a section's piece number `index`; none where it is not in the section.
    fn piece(&self, section: Section, index: usize, pieces: Pieces) -> &'map [AtomicU64] {
        let start = pieces.stride.saturating_mul(index);
        let end = start.saturating_add(pieces.bytes);
        if end > section.bytes || section.offset + section.bytes > self.layout.bytes {
            return &[];
        }
        // SAFETY: the section lies in the region, which has the bytes of its layout, and the piece
        // in the section, as checked.
        let place = unsafe { self.base.add(section.offset + start) };
        // SAFETY: aligned, because sections and pieces start on a page; mapped for `'map`; all bit
        // patterns are valid atomics, and no exclusive reference to them is ever made.
        unsafe { core::slice::from_raw_parts(place.cast().as_ptr(), pieces.bytes / WORD_BYTES) }
    }

    /// The words of a section that is one piece.
    pub(super) fn section(&self, section: Section) -> &'map [AtomicU64] {
        self.piece(section, 0, Pieces { bytes: section.bytes, stride: section.bytes })
    }

    /// Returns the positions of all parts.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The number of tasks.
    pub fn task_count(&self) -> u32 {
        self.layout.shape.task_count
    }

    /// The statistics of task `index`, or `None` beyond the last.
    pub fn task(&self, index: u32) -> Option<&'map TaskStatistics> {
        if index >= self.task_count() {
            return None;
        }
        let offset = self.layout.tasks.offset + index as usize * size_of::<TaskStatistics>();
        // SAFETY: the layout has room for `task_count` tasks, and `index` is below that.
        let place = unsafe { self.base.add(offset) };
        // SAFETY: aligned because base, header and blocks are multiples of a page; mapped for
        // `'map`; all bit patterns are valid atomics.
        Some(unsafe { place.cast::<TaskStatistics>().as_ref() })
    }

    /// The statistics of all tasks.
    pub fn tasks(&self) -> impl Iterator<Item = &'map TaskStatistics> + '_ {
        (0..self.task_count()).filter_map(|index| self.task(index))
    }

    /// Returns `true` if the host asks the tasks to end. Cheap enough for every cycle.
    #[inline]
    pub fn stop_requested(&self) -> bool {
        self.header().stop_requested()
    }

    /// Returns `true` if the host asks the tasks to pause between two cycles. Cheap enough for
    /// every cycle.
    #[inline]
    pub fn pause_requested(&self) -> bool {
        self.header().pause_requested()
    }

    /// For how long the partition's threads were stopped from outside, all told, in ns. Cheap
    /// enough for every cycle.
    #[inline]
    pub fn stopped_ns(&self) -> u64 {
        self.header().stopped_ns()
    }

    /// Returns `true` while the tasks have paused, so that no cycle is run.
    pub fn is_paused(&self) -> bool {
        read_paused(self.section(self.layout.control))
    }

    /// The data slot that the program runs in, and the build that it belongs to.
    #[inline]
    pub fn active(&self) -> Active {
        read_active(self.section(self.layout.control))
    }

    /// The number of the build that is in fault, so that none of its steps is run.
    pub fn fault(&self) -> Option<u32> {
        read_fault(self.section(self.layout.control))
    }

    /// Returns whether a lock of the process's libraries may be held for ever: it can load no build
    /// then.
    pub fn is_library_held(&self) -> bool {
        read_held(self.section(self.layout.control))
    }

    /// Returns how often a call of the program was cut off inside of a library of its process.
    pub fn library_troubles(&self) -> u64 {
        read_troubles(self.section(self.layout.control))
    }

    /// Returns the state of the fieldbus in the last cycle.
    pub fn fieldbus(&self) -> FieldbusStatus {
        read_fieldbus(self.section(self.layout.control))
    }

    /// A data slot; `None` where the shape has none.
    pub fn data(&self, slot: Slot) -> Option<DataSlot<'map>> {
        let section = self.data_section(slot);
        if section.bytes == 0 {
            return None;
        }
        // SAFETY: the section lies in the region.
        let place = unsafe { self.base.add(section.offset) };
        // SAFETY: mapped for `'map` over the bytes of the section, and aligned to a page.
        Some(unsafe { DataSlot::new(place, section) })
    }

    fn data_section(&self, slot: Slot) -> Section {
        match slot {
            Slot::A => self.layout.data_a,
            Slot::B => self.layout.data_b,
        }
    }

    /// The inputs of the process image; `None` where the shape has none.
    pub fn inputs(&self) -> Option<ImageReader<'map>> {
        ImageReader::new(self.section(self.layout.inputs), self.layout.shape.input_bytes)
    }

    /// The outputs of the process image; `None` where the shape has none.
    pub fn outputs(&self) -> Option<ImageReader<'map>> {
        ImageReader::new(self.section(self.layout.outputs), self.layout.shape.output_bytes)
    }

    /// Returns a reader of the outcomes of commands; `None` if the shape has no commands.
    pub fn outcomes(&self) -> Option<OutcomeReader<'map>> {
        OutcomeReader::new(self.section(self.layout.commands))
    }

    /// The events that task `writer` writes, from the oldest that is still there; those of the
    /// partition itself where `writer` is the number of tasks. `None` beyond, or where the shape
    /// has none.
    pub fn events(&self, writer: u32) -> Option<EventReader<'map>> {
        EventReader::oldest(self.event_words(writer))
    }

    /// The events that [`events`](Self::events) will see from now on.
    pub fn events_from_now(&self, writer: u32) -> Option<EventReader<'map>> {
        EventReader::newest(self.event_words(writer))
    }

    pub(super) fn event_words(&self, writer: u32) -> &'map [AtomicU64] {
        if writer > self.task_count() {
            return &[];
        }
        self.piece(self.layout.events, writer as usize, self.layout.shape.event_pieces())
    }

    /// The trace of task `task`; `None` beyond the last, or where the shape has none.
    pub fn trace(&self, task: u32) -> Option<TraceReader<'map>> {
        TraceReader::new(self.trace_words(task))
    }

    pub(super) fn trace_words(&self, task: u32) -> &'map [AtomicU64] {
        self.piece(self.layout.traces, task as usize, self.layout.shape.trace_pieces())
    }

    /// The variables that are forced; `None` where the shape has no data.
    pub fn forces(&self) -> Option<ForceReader<'map>> {
        ForceReader::new(self.section(self.layout.forces))
    }

    /// The retained variables; `None` where the shape has none.
    pub fn retain(&self) -> Option<RetainReader<'map>> {
        RetainReader::new(self.retain_halves(), self.layout.shape.retain_bytes)
    }

    pub(super) fn retain_halves(&self) -> [&'map [AtomicU64]; 2] {
        let pieces = self.layout.shape.retain_pieces();
        [0, 1].map(|half| self.piece(self.layout.retain, half, pieces))
    }
}

/// Refuses memory in which not even a header could be read.
pub(super) fn check_memory(base: NonNull<u8>, size: usize) -> Result<(), AttachError> {
    assert!(size_of::<AtomicU64>() == WORD_BYTES, "loom's atomics don't lie in shared memory");
    if !base.as_ptr().addr().is_multiple_of(HEADER_BYTES) {
        return Err(AttachError::Misaligned);
    }
    if size < HEADER_BYTES {
        return Err(AttachError::TooSmall { is: size, needed: HEADER_BYTES });
    }
    Ok(())
}
