//! Making an exchange, and attaching to one that another party made.

use proptest::prelude::*;
use quietcore_exchange::{Active, AttachError, Layout, Section, Shape, ShapeError, Slot};

use crate::memory::{Memory, SMALL};

const ONE: Shape = Shape::of_tasks(1);

#[test]
fn a_stop_request_reaches_the_partition() {
    let memory = Memory::of_shape(&ONE);
    let host = memory.initialise(&ONE).unwrap();
    let partition = memory.attach().unwrap();
    assert!(!partition.stop_requested());
    host.request_stop();
    assert!(partition.stop_requested());
    assert!(memory.view().unwrap().stop_requested());
}

#[test]
fn a_pause_is_asked_for_told_and_ended_beside_a_stop() {
    let memory = Memory::of_shape(&ONE);
    let host = memory.initialise(&ONE).unwrap();
    let partition = memory.attach().unwrap();
    let wishes = || (partition.pause_requested(), partition.stop_requested());
    assert_eq!(wishes(), (false, false));
    host.request_pause(true);
    assert_eq!(wishes(), (true, false));
    assert!(!host.is_paused(), "it has not been heard yet");
    partition.set_paused(true);
    assert!(host.is_paused());
    host.request_stop();
    assert_eq!(wishes(), (true, true));
    host.request_pause(false);
    assert_eq!(wishes(), (false, true), "the stop is still wished for");
}

#[test]
fn a_pause_for_another_partitions_sake_ends_no_other_pause() {
    let memory = Memory::of_shape(&ONE);
    let host = memory.initialise(&ONE).unwrap();
    let partition = memory.attach().unwrap();
    host.request_hold(true);
    assert!(partition.pause_requested());
    host.request_pause(true);
    host.request_hold(false);
    assert!(partition.pause_requested(), "the other wish is left");
    host.request_hold(true);
    host.request_pause(false);
    assert!(partition.pause_requested(), "this wish is left");
    host.request_hold(false);
    assert!(!partition.pause_requested());
    assert_eq!(partition.stopped_ns(), 0);
    host.add_stopped(7);
    host.add_stopped(5);
    assert_eq!(partition.stopped_ns(), 12);
}

#[test]
fn whoever_attaches_finds_the_shape_that_was_asked_for() {
    let memory = Memory::of_shape(&SMALL);
    memory.initialise(&SMALL).unwrap();
    assert_eq!(memory.attach().unwrap().layout().shape, SMALL);
    assert_eq!(memory.view().unwrap().layout(), &SMALL.layout().unwrap());
}

#[test]
fn parts_that_the_shape_leaves_out_are_not_there() {
    let memory = Memory::of_shape(&ONE);
    let region = memory.initialise(&ONE).unwrap();
    assert!(region.inputs().is_none() && region.outputs().is_none());
    assert!(region.input_writer().is_none() && region.output_writer().is_none());
    assert!(region.data(Slot::A).is_none() && region.writable_data(Slot::B).is_none());
    assert!(region.command_producer().is_none() && region.command_consumer().is_none());
    assert!(region.outcomes().is_none());
    assert!(region.events(0).is_none() && region.event_writer(0).is_none());
    assert!(region.trace(0).is_none() && region.trace_writer(0).is_none());
    assert!(region.trace_requester(0).is_none());
    assert!(region.forces().is_none() && region.force_table().is_none());
    assert!(region.retain().is_none() && region.retain_writer().is_none());
    assert!(region.task(1).is_none());
}

#[test]
fn the_active_slot_and_its_build_are_one() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    assert_eq!(region.active(), Active { slot: Slot::A, generation: 0 });
    for active in
        [Active { slot: Slot::B, generation: u32::MAX }, Active { slot: Slot::A, generation: 7 }]
    {
        region.set_active(active);
        assert_eq!(memory.view().unwrap().active(), active);
    }
}

#[test]
fn a_build_in_fault_is_named_until_there_is_none() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    assert_eq!(region.fault(), None);
    region.set_fault(u32::MAX);
    assert_eq!(memory.view().unwrap().fault(), Some(u32::MAX));
    region.set_fault(0);
    assert_eq!(memory.view().unwrap().fault(), None);
}

#[test]
fn what_is_no_exchange_of_ours_is_refused_with_both_sides_named() {
    let memory = Memory::of_shape(&ONE);
    assert_eq!(memory.attach().err(), Some(AttachError::NoExchange { found: 0 }));
    let none = memory.initialise(&Shape::of_tasks(0));
    assert_eq!(none.err(), Some(AttachError::Shape(ShapeError::NoTask)));
    assert!(matches!(memory.initialise(&Shape::of_tasks(2)), Err(AttachError::TooSmall { .. })));

    let refused = |offset: usize, bytes: &[u8]| {
        memory.initialise(&ONE).unwrap();
        memory.poke(offset, bytes);
        let error = memory.attach().err().unwrap();
        assert_eq!(memory.view().err(), Some(error));
        error.to_string()
    };
    assert!(refused(8, &9_u32.to_le_bytes()).contains("version 9, this program version 5"));
    assert!(refused(12, &257_u32.to_le_bytes()).contains("257 tasks"));
    assert!(refused(12, &2_u32.to_le_bytes()).contains("but its contents need"));
    assert!(refused(16, &7_u64.to_le_bytes()).contains("layout 0x0000000000000007"));
    assert!(refused(24, &99_u64.to_le_bytes()).contains("says it has 99 bytes"));
    assert!(refused(44, &4097_u32.to_le_bytes()).contains("multiple of 4096"));
    assert!(refused(52, &1_u32.to_le_bytes()).contains("use 64 at least"));
}

#[test]
fn memory_that_ends_before_its_contents_is_refused() {
    let whole = Memory::of_shape(&SMALL);
    whole.initialise(&SMALL).unwrap();
    let bytes = SMALL.layout().unwrap().bytes;
    let short = Memory::new(bytes - 4096);
    assert!(short.initialise(&SMALL).is_err());
    // The header of the whole one, in front of less.
    short.initialise(&ONE).unwrap();
    short.poke(24, &(bytes as u64).to_le_bytes());
    for (place, word) in (0..).zip([20_u32, 12, 4096, 24, 64, 4, 400]) {
        short.poke(36 + place * 4, &word.to_le_bytes());
    }
    let refused = AttachError::TooSmall { is: bytes - 4096, needed: bytes };
    assert_eq!(short.attach().err(), Some(refused));
    assert_eq!(
        Memory::new(64).attach().err(),
        Some(AttachError::TooSmall { is: 64, needed: 4096 })
    );
}

/// Goal: the offsets are those that other programs were told.
/// Method: the table below was written by hand from the documentation. Whoever changes it raises
/// the version of the layout.
#[test]
fn the_parts_lie_where_they_were_agreed_to_lie() {
    const TASK: usize = 913_408;
    let page = |index: usize, bytes: usize| Section { offset: 4096 + TASK + index * 4096, bytes };
    let expected = Layout {
        shape: SMALL,
        tasks: Section { offset: 4096, bytes: TASK },
        control: page(0, 64),
        inputs: page(1, 64 + 24),
        outputs: page(2, 64 + 16),
        data_a: page(3, 4096),
        data_b: page(4, 4096),
        commands: page(5, 4096 + 512 + 64 * 32),
        events: page(7, 2 * 4096),
        traces: page(9, 4096),
        forces: page(10, 64 + 256 * 32),
        retain: page(13, 2 * 4096),
        bytes: 4096 + TASK + 15 * 4096,
    };
    assert_eq!(SMALL.layout().unwrap(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 32 }))]

    /// Whatever stands in the header, attaching either refuses or stays inside the memory.
    #[test]
    fn a_hostile_header_cannot_lead_outside(
        bytes in proptest::collection::vec(any::<u8>(), 64),
        kept in 0_usize..64,
    ) {
        let memory = Memory::of_shape(&ONE);
        memory.initialise(&ONE).unwrap();
        memory.poke(kept, &bytes[kept..]);
        if let Ok(region) = memory.attach() {
            prop_assert_eq!(region.layout().bytes, ONE.layout().unwrap().bytes);
            prop_assert!(region.task(region.task_count()).is_none());
        }
    }
}
