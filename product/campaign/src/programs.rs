//! The programs of a site, built before anything is measured.

use std::collections::BTreeMap;
use std::sync::Arc;

use quietcore_assembly::{Assembly, AssemblyError, Workshop};
use quietcore_site::Site;

/// Built programs by the partitions that run them.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    assemblies: BTreeMap<String, Arc<Assembly>>,
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
        let mut assemblies = BTreeMap::new();
        for partition in site.partitions() {
            let Some(model) = &partition.program.model else { continue };
            progress(&format!("building program `{model}` of partition `{}`", partition.name));
            let assembly = workshop.assemble(site, partition)?;
            assemblies.insert(partition.name.clone(), Arc::new(assembly));
        }
        Ok(Self { assemblies })
    }

    /// Returns the program of a partition; `None` where the probe takes its place.
    pub fn get(&self, partition: &str) -> Option<&Arc<Assembly>> {
        self.assemblies.get(partition)
    }
}
