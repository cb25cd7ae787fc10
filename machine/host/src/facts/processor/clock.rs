//! Clocks: which one the kernel uses, what the TSC promises, and whether time is real at all.

use quietcore_clock::TimeCalibration;
use quietcore_record::record::TimeReality;
use serde::{Deserialize, Serialize};

use crate::attempts::Attempts;
use crate::reading::Reading;
use crate::source::Source;

const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";

/// Clocks, and whether their time is real.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// The clock source in use, such as `tsc`.
    pub source: Reading<String>,
    /// The clock sources that could be used.
    pub available: Reading<Vec<String>>,
    /// Promises about the time-stamp counter.
    pub tsc: TscFlags,
    /// Largest delay by which an ordinary thread may be woken later than asked, in ns.
    pub timer_slack_ns: Reading<u64>,
    /// `true` if timers of idle CPUs move to busy ones.
    pub timer_migration: Reading<bool>,
    /// The trust in durations measured here.
    pub calibration: TimeCalibration,
}

/// Promises about the time-stamp counter. `None`-like readings say that nobody told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TscFlags {
    /// It runs at one rate whatever the clock of the CPU (`constant_tsc`).
    pub constant: Reading<bool>,
    /// It runs on in idle states (`nonstop_tsc`).
    pub nonstop: Reading<bool>,
    /// Its rate is told by the processor or hypervisor, not measured (`tsc_known_freq`).
    pub known_frequency: Reading<bool>,
    /// The kernel was told to trust it (`tsc_reliable`).
    pub reliable: Reading<bool>,
    /// Writes to it can be seen (`tsc_adjust`).
    pub adjust: Reading<bool>,
    /// It can trigger the local timer (`tsc_deadline_timer`).
    pub deadline_timer: Reading<bool>,
    /// CPUID leaf 0x8000_0007 calls it invariant.
    pub invariant: Reading<bool>,
}

/// Says why time can't be trusted; `None` where it can.
pub(crate) fn why_not_real(time: &TimeReality) -> Option<String> {
    match time {
        TimeReality::Native => None,
        TimeReality::Emulated(because) | TimeReality::Stated(because) => Some(because.clone()),
        TimeReality::Unknown(because) => {
            Some(format!("whether time is real could not be found out: {because}"))
        }
        TimeReality::Unstated => Some("whether time is real is not said".to_owned()),
    }
}

pub(in crate::facts) fn read(source: &Source, attempts: &impl Attempts) -> Clock {
    let flags = super::field_of(&source.text("/proc/cpuinfo"), "flags");
    let flag =
        |name: &str| flags.clone().map(|flags| flags.split_whitespace().any(|flag| flag == name));
    Clock {
        source: source.text(&format!("{CLOCKS}/current_clocksource")),
        available: source.words(&format!("{CLOCKS}/available_clocksource")),
        tsc: TscFlags {
            constant: flag("constant_tsc"),
            nonstop: flag("nonstop_tsc"),
            known_frequency: flag("tsc_known_freq"),
            reliable: flag("tsc_reliable"),
            adjust: flag("tsc_adjust"),
            deadline_timer: flag("tsc_deadline_timer"),
            invariant: attempts
                .cpuid(None, 0x8000_0007, 0)
                .map_or(Reading::Absent, |words| Reading::Read(words.edx & (1 << 8) != 0)),
        },
        timer_slack_ns: source.value("/proc/self/timerslack_ns"),
        timer_migration: source.switch("/proc/sys/kernel/timer_migration"),
        calibration: attempts.calibrate_time(),
    }
}
