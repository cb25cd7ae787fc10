//! Changing settings of the machine for a site, and putting them back.

use std::fmt;
use std::time::Duration;

use quietcore_record::reason::{MachineDrift, Refusal, SettingFailure};

use super::journal::{Change, JournalError, Opened, Store};
use super::setting::{Setting, SettingError, Settings};
use super::want::Want;

/// Number of times that a setting is read which takes effect later; see [`Setting::is_deferred`].
const READ_BACK_MAX: u32 = 25;
/// Time between two of these readings.
const READ_BACK_EVERY: Duration = Duration::from_millis(2);

/// A setting that a site wants changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<C> {
    /// Which control asks for it.
    pub control: C,
    /// The setting to be changed.
    pub setting: Setting,
    /// The value that is wanted, or how it follows from the present one.
    pub want: Want,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<C> {
    /// Which control asked for it.
    pub control: C,
    /// The setting to be changed.
    pub setting: Setting,
    /// The value before; empty if it could not be read.
    pub before: String,
    /// The value that was wanted; empty if that could not be decided.
    pub wanted: String,
    /// The relation of the present value to it.
    pub effect: Effect,
}

impl<C> Outcome<C> {
    /// The same, asked for by another.
    pub(super) fn of<D>(self, control: D) -> Outcome<D> {
        let Self { setting, before, wanted, effect, .. } = self;
        Outcome { control, setting, before, wanted, effect }
    }

    /// Returns why the setting does not hold what was wanted; `None` if it does.
    pub(super) fn failure(&self) -> Option<SettingFailure> {
        let setting = (&self.setting).into();
        match self.effect.clone() {
            Effect::Effective | Effect::Unchanged => None,
            Effect::Refused(refusal) => Some(SettingFailure::Refused { setting, refusal }),
            Effect::Ignored(found) => {
                let wanted = self.wanted.clone();
                Some(SettingFailure::Ignored { setting, wanted, found })
            }
            Effect::Gone => Some(SettingFailure::NoInterface { setting }),
        }
    }
}

/// The relation of a setting's value to the one it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It reads back as it was written.
    Effective,
    /// It held that before.
    Unchanged,
    /// It was accepted and reads back as this.
    Ignored(String),
    /// The kernel refused, or the wish can't be fulfilled, for this reason.
    Refused(Refusal),
    /// There is no such setting, or no longer.
    Gone,
}

/// A setting that was not put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// Somebody else changed the setting since; that was left.
    Foreign {
        /// The setting with a foreign value.
        setting: Setting,
        /// The value that it holds.
        found: String,
        /// The value before all changes.
        original: String,
    },
    /// The kernel did not take the value.
    Refused {
        /// The setting that could not be put back.
        setting: Setting,
        /// The value that it should hold.
        original: String,
        /// The kernel's error, or the value that it holds instead.
        reason: String,
    },
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { setting, found, original } => write!(
                f,
                "{setting}: left at `{found}`, which somebody else has set since; it was \
                 `{original}`"
            ),
            Self::Refused { setting, original, reason } => {
                write!(f, "{setting}: can't be put back to `{original}`: {reason}")
            }
        }
    }
}

/// The outcome of putting back settings of gone processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Those who are gone and held settings.
    pub gone: Vec<String>,
    /// Settings that could not be put back.
    pub left: Vec<Left>,
}

/// The settings of a machine that can be changed for a while.
#[derive(Clone, Debug)]
pub struct Controls<S> {
    settings: S,
    store: Store,
}

/// Settings that are changed until this is dropped.
#[derive(Debug)]
pub struct Held<S: Settings> {
    controls: Controls<S>,
    name: String,
    is_held: bool,
}

impl<S: Settings> Controls<S> {
    /// Settings, with a journal in which their changes are written down.
    pub fn new(settings: S, store: Store) -> Self {
        Self { settings, store }
    }

    /// Changes settings for the site of this name, as far as the machine lets it. What somebody has
    /// left who is gone is put back first.
    ///
    /// # Errors
    /// The journal can't be written, in which case nothing is changed; or the name holds some.
    pub fn hold<C>(
        &self,
        name: &str,
        requests: Vec<Request<C>>,
    ) -> Result<(Held<S>, Vec<Outcome<C>>), JournalError> {
        let mut opened = self.store.open(&self.settings.boot())?;
        self.clear(&mut opened)?;
        if let Some(holder) = opened.journal.holder(name) {
            let (name, process) = (name.to_owned(), holder.process);
            return Err(JournalError::Taken { name, process });
        }
        opened.journal.enter(name, self.settings.own());
        let noted: Vec<_> =
            requests.into_iter().map(|request| self.note(name, &mut opened, request)).collect();
        opened.save()?;
        let give = |(outcome, change)| self.give(name, &mut opened, outcome, change);
        let outcomes = noted.into_iter().map(give).collect();
        opened.journal.sweep();
        if let Err(error) = opened.save() {
            self.leave(name, &mut opened);
            return Err(error);
        }
        let held = Held { controls: self.clone(), name: name.to_owned(), is_held: true };
        Ok((held, outcomes))
    }

    /// Puts back what was changed for sites whose process is gone.
    ///
    /// # Errors
    /// The journal can't be read or written.
    pub fn recover(&self) -> Result<Recovery, JournalError> {
        if !self.store.exists() {
            return Ok(Recovery::default());
        }
        let mut opened = self.store.open(&self.settings.boot())?;
        self.clear(&mut opened)
    }

    fn clear(&self, opened: &mut Opened) -> Result<Recovery, JournalError> {
        let gone = opened.journal.gone(|process| self.settings.lives(process));
        let mut left: Vec<Left> = gone.iter().flat_map(|name| self.leave(name, opened)).collect();
        let owed = opened.journal.owed();
        left.extend(self.put_all_back(owed, opened));
        opened.close()?;
        Ok(Recovery { gone, left })
    }

    /// Decides what a setting is to hold, and notes that; nothing is written to it yet.
    fn note<C>(
        &self,
        name: &str,
        opened: &mut Opened,
        Request { control, setting, want }: Request<C>,
    ) -> (Outcome<C>, Option<Change>) {
        let outcome = |before: String, wanted: String, effect| Outcome {
            control,
            setting: setting.clone(),
            before,
            wanted,
            effect,
        };
        let before = match self.settings.read(&setting) {
            Ok(before) => before,
            Err(SettingError::Gone) => {
                return (outcome(String::new(), String::new(), Effect::Gone), None);
            }
            Err(error) => {
                let effect = Effect::Refused(error.into());
                return (outcome(String::new(), String::new(), effect), None);
            }
        };
        match opened.journal.wish(name, &setting, &before, want) {
            Ok(change) => (outcome(before, change.to.clone(), Effect::Unchanged), Some(change)),
            Err(refusal) => (outcome(before, String::new(), Effect::Refused(refusal)), None),
        }
    }

    /// Gives a setting its value and reads it back. A wish without effect is struck out.
    fn give<C>(
        &self,
        name: &str,
        opened: &mut Opened,
        mut outcome: Outcome<C>,
        change: Option<Change>,
    ) -> Outcome<C> {
        let Some(change) = change else { return outcome };
        let setting = &change.setting;
        let written = match &outcome.before {
            before if *before == change.to => Ok(()),
            _ => self.settings.write(setting, &change.to),
        };
        let found = self.read_back(setting, &change.to);
        outcome.effect = match (&written, &found) {
            (_, Err(SettingError::Gone)) | (Err(SettingError::Gone), _) => Effect::Gone,
            (Err(error), _) | (_, Err(error)) => Effect::Refused(error.clone().into()),
            (_, Ok(found)) if *found != change.to => Effect::Ignored(found.clone()),
            _ if outcome.before == change.to => Effect::Unchanged,
            _ => Effect::Effective,
        };
        match found {
            Ok(found) if found == change.to || found != outcome.before => {
                opened.journal.prove(setting, &found);
            }
            Ok(found) => {
                if setting.is_deferred() && written.is_ok() {
                    // It may be on its way yet: only a write calls it back.
                    let _ = self.settings.write(setting, &found);
                }
                opened.journal.drop_wish(name, setting);
                opened.journal.prove(setting, &found);
            }
            Err(SettingError::Gone) => opened.journal.drop_wish(name, setting),
            // It may hold either value: whoever puts it back finds out.
            Err(SettingError::Refused(_)) => {}
        }
        outcome
    }

    /// Reads a setting after it was written; again for a moment where the value before may be shown
    /// although the one written is on its way.
    fn read_back(&self, setting: &Setting, written: &str) -> Result<String, SettingError> {
        let mut found = self.settings.read(setting)?;
        let again = if setting.is_deferred() { READ_BACK_MAX } else { 0 };
        for _ in 0..again {
            if found == written {
                break;
            }
            self.settings.pause(READ_BACK_EVERY);
            found = self.settings.read(setting)?;
        }
        Ok(found)
    }

    /// Puts back what was changed for one site.
    fn leave(&self, name: &str, opened: &mut Opened) -> Vec<Left> {
        let changes = opened.journal.leave(name);
        self.put_all_back(changes, opened)
    }

    fn put_all_back(&self, changes: Vec<Change>, opened: &mut Opened) -> Vec<Left> {
        let mut left = Vec::new();
        for change in changes {
            match self.put_back(&change) {
                Ok(found) => opened.journal.prove(&change.setting, &found),
                Err(other) => {
                    if matches!(other, Left::Refused { .. }) {
                        opened.journal.owe(&change);
                    }
                    left.push(other);
                }
            }
        }
        opened.journal.sweep();
        left
    }

    fn put_back(&self, change: &Change) -> Result<String, Left> {
        let (setting, original) = (change.setting.clone(), change.to.clone());
        let refused = |reason: String| {
            let (setting, original) = (change.setting.clone(), change.to.clone());
            Left::Refused { setting, original, reason }
        };
        match self.settings.read(&change.setting) {
            Err(SettingError::Gone) => return Ok(original),
            Ok(found) if found == original => {
                if setting.is_deferred() && change.from != original {
                    // Our value may be on its way yet: only a write calls it back. Where the kernel
                    // refuses this one, it has refused ours, too.
                    let _ = self.settings.write(&setting, &original);
                }
                return Ok(found);
            }
            Ok(found) if change.is_proven && found != change.from && !change.setting.is_ours() => {
                return Err(Left::Foreign { setting, found, original });
            }
            Ok(_) | Err(SettingError::Refused(_)) => {}
        }
        self.settings.write(&setting, &original).map_err(|error| refused(error.to_string()))?;
        match self.read_back(&setting, &original) {
            Ok(found) if found == original => Ok(found),
            Ok(found) => Err(refused(format!("it holds `{found}` instead"))),
            Err(error) => Err(refused(error.to_string())),
        }
    }
}

impl<S: Settings> Held<S> {
    /// Which settings are not what they were given.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn check(&self) -> Result<Vec<MachineDrift>, JournalError> {
        let opened = self.controls.store.open(&self.controls.settings.boot())?;
        let given = opened.journal.given(&self.name);
        let drifts = given.filter_map(|(setting, given)| {
            let (name, given) = (setting.into(), given.to_owned());
            match self.controls.settings.read(setting) {
                Ok(found) if found == given => None,
                Ok(found) => Some(MachineDrift::OtherValue { setting: name, given, found }),
                Err(error) => {
                    let error = error.to_string();
                    Some(MachineDrift::Unreadable { setting: name, given, error })
                }
            }
        });
        Ok(drifts.collect())
    }

    /// Gives settings what they were given before, wherever they have something else by now, and
    /// takes over those that have come since. Returns what had to be done.
    ///
    /// # Errors
    /// The journal can't be read or written; what it does not hold is not changed.
    pub fn renew<C>(&self, requests: Vec<Request<C>>) -> Result<Vec<Outcome<C>>, JournalError> {
        let controls = &self.controls;
        let mut opened = controls.store.open(&controls.settings.boot())?;
        let noted: Vec<_> = requests
            .into_iter()
            .map(|request| controls.note(&self.name, &mut opened, request))
            .collect();
        opened.save()?;
        let give = |(outcome, change)| controls.give(&self.name, &mut opened, outcome, change);
        let outcomes: Vec<_> = noted.into_iter().map(give).collect();
        opened.journal.sweep();
        opened.save()?;
        let is_done = |outcome: &Outcome<C>| outcome.effect == Effect::Effective;
        Ok(outcomes.into_iter().filter(is_done).collect())
    }

    /// Puts the settings back and says which were not.
    ///
    /// # Errors
    /// The journal can't be read or written.
    pub fn release(mut self) -> Result<Vec<Left>, JournalError> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<Vec<Left>, JournalError> {
        self.is_held = false;
        let mut opened = self.controls.store.open(&self.controls.settings.boot())?;
        let left = self.controls.leave(&self.name, &mut opened);
        opened.close()?;
        Ok(left)
    }
}

impl<S: Settings> Drop for Held<S> {
    fn drop(&mut self) {
        if self.is_held {
            // Nobody is left to be told; what could not be put back stays in the journal.
            drop(self.give_back());
        }
    }
}

#[cfg(test)]
mod tests;
