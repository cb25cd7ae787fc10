//! The backend `container`: a process in a container.

use super::{Backend, BackendDeclaration, HostRequirement, MemoryForm, ProgramForm};

pub(super) const DECLARATION: BackendDeclaration = BackendDeclaration {
    word: "container",
    title: "A container, run by `runc` or `crun`",
    noun: "container",
    requires: HostRequirement::ContainerRuntime,
    program: ProgramForm::Module,
    memory: MemoryForm::Heap,
    takes_huge_pages: false,
    enforces_budget: true,
    has_memory_share: true,
    has_colours: false,
    may_spin: false,
    runs_probe: true,
    is_probed_by_hand: true,
    measures_routines: false,
    measures_interrupts: false,
    has_control_group: true,
    has_channels: true,
    drives_fieldbus: true,
    drives_card: false,
    has_guest_choice: false,
    has_accelerator: false,
    // What others start is the container, and none is started inside of it.
    within_container: Backend::Process,
};
