//! The backend `xen`: a partition is a domain of Xen of kind PVH, with the same kernel and program
//! as a guest of our own monitor ([`kvm`](crate::kvm)). This machine's kernel is dom0.
//!
//! ```text
//! supervisor ─► keeper ─► xl create, xl destroy
//!     │ exchange: granted pages ──────────────────────────► the domain
//!     └► quietcore-runtime partition                           ▲
//!           │  control memory: host page, time, post, code ────┤ granted pages
//!           │  event channel: the guest's attention ───────────┤
//!           └◄ terminal of xenconsoled ◄───────────────────────┘ console
//! ```
//!
//! Granted memory is announced in Xen's store, below the domain's own path
//! ([`quietcore_boot::xen`]). The domain is made before its process and its exchange, since pages
//! are granted to a domain that is there.
//!
//! | module | content |
//! |---|---|
//! | `channels` | its channels, and the thread that takes on what is sent |
//! | `domain` | the domain, which is ended whatever happens |
//! | `leftovers` | domains of owners that were killed |
//! | `measuring` | domains that measure |
//! | `host` | the surroundings of the partition's process |
//! | `linux` | domains that run Linux |
//! | `setting` | the words of the site file about the domain |
//! | `watch` | the end of a domain, seen from outside |
//! | `xl` | the program that starts domains and looks at them |

mod channels;
mod domain;
mod host;
mod leftovers;
pub(crate) mod linux;
mod measuring;
mod setting;
mod watch;
mod xl;

use std::cell::Cell;
use std::fs::File;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_boot::devices::CONTROL;
use quietcore_boot::post::Poster;
use quietcore_boot::xen::DOORBELL;
use quietcore_boot::{HostPage, Moment, places, port};
use quietcore_exchange::{Region, Slot};
use quietcore_microvm::devices::console::{Console, ConsoleReader};
use quietcore_microvm::slot::Shared;
use quietcore_process::remark::remark;
use quietcore_scan::guest::job::{GuestBuild, GuestJob};
use quietcore_scan::process::job::ProgramJob;
use quietcore_scan::process::orders::Orders;
use quietcore_units::ByteSize;
use quietcore_xen::{DomainId, EventChannel, GrantError, GrantedArea, Store, StoreError};
use rustix::fs::{Mode, OFlags};

use crate::guest::control::Control;
use crate::guest::delivery::Delivery;
use crate::guest::introduction::{host_page, introduce, moment, now_by_host};
use crate::guest::mail::{Attention, Mail};
use crate::guest::programs::{self, Programs, slot_size};
use crate::guest::staging::Staging;
use crate::guest::{console, in_words, translate};
use channels::Channels;
use watch::{End, EndWatch, watched_store};
use xl::Xl;

pub use domain::DomainError;
pub(crate) use host::UNEXPLAINED;
pub use leftovers::clear;
pub(crate) use setting::XenInterior;
pub use setting::XenSetting;

/// Longest time in which the last words of a guest come through its terminal, and between two.
const LAST_WORDS_MAX: Duration = Duration::from_millis(500);
const LAST_WORDS_GAP: Duration = Duration::from_millis(50);

/// Longest time until `xenconsoled` has a terminal for a domain, and between two looks for it.
const TERMINAL_MAX: Duration = Duration::from_secs(20);
const TERMINAL_LOOK: Duration = Duration::from_millis(20);

/// Why there is no domain with an exchange.
#[derive(Debug, thiserror::Error)]
pub enum XenError {
    /// The guest's image is not there.
    #[error(transparent)]
    Image(quietcore_guests::Missing),
    /// The work is one that no image does.
    #[error("this is nothing that a domain of Xen does")]
    NoImage,
    /// There is no domain.
    #[error(transparent)]
    Domain(DomainError),
    /// There is no memory that could be granted to it.
    #[error(transparent)]
    Grant(GrantError),
    /// It can't be told of its memory.
    #[error(transparent)]
    Store(StoreError),
}

impl Attention for EventChannel {
    fn call(&self) {
        // A domain that is gone hears nothing, and is looked for elsewhere.
        let _ = self.notify();
    }
}

/// A guest that waits for its first instruction, with everything that it needs.
pub(crate) struct Ready {
    xl: Xl,
    store: Store,
    domain: DomainId,
    control: Control,
    staging: Staging<EventChannel>,
    delivery: Delivery,
    channels: Channels,
    first: GuestBuild,
    page: HostPage,
    /// An instant before the guest begins, by the host's counter.
    begun: Moment,
    console: ConsoleReader,
}

impl Ready {
    /// Makes a guest ready. To be called once, by the thread that then runs it.
    ///
    /// # Errors
    /// When something that the guest needs can't be had; in words.
    pub(crate) fn new(
        job: &ProgramJob,
        interior: &XenInterior,
        region: Region<'_>,
        exchange: &File,
    ) -> Result<Self, String> {
        let (begun, domain) = (now_by_host(), interior.domain());
        let xl = Xl::find().map_err(in_words)?;
        let mut store = watched_store().map_err(in_words)?;
        xl.check_affinity(domain, &[interior.setting.cpus]).map_err(in_words)?;
        let data = |slot: Slot| {
            let section = region.data(slot).ok_or("the exchange has no data slots")?.section();
            let bytes = (section.bytes as u64).next_multiple_of(places::PAGE_BYTES);
            let shared = Shared::of_device(exchange, section.offset as u64, bytes);
            shared.map(Arc::new).map_err(in_words)
        };
        let data = [data(Slot::A)?, data(Slot::B)?];
        let program = programs::read(&job.build.module, data[0].bytes())?;
        let size = slot_size(&program.image);
        let control = control(&mut store, domain, Control::bytes(size), size)?;
        let programs = Programs::new(&program.image, data, |slot, size| control.code(slot, size))?;
        let doorbell =
            EventChannel::open(domain).map_err(|error| format!("no event channel: {error}"))?;
        let channels = Channels::open(job, &mut store, domain)?;
        let rings = store.write(&domain.path(DOORBELL), &doorbell.port().to_string());
        rings.map_err(in_words)?;
        let poster = Poster::new(control.post()).ok_or("the post is too small")?;
        let mail = Mail::new(poster, doorbell);
        let (staging, first) = Staging::begin(programs, program, &job.build, mail)?;
        let delivery = Delivery::inherited(interior.delivery);
        let delivery = delivery.map_err(|error| format!("the delivery: {error}"))?;
        let (console, lines) = Console::new().map_err(|error| format!("no console: {error}"))?;
        let terminal = terminal(&mut store, domain)?;
        let collected = console::collect(console::into(console), terminal);
        collected.map_err(|error| format!("no thread can be started: {error}"))?;
        let page = host_page(domain::whole(interior.setting.memory), region);
        Ok(Self {
            xl,
            store,
            domain,
            control,
            staging,
            delivery,
            channels,
            first,
            page,
            begun,
            console: lines,
        })
    }

    /// Runs the guest until it ends. `orders` are the lines that follow the job.
    ///
    /// # Errors
    /// The reason, in words, if it did not end in order.
    pub(crate) fn run(
        mut self,
        job: &ProgramJob,
        region: Region<'static>,
        orders: &Orders,
    ) -> Result<(), String> {
        let letter = translate::guest_job(job, 0, &self.channels.places, self.first.clone(), None);
        // Nobody hears of late releases that a domain tells.
        let letter = GuestJob { late_beyond: None, ..letter }.to_bytes();
        self.staging.post(&letter.map_err(|error| error.to_string())?)?;
        let carrying = self.channels.start()?;
        self.xl.unpause(self.domain).map_err(in_words)?;
        let Self { xl, store, domain, control, mut staging, delivery, mut console, .. } = self;
        let mut watch = EndWatch::new(xl, domain, store);
        let mut ended = || watch.look(&control);
        let early = || ended().map(|end| end.to_string());
        let introduced = introduce(&control, early, region, self.begun, &mut self.page);
        let counter = match introduced {
            Ok(Some(counter)) => counter,
            Ok(None) => return Ok(()),
            Err(why) => {
                say_last(&mut console);
                return Err(why);
            }
        };
        let mut end = None;
        let over = Cell::new(false);
        let each = || {
            control.tell_time(moment(counter));
            console.lines().iter().for_each(|line| remark(format_args!("{line}")));
            end = ended();
            over.set(end.is_some());
        };
        staging.serve(region, orders, &delivery, each, || over.get());
        drop(carrying);
        say_last(&mut console);
        let has_ended = region.tasks().all(|task| task.state().has_ended());
        let crash = || control.crash_record().map(|record| staging.crash(&record));
        outcome(end, has_ended, crash)
    }
}

/// Judges the end of a guest. `crash` describes the crash that the guest has recorded.
fn outcome(
    end: Option<End>,
    tasks_have_ended: bool,
    crash: impl FnOnce() -> Option<String>,
) -> Result<(), String> {
    match end {
        Some(End::Told(port::ENDED)) if tasks_have_ended => Ok(()),
        Some(End::Told(port::REFUSED)) => {
            Err("the guest could not run what it was asked to".to_owned())
        }
        Some(End::Told(port::CRASHED)) => {
            Err(crash().unwrap_or_else(|| "the guest crashed".to_owned()))
        }
        Some(end) => Err(format!("the domain ended unexpectedly: {end}")),
        None => Err("the domain ended unexpectedly".to_owned()),
    }
}

/// Says in Xen's store what a domain finds of an area, under its number.
fn announce(
    store: &mut Store,
    domain: DomainId,
    number: usize,
    area: &GrantedArea,
) -> Result<(), StoreError> {
    let key = quietcore_boot::xen::area_key(number);
    let key = domain.path(&String::from_utf8_lossy(&key));
    store.write(&key, &area.announcement().to_string())
}

/// Gives a domain its control memory of so many bytes, with code slots of this size.
fn control(
    store: &mut Store,
    domain: DomainId,
    bytes: ByteSize,
    slot: ByteSize,
) -> Result<Control, String> {
    let area = GrantedArea::create(domain, bytes.get()).map_err(in_words)?;
    announce(store, domain, CONTROL, &area).map_err(in_words)?;
    let memory = Shared::of_device(area.file(), 0, area.bytes()).map_err(in_words)?;
    Ok(Control::of(memory, slot))
}

/// Opens the terminal at which `xenconsoled` shows what a domain writes, as soon as it has one.
fn terminal(store: &mut Store, domain: DomainId) -> Result<File, String> {
    let key = domain.path("console/tty");
    let end = Instant::now() + TERMINAL_MAX;
    let path = loop {
        match store.read(&key) {
            Ok(path) if !path.is_empty() => break path,
            Err(error @ (StoreError::Silent(_) | StoreError::Odd)) => return Err(in_words(error)),
            _ if Instant::now() < end => thread::sleep(TERMINAL_LOOK),
            _ => {
                return Err(
                    "the domain's console has no terminal; is `xenconsoled` running?".into()
                );
            }
        }
    };
    let path = String::from_utf8_lossy(&path).into_owned();
    // It must not become the one of this process.
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&path, flags, Mode::empty());
    opened.map(File::from).map_err(|error| format!("the guest's console `{path}`: {error}"))
}

/// Passes on what comes through the terminal of a guest that has ended.
fn say_last(console: &mut ConsoleReader) {
    let begun = Instant::now();
    while begun.elapsed() < LAST_WORDS_MAX {
        thread::sleep(LAST_WORDS_GAP);
        let lines = console.lines();
        if lines.is_empty() {
            break;
        }
        lines.iter().for_each(|line| remark(format_args!("{line}")));
    }
    console.rest().into_iter().for_each(|line| remark(format_args!("{line}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_domain_is_judged_by_the_status_that_it_left() {
        let judged = |end, ended| outcome(end, ended, || Some("page fault".to_owned()));
        assert_eq!(judged(Some(End::Told(0)), true), Ok(()));
        assert!(judged(Some(End::Told(0)), false).unwrap_err().contains("unexpectedly"));
        assert_eq!(judged(Some(End::Told(1)), true), Err("page fault".to_owned()));
        assert!(judged(Some(End::Told(2)), true).unwrap_err().contains("could not run"));
        let seen = judged(Some(End::Seen("it crashed".to_owned())), true).unwrap_err();
        assert!(seen.contains("it crashed"), "{seen}");
    }
}
