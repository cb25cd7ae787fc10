//! The backend `xen`: a domain of Xen.

use quietcore_units::ByteSize;

use super::{
    Backend, BackendDeclaration, GUEST_MEMORY_DEFAULT, HostRequirement, MemoryForm, ProgramForm,
};

pub(super) const DECLARATION: BackendDeclaration = BackendDeclaration {
    word: "xen",
    title: "A domain of Xen",
    noun: "domain of Xen",
    requires: HostRequirement::Xen,
    program: ProgramForm::GuestImage,
    memory: MemoryForm::Own {
        range: ByteSize::new(8 << 20)..=ByteSize::new(63 << 20),
        default: GUEST_MEMORY_DEFAULT,
    },
    takes_huge_pages: false,
    // Its kernel shares the processor among its tasks by priority.
    enforces_budget: false,
    // Xen has them for processors of Arm only.
    has_colours: false,
    may_spin: false,
    runs_probe: false,
    is_probed_by_hand: false,
    has_control_group: false,
    has_channels: true,
    drives_fieldbus: false,
    drives_card: false,
    has_guest_choice: false,
    within_container: Backend::Xen,
};
