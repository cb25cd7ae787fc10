//! Stacks of a few tasks.
// UNSAFETY: writes to them.
#![expect(unsafe_code, reason = "stacks are written to")]

use std::vec;

use super::*;

fn mapped(bytes: &[u32]) -> Stacks {
    let stacks = Stacks::new();
    stacks.map(&bytes.iter().copied(), 1).unwrap();
    stacks
}

#[test]
fn a_stack_holds_what_was_asked_for_and_its_reserve() {
    let stacks = mapped(&[100, 70_000]);
    for (task, bytes) in [(0, 100), (1, 70_000)] {
        let top = stacks.top(task).addr();
        let lowest = stacks.lowest(OWN + usize::from(task));
        assert!(top.is_multiple_of(16));
        assert!(
            top - lowest >= bytes + surroundings::machine().frame_bytes * 5,
            "{}",
            top - lowest
        );
    }
    stacks.unmap();
}

#[test]
fn the_high_water_mark_is_the_deepest_word_written() {
    let stacks = mapped(&[4096]);
    assert_eq!(stacks.high_water(0), Some(0));
    // SAFETY: 100 words below the top of a stack of 512 at least.
    unsafe { stacks.top(0).cast::<u64>().sub(100).write(1) };
    assert_eq!(stacks.high_water(0), Some(800));
    assert_eq!(stacks.high_water(1), None);
    stacks.unmap();
}

#[test]
fn a_write_to_the_last_word_is_seen() {
    let stacks = mapped(&[4096, 4096]);
    assert!(stacks.is_intact(0));
    let last: *mut u64 = ptr::with_exposed_provenance_mut(stacks.lowest(OWN));
    // SAFETY: the lowest word of a mapped stack.
    unsafe { last.write(0) };
    assert!(!stacks.is_intact(0));
    assert!(stacks.is_intact(1));
    stacks.unmap();
}

#[test]
fn the_end_of_a_stack_is_its_guard_and_what_is_too_small_for_a_signal() {
    let stacks = mapped(&[4096, 4096, 4096]);
    for task in 0..3 {
        let lowest = stacks.lowest(OWN + usize::from(task));
        let is_end = |address| {
            (0..4).filter(|task| stacks.is_end_of(*task, address)).collect::<vec::Vec<u8>>()
        };
        let (its_own, nobodys) = (vec![task], vec::Vec::<u8>::new());
        assert_eq!(is_end(lowest - 1), its_own);
        assert_eq!(is_end(lowest - stacks.guard.load(Relaxed)), its_own);
        assert_eq!(is_end(lowest + surroundings::machine().frame_bytes), its_own);
        assert_eq!(is_end(lowest + surroundings::machine().frame_bytes + FRAME_GAP_BYTES), nobodys);
        assert_eq!(is_end(stacks.top(task).addr() - 1), nobodys);
    }
    assert!(!stacks.is_end_of(3, stacks.top(2).addr()), "there is no task 3");
    let of_first = stacks.lowest(OWN) - 1;
    stacks.unmap();
    assert!(!stacks.is_end_of(0, of_first), "nothing is mapped");
}

#[test]
fn an_address_is_inside_or_not() {
    let stacks = mapped(&[4096]);
    let (inside, here) = (stacks.top(0).addr() - 1, (&raw const stacks).addr());
    assert_eq!(
        [inside, inside + 1, here, 0].map(|at| stacks.contain(at)),
        [true, false, false, false]
    );
    stacks.unmap();
    assert!(!stacks.contain(inside) && !stacks.contain(0));
}

#[test]
fn stacks_beyond_all_limits_are_refused() {
    let stacks = Stacks::new();
    let huge = vec![u32::MAX; 255];
    assert_eq!(stacks.map(&huge.into_iter(), 1), Err(Refused::StacksTooLarge));
    assert_eq!(stacks.high_water(0), None);
}
