//! The data slots: variables of a program, read and written from outside.

use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use quietcore_exchange::{
    Active, Assignment, DATA_READ_TRIES, DataRange, FORCE_LIMIT, ForcesFull, Held, OutOfData,
    Recorder, Shape, Slot, Target, TornRead,
};
use quietcore_units::Nanos;

use crate::memory::{Memory, SMALL};

const BYTES: usize = SMALL.data_bytes as usize;

#[test]
fn a_value_is_read_as_it_was_written_at_any_place() {
    let memory = Memory::of_shape(&SMALL);
    let data = memory.initialise(&SMALL).unwrap().writable_data(Slot::A).unwrap();
    for bytes in [1_u8, 2, 4, 8] {
        for offset in [0_u32, 1, 3, 8, 4096 - u32::from(bytes)] {
            let value = 0x8877_6655_4433_2211 >> (64 - 8 * u32::from(bytes));
            data.write_value(offset, bytes, u64::MAX, value).unwrap();
            assert_eq!(data.read_value(offset, bytes), Ok(value), "{bytes} bytes at {offset}");
        }
    }
}

#[test]
fn only_the_bits_that_are_meant_change() {
    let memory = Memory::of_shape(&SMALL);
    let data = memory.initialise(&SMALL).unwrap().writable_data(Slot::A).unwrap();
    data.write_value(8, 4, u64::MAX, 0xffff_ffff).unwrap();
    data.write_value(8, 2, 0x0f0, 0).unwrap();
    assert_eq!(data.read_value(8, 4), Ok(0xffff_ff0f));
    assert_eq!(data.read_value(12, 4), Ok(0));
}

#[test]
fn what_is_not_in_the_slot_is_refused() {
    let memory = Memory::of_shape(&SMALL);
    let data = memory.initialise(&SMALL).unwrap().writable_data(Slot::B).unwrap();
    let refused = |offset, bytes| Err(OutOfData { offset, bytes, data_bytes: BYTES });
    assert_eq!(data.read_value(4089, 8), refused(4089, 8));
    assert_eq!(data.read_value(u32::MAX, 8), refused(u32::MAX, 8));
    assert_eq!(data.read_value(0, 3), refused(0, 3));
    assert_eq!(data.read_value(0, 0), refused(0, 0));
    assert!(data.write_value(4096, 1, 1, 1).is_err());
    assert!(data.read(4000, &mut [0; 97]).is_err());
    assert!(data.write(4000, &[0; 97]).is_err());
    assert!(data.copy_from(0, &data, 4000, 97).is_err());
}

#[test]
fn a_new_build_takes_over_a_variable() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let (old, new) =
        (region.writable_data(Slot::A).unwrap(), region.writable_data(Slot::B).unwrap());
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    old.write(13, &bytes).unwrap();
    new.copy_from(1001, &old, 13, 1000).unwrap();
    let mut copied = vec![0; 1000];
    new.read(1001, &mut copied).unwrap();
    assert_eq!(copied, bytes);
}

/// Goal: variables read together are of one instant between two cycles.
/// Method: a task writes two variables in each step, far apart, with the same value; a second
/// thread reads both while it runs.
#[test]
fn a_consistent_reading_is_of_one_cycle() {
    const READINGS: usize = if cfg!(miri) { 3 } else { 20_000 };
    const TRIES: usize = if cfg!(miri) { 100 } else { DATA_READ_TRIES };
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    region.set_active(Active { slot: Slot::B, generation: 4 });
    let data = region.writable_data(Slot::B).unwrap();
    let mut recorder = Recorder::new(region.task(0).unwrap(), Nanos::from_millis(1), 1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for value in 0.. {
                recorder.begin_scan(value);
                data.write_value(0, 8, u64::MAX, value).unwrap();
                data.write_value(4088, 8, u64::MAX, value).unwrap();
                recorder.end_scan();
                // Miri's threads change rarely; without this the reader would find no pause.
                if cfg!(miri) {
                    (0..20).for_each(|_| std::thread::yield_now());
                }
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let view = memory.view().unwrap();
        let ranges = [DataRange { offset: 4088, bytes: 8 }, DataRange { offset: 0, bytes: 8 }];
        let mut consistent = 0;
        while consistent < READINGS {
            let mut bytes = [0; 16];
            let reading = view.read_data(&ranges, &mut bytes, TRIES).unwrap();
            assert_eq!(reading.active, Active { slot: Slot::B, generation: 4 });
            if reading.consistent {
                assert_eq!(bytes[..8], bytes[8..]);
                consistent += 1;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_reading_in_the_middle_of_a_step_says_that_it_is_not_consistent() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    region.writable_data(Slot::A).unwrap().write(0, &[1, 2, 3]).unwrap();
    let mut recorder = Recorder::new(region.task(0).unwrap(), Nanos::from_millis(1), 1);
    recorder.begin_scan(7);
    let mut bytes = [0; 3];
    let ranges = [DataRange { offset: 0, bytes: 3 }];
    assert_eq!(region.try_read_data(&ranges, &mut bytes), Ok(None));
    assert!(!region.read_data(&ranges, &mut bytes, 3).unwrap().consistent);
    assert_eq!(bytes, [1, 2, 3]);
    recorder.end_scan();
    assert!(region.read_data(&ranges, &mut bytes, 3).unwrap().consistent);
    assert!(region.read_data(&ranges, &mut bytes[..2], 3).is_err());
    let none = Memory::of_shape(&Shape::of_tasks(1));
    let none = none.initialise(&Shape::of_tasks(1)).unwrap();
    assert!(none.read_data(&ranges, &mut bytes, 3).is_err());
}

fn force(offset: u32, mask: u64, value: u64) -> Assignment {
    Assignment { target: Target { offset, bytes: 2, mask }, value }
}

#[test]
fn a_forced_variable_is_held_until_it_is_released() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let data = region.writable_data(Slot::A).unwrap();
    let mut forces = region.force_table().unwrap();
    forces.force(force(10, u64::MAX, 0x1234), &data).unwrap();
    forces.force(force(12, 0x00f0, 0x0050), &data).unwrap();
    forces.force(force(12, 0x0003, 0x0001), &data).unwrap();
    data.write_value(10, 4, u64::MAX, 0xffff_ffff).unwrap();
    forces.apply(&data);
    assert_eq!(data.read_value(10, 2), Ok(0x1234));
    assert_eq!(data.read_value(12, 2), Ok(0xff5d));

    let mut seen = [Assignment::default(); 4];
    assert_eq!(region.forces().unwrap().read(&mut seen), Ok(2));
    assert_eq!(&seen[..2], forces.forces());
    assert_eq!(region.forces().unwrap().read(&mut seen[..1]), Ok(1));

    assert!(forces.release(&force(12, 0x0003, 0).target, &data));
    assert!(!forces.release(&force(12, 0x0003, 0).target, &data));
    assert!(forces.release(&Target::whole(10, 2), &data));
    assert!(!forces.release(&Target::whole(10, 2), &data));
    assert_eq!(forces.forces(), [force(12, 0x00f0, 0x0051)]);
    assert_eq!(forces.release_all(&data), 1);
    assert_eq!(region.forces().unwrap().read(&mut seen), Ok(0));
}

/// Goal: a release leaves what was there before the force, bit by bit. Method: some bits of a
/// variable are forced one after the other, others are set meanwhile.
#[test]
fn a_released_variable_has_the_value_before_the_force() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let data = region.writable_data(Slot::A).unwrap();
    data.write_value(10, 2, u64::MAX, 0xabcd).unwrap();
    data.write_value(12, 2, u64::MAX, 0x0700).unwrap();
    let mut forces = region.force_table().unwrap();
    forces.force(force(10, 0x00ff, 0x0011), &data).unwrap();
    forces.force(force(12, u64::MAX, 0x0001), &data).unwrap();
    forces.apply(&data);
    assert_eq!((data.read_value(10, 2), data.read_value(12, 2)), (Ok(0xab11), Ok(1)));
    forces.force(force(10, 0x0fff, 0x0222), &data).unwrap();
    forces.force(force(12, u64::MAX, 0x0002), &data).unwrap();
    forces.apply(&data);
    let mut held = [Held::default(); 4];
    assert_eq!(region.forces().unwrap().read_held(&mut held), Ok(2));
    assert_eq!((held[0].before & 0x0fff, held[1].before), (0x0bcd, 0x0700));
    assert_eq!(held[1].force, force(12, u64::MAX, 2));

    assert!(forces.release(&force(10, 0x000f, 0).target, &data));
    assert_eq!(data.read_value(10, 2), Ok(0xa22d), "the others are still held");
    forces.note_set(&force(12, u64::MAX, 0x0801));
    assert_eq!(forces.release_all(&data), 2);
    assert_eq!(data.read_value(10, 2), Ok(0xabcd));
    assert_eq!(data.read_value(12, 2), Ok(0x0801), "what was set meanwhile");
}

#[test]
fn there_is_a_limit_to_forces_and_no_torn_list() {
    let memory = Memory::of_shape(&SMALL);
    let region = memory.initialise(&SMALL).unwrap();
    let data = region.writable_data(Slot::A).unwrap();
    let mut forces = region.force_table().unwrap();
    let all = |count: usize| (0..count).map(|index| force(index as u32 * 2, u64::MAX, 1));
    assert!(forces.has_room(all(FORCE_LIMIT)) && !forces.has_room(all(FORCE_LIMIT + 1)));
    for wanted in all(FORCE_LIMIT) {
        forces.force(wanted, &data).unwrap();
    }
    assert_eq!(forces.force(force(4000, u64::MAX, 1), &data), Err(ForcesFull));
    let changed = forces.force(force(0, u64::MAX, 2), &data);
    assert_eq!(changed, Ok(()), "one that is forced can be changed");
    assert!(forces.has_room(all(FORCE_LIMIT)));
    // As if the partition had died while it published.
    memory.poke(SMALL.layout().unwrap().forces.offset, &[1]);
    let mut seen = [Assignment::default(); 1];
    assert_eq!(region.forces().unwrap().read(&mut seen), Err(TornRead));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    /// Goal: whole runs of bytes come back, and nothing beside them changes.
    /// Method: play writes and reads on the slot and on plain memory.
    #[test]
    fn it_is_memory(
        steps in proptest::collection::vec((0_u32..64, 0_usize..40, any::<u8>()), 1..40),
    ) {
        let memory = Memory::of_shape(&SMALL);
        let data = memory.initialise(&SMALL).unwrap().writable_data(Slot::A).unwrap();
        let mut model = vec![0; BYTES];
        for (offset, length, byte) in steps {
            let bytes: Vec<u8> = (0..length).map(|index| byte.wrapping_add(index as u8)).collect();
            data.write(offset, &bytes).unwrap();
            model[offset as usize..][..length].copy_from_slice(&bytes);
            let mut whole = vec![0; BYTES];
            data.read(0, &mut whole).unwrap();
            prop_assert_eq!(&whole, &model);
            let mut part = vec![0; length];
            data.read(offset, &mut part).unwrap();
            prop_assert_eq!(part, bytes);
        }
    }
}
