//! What the containers of a site have in common.

use std::fs::File;
use std::path::PathBuf;

use quietcore_host::Source;
use quietcore_host::controls::ReservedGroup;
use quietcore_host::facts::{Cgroups, Containers as Ground};
use quietcore_site::{ContainerRuntime, Obstacle, real_time_share};
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

use super::runtime::RuntimeProgram;
use super::{ContainerError, ContainerSetting, ContainerWish};

/// What the containers of a site, or of a campaign, have in common.
#[derive(Clone, Debug)]
pub struct Containers {
    pub(super) runtime: RuntimeProgram,
    /// Where their folders are made; a folder of this user alone.
    pub(super) folders: PathBuf,
    /// Whose they are; the first part of their names.
    holder: String,
    /// The control group below which theirs are made, from the hierarchy's root; `None` where this
    /// user may make none.
    pub(super) group: Option<PathBuf>,
    /// Real-time run time of each one's group, in µs a second of each CPU, as far as others leave
    /// it; `None` where groups have none.
    real_time_us: Option<i64>,
}

impl Containers {
    /// Finds out how `count` containers of a holder are run here, with a runtime that is wanted or
    /// the first that works. Where a group has CPUs for itself, theirs are made in it. They share
    /// the real-time run time that other groups leave, where the kernel divides it.
    ///
    /// `folders` is where each gets a folder; it is made when it is needed.
    ///
    /// # Errors
    /// [`ContainerError::Runtime`] when nothing can run them.
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

    /// The container of a partition.
    pub fn of_partition(&self, partition: &str, wish: ContainerWish) -> ContainerSetting {
        let name = self.name_of(partition);
        ContainerSetting { common: self.clone(), name, wish }
    }

    /// The description of a partition's container that runs, as its container runtime got it.
    ///
    /// # Errors
    /// There is no such container.
    pub fn description(&self, partition: &str) -> std::io::Result<Vec<u8>> {
        let name = self.name_of(partition);
        std::fs::read(self.folders.join(name).join("bundle/config.json"))
    }

    fn name_of(&self, partition: &str) -> String {
        format!("quietcore-{}-{partition}", self.holder)
    }

    /// What runs them, with its version, for those who read a record.
    pub fn runtime(&self) -> String {
        self.runtime.version().unwrap_or_else(|| self.runtime.name().to_owned())
    }
}

impl ContainerSetting {
    /// The real-time run time of its group, `None` where it needs none, or groups have none. What
    /// is left may be taken by others who start a container: they wait while the file is open.
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
