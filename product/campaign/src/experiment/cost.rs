//! A partition as each backend realises it.
//!
//! | measure | a block is |
//! |---|---|
//! | releases | a run of the partition with its program, or with the probe `latency` |
//! | routines | the probe `osek` |
//! | round trips | the probe `ethercat` |
//!
//! A probe measures in the partition's backend or not at all: one that measures elsewhere, as some
//! do in a campaign, would tell nothing of the backend.

use quietcore_host::Facts;
use quietcore_record::experiment::CostMeasure;
use quietcore_record::record::Variant;
use quietcore_site::{Backend, Partition, ProbeName, Site};
use quietcore_units::Nanos;

use super::Variation;
use crate::probe::{PlannedProbe, Probed};
use crate::run::{PartitionRun, Run};

/// A site in which a backend realises the partition that is compared.
#[derive(Clone, Copy, Debug)]
pub struct Realised<'a> {
    /// The run of a block with all partitions of the site.
    pub run: &'a Run,
    /// The site file's content, with the backend of the partition changed.
    pub site: &'a Site,
    /// The partition that is compared, of this site.
    pub partition: &'a Partition,
    /// The facts about the machine.
    pub facts: &'a Facts,
    /// Length of a block, without its warm-up.
    pub block: Nanos,
    /// Seed of the order in which the variants are measured.
    pub seed: u64,
}

/// The reasons why a measure can't be had of a partition in its backend.
#[derive(Debug, thiserror::Error)]
pub enum NotCompared {
    /// Its probe does not measure in the backend.
    #[error("the probe `{probe}` does not measure in it")]
    Elsewhere {
        /// Name of the probe that takes the measure.
        probe: ProbeName,
    },
    /// The profile has neighbours, which no probe measures beside.
    #[error(
        "the probe `{probe}` measures beside loads, but not beside neighbours; choose another \
             --profile"
    )]
    Neighbours {
        /// Name of the probe that takes the measure.
        probe: ProbeName,
    },
    /// The partition has no fieldbus whose frames could be measured.
    #[error("partition `{partition}` drives no fieldbus")]
    NoFieldbus {
        /// Name of the partition.
        partition: String,
    },
}

impl Realised<'_> {
    /// Returns the variation that takes a measure of the partition alone.
    ///
    /// # Errors
    /// [`NotCompared`] when the measure can't be had in the backend.
    pub fn variation(&self, measure: CostMeasure) -> Result<Variation, NotCompared> {
        let probe = probe_of(measure).map(|probe| self.planned(probe)).transpose()?;
        let backend = self.partition.backend;
        let own = self.run.partitions.iter().filter(|it| it.name == self.partition.name);
        let partitions: Vec<PartitionRun> = own.cloned().collect();
        Ok(Variation {
            variant: Variant::Realised {
                backend: backend.name().to_owned(),
                is_reference: backend == Backend::BARE,
                seed: self.seed,
            },
            run: Run { profile: backend.name().to_owned(), partitions, ..self.run.clone() },
            probe,
        })
    }

    /// Plans a probe in the backend, under the settings of the run.
    fn planned(&self, probe: ProbeName) -> Result<PlannedProbe, NotCompared> {
        let Self { run, site, partition, facts, block: length, .. } = *self;
        let mut buses = site.fieldbuses().iter();
        if probe == ProbeName::Ethercat && !buses.any(|bus| bus.partition == partition.name) {
            return Err(NotCompared::NoFieldbus { partition: partition.name.clone() });
        }
        if !run.neighbours.is_empty() {
            return Err(NotCompared::Neighbours { probe });
        }
        if !measures_in_own(probe, partition) {
            return Err(NotCompared::Elsewhere { probe });
        }
        let probed = Probed {
            partition,
            site,
            facts,
            backend: partition.backend,
            length,
            loads: &run.loads,
        };
        Ok(PlannedProbe::new(probe, &probed, run.settings.clone(), &run.site_sha256))
    }
}

/// Returns the probe that takes a measure; `None` for that of releases.
const fn probe_of(measure: CostMeasure) -> Option<ProbeName> {
    match measure {
        CostMeasure::Releases => None,
        CostMeasure::Routines => Some(ProbeName::Osek),
        CostMeasure::RoundTrips => Some(ProbeName::Ethercat),
    }
}

/// Returns `true` if a probe measures in the backend of the partition. One that measures in a
/// process does so in a container as well, whose processes are like others.
fn measures_in_own(probe: ProbeName, partition: &Partition) -> bool {
    let is_contained = partition.declaration().in_container();
    probe.backend_for(partition) == partition.backend
        || (is_contained && probe.backend() == Backend::OF_PROBES)
}

#[cfg(test)]
mod tests {
    use quietcore_record::class::catalogue;

    use super::*;

    /// Goal: routines and frames are measured in every backend, in a guest by our own kernel, and
    /// neither in a guest with a system of its own.
    #[test]
    fn a_probe_measures_in_the_backend_of_the_partition_or_not_at_all() {
        let measured = |backend: &str, guest: &str| {
            let text = format!(
                "[site]\nname = \"s\"\n[[partition]]\nname = \"axis\"\nbackend = \"{backend}\"\n\
                 class = \"motion-control\"\n{guest}[partition.vcr]\ncpus = [1]\n"
            );
            let site = quietcore_site::read("s.toml", text.as_bytes(), &catalogue());
            let site = site.unwrap_or_else(|problems| panic!("{problems}"));
            [ProbeName::Osek, ProbeName::Ethercat]
                .map(|probe| measures_in_own(probe, &site.partitions()[0]))
        };
        assert_eq!(measured("process", ""), [true, true]);
        assert_eq!(measured("container", ""), [true, true]);
        for backend in ["kvm", "qemu", "xen"] {
            let program = "[partition.program]\nmodel = \"m\"\n";
            assert_eq!(measured(backend, program), [true, true], "{backend}");
        }
        let linux = "[partition.guest]\nsystem = \"linux\"\nimage = \"g\"\n";
        assert_eq!(measured("qemu", linux), [false, false]);
    }
}
