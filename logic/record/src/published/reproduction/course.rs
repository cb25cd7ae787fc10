//! The course of a reproduction: what became of each of its commands, and so of each exhibit.

use std::collections::BTreeSet;
use std::fmt;

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

use super::{Step, exhibits_of};
use crate::published::exhibit::Exhibit;

/// The schema of [`Course`].
pub const SCHEMA: &str = "quietcore.reproduction/1";

/// The document of a reproduction, kept while it runs and afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The paper's key, such as `queiroz2023`.
    pub paper: String,
    /// Start in RFC 3339, UTC.
    pub started_at: String,
    /// Time that it was to take; `None` for as long as the paper measured.
    pub within_ns: Option<u64>,
    /// The reason why times of this machine are not valid, if they are not.
    pub timing_not_valid: Option<String>,
    /// Its commands, in their order.
    pub commands: Vec<Ran>,
}

/// A command of a reproduction, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ran {
    /// The command in the list of exhibits.
    pub command: String,
    /// Its words on this machine, after `quietcore`.
    pub words: Vec<String>,
    /// Time that each of its measurements takes; `None` where nothing is asked for.
    pub each_ns: Option<u64>,
    /// Time that it takes in all, as it was foreseen.
    pub expected_ns: u64,
    /// The evidence folder that it makes, beside the document.
    pub folder: Option<String>,
    /// The file of what it printed, beside the document.
    pub printed: Option<String>,
    /// Its outcome; [`Outcome::Left`] until it has run.
    pub outcome: Outcome,
    /// Systems that it leaves out on this machine, each with the reason: as it was foreseen, and
    /// from its evidence once it has run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<SystemLeftOut>,
}

/// A partition that a command does not measure under some profiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemLeftOut {
    /// Name of the partition.
    pub partition: String,
    /// Names of the profiles.
    pub profiles: Vec<String>,
    /// The reason and its remedy, as a clause without a full stop.
    pub because: String,
}

impl fmt::Display for SystemLeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { partition, because, .. } = self;
        write!(f, "`{partition}` is left out ({}): {because}", self.profiles())
    }
}

impl SystemLeftOut {
    /// Returns the profiles in words: `tp1 to tp6` where they follow each other, else each.
    pub fn profiles(&self) -> String {
        let number = |name: &String| {
            let digits = name.trim_start_matches(|it: char| !it.is_ascii_digit());
            let word = &name[..name.len() - digits.len()];
            Some((word.to_owned(), digits.parse::<u32>().ok()?))
        };
        let numbers: Option<Vec<_>> = self.profiles.iter().map(number).collect();
        let follow = |pair: &[(String, u32)]| {
            pair[0].0 == pair[1].0 && pair[0].1.checked_add(1) == Some(pair[1].1)
        };
        let is_row = numbers.is_some_and(|all| all.len() > 2 && all.windows(2).all(follow));
        match &self.profiles[..] {
            [first, .., last] if is_row => format!("{first} to {last}"),
            all => all.join(", "),
        }
    }
}

/// Outcomes of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It was not begun.
    Left,
    /// It was stopped before its end.
    Interrupted,
    /// It did its work. A verdict of it is in its evidence.
    Done {
        /// Time that it took.
        took_ns: u64,
    },
    /// It was not begun, since nothing on this machine needs what it makes.
    NotNeeded,
    /// It could not do its work.
    Refused {
        /// Its own words, the last lines of its error.
        because: String,
    },
    /// It was not begun, since a folder that it reads was not made.
    NothingToRead {
        /// Name of the folder, beside the document.
        folder: String,
    },
}

impl Outcome {
    /// Returns `true` if the command need not be run again.
    pub const fn is_done(&self) -> bool {
        matches!(self, Self::Done { .. } | Self::NotNeeded)
    }

    /// Returns why the command did not do its work, in words; `None` where it did, or where the
    /// reason is that of another command.
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Done { .. } | Self::NotNeeded | Self::NothingToRead { .. } => None,
            Self::Left => Some("not begun".to_owned()),
            Self::Interrupted => Some("interrupted".to_owned()),
            Self::Refused { because } => Some(because.clone()),
        }
    }

    /// Returns which folder was missing, in words, if that kept the command from its work.
    pub fn what_is_missing(&self) -> Option<String> {
        let Self::NothingToRead { folder } = self else { return None };
        Some(format!("there is no `{folder}`"))
    }
}

/// Part of an exhibit's counterpart that a reproduction has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// All of its commands did their work, and they make all of it.
    All,
    /// Some did, or a whole counterpart would need more.
    Part,
    /// Not one did: each was refused, interrupted or not begun.
    Nothing,
    /// There are no commands for it yet.
    NotYet,
}

impl Course {
    /// Returns the commands of an exhibit with what became of them.
    pub fn commands_of(&self, exhibit: &Exhibit) -> Vec<&Ran> {
        let own = |ran: &&Ran| exhibit.commands.contains(&ran.command.as_str());
        self.commands.iter().filter(own).collect()
    }

    /// Returns how much of an exhibit's counterpart was made.
    pub fn made(&self, exhibit: &Exhibit) -> Made {
        if exhibit.commands.is_empty() {
            return Made::NotYet;
        }
        let own = self.commands_of(exhibit);
        let is_done = |ran: &&&Ran| matches!(ran.outcome, Outcome::Done { .. });
        let done = own.iter().filter(is_done).count();
        let needed = own.iter().filter(|ran| ran.outcome != Outcome::NotNeeded).count();
        let is_whole = exhibit.missing.is_none() && self.left_out_of(exhibit).is_empty();
        match done {
            0 => Made::Nothing,
            all if all == needed && is_whole => Made::All,
            _ => Made::Part,
        }
    }

    /// Returns why the counterpart of an exhibit was not made, or not all of it, in words.
    pub fn why_not_all(&self, exhibit: &Exhibit) -> Vec<String> {
        let own = self.commands_of(exhibit);
        let mut reasons: Vec<String> = own.iter().filter_map(|ran| ran.outcome.why()).collect();
        if reasons.is_empty() {
            // A folder that is missing has its own reason, where its command is one of these.
            reasons = own.iter().filter_map(|ran| ran.outcome.what_is_missing()).collect();
        }
        let left_out = self.left_out_of(exhibit).into_iter();
        let names: BTreeSet<String> = left_out.map(|it| format!("`{}`", it.partition)).collect();
        if !names.is_empty() {
            let names: Vec<String> = names.into_iter().collect();
            reasons.push(format!("without {}: not measured here", names.join(", ")));
        }
        reasons.extend(exhibit.missing.map(str::to_owned));
        reasons.dedup();
        reasons
    }

    /// Returns the systems that its commands leave out on this machine, each once with each reason.
    pub fn left_out(&self) -> Vec<&SystemLeftOut> {
        let mut all: Vec<&SystemLeftOut> = Vec::new();
        for left_out in self.commands.iter().flat_map(|ran| &ran.left_out) {
            if !all.contains(&left_out) {
                all.push(left_out);
            }
        }
        all
    }

    /// Returns the systems that an exhibit lacks on this machine. One that shows no profile lacks
    /// none.
    fn left_out_of(&self, exhibit: &Exhibit) -> Vec<&SystemLeftOut> {
        let Some(shown) = exhibit.shows else { return Vec::new() };
        let is_shown = |it: &&SystemLeftOut| {
            it.profiles.iter().any(|profile| shown.profiles.contains(&profile.as_str()))
        };
        let own = self.commands_of(exhibit).into_iter();
        own.flat_map(|ran| &ran.left_out).filter(is_shown).collect()
    }

    /// Returns the exhibits of the paper, tables first.
    pub fn exhibits(&self) -> Vec<&'static Exhibit> {
        exhibits_of(&self.paper)
    }

    /// Returns the time that commands which are not done take, as it was foreseen.
    pub fn expected(&self) -> Nanos {
        let left = self.commands.iter().filter(|ran| !ran.outcome.is_done());
        left.map(|ran| Nanos::new(ran.expected_ns)).sum()
    }

    /// Returns `true` if every command did its work.
    pub fn is_whole(&self) -> bool {
        self.commands.iter().all(|ran| ran.outcome.is_done())
    }

    /// Returns `true` if these are the commands of a paper that is known, in their order. A folder
    /// of another version may have others.
    pub fn fits(&self, steps: &[Step]) -> bool {
        self.schema == SCHEMA
            && self.commands.len() == steps.len()
            && self.commands.iter().zip(steps).all(|(ran, step)| ran.command == step.command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::reproduction::steps;

    fn course(outcome: impl Fn(usize) -> Outcome) -> Course {
        let ran = |(index, step): (usize, Step)| Ran {
            command: step.command.to_owned(),
            words: step.words().iter().map(ToString::to_string).collect(),
            each_ns: None,
            expected_ns: 1_000,
            folder: step.folder().map(str::to_owned),
            printed: None,
            outcome: outcome(index),
            left_out: Vec::new(),
        };
        Course {
            schema: SCHEMA.to_owned(),
            paper: "kong2021".to_owned(),
            started_at: "2026-11-27T10:00:00Z".to_owned(),
            within_ns: None,
            timing_not_valid: None,
            commands: steps("kong2021").into_iter().enumerate().map(ran).collect(),
        }
    }

    #[test]
    fn an_exhibit_is_made_by_its_own_commands() {
        let done = Outcome::Done { took_ns: 1 };
        let refused = Outcome::Refused { because: "no `/dev/kvm`".to_owned() };
        // The first command is the probe that most exhibits share.
        let course = course(|index| if index == 0 { done.clone() } else { refused.clone() });
        let made: Vec<Made> =
            course.exhibits().into_iter().map(|exhibit| course.made(exhibit)).collect();
        assert_eq!(made[..3], [Made::Part, Made::Part, Made::NotYet]);
        assert!(made.contains(&Made::Nothing) && made.contains(&Made::All));
        let why = |index: usize| course.why_not_all(course.exhibits()[index]);
        assert_eq!(why(1), ["no `/dev/kvm`"]);
        assert!(why(0)[1].starts_with("a handler on the bare machine"), "{:?}", why(0));
        assert!(!course.is_whole());
        assert_eq!(course.expected(), Nanos::new(1_000 * (course.commands.len() as u64 - 1)));
    }

    /// Goal: a figure that lacks one of the systems is not all made, and says which; a drawing of
    /// the same command shows none.
    #[test]
    fn a_system_that_is_left_out_is_missing_where_its_profile_is_shown() {
        let mut course = course(|_| Outcome::Done { took_ns: 1 });
        let steps = steps("queiroz2023").into_iter();
        course.paper = "queiroz2023".to_owned();
        course.commands = steps
            .map(|step| Ran { command: step.command.to_owned(), ..course.commands[0].clone() })
            .collect();
        let exhibit = |id: &str| {
            let mut all = course.exhibits().into_iter();
            all.find(|it| it.id.ends_with(id)).expect("it is one")
        };
        let (figure, cycle) = (exhibit("/figure-9"), exhibit("/figure-4"));
        assert_eq!(course.made(figure), Made::All);
        let run = course.commands.iter().position(|it| it.command.contains("--out run")).unwrap();
        course.commands[run].left_out = vec![SystemLeftOut {
            partition: "xen".to_owned(),
            profiles: vec!["tp2".to_owned(), "tp3".to_owned()],
            because: "no dom0".to_owned(),
        }];
        assert_eq!((course.made(figure), course.made(cycle)), (Made::Part, Made::All));
        assert_eq!(course.why_not_all(figure), ["without `xen`: not measured here"]);
        let told = |course: &Course| course.left_out()[0].to_string();
        assert_eq!(told(&course), "`xen` is left out (tp2, tp3): no dom0");
        let profiles = &mut course.commands[run].left_out[0].profiles;
        *profiles = (1..=6).map(|number| format!("tp{number}")).collect();
        assert_eq!(told(&course), "`xen` is left out (tp1 to tp6): no dom0");
        course.commands[run].left_out[0].profiles.remove(2);
        assert_eq!(told(&course), "`xen` is left out (tp1, tp2, tp4, tp5, tp6): no dom0");
        let text = serde_json::to_string(&course).unwrap();
        assert_eq!(serde_json::from_str::<Course>(&text).unwrap(), course);
    }

    #[test]
    fn a_document_comes_back_as_it_was_and_nothing_is_added_to_it() {
        let course = course(|_| Outcome::NothingToRead { folder: "irq".to_owned() });
        let text = serde_json::to_string(&course).unwrap();
        assert_eq!(serde_json::from_str::<Course>(&text).unwrap(), course);
        assert!(course.fits(&steps("kong2021")) && !course.fits(&steps("hofer2019")));
        let more = text.replacen('{', r#"{"more":1,"#, 1);
        assert!(serde_json::from_str::<Course>(&more).is_err());
    }
}
