//! Control groups: which interface stands, which controllers it has, where this process is.

mod containers;

use serde::{Deserialize, Serialize};

use crate::attempts::{CgroupPlace, CgroupVersion};
use crate::cpu_list::CpuList;
use crate::reading::Reading;
use crate::source::Source;

pub use containers::Containers;

/// The beginning of the names of all groups that Quietcore makes.
pub const GROUP_PREFIX: &str = "quietcore-";
/// The beginning of the rest of the name of a group that partitions enter, under version 1.
pub const ENTERED: &str = "of-";
/// The group of all CPUs that no partition has, under version 1; one for all sites.
pub const OTHERS_GROUP: &str = "quietcore-others";

/// The division of the controllers between the two interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CgroupArrangement {
    /// Only version 2.
    V2,
    /// Both are mounted; the controllers are divided.
    Hybrid,
    /// Only version 1.
    V1,
    /// Neither interface is mounted.
    None,
}

/// The hierarchies of control groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cgroups {
    /// The division of the controllers between the interfaces.
    pub arrangement: CgroupArrangement,
    /// Hierarchies that are mounted here.
    pub mounts: Vec<CgroupMount>,
    /// Controllers that the root of version 2 has.
    pub unified_controllers: Reading<Vec<String>>,
    /// Controllers that this process's group of version 2 hands down.
    pub delegated_controllers: Reading<Vec<String>>,
    /// Readable if this process may make groups below its own.
    pub may_make_groups: Reading<()>,
    /// The CPUs that running sites keep in cpusets of their own, which no other group has then.
    #[serde(default)]
    pub cpus_of_sites: CpuList,
    /// The CPUs that a new group at the root of the hierarchy can have, as this process sees it.
    #[serde(default)]
    pub root_cpus: Reading<CpuList>,
    /// Why no list of mounts could be read, if that is so.
    pub mounts_unreadable: Option<String>,
}

/// A hierarchy that is mounted here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CgroupMount {
    /// Version of its interface.
    pub version: CgroupVersion,
    /// The folder at which it is mounted.
    pub folder: String,
    /// Its controllers; empty for version 2, where files tell.
    pub controllers: Vec<String>,
    /// The group of this process, as a folder below the mount, empty for the mount itself.
    pub own_group: String,
}

impl CgroupMount {
    /// The folder of this process's group.
    pub fn own_folder(&self) -> String {
        format!("{}{}", self.folder, self.own_group)
    }
}

/// There is no group in which a new one could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CgroupPlaceError {
    /// The list of mounts can't be read.
    #[error("{reason}")]
    Unreadable {
        /// The file and the kernel's error.
        reason: String,
    },
    /// Neither version 1 nor version 2 is mounted.
    #[error("no cgroup hierarchy is mounted")]
    NotMounted,
    /// The process is in a group above the root of its mount, as in a container.
    #[error("{folder}: this process's group is not visible here")]
    NotVisible {
        /// The group's folder, were it visible.
        folder: String,
    },
}

impl Cgroups {
    /// Reads them from the mounts and this process's groups.
    pub fn read(source: &Source) -> Self {
        read(source, "self")
    }

    /// Reads them with the groups of another process in place of this one's.
    pub fn of_process(source: &Source, process: u32) -> Self {
        read(source, &process.to_string())
    }

    /// The hierarchy of version 1 that has a controller.
    pub fn mount_of(&self, controller: &str) -> Option<&CgroupMount> {
        self.mounts.iter().find(|mount| mount.controllers.iter().any(|other| other == controller))
    }

    /// The hierarchy of version 2.
    pub fn unified(&self) -> Option<&CgroupMount> {
        self.mounts.iter().find(|mount| mount.version == CgroupVersion::V2)
    }

    /// Returns the place in which a container runtime would make a new group: this process's group
    /// in the hierarchy that has the CPU controller.
    ///
    /// # Errors
    /// No hierarchy is known, or this process's group lies outside of what it can see.
    pub fn place_for_attempt(&self, source: &Source) -> Result<CgroupPlace, CgroupPlaceError> {
        let mount = self.mount_of("cpu").or_else(|| self.unified()).ok_or_else(|| {
            match &self.mounts_unreadable {
                Some(reason) => CgroupPlaceError::Unreadable { reason: reason.clone() },
                None => CgroupPlaceError::NotMounted,
            }
        })?;
        let folder = mount.own_folder();
        if source.exists(&folder) != Reading::Read(true) {
            return Err(CgroupPlaceError::NotVisible { folder });
        }
        Ok(CgroupPlace { folder: source.place(&folder), version: mount.version })
    }
}

/// Reads them as `process` has them: a number, or `self`.
fn read(source: &Source, process: &str) -> Cgroups {
    let table = source.text("/proc/self/mountinfo");
    let membership = source.text(&format!("/proc/{process}/cgroup"));
    let mounts = mounts(table.text().unwrap_or(""), membership.text().unwrap_or(""));
    let any = |version| mounts.iter().any(|mount| mount.version == version);
    // A hierarchy of version 1 without a controller only names groups; systemd keeps one.
    let v1 = mounts.iter().any(|mount| !mount.controllers.is_empty());
    let arrangement = match (any(CgroupVersion::V2), v1) {
        (true, false) => CgroupArrangement::V2,
        (true, true) => CgroupArrangement::Hybrid,
        (false, true) => CgroupArrangement::V1,
        (false, false) => CgroupArrangement::None,
    };
    let mut cgroups = Cgroups {
        arrangement,
        mounts,
        unified_controllers: Reading::Absent,
        delegated_controllers: Reading::Absent,
        may_make_groups: Reading::Absent,
        cpus_of_sites: CpuList::default(),
        root_cpus: Reading::Absent,
        mounts_unreadable: table.unreadable().map(str::to_owned),
    };
    if let Some(unified) = cgroups.unified() {
        let root = format!("{}/cgroup.controllers", unified.folder);
        let own = format!("{}/cgroup.subtree_control", unified.own_folder());
        cgroups.unified_controllers = source.words(&root);
        cgroups.delegated_controllers = source.words(&own);
    }
    if let Some(mount) = cgroups.mount_of("cpuset").or_else(|| cgroups.unified()) {
        let (folder, version) = (&mount.folder, mount.version);
        let of_root = match version {
            CgroupVersion::V1 => "cpuset.effective_cpus",
            CgroupVersion::V2 => "cpuset.cpus.effective",
        };
        let root_cpus = source.value(&format!("{folder}/{of_root}"));
        cgroups.cpus_of_sites = cpus_of_sites(source, folder, version);
        cgroups.root_cpus = root_cpus;
    }
    if let Some(mount) = cgroups.mount_of("cpu").or_else(|| cgroups.unified()) {
        cgroups.may_make_groups = source.opens(&format!("{}/cgroup.procs", mount.own_folder()));
    }
    cgroups
}

/// The CPUs that running sites keep from all other groups, by groups at the root of the hierarchy.
fn cpus_of_sites(source: &Source, folder: &str, version: CgroupVersion) -> CpuList {
    let keeps = |group: &&String| {
        let at = |name: &str| format!("{folder}/{group}/{name}");
        let is_kept = match version {
            CgroupVersion::V1 => group.starts_with(&format!("{GROUP_PREFIX}{ENTERED}")),
            CgroupVersion::V2 => {
                let kind = source.text(&at("cpuset.cpus.partition"));
                group.starts_with(GROUP_PREFIX) && kind.get().is_some_and(|kind| kind != "member")
            }
        };
        // A supervisor that was killed leaves its group without a process.
        is_kept && source.text(&at("cgroup.procs")).get().is_some_and(|all| !all.is_empty())
    };
    let groups = source.entries(folder);
    let groups = groups.get().into_iter().flatten().filter(keeps);
    let lists = groups.map(|group| source.value(&format!("{folder}/{group}/cpuset.cpus")));
    let sets = lists.filter_map(|list: Reading<CpuList>| list.get().copied());
    sets.fold(CpuList::default(), |all, set| CpuList(all.0.union(&set.0)))
}

/// Joins the table of mounts with the groups that this process is in.
///
/// A line of the table is `36 35 0:27 ROOT FOLDER OPTIONS [FIELDS …] - TYPE DEVICE SUPER`; the
/// super-block options of version 1 name its controllers.
fn mounts(table: &str, membership: &str) -> Vec<CgroupMount> {
    let mut mounts: Vec<CgroupMount> = Vec::new();
    for line in table.lines() {
        let Some((mount, kind)) = line.split_once(" - ") else {
            continue;
        };
        let mut kind = kind.split_whitespace();
        let version = match kind.next() {
            Some("cgroup") => CgroupVersion::V1,
            Some("cgroup2") => CgroupVersion::V2,
            _ => continue,
        };
        let mut mount = mount.split_whitespace().skip(3);
        let (Some(root), Some(folder)) = (mount.next(), mount.next()) else {
            continue;
        };
        let options = kind.nth(1).unwrap_or("");
        let controllers = match version {
            CgroupVersion::V1 => controllers(options),
            CgroupVersion::V2 => Vec::new(),
        };
        if mounts.iter().any(|other| other.folder == folder) {
            continue;
        }
        mounts.push(CgroupMount {
            version,
            folder: folder.to_owned(),
            own_group: own_group(membership, root, &controllers, version),
            controllers,
        });
    }
    mounts
}

/// The controllers among the options of a super block.
fn controllers(options: &str) -> Vec<String> {
    let other = ["rw", "ro", "xattr", "clone_children", "noprefix", "none", "cpuset_v2_mode"];
    options
        .split(',')
        .filter(|option| !option.contains('=') && !other.contains(option))
        .filter(|option| !option.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The group of this process below the mount, from lines like `4:memory:/user/a`.
fn own_group(
    membership: &str,
    root: &str,
    controllers: &[String],
    version: CgroupVersion,
) -> String {
    let path = membership.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (names, path) = (parts.next()?, parts.next()?);
        let fits = match version {
            CgroupVersion::V2 => names.is_empty(),
            CgroupVersion::V1 => {
                names.split(',').any(|name| controllers.iter().any(|controller| controller == name))
            }
        };
        fits.then_some(path)
    });
    // A mount may show a part of the hierarchy only; its root is cut off.
    let path = path.unwrap_or("");
    let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or(path);
    below.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HYBRID: &str = "\
30 20 0:26 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd
34 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate";

    #[test]
    fn mounts_know_their_controllers_and_the_own_group() {
        let mounts = mounts(HYBRID, "4:memory:/docker/1/a\n2:cpu,cpuacct:/user\n0::/x/y");
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[0].controllers, ["cpu", "cpuacct"]);
        assert_eq!(mounts[0].own_folder(), "/sys/fs/cgroup/cpu/user");
        assert_eq!(mounts[1].own_group, "/a");
        assert!(mounts[2].controllers.is_empty());
        assert_eq!(mounts[3].version, CgroupVersion::V2);
        assert_eq!(mounts[3].own_group, "/x/y");
    }

    proptest! {
        #[test]
        fn any_table_can_be_read(table in "(\\PC{0,60}\n){0,5}", membership in "\\PC{0,60}") {
            let _ = mounts(&table, &membership);
        }
    }
}
