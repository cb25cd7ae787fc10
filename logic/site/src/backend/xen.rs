//! The backend `xen`: a domain of Xen.

use quietcore_units::ByteSize;

use super::{
    Backend, BackendDeclaration, GUEST_MEMORY_DEFAULT, HostRequirement, LINUX_MEMORY, MemoryForm,
    ProgramForm,
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
    // Xen divides these by its own means, which reach a domain as `xl psr-cat-set` does.
    has_memory_share: false,
    // Xen has them for processors of Arm only.
    has_colours: false,
    may_spin: false,
    runs_probe: false,
    is_probed_by_hand: false,
    measures_routines: true,
    measures_interrupts: false,
    has_control_group: false,
    has_channels: true,
    drives_fieldbus: false,
    drives_card: false,
    has_guest_choice: true,
    has_accelerator: false,
    within_container: Backend::Xen,
};

/// Its domains that run Linux: a partition's process is one of the domain's.
pub(super) const WITH_LINUX: BackendDeclaration = BackendDeclaration {
    word: "xen",
    title: "A domain of Xen that runs Linux",
    noun: "Linux domain of Xen",
    requires: HostRequirement::Xen,
    program: ProgramForm::Module,
    memory: LINUX_MEMORY,
    takes_huge_pages: false,
    enforces_budget: false,
    // Xen divides these by its own means, which reach a domain as `xl psr-cat-set` does.
    has_memory_share: false,
    // Xen has them for processors of Arm only.
    has_colours: false,
    may_spin: false,
    runs_probe: true,
    is_probed_by_hand: false,
    measures_routines: false,
    measures_interrupts: false,
    has_control_group: false,
    has_channels: true,
    // Nothing carries frames between a domain and an interface of dom0.
    drives_fieldbus: false,
    drives_card: false,
    has_guest_choice: true,
    has_accelerator: false,
    within_container: Backend::Xen,
};
