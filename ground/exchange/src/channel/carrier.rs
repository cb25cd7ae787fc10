//! Carriers, each of which takes what one entry of a channel carries on to another memory of it.
//!
//! A partition may be unable to have the memory that all others have. Then it has one of its own,
//! and somebody takes on what is sent, entry by entry:
//!
//! ```text
//! partition ─► its memory ── carriers ──► the channel ─► receivers
//! senders ─► the channel ── carriers ──► its memory ─► partition
//! ```
//!
//! A receiver gets numbers and instants as they were sent, and a queue holds no more than before.
//! Of values that change between two looks the last one arrives, as if the receiver had looked
//! then. Where the cells are is computed from the entries that the host made, and not read from
//! either memory.

use crate::channel::group::RECORD_WORDS_MAX;
use crate::channel::message::MESSAGE_HEADER_WORDS;
use crate::channel::region::Channel;
use crate::channel::shape::{Entry, Walk, message_words};
use crate::channel::signal::SIGNAL_WORDS;
use crate::primitive::latest::Latest;
use crate::primitive::queue::Copying;
use crate::primitive::words::WORD_BYTES;

const _: () = assert!(SIGNAL_WORDS <= RECORD_WORDS_MAX && MESSAGE_HEADER_WORDS > 0);

/// The side whose memory is new, and goes on where the other one stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    /// The memory in which the entry is sent.
    Sender,
    /// The memory in which it is received.
    Receiver,
}

/// Takes one entry on.
#[derive(Debug)]
pub struct Carrier<'map>(Cell<'map>);

#[derive(Debug)]
enum Cell<'map> {
    /// A signal or a group.
    Last {
        from: Latest<'map>,
        to: Latest<'map>,
        words: usize,
        /// Number of the record that was taken on last; `None` before the first.
        number: Option<u64>,
    },
    Queue(Copying<'map>),
}

impl<'map> Carrier<'map> {
    /// Begins to take entry `index` of `entries` from the memory in which it is sent to the one in
    /// which it is received; `None` for a member of a group, which comes with that, and where a
    /// memory does not hold the entries.
    pub fn new(
        [from, to]: [&Channel<'map>; 2],
        entries: &[Entry],
        index: usize,
        renewed: Renewed,
    ) -> Option<Self> {
        let mut walk = Walk::new(entries.len()).ok()?;
        let entry = entries.get(index)?;
        for before in &entries[..index] {
            walk.place(before).ok()?;
        }
        let first = walk.place(entry).ok()? / WORD_BYTES;
        let place = first..first.checked_add(entry.cell_words())?;
        let (from, to) = (from.words().get(place.clone())?, to.words().get(place)?);
        let words = match *entry {
            Entry::Signal { .. } => SIGNAL_WORDS,
            Entry::Group { members, .. } => 1 + usize::from(members),
            Entry::Member { .. } => return None,
            Entry::Queue { message_bytes, .. } => {
                let mut queue = Copying::new(from, to, message_words(message_bytes))?;
                match renewed {
                    Renewed::Sender => queue.begin_producer(),
                    Renewed::Receiver => queue.begin_consumer(),
                }
                return Some(Self(Cell::Queue(queue)));
            }
        };
        let (from, to) = (Latest::new(from, words)?, Latest::new(to, words)?);
        // What can't be read is nonsense, and left behind.
        let number = (renewed == Renewed::Sender).then(|| copy(&to, &from, words)).flatten();
        Some(Self(Cell::Last { from, to, words, number }))
    }

    /// Takes on what was sent since the last call, and gives back what was received. Returns
    /// whether anything was. Bounded, whatever either side wrote.
    pub fn carry(&mut self) -> bool {
        match &mut self.0 {
            Cell::Queue(queue) => queue.copy(),
            Cell::Last { from, number, .. } if *number == Some(from.number()) => false,
            Cell::Last { from, to, words, number } => match copy(from, to, *words) {
                // It is overtaken again and again, and the next look may find it at rest.
                None => false,
                copied => {
                    *number = copied;
                    true
                }
            },
        }
    }
}

/// Copies the newest record with its number, which is returned; `None` where the writer overtook.
fn copy(from: &Latest<'_>, to: &Latest<'_>, words: usize) -> Option<u64> {
    let mut record = [0; RECORD_WORDS_MAX];
    let record = record.get_mut(..words)?;
    let number = from.read(record).ok()?;
    to.write(number, record.iter().copied());
    Some(number)
}

#[cfg(test)]
mod tests;
