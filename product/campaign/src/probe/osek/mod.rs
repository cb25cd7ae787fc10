//! The probe `osek`: the routines of the OSEK kernel, on the hosted port in a process, or on the
//! bare port in a guest.

mod guest;
mod process;
pub(super) mod records;

use quietcore_backend::setting::{BackendSetting, ProbeNeeds};
use quietcore_load::LoadRequest;
use quietcore_probe::guest::osek as in_guest;
use quietcore_probe::osek::{LOOPS_MAX, PUBLISHED_LOOPS, Variant};
use quietcore_record::record::Record;
use quietcore_record::verdict::thousands;
use quietcore_site::{Accelerator, Backend, ProgramForm};
use quietcore_units::{CpuSet, Nanos, Scheduling, ThreadRequest};

use super::{Probe, ProbeContext, ProbeError, Probed, some_measured};

/// Loops that are run and discarded before each series, as many as are published.
const WARM_UP: u64 = PUBLISHED_LOOPS;
/// Loops of the trial from which the duration of one is taken.
const TRIAL_LOOPS: u64 = 1_000;

/// The probe `osek`: the routines of the kernel.
#[derive(Clone, Debug)]
pub struct Osek {
    /// The partition of its records.
    pub partition: String,
    /// Numbers of loops; each routine is measured in a run for each of them. Where none is named
    /// they are those that fit into the duration.
    pub loops: Vec<u64>,
    /// Approximate time to measure, in place of numbers of loops.
    pub duration: Option<Nanos>,
    /// The kernel that is measured; in a guest it has no other tasks.
    pub variant: Variant,
    /// The thread that measures.
    pub thread: ThreadRequest,
    /// The loads beside it.
    pub loads: Vec<LoadRequest>,
    /// The backend in which the kernel runs: a process, or one with guests of our own kernel.
    pub backend: Backend,
    /// The way in which a guest's instructions are run, where the backend leaves a choice.
    pub accelerator: Accelerator,
}

impl Osek {
    /// Makes the probe of a site's partition.
    pub(super) fn of_partition(probed: &Probed<'_>) -> Self {
        let Probed { partition, length, backend, loads, .. } = *probed;
        Self {
            partition: partition.name.clone(),
            loops: Vec::new(),
            duration: Some(length),
            variant: Variant::default(),
            thread: partition.measuring_thread(),
            loads: loads.to_vec(),
            backend,
            accelerator: partition.accelerator,
        }
    }
}

impl Probe for Osek {
    fn name(&self) -> &'static str {
        "osek"
    }

    fn pinned(&self) -> Vec<(&str, CpuSet)> {
        vec![(&self.partition, self.thread.cpu().into_iter().collect())]
    }

    fn setting(&self) -> BackendSetting {
        let needs = ProbeNeeds {
            cpus: self.thread.cpu().map(|cpu| CpuSet::from_iter([cpu])),
            is_real_time: self.thread.scheduling != Scheduling::Other,
            ..ProbeNeeds::default()
        };
        BackendSetting::of_measurement(self.backend, self.accelerator, needs)
    }

    fn limits(&self) -> Vec<String> {
        let is_without = self.is_in_guest() && !guest::has_doorbells(self.backend);
        let without = is_without.then(|| {
            format!(
                "probe `osek` brought no interrupt by a doorbell: a guest of the backend `{}` has \
                 none that it could ring",
                self.backend
            )
        });
        without.into_iter().collect()
    }

    fn profiles(&self, _: &[Record]) -> Vec<(String, String)> {
        let words = |loops: &u64| {
            let published = if *loops == PUBLISHED_LOOPS { ", as published" } else { "" };
            (profile(*loops), format!("{} loops of each routine{published}", thousands(*loops)))
        };
        self.loops.iter().map(words).collect()
    }

    fn prepare(&mut self, context: &mut ProbeContext<'_>) -> Result<(), ProbeError> {
        // Later blocks of an experiment have as many loops as the first one.
        let Some(duration) = self.duration.filter(|_| self.loops.is_empty()) else {
            return Ok(());
        };
        let short = Self { loops: vec![TRIAL_LOOPS], loads: Vec::new(), ..self.clone() };
        let records = short.records(context)?;
        let taken = records.first().map_or(1, |record| record.conditions.duration_ns).max(1);
        let loops = u128::from(duration.get()) * u128::from(TRIAL_LOOPS) / u128::from(taken);
        let most = if self.is_in_guest() { in_guest::LOOPS_MAX } else { LOOPS_MAX };
        self.loops = vec![u64::try_from(loops).unwrap_or(LOOPS_MAX).clamp(1, most)];
        Ok(())
    }

    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        some_measured(self.records(context)?, context)
    }
}

impl Osek {
    fn records(&self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError> {
        match self.is_in_guest() {
            true => guest::records(self, context),
            false => process::records(self, context),
        }
    }

    fn is_in_guest(&self) -> bool {
        self.backend.declaration().program == ProgramForm::GuestImage
    }
}

/// Returns the name of the profile with `loops` loops.
fn profile(loops: u64) -> String {
    format!("loops-{loops}")
}
