//! Attempts: facts that no file tells and only trying shows, such as the grant of SCHED_FIFO and
//! the speed of a guest.
//!
//! [`Attempts`] is the border between reading facts and the machine. [`Live`] tries for real, each
//! attempt on a short-lived thread or process of its own, bounded in time, and leaves nothing
//! behind. [`Quick`] does so where that takes no time. [`Fake`] answers what a test put in.

mod ethtool;
mod fake;
mod fresh_cgroup;
mod kvm;
mod quick;
mod scheduling;

use std::time::Duration;

use quietcore_clock::TimeCalibration;
use quietcore_units::Scheduling;
use serde::{Deserialize, Serialize};

use crate::cpu_list::CpuList;
use crate::reading::Reading;

pub use fake::Fake;
pub use fresh_cgroup::{CgroupPlace, CgroupVersion, FreshCgroup};
pub use quick::Quick;

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attempt {
    /// It was granted, and read back where that is possible.
    Succeeded,
    /// The kernel refused, with this error.
    Refused(String),
    /// It could not be tried, for this reason; nothing is known.
    NotTried(String),
}

impl Attempt {
    /// Returns `true` if it was granted.
    pub fn succeeded(&self) -> bool {
        *self == Self::Succeeded
    }

    /// The outcome in a few words.
    pub fn describe(&self) -> String {
        match self {
            Self::Succeeded => "granted".to_owned(),
            Self::Refused(error) => format!("refused: {error}"),
            Self::NotTried(reason) => format!("not tried: {reason}"),
        }
    }
}

/// The four registers that CPUID returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuidWords {
    /// Register EAX of the answer.
    pub eax: u32,
    /// Register EBX of the answer.
    pub ebx: u32,
    /// Register ECX of the answer.
    pub ecx: u32,
    /// Register EDX of the answer.
    pub edx: u32,
}

/// The time stamps that a network interface can take, as `ETHTOOL_GET_TS_INFO` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timestamping {
    /// Frames are stamped by the hardware as they leave.
    pub hardware_transmit: bool,
    /// Frames are stamped by the hardware as they arrive.
    pub hardware_receive: bool,
    /// The driver stamps frames as they leave.
    pub software_transmit: bool,
    /// The kernel stamps frames as they arrive.
    pub software_receive: bool,
    /// The hardware can stamp every received frame, not only those of PTP.
    pub every_received_frame: bool,
    /// The number of the interface's clock, `/dev/ptpN`.
    pub clock_index: Option<u32>,
}

/// The speed at which a KVM guest runs a counted loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuestSpeed {
    /// Simple instructions a second inside the guest.
    pub instructions_per_second: f64,
    /// `true` if a guest can calculate with SSE, which every program compiled for this processor
    /// does; `None` if that was not tried.
    #[serde(default)]
    pub has_sse: Option<bool>,
}

/// The attempts that facts are made of.
pub trait Attempts {
    /// The answer of CPUID, on one CPU or on whichever this runs, or `None` where the processor
    /// has no such leaf or the CPU can't be reached.
    fn cpuid(&self, cpu: Option<u32>, leaf: u32, subleaf: u32) -> Option<CpuidWords>;

    /// Tries a policy on a thread that ends at once.
    fn schedule(&self, scheduling: Scheduling) -> Attempt;

    /// Tries to bind a thread to all CPUs, and returns those that it got: what the control groups
    /// of this process leave to it, whatever its own affinity is.
    fn grantable_cpus(&self) -> Reading<CpuList>;

    /// Tries SCHED_FIFO in a new cgroup below `place`, which is removed again.
    fn schedule_in_fresh_cgroup(&self, place: &CgroupPlace) -> FreshCgroup;

    /// Measures whether time here is real.
    fn calibrate_time(&self) -> TimeCalibration;

    /// Runs a tiny guest under KVM. Takes at most 3 s.
    fn calibrate_kvm(&self) -> Reading<GuestSpeed>;

    /// Asks an interface what it can stamp.
    fn timestamping(&self, interface: &str) -> Reading<Timestamping>;

    /// Waits, for facts that are differences.
    fn pause(&self, duration: Duration);
}

/// Attempts on this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Live;

impl Attempts for Live {
    fn cpuid(&self, cpu: Option<u32>, leaf: u32, subleaf: u32) -> Option<CpuidWords> {
        match cpu {
            Some(cpu) => scheduling::on_cpu(cpu, move || cpuid_here(leaf, subleaf))?,
            None => cpuid_here(leaf, subleaf),
        }
    }

    fn schedule(&self, scheduling: Scheduling) -> Attempt {
        scheduling::attempt(scheduling)
    }

    fn grantable_cpus(&self) -> Reading<CpuList> {
        scheduling::grantable_cpus().map_err(|error| crate::error_text(&error)).into()
    }

    fn schedule_in_fresh_cgroup(&self, place: &CgroupPlace) -> FreshCgroup {
        fresh_cgroup::attempt(place)
    }

    fn calibrate_time(&self) -> TimeCalibration {
        TimeCalibration::measure()
    }

    fn calibrate_kvm(&self) -> Reading<GuestSpeed> {
        kvm::calibrate()
    }

    fn timestamping(&self, interface: &str) -> Reading<Timestamping> {
        ethtool::timestamping(interface)
    }

    fn pause(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

#[cfg(target_arch = "x86_64")]
fn cpuid_here(leaf: u32, subleaf: u32) -> Option<CpuidWords> {
    use raw_cpuid::native_cpuid::cpuid_count;
    // The leaves 0x4000_00xx belong to the hypervisor and have their own highest number.
    let highest = match leaf >> 28 {
        0 => cpuid_count(0, 0).eax,
        8 => cpuid_count(0x8000_0000, 0).eax,
        _ => u32::MAX,
    };
    if leaf > highest {
        return None;
    }
    let words = cpuid_count(leaf, subleaf);
    Some(CpuidWords { eax: words.eax, ebx: words.ebx, ecx: words.ecx, edx: words.edx })
}

#[cfg(not(target_arch = "x86_64"))]
fn cpuid_here(_leaf: u32, _subleaf: u32) -> Option<CpuidWords> {
    None
}
