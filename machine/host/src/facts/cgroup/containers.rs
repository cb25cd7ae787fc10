//! The means for containers: their runtimes, and the obstacles to each.

use quietcore_site::{ContainerRuntime, Obstacle};
use serde::{Deserialize, Serialize};

use super::{CgroupArrangement, Cgroups};
use crate::reading::Reading;
use crate::source::Source;

/// Groups that are looked at for real-time run time.
const GROUPS_MAX: usize = 4096;

/// The facts that containers need of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Containers {
    /// The program `runc`.
    pub runc: Reading<String>,
    /// The program `crun`.
    pub crun: Reading<String>,
    /// Number of user namespaces that a user may make.
    pub user_namespaces: Reading<u64>,
    /// `true` if users other than root may make them, where the kernel has such a switch.
    pub unprivileged: Reading<bool>,
    /// Real-time run time that new groups can still be given, in µs a second of each CPU; absent
    /// where groups need none.
    pub real_time_left_us: Reading<i64>,
}

impl Containers {
    /// Reads them from the system's files.
    pub fn read(source: &Source, cgroups: &Cgroups) -> Self {
        Self {
            runc: source.program("runc"),
            crun: source.program("crun"),
            user_namespaces: source.value("/proc/sys/user/max_user_namespaces"),
            unprivileged: source.switch("/proc/sys/kernel/unprivileged_userns_clone"),
            real_time_left_us: real_time_left(source, cgroups),
        }
    }

    /// The program of a container runtime.
    pub fn program(&self, runtime: ContainerRuntime) -> Option<&str> {
        let program = match runtime {
            ContainerRuntime::Runc => &self.runc,
            ContainerRuntime::Crun => &self.crun,
        };
        program.get().map(String::as_str)
    }

    /// Checks if an installed runtime can run a partition of this user; returns `None` if it is not
    /// installed.
    ///
    /// # Errors
    /// What stands in its way.
    pub fn usable(
        &self,
        runtime: ContainerRuntime,
        cgroups: &Cgroups,
        is_root: bool,
    ) -> Option<Result<(), Obstacle>> {
        self.program(runtime)?;
        let nothing = || Obstacle {
            what: "no control groups are mounted".to_owned(),
            remedy: "mount -t cgroup2 none /sys/fs/cgroup".to_owned(),
        };
        Some(match (cgroups.arrangement, is_root) {
            (CgroupArrangement::None, _) => Err(nothing()),
            (CgroupArrangement::Hybrid, _) if runtime == ContainerRuntime::Crun => Err(Obstacle {
                what: "`crun` does not work beside control groups of both versions".to_owned(),
                remedy: "use `runc`, or boot with systemd.unified_cgroup_hierarchy=1".to_owned(),
            }),
            (_, true) => writable(cgroups),
            (_, false) => self.for_users(),
        })
    }

    /// A user other than root has containers in user namespaces only.
    fn for_users(&self) -> Result<(), Obstacle> {
        if self.unprivileged == Reading::Read(false) {
            return Err(Obstacle {
                what: "only root may make user namespaces".to_owned(),
                remedy: "`sysctl -w kernel.unprivileged_userns_clone=1`, or run as root".to_owned(),
            });
        }
        match self.user_namespaces {
            Reading::Read(0) => Err(Obstacle {
                what: "no user namespaces may be made".to_owned(),
                remedy: "`sysctl -w user.max_user_namespaces=1000`, or run as root".to_owned(),
            }),
            Reading::Absent => Err(Obstacle {
                what: "the kernel has no user namespaces".to_owned(),
                remedy: "run as root".to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

fn writable(cgroups: &Cgroups) -> Result<(), Obstacle> {
    match &cgroups.may_make_groups {
        Reading::Unreadable(reason) => Err(Obstacle {
            what: format!("no control group can be made: {reason}"),
            remedy: "mount /sys/fs/cgroup for writing; inside of a container, start that with it \
                     writable"
                .to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Returns the run time of the root that its children have not been given yet. The kernel counts a
/// group's share for each CPU, whichever the group may use.
fn real_time_left(source: &Source, cgroups: &Cgroups) -> Reading<i64> {
    let Some(mount) = cgroups.mount_of("cpu") else { return Reading::Absent };
    let share = |folder: &str| -> Reading<i64> {
        let run_time: Reading<i64> = source.value(&format!("{folder}/cpu.rt_runtime_us"));
        let period: Reading<i64> = source.value(&format!("{folder}/cpu.rt_period_us"));
        let period = period.get().copied().unwrap_or(1_000_000).max(1);
        run_time.and_then(|us| Reading::Read(us.saturating_mul(1_000_000) / period))
    };
    let children = source.entries(&mount.folder);
    let children = children.get().map(Vec::as_slice).unwrap_or_default().iter();
    let given = children
        .take(GROUPS_MAX)
        .filter_map(|name| share(&format!("{}/{name}", mount.folder)).get().copied());
    let given = given.fold(0, i64::saturating_add);
    share(&mount.folder).and_then(|all| Reading::Read(all.saturating_sub(given).max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hybrid() -> Cgroups {
        Cgroups {
            arrangement: CgroupArrangement::Hybrid,
            mounts: Vec::new(),
            unified_controllers: Reading::Absent,
            delegated_controllers: Reading::Absent,
            may_make_groups: Reading::Read(()),
            cpus_of_sites: crate::CpuList::default(),
            root_cpus: Reading::Absent,
            mounts_unreadable: None,
        }
    }

    #[test]
    fn what_stands_in_the_way_is_named() {
        let both = Containers {
            runc: Reading::Read("/usr/sbin/runc".to_owned()),
            crun: Reading::Read("/usr/bin/crun".to_owned()),
            user_namespaces: Reading::Read(0),
            ..Containers::default()
        };
        let usable = |cgroups: &Cgroups, runtime, root| {
            both.usable(runtime, cgroups, root).expect("both are there").map_err(|it| it.what)
        };
        use ContainerRuntime::{Crun, Runc};
        assert_eq!(usable(&hybrid(), Runc, true), Ok(()));
        assert!(usable(&hybrid(), Crun, true).unwrap_err().contains("both versions"));
        assert!(usable(&hybrid(), Runc, false).unwrap_err().contains("user namespaces"));
        let reading = Reading::Unreadable("read-only file system".to_owned());
        let fixed = Cgroups { may_make_groups: reading, ..hybrid() };
        assert!(usable(&fixed, Runc, true).unwrap_err().contains("read-only"));
        let none = Cgroups { arrangement: CgroupArrangement::None, ..hybrid() };
        assert!(usable(&none, Runc, true).is_err());
        let debian = Containers { unprivileged: Reading::Read(false), ..both.clone() };
        let refused = debian.usable(Runc, &hybrid(), false).expect("it is there").unwrap_err();
        assert!(refused.remedy.contains("unprivileged_userns_clone"));
        assert_eq!(Containers::default().usable(Runc, &hybrid(), true), None);
    }

    #[test]
    fn what_other_groups_have_is_not_left() {
        let root = tempfile::tempdir().expect("there is a folder for temporary files");
        let group = |name: &str, run_time: &str, period: &str| {
            let folder = root.path().join("sys/fs/cgroup/cpu").join(name);
            std::fs::create_dir_all(&folder).expect("it is ours");
            std::fs::write(folder.join("cpu.rt_runtime_us"), run_time).expect("it is ours");
            std::fs::write(folder.join("cpu.rt_period_us"), period).expect("it is ours");
        };
        group("", "950000\n", "1000000\n");
        group("other", "100000\n", "500000\n");
        group("none", "0\n", "1000000\n");
        let mounts = "30 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        let proc = root.path().join("proc/self");
        std::fs::create_dir_all(&proc).expect("it is ours");
        std::fs::write(proc.join("mountinfo"), mounts).expect("it is ours");
        std::fs::write(proc.join("cgroup"), "1:cpu:/\n").expect("it is ours");
        let source = Source::below(root.path());
        let cgroups = Cgroups::read(&source);
        let left = Containers::read(&source, &cgroups).real_time_left_us;
        assert_eq!(left, Reading::Read(750_000));
    }
}
