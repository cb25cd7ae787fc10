//! How a task was released and scheduled, in figures.

use serde::{Deserialize, Serialize};

use super::Conditions;

/// How a task waits for its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WakeKind {
    /// It sleeps until the release.
    Sleep,
    /// It sleeps until shortly before it.
    Early,
    /// It never sleeps.
    Spin,
}

/// What [`Conditions::mode`] and [`Conditions::policy`] say in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Scheduled {
    /// How it waited; absent where no timer releases it.
    pub wake: Option<WakeKind>,
    /// Its priority under SCHED_FIFO; absent under any other policy.
    pub fifo_priority: Option<u32>,
}

impl Scheduled {
    /// The same from the words, as a record has it that was made before it was kept in figures.
    fn of_words(conditions: &Conditions) -> Self {
        let mode = conditions.mode.as_str();
        let begins =
            [("early wake", WakeKind::Early), ("sleep", WakeKind::Sleep), ("spin", WakeKind::Spin)];
        let wake = begins.into_iter().find(|(words, _)| mode.starts_with(words));
        let priority = conditions.policy.strip_prefix("SCHED_FIFO ");
        Self {
            wake: wake.map(|(_, kind)| kind),
            fifo_priority: priority.and_then(|number| number.parse().ok()),
        }
    }
}

impl Conditions {
    /// How the task was released and scheduled; read from the words where the record is from before
    /// it was kept in figures.
    pub fn scheduling(&self) -> Scheduled {
        self.scheduled.unwrap_or_else(|| Scheduled::of_words(self))
    }

    /// The backend that realised the partition; `None` where the conditions say nothing of the
    /// machine, as for imported data. What they don't call otherwise is a process of the host.
    pub fn backend(&self) -> Option<&str> {
        let named = self.machine.get("backend").map(String::as_str);
        let is_container = self.machine.contains_key("container");
        let known = if is_container { "container" } else { "process" };
        named.or((!self.machine.is_empty()).then_some(known))
    }

    /// Whether the figures and the words say the same.
    pub(super) fn scheduling_is_consistent(&self) -> bool {
        let words = Scheduled::of_words(self);
        self.scheduled.is_none_or(|figures| {
            // Who has no timer may have any words.
            let wakes_alike = figures.wake.is_none() || figures.wake == words.wake;
            wakes_alike && figures.fifo_priority == words.fifo_priority
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(mode: &str, policy: &str) -> Conditions {
        let (mode, policy) = (mode.to_owned(), policy.to_owned());
        Conditions { mode, policy, ..Conditions::default() }
    }

    #[test]
    fn a_record_of_earlier_days_is_read_from_its_words() {
        for (mode, policy, wake, fifo_priority) in [
            ("sleep", "SCHED_FIFO 90", Some(WakeKind::Sleep), Some(90)),
            (
                "early wake, adaptive, at most 25 % of the core",
                "SCHED_RR 90",
                Some(WakeKind::Early),
                None,
            ),
            ("spin: it never sleeps, in a guest", "SCHED_OTHER", Some(WakeKind::Spin), None),
            ("released by the program's kernel", "not read back", None, None),
        ] {
            let held = conditions(mode, policy);
            assert_eq!(held.scheduling(), Scheduled { wake, fifo_priority }, "{mode}");
        }
    }

    #[test]
    fn figures_go_before_words_and_must_not_contradict_them() {
        let figures = Scheduled { wake: Some(WakeKind::Early), fifo_priority: Some(80) };
        let mut held = conditions("as it comes", "some policy");
        held.scheduled = Some(figures);
        assert_eq!(held.scheduling(), figures);
        assert!(!held.scheduling_is_consistent());
        held.mode = "early wake, 100 µs before the release".to_owned();
        assert!(!held.scheduling_is_consistent(), "the priority is another one");
        held.policy = "SCHED_FIFO 80".to_owned();
        assert!(held.scheduling_is_consistent());
    }
}
