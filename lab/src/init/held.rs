//! Machines of KVM that are there as long as this one, and never run.
//!
//! KVM patches its own code when the first processor comes whose interrupt controller is off, when
//! the last such one is gone or has switched it on, and likewise for processors without one. With
//! two emulated processors that ends badly once in some dozens of times: QEMU (7.2, TCG with a
//! thread a processor) translates an instruction that the other processor is just replacing, and
//! keeps the breakpoint that was there for an instant. The kernel finds no breakpoint, and runs the
//! instruction again, for ever.
//!
//! With a processor of either kind that stays, nothing is patched.

use kvm_bindings::{KVM_CAP_SPLIT_IRQCHIP, kvm_enable_cap};
use kvm_ioctls::{Error, Kvm, VcpuFd, VmFd};

/// A processor that is off, and its machine.
type Machine = (VcpuFd, VmFd);

/// The mounts and processes that are held.
#[derive(Debug)]
pub(crate) struct Held {
    _machines: [Machine; 2],
}

impl Held {
    /// Both machines; `None` where there is no KVM.
    pub(crate) fn machines() -> Option<Self> {
        let kvm = Kvm::new().ok()?;
        let made = machine(&kvm, true).and_then(|first| Ok([first, machine(&kvm, false)?]));
        match made {
            Ok(_machines) => Some(Self { _machines }),
            Err(error) => {
                eprintln!("quietcore-lab: no machine of KVM can be held: {error}");
                None
            }
        }
    }
}

fn machine(kvm: &Kvm, has_controller: bool) -> Result<Machine, Error> {
    let vm = kvm.create_vm()?;
    if has_controller {
        let wish = kvm_enable_cap { cap: KVM_CAP_SPLIT_IRQCHIP, ..kvm_enable_cap::default() };
        vm.enable_cap(&wish)?;
    }
    Ok((vm.create_vcpu(0)?, vm))
}
