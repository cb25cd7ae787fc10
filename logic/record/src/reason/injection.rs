//! The outcome of looking for a delay that was put in on purpose.

use std::fmt;

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::{Injected, Record};

/// The outcome of looking for an injected delay at its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code")]
pub enum InjectionFinding {
    /// The release was late by the delay at least. The record is a test of the probe.
    #[serde(rename = "injection_seen")]
    Seen {
        /// The delay that was injected.
        injected: Injected,
        /// The latency of that release, in ns.
        latency_ns: u64,
    },
    /// The release was less late than that.
    #[serde(rename = "injection_not_seen")]
    NotSeen {
        /// The delay that was injected.
        injected: Injected,
        /// The latency of that release, in ns; absent where the record doesn't have it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        latency_ns: Option<u64>,
    },
}

impl InjectionFinding {
    /// Looks for the delay in a record.
    pub fn of(record: &Record, injected: Injected) -> Self {
        match injected.found(record) {
            Some(latency_ns) if injected.is_seen(record) => Self::Seen { injected, latency_ns },
            latency_ns => Self::NotSeen { injected, latency_ns },
        }
    }
}

impl fmt::Display for InjectionFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Seen { injected, .. } | Self::NotSeen { injected, .. }) = self;
        let (delay, release) = (Nanos::new(injected.delay_ns), injected.release);
        write!(f, "a delay of {delay} was injected at release {release} and was ")?;
        match self {
            Self::Seen { latency_ns, .. } => {
                write!(f, "seen there as {}", Nanos::new(*latency_ns))
            }
            Self::NotSeen { latency_ns: Some(latency_ns), .. } => {
                let latency = Nanos::new(*latency_ns);
                write!(f, "NOT seen there: that release was {latency} late")
            }
            Self::NotSeen { latency_ns: None, .. } => {
                f.write_str("NOT seen: the record doesn't have that release")
            }
        }
    }
}
