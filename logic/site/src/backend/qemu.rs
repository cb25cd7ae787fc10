//! The backend `qemu`: a guest of QEMU.

use quietcore_units::ByteSize;

use super::{
    Backend, BackendDeclaration, GUEST_MEMORY_DEFAULT, HostRequirement, LINUX_MEMORY, MemoryForm,
    ProgramForm,
};

/// The memory of a guest that starts from its disk for which the site file names none.
const DISK_MEMORY_DEFAULT: ByteSize = ByteSize::new(512 << 20);

pub(super) const DECLARATION: BackendDeclaration = BackendDeclaration {
    word: "qemu",
    title: "A guest of QEMU",
    noun: "guest of QEMU",
    requires: HostRequirement::Qemu,
    program: ProgramForm::GuestImage,
    memory: MemoryForm::Own {
        range: ByteSize::new(8 << 20)..=ByteSize::new(63 << 20),
        default: GUEST_MEMORY_DEFAULT,
    },
    takes_huge_pages: false,
    // Its kernel shares the processor among its tasks by priority.
    enforces_budget: false,
    has_memory_share: true,
    has_colours: false,
    may_spin: false,
    runs_probe: false,
    is_probed_by_hand: false,
    measures_routines: true,
    measures_interrupts: true,
    has_control_group: false,
    has_channels: true,
    drives_fieldbus: true,
    drives_card: true,
    has_guest_choice: true,
    has_accelerator: true,
    within_container: Backend::Qemu,
};

/// Its guests that run Linux: a partition's process is one of the guest's.
pub(super) const WITH_LINUX: BackendDeclaration = BackendDeclaration {
    word: "qemu",
    title: "A Linux guest of QEMU",
    noun: "Linux guest of QEMU",
    requires: HostRequirement::Qemu,
    program: ProgramForm::Module,
    memory: LINUX_MEMORY,
    takes_huge_pages: false,
    enforces_budget: false,
    has_memory_share: true,
    has_colours: false,
    may_spin: false,
    runs_probe: true,
    is_probed_by_hand: false,
    measures_routines: false,
    measures_interrupts: false,
    has_control_group: false,
    has_channels: true,
    drives_fieldbus: true,
    drives_card: false,
    has_guest_choice: true,
    has_accelerator: true,
    within_container: Backend::Qemu,
};

/// Its guests that start from their disks: any operating system, without a program of the site.
pub(super) const FROM_DISK: BackendDeclaration = BackendDeclaration {
    word: "qemu",
    title: "A guest of QEMU that starts from its disk",
    noun: "guest of QEMU from its disk",
    requires: HostRequirement::Qemu,
    program: ProgramForm::Nothing,
    memory: MemoryForm::Own {
        range: ByteSize::new(16 << 20)..=ByteSize::new(1 << 40),
        default: DISK_MEMORY_DEFAULT,
    },
    takes_huge_pages: false,
    enforces_budget: false,
    has_memory_share: true,
    has_colours: false,
    may_spin: false,
    runs_probe: false,
    is_probed_by_hand: false,
    measures_routines: false,
    measures_interrupts: false,
    has_control_group: false,
    has_channels: false,
    drives_fieldbus: false,
    drives_card: false,
    has_guest_choice: true,
    has_accelerator: true,
    within_container: Backend::Qemu,
};
