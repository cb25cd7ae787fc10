//! The probe `exec` by hand: the programs of a site's partitions in their scan cycles.

use quietcore_load::LoadRequest;
use quietcore_record::record::Record;
use quietcore_settings::{MemoryShare, RequestedSettings};
use quietcore_site::{Length, Site};
use quietcore_units::{CpuSet, Nanos};

use super::{PINNING, Probe, ProbeContext, ProbeError, ProbeTerms, profiles_of_pinning};
use crate::measure::measure;
use crate::programs::Programs;
use crate::run::{PartitionRun, Run, setting_of};
use crate::work::{PartitionWork, ProgramRun};

/// Programs that run at the same time.
#[derive(Clone, Debug)]
pub struct Exec {
    run: Run,
    terms: ProbeTerms,
}

/// A checked request to measure programs of a site.
#[derive(Clone, Debug)]
pub struct ExecRequest {
    /// The only partition that is measured; `None` for all that have a program.
    pub partition: Option<String>,
    /// `true` if tasks keep their CPUs, and the site's settings are in force.
    pub is_pinned: bool,
    /// The length of the measurement.
    pub length: Length,
    /// The time before it.
    pub warm_up: Nanos,
    /// The loads beside the partitions.
    pub loads: Vec<LoadRequest>,
    /// Releases later than this get a ledger; `None` where that is not asked for.
    pub explain: Option<Nanos>,
}

impl Exec {
    /// Measures partitions of a site with their programs, which are built.
    pub fn of_site(
        site: &Site,
        site_sha256: &str,
        programs: &Programs,
        request: ExecRequest,
    ) -> Self {
        let ExecRequest { partition: wanted, is_pinned, length, warm_up, loads, explain } = request;
        let chosen = site
            .partitions()
            .iter()
            .filter(|partition| wanted.as_ref().is_none_or(|name| *name == partition.name));
        let with_program = chosen.filter_map(|it| Some((it, programs.get(&it.name)?)));
        let (mut partitions, mut terms) = (Vec::new(), ProbeTerms::default());
        for (partition, assembly) in with_program {
            let run = ProgramRun::new(partition, assembly, is_pinned, length, warm_up);
            partitions.push(PartitionRun {
                name: partition.name.clone(),
                work: PartitionWork::Program(Box::new(run)),
                setting: setting_of(partition, programs, is_pinned),
                share: MemoryShare::of(&partition.vcr),
                confines: None,
            });
            terms.declared.insert(partition.name.clone(), partition.class.name.clone());
        }
        terms.site_sha256 = site_sha256.to_owned();
        terms.classes = site.classes().to_vec();
        terms.exceedance = site.campaign().exceedance;
        let settings =
            if is_pinned { RequestedSettings::of(site) } else { RequestedSettings::default() };
        let run = Run {
            profile: PINNING[usize::from(!is_pinned)].to_owned(),
            reserved: is_pinned,
            settings,
            partitions,
            loads,
            neighbours: Vec::new(),
            container_runtime: site.container_runtime(),
            explain,
            site_sha256: site_sha256.to_owned(),
        };
        Self { run, terms }
    }
}

impl Probe for Exec {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn pinned(&self) -> Vec<(&str, CpuSet)> {
        self.run.pinned()
    }

    fn runs(&self) -> &[Run] {
        std::slice::from_ref(&self.run)
    }

    fn profiles(&self, _: &[Record]) -> Vec<(String, String)> {
        profiles_of_pinning()
    }

    fn terms(&self) -> ProbeTerms {
        self.terms.clone()
    }

    /// No program may be at fault.
    fn is_passed(&self, records: &[Record]) -> bool {
        let has_faults =
            |record: &Record| record.scan().is_some_and(|scan| !scan.faults.is_empty());
        !records.iter().any(has_faults)
    }

    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        Ok(measure(&self.run, context.machine, context.observer, context.stop)?.records)
    }
}
