//! Surroundings of a partition that is a guest under QEMU. Its process is one among the host's, and
//! QEMU, which that starts, bears the partition's mark. All kinds of guests have this in common,
//! and differ in their [`Machine`].

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::process::{Child, Command};
use std::sync::Arc;

use quietcore_boot::devices::ALIGNMENT;
use quietcore_scan::process::job::Order;
use quietcore_site::{Accelerator, Backend};

use super::{QemuInterior, QemuSetting};
use crate::guest::delivery::Delivery;
use crate::interior::Interior;
use crate::job::Job;
use crate::process::{AmongOthers, PartitionError, Room};
use crate::setting::Setting;
use crate::surroundings::{Start, Surroundings};

/// The part of a guest's surroundings by which kinds of guests differ.
pub(super) trait Machine: fmt::Debug + Send + Sync {
    /// The fewest bytes of the memory of a device.
    const DEVICE_BYTES_MIN: usize;

    /// Enters the guest into the job of the process, and its files into the start.
    ///
    /// # Errors
    /// When the guest can't have what it needs.
    fn enter(&self, start: &mut Start<'_>, job: &mut Cow<'_, Job>) -> Result<(), PartitionError>;

    /// Returns an order as the process can carry it out.
    ///
    /// # Errors
    /// When what it needs can't be handed over.
    fn order<'o>(&self, order: &'o Order) -> io::Result<Cow<'o, Order>> {
        Ok(Cow::Borrowed(order))
    }
}

/// The host's side of a guest.
#[derive(Debug)]
pub(super) struct Host<M> {
    machine: M,
    process: AmongOthers,
}

impl<M: Machine + 'static> Host<M> {
    /// Returns the surroundings of a process that is to be started in a room.
    pub(super) fn around(machine: M, room: &Room) -> Box<dyn Surroundings> {
        Box::new(Self { machine, process: AmongOthers::new(room) })
    }
}

impl<M: Machine> Surroundings for Host<M> {
    /// QEMU takes a device's memory in powers of two.
    fn exchange_bytes(&self, needed: usize) -> usize {
        needed.next_power_of_two().max(M::DEVICE_BYTES_MIN)
    }

    fn prepare(
        &mut self,
        mut start: Start<'_>,
        job: &mut Cow<'_, Job>,
        command: &mut Command,
    ) -> Result<(), PartitionError> {
        self.machine.enter(&mut start, job)?;
        self.process.prepare(start, job, command)
    }

    fn wait_until_started(&mut self, child: &Child) -> Result<(), PartitionError> {
        self.process.wait_until_started(child)
    }

    fn order<'o>(&self, order: &'o Order) -> io::Result<Cow<'o, Order>> {
        self.machine.order(order)
    }

    /// The guest's own kernel runs the tasks, so nothing of the host's may stop one.
    fn tasks_are_threads(&self) -> bool {
        false
    }

    fn process_of_thread(&self, own: u32, thread: u32) -> Option<u32> {
        process_of_thread(own, thread)
    }

    fn end_rest(&self) {
        self.process.end_rest();
    }
}

/// Returns QEMU's process, which the partition's process `own` has started, if `thread` is one of
/// its threads.
pub(super) fn process_of_thread(own: u32, thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    let (process, parent): (u32, u32) = (field("Tgid:")?, field("PPid:")?);
    (parent == own).then_some(process)
}

/// Why nobody explains late releases of a guest, as the end of a sentence.
pub(crate) const UNEXPLAINED: &str = "the guest's own kernel releases the tasks, and can't stop \
                                      the trace of this one; this one sees the guest's processors \
                                      and not what runs on them";

/// Returns what emulates the processor of a guest, as the end of a sentence.
pub(crate) fn emulation(accelerator: Accelerator) -> Option<&'static str> {
    (accelerator == Accelerator::Tcg).then_some("emulated by QEMU (TCG)")
}

impl Setting for QemuSetting {
    fn backend(&self) -> Backend {
        Backend::Qemu
    }

    fn emulation(&self) -> Option<&'static str> {
        emulation(self.accelerator)
    }

    fn unexplained(&self) -> Option<&'static str> {
        Some(UNEXPLAINED)
    }

    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        self
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        let delivery = Delivery::create().map_err(PartitionError::Job)?;
        Ok(Host::around(OwnKernel { setting: self.clone(), delivery }, room))
    }
}

/// A guest with our own kernel, and the delivery of its builds.
#[derive(Debug)]
struct OwnKernel {
    setting: QemuSetting,
    delivery: Delivery,
}

impl Machine for OwnKernel {
    /// The guest maps the memory in large pages.
    const DEVICE_BYTES_MIN: usize = ALIGNMENT as usize;

    fn enter(&self, start: &mut Start<'_>, job: &mut Cow<'_, Job>) -> Result<(), PartitionError> {
        if let Some(interior) = job.to_mut().interior_of_guest() {
            let file = self.delivery.file().map_err(PartitionError::Job)?;
            let setting = self.setting.clone();
            *interior = Interior::qemu(QemuInterior { setting, delivery: file.as_raw_fd() });
            // The exchange must stay the last.
            start.files.insert(0, file);
        }
        Ok(())
    }

    fn order<'o>(&self, order: &'o Order) -> io::Result<Cow<'o, Order>> {
        self.delivery.deliver(order)
    }
}
