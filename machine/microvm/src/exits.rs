//! How often a processor left the guest, why, and for how long.
//!
//! One thread counts, any may read. What is read while it counts may be one exit apart between a
//! number and its time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Why a processor leaves its guest and this process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Reason {
    /// The guest wrote to a port.
    PortWrite,
    /// The guest read a port.
    PortRead,
    /// The guest wrote to an address that is no memory.
    AddressWrite,
    /// The guest read from one.
    AddressRead,
    /// The guest halted.
    Halt,
    /// A signal came for the thread.
    Signal,
    /// The guest ended itself: a triple fault, a reset.
    Shutdown,
    /// Anything else.
    Other,
}

/// All reasons, in their order.
pub const REASONS: [Reason; 8] = [
    Reason::PortWrite,
    Reason::PortRead,
    Reason::AddressWrite,
    Reason::AddressRead,
    Reason::Halt,
    Reason::Signal,
    Reason::Shutdown,
    Reason::Other,
];

impl Reason {
    /// What it is called in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PortWrite => "port write",
            Self::PortRead => "port read",
            Self::AddressWrite => "address write",
            Self::AddressRead => "address read",
            Self::Halt => "halt",
            Self::Signal => "signal",
            Self::Shutdown => "shutdown",
            Self::Other => "other",
        }
    }
}

/// Counters of exits.
#[derive(Debug, Default)]
pub struct Exits {
    rows: [Row; REASONS.len()],
}

#[derive(Debug, Default)]
struct Row {
    count: AtomicU64,
    time_ns: AtomicU64,
}

impl Exits {
    /// Counts one. Called by the processor's thread alone.
    pub(crate) fn count(&self, reason: Reason, time_ns: u64) {
        let row = &self.rows[reason as usize];
        // One writer: no need for a read-modify-write.
        row.count.store(row.count.load(Relaxed) + 1, Relaxed);
        row.time_ns.store(row.time_ns.load(Relaxed).saturating_add(time_ns), Relaxed);
    }

    /// How many there were for a reason, and the time spent out of the guest, in ns.
    pub fn of(&self, reason: Reason) -> (u64, u64) {
        let row = &self.rows[reason as usize];
        (row.count.load(Relaxed), row.time_ns.load(Relaxed))
    }

    /// How many there were.
    pub fn total(&self) -> u64 {
        REASONS.iter().map(|reason| self.of(*reason).0).sum()
    }
}
