//! Ways of the last-level cache for a partition's own use: cache allocation (CAT), by resctrl.
//!
//! A partition gets a group of resctrl with a mask of contiguous ways. The same ways are taken from
//! the default group, in which everything else runs: else they would be no reservation. Ways that
//! other groups or devices may fill too are told as *contention*.
//!
//! ```text
//! before   default 1111 1111 1111
//! held     default 1111 1111 0000   quietcore-PID-BEGAN-f-axis 0000 0000 1111
//! ```
//!
//! **Nothing is left**, not even by a process that was killed. The name of a group says whose it is
//! (a process, and when that began, so that a number used again is not mistaken for it) and which
//! ways the default group is owed. Whoever holds ways or gives them back looks after groups whose
//! owner is gone. Masks are one stretch of ways; where the default group can't have ways back
//! because those of another partition are between, a group of nobody keeps them until it can.
//!
//! Threads that a thread of the group starts are in the group too.

mod masks;
mod tree;

use std::io;

use super::process::began_at;
use crate::source::Source;
use masks::{Choice, LAST_LEVEL, Masks, Rules, Standing, choose, is_possible};
use tree::RESCTRL;

pub use tree::{FakeTree, LiveTree, ResctrlTree};

/// How names of our groups begin.
const PREFIX: &str = "quietcore-";
/// The owner of a group that nobody owns; no process has this number.
const NOBODY: u32 = 0;

/// Why a partition has no ways of its own.
#[derive(Debug, thiserror::Error)]
pub enum CacheWaysError {
    /// There is no resctrl.
    #[error(
        "`{RESCTRL}` can't be used: {0}; it needs a processor with cache allocation (CAT), \
         `mount -t resctrl resctrl {RESCTRL}`, and root"
    )]
    NoResctrl(#[source] io::Error),
    /// It divides other things.
    #[error("resctrl does not divide the last-level cache of this machine")]
    NoLastLevel,
    /// There are no such ways.
    #[error(
        "{asked} ways side by side are asked for; of the {all} ways, {reserved} are reserved \
         already, one stretch must be left to everything else, and a mask has {least} at least"
    )]
    TooFew {
        /// How many were asked for.
        asked: u32,
        /// How many there are.
        all: u32,
        /// How many partitions have already.
        reserved: u32,
        /// The fewest of a mask.
        least: u32,
    },
    /// The kernel refused a change.
    #[error("`{RESCTRL}/{path}` can't be changed: {because}")]
    Refused {
        /// Which file or group.
        path: String,
        /// What the kernel says.
        #[source]
        because: io::Error,
    },
    /// What was written reads back as something else.
    #[error(
        "`{RESCTRL}/{path}`: wrote `{written}`, read back `{found}`; the kernel or another program \
         overrides it"
    )]
    NotEffective {
        /// Which file.
        path: String,
        /// What was written.
        written: String,
        /// What it holds.
        found: String,
    },
}

/// Ways that belong to a partition until this is dropped.
#[derive(Debug)]
pub struct CacheWays<T: ResctrlTree = LiveTree> {
    tree: T,
    group: String,
    choice: Choice,
    /// What the default group had, and what the partition's has.
    masks: Masks,
}

impl CacheWays {
    /// Reserves so many ways of this machine for a partition, in the name of this process.
    ///
    /// # Errors
    /// [`CacheWaysError`]; then nothing has changed.
    pub fn hold(partition: &str, ways: u32) -> Result<Self, CacheWaysError> {
        let process = std::process::id();
        let began = began_at(&Source::live(), process).unwrap_or_default();
        Self::hold_in(LiveTree::default(), (process, began), partition, ways)
    }
}

impl<T: ResctrlTree> CacheWays<T> {
    /// The same in another tree, in the name of a process of this number that began at this
    /// instant.
    ///
    /// # Errors
    /// [`CacheWaysError`]; then nothing has changed.
    pub fn hold_in(
        tree: T,
        owner: (u32, u64),
        partition: &str,
        ways: u32,
    ) -> Result<Self, CacheWaysError> {
        let lock = tree.lock().map_err(CacheWaysError::NoResctrl)?;
        let rules = rules(&tree)?;
        sweep(&tree, rules);
        let default = masks_of(&tree, "")?;
        if default.is_empty() {
            return Err(CacheWaysError::NoLastLevel);
        }
        let standing = standing(&tree)?;
        let choice = choose(ways, rules, &default, &standing).ok_or_else(|| {
            let ours = standing.iter().filter(|group| group.is_ours);
            let reserved = ours.fold(0, |bits, group| bits | group.bits).count_ones();
            let (all, least) = (rules.full.count_ones(), rules.least);
            CacheWaysError::TooFew { asked: ways, all, reserved, least }
        })?;
        let owed = if choice.from_default { choice.mask } else { 0 };
        let group = Name { owner, owed, partition: partition.to_owned() }.text();
        change(&group, tree.make(&group))?;
        let masks = default.map(|_| choice.mask);
        let held = write_masks(&tree, &group, &masks).and_then(|()| {
            if owed == 0 {
                return Ok(());
            }
            write_masks(&tree, "", &default.map(|mask| mask & !owed))
        });
        if let Err(error) = held {
            // The group is the one that was just made; the default one has what it had.
            let _ = write_masks(&tree, "", &default);
            let _ = tree.remove(&group);
            return Err(error);
        }
        drop(lock);
        Ok(Self { tree, group, choice, masks })
    }

    /// Puts a thread into the group, with all that it starts from now on.
    ///
    /// # Errors
    /// [`CacheWaysError::Refused`]: there is no such thread.
    pub fn add(&self, thread: u32) -> Result<(), CacheWaysError> {
        let path = format!("{}/tasks", self.group);
        change(&path, self.tree.write(&path, &thread.to_string()))
    }

    /// Whether the ways are still what they were.
    ///
    /// # Errors
    /// [`CacheWaysError::NotEffective`].
    pub fn check(&self) -> Result<(), CacheWaysError> {
        effective(&self.tree, &self.group, &self.masks)?;
        let default = masks_of(&self.tree, "")?;
        let without = default.map(|mask| mask & !self.choice.mask);
        if default == without { Ok(()) } else { Err(overridden("", &without, &default)) }
    }

    /// The mask of the ways.
    pub fn mask(&self) -> u64 {
        self.choice.mask
    }

    /// Who else may fill these ways, in words; empty where nobody does.
    pub fn contention(&self) -> Vec<String> {
        let groups = self.choice.shared.iter();
        let mut words: Vec<String> =
            groups.map(|(name, ways)| format!("group `{name}` fills {ways} of them")).collect();
        if self.choice.with_devices > 0 {
            words.push(format!("devices fill {} of them", self.choice.with_devices));
        }
        words
    }
}

impl<T: ResctrlTree> Drop for CacheWays<T> {
    fn drop(&mut self) {
        // What can't be undone now is undone by whoever holds ways next.
        let Ok(_lock) = self.tree.lock() else { return };
        let Ok(rules) = rules(&self.tree) else { return };
        if let Some(name) = Name::parse(&self.group) {
            give_back(&self.tree, rules, &self.group, &name);
        }
        sweep(&self.tree, rules);
    }
}

/// What the name of a group says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    /// The process that holds it, and when it began.
    owner: (u32, u64),
    /// The ways that the default group gets back.
    owed: u64,
    partition: String,
}

impl Name {
    fn text(&self) -> String {
        let Self { owner: (process, began), owed, partition } = self;
        format!("{PREFIX}{process}-{began}-{owed:x}-{partition}")
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix(PREFIX)?.splitn(4, '-');
        let owner = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let owed = u64::from_str_radix(parts.next()?, 16).ok()?;
        Some(Self { owner, owed, partition: parts.next()?.to_owned() })
    }
}

/// Gives the ways of a group back to the default one and removes it. Where the default group can't
/// have them yet, they are kept for it. Returns whether they are no longer anybody's.
fn give_back(tree: &impl ResctrlTree, rules: Rules, group: &str, name: &Name) -> bool {
    let Ok(default) = masks_of(tree, "") else { return false };
    let back = default.map(|mask| mask | name.owed);
    if back.all().all(|mask| is_possible(mask, rules)) {
        let is_back = back == default || write_masks(tree, "", &back).is_ok();
        return is_back && tree.remove(group).is_ok();
    }
    if name.owner.0 != NOBODY && tree.remove(group).is_ok() {
        // It fails where a group of this name is there already, which keeps them as well.
        let _ = tree.make(&Name { owner: (NOBODY, 0), ..name.clone() }.text());
    }
    false
}

/// Looks after groups whose owner is gone, until none can be given back any more.
fn sweep(tree: &impl ResctrlTree, rules: Rules) {
    let Ok(mut left) = tree.groups() else { return };
    loop {
        let before = left.len();
        left.retain(|group| match Name::parse(group) {
            Some(name) if !tree.lives(name.owner.0, name.owner.1) => {
                !give_back(tree, rules, group, &name)
            }
            _ => false,
        });
        if left.len() == before || left.is_empty() {
            return;
        }
        // Those that were kept have other names now.
        left = tree.groups().unwrap_or_default();
        if left.len() >= before {
            return;
        }
    }
}

fn rules(tree: &impl ResctrlTree) -> Result<Rules, CacheWaysError> {
    let info = |file: &str| {
        let read = |level: &&str| tree.read(&format!("info/{level}/{file}")).ok();
        LAST_LEVEL.iter().find_map(read)
    };
    let hexadecimal = |text: String| u64::from_str_radix(text.trim(), 16).ok();
    let full = info("cbm_mask").and_then(hexadecimal).ok_or(CacheWaysError::NoLastLevel)?;
    let least = info("min_cbm_bits").and_then(|text| text.trim().parse().ok());
    Ok(Rules {
        full,
        least: least.unwrap_or(1),
        devices: info("shareable_bits").and_then(hexadecimal).unwrap_or(0),
        sparse: info("sparse_masks").is_some_and(|text| text.trim() == "1"),
    })
}

fn standing(tree: &impl ResctrlTree) -> Result<Vec<Standing>, CacheWaysError> {
    let groups = tree.groups().map_err(CacheWaysError::NoResctrl)?;
    groups
        .into_iter()
        .map(|name| {
            let parsed = Name::parse(&name);
            let masks = masks_of(tree, &name)?;
            // A group of nobody has no threads: what it keeps is in its name.
            let bits = match &parsed {
                Some(parsed) if parsed.owner.0 == NOBODY => parsed.owed,
                _ => masks.all().fold(0, |bits, mask| bits | mask),
            };
            Ok(Standing { is_ours: parsed.is_some(), name, bits })
        })
        .collect()
}

fn schemata(group: &str) -> String {
    if group.is_empty() { "schemata".to_owned() } else { format!("{group}/schemata") }
}

fn masks_of(tree: &impl ResctrlTree, group: &str) -> Result<Masks, CacheWaysError> {
    let path = schemata(group);
    let text = tree.read(&path);
    Ok(Masks::parse(&text.map_err(|because| CacheWaysError::Refused { path, because })?))
}

fn write_masks(tree: &impl ResctrlTree, group: &str, masks: &Masks) -> Result<(), CacheWaysError> {
    let path = schemata(group);
    change(&path, tree.write(&path, &masks.to_string()))?;
    effective(tree, group, masks)
}

fn effective(tree: &impl ResctrlTree, group: &str, masks: &Masks) -> Result<(), CacheWaysError> {
    let found = masks_of(tree, group)?;
    if found == *masks { Ok(()) } else { Err(overridden(group, masks, &found)) }
}

fn overridden(group: &str, written: &Masks, found: &Masks) -> CacheWaysError {
    let words = |masks: &Masks| masks.to_string().trim().replace('\n', " ");
    let (written, found) = (words(written), words(found));
    CacheWaysError::NotEffective { path: schemata(group), written, found }
}

fn change(path: &str, result: io::Result<()>) -> Result<(), CacheWaysError> {
    result.map_err(|because| CacheWaysError::Refused { path: path.to_owned(), because })
}

#[cfg(test)]
mod tests;
