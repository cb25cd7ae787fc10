//! BIOS, board, microcode, and the interrupts that no kernel sees.

use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::source::Source;

const DMI: &str = "/sys/class/dmi/id";
/// `MSR_SMI_COUNT` of Intel processors: system management interrupts since reset.
const MSR_SMI_COUNT: u64 = 0x34;

/// BIOS, board, microcode, system management interrupts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Firmware {
    /// The maker of the machine.
    pub system_vendor: Reading<String>,
    /// The maker's name for it.
    pub product: Reading<String>,
    /// Name of the main board.
    pub board: Reading<String>,
    /// Version of the BIOS.
    pub bios_version: Reading<String>,
    /// Date of the BIOS.
    pub bios_date: Reading<String>,
    /// The version of the processor's microcode.
    pub microcode: Reading<String>,
    /// System management interrupts since reset, on CPU 0; Intel processors only.
    pub smi_count: Reading<u64>,
}

pub(super) fn read(source: &Source) -> Firmware {
    let dmi = |name: &str| source.text(&format!("{DMI}/{name}"));
    let info = source.text("/proc/cpuinfo");
    let is_intel = super::field_of(&info, "vendor_id").text() == Some("GenuineIntel");
    Firmware {
        system_vendor: dmi("sys_vendor"),
        product: dmi("product_name"),
        board: dmi("board_name"),
        bios_version: dmi("bios_version"),
        bios_date: dmi("bios_date"),
        microcode: super::field_of(&info, "microcode"),
        smi_count: if is_intel {
            source.word_at("/dev/cpu/0/msr", MSR_SMI_COUNT)
        } else {
            Reading::Absent
        },
    }
}
