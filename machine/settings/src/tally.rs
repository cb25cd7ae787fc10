//! Sums up the outcome of each control from those of its settings.

use std::fmt;

use quietcore_record::reason::{NotInForce, SettingFailure};
use quietcore_site::Control;

use super::holding::{Effect, Outcome};

/// The outcome of one control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The control that was asked for.
    pub control: Control,
    /// Settings that hold what they were given.
    pub changed: usize,
    /// Settings that held that before.
    pub unchanged: usize,
    /// Settings that were not accepted, each with the reason.
    pub refused: Vec<SettingFailure>,
    /// Settings that were accepted and hold something else, each with what.
    pub ignored: Vec<SettingFailure>,
}

impl Tally {
    /// Sums up the outcome of each of these controls.
    pub fn of(controls: &[Control], outcomes: &[Outcome<Control>]) -> Vec<Self> {
        controls.iter().map(|control| Self::one(*control, outcomes)).collect()
    }

    fn one(control: Control, outcomes: &[Outcome<Control>]) -> Self {
        let mut tally =
            Self { control, changed: 0, unchanged: 0, refused: Vec::new(), ignored: Vec::new() };
        for outcome in outcomes.iter().filter(|outcome| outcome.control == control) {
            match &outcome.effect {
                Effect::Effective => tally.changed += 1,
                Effect::Unchanged => tally.unchanged += 1,
                Effect::Refused(_) => tally.refused.extend(outcome.failure()),
                Effect::Ignored(_) => tally.ignored.extend(outcome.failure()),
                Effect::Gone => {}
            }
        }
        tally
    }

    /// Returns `true` if the machine has nothing that the control could change.
    pub fn is_absent(&self) -> bool {
        self.changed + self.unchanged == 0 && self.refused.is_empty() && self.ignored.is_empty()
    }

    /// Returns the reason why the control does not do what it should; `None` if it does. Settings
    /// that are refused beside others that hold are the rule: some interrupts and threads belong to
    /// their CPU. Load balancing goes on unless all of its settings hold.
    pub fn trouble(&self) -> Option<NotInForce> {
        let control = self.control.to_string();
        if let Some((first, more)) = self.ignored.split_first() {
            let (first, more) = (first.clone(), more.len());
            return Some(NotInForce::ControlIgnored { control, first, more });
        }
        let needs_all = self.control == Control::LoadBalance;
        if self.changed + self.unchanged > 0 && !needs_all {
            return None;
        }
        let (first, more) = self.refused.split_first()?;
        let (first, more) = (first.clone(), more.len());
        Some(NotInForce::ControlRefused { control, first, more })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.changed, "changed"),
            (self.unchanged, "as they were"),
            (self.refused.len(), "refused"),
            (self.ignored.len(), "ignored"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<_> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        let words =
            if words.is_empty() { "not on this machine".to_owned() } else { words.join(", ") };
        write!(f, "{} {words}", self.control)
    }
}

#[cfg(test)]
mod tests {
    use quietcore_record::reason::Refusal;

    use super::*;
    use crate::setting::{Form, Setting};

    fn outcome(control: Control, number: u32, effect: Effect) -> Outcome<Control> {
        Outcome {
            control,
            setting: Setting::file(format!("/proc/{number}"), Form::Text),
            before: "0-1".into(),
            wanted: "0".into(),
            effect,
        }
    }

    #[test]
    fn each_control_is_told_in_a_few_words_with_what_is_wrong() {
        let error = "Input/output error".to_owned();
        let refused = || Effect::Refused(Refusal::Machine { error: error.clone() });
        let outcomes = [
            outcome(Control::Interrupts, 1, Effect::Effective),
            outcome(Control::Interrupts, 2, refused()),
            outcome(Control::Governor, 3, refused()),
            outcome(Control::Governor, 4, refused()),
            outcome(Control::Workqueues, 5, Effect::Ignored("0-1".into())),
            outcome(Control::Workqueues, 6, Effect::Unchanged),
            outcome(Control::Timers, 7, Effect::Gone),
            outcome(Control::LoadBalance, 8, Effect::Effective),
            outcome(Control::LoadBalance, 9, refused()),
        ];
        let controls = [
            Control::Interrupts,
            Control::Governor,
            Control::Workqueues,
            Control::Timers,
            Control::LoadBalance,
        ];
        let tallies = Tally::of(&controls, &outcomes);
        let words: Vec<_> = tallies.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "interrupts 1 changed, 1 refused",
                "governor 2 refused",
                "workqueues 1 as they were, 1 ignored",
                "timers not on this machine",
                "load-balance 1 changed, 1 refused",
            ]
        );
        let absent: Vec<_> = tallies.iter().map(Tally::is_absent).collect();
        assert_eq!(absent, [false, false, false, true, false]);
        let trouble = |tally: &Tally| tally.trouble().map(|trouble| trouble.to_string());
        let troubles: Vec<_> = tallies.iter().map(trouble).collect();
        let governor = "control `governor` has no effect: /proc/3: Input/output error, and 1 more";
        let workqueues = "control `workqueues` is not in force everywhere: /proc/5: wrote `0`, \
                          read back `0-1`";
        let balance = "control `load-balance` has no effect: /proc/9: Input/output error";
        let [governor, workqueues, balance] = [governor, workqueues, balance].map(Into::into);
        assert_eq!(troubles, [None, Some(governor), Some(workqueues), None, Some(balance)]);
    }
}
