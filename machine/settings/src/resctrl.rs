//! A partition's own part of what CPUs share on their way to the memory: ways of the last-level
//! cache (CAT) and a limit of the memory's bandwidth (MBA), by resctrl.
//!
//! A partition gets a group of resctrl. *Ways* are a mask of contiguous ones, which are taken from
//! the default group, in which everything else runs: else they would be no reservation. Ways that
//! other groups or devices may fill too are told as *contention*. A *limit* is the most that the
//! partition takes of the bandwidth; it protects the others from it.
//!
//! ```text
//! before   default 1111 1111 1111
//! held     default 1111 1111 0000   quietcore-PID-BEGAN-f-axis 0000 0000 1111
//! limited  default 1111 1111 0000   quietcore-PID-BEGAN-s-hmi  1111 1111 0000, 40 %
//! ```
//!
//! **Nothing is left**, not even by a process that was killed. The name of a group says whose it is
//! (a process, and when that began, so that a number used again is not mistaken for it) and which
//! ways the default group is owed; that is the journal. Whoever holds a group or gives one back
//! looks after groups whose owner is gone, and so does [`recover`]. Masks are one stretch of ways;
//! where the default group can't have ways back because those of another partition are between, the
//! group is given up and keeps them until it can.
//!
//! Threads that a thread of the group starts are in the group too.

mod bandwidth;
mod masks;
mod name;
mod tree;
mod upkeep;

use std::fmt;
use std::io;

use quietcore_record::reason::ShareDrift;
use quietcore_site::Vcr;
use serde::{Deserialize, Serialize};

use bandwidth::{ALL_PERCENT, BANDWIDTH, Limits, Steps};
use masks::{Choice, LAST_LEVEL, Masks, Rules, Standing, choose, shared};
use name::Name;
use quietcore_host::Source;
use quietcore_host::process::began_at;
use tree::RESCTRL;
use upkeep::{give_back, give_default, is_left, sweep};

pub use tree::{FakeTree, LiveTree, ResctrlTree};

/// The share of a partition in what CPUs share on their way to the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MemoryShare {
    /// So many ways of the last-level cache, and nobody else these.
    pub ways: Option<u32>,
    /// The most of the memory's bandwidth, in percent.
    pub bandwidth: Option<u32>,
}

impl MemoryShare {
    /// That of a partition. Colours are no matter of the host.
    pub fn of(vcr: &Vcr) -> Self {
        Self { ways: vcr.cache_ways(), bandwidth: vcr.memory_bandwidth_percent }
    }

    /// So many ways of the last-level cache, without a limit of the bandwidth.
    pub fn of_ways(ways: u32) -> Self {
        Self { ways: Some(ways), bandwidth: None }
    }

    /// Returns `true` if there is nothing to be reserved.
    pub fn is_empty(&self) -> bool {
        self.ways.is_none() && self.bandwidth.is_none()
    }
}

/// Why a partition has no part of its own.
#[derive(Debug, thiserror::Error)]
pub enum ResctrlError {
    /// There is no resctrl.
    #[error(
        "`{RESCTRL}` can't be used: {0}; it needs a processor with cache allocation (CAT) or \
         memory bandwidth allocation (MBA), `mount -t resctrl resctrl {RESCTRL}`, and root"
    )]
    NoResctrl(io::Error),
    /// It divides other things.
    #[error("resctrl does not divide the last-level cache of this machine")]
    NoLastLevel,
    /// It divides other things.
    #[error("resctrl does not limit the bandwidth of this machine's memory")]
    NoBandwidth,
    /// It has another measure.
    #[error(
        "resctrl limits the memory's bandwidth of this machine in other steps than percent: a \
         group without limit has {0}"
    )]
    NotPercent(u64),
    /// It has no limit as low as that.
    #[error(
        "{asked} % of the memory's bandwidth is less than this machine's least limit, {least} %"
    )]
    TooLow {
        /// The limit that was asked for.
        asked: u64,
        /// The lowest limit of this machine.
        least: u64,
    },
    /// There are no such ways.
    #[error(
        "{asked} ways side by side are asked for; of the {all} ways, {reserved} are reserved \
         already, one stretch must be left to everything else, and a mask has {least} at least"
    )]
    TooFew {
        /// The number of ways that was asked for.
        asked: u32,
        /// The number of ways of the cache.
        all: u32,
        /// The number of ways that partitions have already.
        reserved: u32,
        /// The fewest of a mask.
        least: u32,
    },
    /// The kernel refused a change.
    #[error("`{RESCTRL}/{path}` can't be changed: {because}")]
    Refused {
        /// Which file or group.
        path: String,
        /// The error of the kernel.
        because: io::Error,
    },
    /// A share is not what was given, or not the partition's alone.
    #[error(transparent)]
    Drift(#[from] ShareDrift),
}

impl From<ResctrlError> for ShareDrift {
    fn from(error: ResctrlError) -> Self {
        match error {
            ResctrlError::Drift(drift) => drift,
            other => Self::Unreadable { error: other.to_string() },
        }
    }
}

/// A share that belongs to a partition until this is dropped.
#[derive(Debug)]
pub struct HeldShare<T: ResctrlTree = LiveTree> {
    tree: T,
    group: String,
    /// The ways of its own, where it has some.
    choice: Option<Choice>,
    /// The limits that it was given, where it was.
    limits: Option<Limits>,
    /// `true` if siblings of a core slow each other down.
    siblings: bool,
}

impl HeldShare {
    /// Reserves a share of this machine for a partition, in the name of this process.
    ///
    /// # Errors
    /// [`ResctrlError`]; then nothing has changed.
    pub fn hold(partition: &str, share: MemoryShare) -> Result<Self, ResctrlError> {
        let process = std::process::id();
        let began = began_at(&Source::live(), process).unwrap_or_default();
        Self::hold_in(LiveTree::default(), (process, began), partition, share)
    }
}

impl<T: ResctrlTree> HeldShare<T> {
    /// The same in another tree, in the name of a process of this number that began at this
    /// instant.
    ///
    /// # Errors
    /// [`ResctrlError`]; then nothing has changed.
    pub fn hold_in(
        tree: T,
        owner: (u32, u64),
        partition: &str,
        share: MemoryShare,
    ) -> Result<Self, ResctrlError> {
        let lock = tree.lock().map_err(ResctrlError::NoResctrl)?;
        let rules = rules(&tree);
        sweep(&tree, rules);
        give_back_own(&tree, rules, owner, partition);
        let default = masks_of(&tree, "")?;
        let choice =
            share.ways.map(|ways| choose_ways(&tree, ways, rules, &default)).transpose()?;
        let limit = share.bandwidth.map(|percent| limit(&tree, percent.into())).transpose()?;
        let owed = choice.as_ref().map(|choice| if choice.from_default { choice.mask } else { 0 });
        let group = Name { owner, owed, partition: partition.to_owned() }.text();
        make(&tree, &group)?;
        let fill = || {
            let own = choice.as_ref().map(|choice| default.map(|_| choice.mask));
            write_masks(&tree, &group, own.as_ref().unwrap_or(&default))?;
            if let Some(owed) = owed.filter(|owed| *owed != 0) {
                give_default(&tree, &default.map(|mask| mask & !owed))?;
            }
            limit.map(|percent| write_limit(&tree, &group, percent)).transpose()
        };
        match fill() {
            Ok(limits) => {
                // Their ways are this one's now, and it says whose they are after it.
                remove_left(&tree, &group, owed);
                let siblings = limits.is_some() && slows_siblings(&tree);
                drop(lock);
                Ok(Self { tree, group, choice, limits, siblings })
            }
            Err(error) => {
                if let Some(name) = Name::parse(&group) {
                    give_back(&tree, rules, &group, &name);
                }
                Err(error)
            }
        }
    }

    /// Puts a thread into the group, with all that it starts from now on.
    ///
    /// # Errors
    /// [`ResctrlError::Refused`]: there is no such thread.
    pub fn add(&self, thread: u32) -> Result<(), ResctrlError> {
        let path = format!("{}/tasks", self.group);
        change(&path, self.tree.write(&path, &thread.to_string()))
    }

    /// Checks that the share is still what it was, and nobody else has come to its ways. While
    /// others change the tree, that can't be told and counts as so.
    ///
    /// # Errors
    /// [`ResctrlError::Drift`], or those of reading the files.
    pub fn check(&self) -> Result<(), ResctrlError> {
        let lock = self.tree.try_lock().map_err(ResctrlError::NoResctrl)?;
        if lock.is_none() {
            return Ok(());
        }
        if let Some(choice) = &self.choice {
            let default = masks_of(&self.tree, "")?;
            effective(&self.tree, &self.group, &default.map(|_| choice.mask))?;
            let without = default.map(|mask| mask & !choice.mask);
            if default != without {
                return Err(overridden("", &without, &default));
            }
            let known = |group: &str| choice.shared.iter().any(|(name, _)| name == group);
            let others = shared(choice.mask, &standing(&self.tree)?);
            if let Some((group, ways)) = others.into_iter().find(|(group, _)| !known(group)) {
                return Err(ShareDrift::Filled { group, ways }.into());
            }
        }
        match &self.limits {
            None => Ok(()),
            Some(limits) => in_force(&self.tree, &self.group, limits),
        }
    }

    /// The mask of the ways of its own; 0 where it has none.
    pub fn mask(&self) -> u64 {
        self.choice.as_ref().map_or(0, |choice| choice.mask)
    }

    /// Lists the groups that may fill the ways, too, and what else the limit slows down, in words.
    pub fn contention(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(choice) = &self.choice {
            let groups = choice.shared.iter();
            words.extend(groups.map(|(name, ways)| format!("group `{name}` fills {ways} of them")));
            if choice.with_devices > 0 {
                words.push(format!("devices fill {} of them", choice.with_devices));
            }
        }
        if self.siblings {
            words.push(
                "the limit slows down siblings of its CPUs, where there are any, too".to_owned(),
            );
        }
        words
    }
}

impl<T: ResctrlTree> HeldShare<T> {
    /// Returns the ways of the last-level cache that are reserved, as a mask; `None` without any.
    pub fn cache_mask(&self) -> Option<u64> {
        self.choice.as_ref().map(|choice| choice.mask)
    }

    /// Returns the most of the memory's bandwidth, in per cent; `None` without a limit.
    pub fn bandwidth_percent(&self) -> Option<u64> {
        self.limits.as_ref().and_then(|limits| limits.all().max())
    }
}

impl<T: ResctrlTree> fmt::Display for HeldShare<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ways = self.choice.as_ref().map(|Choice { mask, .. }| {
            format!("{} ways of the last-level cache (mask {mask:x})", mask.count_ones())
        });
        let percent = self.bandwidth_percent();
        let limit = percent.map(|percent| format!("{percent} % of the memory's bandwidth"));
        let words: Vec<String> = ways.into_iter().chain(limit).collect();
        f.write_str(&words.join(", "))?;
        let contention = self.contention();
        if contention.is_empty() { Ok(()) } else { write!(f, "; {}", contention.join("; ")) }
    }
}

impl<T: ResctrlTree> Drop for HeldShare<T> {
    fn drop(&mut self) {
        // What can't be undone now is undone by whoever holds a share next.
        let Ok(_lock) = self.tree.lock() else { return };
        let rules = rules(&self.tree);
        if let Some(name) = Name::parse(&self.group) {
            give_back(&self.tree, rules, &self.group, &name);
        }
        sweep(&self.tree, rules);
    }
}

/// The outcome of removing groups whose process is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Number of groups that were removed.
    pub gone: usize,
    /// Obstacles to removing the others, in words.
    pub left: Vec<String>,
}

/// Gives back what those have left on this machine whose process is gone; nothing where there is no
/// resctrl.
pub fn recover() -> Swept {
    recover_in(&LiveTree::default())
}

fn recover_in(tree: &impl ResctrlTree) -> Swept {
    let _lock = match tree.lock() {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Swept::default(),
        Err(error) => {
            return Swept { gone: 0, left: vec![format!("`{RESCTRL}` can't be locked: {error}")] };
        }
    };
    let gone = sweep(tree, rules(tree));
    let groups = tree.groups().unwrap_or_default().into_iter();
    let left =
        groups.filter(|group| Name::parse(group).is_some_and(|name| is_left(tree, group, &name)));
    let words = |group: String| {
        format!(
            "`{RESCTRL}/{group}` stays until the ways beside its own are free, or root removes it"
        )
    };
    Swept { gone, left: left.map(words).collect() }
}

/// Gives back what this process has of the partition already: it could not be given back before.
fn give_back_own(tree: &impl ResctrlTree, rules: Rules, owner: (u32, u64), partition: &str) {
    for group in tree.groups().unwrap_or_default() {
        match Name::parse(&group) {
            Some(name) if name.owner == owner && name.partition == partition => {
                give_back(tree, rules, &group, &name);
            }
            _ => {}
        }
    }
}

/// Removes groups of those who are gone that keep these ways, which somebody has again.
fn remove_left(tree: &impl ResctrlTree, own: &str, owed: Option<u64>) {
    let groups = tree.groups().unwrap_or_default();
    for group in groups.into_iter().filter(|group| group != own) {
        match Name::parse(&group) {
            Some(name) if name.owed == owed && owed.is_some() && is_left(tree, &group, &name) => {
                let _ = tree.remove(&group);
            }
            _ => {}
        }
    }
}

/// Reads the processor's rules for masks; of one that has none, no rules.
fn rules(tree: &impl ResctrlTree) -> Rules {
    let info = |file: &str| {
        let read = |level: &&str| tree.read(&format!("info/{level}/{file}")).ok();
        LAST_LEVEL.iter().find_map(read)
    };
    let hexadecimal = |text: String| u64::from_str_radix(text.trim(), 16).ok();
    let least = info("min_cbm_bits").and_then(|text| text.trim().parse().ok());
    Rules {
        full: info("cbm_mask").and_then(hexadecimal).unwrap_or(0),
        least: least.unwrap_or(1),
        devices: info("shareable_bits").and_then(hexadecimal).unwrap_or(0),
        sparse: info("sparse_masks").is_some_and(|text| text.trim() == "1"),
    }
}

fn choose_ways(
    tree: &impl ResctrlTree,
    ways: u32,
    rules: Rules,
    default: &Masks,
) -> Result<Choice, ResctrlError> {
    if default.is_empty() {
        return Err(ResctrlError::NoLastLevel);
    }
    let standing = standing(tree)?;
    // Ways that are kept for the default group come first: they lie between those of others.
    let mut kept =
        tree.groups().map_err(ResctrlError::NoResctrl)?.into_iter().filter_map(|group| {
            let name = Name::parse(&group).filter(|name| is_left(tree, &group, name))?;
            name.owed.filter(|owed| owed.count_ones() == ways)
        });
    if let Some(mask) = kept.next() {
        return Ok(Choice::of(mask, true, rules, &standing));
    }
    choose(ways, rules, default, &standing).ok_or_else(|| {
        let ours = standing.iter().filter(|group| group.is_ours);
        let reserved = ours.fold(0, |bits, group| bits | group.bits).count_ones();
        let (all, least) = (rules.full.count_ones(), rules.least);
        ResctrlError::TooFew { asked: ways, all, reserved, least }
    })
}

/// The groups that stand, but for those that share what the default one has.
fn standing(tree: &impl ResctrlTree) -> Result<Vec<Standing>, ResctrlError> {
    let mut standing = Vec::new();
    for group in tree.groups().map_err(ResctrlError::NoResctrl)? {
        let bits = || {
            let masks = masks_of(tree, &group)?;
            Ok::<u64, ResctrlError>(masks.all().fold(0, |bits, mask| bits | mask))
        };
        let (is_ours, bits) = match Name::parse(&group) {
            Some(Name { owed: None, .. }) => continue,
            // It has no threads: what it keeps is in its name.
            Some(name) if is_left(tree, &group, &name) => (true, name.owed.unwrap_or(0)),
            Some(_) => (true, bits()?),
            None => (false, bits()?),
        };
        standing.push(Standing { name: group, is_ours, bits });
    }
    Ok(standing)
}

/// The limit that is in force where this one is asked for.
fn limit(tree: &impl ResctrlTree, percent: u64) -> Result<u64, ResctrlError> {
    let number = |file: &str| {
        let text = tree.read(&format!("info/{BANDWIDTH}/{file}")).ok()?;
        text.trim().parse().ok()
    };
    let least = number("min_bandwidth").ok_or(ResctrlError::NoBandwidth)?;
    let steps = Steps { least, step: number("bandwidth_gran").unwrap_or(1) };
    if percent < steps.least {
        return Err(ResctrlError::TooLow { asked: percent, least });
    }
    Ok(steps.next(percent))
}

/// Returns `true` if a core takes the lower one of its siblings' limits for both.
fn slows_siblings(tree: &impl ResctrlTree) -> bool {
    let mode = tree.read(&format!("info/{BANDWIDTH}/thread_throttle_mode"));
    mode.is_ok_and(|mode| mode.trim() == "max")
}

fn schemata(group: &str) -> String {
    if group.is_empty() { "schemata".to_owned() } else { format!("{group}/schemata") }
}

fn schemata_of(tree: &impl ResctrlTree, group: &str) -> Result<String, ResctrlError> {
    let path = schemata(group);
    tree.read(&path).map_err(|because| ResctrlError::Refused { path, because })
}

fn masks_of(tree: &impl ResctrlTree, group: &str) -> Result<Masks, ResctrlError> {
    Ok(Masks::parse(&schemata_of(tree, group)?))
}

fn limits_of(tree: &impl ResctrlTree, group: &str) -> Result<Limits, ResctrlError> {
    Ok(Limits::parse(&schemata_of(tree, group)?))
}

fn write_masks(tree: &impl ResctrlTree, group: &str, masks: &Masks) -> Result<(), ResctrlError> {
    if masks.is_empty() {
        return Ok(());
    }
    let path = schemata(group);
    change(&path, tree.write(&path, &masks.to_string()))?;
    effective(tree, group, masks)
}

/// Makes a group, or takes up one that was given up: that has no limit, either.
fn make(tree: &impl ResctrlTree, group: &str) -> Result<(), ResctrlError> {
    match tree.make(group) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let is_left = Name::parse(group).is_some_and(|name| is_left(tree, group, &name));
            if is_left { Ok(()) } else { change(group, Err(error)) }
        }
        other => change(group, other),
    }
}

/// Limits a group that was just made and has no limit yet.
fn write_limit(tree: &impl ResctrlTree, group: &str, percent: u64) -> Result<Limits, ResctrlError> {
    let without = limits_of(tree, group)?;
    match without.all().max() {
        None => return Err(ResctrlError::NoBandwidth),
        Some(ALL_PERCENT) => {}
        Some(other) => return Err(ResctrlError::NotPercent(other)),
    }
    let limits = without.all_at(percent);
    write_limits(tree, group, &limits)?;
    Ok(limits)
}

fn write_limits(tree: &impl ResctrlTree, group: &str, limits: &Limits) -> Result<(), ResctrlError> {
    if limits.is_empty() {
        return Ok(());
    }
    let path = schemata(group);
    change(&path, tree.write(&path, &limits.to_string()))?;
    in_force(tree, group, limits)
}

fn effective(tree: &impl ResctrlTree, group: &str, masks: &Masks) -> Result<(), ResctrlError> {
    let found = masks_of(tree, group)?;
    if found == *masks { Ok(()) } else { Err(overridden(group, masks, &found)) }
}

fn in_force(tree: &impl ResctrlTree, group: &str, limits: &Limits) -> Result<(), ResctrlError> {
    let found = limits_of(tree, group)?;
    if found == *limits { Ok(()) } else { Err(overridden(group, limits, &found)) }
}

fn overridden(group: &str, written: &impl fmt::Display, found: &impl fmt::Display) -> ResctrlError {
    let words = |it: &dyn fmt::Display| it.to_string().trim().replace('\n', " ");
    let (written, found) = (words(written), words(found));
    let file = format!("{RESCTRL}/{}", schemata(group));
    ShareDrift::Overridden { file, written, found }.into()
}

fn change(path: &str, result: io::Result<()>) -> Result<(), ResctrlError> {
    result.map_err(|because| ResctrlError::Refused { path: path.to_owned(), because })
}

#[cfg(test)]
mod tests;
