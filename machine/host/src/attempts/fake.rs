//! A machine whose answers a test chooses.

use std::collections::BTreeMap;
use std::time::Duration;

use quietcore_clock::{Sequence, TimeCalibration};
use quietcore_units::Scheduling;

use super::{Attempt, Attempts, CgroupPlace, CpuidWords, FreshCgroup, GuestSpeed, Timestamping};
use crate::cpu_list::CpuList;
use crate::reading::Reading;

/// Answers what its fields say. As made by [`Fake::granting`], everything is granted and native.
#[derive(Clone, Debug)]
pub struct Fake {
    /// The answers of CPUID, by leaf and subleaf, on every CPU alike.
    pub cpuid: BTreeMap<(u32, u32), CpuidWords>,
    /// The answer to SCHED_FIFO.
    pub fifo: Attempt,
    /// The answer to SCHED_DEADLINE.
    pub deadline: Attempt,
    /// The CPUs that a thread can be bound to.
    pub grantable_cpus: Reading<CpuList>,
    /// The answer to SCHED_FIFO in a new cgroup.
    pub fresh_cgroup: FreshCgroup,
    /// The costs of the calibration, in additions of 0.3 ns, in the order of [`Sequence::ALL`].
    pub costs: [f64; 6],
    /// The speed of a KVM guest.
    pub kvm: Reading<GuestSpeed>,
    /// Time stamps of interfaces, by name; others are absent.
    pub timestamping: BTreeMap<String, Timestamping>,
}

impl Fake {
    /// A machine that grants everything.
    pub fn granting() -> Self {
        Self {
            cpuid: BTreeMap::new(),
            fifo: Attempt::Succeeded,
            deadline: Attempt::Succeeded,
            grantable_cpus: Reading::Absent,
            fresh_cgroup: FreshCgroup {
                as_made: Attempt::Succeeded,
                ..FreshCgroup::not_tried("not needed")
            },
            costs: [1.0, 2.0, 4.0, 3.0, 4.0, 50.0],
            kvm: Reading::Read(GuestSpeed { instructions_per_second: 4e9, has_sse: Some(true) }),
            timestamping: BTreeMap::new(),
        }
    }

    /// A machine that refuses whatever needs a privilege, and whose time is translated.
    pub fn refusing() -> Self {
        let refused = Attempt::Refused("operation not permitted".to_owned());
        Self {
            fifo: refused.clone(),
            deadline: refused.clone(),
            fresh_cgroup: FreshCgroup {
                as_made: refused.clone(),
                budget_us: Reading::Read(0),
                with_budget: refused,
                ..FreshCgroup::not_tried("refused")
            },
            costs: [1.0, 50.0, 115.0, 46.0, 124.0, 64.0],
            kvm: Reading::Read(GuestSpeed { instructions_per_second: 1e6, has_sse: Some(false) }),
            ..Self::granting()
        }
    }
}

impl Attempts for Fake {
    fn cpuid(&self, _cpu: Option<u32>, leaf: u32, subleaf: u32) -> Option<CpuidWords> {
        self.cpuid.get(&(leaf, subleaf)).copied()
    }

    fn schedule(&self, scheduling: Scheduling) -> Attempt {
        match scheduling {
            Scheduling::Fifo { .. } => self.fifo.clone(),
            Scheduling::Deadline { .. } => self.deadline.clone(),
            Scheduling::Other => Attempt::Succeeded,
        }
    }

    fn grantable_cpus(&self) -> Reading<CpuList> {
        self.grantable_cpus.clone()
    }

    fn schedule_in_fresh_cgroup(&self, _place: &CgroupPlace) -> FreshCgroup {
        self.fresh_cgroup.clone()
    }

    fn calibrate_time(&self) -> TimeCalibration {
        let costs: Vec<_> =
            Sequence::ALL.into_iter().zip(self.costs.map(|additions| additions * 0.3)).collect();
        TimeCalibration::judge(&costs)
    }

    fn calibrate_kvm(&self) -> Reading<GuestSpeed> {
        self.kvm.clone()
    }

    fn timestamping(&self, interface: &str) -> Reading<Timestamping> {
        self.timestamping
            .get(interface)
            .map_or(Reading::Absent, |abilities| Reading::Read(abilities.clone()))
    }

    fn pause(&self, _duration: Duration) {}
}
