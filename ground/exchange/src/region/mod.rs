//! The region as a whole: how it is made, attached to, and taken apart.
//!
//! | type | for whom | may |
//! |------|----------|-----|
//! | [`Region`] | the host that makes it, and the partition | read and write |
//! | [`View`] | monitors | read; the mapping may be read-only |
//!
//! A region is everything that a view is, and gives out the writing sides beside it. Which side of
//! the region may take which of them is the [map of the crate](crate).
//!
// UNSAFETY: the region is raw memory that another process writes too; the constructors turn it into
// references to atomics, which is sound whatever the other side does.
#![expect(unsafe_code, reason = "the region is raw memory shared with another process")]

mod header;
mod layout;
mod shape;
mod view;

use core::ops::Deref;
use core::ptr::NonNull;

use crate::commands::{CommandConsumer, CommandProducer};
use crate::control::{
    Active, FieldbusStatus, write_active, write_fault, write_fieldbus, write_free, write_paused,
    write_trouble,
};
use crate::data::{Slot, WritableData};
use crate::events::EventWriter;
use crate::forces::ForceTable;
use crate::image::ImageWriter;
use crate::retain::RetainWriter;
use crate::statistics::WritableTask;
use crate::trace::{TraceRequester, TraceWriter};

pub use header::AttachError;
pub(crate) use header::{HEADER_BYTES, fnv};
pub use layout::{Layout, Section};
pub use shape::{
    COMMAND_SLOTS_MAX, DATA_BYTES_MAX, EVENT_SLOTS_MAX, IMAGE_BYTES_MAX, PAGE_BYTES,
    RETAIN_BYTES_MAX, Shape, ShapeError, TASK_LIMIT, TRACE_BYTES_MAX,
};
pub use view::View;

/// A mapped exchange that is read and written.
#[derive(Clone, Copy, Debug)]
pub struct Region<'map> {
    view: View<'map>,
}

impl<'map> Deref for Region<'map> {
    type Target = View<'map>;

    fn deref(&self) -> &View<'map> {
        &self.view
    }
}

impl<'map> Region<'map> {
    /// Makes an exchange of zeroed memory.
    ///
    /// # Errors
    /// When the memory is misaligned or too small, or a part of the shape is out of range.
    ///
    /// # Safety
    /// `base` is mapped, readable and writable for `size` bytes during `'map`, and nothing but
    /// atomic accesses reach it while it is. Data slots are excepted: a program's variables may be
    /// mapped onto them.
    pub unsafe fn initialise(
        base: NonNull<u8>,
        size: usize,
        shape: &Shape,
    ) -> Result<Self, AttachError> {
        view::check_memory(base, size)?;
        let layout = shape.layout()?;
        if size < layout.bytes {
            return Err(AttachError::TooSmall { is: size, needed: layout.bytes });
        }
        // SAFETY: as promised by the caller; aligned and large enough, as checked.
        let view = unsafe { View::new(base, layout) };
        view.header().write(&layout);
        Ok(Self { view })
    }

    /// Attaches to an exchange that another party made.
    ///
    /// # Errors
    /// When the memory holds no exchange, or one of another version, layout or size.
    ///
    /// # Safety
    /// As for [`initialise`](Self::initialise).
    pub unsafe fn attach(base: NonNull<u8>, size: usize) -> Result<Self, AttachError> {
        // SAFETY: the caller promises more.
        let view = unsafe { View::attach(base, size) }?;
        Ok(Self { view })
    }

    /// The same region for those who only read.
    pub fn view(&self) -> View<'map> {
        self.view
    }

    /// The statistics of task `index`, to be read or given to their
    /// [`Recorder`](crate::Recorder); `None` beyond the last.
    pub fn task(&self, index: u32) -> Option<WritableTask<'map>> {
        self.view.task(index).map(WritableTask::new)
    }

    /// Asks all tasks to end after their current cycle.
    pub fn request_stop(&self) {
        self.header().request_stop();
    }

    /// Asks the tasks to pause between two cycles, or to go on.
    pub fn request_pause(&self, pause: bool) {
        self.header().request_pause(pause);
    }

    /// Asks the tasks to pause for another partition's sake, or to go on. It is a wish of its own:
    /// they go on when neither this one nor that of [`request_pause`](Self::request_pause) is left.
    pub fn request_hold(&self, hold: bool) {
        self.header().request_hold(hold);
    }

    /// Says that the partition's threads were stopped from outside for so long, before they go on.
    pub fn add_stopped(&self, stopped_ns: u64) {
        self.header().add_stopped(stopped_ns);
    }

    /// Says whether the tasks have paused. For the partition, between two cycles.
    pub fn set_paused(&self, is_paused: bool) {
        write_paused(self.section(self.layout().control), is_paused);
    }

    /// A data slot, to be written by the partition; `None` where the shape has none.
    pub fn writable_data(&self, slot: Slot) -> Option<WritableData<'map>> {
        self.data(slot).map(WritableData::new)
    }

    /// Says which data slot the program runs in. For the partition, between two cycles.
    pub fn set_active(&self, active: Active) {
        write_active(self.section(self.layout().control), active);
    }

    /// Says which build is in fault; zero where none is. For the partition, after a cycle in which
    /// that has changed.
    pub fn set_fault(&self, generation: u32) {
        write_fault(self.section(self.layout().control), generation);
    }

    /// Says that a call of the program was cut off inside of a library, which may hold a lock of it
    /// for ever. For the partition, with a number of its own for each time, from 1.
    pub fn set_library_trouble(&self, number: u64) {
        write_trouble(self.section(self.layout().control), number);
    }

    /// Says that all locks of the libraries were found free after the `number`th time. For one
    /// thread of the partition.
    pub fn set_library_free(&self, number: u64) {
        write_free(self.section(self.layout().control), number);
    }

    /// Says how the fieldbus did. For the partition, in each cycle.
    #[inline]
    pub fn set_fieldbus(&self, status: FieldbusStatus) {
        write_fieldbus(self.section(self.layout().control), status);
    }

    /// The writing side of the inputs; for the partition.
    pub fn input_writer(&self) -> Option<ImageWriter<'map>> {
        ImageWriter::resume(self.section(self.layout().inputs), self.layout().shape.input_bytes)
    }

    /// The writing side of the outputs; for the partition.
    pub fn output_writer(&self) -> Option<ImageWriter<'map>> {
        ImageWriter::resume(self.section(self.layout().outputs), self.layout().shape.output_bytes)
    }

    /// The side of the command ring that gives commands; for the host, once.
    pub fn command_producer(&self) -> Option<CommandProducer<'map>> {
        CommandProducer::resume(self.section(self.layout().commands))
    }

    /// The side of the command ring that takes commands; for the partition, once.
    pub fn command_consumer(&self) -> Option<CommandConsumer<'map>> {
        CommandConsumer::resume(self.section(self.layout().commands))
    }

    /// The writing side of the events of task `writer`, or of the partition itself where `writer`
    /// is the number of tasks; for that task, once.
    pub fn event_writer(&self, writer: u32) -> Option<EventWriter<'map>> {
        EventWriter::resume(self.event_words(writer))
    }

    /// The side of a task's trace that asks for variables; for the host, once.
    pub fn trace_requester(&self, task: u32) -> Option<TraceRequester<'map>> {
        TraceRequester::resume(self.trace_words(task))
    }

    /// The side of a task's trace that samples; for that task, once.
    pub fn trace_writer(&self, task: u32) -> Option<TraceWriter<'map>> {
        TraceWriter::resume(self.trace_words(task), self.layout().shape.data_bytes)
    }

    /// The list of forced variables; for the partition, once.
    pub fn force_table(&self) -> Option<ForceTable<'map>> {
        ForceTable::resume(self.section(self.layout().forces))
    }

    /// The writing side of the retained variables; for the partition, once.
    pub fn retain_writer(&self) -> Option<RetainWriter<'map>> {
        RetainWriter::resume(self.retain_halves(), self.layout().shape.retain_bytes)
    }
}
