//! The journal: which settings of the machine are changed, for whom, and what they were before.
//!
//! ```text
//!            read the originals
//!  hold  ──► write the journal: all that will be changed      ─┐ a process that is killed here
//!            write the settings, read each back                │ has left nothing that is not
//!            write the journal: what they are now             ─┘ in the journal
//!
//!  release ► write the settings that were ours; then the journal, without them
//! ```
//!
//! A setting is written down before it is touched, and struck out after it was put back. So
//! whoever opens the journal next can undo what a process left that was killed at any instant: the
//! holder says which process it is of, and a holder that is gone holds nothing. After a reboot all
//! settings are the kernel's own again, and the journal says of which boot it is; but those that
//! some program keeps on disk are owed then.
//!
//! **What others changed since stays.** A value that is neither ours nor the one before is somebody
//! else's; it is told and left.

mod store;

use quietcore_record::reason::Refusal;
use serde::{Deserialize, Serialize};

use super::setting::Setting;
use super::want::{Want, together};
use quietcore_host::process::ProcessName;

pub(super) use store::Opened;
pub use store::{JournalError, Store};

/// The schema name of the file.
pub(super) const SCHEMA: &str = "quietcore.journal/1";

/// All that is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    schema: String,
    /// The boot of the machine that this is of.
    boot: String,
    holders: Vec<Holder>,
    entries: Vec<Entry>,
}

/// For whom settings are changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    /// The name of the site.
    name: String,
    /// The process that puts it all back; once it is gone, anybody may.
    process: ProcessName,
}

/// A setting that is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    setting: Setting,
    /// The value before anybody changed it.
    original: String,
    /// The value that it was given last.
    given: String,
    /// `true` if `given` was read back. If not, the setting may hold either of the two.
    is_proven: bool,
    wishes: Vec<Wish>,
}

/// The wish of one holder for a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Wish {
    holder: String,
    want: Want,
}

/// A value to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) setting: Setting,
    /// The value that the setting should hold now.
    pub(super) from: String,
    /// `true` if that is known.
    pub(super) is_proven: bool,
    pub(super) to: String,
}

impl Journal {
    /// Makes a journal in which nothing is changed.
    pub(super) fn empty(boot: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            boot: boot.to_owned(),
            holders: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Returns `true` if nothing is changed.
    pub(super) fn is_empty(&self) -> bool {
        self.holders.is_empty() && self.entries.is_empty()
    }

    /// Returns the journal in another boot: settings kept on disk are still changed, for nobody.
    pub(super) fn after_reboot(self, boot: &str) -> Self {
        let kept = self.entries.into_iter().filter(|entry| entry.setting.outlives_boot());
        let entries = kept.map(|entry| Entry { wishes: Vec::new(), ..entry }).collect();
        Self { entries, ..Self::empty(boot) }
    }

    /// Returns the part that is still changed after a reboot, held by nobody.
    pub(super) fn lasting(&self) -> Self {
        self.clone().after_reboot(&self.boot)
    }

    /// Merges in another journal of this boot. Where both have a setting, the one that changed it
    /// first knows the original: the value that it gave is what the other found.
    pub(super) fn adopt(&mut self, other: Self) {
        for holder in other.holders {
            if self.holder(&holder.name).is_none() {
                self.holders.push(holder);
            }
        }
        for theirs in other.entries {
            match self.entries.iter_mut().find(|entry| entry.setting == theirs.setting) {
                None => self.entries.push(theirs),
                Some(ours) => ours.adopt(theirs),
            }
        }
    }

    /// The names of holders whose process is gone.
    pub(super) fn gone(&self, lives: impl Fn(&ProcessName) -> bool) -> Vec<String> {
        let gone = self.holders.iter().filter(|holder| !lives(&holder.process));
        gone.map(|holder| holder.name.clone()).collect()
    }

    /// The process that holds settings under a name.
    pub(super) fn holder(&self, name: &str) -> Option<ProcessName> {
        self.holders.iter().find(|holder| holder.name == name).map(|holder| holder.process)
    }

    /// Notes somebody for whom settings will be changed.
    pub(super) fn enter(&mut self, name: &str, process: ProcessName) {
        self.holders.push(Holder { name: name.to_owned(), process });
    }

    /// Notes a wish, and says what has to be written for it.
    pub(super) fn wish(
        &mut self,
        holder: &str,
        setting: &Setting,
        now: &str,
        want: Want,
    ) -> Result<Change, Refusal> {
        let place = self.entries.iter().position(|entry| entry.setting == *setting);
        let fresh = || Entry {
            setting: setting.clone(),
            original: now.to_owned(),
            given: now.to_owned(),
            is_proven: true,
            wishes: Vec::new(),
        };
        let mut entry = place.map_or_else(fresh, |place| self.entries[place].clone());
        let wish = Wish { holder: holder.to_owned(), want };
        if !entry.wishes.contains(&wish) {
            entry.wishes.push(wish);
        }
        let change = entry.change()?;
        match place {
            Some(place) => self.entries[place] = entry,
            None => self.entries.push(entry),
        }
        Ok(change)
    }

    /// Takes note of what a setting holds after it was written.
    pub(super) fn prove(&mut self, setting: &Setting, found: &str) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.setting == *setting) {
            found.clone_into(&mut entry.given);
            entry.is_proven = true;
        }
    }

    /// Returns the values that the settings of one holder should hold.
    pub(super) fn given(&self, holder: &str) -> impl Iterator<Item = (&Setting, &str)> {
        let of = move |entry: &&Entry| entry.wishes.iter().any(|wish| wish.holder == holder);
        self.entries.iter().filter(of).map(|entry| (&entry.setting, entry.given.as_str()))
    }

    /// Strikes out one wish, which had no effect.
    pub(super) fn drop_wish(&mut self, holder: &str, setting: &Setting) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.setting == *setting) {
            entry.wishes.retain(|wish| wish.holder != holder);
            // Fewer wishes than could be fulfilled before; there is nothing to be written.
            drop(entry.change());
        }
    }

    /// Strikes out all wishes of somebody, and says what has to be written for that, the last that
    /// was changed first.
    pub(super) fn leave(&mut self, holder: &str) -> Vec<Change> {
        let of = |entry: &&mut Entry| entry.wishes.iter().any(|wish| wish.holder == holder);
        let entries = self.entries.iter_mut().rev().filter(of);
        let changes = entries.filter_map(|entry| {
            entry.wishes.retain(|wish| wish.holder != holder);
            // Fewer wishes than could be fulfilled before.
            entry.change().ok()
        });
        let changes = changes.collect();
        self.holders.retain(|other| other.name != holder);
        changes
    }

    /// Notes that a value could not be written, so that it is tried again.
    pub(super) fn owe(&mut self, change: &Change) {
        if let Some(entry) = self.entries.iter_mut().find(|it| it.setting == change.setting) {
            change.from.clone_into(&mut entry.given);
            entry.is_proven = change.is_proven;
        }
    }

    /// Returns changes that nobody wants any more and that could not be put back so far.
    pub(super) fn owed(&mut self) -> Vec<Change> {
        let owed = self.entries.iter_mut().rev().filter(|entry| entry.wishes.is_empty());
        owed.filter_map(|entry| entry.change().ok()).collect()
    }

    /// Forgets settings of which nobody wants anything and that are what they were.
    pub(super) fn sweep(&mut self) {
        self.entries.retain(|entry| !entry.wishes.is_empty() || entry.given != entry.original);
    }
}

impl Entry {
    /// Merges in what another journal says of the same setting.
    fn adopt(&mut self, theirs: Self) {
        if theirs.given == self.original {
            self.original = theirs.original;
        } else if self.given == theirs.original {
            (self.given, self.is_proven) = (theirs.given, theirs.is_proven);
        }
        let is_new = |wish: &Wish| !self.wishes.contains(wish);
        let more: Vec<Wish> = theirs.wishes.into_iter().filter(is_new).collect();
        self.wishes.extend(more);
    }

    /// Decides the value, and says what has to be written.
    fn change(&mut self) -> Result<Change, Refusal> {
        let to = together(&self.original, self.wishes.iter().map(|wish| &wish.want))?;
        let from = std::mem::replace(&mut self.given, to.clone());
        let is_proven = std::mem::replace(&mut self.is_proven, false);
        Ok(Change { setting: self.setting.clone(), from, is_proven, to })
    }
}
