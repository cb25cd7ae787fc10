//! Surroundings of a partition that is a guest under QEMU. Its process is one among the host's, and
//! QEMU, which that starts, bears the partition's mark.

use std::borrow::Cow;
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

impl Setting for QemuSetting {
    fn backend(&self) -> Backend {
        Backend::Qemu
    }

    fn emulation(&self) -> Option<&'static str> {
        (self.accelerator == Accelerator::Tcg).then_some("emulated by QEMU (TCG)")
    }

    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        self
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        let delivery = Delivery::create().map_err(PartitionError::Job)?;
        let process = AmongOthers::new(room);
        Ok(Box::new(Host { setting: self.clone(), process, delivery }))
    }
}

/// The host's side of a guest: the delivery of builds.
#[derive(Debug)]
struct Host {
    setting: QemuSetting,
    process: AmongOthers,
    delivery: Delivery,
}

impl Surroundings for Host {
    /// QEMU takes a device's memory in powers of two, and a guest maps it in large pages.
    fn exchange_bytes(&self, needed: usize) -> usize {
        needed.next_power_of_two().max(ALIGNMENT as usize)
    }

    fn prepare(
        &mut self,
        mut start: Start<'_>,
        job: &mut Cow<'_, Job>,
        command: &mut Command,
    ) -> Result<(), PartitionError> {
        if let Job::Program { interior, .. } = job.to_mut() {
            let file = self.delivery.file().map_err(PartitionError::Job)?;
            let setting = self.setting.clone();
            *interior = Interior::qemu(QemuInterior { setting, delivery: file.as_raw_fd() });
            // The exchange must stay the last.
            start.files.insert(0, file);
        }
        self.process.prepare(start, job, command)
    }

    fn wait_until_started(&mut self, child: &Child) -> Result<(), PartitionError> {
        self.process.wait_until_started(child)
    }

    fn order<'o>(&self, order: &'o Order) -> io::Result<Cow<'o, Order>> {
        self.delivery.deliver(order)
    }

    /// The guest's own kernel measures how long a step takes, so nothing may stop one.
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
