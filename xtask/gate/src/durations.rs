//! The time that each step took when it ran here last.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;

/// Seconds that a step took, and of a processor.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Duration {
    pub(crate) seconds: u64,
    pub(crate) processor_seconds: u64,
}

/// The last run of each step, by its name, and of the whole gate.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Durations {
    /// Of the last whole run.
    whole: Option<Duration>,
    steps: BTreeMap<String, Duration>,
}

impl Durations {
    /// Those of the last run; none if there was none, or its file was of another version.
    pub(crate) fn read(path: &str) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// # Errors
    /// It can't be written as JSON.
    pub(crate) fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    pub(crate) fn of(&self, step: &str) -> Option<Duration> {
        self.steps.get(step).copied()
    }

    pub(crate) fn whole(&self) -> Option<Duration> {
        self.whole
    }

    pub(crate) fn take(&mut self, outcomes: &[Outcome]) {
        self.steps.extend(outcomes.iter().map(|outcome| {
            let (seconds, processor_seconds) =
                (outcome.took.as_secs(), outcome.processor.as_secs());
            (outcome.step.clone(), Duration { seconds, processor_seconds })
        }));
    }

    pub(crate) fn take_whole(&mut self, seconds: u64, outcomes: &[Outcome]) {
        let processor_seconds = outcomes.iter().map(|outcome| outcome.processor.as_secs()).sum();
        self.whole = Some(Duration { seconds, processor_seconds });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_they_were_written_and_a_torn_file_is_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("durations.json");
        let path = path.to_str().expect("UTF-8");
        assert_eq!(Durations::read(path), Durations::default());
        let mut durations = Durations::default();
        durations.steps.insert("clippy".to_owned(), Duration { seconds: 3, processor_seconds: 5 });
        let text = durations.text().expect("it is JSON");
        fs::write(path, text).expect("the folder is ours");
        assert_eq!(Durations::read(path), durations);
        fs::write(path, "{").expect("the folder is ours");
        assert_eq!(Durations::read(path), Durations::default());
    }
}
