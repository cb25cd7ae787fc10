//! Settings that all containers of a site share: runtime, folder, control group and run time.

use std::fs::File;
use std::path::PathBuf;

use quietcore_host::Source;
use quietcore_host::facts::{Cgroups, Containers as Ground};
use quietcore_settings::ReservedGroup;
use quietcore_site::{ContainerRuntime, Obstacle, real_time_share};
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

use super::runtime::RuntimeProgram;
use super::{ContainerError, ContainerSetting, ContainerWish};

/// Settings that all containers of a site, or of a campaign, share.
#[derive(Clone, Debug)]
pub struct Containers {
    pub(super) runtime: RuntimeProgram,
    /// Folder below which each container gets one of its own; only this user can access it.
    pub(super) folders: PathBuf,
    /// Name of the site or campaign that holds them; a part of each container's name.
    holder: String,
    /// Control group below which theirs are made, as a path from the root of the hierarchy; `None`
    /// where this user may make none.
    pub(super) group: Option<PathBuf>,
    /// Real-time run time of each container's group, in microseconds a second of each CPU, unless
    /// others leave less; `None` where groups have none.
    real_time_us: Option<i64>,
}

impl Containers {
    /// Finds out how `count` containers of `holder` are run here: with the runtime `wanted`, or
    /// else the first that works. Their control groups are made below `group` where that has CPUs
    /// of its own. Where the kernel divides real-time run time among groups, they share equally
    /// what others leave.
    ///
    /// `folders` is the folder in which each container gets its own; it is made when it is first
    /// needed.
    ///
    /// # Errors
    /// [`ContainerError::Runtime`] when no runtime can run them.
    pub fn prepare(
        folders: PathBuf,
        holder: &str,
        count: usize,
        wanted: Option<ContainerRuntime>,
        group: Option<&ReservedGroup>,
    ) -> Result<Self, ContainerError> {
        let source = Source::live();
        let cgroups = Cgroups::read(&source);
        let ground = Ground::read(&source, &cgroups);
        let is_root = geteuid().is_root();
        let runtime =
            usable(&ground, &cgroups, wanted, is_root).map_err(ContainerError::Runtime)?;
        let share = ground.real_time_left_us.get().map(|left| real_time_share(*left, count));
        Ok(Self {
            runtime,
            folders,
            holder: holder.to_owned(),
            group: is_root
                .then(|| group.and_then(ReservedGroup::name).unwrap_or_else(|| PathBuf::from("/"))),
            real_time_us: share.filter(|share| is_root && *share > 0),
        })
    }

    /// Returns the name and version of the runtime that containers would have here now: `wanted`,
    /// or else the first that works. Returns `None` if none works.
    pub fn runtime_here(wanted: Option<ContainerRuntime>) -> Option<String> {
        let source = Source::live();
        let cgroups = Cgroups::read(&source);
        let ground = Ground::read(&source, &cgroups);
        let runtime = usable(&ground, &cgroups, wanted, geteuid().is_root()).ok()?;
        Some(described(&runtime))
    }

    /// Returns the setting of a partition's container.
    pub fn of_partition(&self, partition: &str, wish: ContainerWish) -> ContainerSetting {
        let name = self.name_of(partition);
        ContainerSetting { common: self.clone(), name, wish }
    }

    /// Reads the OCI description of a partition's running container, as its runtime got it.
    ///
    /// # Errors
    /// When there is no such container.
    pub fn description(&self, partition: &str) -> std::io::Result<Vec<u8>> {
        let name = self.name_of(partition);
        std::fs::read(self.folders.join(name).join("bundle/config.json"))
    }

    fn name_of(&self, partition: &str) -> String {
        format!("quietcore-{}-{partition}", self.holder)
    }

    /// Returns the name and version of the runtime, in one line, for the record of a run.
    pub fn runtime(&self) -> String {
        described(&self.runtime)
    }
}

/// Returns the name and version of a runtime, in one line.
fn described(runtime: &RuntimeProgram) -> String {
    runtime.version().unwrap_or_else(|| runtime.name().to_owned())
}

impl ContainerSetting {
    /// Returns the real-time run time of its group; `None` where it needs none, or groups have
    /// none. The returned file is a lock: until it is dropped, whoever starts another container
    /// waits and can't take the run time that is left.
    pub(super) fn real_time(&self) -> Result<(Option<File>, Option<i64>), ContainerError> {
        let Some(share) = self.common.real_time_us.filter(|_| self.wish.real_time) else {
            return Ok((None, None));
        };
        let folders = &self.common.folders;
        let turn = File::open(folders).and_then(|file| {
            flock(&file, FlockOperation::LockExclusive)?;
            Ok(file)
        });
        let turn = turn.map_err(ContainerError::folder(folders, "locked"))?;
        let source = Source::live();
        let left = Ground::read(&source, &Cgroups::read(&source)).real_time_left_us;
        Ok((Some(turn), left.get().map(|left| share.min(*left))))
    }
}

fn usable(
    ground: &Ground,
    cgroups: &Cgroups,
    wanted: Option<ContainerRuntime>,
    is_root: bool,
) -> Result<RuntimeProgram, Obstacle> {
    let fits = |runtime: &ContainerRuntime| wanted.is_none_or(|wanted| wanted == *runtime);
    let mut obstacle = None;
    for runtime in ContainerRuntime::ALL.into_iter().filter(fits) {
        match (ground.program(runtime), ground.usable(runtime, cgroups, is_root)) {
            (Some(program), Some(Ok(()))) => return Ok(RuntimeProgram::new(program.into())),
            (_, Some(Err(found))) => obstacle = obstacle.or(Some(found)),
            _ => {}
        }
    }
    Err(obstacle.unwrap_or_else(|| Obstacle::no_container_runtime(wanted)))
}
