//! Commands: whole groups, checked before any of them is applied, and their outcomes.

use proptest::prelude::*;
use quietcore_exchange::{
    Assignment, COMMANDS_PER_CYCLE, Command, Limits, Outcome, PublishError, Target, WhyRejected,
};

use crate::hostile_bytes::take_commands;
use crate::memory::{Memory, SMALL};

const LIMITS: Limits = Limits { data_bytes: 4096, generation: 3 };
const BUDGET: usize = COMMANDS_PER_CYCLE;

fn set(offset: u32, value: u64) -> Command {
    Command::Set(Assignment { target: Target::whole(offset, 8), value })
}

#[test]
fn every_kind_of_command_arrives_as_it_was_given() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let mut host = region.command_producer().unwrap();
    let mut partition = memory.attach().unwrap().command_consumer().unwrap();
    let target = Target { offset: 4092, bytes: 4, mask: 0xf0 };
    let given = [
        set(4088, u64::MAX),
        Command::Force(Assignment { target, value: 0x50 }),
        Command::Unforce(target),
        Command::UnforceAll,
        Command::Swap { generation: 4 },
    ];
    let ticket = host.publish(&given, 3).unwrap();
    let group = partition.take(BUDGET, &LIMITS).unwrap();
    assert_eq!((group.ticket, group.commands), (ticket, Ok(given.as_slice())));
    assert_eq!(partition.take(BUDGET, &LIMITS), None);

    let outcomes = memory.view().unwrap().outcomes().unwrap();
    assert_eq!(outcomes.outcome(ticket), None);
    partition.answer(ticket, 77, Ok(()));
    assert_eq!(outcomes.outcome(ticket), Some(Outcome { cycle: 77, result: Ok(()) }));
    partition.answer(ticket + 256, 78, Err((9, WhyRejected::ForcesFull)));
    assert_eq!(outcomes.outcome(ticket), None, "256 groups later it is forgotten");
    let refused = Outcome { cycle: 78, result: Err((9, WhyRejected::ForcesFull)) };
    assert_eq!(outcomes.outcome(ticket + 256), Some(refused));
}

#[test]
fn one_command_that_cannot_be_applied_refuses_its_group() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let mut host = region.command_producer().unwrap();
    let mut partition = region.command_consumer().unwrap();
    let mut refused = |bad: Command, generation: u32| {
        host.publish(&[Command::UnforceAll, bad, Command::UnforceAll], generation).unwrap();
        partition.take(BUDGET, &LIMITS).unwrap().commands.unwrap_err()
    };
    let bad = |target| Command::Set(Assignment { target, value: 0 });
    assert_eq!(refused(set(4089, 0), 3), (1, WhyRejected::OutOfData));
    assert_eq!(refused(set(u32::MAX, 0), 3), (1, WhyRejected::OutOfData));
    assert_eq!(refused(bad(Target::whole(0, 3)), 3), (1, WhyRejected::BadSize));
    assert_eq!(refused(bad(Target::whole(0, 0)), 3), (1, WhyRejected::BadSize));
    let no_bits = Target { offset: 0, bytes: 1, mask: 0x100 };
    assert_eq!(refused(bad(no_bits), 3), (1, WhyRejected::NoBits));
    assert_eq!(refused(set(0, 0), 2), (1, WhyRejected::OtherGeneration));
    assert_eq!(partition.dropped(), 0);
}

#[test]
fn a_group_that_no_longer_fits_into_a_cycle_waits_for_the_next() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let mut host = region.command_producer().unwrap();
    let mut partition = region.command_consumer().unwrap();
    let first = host.publish(&[set(0, 1); 40], 3).unwrap();
    let second = host.publish(&[set(0, 2); 24], 3).unwrap();
    assert_eq!(host.publish(&[set(0, 3)], 3), Err(PublishError::Full));
    assert_eq!(partition.take(BUDGET, &LIMITS).unwrap().ticket, first);
    assert_eq!(partition.take(23, &LIMITS), None);
    assert_eq!(partition.take(24, &LIMITS).unwrap().ticket, second);
    assert_eq!(host.publish(&[set(0, 3); 64], 3), Ok(second + 1));
    assert_eq!(partition.take(BUDGET, &LIMITS).unwrap().commands.unwrap().len(), 64);
}

#[test]
fn what_no_cycle_could_apply_is_not_published() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let mut host = region.command_producer().unwrap();
    assert_eq!(host.publish(&[], 3), Err(PublishError::Empty));
    let too_large = host.publish(&[set(0, 0); BUDGET + 1], 3);
    assert_eq!(too_large, Err(PublishError::TooLarge { count: BUDGET + 1 }));
    assert_eq!(region.command_consumer().unwrap().take(BUDGET, &LIMITS), None);
}

/// Goal: neither a host nor a partition that is started again loses or repeats commands.
/// Method: replace each of them after half of the work.
#[test]
fn both_sides_may_be_replaced() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    assert_eq!(region.command_producer().unwrap().publish(&[set(0, 1)], 3), Ok(1));
    assert_eq!(region.command_producer().unwrap().publish(&[set(0, 2)], 3), Ok(2));
    let mut first = region.command_consumer().unwrap();
    assert_eq!(first.take(BUDGET, &LIMITS).unwrap().ticket, 1);
    let mut second = region.command_consumer().unwrap();
    assert_eq!(second.take(BUDGET, &LIMITS).unwrap().ticket, 2);
    assert_eq!(second.take(BUDGET, &LIMITS), None);
}

#[test]
fn a_ring_without_an_end_of_a_group_is_emptied_and_counted() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let mut partition = region.command_consumer().unwrap();
    let ring = SMALL.layout().unwrap().commands.offset + 4096;
    memory.poke(ring, &5_u64.to_le_bytes());
    let group = partition.take(BUDGET, &LIMITS).unwrap();
    assert_eq!(group.commands, Err((0, WhyRejected::BrokenGroup)));
    assert_eq!(partition.dropped(), 5);
    memory.poke(ring, &9_999_u64.to_le_bytes());
    assert_eq!(partition.take(BUDGET, &LIMITS), None);
    assert_eq!(partition.dropped(), 6);
    let mut host = region.command_producer().unwrap();
    let ticket = host.publish(&[set(0, 1)], 3).unwrap();
    assert_eq!(partition.take(BUDGET, &LIMITS).unwrap().ticket, ticket, "then it works again");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 512 }))]

    #[test]
    fn reasons_have_numbers(code in any::<u16>()) {
        let why = WhyRejected::from_code(code);
        prop_assert_eq!(why.code(), code);
        prop_assert!(!why.to_string().is_empty());
    }

    /// The fuzz target `command_ring`, with what proptest thinks of.
    #[test]
    fn whatever_stands_in_the_ring_is_taken_within_bounds(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        take_commands(&bytes);
    }

    /// The same with commands that are nearly right, so that more of them are taken.
    #[test]
    fn whatever_is_nearly_a_command_is_taken_within_bounds(
        heads in any::<[u8; 3]>(),
        entries in proptest::collection::vec(
            (0_u8..11, prop_oneof![Just(1_u8), Just(8), any::<u8>()], 0_u8..2, 4080_u32..4100),
            0..20,
        ),
    ) {
        let mut bytes = heads.to_vec();
        for (kind, size, flags, offset) in entries {
            bytes.extend([kind, size, flags, 0, 3, 0, 0, 0]);
            bytes.extend(u64::from(offset).to_le_bytes());
            bytes.extend([0xff; 16]);
        }
        take_commands(&bytes);
    }
}
