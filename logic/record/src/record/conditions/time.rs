//! The reality of a machine's time.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::earlier;
use crate::reason::Reason;
use crate::record::Record;

/// The reality of a machine's time: it is real if it is that of a processor, and not that of a
/// program which executes or counts its instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeReality {
    /// The data don't say.
    #[default]
    Unstated,
    /// Calibration shows that it is real.
    Native,
    /// It is not real, for this reason.
    Emulated(String),
    /// Its reality could not be found out, for this reason.
    Unknown(String),
    /// Other words of an earlier version.
    Stated(String),
}

impl TimeReality {
    /// Returns the cause where the time is not real.
    pub fn why_not_real(&self) -> Option<&str> {
        match self {
            Self::Emulated(cause) => Some(cause),
            Self::Stated(words) => earlier::why_time_is_not_real(words),
            Self::Unstated | Self::Native | Self::Unknown(_) => None,
        }
    }

    /// Returns `true` where the data say nothing.
    pub(super) fn is_unstated(&self) -> bool {
        *self == Self::Unstated
    }
}

impl fmt::Display for TimeReality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unstated => Ok(()),
            Self::Native => f.write_str("yes, native by calibration"),
            Self::Emulated(cause) => write!(f, "no, timing not valid: {cause}"),
            Self::Unknown(cause) => write!(f, "unknown: {cause}"),
            Self::Stated(words) => f.write_str(words),
        }
    }
}

impl Record {
    /// Returns why the record's time is not real, by its reasons or by the facts of its machine.
    pub fn why_time_is_not_real(&self) -> Option<String> {
        let by_reason = self.invalid_because.iter().find_map(Reason::time_not_real);
        by_reason.or_else(|| self.conditions.time.why_not_real().map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::{NotReal, Stated};
    use crate::test_record;

    fn stated(sentence: &str) -> Reason {
        Stated::from(sentence).into()
    }

    #[test]
    fn time_that_is_not_real_is_recognised_however_it_was_found_out() {
        let mut record = test_record(&[(5, 10)]);
        assert_eq!(record.why_time_is_not_real(), None);
        for (reason, told) in [
            (
                NotReal::Machine { evidence: "slow".to_owned() },
                "this machine's time is emulated (slow)",
            ),
            (
                NotReal::Guests { interpreted: "interpreted".to_owned() },
                "guests here are interpreted",
            ),
            (NotReal::Facts { fact: "no".to_owned() }, "this machine's time was not real (no)"),
        ] {
            // As a record of today has it, and as one of earlier days.
            for reason in [reason.clone().into(), stated(&reason.to_string())] {
                record.invalid_because = vec![stated("the clock broke"), reason];
                assert_eq!(record.why_time_is_not_real().as_deref(), Some(told));
            }
        }
        record.invalid_because.clear();
        for (fact, told) in [
            ("no", Some("no")),
            ("no, timing not valid: interpreted", Some("interpreted")),
            ("no, interpreted", Some("interpreted")),
            ("unknown: not measured", None),
            ("nobody knows", None),
            ("yes, native by calibration", None),
        ] {
            record.conditions.time = earlier::time(fact);
            assert_eq!(record.conditions.time.to_string(), fact);
            assert_eq!(record.why_time_is_not_real().as_deref(), told, "{fact}");
        }
    }
}
