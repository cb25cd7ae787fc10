//! Surroundings of a partition in a Linux guest. The process that starts QEMU is one among the
//! host's, as that of a guest with our own kernel.

use std::borrow::Cow;
use std::process::{Child, Command};
use std::sync::Arc;

use quietcore_site::{Accelerator, Backend, BackendDeclaration};

use super::super::host::process_of_thread;
use super::{LinuxJob, LinuxSetting};
use crate::job::Job;
use crate::process::{AmongOthers, PartitionError, Room};
use crate::setting::Setting;
use crate::surroundings::{Start, Surroundings};

/// A device's memory has a page at least.
const PAGE_BYTES: usize = 4096;

impl Setting for LinuxSetting {
    fn backend(&self) -> Backend {
        Backend::Qemu
    }

    fn declaration(&self) -> &'static BackendDeclaration {
        Backend::Qemu.declaration_with_linux()
    }

    fn emulation(&self) -> Option<&'static str> {
        (self.accelerator == Accelerator::Tcg).then_some("emulated by QEMU (TCG)")
    }

    /// The job says that its tasks are pinned to nothing.
    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        self
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        Ok(Box::new(Host { setting: self.clone(), process: AmongOthers::new(room) }))
    }
}

/// The host's side of a guest.
#[derive(Debug)]
struct Host {
    setting: LinuxSetting,
    process: AmongOthers,
}

impl Surroundings for Host {
    fn exchange_bytes(&self, needed: usize) -> usize {
        needed.next_power_of_two().max(PAGE_BYTES)
    }

    fn prepare(
        &mut self,
        start: Start<'_>,
        job: &mut Cow<'_, Job>,
        command: &mut Command,
    ) -> Result<(), PartitionError> {
        let inside = LinuxJob::new(self.setting.clone(), job.as_ref().clone());
        *job = Cow::Owned(Job::Linux(Box::new(inside)));
        self.process.prepare(start, job, command)
    }

    fn wait_until_started(&mut self, child: &Child) -> Result<(), PartitionError> {
        self.process.wait_until_started(child)
    }

    /// The tasks are threads of the guest's kernel.
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
