//! Shared memory is what its file is, and no two slots have an address in common.

use std::io::Write as _;
use std::sync::atomic::Ordering::Relaxed;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const PAGE: u64 = PAGE_BYTES;

fn pages(count: u64) -> ByteSize {
    ByteSize::new(count * PAGE)
}

#[test]
fn a_stretch_of_a_file_is_the_same_memory_as_the_file() {
    let whole = Shared::create("test", pages(4)).unwrap();
    let stretch = Shared::of_file(whole.file(), 2 * PAGE, PAGE).unwrap();
    whole.write(2 * PAGE + 8, &7_u64.to_le_bytes()).unwrap();
    assert_eq!(stretch.words()[1].load(Relaxed), 7);
    stretch.words()[511].store(9, Relaxed);
    let mut bytes = [0; 8];
    whole.read(3 * PAGE - 8, &mut bytes).unwrap();
    assert_eq!(u64::from_le_bytes(bytes), 9);
    assert_eq!((stretch.bytes(), stretch.words().len()), (PAGE, 512));
}

#[test]
fn what_is_outside_is_refused_and_nothing_is_written() {
    let shared = Shared::create("test", pages(1)).unwrap();
    for offset in [PAGE - 7, PAGE, u64::MAX - 3] {
        let refused = shared.write(offset, &[1; 8]).unwrap_err().to_string();
        assert!(refused.contains("not within shared memory of 4096 bytes"), "{refused}");
        assert!(shared.read(offset, &mut [0; 8]).is_err());
    }
    assert!(shared.words().iter().all(|word| word.load(Relaxed) == 0));
}

#[test]
fn a_file_that_is_not_sealed_or_too_short_is_refused() {
    let sealed = Shared::create("test", pages(2)).unwrap();
    let refused =
        |file: &File, offset, bytes| Shared::of_file(file, offset, bytes).unwrap_err().to_string();
    let file = sealed.file();
    assert!(refused(file, PAGE, 2 * PAGE).contains("has 8192 bytes, and 12288 are needed"));
    assert!(refused(file, 8, PAGE).contains("no whole pages"));
    assert!(refused(file, 0, 0).contains("no whole pages"));
    let mut ordinary = tempfile::tempfile().unwrap();
    ordinary.write_all(&[0; 4096]).unwrap();
    assert!(refused(&ordinary, 0, PAGE).contains("not sealed"));
}

#[test]
fn each_slot_has_addresses_of_its_own() {
    let mut slots = Slots::default();
    assert_eq!(slots.take("memory", 0, 16 << 20, Access::ReadWrite), Ok(0));
    assert_eq!(slots.take("code", 0x400_0000, PAGE, Access::ReadOnly), Ok(1));
    let refused = slots.take("exchange", 0x3FF_F000, 2 * PAGE, Access::ReadWrite).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`exchange` at 0x3fff000 overlaps `code`, which is at 0x4000000 to 0x4001000"
    );
    assert_eq!(slots.take("beside", 0x400_1000, PAGE, Access::ReadWrite), Ok(2));
    slots.undo();
    assert_eq!(slots.take("again", 0x400_1000, PAGE, Access::ReadWrite), Ok(2));
}

#[test]
fn a_place_that_is_none_is_refused() {
    let mut slots = Slots::default();
    let mut refused = |place, bytes| {
        slots.take("it", place, bytes, Access::ReadWrite).expect_err("refused").to_string()
    };
    for (place, bytes) in [(0x1001, PAGE), (PAGE, 100), (PAGE, 0)] {
        assert!(refused(place, bytes).contains("whole pages of 4 KiB"));
    }
    for (place, bytes) in [(SLOTS_END, PAGE), (SLOTS_END - PAGE, 2 * PAGE), (!0xFFF, PAGE)] {
        assert!(refused(place, bytes).contains("ends beyond 0xfec00000"));
    }
    for place in 0..SLOT_LIMIT as u64 {
        slots.take("it", place * PAGE, PAGE, Access::ReadWrite).unwrap();
    }
    let refused = slots.take("last", 1 << 30, PAGE, Access::ReadWrite).unwrap_err();
    assert_eq!(refused.to_string(), "`last` would be memory slot 32; a guest has fewer");
}

proptest! {
    #[test]
    fn no_two_slots_overlap(wanted in vec((any::<u64>(), any::<u64>(), 0..4_u32), 1..100)) {
        let mut slots = Slots::default();
        for (place, bytes, kind) in wanted {
            let (place, bytes) = match kind {
                0 => (place, bytes),
                1 => (place & !0xFFF, bytes & !0xFFF),
                _ => (place % 64 * PAGE, (bytes % 4) * PAGE),
            };
            let before = slots.all().to_vec();
            match slots.take("it", place, bytes, Access::ReadWrite) {
                Ok(number) => prop_assert_eq!(number as usize, before.len()),
                Err(_) => prop_assert_eq!(slots.all(), before),
            }
        }
        for (index, one) in slots.all().iter().enumerate() {
            prop_assert!(one.start < one.end && one.end <= SLOTS_END);
            for other in &slots.all()[..index] {
                prop_assert!(one.end <= other.start || other.end <= one.start);
            }
        }
    }
}
