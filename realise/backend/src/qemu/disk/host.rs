//! Surroundings of the process that starts QEMU for a guest from its disk: one among the host's.

use std::borrow::Cow;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use quietcore_site::{Backend, BackendDeclaration};

use super::super::host::{emulation, process_of_thread};
use super::DiskSetting;
use crate::job::Job;
use crate::process::{AmongOthers, PartitionError, Room};
use crate::setting::Setting;
use crate::surroundings::{Start, Surroundings};

/// Time for QEMU to end, beside that for its guest to shut down.
const END: Duration = Duration::from_secs(5);

impl Setting for DiskSetting {
    fn backend(&self) -> Backend {
        Backend::Qemu
    }

    fn declaration(&self) -> &'static BackendDeclaration {
        Backend::Qemu.declaration_from_disk()
    }

    fn emulation(&self) -> Option<&'static str> {
        emulation(self.accelerator)
    }

    /// No campaign starts it.
    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        self
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        let stop_grace = Duration::from_nanos(self.shutdown.get()) + END;
        Ok(Box::new(Host { process: AmongOthers::new(room), stop_grace }))
    }
}

/// The host's side of a guest.
#[derive(Debug)]
struct Host {
    process: AmongOthers,
    stop_grace: Duration,
}

impl Surroundings for Host {
    fn prepare(
        &mut self,
        start: Start<'_>,
        job: &mut Cow<'_, Job>,
        command: &mut Command,
    ) -> Result<(), PartitionError> {
        self.process.prepare(start, job, command)
    }

    fn wait_until_started(&mut self, child: &Child) -> Result<(), PartitionError> {
        self.process.wait_until_started(child)
    }

    /// The threads of QEMU that run its processors.
    fn process_of_thread(&self, own: u32, thread: u32) -> Option<u32> {
        process_of_thread(own, thread)
    }

    fn stop_grace(&self) -> Duration {
        self.stop_grace
    }

    fn end_rest(&self) {
        self.process.end_rest();
    }
}
