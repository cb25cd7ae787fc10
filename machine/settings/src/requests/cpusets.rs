//! CPUs without load balancing and without other programs, by cpusets.
//!
//! Version 2 has partitions: a group whose CPUs are in no other group, and in a domain of the
//! scheduler's of their own or in none. Who is to run there enters it.
//!
//! Version 1 builds domains from all groups that balance load, whoever is in them: without the one
//! of all, and with one of all other CPUs, ours are in none. Nothing moves for that. To keep
//! programs off, they are moved to the group of all other CPUs, and those of the partitions enter a
//! group of their own.

use super::{Asked, Claim};
use crate::group::{CpusetKind, programs};
use crate::setting::{Form, Setting};
use crate::want::Want;
use quietcore_host::facts::{Cgroups, ENTERED, GROUP_PREFIX, OTHERS_GROUP};

impl Claim<'_> {
    pub(super) fn load_balance(&self) -> Asked {
        let cgroups = Cgroups::read(self.source);
        if let Some(mount) = cgroups.mount_of("cpuset") {
            let others = Setting::Cpuset {
                path: format!("{}/{OTHERS_GROUP}", mount.folder),
                kind: CpusetKind::Domain,
            };
            let all = format!("{}/cpuset.sched_load_balance", mount.folder);
            let none = Want::Exactly("0".to_owned());
            return vec![(others, self.without()), (Setting::file(all, Form::Text), none)];
        }
        self.partition(&cgroups, CpusetKind::Isolated)
    }

    /// Asks that programs leave the partitions' CPUs. Under version 2 a cpuset does it that also
    /// ends load balancing, if `is_isolated`.
    pub(super) fn programs(&self, is_isolated: bool) -> Asked {
        let cgroups = Cgroups::read(self.source);
        let Some(mount) = cgroups.mount_of("cpuset") else {
            let kind = if is_isolated { CpusetKind::Isolated } else { CpusetKind::Exclusive };
            return self.partition(&cgroups, kind);
        };
        let path = format!("{}/{OTHERS_GROUP}", mount.folder);
        let others = Setting::Cpuset { path: path.clone(), kind: CpusetKind::Domain };
        let own = Setting::Cpuset {
            path: format!("{}/{GROUP_PREFIX}{ENTERED}{}", mount.folder, self.holder),
            kind: CpusetKind::Entered,
        };
        vec![
            (others, self.without()),
            (own, Want::Exactly(self.wanted.cpus.to_string())),
            (Setting::Programs { path }, Want::Exactly(programs::APART.to_owned())),
        ]
    }

    fn partition(&self, cgroups: &Cgroups, kind: CpusetKind) -> Asked {
        let controllers = cgroups.unified_controllers.get();
        if !controllers.is_some_and(|all| all.iter().any(|one| one == "cpuset")) {
            return Vec::new();
        }
        let Some(mount) = cgroups.unified() else { return Vec::new() };
        let handed_down = format!("{}/cgroup.subtree_control", mount.folder);
        let own = Setting::Cpuset {
            path: format!("{}/{GROUP_PREFIX}{}", mount.folder, self.holder),
            kind,
        };
        vec![
            (Setting::file(handed_down, Form::Words), Want::With("cpuset".to_owned())),
            (own, Want::Exactly(self.wanted.cpus.to_string())),
        ]
    }
}
