//! Profiles: the conditions of a run.
//!
//! The built-in ones are the test profiles of queiroz2023 (table 2 and section 5.2):
//!
//! | name | partition | load |
//! |------|-----------|------|
//! | `tp1` | anywhere | none |
//! | `tp2` | pinned | none |
//! | `tp3` | anywhere | the papers' load, anywhere |
//! | `tp4` | pinned | the papers' load, on the other CPUs |
//! | `tp5` | anywhere on its own CPUs | the papers' load in each of two neighbours |
//! | `tp6` | pinned | the same |
//!
//! `iso1` to `iso12` are the rows of the isolation matrix of hofer2019; see `isolation`.
//!
//! The papers' load is 10 workers that compute square roots and 10 that allocate, touch and free
//! 64 MB. [`neighbours`] says what a neighbour is.

mod neighbours;

use std::fmt;
use std::str::FromStr;

use quietcore_units::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Control, isolation};

pub use neighbours::{
    NEIGHBOUR_WORKERS_MAX, NEIGHBOURS_MAX, NeighbourForm, NeighbourPlaces, Neighbours,
};

/// More load workers than this in one profile are refused.
pub const WORKERS_MAX: u32 = 256;

/// Neighbours of `tp5` and `tp6`: the paper's second and third virtual machine.
const PAPERS_NEIGHBOURS: u32 = 2;
/// Workers of each kind in the papers' load.
const PAPERS_WORKERS: u32 = 10;
/// Memory that a malloc worker of the papers' load allocates.
const PAPERS_MALLOC: ByteSize = ByteSize::new(64_000_000);

/// The conditions of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The name, unique among built-in and own profiles and safe as a file name.
    pub name: String,
    /// Purpose of the profile, for people.
    pub description: String,
    /// `true` if each partition is pinned to its CPUs; else it runs wherever the kernel puts it.
    pub pinned: bool,
    /// Settings of the machine that are changed meanwhile, in place of those of the site, each once
    /// and in the order in which it is applied; `None` leaves it to the site.
    pub controls: Option<Vec<Control>>,
    /// The loads that disturb the measurement; at most [`WORKERS_MAX`] workers in all.
    pub loads: Vec<Load>,
    /// Partitions that run loads of their own beside the measured ones; `None` without any.
    pub neighbours: Option<Neighbours>,
}

impl Profile {
    /// A profile without neighbours, from checked parts.
    pub(crate) const fn new(
        name: String,
        description: String,
        pinned: bool,
        controls: Option<Vec<Control>>,
        loads: Vec<Load>,
    ) -> Self {
        Self { name, description, pinned, controls, loads, neighbours: None }
    }

    /// Returns the same with neighbours.
    pub(crate) fn beside(self, neighbours: Option<Neighbours>) -> Self {
        Self { neighbours, ..self }
    }

    /// Returns `true` if a partition may move, and only among its own CPUs: that is so beside
    /// neighbours, as the processors of the paper's first virtual machine are its own.
    pub const fn confines(&self) -> bool {
        !self.pinned && self.neighbours.is_some()
    }

    /// The number of load workers.
    pub fn workers(&self) -> u32 {
        self.loads.iter().map(|load| load.workers).sum()
    }
}

/// Some workers of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Load {
    /// Work of the workers.
    pub kind: LoadKind,
    /// Number of workers, 1 to [`WORKERS_MAX`].
    pub workers: u32,
    /// Bytes that each of them touches or writes; `None` leaves it to the load.
    pub size: Option<ByteSize>,
    /// CPUs on which they may run.
    pub place: LoadPlace,
}

impl Load {
    /// A load from checked parts.
    pub(crate) const fn new(
        kind: LoadKind,
        workers: u32,
        size: Option<ByteSize>,
        place: LoadPlace,
    ) -> Self {
        Self { kind, workers, size, place }
    }

    /// Returns the bytes of memory that its workers fill, as far as the site says.
    pub fn filled(&self) -> u64 {
        let size = self.size.filter(|_| self.kind.fills_memory()).map_or(0, ByteSize::get);
        size.saturating_mul(u64::from(self.workers))
    }
}

/// Work of load workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadKind {
    /// Compute square roots without a pause.
    Sqrt,
    /// Allocate memory, touch each page, free it.
    Malloc,
    /// Write at random over a bit more than the last-level cache.
    Cache,
    /// Copy much more than the last-level cache.
    MemoryBandwidth,
    /// Write, flush and read a file.
    Disk,
    /// Send and receive over the loopback interface.
    Network,
    /// Start processes that end at once.
    Fork,
    /// Let many short timers expire.
    Timer,
    /// Wake and wait for each other.
    Futex,
}

impl LoadKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 9] = [
        Self::Sqrt,
        Self::Malloc,
        Self::Cache,
        Self::MemoryBandwidth,
        Self::Disk,
        Self::Network,
        Self::Fork,
        Self::Timer,
        Self::Futex,
    ];

    /// The name in texts, files and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqrt => "sqrt",
            Self::Malloc => "malloc",
            Self::Cache => "cache",
            Self::MemoryBandwidth => "memory-bandwidth",
            Self::Disk => "disk",
            Self::Network => "network",
            Self::Fork => "fork",
            Self::Timer => "timer",
            Self::Futex => "futex",
        }
    }

    /// The unit of the rate of operations.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Sqrt => "sqrt/s",
            Self::Malloc => "malloc/s",
            Self::Cache => "writes/s",
            Self::MemoryBandwidth => "blocks/s",
            Self::Disk => "rounds/s",
            Self::Network => "messages/s",
            Self::Fork => "forks/s",
            Self::Timer => "expirations/s",
            Self::Futex => "wakes/s",
        }
    }

    /// Returns `true` if the kind moves bytes, so that a rate of bytes means something.
    pub const fn counts_bytes(self) -> bool {
        matches!(self, Self::Malloc | Self::MemoryBandwidth | Self::Disk | Self::Network)
    }

    /// Returns `true` if a size means something to it.
    pub const fn takes_size(self) -> bool {
        matches!(self, Self::Malloc | Self::Cache | Self::MemoryBandwidth | Self::Disk)
    }

    /// Returns `true` if its size is memory.
    pub const fn fills_memory(self) -> bool {
        matches!(self, Self::Malloc | Self::Cache | Self::MemoryBandwidth)
    }
}

impl fmt::Display for LoadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no kind of load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no kind of load; write one of {}", names())]
pub struct UnknownLoadKind {
    /// The text that was given.
    pub text: String,
}

fn names() -> String {
    LoadKind::ALL.map(LoadKind::name).join(", ")
}

impl FromStr for LoadKind {
    type Err = UnknownLoadKind;

    fn from_str(text: &str) -> Result<Self, UnknownLoadKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| UnknownLoadKind { text: text.to_owned() })
    }
}

/// CPUs on which load workers may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadPlace {
    /// On every online CPU.
    #[default]
    Anywhere,
    /// On the CPUs that no partition has.
    OtherCpus,
    /// On the CPUs of the partitions.
    SameCpu,
}

/// Returns the load that the papers disturb with.
pub(crate) fn papers_load(place: LoadPlace) -> Vec<Load> {
    vec![
        Load::new(LoadKind::Sqrt, PAPERS_WORKERS, None, place),
        Load::new(LoadKind::Malloc, PAPERS_WORKERS, Some(PAPERS_MALLOC), place),
    ]
}

/// The profiles that every site has.
pub(crate) fn built_in() -> Vec<Profile> {
    let profile = |name: &str, description: &str, pinned, loads| {
        Profile::new(name.to_owned(), description.to_owned(), pinned, None, loads)
    };
    let beside = || Neighbours::new(PAPERS_NEIGHBOURS, false, papers_load(LoadPlace::Anywhere));
    let of_queiroz2023 = [
        profile("tp1", "not pinned, no load", false, Vec::new()),
        profile("tp2", "pinned, no load", true, Vec::new()),
        profile("tp3", "not pinned, load anywhere", false, papers_load(LoadPlace::Anywhere)),
        profile("tp4", "pinned, load on the other CPUs", true, papers_load(LoadPlace::OtherCpus)),
        profile("tp5", "not pinned on its own CPUs, two loaded neighbours", false, Vec::new())
            .beside(Some(beside())),
        profile("tp6", "pinned, two loaded neighbours", true, Vec::new()).beside(Some(beside())),
    ];
    of_queiroz2023.into_iter().chain(isolation::profiles()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_load_is_read_back_and_is_the_same_in_files() {
        for kind in LoadKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            let written = serde_json::to_string(&kind).unwrap();
            assert_eq!(written, format!("\"{kind}\""));
        }
    }

    #[test]
    fn an_unknown_load_is_refused_with_the_known_ones() {
        assert_eq!(
            "Sqrt".parse::<LoadKind>().unwrap_err().to_string(),
            "`Sqrt` is no kind of load; write one of sqrt, malloc, cache, memory-bandwidth, disk, \
             network, fork, timer, futex"
        );
    }
}
