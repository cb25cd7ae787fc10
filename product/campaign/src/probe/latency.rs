//! The probe `latency` by hand: releases of tasks that do nothing, in a process or in a container.

use quietcore_backend::setting::{BackendSetting, ProbeNeeds};
use quietcore_load::LoadRequest;
use quietcore_probe::job::LatencyJob;
use quietcore_record::class::catalogue;
use quietcore_record::record::Record;
use quietcore_settings::{MemoryShare, RequestedSettings};
use quietcore_site::Backend;
use quietcore_units::{CpuId, CpuSet, Nanos, Scheduling};

use super::{PINNING, Probe, ProbeContext, ProbeError, ProbeTerms, profiles_of_pinning};
use crate::measure::measure;
use crate::run::{PartitionRun, Run};
use crate::work::PartitionWork;

/// The partition of the records.
const PARTITION: &str = "probe";

/// Releases in one partition.
#[derive(Clone, Debug)]
pub struct Latency(Run);

impl Latency {
    /// Makes the probe that runs a job in a backend, with loads beside it. Releases that are later
    /// than `explain` get a ledger.
    pub fn new(
        backend: Backend,
        job: LatencyJob,
        loads: Vec<LoadRequest>,
        explain: Option<Nanos>,
    ) -> Self {
        let cpus: Option<CpuSet> = job.cpus.iter().map(|cpu| cpu.and_then(CpuId::new)).collect();
        let is_real_time = job.policy != Scheduling::Other;
        let needs = ProbeNeeds { cpus, is_real_time, ..ProbeNeeds::default() };
        Self(Run {
            profile: PINNING[usize::from(cpus.is_none())].to_owned(),
            reserved: cpus.is_some(),
            settings: RequestedSettings::default(),
            container_runtime: None,
            partitions: vec![PartitionRun {
                name: PARTITION.to_owned(),
                work: PartitionWork::Latency(job),
                setting: BackendSetting::of_probe(backend, needs),
                share: MemoryShare::default(),
                confines: None,
            }],
            loads,
            neighbours: Vec::new(),
            explain,
            site_sha256: String::new(),
        })
    }
}

impl Probe for Latency {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn pinned(&self) -> Vec<(&str, CpuSet)> {
        self.0.pinned()
    }

    fn runs(&self) -> &[Run] {
        std::slice::from_ref(&self.0)
    }

    fn profiles(&self, _: &[Record]) -> Vec<(String, String)> {
        profiles_of_pinning()
    }

    fn terms(&self) -> ProbeTerms {
        ProbeTerms { classes: catalogue(), ..ProbeTerms::default() }
    }

    /// Returns `true` if each record shows the delay that was injected, where one was.
    fn is_passed(&self, records: &[Record]) -> bool {
        let injected = self.0.partitions.iter().find_map(|it| it.work.injected());
        injected.is_none_or(|injected| records.iter().all(|record| injected.is_seen(record)))
    }

    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        Ok(measure(&self.0, context.machine, context.observer, context.stop)?.records)
    }
}

#[cfg(test)]
mod tests {
    use quietcore_units::Wake;

    use super::*;

    fn latency(backend: Backend, cpus: Vec<Option<u32>>) -> Latency {
        let job = LatencyJob {
            cpus,
            period: Nanos::from_millis(1),
            cycles: 1,
            warm_up_cycles: 0,
            policy: Scheduling::Other,
            wake: Wake::Sleep,
            injection: None,
            memory: None,
            snare: None,
        };
        Latency::new(backend, job, Vec::new(), None)
    }

    #[test]
    fn tasks_are_pinned_all_or_none() {
        let pinned = latency(Backend::Process, vec![Some(1), Some(3)]);
        assert_eq!((&*pinned.0.profile, pinned.0.reserved), ("pinned", true));
        assert_eq!(pinned.pinned(), [("probe", "1,3".parse().unwrap())]);
        let unpinned = latency(Backend::Process, vec![None]);
        assert_eq!((&*unpinned.0.profile, unpinned.0.reserved), ("unpinned", false));
        assert_eq!(unpinned.pinned(), [("probe", CpuSet::EMPTY)]);
    }

    #[test]
    fn a_probe_runs_in_the_backend_that_is_asked_for() {
        for backend in [Backend::Process, Backend::Container] {
            let latency = latency(backend, vec![Some(1)]);
            let setting = &latency.runs()[0].partitions[0].setting;
            assert_eq!(setting.declaration().word, backend.name());
        }
    }
}
