//! The machine's settings as partitions have them while they run: changed, looked at, put back.

use std::time::Duration;

use quietcore_record::reason::MachineDrift;
use quietcore_settings::{
    ChangeError, Changed, Controls, LiveSettings, RequestedSettings, ReservedGroup, SettingsReport,
};

/// Time between two looks at the settings. Links are followed at each poll.
pub const SETTINGS_EVERY: Duration = Duration::from_secs(5);

/// Settings that are changed, for a holder that looks after them at each of its polls.
#[derive(Debug)]
pub struct HeldSettings {
    changed: Changed,
    /// Polls between two looks, at least 1.
    every: u32,
    polls: u32,
}

/// The findings of a poll.
#[derive(Debug, Default)]
pub struct Looked {
    /// Settings that are not as they were set, and CPUs that went or came, not told before.
    pub drifts: Vec<MachineDrift>,
    /// All settings that are not as they were set, a sentence each; `None` where this poll has not
    /// looked at them.
    pub drifting: Option<Vec<String>>,
}

impl HeldSettings {
    /// Changes what is requested, for a holder that polls once each `poll`.
    ///
    /// # Errors
    /// [`ChangeError`]; then nothing is changed.
    pub fn change(
        requested: &RequestedSettings,
        holder: &str,
        controls: Option<&Controls<LiveSettings>>,
        poll: Duration,
    ) -> Result<Self, ChangeError> {
        let changed = Changed::begin(requested, holder, controls)?;
        Ok(Self { changed, every: polls_between(poll), polls: 0 })
    }

    /// The outcome of each control so far.
    pub fn found(&self) -> &SettingsReport {
        self.changed.found()
    }

    /// The group that has the partitions' CPUs for itself.
    pub fn group(&self) -> Option<ReservedGroup> {
        self.changed.group()
    }

    /// Follows links that come and go, and looks at all settings where that is due.
    pub fn poll(&mut self) -> Looked {
        let mut looked = Looked::default();
        looked.drifts.extend_from_slice(self.changed.follow_links());
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(self.every) {
            looked.drifts.extend(self.changed.look());
            looked.drifting = Some(self.changed.drifting());
        }
        looked
    }

    /// Puts the settings back. Returns what came of them, and what could not be put back.
    pub fn put_back(self) -> (SettingsReport, Vec<String>) {
        self.changed.end()
    }
}

fn polls_between(poll: Duration) -> u32 {
    let polls = SETTINGS_EVERY.as_millis() / poll.as_millis().max(1);
    u32::try_from(polls).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_looked_at_once_in_five_seconds_of_polls() {
        let poll = Duration::from_millis(200);
        let nothing = RequestedSettings::default();
        let mut held = HeldSettings::change(&nothing, "test", None, poll).unwrap();
        let looks: Vec<usize> = (1..=60).filter(|_| held.poll().drifting.is_some()).collect();
        assert_eq!(looks, [25, 50]);
    }
}
