//! The kinds of load, with what each one counts.

use std::fmt;
use std::str::FromStr;

use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};

/// What a load does. The names in texts are in kebab case: `memory-bandwidth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadKind {
    /// Spins on the square root of random numbers; the first half of the load of queiroz2023.
    Sqrt,
    /// Allocates a block, writes and reads one byte of each page, frees it; the second half.
    Malloc,
    /// Writes at random places of a set a little larger than the last-level cache.
    Cache,
    /// Copies through a set much larger than the last-level cache.
    MemoryBandwidth,
    /// Writes a file, forces it to the device and reads it back from there.
    Disk,
    /// Sends messages over TCP on the loopback interface, between two threads.
    Network,
    /// Forks and executes a program that ends at once, one after the other.
    Fork,
    /// Is woken by a short periodic timer.
    Timer,
    /// Two threads that wake each other through a futex.
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

    /// Whether the kind moves bytes, so that a rate of bytes means something.
    pub const fn counts_bytes(self) -> bool {
        matches!(self, Self::Malloc | Self::MemoryBandwidth | Self::Disk | Self::Network)
    }

    /// How long a healthy worker may give no sign of progress before it counts as stalled.
    ///
    /// A worker shares its CPU with others and progresses in steps of milliseconds; forcing a file
    /// to a busy disk can take seconds.
    pub(crate) const fn stalled_after(self) -> Nanos {
        match self {
            Self::Disk => Nanos::from_secs(10),
            _ => Nanos::from_secs(2),
        }
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
pub struct UnknownKind {
    /// What was written.
    pub text: String,
}

fn names() -> String {
    LoadKind::ALL.map(LoadKind::name).join(", ")
}

impl FromStr for LoadKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| UnknownKind { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_and_is_the_same_in_files() {
        for kind in LoadKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            let written = serde_json::to_string(&kind).unwrap();
            assert_eq!(written, format!("\"{kind}\""));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        assert_eq!(
            "Sqrt".parse::<LoadKind>().unwrap_err().to_string(),
            "`Sqrt` is no kind of load; write one of sqrt, malloc, cache, memory-bandwidth, disk, \
             network, fork, timer, futex"
        );
    }
}
