//! Attempts that take no time: for those who want to know what a machine grants, now.

use std::time::Duration;

use quietcore_clock::TimeCalibration;
use quietcore_units::Scheduling;

use super::Timestamping;
use super::{Attempt, Attempts, CgroupPlace, CpuidWords, FreshCgroup, GuestSpeed, Live};
use crate::cpu_list::CpuList;
use crate::reading::Reading;

const REASON: &str = "not tried, since it takes time";

/// The attempts of [`Live`] without those that measure or wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quick;

impl Attempts for Quick {
    fn cpuid(&self, cpu: Option<u32>, leaf: u32, subleaf: u32) -> Option<CpuidWords> {
        Live.cpuid(cpu, leaf, subleaf)
    }

    fn schedule(&self, scheduling: Scheduling) -> Attempt {
        Live.schedule(scheduling)
    }

    fn grantable_cpus(&self) -> Reading<CpuList> {
        Live.grantable_cpus()
    }

    fn schedule_in_fresh_cgroup(&self, _: &CgroupPlace) -> FreshCgroup {
        FreshCgroup::not_tried(REASON)
    }

    fn calibrate_time(&self) -> TimeCalibration {
        TimeCalibration::without(REASON.to_owned())
    }

    fn calibrate_kvm(&self) -> Reading<GuestSpeed> {
        Reading::Unreadable(REASON.to_owned())
    }

    fn timestamping(&self, _: &str) -> Reading<Timestamping> {
        Reading::Unreadable(REASON.to_owned())
    }

    fn pause(&self, _: Duration) {}
}
