//! What a partition is asked to run.

use quietcore_process::setting::Policy;
use quietcore_process::snare::SnareJob;
use quietcore_units::{ByteSize, Nanos};
use serde::{Deserialize, Serialize};

pub use crate::latency::Injection;
pub use crate::margin::Wake;

/// The most bytes that a written job may take.
pub const JOB_BYTES_MAX: usize = 64 << 10;

/// The probe `latency` in one partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyJob {
    /// A task for each entry: the CPU it is pinned to, or none if it may move.
    pub cpus: Vec<Option<u32>>,
    /// Time between releases.
    pub period: Nanos,
    /// Releases to measure.
    pub cycles: u64,
    /// Releases before the measured ones, which are run and forgotten.
    pub warm_up_cycles: u64,
    /// How the tasks are scheduled.
    pub policy: Policy,
    /// How they come to their release.
    pub wake: Wake,
    /// A delay to inject.
    pub injection: Option<Injection>,
    /// The memory that is reserved for its process; none leaves that open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
    /// What late releases spring; none where they are not to be explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snare: Option<SnareJob>,
}

impl std::str::FromStr for Injection {
    type Err = String;

    /// Reads `500us@1000`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (delay, release) = text.split_once('@').ok_or_else(|| {
            format!("`{text}` has no `@`; write DELAY@RELEASE such as 500us@1000")
        })?;
        let delay = delay.parse().map_err(|error| format!("`{delay}`: {error}"))?;
        let release = release
            .trim()
            .parse()
            .map_err(|_| format!("`{release}` is not the number of a release"))?;
        Ok(Self { delay, release })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_injection_is_read() {
        assert_eq!(
            "500us@1000".parse(),
            Ok(Injection { delay: Nanos::from_micros(500), release: 1000 })
        );
        assert!("500us".parse::<Injection>().unwrap_err().contains("no `@`"));
        assert!("500@7".parse::<Injection>().unwrap_err().contains("unit"));
        assert!("5us@x".parse::<Injection>().unwrap_err().contains("not the number"));
    }

    #[test]
    fn a_job_survives_the_way_to_its_process() {
        let job = LatencyJob {
            cpus: vec![Some(1), None],
            period: Nanos::from_millis(1),
            cycles: 40_000,
            warm_up_cycles: 1_000,
            policy: Policy::Fifo(90),
            wake: Wake::Adaptive { share_percent: 25 },
            injection: None,
            memory: None,
            snare: None,
        };
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<LatencyJob>(&text).unwrap(), job);
    }
}
