//! The layout of an exchange: a pure function of its [`Shape`].
//!
//! Each part starts on a page, so that parts can be mapped and protected on their own, and no cache
//! line belongs to two of them. Sizes are limited before they are added up; the sums are checked
//! all the same.

use crate::commands::COMMAND_WORDS;
use crate::events::EVENT_WORDS;
use crate::primitive::words::{WORD_BYTES, words_for};
use crate::primitive::{broadcast, queue};
use crate::region::shape::{PAGE_BYTES, Shape, ShapeError};
use crate::{commands, control, forces, image, retain, statistics, trace};

/// A part of the region. Empty where the shape leaves it out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Bytes from the start of the region; a multiple of [`PAGE_BYTES`].
    pub offset: usize,
    /// Its bytes, without what fills up the last page.
    pub bytes: usize,
}

/// Positions of the parts, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The shape it follows from.
    pub shape: Shape,
    /// Statistics of the tasks, one after the other.
    pub tasks: Section,
    /// The partition's own state, such as the active data slot.
    pub control: Section,
    /// The inputs of the process image.
    pub inputs: Section,
    /// The outputs of the process image.
    pub outputs: Section,
    /// Data slot A: the writable data of a program.
    pub data_a: Section,
    /// Data slot B: those of the program that is staged beside it.
    pub data_b: Section,
    /// The command ring and the outcomes of commands.
    pub commands: Section,
    /// The event rings, one for each task and one for the partition, each from a page on.
    pub events: Section,
    /// The traces, one for each task, each from a page on.
    pub traces: Section,
    /// The variables that are forced.
    pub forces: Section,
    /// The two halves of the retained variables, each from a page on.
    pub retain: Section,
    /// Bytes of the whole region: whole pages.
    pub bytes: usize,
}

impl Shape {
    /// Computes the positions of the parts.
    ///
    /// # Errors
    /// [`ShapeError`] when a part is out of range.
    pub fn layout(&self) -> Result<Layout, ShapeError> {
        self.check()?;
        let tasks = self.task_count as usize;
        let has_data = usize::from(self.data_bytes > 0);
        let mut end = super::HEADER_BYTES;
        // `check` limits each size so that no sum comes near the end of the address space.
        let mut place = |bytes: usize| {
            let offset = end;
            let pages = bytes.checked_next_multiple_of(PAGE_BYTES as usize);
            end = pages
                .and_then(|pages| offset.checked_add(pages))
                .expect("the parts are limited to far less than the address space");
            Section { offset, bytes }
        };
        let tasks_section = place(tasks * size_of::<statistics::TaskStatistics>());
        let control = place(control::CONTROL_WORDS * WORD_BYTES);
        let inputs = place(image_bytes(self.input_bytes));
        let outputs = place(image_bytes(self.output_bytes));
        let data_a = place(self.data_bytes as usize);
        let data_b = place(self.data_bytes as usize);
        let commands = place(commands_bytes(self.command_slots));
        let events = place(self.event_pieces().stride * (tasks + 1));
        let traces = place(self.trace_pieces().stride * tasks);
        let forces = place(has_data * forces::FORCES_WORDS * WORD_BYTES);
        let retain = place(2 * self.retain_pieces().stride);
        Ok(Layout {
            shape: *self,
            tasks: tasks_section,
            control,
            inputs,
            outputs,
            data_a,
            data_b,
            commands,
            events,
            traces,
            forces,
            retain,
            bytes: end,
        })
    }

    /// The event rings, one after the other.
    pub(crate) fn event_pieces(&self) -> Pieces {
        let words = broadcast::HEADER_WORDS + self.event_slots as usize * EVENT_WORDS;
        Pieces::new(self.event_slots, words)
    }

    /// The traces of the tasks, one after the other.
    pub(crate) fn trace_pieces(&self) -> Pieces {
        let ring = words_for(self.trace_bytes as usize);
        let words = trace::CONFIGURATION_WORDS + broadcast::HEADER_WORDS + ring;
        Pieces::new(self.trace_bytes, words)
    }

    /// The two halves of the retained variables.
    pub(crate) fn retain_pieces(&self) -> Pieces {
        let payload = words_for(self.retain_bytes as usize);
        Pieces::new(self.retain_bytes, retain::HALF_HEADER_WORDS + payload)
    }
}

/// A part that comes several times in one section, each from a page on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// Bytes of one piece.
    pub(crate) bytes: usize,
    /// Bytes from the start of one to the start of the next.
    pub(crate) stride: usize,
}

impl Pieces {
    /// Pieces of so many words; none where `present` is zero.
    fn new(present: u32, words: usize) -> Self {
        let bytes = if present == 0 { 0 } else { words * WORD_BYTES };
        Self { bytes, stride: bytes.next_multiple_of(PAGE_BYTES as usize) }
    }
}

fn image_bytes(bytes: u32) -> usize {
    if bytes == 0 { 0 } else { (image::HEADER_WORDS + words_for(bytes as usize)) * WORD_BYTES }
}

fn commands_bytes(slots: u32) -> usize {
    let ring = queue::queue_words(slots as usize, COMMAND_WORDS);
    if slots == 0 { 0 } else { (commands::OUTCOME_WORDS + ring) * WORD_BYTES }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sections(layout: &Layout) -> [Section; 11] {
        [
            layout.tasks,
            layout.control,
            layout.inputs,
            layout.outputs,
            layout.data_a,
            layout.data_b,
            layout.commands,
            layout.events,
            layout.traces,
            layout.forces,
            layout.retain,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn the_parts_follow_each_other_on_pages_and_do_not_overlap(words in any::<[u32; 8]>()) {
            // Raw numbers as well as such as are in range.
            let small = |word: u32, limit: u32| if word & 1 == 0 { word % limit } else { word };
            let shape = Shape {
                task_count: small(words[0], 300),
                input_bytes: small(words[1], 5_000),
                output_bytes: small(words[2], 5_000),
                data_bytes: small(words[3], 70) << 12,
                retain_bytes: small(words[4], 9_000),
                command_slots: 1_u32.checked_shl(small(words[5], 20)).unwrap_or(0),
                event_slots: 1_u32.checked_shl(small(words[6], 20)).unwrap_or(0),
                trace_bytes: small(words[7], 70_000),
            };
            let Ok(layout) = shape.layout() else {
                return Ok(());
            };
            let mut end = super::super::HEADER_BYTES;
            for section in sections(&layout) {
                prop_assert!(section.offset.is_multiple_of(PAGE_BYTES as usize));
                prop_assert!(section.offset >= end);
                end = section.offset + section.bytes;
            }
            prop_assert!(end <= layout.bytes);
            prop_assert!(layout.bytes.is_multiple_of(PAGE_BYTES as usize));
        }
    }

    #[test]
    fn the_largest_shape_has_a_layout() {
        use crate::region::shape::*;
        let shape = Shape {
            task_count: TASK_LIMIT,
            input_bytes: IMAGE_BYTES_MAX,
            output_bytes: IMAGE_BYTES_MAX,
            data_bytes: DATA_BYTES_MAX,
            retain_bytes: RETAIN_BYTES_MAX,
            command_slots: COMMAND_SLOTS_MAX,
            event_slots: EVENT_SLOTS_MAX,
            trace_bytes: TRACE_BYTES_MAX,
        };
        assert!(shape.layout().is_ok());
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let of = |change: fn(&mut Shape)| {
            let mut shape = Shape::of_tasks(1);
            change(&mut shape);
            shape.layout().unwrap_err().to_string()
        };
        assert!(of(|shape| shape.task_count = 0).contains("0 tasks"));
        assert!(of(|shape| shape.task_count = 257).contains("257 tasks"));
        assert!(of(|shape| shape.data_bytes = 4097).contains("multiple of 4096"));
        assert!(of(|shape| shape.command_slots = 32).contains("64 at least"));
        assert!(of(|shape| shape.event_slots = 3).contains("power of two"));
        assert!(of(|shape| shape.input_bytes = u32::MAX).contains("4294967295 bytes of inputs"));
    }
}
