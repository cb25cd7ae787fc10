//! The state in which a processor enters its guest for the first time: protected mode with flat
//! segments, no paging, interrupts off.

use kvm_bindings::{kvm_regs, kvm_segment};
use kvm_ioctls::VcpuFd;
use vm_memory::GuestAddress;

use crate::image::START_INFORMATION;
use crate::linux::Linux;

/// Protection on, and the bit that is always set.
const CR0: u64 = 0x11;
/// The bit of the flags that is always set.
const FLAGS: u64 = 0x2;

/// The code that is entered, and its first state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// An image, at this address: EBX holds that of the start information.
    Pvh(GuestAddress),
    /// A kernel: ESI holds the address of its zero page, and its segments are 0x10 and 0x18.
    Linux(Linux),
}

impl Begin {
    /// The selectors of code and data.
    fn selectors(self) -> (u16, u16) {
        match self {
            Self::Pvh(_) => (0x8, 0x10),
            Self::Linux(_) => (0x10, 0x18),
        }
    }

    fn registers(self) -> kvm_regs {
        let flags = kvm_regs { rflags: FLAGS, ..kvm_regs::default() };
        match self {
            Self::Pvh(entry) => kvm_regs { rip: entry.0, rbx: START_INFORMATION.0, ..flags },
            Self::Linux(linux) => kvm_regs { rip: linux.entry.0, rsi: linux.zero_page.0, ..flags },
        }
    }

    /// Has the processor begin so.
    pub(crate) fn put(self, file: &VcpuFd) -> Result<(), kvm_ioctls::Error> {
        let mut special = file.get_sregs()?;
        let (code, data) = self.selectors();
        let flat = kvm_segment {
            limit: u32::MAX,
            present: 1,
            s: 1,
            db: 1,
            g: 1,
            ..kvm_segment::default()
        };
        special.cs = kvm_segment { type_: 0xB, selector: code, ..flat };
        let data = kvm_segment { type_: 3, selector: data, ..flat };
        (special.ds, special.es, special.fs, special.gs, special.ss) =
            (data, data, data, data, data);
        special.tr = kvm_segment {
            limit: 0x67,
            type_: 0xB,
            present: 1,
            selector: 0x20,
            ..kvm_segment::default()
        };
        special.cr0 = CR0;
        special.cr4 = 0;
        special.efer = 0;
        file.set_sregs(&special)?;
        file.set_regs(&self.registers())
    }
}
