//! The strictness of a class: what a missed cycle means to the application.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of real-time application, by what a miss does to it (queiroz2023, section 3, and
/// figure 4). A miss is a release later than the class's limit, or a cycle of the program that was
/// not done at its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Strictness {
    /// A miss is a failure of the system: there may be none.
    #[default]
    Hard,
    /// The application holds out some misses in a row, and no more.
    Firm {
        /// The most misses in a row: the survival time of 3GPP TS 22.104, in cycles.
        survival_cycles: u32,
    },
    /// Late results are still worth something: a share of the cycles may miss.
    Soft {
        /// The largest share of misses, in millionths of all cycles.
        misses_ppm: u32,
    },
}

impl Strictness {
    /// Returns `true` for the strictness of every published class and of stored ones that name
    /// none.
    pub fn is_hard(&self) -> bool {
        *self == Self::Hard
    }
}

impl fmt::Display for Strictness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hard => f.write_str("hard: no miss"),
            Self::Firm { survival_cycles } => {
                write!(f, "firm: at most {survival_cycles} in a row")
            }
            Self::Soft { misses_ppm } => {
                write!(f, "soft: at most {} % of the cycles", f64::from(*misses_ppm) / 1e4)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_says_what_it_allows() {
        let told = |it: Strictness| (it.to_string(), it.is_hard());
        let hard = Strictness::default();
        assert_eq!(told(hard), ("hard: no miss".to_owned(), true));
        let firm = Strictness::Firm { survival_cycles: 3 };
        assert_eq!(told(firm), ("firm: at most 3 in a row".to_owned(), false));
        let soft = Strictness::Soft { misses_ppm: 1_500 };
        assert_eq!(told(soft), ("soft: at most 0.15 % of the cycles".to_owned(), false));
    }
}
