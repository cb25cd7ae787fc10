//! Xen as its guest sees it: shared memory is pages that dom0 grants and has announced in the
//! store, ports are rings in such pages, and the end is a word in them.

use std::fs::File;
use std::sync::atomic::Ordering::Release;
use std::thread;
use std::time::Duration;

use quietcore_boot::devices::{CONTROL, END};
use quietcore_boot::xen::ports::PORTS;
use quietcore_boot::xen::{Announcement, DOORBELL, Ring, area_key, number};
use quietcore_process::in_guest::granted::Granted;
use quietcore_process::in_guest::words::DeviceWords;
use quietcore_process::memory::{DeviceMemory, MemorySource};
use quietcore_xen::{Doorbell, Store};

use super::platform::{Platform, Ports, Pump};
use crate::guest::in_words;
use crate::linux::rings::{self, Incoming, Outgoing};

const GRANTS: &str = "/dev/xen/gntdev";
/// Pause of who has more to say than there is room.
const PAUSE: Duration = Duration::from_millis(5);

/// Xen, with its store.
#[derive(Debug)]
pub(super) struct Xen {
    store: Store<File>,
}

impl Xen {
    /// Connects to the store.
    ///
    /// # Errors
    /// When there is none; in words.
    pub(super) fn begin() -> Result<Self, String> {
        Store::in_domain().map(|store| Self { store }).map_err(in_words)
    }

    fn source(&mut self, number: usize) -> Result<MemorySource, String> {
        let (file, memory) = self.shared(number)?;
        Ok(MemorySource::new(file, Some(memory)))
    }

    /// Returns what is called when the host has sent something.
    fn doorbell(&mut self) -> Result<Doorbell, String> {
        let port = number(&self.store.read(DOORBELL).map_err(in_words)?);
        let bound = Doorbell::bind(port.ok_or("the host's event channel has no number")?);
        bound.map_err(|error| format!("the host's event channel: {error}"))
    }
}

impl Platform for Xen {
    fn ports(&mut self) -> Result<Ports, String> {
        let [orders, printed, remarks] = rings::open(&self.source(PORTS)?)?;
        let mut doorbell = self.doorbell()?;
        // Where it fails the host is gone, and ends the domain.
        let wait = move || doorbell.wait().is_ok();
        let (first, printed) = pump(printed)?;
        let (second, remarks) = pump(remarks)?;
        let orders = Box::new(Incoming { ring: orders, wait });
        Ok(Ports { orders, printed, remarks, pumps: vec![first, second] })
    }

    fn shared(&mut self, number: usize) -> Result<(File, DeviceMemory), String> {
        let missing = || format!("the host grants no memory with number {number}");
        let key = area_key(number);
        let value = self.store.read(&String::from_utf8_lossy(&key)).map_err(|_| missing())?;
        let announced = Announcement::parse(&value).ok_or_else(missing)?;
        let file = File::options().read(true).write(true).open(GRANTS).map_err(|error| {
            format!(
                "{GRANTS}: {error}; build the image again with `quietcore guest build`, which \
                 gives it the driver"
            )
        })?;
        Ok((file, DeviceMemory::Granted(Granted::from(&announced))))
    }

    /// Leaves the status, plus one, where the host looks for it.
    fn tell_end(&mut self, status: u8) {
        let words = self.source(CONTROL).ok().and_then(|source| DeviceWords::open(&source).ok());
        let at = usize::try_from(END).unwrap_or(usize::MAX) / size_of::<u64>();
        if let Some(word) = words.as_ref().and_then(|words| words.all().get(at)) {
            word.store(u64::from(status) + 1, Release);
        }
    }
}

/// Starts a pump into a ring.
fn pump(ring: Ring<'static>) -> Result<(Pump, std::os::fd::OwnedFd), String> {
    let wait = || {
        thread::sleep(PAUSE);
        true
    };
    Pump::start(Outgoing { ring, call: || (), wait })
}
