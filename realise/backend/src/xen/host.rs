//! Surroundings of a partition that is a domain of Xen. The host makes the domain before the
//! partition's process, since pages are granted to a domain that is there; the exchange is of such
//! pages.

use std::borrow::Cow;
use std::io;
use std::os::fd::AsRawFd as _;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};

use quietcore_boot::devices::EXCHANGE;
use quietcore_exchange::Shape;
use quietcore_process::exchange::{Exchange, ExchangeError};
use quietcore_process::memory::DeviceMemory;
use quietcore_scan::process::job::Order;
use quietcore_site::Backend;
use quietcore_xen::{GrantedArea, Store};

use super::domain::Domain;
use super::leftovers::DomainName;
use super::{XenError, XenInterior, XenSetting, announce};
use crate::guest::delivery::Delivery;
use crate::interior::Interior;
use crate::job::Job;
use crate::process::{AmongOthers, PartitionError, Room};
use crate::setting::Setting;
use crate::surroundings::{Start, Surroundings};

/// Why nobody explains late releases of a domain, as the end of a sentence.
const UNEXPLAINED: &str = "the domain's own kernel releases the tasks, and can't stop the trace of \
                           this one; this one does not see its processor, which Xen runs";

impl Setting for XenSetting {
    fn backend(&self) -> Backend {
        Backend::Xen
    }

    fn unexplained(&self) -> Option<&'static str> {
        Some(UNEXPLAINED)
    }

    fn unpinned(self: Arc<Self>) -> Arc<dyn Setting> {
        Arc::new(Self { cpus: None, ..(*self).clone() })
    }

    fn surround(&self, room: &Room) -> Result<Box<dyn Surroundings>, PartitionError> {
        let delivery = Delivery::create().map_err(PartitionError::Job)?;
        let (process, name) = (AmongOthers::new(room), DomainName::of(room.partition()));
        let (setting, domain) = (self.clone(), Mutex::new(None));
        Ok(Box::new(Host { setting, name, process, delivery, domain }))
    }
}

/// The host's side of a domain.
#[derive(Debug)]
struct Host {
    setting: XenSetting,
    name: DomainName,
    process: AmongOthers,
    delivery: Delivery,
    /// The domain, from when its exchange was made until the partition's process has ended.
    domain: Mutex<Option<Domain>>,
}

impl Surroundings for Host {
    fn make_exchange(&mut self, shape: &Shape) -> Result<Exchange, PartitionError> {
        let needed = shape.layout().map_err(|error| ExchangeError::Attach(error.into()))?.bytes;
        let image = quietcore_guests::PARTITION.bytes().map_err(XenError::Image)?;
        let domain = Domain::create(&self.name, &self.setting, image).map_err(XenError::Domain)?;
        let area = GrantedArea::create(domain.id(), needed as u64).map_err(XenError::Grant)?;
        let mut store = Store::connect().map_err(XenError::Store)?;
        announce(&mut store, domain.id(), EXCHANGE, &area).map_err(XenError::Store)?;
        let file = area.file().try_clone().map_err(PartitionError::Job)?;
        let memory = DeviceMemory { address: 0, bytes: area.bytes() };
        let exchange = Exchange::create_in_device(shape, file, memory)?;
        self.domain = Mutex::new(Some(domain));
        Ok(exchange)
    }

    fn prepare(
        &mut self,
        mut start: Start<'_>,
        job: &mut Cow<'_, Job>,
        command: &mut Command,
    ) -> Result<(), PartitionError> {
        let domain = self.domain.get_mut().unwrap_or_else(PoisonError::into_inner).as_ref();
        if let (Job::Program { interior, .. }, Some(domain)) = (job.to_mut(), domain) {
            let file = self.delivery.file().map_err(PartitionError::Job)?;
            let (setting, delivery) = (self.setting.clone(), file.as_raw_fd());
            let guest = XenInterior { setting, domain: domain.id().0, delivery };
            *interior = Interior::xen(guest);
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

    /// Xen runs its processor, and no thread of this kernel does.
    fn process_of_thread(&self, _: u32, _: u32) -> Option<u32> {
        None
    }

    fn end_rest(&self) {
        self.process.end_rest();
        // The domain is ended when it is dropped.
        drop(self.domain.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
