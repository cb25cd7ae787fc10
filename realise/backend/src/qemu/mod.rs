//! The backend `qemu`: a partition is a guest of QEMU, with the same kernel and program as a guest
//! of our own monitor ([`kvm`](crate::kvm)).
//!
//! The partition's process starts QEMU, finds the thread of the guest's processor and makes it what
//! the site asks for, and keeps the guest's time, post and console. Exchange and channels are the
//! same memory files as everywhere, which QEMU gives the guest as devices
//! ([`quietcore_boot::devices`]).
//!
//! ```text
//! supervisor ─► quietcore-runtime partition ─► QEMU ─► the guest
//!                    │  monitor: the processor's thread ─► CPU, policy
//!                    │  control memory: host page, time, post, code
//!                    └─ doorbell: the guest's attention
//! ```
//!
//! | module | content |
//! |---|---|
//! | `board` | the clock board of a guest that measures |
//! | [`disk`] | guests that start from their disks, any operating system |
//! | `doorbell` | its device, and the call for the guest's attention |
//! | `emulator` | QEMU's process |
//! | `host` | the surroundings of the partition's process |
//! | `linux` | guests that run Linux |
//! | `measuring` | guests that measure |
//! | `monitor` | QEMU's monitor |
//! | `network` | the wire of its fieldbus, behind a socket |
//! | `setting` | the words of the site file about the guest |

mod board;
pub mod disk;
mod doorbell;
mod emulator;
mod host;
pub(crate) mod linux;
mod measuring;
mod monitor;
mod network;
mod setting;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use std::sync::Arc;

use quietcore_boot::post::Poster;
use quietcore_boot::{AddressRange, HostPage, Moment, places, port};
use quietcore_exchange::{Region, Slot};
use quietcore_guests::Image;
use quietcore_microvm::devices::console::{Console, ConsoleReader};
use quietcore_microvm::slot::Shared;
use quietcore_process::remark::remark;
use quietcore_process::setting as settings;
use quietcore_process::thread::prepare_other;
use quietcore_release::process::settings::number_of;
use quietcore_scan::guest::job::{GuestBuild, GuestJob};
use quietcore_scan::process::job::ProgramJob;
use quietcore_scan::process::orders::Orders;
use quietcore_site::Accelerator;
use quietcore_units::{CpuId, CpuSet, Scheduling, ThreadRequest};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

use crate::fieldbus::FieldbusJob;
use crate::guest::channels::Channels;
use crate::guest::console::into;
use crate::guest::control::Control;
use crate::guest::delivery::Delivery;
use crate::guest::introduction::{host_page, introduce, moment, now_by_host};
use crate::guest::mail::Mail;
use crate::guest::network::{mapped, words};
use crate::guest::programs::{self, Programs, slot_size};
use crate::guest::staging::Staging;
use crate::guest::{in_words, note_refused_of_all, translate};
use doorbell::Doorbell;
use emulator::{Emulator, Parts, status_of_guest};
use monitor::Monitor;
use network::Network;

pub(crate) use host::{UNEXPLAINED, emulation};
pub(crate) use setting::QemuInterior;
pub use setting::QemuSetting;

/// A guest that waits for its first instruction, with everything that it needs.
pub(crate) struct Ready {
    emulator: Emulator,
    monitor: Monitor,
    control: Control,
    staging: Staging<Doorbell>,
    delivery: Delivery,
    network: Option<Network>,
    /// Its encoded fieldbus, if it drives one.
    words: Option<Vec<u8>>,
    channels: Vec<AddressRange>,
    first: GuestBuild,
    page: HostPage,
    /// An instant before QEMU was started, by the host's counter.
    begun: Moment,
    memory_refused: Option<i32>,
    console: ConsoleReader,
}

impl Ready {
    /// Makes a guest ready. To be called once, by the thread that then runs it.
    ///
    /// # Errors
    /// When something that the guest needs can't be had; in words.
    pub(crate) fn new(
        job: &ProgramJob,
        fieldbus: Option<&FieldbusJob>,
        interior: &QemuInterior,
        region: Region<'_>,
        exchange: &File,
    ) -> Result<Self, String> {
        let begun = now_by_host();
        let is_real = interior.setting.accelerator == Accelerator::Kvm;
        let locked = settings::lock_memory().and_then(|()| may_lock_much());
        let memory_refused = locked.err().map(|error| number_of(&error));
        let (console, lines) = Console::new().map_err(|error| format!("no console: {error}"))?;
        let channels = Channels::open(job)?;
        let data = |slot: Slot| {
            let section = region.data(slot).ok_or("the exchange has no data slots")?.section();
            let bytes = (section.bytes as u64).next_multiple_of(places::PAGE_BYTES);
            let shared = Shared::of_file(exchange, section.offset as u64, bytes);
            shared.map(Arc::new).map_err(in_words)
        };
        let data = [data(Slot::A)?, data(Slot::B)?];
        let program = programs::read(&job.build.module, data[0].bytes())?;
        let control = Control::create(slot_size(&program.image)).map_err(in_words)?;
        let programs = Programs::new(&program.image, data, |slot, size| control.code(slot, size))?;
        let (doorbell, doorbell_end) =
            Doorbell::new(control.file()).map_err(|error| format!("no doorbell: {error}"))?;
        let poster = Poster::new(control.post()).ok_or("the post is too small")?;
        let mail = Mail::new(poster, doorbell);
        let (staging, first) = Staging::begin(programs, program, &job.build, mail)?;
        let (mut monitor, monitor_end) =
            Monitor::new().map_err(|error| format!("no monitor: {error}"))?;
        let (network, network_end) = open_network(fieldbus, exchange)?;
        let words = fieldbus.map(words).transpose().map_err(in_words)?;
        let parts = Parts {
            accelerator: interior.setting.accelerator,
            memory: interior.setting.memory,
            // Locked, the translations of an emulated processor would take a gigabyte.
            locks: is_real && memory_refused.is_none(),
            image: image_file(quietcore_guests::PARTITION)?,
            doorbell: doorbell_end,
            monitor: monitor_end,
            network: network_end,
            card: fieldbus.and_then(FieldbusJob::card).map(str::to_owned),
            exchange: exchange.try_clone().map_err(|error| format!("the exchange: {error}"))?,
            channels: channels.files,
        };
        let cpu = job.cpu.and_then(CpuId::new);
        let elsewhere = cpu.and_then(|cpu| emulator::others(&CpuSet::from_iter([cpu])));
        let mut emulator = Emulator::start(emulator::command(parts)?, elsewhere, into(console))?;
        let delivery = Delivery::inherited(interior.delivery);
        let delivery = delivery.map_err(|error| format!("the delivery: {error}"))?;
        if let Err(error) = monitor.greet() {
            emulator.end();
            return Err(in_words(error));
        }
        Ok(Self {
            emulator,
            monitor,
            control,
            staging,
            delivery,
            network,
            words,
            channels: channels.places,
            first,
            page: host_page(interior.setting.memory, region),
            begun,
            memory_refused,
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
        let thread = self.monitor.processor_thread().map_err(in_words)?;
        let policy = self.settle(job, region, thread)?;
        if let Some(network) = self.network.take() {
            network.start(job.cpu, policy)?;
            // Where it may run anywhere, it leaves QEMU's other threads a CPU.
            if let Some(cpu) = job.cpu.and_then(CpuId::new) {
                self.emulator.lift(&CpuSet::from_iter([cpu]), policy);
            }
        }
        let (first, words) = (self.first.clone(), self.words.take());
        let letter = translate::guest_job(job, thread, &self.channels, first, words);
        // Nobody hears of late releases that a guest of QEMU tells.
        let letter = GuestJob { late_beyond: None, ..letter }.to_bytes();
        self.staging.post(&letter.map_err(|error| error.to_string())?)?;
        self.monitor.resume().map_err(in_words)?;
        let emulator = &mut self.emulator;
        let ended = || emulator.ended().map(|status| format!("QEMU ended: {status}"));
        let introduced = introduce(&self.control, ended, region, self.begun, &mut self.page);
        let Some(counter) = introduced? else { return Ok(()) };
        // Whether it is granted was tried before.
        let _ = settings::schedule_other(thread, policy);
        let Self { mut emulator, mut monitor, control, mut staging, delivery, .. } = self;
        let mut console = self.console;
        let mut end = None;
        let over = Cell::new(false);
        let each = || {
            control.tell_time(moment(counter));
            console.lines().iter().for_each(|line| remark(format_args!("{line}")));
            end = match emulator.ended() {
                Some(status) => Some(End::Ended(status)),
                None => monitor.has_stopped().then_some(End::Stopped),
            };
            over.set(end.is_some());
        };
        staging.serve(region, orders, &delivery, each, || over.get());
        emulator.end();
        let last = console.lines().into_iter().chain(console.rest());
        last.for_each(|line| remark(format_args!("{line}")));
        let has_ended = region.tasks().all(|task| task.state().has_ended());
        let crash = || control.crash_record().map(|record| staging.crash(&record));
        outcome(end.unwrap_or(End::Stopped), has_ended, crash)
    }

    /// Makes the processor's thread what the leading task asks for, since it runs all tasks of the
    /// guest, and writes what is refused into the rows of all tasks before the guest has them.
    /// Takes the policy back until the guest has begun, and returns it: until then the guest waits
    /// for this thread, and may share its CPU.
    fn settle(
        &self,
        job: &ProgramJob,
        region: Region<'_>,
        thread: u32,
    ) -> Result<Scheduling, String> {
        let leading = job.tasks.first().ok_or("there is no task")?;
        let request = ThreadRequest::new(leading.policy).on(job.cpu.and_then(CpuId::new));
        let prepared = prepare_other(thread, &request);
        let period = leading.release.interval();
        note_refused_of_all(region, period, &prepared, job.cpu, self.memory_refused);
        // A thread may always ask for less.
        let _ = settings::schedule_other(thread, Scheduling::Other);
        Ok(leading.policy)
    }
}

/// Opens the network that this process serves, with QEMU's end of it; there is none where the guest
/// drives its card itself.
fn open_network(
    fieldbus: Option<&FieldbusJob>,
    exchange: &File,
) -> Result<(Option<Network>, Option<OwnedFd>), String> {
    let served = fieldbus.filter(|job| job.card().is_none());
    let network = served.map(|job| Network::open(job, Arc::new(mapped(exchange)?)));
    Ok(network.transpose()?.unzip())
}

/// Checks that QEMU, which takes more memory than this process, may lock all of it.
fn may_lock_much() -> io::Result<()> {
    let has_limit = getrlimit(Resource::Memlock).current.is_some();
    let has_right =
        || capabilities(None).is_ok_and(|it| it.effective.contains(CapabilitySet::IPC_LOCK));
    if has_limit && !has_right() { Err(rustix::io::Errno::PERM.into()) } else { Ok(()) }
}

/// The end of a guest, as it is seen from outside.
#[derive(Clone, Copy, Debug)]
enum End {
    /// QEMU has ended, with this status.
    Ended(ExitStatus),
    /// QEMU keeps the guest and does not run it any further.
    Stopped,
}

/// Judges the end of a guest. QEMU's own errors end it with the status of a guest that ended well,
/// so that this counts only if its tasks have ended. `crash` describes the crash that the guest has
/// recorded.
fn outcome(
    end: End,
    tasks_have_ended: bool,
    crash: impl FnOnce() -> Option<String>,
) -> Result<(), String> {
    let End::Ended(status) = end else {
        return Err("QEMU has stopped the guest, which can't be run any further".to_owned());
    };
    match status_of_guest(status) {
        Some(port::ENDED) if tasks_have_ended => Ok(()),
        Some(port::REFUSED) => Err("the guest could not run what it was asked to".to_owned()),
        Some(port::CRASHED) => Err(crash().unwrap_or_else(|| "the guest crashed".to_owned())),
        _ => Err(format!("QEMU ended unexpectedly: {status}")),
    }
}

/// Returns an image as a file.
fn image_file(image: Image) -> Result<File, String> {
    let bytes = image.bytes().map_err(in_words)?;
    let file = memfd_create("quietcore-image", MemfdFlags::CLOEXEC);
    let mut file = File::from(file.map_err(|error| format!("the guest's image: {error}"))?);
    file.write_all(bytes).map_err(|error| format!("the guest's image: {error}"))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn the_end_of_qemu_is_judged_by_its_status() {
        let ended = |code: i32| End::Ended(ExitStatus::from_raw(code << 8));
        let judged = |code: i32| outcome(ended(code), true, || Some("page fault".to_owned()));
        assert_eq!(judged(1), Ok(()));
        let failed = outcome(ended(1), false, || None).unwrap_err();
        assert!(failed.contains("unexpectedly"), "QEMU failed itself: {failed}");
        let stopped = outcome(End::Stopped, true, || None).unwrap_err();
        assert!(stopped.contains("stopped the guest"), "{stopped}");
        assert_eq!(judged(3), Err("page fault".to_owned()));
        assert!(judged(5).unwrap_err().contains("could not run"));
        assert!(judged(0).unwrap_err().contains("unexpectedly"));
        let killed = outcome(End::Ended(ExitStatus::from_raw(9)), true, || None).unwrap_err();
        assert!(killed.contains("signal: 9"), "{killed}");
    }
}
