//! What a partition is asked to do.

use quietcore_exchange::Shape;
use quietcore_probe::job::LatencyJob;
use quietcore_scan::process::job::ProgramJob;
use serde::{Deserialize, Serialize};

use crate::fieldbus::FieldbusJob;

/// The work of a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// The probe `latency`.
    Latency(LatencyJob),
    /// A control program in its scan cycle.
    Program {
        /// The program and its tasks.
        program: Box<ProgramJob>,
        /// The fieldbus that it drives.
        fieldbus: Option<FieldbusJob>,
    },
}

/// The exchange that the probe `latency` needs.
pub fn latency_shape(job: &LatencyJob) -> Shape {
    Shape::of_tasks(u32::try_from(job.cpus.len()).unwrap_or(u32::MAX))
}
