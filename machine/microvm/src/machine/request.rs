//! Requests to KVM by their numbers: those that the libraries don't have, and those that a sealed
//! thread may still make (`include/uapi/linux/kvm.h`).

use kvm_bindings as kvm;

/// The number by which requests of KVM are told from others.
const KVM_REQUESTS: u64 = 0xAE;

const NONE: u64 = 0;
const WRITE: u64 = 1;
const READ: u64 = 2;

/// The number of a request, as `asm-generic/ioctl.h` makes it.
const fn request(direction: u64, number: u64, bytes: usize) -> u64 {
    direction << 30 | (bytes as u64) << 16 | KVM_REQUESTS << 8 | number
}

/// Runs a processor until its next exit.
pub(crate) const RUN: u64 = request(NONE, 0x80, 0);
/// Reads the general registers.
pub(crate) const GET_REGISTERS: u64 = request(READ, 0x81, size_of::<kvm::kvm_regs>());
/// Hands out the file with KVM's statistics.
pub(crate) const GET_STATISTICS_FILE: u64 = request(NONE, 0xCE, 0);
/// Raises an interrupt by a message.
pub(crate) const SIGNAL_MESSAGE: u64 = request(WRITE, 0xA5, size_of::<kvm::kvm_msi>());
/// Sets an attribute of a device, or of a processor.
pub(crate) const SET_ATTRIBUTE: u64 = request(WRITE, 0xE1, size_of::<kvm::kvm_device_attr>());

/// Requests of a processor's reset, with the names that the kernel has for them.
pub(crate) const RESETS: [(u64, &str); 9] = [
    (request(WRITE, 0x84, size_of::<kvm::kvm_sregs>()), "KVM_SET_SREGS"),
    (request(WRITE, 0xA7, size_of::<kvm::kvm_xcrs>()), "KVM_SET_XCRS"),
    (request(WRITE, 0xA5, size_of::<kvm::kvm_xsave>()), "KVM_SET_XSAVE"),
    (request(WRITE, 0xA2, size_of::<kvm::kvm_debugregs>()), "KVM_SET_DEBUGREGS"),
    (request(WRITE, 0x8F, size_of::<kvm::kvm_lapic_state>()), "KVM_SET_LAPIC"),
    (request(WRITE, 0x89, size_of::<kvm::kvm_msrs>()), "KVM_SET_MSRS"),
    (request(WRITE, 0x99, size_of::<kvm::kvm_mp_state>()), "KVM_SET_MP_STATE"),
    (request(WRITE, 0xA0, size_of::<kvm::kvm_vcpu_events>()), "KVM_SET_VCPU_EVENTS"),
    (request(WRITE, 0x82, size_of::<kvm::kvm_regs>()), "KVM_SET_REGS"),
];

/// Requests of a reset to the machine.
pub(crate) const SHARED_RESETS: [(u64, &str); 2] = [
    (request(READ, 0x63, size_of::<kvm::kvm_irqchip>()), "KVM_SET_IRQCHIP"),
    (request(WRITE, 0xA0, size_of::<kvm::kvm_pit_state2>()), "KVM_SET_PIT2"),
];

const _: () = assert!(RUN == 0xAE80 && GET_REGISTERS == 0x8090_AE81);
const _: () = assert!(SET_ATTRIBUTE == 0x4018_AEE1 && SIGNAL_MESSAGE == 0x4020_AEA5);
