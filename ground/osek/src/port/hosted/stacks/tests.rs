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
        assert!(top - lowest >= bytes + frame_bytes() * 5, "{}", top - lowest);
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
fn an_address_in_a_guard_page_names_the_task() {
    let stacks = mapped(&[4096, 4096, 4096]);
    for task in 0..3 {
        let lowest = stacks.lowest(OWN + usize::from(task));
        assert_eq!(stacks.task_of_guard(lowest - 1), Some(task));
        assert_eq!(stacks.task_of_guard(lowest - 4096), Some(task));
        assert_eq!(stacks.task_of_guard(lowest), None);
        assert_eq!(stacks.task_of_guard(stacks.top(task).addr() - 1), None);
    }
    let of_idle = stacks.lowest(IDLE) - 1;
    assert_eq!(stacks.task_of_guard(of_idle), None);
    stacks.unmap();
    assert_eq!(stacks.task_of_guard(of_idle), None);
}

#[test]
fn stacks_beyond_all_limits_are_refused() {
    let stacks = Stacks::new();
    let huge = vec![u32::MAX; 255];
    assert_eq!(stacks.map(&huge.into_iter(), 1), Err(Refused::StacksTooLarge));
    assert_eq!(stacks.high_water(0), None);
}
