//! The backend `qemu`: a guest of QEMU.

use quietcore_units::ByteSize;

use super::{
    Backend, BackendDeclaration, GUEST_MEMORY_DEFAULT, HostRequirement, MemoryForm, ProgramForm,
};

pub(super) const DECLARATION: BackendDeclaration = BackendDeclaration {
    word: "qemu",
    title: "A guest of QEMU",
    noun: "guest of QEMU",
    is_realised: true,
    requires: HostRequirement::Qemu,
    program: ProgramForm::GuestImage,
    memory: MemoryForm::Own {
        range: ByteSize::new(8 << 20)..=ByteSize::new(63 << 20),
        default: GUEST_MEMORY_DEFAULT,
    },
    // Its kernel shares the processor among its tasks by priority.
    enforces_budget: false,
    has_colours: false,
    may_spin: false,
    runs_probe: false,
    is_probed_by_hand: false,
    has_control_group: false,
    drives_fieldbus: true,
    has_accelerator: true,
    within_container: Backend::Qemu,
};
