//! The job of a machine, and its report when it has done it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Path of the job in the initramfs.
pub const JOB: &str = "/job.json";
/// The share that holds the file system.
pub const ROOT_TAG: &str = "root";
/// The share that holds the project.
pub const PROJECT_TAG: &str = "project";
/// The share that brings results back.
pub const OUT_TAG: &str = "out";
/// Folder of results in the machine; scenarios find it in `$OUT`.
pub const OUT: &str = "/run/out";
/// The file in the folder of results that holds the exit status of the scenario. It is written
/// last: where it is missing, the machine did not get to the end.
pub const STATUS: &str = "status";

/// The file in the folder of results into which the machine writes, each second, how many seconds
/// it has been running.
pub const ALIVE: &str = "alive";

/// The tag of a share with packages that are laid over the machine's file system.
pub fn layer_tag(index: usize) -> String {
    format!("layer{index}")
}

/// The job of a machine.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Job {
    /// The modules to load, in this order, as paths in the initramfs.
    pub modules: Vec<PathBuf>,
    /// The tags of the shares that are laid over the machine's file system, the topmost first.
    pub layers: Vec<String>,
    /// The folder of the hypervisor's programs, where the machine is its first domain.
    pub hypervisor_programs: Option<PathBuf>,
    /// The project's folder, here and in the machine.
    pub project: PathBuf,
    /// The folder to begin in.
    pub directory: PathBuf,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The device over which the machine gives its results, where it is recorded and so has no
    /// shares: an archive of its folder of results.
    pub results_to: Option<PathBuf>,
    /// Time since the machine's start after which it tells on its console what hangs.
    pub tell_after: Duration,
}
