//! Surroundings of a partition that is a domain of Xen. The host makes the domain before the
//! partition's process, since pages are granted to a domain that is there; the exchange is of such
//! pages.

use std::borrow::Cow;
use std::fmt;
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
use quietcore_xen::{DomainId, GrantedArea, Store};

use super::domain::{Domain, Image, Machine};
use super::leftovers::DomainName;
use super::{XenError, XenInterior, XenSetting, announce};
use crate::guest::delivery::Delivery;
use crate::interior::Interior;
use crate::job::Job;
use crate::process::{AmongOthers, PartitionError, Room};
use crate::setting::Setting;
use crate::surroundings::{Start, Surroundings};

/// Why nobody explains late releases of a domain, as the end of a sentence.
pub(crate) const UNEXPLAINED: &str = "the domain's own kernel releases the tasks, and can't stop \
                                      the trace of this one; this one does not see its processor, \
                                      which Xen runs";

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
        Ok(Host::around(OwnKernel { setting: self.clone(), delivery }, room))
    }
}

/// The part of a domain's surroundings by which kinds of domains differ.
pub(super) trait Guest: fmt::Debug + Send + Sync {
    /// Returns what the domain is made of, for a process that does `job`.
    ///
    /// # Errors
    /// When that is not there.
    fn machine(&self, job: &Job) -> Result<Machine, XenError>;

    /// Enters the domain into the job of the process, and its files into the start.
    ///
    /// # Errors
    /// When the domain can't have what it needs.
    fn enter(
        &self,
        domain: DomainId,
        start: &mut Start<'_>,
        job: &mut Cow<'_, Job>,
    ) -> Result<(), PartitionError>;

    /// Returns an order as the process can carry it out.
    ///
    /// # Errors
    /// When what it needs can't be handed over.
    fn order<'o>(&self, order: &'o Order) -> io::Result<Cow<'o, Order>> {
        Ok(Cow::Borrowed(order))
    }
}

/// A domain with our own kernel, and the delivery of its builds.
#[derive(Debug)]
struct OwnKernel {
    setting: XenSetting,
    delivery: Delivery,
}

impl Guest for OwnKernel {
    fn machine(&self, job: &Job) -> Result<Machine, XenError> {
        let image = job.image().ok_or(XenError::NoImage)?.bytes().map_err(XenError::Image)?;
        let XenSetting { memory, cpus } = self.setting;
        Ok(Machine { memory, processors: vec![cpus], start: Image::Program(image) })
    }

    fn enter(
        &self,
        domain: DomainId,
        start: &mut Start<'_>,
        job: &mut Cow<'_, Job>,
    ) -> Result<(), PartitionError> {
        if let Some(interior) = job.to_mut().interior_of_guest() {
            let file = self.delivery.file().map_err(PartitionError::Job)?;
            let (setting, delivery) = (self.setting.clone(), file.as_raw_fd());
            *interior = Interior::xen(XenInterior { setting, domain: domain.0, delivery });
            // The exchange must stay the last.
            start.files.insert(0, file);
        }
        Ok(())
    }

    fn order<'o>(&self, order: &'o Order) -> io::Result<Cow<'o, Order>> {
        self.delivery.deliver(order)
    }
}

/// The host's side of a domain.
#[derive(Debug)]
pub(super) struct Host<G> {
    guest: G,
    name: DomainName,
    process: AmongOthers,
    /// The domain, from when its exchange was made until the partition's process has ended.
    domain: Mutex<Option<Domain>>,
}

impl<G: Guest + 'static> Host<G> {
    /// Returns the surroundings of a process that is to be started in a room.
    pub(super) fn around(guest: G, room: &Room) -> Box<dyn Surroundings> {
        let (process, name) = (AmongOthers::new(room), DomainName::of(room.partition()));
        Box::new(Self { guest, name, process, domain: Mutex::new(None) })
    }
}

impl<G: Guest> Surroundings for Host<G> {
    fn make_exchange(&mut self, shape: &Shape, job: &Job) -> Result<Exchange, PartitionError> {
        let needed = shape.layout().map_err(|error| ExchangeError::Attach(error.into()))?.bytes;
        let machine = self.guest.machine(job)?;
        let domain = Domain::create(&self.name, &machine).map_err(XenError::Domain)?;
        let area = GrantedArea::create(domain.id(), needed as u64).map_err(XenError::Grant)?;
        let mut store = Store::connect().map_err(XenError::Store)?;
        announce(&mut store, domain.id(), EXCHANGE, &area).map_err(XenError::Store)?;
        let file = area.file().try_clone().map_err(PartitionError::Job)?;
        let memory = DeviceMemory::first(area.bytes());
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
        if let Some(domain) = domain {
            self.guest.enter(domain.id(), &mut start, job)?;
        }
        self.process.prepare(start, job, command)
    }

    fn wait_until_started(&mut self, child: &Child) -> Result<(), PartitionError> {
        self.process.wait_until_started(child)
    }

    fn order<'o>(&self, order: &'o Order) -> io::Result<Cow<'o, Order>> {
        self.guest.order(order)
    }

    /// The guest's own kernel measures how long a step takes, so nothing may stop one.
    fn tasks_are_threads(&self) -> bool {
        false
    }

    /// Xen runs its processor, and no thread of this kernel does.
    fn process_of_thread(&self, _: u32, _: u32) -> Option<u32> {
        None
    }

    fn drift(&self) -> Option<String> {
        self.domain.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Domain::drift)
    }

    fn end_rest(&self) {
        self.process.end_rest();
        // The domain is ended when it is dropped.
        drop(self.domain.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
