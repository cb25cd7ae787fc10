//! Memory of the stacks of an application: one rule for the hosted port, which maps them, and for
//! tools that refuse what it could not map.
//!
//! A task's stack has the bytes of its configuration, and a reserve for what comes from outside:
//! frames of signals, which hold all vector registers, and the ISRs, which run on the stack of what
//! they interrupt. Below each stack lies a guard: addresses without memory, which count all the
//! same.

/// Most bytes of all stacks together, in bytes: they are all written at the start.
pub const STACKS_BYTES_MAX: usize = 1 << 30;
/// Stacks beside those of tasks: of the idle context, and for faults.
pub const OWN_STACKS: usize = 2;
/// The same in a program for a guest, which handles its faults itself.
pub const OWN_STACKS_OF_GUEST: usize = 1;
/// Bytes of each of these.
pub const OWN_BYTES: usize = 64 * 1024;

/// Bytes that a function called by the kernel on a task's stack may use for each interrupt level:
/// the ISR itself.
const ISR_BYTES: usize = 4096;
/// The part of the kernel and of the signal handler in one interrupt, in bytes; without
/// optimisation it is about half of this.
const KERNEL_BYTES: usize = 4096;
/// Bytes that a service may use, hooks and a loader's functions included.
const SERVICE_BYTES: usize = 8192;
/// Fewest bytes of a guard, so that a function with a large frame does not jump over it.
const GUARD_BYTES_MIN: usize = 64 * 1024;

/// The machine that stacks are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The bytes of the largest frame of a signal.
    pub frame_bytes: usize,
    /// The bytes of a page.
    pub page_bytes: usize,
}

impl Machine {
    /// A machine that is not known: pages of 4 KiB and frames of 8 KiB.
    pub const USUAL: Self = Self { frame_bytes: 8192, page_bytes: 4096 };

    /// Bytes that are added to a task's stack for interrupts of `levels` levels. Four more frames
    /// are for signals that only note that they came: tick, timer, doorbell and one source at once,
    /// while the thread was away.
    pub const fn reserve_bytes(self, levels: usize) -> usize {
        SERVICE_BYTES + (levels + 4) * (self.frame_bytes + KERNEL_BYTES) + levels * ISR_BYTES
    }

    /// Bytes of the guard below each stack: at least as much as a signal's frame.
    pub const fn guard_bytes(self) -> usize {
        let most =
            if self.frame_bytes > GUARD_BYTES_MIN { self.frame_bytes } else { GUARD_BYTES_MIN };
        most.next_multiple_of(self.page_bytes)
    }

    /// Bytes of memory for a stack of `bytes` bytes, with its reserve and its guard.
    pub const fn stack_bytes(self, bytes: usize, levels: usize) -> usize {
        (bytes + self.reserve_bytes(levels)).next_multiple_of(self.page_bytes) + self.guard_bytes()
    }
}

/// The memory that the stacks of a program for a guest take, whose tasks have stacks of these bytes
/// and whose interrupts have so many levels, in bytes.
pub fn bytes_in_guest(tasks: impl Iterator<Item = usize>, levels: usize) -> usize {
    let own = [OWN_BYTES; OWN_STACKS_OF_GUEST].into_iter();
    own.chain(tasks).map(|bytes| Machine::USUAL.stack_bytes(bytes, levels)).sum()
}

/// Counts the different levels of interrupts: those of ISRs, and that of the kernel's own tick,
/// which is 1.
pub fn levels(isrs: impl Iterator<Item = u8>) -> usize {
    isrs.fold(1_u64 << 1, |levels, level| levels | 1 << level).count_ones() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_takes_its_own_bytes_the_reserve_and_a_guard() {
        let machine = Machine { frame_bytes: 4096, page_bytes: 4096 };
        // Two levels and four more frames of two pages each, two ISRs, and what services take.
        assert_eq!(machine.reserve_bytes(2), (6 * 2 + 2 + 2) * 4096);
        assert_eq!(machine.stack_bytes(4097, 2), (2 + 16 + 16) * 4096);
        let wide = Machine { frame_bytes: 65_537, ..machine };
        assert_eq!(wide.guard_bytes(), 17 * 4096);
    }

    #[test]
    fn a_guest_has_stacks_of_its_tasks_and_one_of_its_own() {
        let one = Machine::USUAL.stack_bytes(OWN_BYTES, 1);
        let task = Machine::USUAL.stack_bytes(8192, 1);
        assert_eq!(bytes_in_guest([8192, 8192].into_iter(), 1), one + 2 * task);
    }

    #[test]
    fn levels_are_counted_once_and_with_that_of_the_tick() {
        assert_eq!(levels([].into_iter()), 1);
        assert_eq!(levels([1, 7, 7, 62].into_iter()), 3);
    }
}
