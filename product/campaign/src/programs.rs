//! The programs of a site, built before anything is measured.

use std::collections::BTreeMap;
use std::sync::Arc;

use quietcore_assembly::{Assembly, AssemblyError, Workshop};
use quietcore_backend::neighbour::NeighbourKind;
use quietcore_backend::setting::{BackendSetting, ProbeNeeds, SettingError};
use quietcore_site::{Partition, Site};

/// Built programs by the partitions that run them, and the settings of partitions that run the
/// probe in their place.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    assemblies: BTreeMap<String, Arc<Assembly>>,
    settings: BTreeMap<String, BackendSetting>,
    /// The kind of neighbours; `None` where no profile has any.
    neighbours: Option<NeighbourKind>,
}

impl Programs {
    /// Builds the program of each partition that has a model, and looks up all names that the site
    /// file uses of it. `progress` is told each step, a line each.
    ///
    /// # Errors
    /// Returns the [`AssemblyError`] of the first partition that can't be made ready.
    pub fn build(
        site: &Site,
        workshop: &Workshop,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, AssemblyError> {
        let mut all = Self::default();
        if site.campaign().profiles.iter().any(|profile| profile.neighbours.is_some()) {
            let kind = NeighbourKind::of(site, &workshop.site_folder);
            all.neighbours = Some(kind.map_err(SettingError::from)?);
        }
        for partition in site.measured() {
            let Some(model) = &partition.program.model else {
                let setting = BackendSetting::of_probe_in(partition, &workshop.site_folder);
                all.settings.insert(partition.name.clone(), setting?);
                continue;
            };
            progress(&format!("building program `{model}` of partition `{}`", partition.name));
            let assembly = workshop.assemble(site, partition)?;
            all.assemblies.insert(partition.name.clone(), Arc::new(assembly));
        }
        Ok(all)
    }

    /// Returns the setting of a partition's backend, with its program or the probe.
    pub(crate) fn setting(&self, partition: &Partition) -> BackendSetting {
        let assembled = self.assemblies.get(&partition.name).map(|assembly| &assembly.setting);
        let known = assembled.or_else(|| self.settings.get(&partition.name)).cloned();
        let usual = || BackendSetting::of_probe(partition.backend, ProbeNeeds::of(partition));
        known.unwrap_or_else(usual)
    }

    /// Returns the kind of neighbours; processes where nothing else is known.
    pub(crate) fn neighbour_kind(&self) -> NeighbourKind {
        self.neighbours.clone().unwrap_or_else(NeighbourKind::process)
    }

    /// Returns the program of a partition; `None` where the probe takes its place.
    pub fn get(&self, partition: &str) -> Option<&Arc<Assembly>> {
        self.assemblies.get(partition)
    }
}
