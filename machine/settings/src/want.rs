//! Wishes for a setting, and what several wishes come to together.
//!
//! Several sites may run on one machine, and each reserves CPUs. So a wish says what shall be
//! different and not what the value shall be: the value follows from the one that was there first
//! and from the wishes of all who still hold some, in whatever order they came and go.

use quietcore_record::reason::Refusal;
use quietcore_units::CpuSet;
use serde::{Deserialize, Serialize};

use super::setting::cpus;
use quietcore_host::CpuList;

/// A wish for a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "there are some hundred, and most are the large one")]
pub enum Want {
    /// This value and no other.
    Exactly(String),
    /// The CPUs that were there, less `cpus`; where none remain, those of `of` less `cpus`.
    Without {
        /// Those that are reserved.
        cpus: CpuList,
        /// All that are online.
        of: CpuList,
    },
    /// So many more than there were.
    More(u64),
    /// This word beside those that were there.
    With(String),
}

/// The value that fulfils all wishes; the one that was there first where there are none.
///
/// # Errors
/// There is no such value.
pub(super) fn together<'w>(
    original: &str,
    wants: impl IntoIterator<Item = &'w Want>,
) -> Result<String, Refusal> {
    let mut value: Option<String> = None;
    let (mut taken, mut online) = (CpuSet::EMPTY, CpuSet::EMPTY);
    let mut more = 0_u64;
    let mut words: Vec<&str> = Vec::new();
    for want in wants {
        match want {
            Want::Exactly(other) => match &value {
                Some(one) if one != other => {
                    return Err(Refusal::Held { value: one.clone() });
                }
                _ => value = Some(other.clone()),
            },
            Want::Without { cpus, of } => {
                taken = taken.union(&cpus.0);
                online = online.union(&of.0);
            }
            Want::With(word) => words.push(word),
            Want::More(count) => more = more.saturating_add(*count),
        }
    }
    if !words.is_empty() && value.is_none() && taken.is_empty() && more == 0 {
        words.extend(original.split_whitespace());
        words.sort_unstable();
        words.dedup();
        return Ok(words.join(" "));
    }
    let unfit = || Refusal::Unfit { value: original.to_owned() };
    match (value, taken.is_empty(), more) {
        (Some(value), true, 0) => Ok(value),
        (None, true, 0) => Ok(original.to_owned()),
        (None, false, 0) => {
            let there = cpus(original).map_err(|_| unfit())?;
            let rest = [there, online].map(|all| all.without(&taken));
            let rest = rest.iter().find(|rest| !rest.is_empty()).ok_or(Refusal::NoCpu)?;
            Ok(rest.to_string())
        }
        (None, true, more) => {
            let there: u64 = original.parse().map_err(|_| unfit())?;
            Ok(there.saturating_add(more).to_string())
        }
        _ => Err(unfit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(cpus: &str) -> Want {
        Want::Without { cpus: cpus.parse().unwrap(), of: "0-3".parse().unwrap() }
    }

    #[test]
    fn wishes_of_several_add_up() {
        assert_eq!(together("0-3", &[]).unwrap(), "0-3");
        assert_eq!(together("0-3", &[without("1")]).unwrap(), "0,2,3");
        assert_eq!(together("0-3", &[without("1"), without("3")]).unwrap(), "0,2");
        // Where nothing of it remains, what nobody has reserved.
        assert_eq!(together("1", &[without("1")]).unwrap(), "0,2,3");
        assert_eq!(together("4", &[Want::More(8), Want::More(2)]).unwrap(), "14");
        let both = [Want::Exactly("-1".into()), Want::Exactly("-1".into())];
        assert_eq!(together("950000", &both).unwrap(), "-1");
        let words = ["memory", "cpuset", "cpuset"].map(|word| Want::With(word.into()));
        assert_eq!(together("cpu memory", &words).unwrap(), "cpu cpuset memory");
        // A group that is not there has no CPUs.
        assert_eq!(together("", &[without("1"), without("2")]).unwrap(), "0,3");
    }

    #[test]
    fn wishes_that_can_not_be_fulfilled_say_why() {
        let error = |original: &str, wants: &[Want]| together(original, wants).unwrap_err();
        let unfit = |value: &str| Refusal::Unfit { value: value.into() };
        assert_eq!(error("0-3", &[without("0-3")]), Refusal::NoCpu);
        let both = [Want::Exactly("powersave".into()), Want::Exactly("performance".into())];
        assert_eq!(error("schedutil", &both), Refusal::Held { value: "powersave".into() });
        assert_eq!(error("many", &[Want::More(1)]), unfit("many"));
        assert_eq!(error("f00f!", &[without("1")]), unfit("f00f!"));
        assert_eq!(error("1", &[without("1"), Want::More(1)]), unfit("1"));
    }
}
