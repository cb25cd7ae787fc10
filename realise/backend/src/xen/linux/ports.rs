//! The host's ends of a domain's ports: rings in granted pages, and the channel that calls the
//! domain.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::Duration;

use quietcore_boot::xen::ports::{PORTS, PORTS_BYTES};
use quietcore_boot::xen::{DOORBELL, Ring};
use quietcore_process::memory::{DeviceMemory, MemorySource};
use quietcore_xen::{DomainId, EventChannel, GrantedArea, Store};

use super::super::announce;
use crate::guest::in_words;
use crate::guest::mail::Attention as _;
use crate::linux::ports::Host;
use crate::linux::rings::{self, Incoming, Outgoing};

/// Time between two looks at a ring.
const LOOK: Duration = Duration::from_millis(5);

/// The ports of a domain that is yet to begin.
#[derive(Debug)]
pub(super) struct Area {
    rings: [Ring<'static>; 3],
    doorbell: EventChannel,
}

/// Ends the threads behind the ports, when all is passed on.
#[derive(Debug)]
pub(super) struct Ending(Arc<AtomicBool>);

impl Area {
    /// Makes the ports of a domain and announces them.
    ///
    /// # Errors
    /// When there is no memory for them, or no channel; in words.
    pub(super) fn open(store: &mut Store, domain: DomainId) -> Result<Self, String> {
        let area = GrantedArea::create(domain, PORTS_BYTES).map_err(in_words)?;
        let file = area.file().try_clone().map_err(in_words)?;
        let memory = DeviceMemory::first(area.bytes());
        let rings = rings::open(&MemorySource::new(file, Some(memory)))?;
        let doorbell = EventChannel::open(domain);
        let doorbell = doorbell.map_err(|error| format!("no event channel: {error}"))?;
        let key = domain.path(DOORBELL);
        store.write(&key, &doorbell.port().to_string()).map_err(in_words)?;
        announce(store, domain, PORTS, &area).map_err(in_words)?;
        Ok(Self { rings, doorbell })
    }

    /// Starts the threads behind the ports.
    ///
    /// # Errors
    /// When the operating system refuses one; in words.
    pub(super) fn start(self) -> Result<(Host, Ending), String> {
        let Self { rings: [orders, printed, remarks], doorbell } = self;
        let over = Arc::new(AtomicBool::new(false));
        let wait = || {
            let over = Arc::clone(&over);
            move || {
                let goes_on = !over.load(Acquire);
                if goes_on {
                    thread::sleep(LOOK);
                }
                goes_on
            }
        };
        let orders = Outgoing { ring: orders, call: move || doorbell.call(), wait: wait() };
        let printed = Incoming { ring: printed, wait: wait() };
        let remarks = Incoming { ring: remarks, wait: wait() };
        let host = Host::over(orders, printed, remarks);
        let host = host.map_err(|error| format!("no thread can be started: {error}"))?;
        Ok((host, Ending(over)))
    }
}

impl Ending {
    /// Lets the threads end that pass on what is there.
    pub(super) fn end(&self) {
        self.0.store(true, Release);
    }
}
