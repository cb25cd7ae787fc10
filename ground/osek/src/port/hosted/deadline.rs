//! An instant at which something wants to be called, on top of a timer that costs a system call.
//!
//! The kernel moves the end of a budget with every switch, nearly always to later. So the timer is
//! set only where it would come too late. Where it comes too early, it is set again then.

/// No instant.
pub(super) const NEVER: u64 = u64::MAX;

/// What is wanted, and what the timer is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deadline {
    wanted_ns: u64,
    armed_ns: u64,
}

impl Deadline {
    pub(super) const NEVER: Self = Self { wanted_ns: NEVER, armed_ns: NEVER };

    /// Wants to be called at an instant, or [`NEVER`]. Returns what the timer is to be set to,
    /// where that has to change.
    #[must_use = "the timer must be set"]
    pub(super) fn want(&mut self, at_ns: u64) -> Option<u64> {
        self.wanted_ns = at_ns;
        self.arm()
    }

    /// Whether the timer is set.
    pub(super) fn is_armed(self) -> bool {
        self.armed_ns != NEVER
    }

    /// The timer has expired. Returns whether what was wanted is due, which is not wanted any more
    /// then.
    pub(super) fn expired(&mut self, now_ns: u64) -> bool {
        if self.armed_ns <= now_ns {
            self.armed_ns = NEVER;
        }
        let due = self.wanted_ns <= now_ns;
        if due {
            self.wanted_ns = NEVER;
        }
        due
    }

    /// What the timer has to be set to, where it would come too late.
    #[must_use = "the timer must be set"]
    pub(super) fn arm(&mut self) -> Option<u64> {
        if self.wanted_ns >= self.armed_ns {
            return None;
        }
        self.armed_ns = self.wanted_ns;
        Some(self.wanted_ns)
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
        assert!(!deadline.expired(101));
        assert_eq!(deadline.arm(), Some(200));
        assert!(deadline.expired(200));
        assert_eq!(deadline.arm(), None);
    }

    #[test]
    fn what_was_due_is_wanted_once() {
        let mut deadline = Deadline::NEVER;
        assert_eq!(deadline.want(100), Some(100));
        assert!(deadline.expired(150));
        assert!(!deadline.expired(150));
        assert_eq!(deadline.arm(), None);
    }

    #[test]
    fn a_stray_expiry_changes_nothing() {
        let mut deadline = Deadline::NEVER;
        assert_eq!(deadline.want(100), Some(100));
        assert!(!deadline.expired(50));
        assert_eq!(deadline.arm(), None, "it is still set");
        assert!(deadline.expired(100));
    }
}
