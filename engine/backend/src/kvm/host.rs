//! The host's side of a guest: what it shares with the guest's process beside the exchange.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use quietcore_microvm::exits::Exits;
use quietcore_scan::process::job::Order;

use super::GuestSetting;
use super::delivery::Delivery;

/// What both sides have.
#[derive(Debug)]
pub struct Host {
    delivery: Delivery,
    exits: Arc<Exits>,
}

impl Host {
    /// Makes it, with the files to be passed on, whose numbers are written into `setting`.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn new(setting: &mut GuestSetting) -> io::Result<(Self, [OwnedFd; 2])> {
        let delivery = Delivery::create()?;
        let exits = Exits::create().map_err(io::Error::other)?;
        let ledger = exits.file().ok_or(io::ErrorKind::Unsupported)?.try_clone()?.into();
        let files: [OwnedFd; 2] = [delivery.file()?, ledger];
        setting.delivery = Some(files[0].as_raw_fd());
        setting.exits = Some(files[1].as_raw_fd());
        Ok((Self { delivery, exits: Arc::new(exits) }, files))
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
