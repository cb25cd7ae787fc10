//! What a machine is told to do, and what it tells when it has done it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the job lies in the initramfs.
pub const JOB: &str = "/job.json";
/// The share that holds the file system.
pub const ROOT_TAG: &str = "root";
/// The share that holds the project.
pub const PROJECT_TAG: &str = "project";
/// The share that brings results back.
pub const OUT_TAG: &str = "out";
/// Where results are left in the machine; scenarios find it in `$OUT`.
pub const OUT: &str = "/run/out";
/// The file in the folder of results that holds the exit status of the scenario. It is written
/// last: where it is missing, the machine did not get to the end.
pub const STATUS: &str = "status";

/// The file in the folder of results into which the machine writes, each second, how many seconds
/// it has been running.
pub const ALIVE: &str = "alive";

/// What a machine is told to do.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Job {
    /// The modules to load, in this order, as paths in the initramfs.
    pub modules: Vec<PathBuf>,
    /// The project's folder, here and in the machine.
    pub project: PathBuf,
    /// The folder to begin in.
    pub directory: PathBuf,
    /// The program and its arguments.
    pub command: Vec<String>,
}
