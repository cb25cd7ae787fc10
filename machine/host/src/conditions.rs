//! The facts that travel with every number.
//!
//! A latency without its conditions is not evidence. This is the short form that stands in records
//! and beside tables; the whole of [`Facts`] stands in the evidence folder.

mod platform;

use std::collections::{BTreeMap, BTreeSet};

use quietcore_record::record::TimeReality;
use quietcore_units::ByteSize;

use crate::facts::Facts;
use crate::reading::Reading;

pub use platform::{interrupts_on, reservation_of};

impl Facts {
    /// The conditions by name, in words; whether time is real is apart in [`Self::time_reality`].
    /// The names are the same on every machine; what could not be read says so.
    pub fn conditions_summary(&self) -> BTreeMap<String, String> {
        let text = |reading: &Reading<String>| reading.describe(Clone::clone);
        let (sockets, cores, threads) = self.cpu.topology();
        let memory = self
            .memory
            .total_kib
            .describe(|kib| ByteSize::new(kib.saturating_mul(1024)).to_string());
        [
            ("kernel", text(&self.kernel.release)),
            ("preemption", self.preemption_text()),
            ("command_line", text(&self.kernel.command_line.text)),
            ("cpu_model", text(&self.cpu.model_name)),
            ("cpus_online", self.cpu.online.describe(ToString::to_string)),
            (
                "topology",
                format!("{sockets} socket(s), {cores} core(s), {threads} thread(s) a core"),
            ),
            ("clock_source", text(&self.clock.source)),
            ("governor", self.governor_text()),
            ("c_states", self.idle_text()),
            ("hypervisor", self.hypervisor_text()),
            ("rt_throttling", self.throttling_text()),
            ("microcode", text(&self.firmware.microcode)),
            ("memory", memory),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    /// Returns whether the machine's time is real, as records have it.
    pub fn time_reality(&self) -> TimeReality {
        self.clock.calibration.time.clone()
    }

    fn preemption_text(&self) -> String {
        let preemption = &self.kernel.preemption;
        let dynamic = if preemption.dynamic { " (dynamic)" } else { "" };
        format!("{}{dynamic}", preemption.model.name())
    }

    fn governor_text(&self) -> String {
        let governors: BTreeSet<String> = self
            .power
            .frequencies
            .iter()
            .map(|policy| policy.governor.describe(Clone::clone))
            .collect();
        if governors.is_empty() {
            return "not there".to_owned();
        }
        governors.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// The enabled idle states with their wake-up times.
    fn idle_text(&self) -> String {
        let driver = self.power.idle_driver.describe(Clone::clone);
        let states: Vec<String> = self
            .power
            .idle_states
            .iter()
            .filter(|state| state.disabled != Reading::Read(true))
            .map(|state| {
                let latency = state.latency_us.describe(|latency| format!("{latency} µs"));
                format!("{} {latency}", state.name)
            })
            .collect();
        format!("{driver}: {}", states.join(", "))
    }

    fn hypervisor_text(&self) -> String {
        let virtualization = &self.virtualization;
        match (&virtualization.hypervisor, &virtualization.hypervisor_type) {
            (Reading::Absent, Reading::Read(kind)) => kind.clone(),
            (Reading::Absent, _) => "none".to_owned(),
            (other, _) => other.describe(|signature| hypervisor_name(signature)),
        }
    }

    /// Returns the hypervisor below this kernel; `None` where there is none, or none is known.
    fn hypervisor(&self) -> Option<String> {
        match (&self.virtualization.hypervisor, &self.virtualization.hypervisor_type) {
            (Reading::Read(signature), _) => Some(hypervisor_name(signature)),
            (Reading::Absent, Reading::Read(kind)) => Some(kind.clone()),
            _ => None,
        }
    }

    fn throttling_text(&self) -> String {
        match (&self.scheduler.rt_runtime_us, &self.scheduler.rt_period_us) {
            (Reading::Read(runtime), _) if *runtime < 0 => "off".to_owned(),
            (Reading::Read(runtime), Reading::Read(period)) => {
                format!("{runtime} of {period} µs")
            }
            (runtime, _) => runtime.describe(|runtime| format!("{runtime} µs")),
        }
    }
}

/// The product behind a signature of CPUID leaf 0x4000_0000; an unknown signature as it is.
fn hypervisor_name(signature: &str) -> String {
    let name = match signature {
        "KVMKVMKVM" => "KVM",
        "Linux KVM Hv" => "KVM with Hyper-V enlightenments",
        "TCGTCGTCGTCG" => "QEMU TCG",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "VBoxVBoxVBox" => "VirtualBox",
        "ACRNACRNACRN" => "ACRN",
        "Jailhouse" => "Jailhouse",
        "bhyve bhyve " => "bhyve",
        other => return other.to_owned(),
    };
    name.to_owned()
}
