//! Surroundings of a partition that is a guest: the memory that its process shares with the host
//! beside the exchange. That process is one among the host's.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command};
use std::sync::Arc;

use quietcore_microvm::exits::Exits;
use quietcore_scan::process::job::Order;
use quietcore_site::Backend;

use super::{GuestInterior, GuestSetting};
use crate::guest::delivery::Delivery;
use crate::interior::Interior;
use crate::job::Job;
use crate::process::{AmongOthers, ExitCounts, PartitionError, Room};
use crate::setting::Setting;
use crate::surroundings::{Start, Surroundings};

impl Setting for GuestSetting {
    fn backend(&self) -> Backend {
        Backend::Kvm
    }

    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        self
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        let host = Host::new(self, AmongOthers::new(room));
        Ok(Box::new(host.map_err(PartitionError::Job)?))
    }
}

/// The host's side of a guest: the delivery of builds and the ledger of exits.
#[derive(Debug)]
struct Host {
    setting: GuestSetting,
    process: AmongOthers,
    delivery: Delivery,
    exits: Exits,
}

impl Host {
    /// Makes the memory that both sides share.
    fn new(setting: &GuestSetting, process: AmongOthers) -> io::Result<Self> {
        let (delivery, exits) = (Delivery::create()?, Exits::create().map_err(io::Error::other)?);
        Ok(Self { setting: setting.clone(), process, delivery, exits })
    }

    /// Returns the files of that memory, and the interior of a process that has them.
    fn interior(&self) -> io::Result<([OwnedFd; 2], GuestInterior)> {
        let ledger = self.exits.file().ok_or(io::ErrorKind::Unsupported)?;
        let files = [self.delivery.file()?, ledger.try_clone()?.into()];
        let [delivery, exits] = files.each_ref().map(AsRawFd::as_raw_fd);
        Ok((files, GuestInterior { setting: self.setting.clone(), delivery, exits }))
    }
}

impl Surroundings for Host {
    fn prepare(
        &mut self,
        mut start: Start<'_>,
        job: &mut Cow<'_, Job>,
        command: &mut Command,
    ) -> Result<(), PartitionError> {
        if let Job::Program { interior, .. } = job.to_mut() {
            let (files, guest) = self.interior().map_err(PartitionError::Job)?;
            *interior = Interior::guest(guest);
            // The exchange must stay the last.
            start.files.splice(0..0, files);
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

    fn exit_counts(&self) -> Option<ExitCounts> {
        let ledger = self.exits.read();
        let all = ledger.sample().map(|sample| sample.exits()).filter(|exits| *exits > 0);
        Some(ExitCounts { to_process: ledger.total(), all })
    }

    fn end_rest(&self) {
        self.process.end_rest();
    }
}
