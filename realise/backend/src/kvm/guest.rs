//! The machine of a partition's guest, with all its memory.

use std::fs::File;
use std::io::Cursor;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use quietcore_boot::places::{port, vector};
use quietcore_boot::post::Poster;
use quietcore_boot::{AddressRange, CrashRecord, HostPage, places};
use quietcore_exchange::Region;
use quietcore_microvm::card::PassedCard;
use quietcore_microvm::colour::Pin;
use quietcore_microvm::image::{self, GuestAddress};
use quietcore_microvm::lines::Interrupt;
use quietcore_microvm::machine::Machine;
use quietcore_microvm::memory::Memory;
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::counter::Counter;
use quietcore_microvm::processor::{Processor, Stopped};
use quietcore_microvm::runner::{Ended, Outcome};
use quietcore_microvm::sandbox::Calls;
use quietcore_scan::guest::job::GuestBuild;
use quietcore_scan::process::job::ProgramJob;
use quietcore_units::Wake;
use quietcore_wire::intel::REGISTER_BYTES;

use super::GuestSetting;
use super::memory::{Kept, Rows, SharedMemory};
use crate::guest::mail::Mail;
use crate::guest::staging::Staging;
use crate::guest::{in_words, translate};

/// Stack of the thread that helps at the start, in bytes; a later thread gets the same memory.
const HELPER_STACK_BYTES: usize = 256 << 10;

/// Addresses of a network card's registers in the guest.
const CARD_PLACE: AddressRange = AddressRange { address: places::CARD, bytes: REGISTER_BYTES };

/// A guest with its memory, its programs and its post.
#[derive(Debug)]
pub(super) struct Guest {
    machine: Machine,
    channels: Vec<AddressRange>,
    /// Its programs and its post.
    pub(super) staging: Staging<Interrupt>,
    counter: Counter,
    first: GuestBuild,
    /// Keeps the network card that the guest drives itself, if it does.
    _card: Option<PassedCard>,
    /// Keeps pages in place where the guest's memory has colours.
    _pin: Option<Pin>,
}

impl Guest {
    /// Makes a guest that lacks only its job, and its processor. To be called once in a process:
    /// what it takes is not given back.
    ///
    /// While it makes a machine, KVM waits for the host's processors. Meanwhile a second thread
    /// loads the image and has the kernel clear memory.
    ///
    /// # Errors
    /// When something that the guest needs can't be had; in words.
    pub(super) fn new(
        job: &ProgramJob,
        setting: &GuestSetting,
        region: Region<'_>,
        file: &File,
        kept: Kept,
        card: Option<PassedCard>,
    ) -> Result<(Self, Processor), String> {
        let Kept { memory, pin, rows } = kept;
        let bytes = quietcore_guests::PARTITION.bytes().map_err(in_words)?;
        let (shared, (machine, processor)) = thread::scope(|scope| {
            let (tell, entry) = mpsc::channel();
            let helper = thread::Builder::new().stack_size(HELPER_STACK_BYTES);
            let (own, rows) = (&memory, &rows);
            let helper = helper.spawn_scoped(scope, move || {
                let _ = tell.send(load(own, bytes)?);
                let shared = SharedMemory::map(rows, job, region, file)?;
                own.make_present().map_err(in_words)?;
                Ok::<_, String>(shared)
            });
            let helper = helper.map_err(|error| format!("no thread can be started: {error}"))?;
            let machine = machine(job, Arc::clone(&memory), rows, &entry);
            let shared = helper.join().unwrap_or_else(|panic| resume_unwind(panic));
            Ok::<_, String>((shared?, machine?))
        })?;
        let SharedMemory { exchange, post, programs, program } = shared;
        let (counter, now) = (processor.counter(), processor.counter().moment());
        let page = HostPage {
            memory_bytes: setting.memory.get(),
            counter_then: now.counter,
            host_then_ns: now.host_ns,
            exchange,
            job: AddressRange { address: places::POST, bytes: post.bytes() },
            card: card.as_ref().map(|_| CARD_PLACE).unwrap_or_default(),
            card_kind: card.as_ref().map_or(0, PassedCard::kind),
            ..HostPage::of_counter(counter.hertz())
        };
        image::write_host_page(machine.memory(), &page);
        if let Some(card) = &card {
            card.give(&machine).map_err(in_words)?;
        }
        let poster = Poster::new(post.words()).ok_or("the post is too small")?;
        let attention = machine.interrupt(vector::ATTENTION);
        let mail = Mail::new(poster, attention);
        let (staging, first) = Staging::begin(programs, program, &job.build, mail)?;
        let channels = rows.channel_places;
        let guest = Self { machine, channels, staging, counter, first, _card: card, _pin: pin };
        Ok((guest, processor))
    }

    pub(super) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the system calls of the thread that looks after the guest: those of a waiting
    /// thread, and the one that interrupts the guest.
    pub(super) fn calls(&self) -> Calls {
        let attention = self.machine.interrupt(vector::ATTENTION);
        Calls::of_waiting_thread().and_raises(&attention)
    }

    /// Posts the job. `thread_id` is the number of the processor's thread, `fieldbus` the encoded
    /// fieldbus.
    ///
    /// # Errors
    /// When the job is too long; in words.
    pub(super) fn post_job(
        &mut self,
        job: &ProgramJob,
        thread_id: u32,
        fieldbus: Option<Vec<u8>>,
    ) -> Result<(), String> {
        let first = self.first.clone();
        let letter = translate::guest_job(job, thread_id, &self.channels, first, fieldbus);
        let letter = letter.to_bytes();
        self.staging.post(&letter.map_err(|error| error.to_string())?)
    }

    /// Returns a way to tell the guest the time, as often as it is called.
    pub(super) fn clock(&self) -> impl FnMut() + use<> {
        let (memory, counter) = (Arc::clone(self.machine.memory()), self.counter);
        move || image::tell_time(&memory, counter.moment())
    }

    /// Judges the end of the guest.
    ///
    /// # Errors
    /// The reason, in words, if it did not end in order.
    pub(super) fn outcome(&self, outcome: &Outcome) -> Result<(), String> {
        const ENDED: u32 = port::ENDED as u32;
        const REFUSED: u32 = port::REFUSED as u32;
        match &outcome.ended {
            Ended::Guest(Stopped::Ended(ENDED)) | Ended::Told => return Ok(()),
            Ended::Guest(Stopped::Ended(REFUSED)) => {
                return Err("the guest could not run what it was asked to".to_owned());
            }
            Ended::Panicked => return Err("a device of the guest panicked".to_owned()),
            Ended::Guest(_) | Ended::Stuck(_) => {}
        }
        let why = match &outcome.ended {
            Ended::Stuck(error) => format!("{error}; "),
            Ended::Guest(Stopped::Shutdown) => "it reset itself; ".to_owned(),
            _ => String::new(),
        };
        let record = record(outcome, || image::crash_record(self.machine.memory()));
        Err(match record {
            Some(record) => format!("{why}{}", self.staging.crash(&record)),
            None => format!("the guest ended unexpectedly: {}", outcome.ended),
        })
    }
}

/// Loads the guest's image into its memory and returns its entry.
fn load(memory: &Memory, image: &[u8]) -> Result<GuestAddress, String> {
    image::load(memory, &mut Cursor::new(image)).map_err(in_words)
}

/// Makes KVM's machine with all its memory, and its processor, which begins at the address that
/// comes through `entry`.
fn machine(
    job: &ProgramJob,
    memory: Arc<Memory>,
    rows: &Rows,
    entry: &Receiver<GuestAddress>,
) -> Result<(Machine, Processor), String> {
    let polls = job.tasks.first().is_some_and(|task| task.wake == Wake::Spin);
    let options = Options { polls, ..Options::default() };
    let machine = Machine::with(memory, &options).map_err(in_words)?;
    rows.give(&machine)?;
    let entry = entry.recv().map_err(|_| "the guest's image can't be loaded".to_owned())?;
    let processor = machine.processor(0, entry).map_err(in_words)?;
    Ok((machine, processor))
}

/// Returns the record of the crash that ended the guest. The guest's own record counts only if the
/// guest ended itself with it: it may have written one at any earlier time, and what the monitor
/// saw says more then.
fn record(outcome: &Outcome, own: impl FnOnce() -> Option<CrashRecord>) -> Option<CrashRecord> {
    const CRASHED: u32 = port::CRASHED as u32;
    match outcome.ended {
        Ended::Guest(Stopped::Ended(CRASHED)) => own(),
        _ => outcome.crash,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_the_monitor_saw_is_not_replaced_by_what_the_guest_wrote_before() {
        let of_guest = CrashRecord { vector: 3, ..CrashRecord::default() };
        let of_monitor = CrashRecord { vector: 14, ..CrashRecord::default() };
        let told = |stopped, crash| {
            let outcome = Outcome { ended: Ended::Guest(stopped), crash, stood: Duration::ZERO };
            record(&outcome, || Some(of_guest))
        };
        let status = u32::from(port::CRASHED);
        assert_eq!(told(Stopped::Ended(status), None), Some(of_guest));
        assert_eq!(told(Stopped::Shutdown, Some(of_monitor)), Some(of_monitor));
        assert_eq!(told(Stopped::Ended(77), None), None, "it is no crash's status");
    }
}
