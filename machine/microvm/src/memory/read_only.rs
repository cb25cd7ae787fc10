//! Which addresses the guest may only read: looked at by its processors, added to by the machine.
//!
//! KVM tells a write to such memory as one to a device. Looking an address up takes no lock.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::slot::SLOT_LIMIT;

/// The addresses that the guest may only read.
#[derive(Debug, Default)]
pub(crate) struct ReadOnly {
    count: AtomicUsize,
    ranges: [(AtomicU64, AtomicU64); SLOT_LIMIT],
}

impl ReadOnly {
    /// Adds the addresses from `start` to before `end`. One thread does so at a time.
    pub(crate) fn add(&self, start: u64, end: u64) {
        let count = self.count.load(Ordering::Relaxed);
        assert!(count < SLOT_LIMIT, "there are no more slots than that");
        let (first, behind) = &self.ranges[count];
        first.store(start, Ordering::Relaxed);
        behind.store(end, Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Release);
    }

    /// Returns `true` if an address is one of them.
    pub(crate) fn contains(&self, address: u64) -> bool {
        let count = self.count.load(Ordering::Acquire);
        self.ranges[..count].iter().any(|(start, end)| {
            (start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)).contains(&address)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_only_from_its_first_byte_to_its_last() {
        let read_only = ReadOnly::default();
        assert!(!read_only.contains(0));
        read_only.add(0x1000, 0x3000);
        read_only.add(0x8000, 0x9000);
        let found =
            [0xFFF, 0x1000, 0x2FFF, 0x3000, 0x8000, 0x9000].map(|it| read_only.contains(it));
        assert_eq!(found, [false, true, true, false, true, false]);
    }
}
