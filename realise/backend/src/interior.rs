//! The interior of a partition's process that runs a program or measures: threads of the process,
//! or the guest in which a backend has the process do so.
//!
//! The host's side of it is in `surroundings`. The process makes its interior ready while it has
//! one thread, and runs the program in it then.

use std::convert::Infallible;
use std::fs::File;

use quietcore_exchange::Region;
use quietcore_probe::guest::hypervisor::{Hypervisor, MicroVm};
use quietcore_process::memory::MemorySource;
use quietcore_scan::process::error::RunError;
use quietcore_scan::process::job::ProgramJob;
use quietcore_scan::process::orders::Orders;
use quietcore_scan::process::threads;
use quietcore_scan::program::NoFieldbus;
use quietcore_units::Causes;
use serde::{Deserialize, Serialize};

use crate::fieldbus::FieldbusJob;
use crate::fieldbus::wire::HostBus;
use crate::kvm::{self, GuestInterior};
use crate::qemu::{self, QemuInterior};
use crate::xen::{self, XenInterior};

/// Threads of the process, or a guest. The backend's surroundings fill it in, and nothing else
/// reads it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interior(Inside);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Inside {
    #[default]
    Threads,
    Microvm(GuestInterior),
    Qemu(QemuInterior),
    Xen(XenInterior),
}

/// An interior that has all that it needs; threads need nothing.
#[derive(Default)]
pub(crate) enum Ready {
    #[default]
    Threads,
    Microvm(Box<kvm::Ready>),
    Qemu(Box<qemu::Ready>),
    Xen(Box<xen::Ready>),
}

impl Interior {
    /// Makes the interior of a process that runs a guest, whose files have these numbers.
    pub(crate) fn guest(guest: GuestInterior) -> Self {
        Self(Inside::Microvm(guest))
    }

    /// Makes the interior of a process that has a guest under QEMU.
    pub(crate) fn qemu(guest: QemuInterior) -> Self {
        Self(Inside::Qemu(guest))
    }

    /// Makes the interior of a process whose guest is a domain of Xen.
    pub(crate) fn xen(guest: XenInterior) -> Self {
        Self(Inside::Xen(guest))
    }

    /// Returns what runs the guest of a probe, where one measures.
    pub(crate) fn hypervisor(&self) -> Box<dyn Hypervisor> {
        match &self.0 {
            Inside::Threads | Inside::Microvm(_) => Box::new(MicroVm),
            Inside::Qemu(guest) => Box::new(guest.clone()),
            Inside::Xen(guest) => Box::new(guest.clone()),
        }
    }

    /// Gives the files that it names other numbers, each once.
    pub(crate) fn renumber(&mut self, new: &mut dyn FnMut(i32) -> i32) {
        match &mut self.0 {
            Inside::Threads => {}
            Inside::Microvm(guest) => guest.renumber(new),
            Inside::Qemu(guest) => guest.renumber(new),
            Inside::Xen(guest) => guest.renumber(new),
        }
    }

    /// Makes it ready for a program, while this process has one thread, and once.
    ///
    /// # Errors
    /// Returns in words why the guest can't be had.
    pub(crate) fn make_ready(
        &self,
        program: &ProgramJob,
        fieldbus: Option<&FieldbusJob>,
        region: Region<'_>,
        exchange: &File,
    ) -> Result<Ready, String> {
        Ok(match &self.0 {
            Inside::Threads => Ready::Threads,
            Inside::Microvm(guest) => {
                let ready = kvm::Ready::new(program, fieldbus, guest, region, exchange)?;
                Ready::Microvm(Box::new(ready))
            }
            Inside::Qemu(guest) => {
                let ready = qemu::Ready::new(program, fieldbus, guest, region, exchange)?;
                Ready::Qemu(Box::new(ready))
            }
            Inside::Xen(guest) => {
                Ready::Xen(Box::new(xen::Ready::new(program, guest, region, exchange)?))
            }
        })
    }
}

impl Ready {
    /// Returns how the thread that only waits for the host gives up what it need not have.
    pub(crate) fn seal_waiting(&self) -> fn() -> Result<(), String> {
        match self {
            Self::Microvm(_) => kvm::seal,
            Self::Threads | Self::Qemu(_) | Self::Xen(_) => || Ok(()),
        }
    }

    /// Runs a program until it ends. `orders` are the lines that follow the job.
    ///
    /// # Errors
    /// Returns in words why the program was not run, or how it ended where it did not end in order.
    pub(crate) fn run(
        self,
        program: &ProgramJob,
        fieldbus: Option<&FieldbusJob>,
        region: Region<'static>,
        exchange: &MemorySource,
        orders: &Orders,
    ) -> Result<(), String> {
        match (self, fieldbus) {
            (Self::Microvm(guest), _) => guest.run(program, orders),
            (Self::Qemu(guest), _) => guest.run(program, region, orders),
            (Self::Xen(guest), _) => guest.run(program, region, orders),
            (Self::Threads, None) => {
                let none = || Ok::<_, Infallible>(NoFieldbus);
                threads::run(program, region, exchange, none, orders)
                    .map_err(|error| in_words(&error))
            }
            (Self::Threads, Some(job)) => {
                let bring_up = || HostBus::bring_up(job, region);
                threads::run(program, region, exchange, bring_up, orders)
                    .map_err(|error| in_words(&error))
            }
        }
    }
}

/// Returns why a program was not run, with all causes.
fn in_words(error: &RunError) -> String {
    Causes(error).to_string()
}
