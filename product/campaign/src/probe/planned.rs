//! The probes that a site's campaign names, and those of an experiment's blocks. Each runs on one
//! partition after the other, under the site's own settings and with the partition's share of the
//! cache.

use std::fmt;
use std::sync::atomic::AtomicBool;

use quietcore_evidence::ProbeEntry;
use quietcore_host::Facts;
use quietcore_record::reason::{Reason, RunProblem};
use quietcore_record::record::Record;
use quietcore_settings::{Changed, MemoryShare, RequestedSettings};
use quietcore_site::{Backend, ContainerRuntime, ProbeName, Site};

use super::{Probe, ProbeContext, Probed, of_partition};
use crate::collect::CONTROLS;
use crate::measure::{Machine, MeasureError, not_changed, prepare_rooms};
use crate::observer::Observer;

/// A probe on one partition of a site, under the settings that the site has.
pub struct PlannedProbe {
    name: ProbeName,
    partition: String,
    share: MemoryShare,
    settings: RequestedSettings,
    site_sha256: String,
    /// The backend of the partition …
    backend: Backend,
    /// … and the one in which the probe measures, which may be another one.
    measured_in: Backend,
    /// The runtime of the container that it measures in; `None` leaves the choice to the machine.
    container_runtime: Option<ContainerRuntime>,
    probe: Box<dyn Probe>,
}

/// Lists all probes of a site's campaign, in the order in which they are run.
pub fn probes(site: &Site, site_sha256: &str, facts: &Facts) -> Vec<PlannedProbe> {
    let each = site.probed();
    let probed = |name: ProbeName, partition| Probed {
        partition,
        site,
        facts,
        backend: name.backend_for(partition),
        length: site.campaign().length_of(name, partition),
        loads: &[],
    };
    each.map(|(name, partition)| {
        let settings = RequestedSettings::of(site);
        PlannedProbe::new(name, &probed(name, partition), settings, site_sha256)
    })
    .collect()
}

impl PlannedProbe {
    /// Plans a probe of a partition under these settings of the machine.
    pub(crate) fn new(
        name: ProbeName,
        probed: &Probed<'_>,
        settings: RequestedSettings,
        site_sha256: &str,
    ) -> Self {
        let Probed { partition, site, backend, .. } = *probed;
        Self {
            name,
            partition: partition.name.clone(),
            share: MemoryShare::of(&partition.vcr),
            settings,
            site_sha256: site_sha256.to_owned(),
            backend: partition.backend,
            measured_in: backend,
            container_runtime: site.container_runtime(),
            probe: of_partition(name, probed),
        }
    }

    /// Returns its entry in the manifest, with the reason why it is not measured.
    pub(crate) fn entry(&self, because: &str) -> ProbeEntry {
        ProbeEntry {
            probe: self.name.name().to_owned(),
            partition: self.partition.clone(),
            profiles: Vec::new(),
            not_measured: Some(because.to_owned()),
        }
    }

    /// Returns `true` if a manifest's entry is of it.
    pub(crate) fn is_of(&self, entry: &ProbeEntry) -> bool {
        self.is_called(&entry.probe, &entry.partition)
    }

    /// Returns `true` if it is the probe of this name on this partition.
    pub(crate) fn is_called(&self, name: &str, partition: &str) -> bool {
        name == self.name.name() && partition == self.partition
    }

    /// Returns its name with that of the partition, for people.
    pub(crate) fn title(&self) -> String {
        format!("probe {} of {}", self.name, self.partition)
    }

    /// Returns the profiles of its records, each with a description.
    pub(crate) fn profiles(&self, records: &[Record]) -> Vec<(String, String)> {
        self.probe.profiles(records)
    }

    /// Lists what this machine does not offer, and a backend that was not measured.
    pub(crate) fn limits(&self) -> Vec<String> {
        let measured = self.measured_in;
        let elsewhere = (self.backend != measured).then(|| {
            format!(
                "probe `{}` measured in a {} on the CPU of partition `{}`, and not by its backend \
                 `{}`",
                self.name,
                measured.declaration().noun,
                self.partition,
                self.backend
            )
        });
        elsewhere.into_iter().chain(self.probe.limits()).collect()
    }

    /// Measures with the site's settings in force, and puts the settings back.
    pub(crate) fn measure(
        &mut self,
        machine: &Machine<'_>,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Vec<Record>, MeasureError> {
        let holder = format!("campaign-{}", std::process::id());
        let mut settings = Changed::begin(&self.settings, &holder, machine.controls)?;
        let setting = self.probe.setting();
        let of_containers = (self.container_runtime, &*holder);
        let rooms = prepare_rooms([&setting], machine, of_containers, settings.group());
        let measured = rooms.map_err(MeasureError::from).and_then(|rooms| {
            let room = rooms.of(&self.partition, &setting, self.share);
            let mut context = ProbeContext { machine, room, observer, stop };
            self.probe.prepare(&mut context)?;
            Ok(self.probe.measure(&mut context)?)
        });
        settings.follow_links();
        let (found, left) = settings.end();
        left.iter().for_each(|left| observer.step(left));
        let mut records = measured?;
        let may = machine.controls.is_some();
        let changed = not_changed(&self.settings.controls, false, may, &found.absent);
        let troubles = found.troubles.into_iter().chain(changed);
        let degraded: Vec<Reason> = troubles.map(Reason::from).collect();
        let drifted = found.drifts.split_first().map(|(first, more)| RunProblem::MachineDrifted {
            first: first.clone(),
            more: more.len(),
        });
        for record in &mut records {
            record.conditions.site_sha256.clone_from(&self.site_sha256);
            if !found.controls.is_empty() {
                let machine = &mut record.conditions.machine;
                machine.insert(CONTROLS.to_owned(), found.controls.clone());
            }
            record.degraded.extend(degraded.iter().cloned());
            record.invalid_because.extend(drifted.clone().map(Reason::from));
        }
        Ok(records)
    }
}

impl fmt::Debug for PlannedProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlannedProbe")
            .field("name", &self.name)
            .field("partition", &self.partition)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
