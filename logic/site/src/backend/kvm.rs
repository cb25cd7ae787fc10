//! The backend `kvm`: a guest of the microVM.

use quietcore_units::ByteSize;

use super::{Backend, BackendDeclaration, HostRequirement, MemoryForm, ProgramForm};

/// The memory of a guest for which the site file names none.
pub const GUEST_MEMORY_DEFAULT: ByteSize = ByteSize::new(16 << 20);

pub(super) const DECLARATION: BackendDeclaration = BackendDeclaration {
    word: "kvm",
    title: "A guest of our own virtual machine monitor",
    noun: "guest under KVM",
    requires: HostRequirement::Kvm,
    program: ProgramForm::GuestImage,
    memory: MemoryForm::Own {
        range: ByteSize::new(8 << 20)..=ByteSize::new(63 << 20),
        default: GUEST_MEMORY_DEFAULT,
    },
    takes_huge_pages: true,
    // Its kernel shares the processor among its tasks by priority.
    enforces_budget: false,
    has_memory_share: true,
    has_colours: true,
    may_spin: true,
    runs_probe: false,
    is_probed_by_hand: true,
    measures_routines: true,
    measures_interrupts: true,
    has_control_group: false,
    has_channels: true,
    drives_fieldbus: true,
    drives_card: true,
    has_guest_choice: false,
    has_accelerator: false,
    within_container: Backend::Kvm,
};
