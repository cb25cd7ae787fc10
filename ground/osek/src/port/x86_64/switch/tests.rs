//! Contexts that take turns, on stacks of their own. Miri knows no assembly, so it runs none of
//! these.
// UNSAFETY: switches contexts, and looks at registers.
#![expect(unsafe_code, reason = "contexts are switched")]

mod processor;

use std::boxed::Box;
use std::vec;
use std::vec::Vec;

use super::*;
use processor::{ROUNDINGS, control_words, set_control_words, spoil, stack_pointer, with_values};

const STACK_BYTES: usize = 64 * 1024;

/// Two contexts: the test's own and one on `stack`.
struct Pair {
    stack: Vec<u128>,
    main: Context,
    other: Context,
    log: Vec<u32>,
}

impl Pair {
    fn new() -> Box<Self> {
        let stack = vec![0; STACK_BYTES / size_of::<u128>()];
        Box::new(Self { stack, main: Context::NONE, other: Context::NONE, log: Vec::new() })
    }

    fn top(&mut self) -> *mut u8 {
        self.stack.as_mut_ptr_range().end.cast()
    }
}

fn begin(pair: *mut Pair, start: Start, second: usize) {
    // SAFETY: the pair lives until the test ends.
    let top = unsafe { (*pair).top() };
    // SAFETY: the stack is the pair's own, and only `start` uses it.
    unsafe { save_and_begin(&raw mut (*pair).main, top, start, pair.expose_provenance(), second) };
}

fn log(pair: *mut Pair, entry: u32) {
    // SAFETY: as in `begin`; one context runs at a time.
    unsafe { (*pair).log.push(entry) };
}

fn back(pair: *mut Pair) {
    // SAFETY: main was left by `begin` or `resume`.
    unsafe { save_and_resume(&raw mut (*pair).other, (*pair).main) };
}

fn resume(pair: *mut Pair) {
    // SAFETY: the other one was left by `back`.
    unsafe { save_and_resume(&raw mut (*pair).main, (*pair).other) };
}

fn pair_of(first: usize) -> *mut Pair {
    core::ptr::with_exposed_provenance_mut(first)
}

extern "C" fn take_turns(first: usize, second: usize) -> ! {
    let pair = pair_of(first);
    log(pair, u32::try_from(second).unwrap());
    back(pair);
    log(pair, 3);
    // SAFETY: main was left by `resume`.
    unsafe { drop_and_resume((*pair).main) }
}

#[test]
fn contexts_take_turns_and_keep_their_place() {
    let pair = Box::into_raw(Pair::new());
    begin(pair, take_turns, 1);
    log(pair, 2);
    resume(pair);
    log(pair, 4);
    // A stack that was left for good serves again.
    begin(pair, take_turns, 5);
    resume(pair);
    // SAFETY: made by `into_raw` above.
    let pair = unsafe { Box::from_raw(pair) };
    assert_eq!(pair.log, [1, 2, 3, 4, 5, 3]);
}

extern "C" fn chain(first: usize, second: usize) -> ! {
    let pair = pair_of(first);
    log(pair, u32::try_from(second).unwrap());
    if second == 0 {
        // SAFETY: main was left by `begin`.
        unsafe { drop_and_resume((*pair).main) }
    }
    // SAFETY: the pair lives until the test ends.
    let top = unsafe { (*pair).top() };
    // SAFETY: nothing of this stack is used any more.
    unsafe { drop_and_begin(top, chain, first, second - 1) }
}

#[test]
fn a_context_begins_again_on_its_own_stack() {
    let pair = Box::into_raw(Pair::new());
    begin(pair, chain, 3);
    // SAFETY: made by `into_raw` above.
    let pair = unsafe { Box::from_raw(pair) };
    assert_eq!(pair.log, [3, 2, 1, 0]);
}

extern "C" fn change_rounding(first: usize, _: usize) -> ! {
    let pair = pair_of(first);
    let (mxcsr, word) = control_words();
    log(pair, mxcsr);
    log(pair, u32::from(word));
    set_control_words(ROUNDINGS[2]);
    back(pair);
    let (mxcsr, word) = control_words();
    log(pair, mxcsr);
    log(pair, u32::from(word));
    // SAFETY: main was left by `resume`.
    unsafe { drop_and_resume((*pair).main) }
}

#[test]
fn each_context_has_its_own_rounding() {
    let before = control_words();
    set_control_words(ROUNDINGS[1]);
    let pair = Box::into_raw(Pair::new());
    begin(pair, change_rounding, 0);
    let first = control_words();
    resume(pair);
    let second = control_words();
    set_control_words(before);
    // SAFETY: made by `into_raw` above.
    let pair = unsafe { Box::from_raw(pair) };
    assert_eq!([first, second], [ROUNDINGS[1]; 2], "those of this context");
    let expected = [ROUNDINGS[0], ROUNDINGS[2]].map(|(first, second)| [first, u32::from(second)]);
    assert_eq!(pair.log, expected.concat(), "a new one's, then its own");
}

extern "C" fn spoil_registers(first: usize, _: usize) -> ! {
    let pair = pair_of(first);
    for _ in 0..2 {
        spoil();
        back(pair);
    }
    // SAFETY: main was left by `resume`.
    unsafe { drop_and_resume((*pair).main) }
}

#[test]
fn registers_that_a_callee_preserves_are_preserved() {
    let pair = Box::into_raw(Pair::new());
    begin(pair, spoil_registers, 0);
    let mut values = [11_u64, 12, 13, 14, 15, 16];
    // SAFETY: the pair lives until the test ends; the other one was left by `back`.
    unsafe { with_values(&mut values, &raw mut (*pair).main, (*pair).other) };
    resume(pair);
    // SAFETY: made by `into_raw` above.
    drop(unsafe { Box::from_raw(pair) });
    assert_eq!(values, [11, 12, 13, 14, 15, 16]);
}

#[test]
fn a_stack_is_aligned_as_the_abi_demands() {
    extern "C" fn note_alignment(first: usize, _: usize) -> ! {
        let pair = pair_of(first);
        // A place that must be aligned, used by instructions that fault where it is not.
        let place = core::hint::black_box(0_u128);
        log(pair, u32::from((&raw const place).is_aligned()));
        log(pair, u32::try_from(stack_pointer() % 16).unwrap());
        // SAFETY: main was left by `begin`.
        unsafe { drop_and_resume((*pair).main) }
    }
    let pair = Box::into_raw(Pair::new());
    begin(pair, note_alignment, 0);
    // SAFETY: made by `into_raw` above.
    let pair = unsafe { Box::from_raw(pair) };
    assert_eq!(pair.log, [1, 0]);
}
