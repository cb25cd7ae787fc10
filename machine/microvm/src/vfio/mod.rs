//! A PCI device that belongs to a guest: its registers are memory of the guest, its interrupts are
//! the guest's, and it reads and writes the guest's own memory and no other.
//!
//! ```text
//! sysfs ── sight: is there an IOMMU, is the group the device's own, has vfio-pci the device
//!   ─► open, reset ─► configuration: what it is, where its tables are
//!   ─► layout: which registers are given to the guest, and where
//!   ─► the guest's memory for its DMA, registers as memory slots, interrupts as lines
//! ```
//!
//! | module | what | touches the machine |
//! |---|---|---|
//! | [`sight`] | what the kernel says of the device before it is opened | reads sysfs |
//! | [`configuration`] | its configuration space, as bytes | no |
//! | [`layout`] | where its registers are in the guest | no |
//! | [`passed`] | the device itself | yes |
//!
//! **What the guest gets.** A [`PassedDevice`](quietcore_boot::PassedDevice) in its host page. It
//! has no configuration space: the device is set up here, it may begin transfers by itself, and
//! its interrupts are messages (MSI-X, else MSI) that go to vectors without this process. The pages
//! with the table of MSI-X are not the guest's. Registers behind ports are not given.
//!
//! **What the device gets.** The guest's own memory, at the guest's addresses; not the exchange,
//! nor programs or channels. It is opened through its IOMMU group and a container (the interface
//! that every kernel since 3.6 has).
//!
//! **The end.** The kernel resets the device when its last file is closed, also after a crash. A
//! process in the sandbox can't undo what was set up, and need not.

pub mod configuration;
pub mod layout;
pub mod passed;
pub mod sight;

pub use passed::{PassThrough, Passed, PassedError};
pub use sight::{PciAddress, Sight, SightError};
