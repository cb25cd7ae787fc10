//! A timer that costs a system call, set only where it would come too late.
//!
//! The kernel moves the end of a budget with every switch, nearly always to later. Where the timer
//! comes too early for that, it is set again then.

/// An instant that never comes.
pub(super) const NEVER: u64 = u64::MAX;

/// The instant that the timer is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deadline {
    armed_ns: u64,
}

impl Deadline {
    pub(super) const NEVER: Self = Self { armed_ns: NEVER };

    /// The timer is needed at an instant, or [`NEVER`]. Returns what it is to be set to, where that
    /// has to change.
    #[must_use = "the timer must be set"]
    pub(super) fn want(&mut self, at_ns: u64) -> Option<u64> {
        if at_ns >= self.armed_ns {
            return None;
        }
        self.armed_ns = at_ns;
        Some(at_ns)
    }

    /// Returns `true` if the timer is set.
    pub(super) fn is_armed(self) -> bool {
        self.armed_ns != NEVER
    }

    /// The timer may have expired: it has where its instant is over.
    pub(super) fn expired(&mut self, now_ns: u64) {
        if self.armed_ns <= now_ns {
            self.armed_ns = NEVER;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_is_set_only_where_it_would_come_too_late() {
        let mut deadline = Deadline::NEVER;
        assert_eq!(deadline.want(100), Some(100));
        assert_eq!(deadline.want(200), None, "it comes early, and is set again then");
        assert_eq!(deadline.want(NEVER), None);
        assert_eq!(deadline.want(90), Some(90));
    }

    #[test]
    fn a_timer_that_comes_too_early_is_set_again() {
        let mut deadline = Deadline::NEVER;
        assert_eq!(deadline.want(100), Some(100));
        assert_eq!(deadline.want(200), None);
        deadline.expired(101);
        assert!(!deadline.is_armed());
        assert_eq!(deadline.want(200), Some(200));
        deadline.expired(200);
        assert_eq!(deadline.want(NEVER), None);
        assert!(!deadline.is_armed());
    }

    #[test]
    fn a_stray_expiry_changes_nothing() {
        let mut deadline = Deadline::NEVER;
        assert_eq!(deadline.want(100), Some(100));
        deadline.expired(50);
        assert!(deadline.is_armed());
        assert_eq!(deadline.want(100), None, "it is still set");
        deadline.expired(100);
        assert!(!deadline.is_armed());
    }
}
