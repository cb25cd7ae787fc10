//! The descriptor tables: segments, the task state with the stacks of exceptions, and the entries
//! of exceptions and interrupts.
// UNSAFETY: the processor reads these tables.
#![expect(unsafe_code, reason = "tables are loaded by instructions of their own")]

use core::arch::asm;
use core::cell::UnsafeCell;

use crate::{exceptions, interrupts};

/// The segment of the guest's code; the first one of the boot's table, too.
const CODE: u16 = 8;
/// The task state's place in the table.
const TASK: u16 = 24;
/// Present, at ring 0, an interrupt gate.
const GATE: u16 = 0x8E00;
/// The first of the stacks that the processor changes to.
const EXCEPTION_STACK: u16 = 1;
/// The second stack of the table.
const ENTRY_STACK: u16 = 2;
pub(crate) const STACK_BYTES: usize = 8192;
/// An entry copies ten words.
pub(crate) const ENTRY_STACK_BYTES: usize = 256;

/// A table that is filled once, before the processor looks at it.
#[repr(C, align(16))]
pub(crate) struct Once<T>(UnsafeCell<T>);

// SAFETY: written by the one processor before it is loaded, and then by nobody.
unsafe impl<T> Sync for Once<T> {}

impl<T> Once<T> {
    const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }
}

/// 64-bit task state (Intel SDM volume 3, figure 8-11), in words of 32 bits.
type TaskState = [u32; 26];
/// Null, code, data, and the task state in two words.
type Segments = [u64; 5];
/// 256 gates of two words.
type Gates = [[u64; 2]; 256];

static TASK_STATE: Once<TaskState> = Once::new([0; 26]);
static SEGMENTS: Once<Segments> =
    Once::new([0, 0x00AF_9A00_0000_FFFF, 0x00CF_9200_0000_FFFF, 0, 0]);
static GATES: Once<Gates> = Once::new([[0; 2]; 256]);
pub(crate) static EXCEPTION_STACK_PLACE: Once<[u8; STACK_BYTES]> = Once::new([0; STACK_BYTES]);
pub(crate) static ENTRY_STACK_PLACE: Once<[u8; ENTRY_STACK_BYTES]> =
    Once::new([0; ENTRY_STACK_BYTES]);

#[repr(C, packed)]
struct Pointer {
    limit: u16,
    base: u64,
}

fn pointer_to<T>(table: &'static Once<T>) -> Pointer {
    Pointer { limit: (size_of::<T>() - 1) as u16, base: address(table) }
}

fn address<T>(table: &'static Once<T>) -> u64 {
    table.0.get().expose_provenance() as u64
}

fn top_of<T>(stack: &'static Once<T>) -> u64 {
    address(stack) + size_of::<T>() as u64
}

/// Fills the tables and loads them.
///
/// # Safety
/// Called once, by the first processor, with interrupts off.
pub(crate) unsafe fn load() {
    let task = address(&TASK_STATE);
    // SAFETY: as our caller promises, nobody else uses the table.
    let state = unsafe { &mut *TASK_STATE.0.get() };
    // The stacks to change to begin with word 9; the last word says that there is no port map.
    for (index, top) in
        [top_of(&EXCEPTION_STACK_PLACE), top_of(&ENTRY_STACK_PLACE)].iter().enumerate()
    {
        state[9 + 2 * index] = *top as u32;
        state[10 + 2 * index] = (top >> 32) as u32;
    }
    state[25] = (size_of::<TaskState>() as u32) << 16;
    // SAFETY: as above.
    let segments = unsafe { &mut *SEGMENTS.0.get() };
    segments[3] = task_descriptor(task);
    segments[4] = task >> 32;
    // SAFETY: as above.
    let gates = unsafe { &mut *GATES.0.get() };
    for (vector, gate) in gates.iter_mut().enumerate() {
        *gate = if vector < interrupts::FIRST {
            gate_to(exceptions::entry(vector), EXCEPTION_STACK)
        } else {
            gate_to(interrupts::entry(vector), ENTRY_STACK)
        };
    }
    let (segments, gates) = (pointer_to(&SEGMENTS), pointer_to(&GATES));
    // SAFETY: the tables are complete, and live for ever. Code and data stay where they are in it.
    unsafe {
        asm!(
            "lgdt [{}]", "lidt [{}]", "ltr {2:x}",
            in(reg) &raw const segments, in(reg) &raw const gates, in(reg) TASK,
            options(nostack),
        );
    }
}

/// The lower word of the descriptor of a task state.
const fn task_descriptor(base: u64) -> u64 {
    let limit = (size_of::<TaskState>() - 1) as u64;
    limit | (base & 0xFF_FFFF) << 16 | 0x89 << 40 | (base >> 24 & 0xFF) << 56
}

/// A gate to an entry, on a stack of the task state.
const fn gate_to(entry: u64, stack: u16) -> [u64; 2] {
    let flags = (GATE | stack) as u64;
    let low = entry & 0xFFFF | (CODE as u64) << 16 | flags << 32 | (entry >> 16 & 0xFFFF) << 48;
    [low, entry >> 32]
}
