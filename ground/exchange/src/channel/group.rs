//! A group: signals that change together.
//!
//! Each side has a shadow buffer of its own. The sender fills it value by value and sends all of
//! them at once; the receiver takes all of them at once and looks at them value by value. What it
//! looks at is always of one sending.

use quietcore_units::Nanos;

use crate::channel::signal::Received;
use crate::primitive::latest::Latest;
use crate::primitive::sequence::TornRead;
use crate::sync::AtomicU64;

/// The most members of a group.
pub const GROUP_MEMBERS_MAX: usize = 64;

/// Words of the largest record: the instant and the members.
pub(super) const RECORD_WORDS_MAX: usize = 1 + GROUP_MEMBERS_MAX;

/// Sends a group. There must be one, not more.
#[derive(Debug)]
pub struct GroupWriter<'map> {
    cell: Latest<'map>,
    count: u64,
    members: usize,
    shadow: [u64; GROUP_MEMBERS_MAX],
}

impl<'map> GroupWriter<'map> {
    /// Takes over a cell and goes on with its values and its count; `None` when `words` don't hold
    /// one.
    pub fn resume(words: &'map [AtomicU64], members: u16) -> Option<Self> {
        let members = usize::from(members);
        if members > GROUP_MEMBERS_MAX {
            return None;
        }
        let cell = Latest::new(words, 1 + members)?;
        let mut record = [0; RECORD_WORDS_MAX];
        let count = cell.read(&mut record).unwrap_or(0);
        let [_, shadow @ ..] = record;
        Some(Self { cell, count, members, shadow })
    }

    /// Puts a member's value into the shadow buffer; one that is no member is left out.
    #[inline]
    pub fn set(&mut self, member: u16, value: u64) {
        if let Some(place) = self.shadow[..self.members].get_mut(usize::from(member)) {
            *place = value;
        }
    }

    /// Sends all members as they are in the shadow buffer. Never waits.
    #[inline]
    pub fn send(&mut self, now: Nanos) {
        self.count = self.count.wrapping_add(1);
        self.write(self.count, now);
    }

    fn write(&self, count: u64, now: Nanos) {
        let values = self.shadow[..self.members].iter().copied();
        self.cell.write(count, core::iter::once(now.get()).chain(values));
    }

    /// Gives the members the values of the shadow buffer before the first sending. For the host,
    /// when the channel is made.
    pub(super) fn set_initial(&self) {
        self.write(0, Nanos::ZERO);
    }
}

/// Receives a group, with an update bit of its own.
#[derive(Clone, Debug)]
pub struct GroupReader<'map> {
    cell: Latest<'map>,
    members: usize,
    seen: u64,
    shadow: [u64; GROUP_MEMBERS_MAX],
}

impl<'map> GroupReader<'map> {
    /// A receiver of a cell, with the initial values in its shadow buffer; `None` when `words`
    /// don't hold one.
    pub fn new(words: &'map [AtomicU64], members: u16) -> Option<Self> {
        let members = usize::from(members);
        if members > GROUP_MEMBERS_MAX {
            return None;
        }
        let cell = Latest::new(words, 1 + members)?;
        Some(Self { cell, members, seen: 0, shadow: [0; GROUP_MEMBERS_MAX] })
    }

    /// Takes all members into the shadow buffer, and clears the update bit. The result's value is
    /// the number of members.
    ///
    /// # Errors
    /// [`TornRead`] when the sender overtook at every try; the shadow buffer keeps what it had.
    #[inline]
    pub fn receive(&mut self) -> Result<Received, TornRead> {
        let mut record = [0; RECORD_WORDS_MAX];
        let count = self.cell.read(&mut record)?;
        let [sent, shadow @ ..] = record;
        self.shadow = shadow;
        let updated = count != self.seen;
        self.seen = count;
        Ok(Received { value: self.members as u64, count, sent: Nanos::new(sent), updated })
    }

    /// The same receiver with its update bit set again and its shadow buffer as it is: as one that
    /// has the initial values before it receives for the first time.
    #[must_use]
    pub fn unseen(self) -> Self {
        Self { seen: 0, ..self }
    }

    /// A member's value in the shadow buffer; `None` when there is no such member.
    #[inline]
    pub fn get(&self, member: u16) -> Option<u64> {
        self.shadow[..self.members].get(usize::from(member)).copied()
    }
}
