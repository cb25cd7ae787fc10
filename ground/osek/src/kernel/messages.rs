//! Messages that have come, and whose notification is still owed (OSEK COM 3.0.3, 2.5).
//!
//! ```text
//! look: the count changed ──► new ──► done ──► nothing is owed
//!                                └──► refused: told once, and owed
//! look: the same count, owed ────────► done, or refused again: owed, and not told again
//! ```
//!
//! A message is known by a count that changes with each sending. It is compared for equality alone,
//! so that whatever another side writes there leads to one notification a look at most. Several
//! sendings between two looks are one notification. One that is refused, as the activation of a
//! task that has all its activations, stays owed: a value that came meanwhile is never missed.

use super::Kernel;
use crate::configuration::MESSAGES_MAX;

/// The kernel's knowledge of its messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageStates {
    /// The count of each at the last look.
    seen: [u64; MESSAGES_MAX],
    /// Those whose notification could not be done yet, a bit each.
    owed: u64,
}

const _: () = assert!(MESSAGES_MAX <= u64::BITS as usize, "each message has a bit");

impl MessageStates {
    /// Nothing was ever sent: what was, before the kernel started, is new to it.
    pub(super) const NEW: Self = Self { seen: [0; MESSAGES_MAX], owed: 0 };
}

/// The outcome of a look at a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// There is no notification to be done.
    Nothing,
    /// Something was sent since the last look.
    New,
    /// Nothing was, but the last notification could not be done.
    Owed,
}

impl Kernel<'_> {
    /// Looks at a message, whose count is `count` now. Unless it is [`Arrival::Nothing`], the
    /// caller does the notification and says by [`Kernel::settle`] if it was done.
    pub fn look(&mut self, message: usize, count: u64) -> Arrival {
        let bit = 1 << message;
        let was_owed = self.messages.owed & bit != 0;
        let is_new = core::mem::replace(&mut self.messages.seen[message], count) != count;
        match (is_new, was_owed) {
            // What is owed already is told of already.
            (_, true) => Arrival::Owed,
            (true, false) => Arrival::New,
            (false, false) => Arrival::Nothing,
        }
    }

    /// Notes whether the notification of a message was done.
    pub fn settle(&mut self, message: usize, is_done: bool) {
        let bit = 1 << message;
        if is_done {
            self.messages.owed &= !bit;
        } else {
            self.messages.owed |= bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_new_once_and_stays_owed_until_it_is_done() {
        let mut kernel = Kernel::new();
        assert_eq!(kernel.look(3, 0), Arrival::Nothing, "nothing was ever sent");
        assert_eq!(kernel.look(3, 7), Arrival::New, "seven sendings are one notification");
        kernel.settle(3, true);
        assert_eq!(kernel.look(3, 7), Arrival::Nothing);
        assert_eq!(kernel.look(3, 8), Arrival::New);
        kernel.settle(3, false);
        assert_eq!(kernel.look(3, 8), Arrival::Owed);
        kernel.settle(3, false);
        assert_eq!(kernel.look(3, 9), Arrival::Owed, "it was told of before");
        assert_eq!(kernel.look(4, 0), Arrival::Nothing, "each message for itself");
        kernel.settle(3, true);
        assert_eq!(kernel.look(3, 9), Arrival::Nothing);
    }

    #[test]
    fn a_count_may_be_any_nonsense() {
        let mut kernel = Kernel::new();
        for count in [u64::MAX, 1, 0, u64::MAX] {
            assert_eq!(kernel.look(63, count), Arrival::New);
            kernel.settle(63, true);
            assert_eq!(kernel.look(63, count), Arrival::Nothing);
        }
    }
}
