//! The backend that site files can name and this version doesn't realise.

use super::{Backend, BackendDeclaration, HostRequirement, MemoryForm, ProgramForm};

/// A plan refuses it, and so nothing asks what it can.
pub(super) const XEN: BackendDeclaration = BackendDeclaration {
    word: "xen",
    title: "A guest of Xen",
    noun: "guest",
    is_realised: false,
    requires: HostRequirement::Nothing,
    program: ProgramForm::GuestImage,
    memory: MemoryForm::Heap,
    takes_huge_pages: false,
    enforces_budget: false,
    has_colours: false,
    may_spin: false,
    runs_probe: false,
    is_probed_by_hand: false,
    has_control_group: false,
    drives_fieldbus: false,
    has_guest_choice: false,
    within_container: Backend::Process,
};
