//! The channels of a domain: memory of its own for each, and the thread that takes on what is sent.
//!
//! A channel outlives the partitions that it leads to, while granted pages are for one domain, and
//! after a restart the domain is another one. Linux grants no pages that a process has already. So
//! the domain gets pages of its own, in which it finds a channel as everywhere, and a thread of the
//! partition's process takes on what is sent there or in the channel itself
//! ([`Carrier`]). It looks as often as a program that waits for a value does
//! ([`LOOK_EVERY`]): a value is seen so much later, at most ten times that where no task is fast.
//! What a domain overwrites is its own.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread::{self, JoinHandle};

use quietcore_boot::AddressRange;
use quietcore_boot::devices::{DEVICES_MAX, FIRST_CHANNEL};
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::channel::{Carrier, Channel, Entry, LOOK_EVERY, Renewed, channel_bytes};
use quietcore_process::channel::ChannelMemory;
use quietcore_process::memory::DeviceMemory;
use quietcore_scan::channels::compare;
use quietcore_scan::process::job::{ChannelJob, ProgramJob};
use quietcore_units::Nanos;
use quietcore_xen::{DomainId, GrantedArea, Store};

use super::announce;
use crate::guest::{in_words, translate};

/// Looks in a cycle of the fastest task, where [`LOOK_EVERY`] is not more.
const LOOKS_PER_CYCLE: u64 = 20;
/// The longest time between two looks.
const LOOK_MAX: Nanos = Nanos::new(10 * LOOK_EVERY.get());

/// The channels of a job, in its order.
#[derive(Debug)]
pub(super) struct Channels {
    carriers: Vec<Carrier<'static>>,
    /// Addresses in the guest, whole pages each.
    pub(super) places: Vec<AddressRange>,
    every: Nanos,
}

impl Channels {
    /// Gives a domain its own memory for the channels of a job, with what they carry now.
    ///
    /// # Errors
    /// When a channel is none, or there is no memory for it; in words.
    pub(super) fn open(
        job: &ProgramJob,
        store: &mut Store,
        domain: DomainId,
    ) -> Result<Self, String> {
        let most = DEVICES_MAX - FIRST_CHANNEL;
        if job.channels.len() > most {
            return Err(format!(
                "the partition has {} channels, and a domain of Xen has room for {most}; use fewer",
                job.channels.len()
            ));
        }
        let (mut carriers, mut sizes) = (Vec::new(), Vec::new());
        for (number, channel) in (FIRST_CHANNEL..).zip(&job.channels) {
            let opened = open(channel, number, store, domain, &mut carriers);
            sizes.push(opened.map_err(|why| format!("channel `{}`: {why}", channel.name))?);
        }
        let fastest = job.tasks.iter().map(|task| task.release.interval()).min();
        let places = translate::channel_places(sizes);
        Ok(Self { carriers, places, every: look_every(fastest.unwrap_or(Nanos::ZERO)) })
    }

    /// Takes on what is sent from now on, until what is returned is dropped.
    ///
    /// # Errors
    /// When there is no thread for it; in words.
    pub(super) fn start(self) -> Result<Carrying, String> {
        let is_over = Arc::new(AtomicBool::new(false));
        if self.carriers.is_empty() {
            return Ok(Carrying { is_over, thread: None });
        }
        let (mut carriers, every, told) = (self.carriers, self.every, Arc::clone(&is_over));
        let carry = move || loop {
            // What was sent before the end is taken on, too.
            let is_last = told.load(Acquire);
            carry_all(&mut carriers);
            if is_last {
                break;
            }
            Monotonic.sleep_until(Monotonic.now() + every);
        };
        let thread = thread::Builder::new().name("channels".to_owned()).spawn(carry);
        let thread = thread.map_err(|error| format!("no thread can be started: {error}"))?;
        Ok(Carrying { is_over, thread: Some(thread) })
    }
}

/// The thread that takes on what is sent. Dropping it ends it, when all was taken on.
#[derive(Debug)]
pub(super) struct Carrying {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Carrying {
    fn drop(&mut self) {
        self.is_over.store(true, Release);
        if let Some(thread) = self.thread.take() {
            // It can't fail: nothing in it panics.
            let _ = thread.join();
        }
    }
}

/// Gives a domain its own memory for a channel, and returns its size in bytes.
fn open(
    job: &ChannelJob,
    number: usize,
    store: &mut Store,
    domain: DomainId,
    carriers: &mut Vec<Carrier<'static>>,
) -> Result<u64, String> {
    let shared = leak(ChannelMemory::inherited(job.descriptor, None).map_err(in_words)?);
    compare(&shared, &job.entries).map_err(in_words)?;
    let entries: Vec<Entry> = job.entries.iter().copied().map(Entry::from).collect();
    let bytes = channel_bytes(&entries).map_err(in_words)?;
    let area = GrantedArea::create(domain, bytes as u64).map_err(in_words)?;
    let memory = DeviceMemory::first(area.bytes());
    let file = area.file().try_clone().map_err(in_words)?;
    let own = ChannelMemory::create_in_device(&entries, file, memory).map_err(in_words)?;
    let own = leak(own);
    let (both, renewed) = match job.sends {
        true => ([&own, &shared], Renewed::Sender),
        false => ([&shared, &own], Renewed::Receiver),
    };
    let made = (0..entries.len()).filter_map(|it| Carrier::new(both, &entries, it, renewed));
    let first = carriers.len();
    carriers.extend(made);
    carry_all(&mut carriers[first..]);
    announce(store, domain, number, &area).map_err(in_words)?;
    Ok(area.bytes())
}

fn carry_all(carriers: &mut [Carrier<'_>]) {
    for carrier in carriers {
        carrier.carry();
    }
}

/// Keeps a channel's memory as long as the process lives.
fn leak(memory: ChannelMemory) -> Channel<'static> {
    Box::leak(Box::new(memory)).channel()
}

/// Returns the time between two looks, for a fastest task of this interval.
fn look_every(fastest: Nanos) -> Nanos {
    Nanos::new(fastest.get() / LOOKS_PER_CYCLE).clamp(LOOK_EVERY, LOOK_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_task_is_looked_after_often_and_a_slow_one_seldom() {
        let every = |fastest| look_every(fastest);
        assert_eq!(every(Nanos::from_micros(100)), LOOK_EVERY);
        assert_eq!(every(Nanos::from_millis(1)), LOOK_EVERY);
        assert_eq!(every(Nanos::from_millis(5)), Nanos::from_micros(250));
        assert_eq!(every(Nanos::from_millis(100)), LOOK_MAX);
    }

    #[test]
    fn nothing_runs_where_there_are_no_channels() {
        let none = Channels { carriers: Vec::new(), places: Vec::new(), every: LOOK_EVERY };
        assert!(none.start().unwrap().thread.is_none());
    }
}
