//! The hypervisor below this kernel, the container around this process, and the kernel's own means
//! to hold guests.

mod xen;

use serde::{Deserialize, Serialize};

use crate::attempts::{Attempts, CpuidWords, GuestSpeed};
use crate::facts::Facts;
use crate::reading::Reading;
use crate::source::Source;

pub use xen::Xen;

/// The hypervisor below this kernel, and its own means to hold guests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Virtualization {
    /// The hypervisor's signature from CPUID, such as `KVMKVMKVM`; absent on bare metal.
    pub hypervisor: Reading<String>,
    /// `/sys/hypervisor/type`, which Xen fills.
    pub hypervisor_type: Reading<String>,
    /// The container that this process is in, and what shows it; absent outside of one.
    pub container: Reading<String>,
    /// The kernel's own virtual machines.
    pub kvm: Kvm,
    /// The program `qemu-system-x86_64`.
    #[serde(default)]
    pub qemu: Reading<String>,
    /// Xen, if it is the hypervisor below.
    #[serde(default)]
    pub xen: Xen,
}

/// The kernel's own virtual machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kvm {
    /// Readable if `/dev/kvm` can be opened.
    pub opens: Reading<()>,
    /// The speed of its guests.
    pub speed: Reading<GuestSpeed>,
    /// `true` if guests may hold guests themselves.
    pub nested: Reading<bool>,
    /// The module in use, such as `kvm_intel`; absent where it is built in otherwise.
    pub module: Reading<String>,
}

/// A guest that needs this many times the time of its host is not run by the processor either. Seen
/// of a guest within an emulated machine: up to 50, beside other programs; of interpreters: 200 and
/// more.
const SLOWDOWN_MOST: f64 = 100.0;

impl Virtualization {
    /// Why guests under KVM here are none to measure, in words; `None` where the processor runs
    /// them, and where none was tried. Where this machine is emulated itself, whatever emulates it
    /// is the processor: guests are as slow as everything then. `facts` are those that this is a
    /// part of.
    pub fn why_guests_are_not_real(&self, facts: &Facts) -> Option<String> {
        let speed = self.kvm.speed.get()?;
        let rate = speed.instructions_per_second;
        let own = facts.clock.calibration.instructions_per_second;
        let is_emulated = facts.why_time_is_not_real().is_some();
        let is_slow = rate < quietcore_clock::INTERPRETED_BELOW && !is_emulated;
        let is_slow = is_slow || rate * SLOWDOWN_MOST < own;
        let lacks_sse = speed.has_sse == Some(false);
        if !is_slow && !lacks_sse {
            return None;
        }
        let without = if lacks_sse { ", without SSE" } else { "" };
        Some(format!("interpreted: {:.1} million instructions a second{without}", rate / 1e6))
    }

    /// Returns the path of QEMU's program, whatever `PATH` says: facts and a partition's process
    /// find the same.
    pub fn find_qemu(source: &Source) -> Reading<String> {
        source.program("qemu-system-x86_64")
    }

    /// Finds the program by which dom0 of Xen starts other domains.
    pub fn find_xl(source: &Source) -> Reading<String> {
        source.program("xl")
    }

    /// Returns `true` if this kernel runs on a hypervisor; `None` if the processor can't be asked.
    pub fn is_guest(&self) -> Option<bool> {
        match &self.hypervisor {
            Reading::Read(_) => Some(true),
            Reading::Absent => Some(self.hypervisor_type.get().is_some()),
            Reading::Unreadable(_) => None,
        }
    }
}

pub(super) fn read(source: &Source, attempts: &impl Attempts) -> Virtualization {
    Virtualization {
        hypervisor: hypervisor(attempts),
        hypervisor_type: source.text("/sys/hypervisor/type"),
        container: container(source),
        kvm: kvm(source, attempts),
        qemu: Virtualization::find_qemu(source),
        xen: xen::read(source),
    }
}

/// The hypervisor, whoever tells of it.
pub(super) fn any_hypervisor(source: &Source, attempts: &impl Attempts) -> Reading<String> {
    match hypervisor(attempts) {
        Reading::Absent => source.text("/sys/hypervisor/type"),
        told => told,
    }
}

/// CPUID leaf 1 says that there is a hypervisor, leaf 0x4000_0000 which.
fn hypervisor(attempts: &impl Attempts) -> Reading<String> {
    let Some(features) = attempts.cpuid(None, 1, 0) else {
        return Reading::Unreadable("this processor has no CPUID".to_owned());
    };
    if features.ecx & (1 << 31) == 0 {
        return Reading::Absent;
    }
    let words = attempts.cpuid(None, 0x4000_0000, 0).unwrap_or_default();
    let name = signature(words);
    Reading::Read(if name.is_empty() { "unnamed".to_owned() } else { name })
}

fn signature(words: CpuidWords) -> String {
    [words.ebx, words.ecx, words.edx]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .filter(u8::is_ascii_graphic)
        .map(char::from)
        .collect()
}

fn container(source: &Source) -> Reading<String> {
    let there = |path: &str| source.exists(path) == Reading::Read(true);
    if let Reading::Read(manager) = source.text("/run/systemd/container") {
        return Reading::Read(format!("{manager} (/run/systemd/container)"));
    }
    for (mark, name) in [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")] {
        if there(mark) {
            return Reading::Read(format!("{name} ({mark})"));
        }
    }
    source.text("/proc/1/cgroup").and_then(|groups| {
        ["docker", "kubepods", "libpod", "lxc", "containerd"]
            .into_iter()
            .find(|name| groups.contains(name))
            .map_or(Reading::Absent, |name| Reading::Read(format!("{name} (/proc/1/cgroup)")))
    })
}

fn kvm(source: &Source, attempts: &impl Attempts) -> Kvm {
    let modules = ["kvm_intel", "kvm_amd"];
    let module = modules
        .into_iter()
        .find(|module| source.exists(&format!("/sys/module/{module}")) == Reading::Read(true));
    let opens = source.opens("/dev/kvm");
    Kvm {
        speed: match &opens {
            Reading::Read(()) => attempts.calibrate_kvm(),
            Reading::Absent => Reading::Absent,
            Reading::Unreadable(reason) => Reading::Unreadable(reason.clone()),
        },
        opens,
        nested: module.map_or(Reading::Absent, |module| {
            source.switch(&format!("/sys/module/{module}/parameters/nested"))
        }),
        module: module.map_or(Reading::Absent, |module| Reading::Read(module.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_of_kvm_loses_its_padding() {
        let words = CpuidWords {
            eax: 0,
            ebx: u32::from_le_bytes(*b"KVMK"),
            ecx: u32::from_le_bytes(*b"VMKV"),
            edx: u32::from_le_bytes(*b"M\0\0\0"),
        };
        assert_eq!(signature(words), "KVMKVMKVM");
    }
}
