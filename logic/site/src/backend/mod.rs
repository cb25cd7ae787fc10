//! The backends: each declares what it can, in a module of its own.
//!
//! Checks, plan, exports, help and reference ask a [`BackendDeclaration`] and name no kind of
//! backend, so that another one is a variant of [`Backend`], its row in the table of
//! [`Backend::declaration`], and its module. What runs its partitions is a module of
//! `realise/backend`.

mod container;
mod kvm;
mod process;
mod qemu;
mod xen;

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

use quietcore_units::ByteSize;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::machine::{Machine, Obstacle};
use crate::site::{Accelerator, ContainerRuntime};

pub use kvm::GUEST_MEMORY_DEFAULT;

/// The memory of a guest that runs Linux: Debian's kernel and the image's files take some 100 MiB.
const LINUX_MEMORY: MemoryForm = MemoryForm::Own {
    range: ByteSize::new(160 << 20)..=ByteSize::new(64 << 30),
    default: ByteSize::new(256 << 20),
};

/// The backend that realises a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// A process of the host's kernel.
    #[default]
    Process,
    /// A process in a container.
    Container,
    /// A guest of the microVM.
    Kvm,
    /// A guest of QEMU.
    Qemu,
    /// A guest of Xen.
    Xen,
}

/// The abilities and needs of a backend, as data.
#[derive(Debug)]
pub struct BackendDeclaration {
    /// The word in the site file and on the command line.
    pub word: &'static str,
    /// Description of its partitions for help and reference, without a full stop.
    pub title: &'static str,
    /// Noun in a step of a plan: `start partition … as a …`.
    pub noun: &'static str,
    /// The need that not every machine meets.
    pub requires: HostRequirement,
    /// The form that a program is compiled to, which decides whose threads its tasks are.
    pub program: ProgramForm,
    /// The memory that `vcr.memory` is.
    pub memory: MemoryForm,
    /// `true` if the guest's memory lies on pages of 2 MiB where the host has any free.
    pub takes_huge_pages: bool,
    /// `true` if partitions may share a CPU by budgets.
    pub enforces_budget: bool,
    /// `true` if a partition can have ways of the cache and a limit of the memory's bandwidth, by
    /// resctrl, which knows what this kernel runs.
    pub has_memory_share: bool,
    /// `true` if a partition can have page colours.
    pub has_colours: bool,
    /// `true` if a task may spin from one release to the next.
    pub may_spin: bool,
    /// `true` if the probe runs in the place of a program that a partition doesn't have.
    pub runs_probe: bool,
    /// `true` if `quietcore probe latency` takes it.
    pub is_probed_by_hand: bool,
    /// `true` if the routines of our OSEK kernel are measured in it.
    pub measures_routines: bool,
    /// `true` if a clock board can interrupt our OSEK kernel in it.
    pub measures_interrupts: bool,
    /// `true` if a partition has a control group of its own, which has to be given real-time run
    /// time where the kernel divides it.
    pub has_control_group: bool,
    /// `true` if channels can lead to a partition and from it.
    pub has_channels: bool,
    /// `true` if a fieldbus can be driven.
    pub drives_fieldbus: bool,
    /// `true` if its guest's kernel can be given a network card, and drives that.
    pub drives_card: bool,
    /// `true` if a partition chooses the system in its guest.
    pub has_guest_choice: bool,
    /// `true` if a partition chooses how its guest's instructions are run.
    pub has_accelerator: bool,
    /// The backend that realises it inside of a container that others start.
    pub within_container: Backend,
}

/// The needs of a backend that not every machine meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostRequirement {
    /// It needs Linux and nothing else.
    Nothing,
    /// A container runtime that works for this user.
    ContainerRuntime,
    /// `/dev/kvm`, behind which the processor runs guests.
    Kvm,
    /// The program `qemu-system-x86_64`, and what its accelerator needs.
    Qemu,
    /// Xen, of which this kernel is dom0, and the program `xl`.
    Xen,
}

/// The form that a program is compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramForm {
    /// A module that a process loads. Tasks are threads of the host's kernel.
    Module,
    /// An image for a guest. Tasks are those of the guest's kernel.
    GuestImage,
    /// None: the guest has a system of its own, which the site gives no program.
    Nothing,
}

/// The memory that `vcr.memory` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryForm {
    /// The heap of a process, which takes more beside it.
    Heap,
    /// All memory that a guest has.
    Own {
        /// The sizes that it can have, without the data of its program.
        range: RangeInclusive<ByteSize>,
        /// The size where the site file names none.
        default: ByteSize,
    },
}

impl Backend {
    /// All of them, in the order of help and reference.
    pub const ALL: [Self; 5] = [Self::Process, Self::Container, Self::Kvm, Self::Qemu, Self::Xen];

    /// The backend that is this machine and nothing more, with which others are compared.
    pub const BARE: Self = Self::Process;

    /// The backend as which probes of a campaign are measured, whatever realises their partition;
    /// those apart whose kernel is a guest's.
    pub const OF_PROBES: Self = Self::Process;

    /// The backend of probes whose kernel is a guest's.
    pub const OF_PROBES_IN_GUESTS: Self = Self::Kvm;

    /// Returns what it can and needs.
    pub const fn declaration(self) -> &'static BackendDeclaration {
        match self {
            Self::Process => &process::DECLARATION,
            Self::Container => &container::DECLARATION,
            Self::Kvm => &kvm::DECLARATION,
            Self::Qemu => &qemu::DECLARATION,
            Self::Xen => &xen::DECLARATION,
        }
    }

    /// Returns what it can and needs for guests that run Linux; of a backend without such guests
    /// what [`declaration`](Self::declaration) returns.
    pub const fn declaration_with_linux(self) -> &'static BackendDeclaration {
        match self {
            Self::Qemu => &qemu::WITH_LINUX,
            Self::Xen => &xen::WITH_LINUX,
            Self::Process | Self::Container | Self::Kvm => self.declaration(),
        }
    }

    /// Returns what it can and needs for guests that start from their disks; of a backend without
    /// such guests what [`declaration`](Self::declaration) returns.
    pub const fn declaration_from_disk(self) -> &'static BackendDeclaration {
        match self {
            Self::Qemu => &qemu::FROM_DISK,
            Self::Process | Self::Container | Self::Kvm | Self::Xen => self.declaration(),
        }
    }

    /// Returns `true` if guests of it can start from their disks.
    pub fn starts_disks(self) -> bool {
        self.declaration_from_disk().program == ProgramForm::Nothing
    }

    /// Returns the words of those whose declarations are as wanted, in their order.
    pub fn words_where(wanted: impl Fn(&BackendDeclaration) -> bool) -> Vec<&'static str> {
        let all = Self::ALL.map(Self::declaration).into_iter();
        all.filter(|it| wanted(it)).map(|it| it.word).collect()
    }

    /// Looks whether a machine has what it needs to measure in it, with this accelerator where it
    /// leaves a choice.
    ///
    /// # Errors
    /// Returns what stands in the way.
    pub fn check(self, accelerator: Accelerator, machine: &Machine) -> Result<(), Obstacle> {
        self.declaration().requires.check(accelerator, None, machine)
    }

    /// Returns the backend that is called `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }

    /// The word in the site file.
    pub const fn name(self) -> &'static str {
        self.declaration().word
    }
}

impl BackendDeclaration {
    /// Returns `true` if the processor runs guests of it, where a partition says nothing else.
    pub fn needs_kvm(&self) -> bool {
        matches!(self.requires, HostRequirement::Kvm | HostRequirement::Qemu)
    }

    /// Returns `true` if this kernel runs a partition's tasks or its guest's processor, whose
    /// policy and memory are this kernel's then.
    pub fn is_run_by_kernel(&self) -> bool {
        self.requires != HostRequirement::Xen
    }

    /// Returns `true` if a partition is started by a container runtime.
    pub fn in_container(&self) -> bool {
        self.requires == HostRequirement::ContainerRuntime
    }
}

impl HostRequirement {
    /// Looks whether a machine has what a backend needs, with this accelerator where it leaves a
    /// choice and the container runtime that is `wanted`, if any.
    ///
    /// # Errors
    /// What stands in the way.
    pub(crate) fn check(
        self,
        accelerator: Accelerator,
        wanted: Option<ContainerRuntime>,
        machine: &Machine,
    ) -> Result<(), Obstacle> {
        match self {
            Self::Nothing => Ok(()),
            Self::Kvm => machine.kvm.clone(),
            Self::Xen => machine.xen.clone(),
            Self::Qemu => {
                let kvm = || match accelerator {
                    Accelerator::Kvm => machine.kvm.clone(),
                    Accelerator::Tcg => Ok(()),
                };
                machine.qemu.clone().and_then(|()| kvm())
            }
            Self::ContainerRuntime => match machine.container_runtime(wanted) {
                Ok(_) => Ok(()),
                Err(Obstacle { what, remedy }) => {
                    let other = Backend::default();
                    Err(Obstacle { what, remedy: format!("{remedy}, or choose `{other}`") })
                }
            },
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl JsonSchema for Backend {
    fn schema_name() -> Cow<'static, str> {
        "Backend".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let choices = Self::ALL.map(|backend| {
            let BackendDeclaration { word, title, .. } = backend.declaration();
            json_schema!({ "description": format!("{title}."), "type": "string", "const": word })
        });
        json_schema!({ "description": "The backend that realises a partition.", "oneOf": choices })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backend_is_declared_under_the_word_that_site_files_have() {
        for backend in Backend::ALL {
            let declaration = backend.declaration();
            let word = serde_json::to_value(backend).unwrap();
            assert_eq!(word.as_str(), Some(declaration.word));
            let within = declaration.within_container.declaration();
            assert!(!within.has_control_group, "none is started inside of another: {backend}");
        }
    }

    #[test]
    fn probes_in_guests_have_a_backend_with_guests() {
        let of_guests = Backend::OF_PROBES_IN_GUESTS.declaration();
        assert!(of_guests.program == ProgramForm::GuestImage && of_guests.is_probed_by_hand);
    }
}
