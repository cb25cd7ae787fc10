//! The ports of a guest: its console, its late releases, its end; and its network.
//!
//! The process's main thread passes the lines of the console to the host, which keeps them as
//! remarks, up to its limit. Nothing answers at any other port or address.

use std::io;
use std::sync::Arc;

use quietcore_boot::places::{NET, port};
use quietcore_microvm::bus::{After, Bus};
use quietcore_microvm::devices::console::{Console, ConsoleReader};
use quietcore_microvm::image::late_releases;
use quietcore_microvm::memory::Memory;
use quietcore_microvm::net::{Net, REGISTER_BYTES};
use quietcore_process::snare::{Caught, Laid};
use quietcore_units::Nanos;

/// The ports of a guest, and the addresses of its devices.
pub(super) struct Ports {
    console: Console,
    net: Option<Arc<Net>>,
    explained: Option<Explained>,
}

/// The means to explain late releases.
pub(super) struct Explained {
    /// The snare that a late release springs.
    pub(super) snare: Laid,
    /// Memory of the guest, in which it says which releases were late.
    pub(super) memory: Arc<Memory>,
}

impl Ports {
    /// Makes the ports of a guest, with or without a network and explanations, and the reader of
    /// its console.
    ///
    /// # Errors
    /// When no event file can be had.
    pub(super) fn new(
        net: Option<Arc<Net>>,
        explained: Option<Explained>,
    ) -> io::Result<(Self, ConsoleReader)> {
        let (console, reader) = Console::new()?;
        Ok((Self { console, net, explained }, reader))
    }

    /// Springs the snare for late releases that the guest reports. A guest that reports wrong ones
    /// gets a wrong ledger, and nothing else is harmed.
    fn late(&self) {
        let Some(Explained { snare, memory }) = &self.explained else { return };
        let Some(told) = late_releases(memory) else { return };
        let Ok(task) = u32::try_from(told.task) else { return };
        let last = (told.started_ns > 0).then(|| Caught {
            task,
            release: told.release,
            due: Nanos::new(told.due_ns),
            started: Nanos::new(told.started_ns),
            cpu: rustix::thread::sched_getcpu() as u32,
        });
        snare.told(task, told.count, last);
    }

    /// Returns the network and the offset of its register at an address; `None` for other
    /// addresses.
    fn register(&self, address: u64) -> Option<(&Net, u64)> {
        let offset = address.checked_sub(NET).filter(|offset| *offset < REGISTER_BYTES)?;
        Some((self.net.as_deref()?, offset))
    }
}

impl Bus for Ports {
    fn write_port(&self, number: u16, data: &[u8]) -> After {
        match (number, data.first()) {
            (port::CONSOLE, _) => self.console.say(data),
            (port::LATE, _) => self.late(),
            (port::END, Some(status)) => return After::End(u32::from(*status)),
            _ => {}
        }
        After::GoOn
    }

    fn read_port(&self, _: u16, _: &mut [u8]) {}

    fn write_address(&self, address: u64, data: &[u8]) -> After {
        if let Some((net, offset)) = self.register(address) {
            net.write(offset, data);
        }
        After::GoOn
    }

    fn read_address(&self, address: u64, data: &mut [u8]) {
        if let Some((net, offset)) = self.register(address) {
            net.read(offset, data);
        }
    }
}
