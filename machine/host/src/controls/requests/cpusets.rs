//! CPUs without load balancing: domains of the scheduler, by cpusets.
//!
//! Version 2 has partitions: a group whose CPUs are in no domain and in no other group. Who is to
//! run there enters it. Version 1 builds domains from all groups that balance load, whoever is in
//! them: without the one of all, and with one of all other CPUs, ours are in none. Nothing moves.

use super::{Claim, Wanted};
use crate::controls::group::CpusetKind;
use crate::controls::setting::{Form, Setting};
use crate::controls::want::Want;
use crate::facts::Cgroups;

/// The domain of all CPUs that no partition has, under version 1; one for all sites.
const OTHERS: &str = "quietcore-others";

impl Claim<'_> {
    pub(super) fn load_balance(&self) -> Wanted {
        let cgroups = Cgroups::read(self.source);
        if let Some(mount) = cgroups.mount_of("cpuset") {
            let others = Setting::Cpuset {
                path: format!("{}/{OTHERS}", mount.folder),
                kind: CpusetKind::Domain,
            };
            let all = format!("{}/cpuset.sched_load_balance", mount.folder);
            let none = Want::Exactly("0".to_owned());
            return vec![(others, self.without()), (Setting::file(all, Form::Text), none)];
        }
        let controllers = cgroups.unified_controllers.get();
        if !controllers.is_some_and(|all| all.iter().any(|one| one == "cpuset")) {
            return Vec::new();
        }
        let Some(mount) = cgroups.unified() else { return Vec::new() };
        let handed_down = format!("{}/cgroup.subtree_control", mount.folder);
        let own = Setting::Cpuset {
            path: format!("{}/quietcore-{}", mount.folder, self.holder),
            kind: CpusetKind::Isolated,
        };
        vec![
            (Setting::file(handed_down, Form::Words), Want::With("cpuset".to_owned())),
            (own, Want::Exactly(self.cpus.to_string())),
        ]
    }
}
