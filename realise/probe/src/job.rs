//! The job of a partition that runs the probe `latency`.

use quietcore_process::snare::SnareJob;
use quietcore_release::Injection;
use quietcore_units::{ByteSize, Nanos, Scheduling, Wake};
use serde::{Deserialize, Serialize};

/// The most bytes that a written job may take.
pub const JOB_BYTES_MAX: usize = 64 << 10;

/// The job of the probe `latency` in one partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyJob {
    /// A task for each entry: the CPU that it is pinned to, or `None` if it may move.
    pub cpus: Vec<Option<u32>>,
    /// Time from one release to the next.
    pub period: Nanos,
    /// Number of releases to measure.
    pub cycles: u64,
    /// Releases before the measured ones, which are run and discarded.
    pub warm_up_cycles: u64,
    /// Scheduling policy and priority of the tasks.
    pub policy: Scheduling,
    /// Way in which the tasks come to their releases.
    pub wake: Wake,
    /// A delay to inject; `None` injects none.
    pub injection: Option<Injection>,
    /// The memory that is reserved for its process; `None` leaves that open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
    /// The snare that late releases spring; `None` where they are not to be explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snare: Option<SnareJob>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_survives_the_way_to_its_process() {
        let job = LatencyJob {
            cpus: vec![Some(1), None],
            period: Nanos::from_millis(1),
            cycles: 40_000,
            warm_up_cycles: 1_000,
            policy: Scheduling::Deadline {
                run_time: Nanos::from_micros(200),
                deadline: Nanos::from_micros(700),
                period: Nanos::from_millis(1),
            },
            wake: Wake::Adaptive { share_percent: 25 },
            injection: None,
            memory: None,
            snare: None,
        };
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<LatencyJob>(&text).unwrap(), job);
    }
}
