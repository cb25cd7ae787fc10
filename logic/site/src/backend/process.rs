//! The backend `process`: a process of the host.

use super::{Backend, BackendDeclaration, HostRequirement, MemoryForm, ProgramForm};

pub(super) const DECLARATION: BackendDeclaration = BackendDeclaration {
    word: "process",
    title: "A process of this machine",
    noun: "process",
    requires: HostRequirement::Nothing,
    program: ProgramForm::Module,
    memory: MemoryForm::Heap,
    takes_huge_pages: false,
    enforces_budget: true,
    has_memory_share: true,
    has_colours: false,
    may_spin: false,
    runs_probe: true,
    is_probed_by_hand: true,
    measures_routines: true,
    measures_interrupts: false,
    has_control_group: false,
    has_channels: true,
    drives_fieldbus: true,
    drives_card: false,
    has_guest_choice: false,
    has_accelerator: false,
    within_container: Backend::Process,
};
