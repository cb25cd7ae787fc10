//! The ledger of exits: how often a processor left its guest, why, when, and for how long.
//!
//! | part | what | who writes |
//! |---|---|---|
//! | rows | a count, a total and a longest time for each [`Reason`] | the processor's thread |
//! | ring | the last [`RECENT`] exits, dated by the guest's counter | the processor's thread |
//! | KVM's own | what KVM counts for the processor, when it was sampled last ([`statistics`]) | whoever samples |
//!
//! An exit that the ledger knows is one to this process. KVM answers most of them itself; those are
//! in its own count alone. The ledger lies in memory that others can map: they read it, they never
//! ask, and a spike in the guest is joined with the exits around it on the time stamp counter.
//!
//! One thread counts. Who reads meanwhile finds a number and its time one exit apart at most, and
//! each exit of the ring whole or not at all.

pub mod statistics;

mod layout;
mod ring;

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quietcore_units::ByteSize;

use crate::slot::{Shared, SharedError, SharedView};
use statistics::Sample;

pub use layout::LEDGER_BYTES;
pub use ring::{Exit, RECENT};

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
    /// The guest executed `hlt`.
    Halt,
    /// A signal came for the thread.
    Signal,
    /// The guest ended itself: a triple fault, a reset.
    Shutdown,
    /// It was told to stand still.
    Pause,
    /// Any reason without a row of its own.
    Other,
}

/// All reasons, in their order.
pub const REASONS: [Reason; 9] = [
    Reason::PortWrite,
    Reason::PortRead,
    Reason::AddressWrite,
    Reason::AddressRead,
    Reason::Halt,
    Reason::Signal,
    Reason::Shutdown,
    Reason::Pause,
    Reason::Other,
];

impl Reason {
    /// Returns its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PortWrite => "port write",
            Self::PortRead => "port read",
            Self::AddressWrite => "address write",
            Self::AddressRead => "address read",
            Self::Halt => "halt",
            Self::Signal => "signal",
            Self::Shutdown => "shutdown",
            Self::Pause => "pause",
            Self::Other => "other",
        }
    }
}

/// A ledger to be written.
#[derive(Debug)]
pub struct Exits {
    memory: Memory,
}

#[derive(Debug)]
enum Memory {
    Own(Box<[AtomicU64]>),
    Shared(Shared),
}

impl Default for Exits {
    /// A ledger that nobody else reads.
    fn default() -> Self {
        let words = (0..LEDGER_BYTES as usize / size_of::<u64>()).map(|_| AtomicU64::new(0));
        Self::begin(Memory::Own(words.collect()))
    }
}

impl Exits {
    /// A ledger in a memory file that others can map.
    ///
    /// # Errors
    /// [`SharedError`].
    pub fn create() -> Result<Self, SharedError> {
        let shared = Shared::create("quietcore-exits", ByteSize::new(LEDGER_BYTES))?;
        Ok(Self::begin(Memory::Shared(shared)))
    }

    /// A ledger in a memory file that another process made, which is begun anew.
    ///
    /// # Errors
    /// [`SharedError`].
    pub fn of_file(file: &File) -> Result<Self, SharedError> {
        Ok(Self::begin(Memory::Shared(Shared::of_file(file, 0, LEDGER_BYTES)?)))
    }

    fn begin(memory: Memory) -> Self {
        let ledger = Self { memory };
        ledger.words().iter().for_each(|word| word.store(0, Relaxed));
        layout::sign(ledger.words());
        ledger
    }

    /// The file that it is; `None` where nobody else reads it.
    pub fn file(&self) -> Option<&File> {
        match &self.memory {
            Memory::Own(_) => None,
            Memory::Shared(shared) => Some(shared.file()),
        }
    }

    /// Counts one exit, about `detail` (a port, an address), that began at this value of the
    /// guest's counter. Called by the processor's thread alone.
    pub(crate) fn count(&self, reason: Reason, detail: u64, begin: u64, time_ns: u64) {
        let words = self.words();
        let [count, total, longest] = layout::row(words, reason);
        // One writer: no need for a read-modify-write.
        count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
        total.store(total.load(Relaxed).saturating_add(time_ns), Relaxed);
        longest.store(longest.load(Relaxed).max(time_ns), Relaxed);
        ring::push(words, &Exit { reason, detail, begin, time_ns });
    }

    /// Says how often the guest's counter counts in a second, and how far it is ahead of the
    /// host's.
    pub(crate) fn date(&self, hertz: u64, ahead: i64) {
        layout::date(self.words(), hertz, ahead);
    }

    /// Lets readers have what KVM counted. One thread does so at a time.
    pub fn publish(&self, sample: &Sample) {
        layout::publish(self.words(), sample);
    }

    fn words(&self) -> &[AtomicU64] {
        match &self.memory {
            Memory::Own(words) => words,
            Memory::Shared(shared) => shared.words(),
        }
    }

    /// Returns the number of exits for a reason, and the time spent out of the guest, in ns.
    pub fn of(&self, reason: Reason) -> (u64, u64) {
        self.read().of(reason)
    }

    /// Returns the number of all exits.
    pub fn total(&self) -> u64 {
        self.read().total()
    }

    /// Returns a view of the ledger.
    pub fn read(&self) -> Ledger<'_> {
        Ledger { words: self.words() }
    }
}

/// A ledger of another process, mapped to be read.
#[derive(Debug)]
pub struct ExitsView {
    view: SharedView,
}

/// Why a file is no ledger.
#[derive(Debug, thiserror::Error)]
pub enum NoLedger {
    /// It can't be mapped.
    #[error(transparent)]
    Memory(#[from] SharedError),
    /// It is something else, or of another version.
    #[error("the file is no ledger of exits, or one of another version")]
    Foreign,
}

impl ExitsView {
    /// Maps the ledger of another process.
    ///
    /// # Errors
    /// [`NoLedger`].
    pub fn of_file(file: &File) -> Result<Self, NoLedger> {
        let view = SharedView::of_file(file, 0, LEDGER_BYTES)?;
        if layout::is_signed(view.words()) { Ok(Self { view }) } else { Err(NoLedger::Foreign) }
    }

    /// Returns a view of the ledger.
    pub fn read(&self) -> Ledger<'_> {
        Ledger { words: self.view.words() }
    }
}

/// The content of a ledger. All of it may be written meanwhile, by a process that is not trusted.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'a> {
    words: &'a [AtomicU64],
}

impl<'a> Ledger<'a> {
    /// The ledger in these words, of which there are enough; for what is not a memory file.
    pub fn of_words(words: &'a [AtomicU64]) -> Option<Self> {
        let is_long = words.len() as u64 * 8 >= LEDGER_BYTES;
        (is_long && layout::is_signed(words)).then_some(Self { words })
    }

    /// Returns the number of exits for a reason, and the time spent out of the guest, in ns.
    pub fn of(&self, reason: Reason) -> (u64, u64) {
        let [count, total, _] = layout::row(self.words, reason);
        (count.load(Relaxed), total.load(Relaxed))
    }

    /// The longest time out of the guest for a reason, in ns.
    pub fn longest_ns(&self, reason: Reason) -> u64 {
        layout::row(self.words, reason)[2].load(Relaxed)
    }

    /// Returns the number of all exits.
    pub fn total(&self) -> u64 {
        REASONS.iter().fold(0, |sum, reason| sum.wrapping_add(self.of(*reason).0))
    }

    /// Returns the frequency of the guest's counter in Hz; 0 as long as the guest has not run.
    pub fn hertz(&self) -> u64 {
        layout::hertz(self.words)
    }

    /// Returns the lead of the guest's counter over the host's, in counts.
    pub fn ahead(&self) -> i64 {
        layout::ahead(self.words)
    }

    /// The last exits, in the order in which they began; [`RECENT`] at most. One that is being
    /// written over is left out.
    pub fn recent(&self) -> Vec<Exit> {
        ring::recent(self.words)
    }

    /// Returns how many exits the ring has taken since the guest began.
    pub fn recorded(&self) -> u64 {
        ring::recorded(self.words)
    }

    /// Returns KVM's counts when they were sampled last; `None` if they never were, or are being
    /// written.
    pub fn sample(&self) -> Option<Sample> {
        layout::sample(self.words)
    }
}

#[cfg(test)]
mod tests;
