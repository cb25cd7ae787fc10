//! The host's side of a guest: what it shares with the guest's process beside the exchange.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use quietcore_host::controls::CacheWays;
use quietcore_microvm::exits::Exits;
use quietcore_scan::process::job::Order;

use super::GuestSetting;
use super::cache::CacheSetting;
use super::delivery::Delivery;
use crate::process::PartitionError;

/// What both sides have.
#[derive(Debug)]
pub struct Host {
    delivery: Delivery,
    exits: Arc<Exits>,
    /// Until the guest's process has ended.
    ways: Option<CacheWays>,
}

impl Host {
    /// Makes it, with the files to be passed on, whose numbers are written into `setting`.
    ///
    /// # Errors
    /// What the operating system says, or why there are no ways of the cache.
    pub(crate) fn new(setting: &mut GuestSetting) -> Result<(Self, [OwnedFd; 2]), PartitionError> {
        let ways = match &setting.cache {
            Some(CacheSetting::Ways { partition, ways }) => {
                Some(CacheWays::hold(partition, *ways)?)
            }
            _ => None,
        };
        let (delivery, exits, files) = Self::files(setting).map_err(PartitionError::Job)?;
        Ok((Self { delivery, exits, ways }, files))
    }

    fn files(setting: &mut GuestSetting) -> io::Result<(Delivery, Arc<Exits>, [OwnedFd; 2])> {
        let delivery = Delivery::create()?;
        let exits = Exits::create().map_err(io::Error::other)?;
        let ledger = exits.file().ok_or(io::ErrorKind::Unsupported)?.try_clone()?.into();
        let files: [OwnedFd; 2] = [delivery.file()?, ledger];
        setting.delivery = Some(files[0].as_raw_fd());
        setting.exits = Some(files[1].as_raw_fd());
        Ok((delivery, Arc::new(exits), files))
    }

    /// Gives a process that was just started, and has one thread, its part of the cache.
    ///
    /// # Errors
    /// [`PartitionError::Cache`].
    pub(crate) fn settle(&self, process: u32) -> Result<(), PartitionError> {
        let Some(ways) = &self.ways else { return Ok(()) };
        ways.add(process)?;
        Ok(ways.check()?)
    }

    /// The ways of the last-level cache that the guest has for itself.
    pub fn cache_ways(&self) -> Option<&CacheWays> {
        self.ways.as_ref()
    }

    /// How often the guest's processor has left it so far, all reasons together: to the guest's
    /// process, and in all, as KVM counts. The latter is `None` before KVM was asked, or where it
    /// does not count.
    pub fn exit_counts(&self) -> (u64, Option<u64>) {
        let ledger = self.exits.read();
        let of_kvm = ledger.sample().map(|sample| sample.exits()).filter(|exits| *exits > 0);
        (ledger.total(), of_kvm)
    }

    /// The ledger of exits, which the guest's process writes.
    pub fn exits(&self) -> &Arc<Exits> {
        &self.exits
    }

    /// An order as the guest's process can carry it out.
    ///
    /// # Errors
    /// When the program can't be delivered.
    pub(crate) fn deliver(&self, order: &Order) -> io::Result<Order> {
        match order {
            Order::Stage(build) => {
                let bytes = self.delivery.put(&build.module)?;
                Ok(Order::Deliver { build: build.clone(), bytes })
            }
            Order::Deliver { .. } => Ok(order.clone()),
        }
    }
}
