//! Probes that a campaign may name, beside the releases that it always measures.

use std::fmt;

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::site::{Fieldbus, Partition};

/// A kind of measurement on the CPUs of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeName {
    /// Time of accesses to memory by working set, alone and beside neighbours on CPUs that no
    /// partition has.
    Memory,
    /// Time of the routines of the OSEK kernel: activating, ending and interrupting tasks; in a
    /// guest of ours where the partition is one, and else in a process.
    Osek,
    /// Time from an interrupt of a clock board to its service routine and to a task, in a guest; an
    /// interrupt in each period of the partition.
    Irq,
    /// Round trips of frames on the fieldbus that the partition drives; in a guest of ours where
    /// the partition is one, and else in a process.
    Ethercat,
}

/// All that a site, its plan and its campaign ask of a probe.
struct ProbeDeclaration {
    /// The word in the site file.
    word: &'static str,
    /// The part of it that needs CPUs that no partition has; `None` where it needs none.
    needs_other_cpus: Option<&'static str>,
    /// The backend that it measures, whatever realises the partition …
    backend: Backend,
    /// … unless the partition's own is one in which our kernel is measured, and it measures that.
    is_of_kernel: bool,
    /// `true` if it measures partitions that drive a fieldbus, and no others.
    is_of_fieldbus: bool,
    /// `true` if it measures in cycles, of which those of the campaign's warm-up are left out.
    warms_up: bool,
    /// The time below which it tells nothing on any machine; it takes at least this long.
    shortest: Nanos,
}

const MEMORY: ProbeDeclaration = ProbeDeclaration {
    word: "memory",
    needs_other_cpus: Some("the neighbours"),
    backend: Backend::OF_PROBES,
    is_of_kernel: false,
    is_of_fieldbus: false,
    warms_up: false,
    shortest: Nanos::from_secs(30),
};

const OSEK: ProbeDeclaration = ProbeDeclaration {
    word: "osek",
    needs_other_cpus: None,
    backend: Backend::OF_PROBES,
    is_of_kernel: true,
    is_of_fieldbus: false,
    warms_up: false,
    shortest: Nanos::from_secs(5),
};

const IRQ: ProbeDeclaration = ProbeDeclaration {
    word: "irq",
    needs_other_cpus: Some("the interrupts"),
    backend: Backend::OF_PROBES_IN_GUESTS,
    is_of_kernel: false,
    is_of_fieldbus: false,
    warms_up: true,
    shortest: Nanos::from_secs(1),
};

const ETHERCAT: ProbeDeclaration = ProbeDeclaration {
    word: "ethercat",
    needs_other_cpus: None,
    backend: Backend::OF_PROBES,
    is_of_kernel: true,
    is_of_fieldbus: true,
    warms_up: true,
    shortest: Nanos::from_secs(1),
};

impl ProbeName {
    /// All of them, in the order in which the reference lists them.
    pub const ALL: [Self; 4] = [Self::Memory, Self::Osek, Self::Irq, Self::Ethercat];

    const fn declaration(self) -> &'static ProbeDeclaration {
        match self {
            Self::Memory => &MEMORY,
            Self::Osek => &OSEK,
            Self::Irq => &IRQ,
            Self::Ethercat => &ETHERCAT,
        }
    }

    /// Returns the word in the site file.
    pub const fn name(self) -> &'static str {
        self.declaration().word
    }

    /// Returns what it needs CPUs for that no partition has; `None` where it needs none.
    pub const fn needs_other_cpus(self) -> Option<&'static str> {
        self.declaration().needs_other_cpus
    }

    /// Returns the backend that it measures where it does not measure the partition's own.
    pub const fn backend(self) -> Backend {
        self.declaration().backend
    }

    /// Returns the backend in which it measures for a partition.
    pub fn backend_for(self, partition: &Partition) -> Backend {
        let own = self.declaration().is_of_kernel && partition.declaration().measures_routines;
        if own { partition.backend } else { self.backend() }
    }

    /// Returns the time below which it tells nothing on any machine; it takes at least this long.
    pub const fn shortest(self) -> Nanos {
        self.declaration().shortest
    }

    /// Returns `true` if there is something to measure in a partition, on a site with these
    /// fieldbuses.
    pub(crate) fn measures(self, partition: &Partition, fieldbuses: &[Fieldbus]) -> bool {
        !self.declaration().is_of_fieldbus
            || fieldbuses.iter().any(|bus| bus.partition == partition.name)
    }

    /// Returns `true` if it measures in cycles, of which those of the campaign's warm-up are left
    /// out.
    pub(crate) const fn warms_up(self) -> bool {
        self.declaration().warms_up
    }
}

impl fmt::Display for ProbeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
