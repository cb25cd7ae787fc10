//! Subscriptions that share a feed: those to the same variables, at the same rate.
//!
//! ```text
//! site's memory ── a reading ──► Followed ── a message, encoded once ──► each client
//! ```
//!
//! A feed has a thread, which the first of its clients starts and which ends after the last. Each
//! client knows the samples that it has got; one that was slow, or has just come, gets a message of
//! its own.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use prost::Message as _;
use quietcore_api::v1;
use quietcore_api::v1::subscribe_variables_response::Content;
use quietcore_supervisor::monitor::watch::Watch;
use tonic::Status;
use tonic::codegen::Bytes;

use super::variables::Followed;
use super::{Deadband, LOOK, StreamEnd, spawn};
use crate::failure::CallError;

/// The subject of a feed. Clients that ask for the same share it, but for those with a deadband:
/// it is around what each of them was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Subject {
    /// The partition: its site and its own name.
    pub(crate) partition: (String, String),
    /// The partition's exchange when the feed began, and the build in it.
    pub(crate) exchange: (u64, u32),
    /// The variables that are followed.
    pub(crate) patterns: Vec<String>,
    /// Time between two samples.
    pub(crate) interval: Duration,
    /// Difference of a number that is not worth a message.
    pub(crate) deadband: Deadband,
}

/// All feeds of the daemon.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feeds {
    feeds: Arc<Mutex<HashMap<Subject, Arc<Door>>>>,
}

impl Feeds {
    /// Lets a client join the feed of its subject; the first one's `watch` reads for all.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` if there is no thread.
    pub(crate) fn join(
        &self,
        subject: Subject,
        watch: Watch,
        end: StreamEnd<Bytes>,
    ) -> Result<(), Status> {
        let mut client = Client::new(end);
        let mut feeds = lock(&self.feeds);
        if let Some(door) = feeds.get(&subject) {
            match door.enter(client) {
                Ok(()) => return Ok(()),
                Err(back) => client = back,
            }
        }
        let door = Arc::new(Door::with(client));
        if subject.deadband == Deadband::default() {
            feeds.insert(subject.clone(), Arc::clone(&door));
        }
        // A feed that can't start forgets itself.
        drop(feeds);
        let leaving = Leaving { feeds: self.clone(), subject, door };
        let feed = Feed { watch, followed: Followed::default(), clients: Vec::new(), leaving };
        spawn("variables", move || feed.run())
    }

    /// Forgets a feed, unless there is a later one of its subject.
    fn forget(&self, subject: &Subject, door: &Arc<Door>) {
        let mut feeds = lock(&self.feeds);
        if feeds.get(subject).is_some_and(|known| Arc::ptr_eq(known, door)) {
            feeds.remove(subject);
        }
    }
}

/// The door of a feed, at which clients wait for it to look.
#[derive(Debug)]
struct Door {
    /// Clients that have come since the last look; `None` when the feed takes no more.
    waiting: Mutex<Option<Vec<Client>>>,
    has_come: Condvar,
}

impl Door {
    /// Makes the door of a feed for its first client.
    fn with(first: Client) -> Self {
        Self { waiting: Mutex::new(Some(vec![first])), has_come: Condvar::new() }
    }

    /// Lets a client in; gives it back if the feed takes no more.
    fn enter(&self, client: Client) -> Result<(), Client> {
        match lock(&self.waiting).as_mut() {
            None => Err(client),
            Some(waiting) => {
                waiting.push(client);
                self.has_come.notify_one();
                Ok(())
            }
        }
    }

    /// Waits until a client comes, and until `due` at most; returns those that have come.
    fn wait_until(&self, due: Instant) -> Vec<Client> {
        let time = due.saturating_duration_since(Instant::now()).min(LOOK);
        let is_empty = |waiting: &mut Option<Vec<Client>>| waiting.iter().all(Vec::is_empty);
        let waited = self.has_come.wait_timeout_while(lock(&self.waiting), time, is_empty);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        waiting.as_mut().map(mem::take).unwrap_or_default()
    }

    /// Closes the door if nobody waits; returns whether it is closed.
    fn close_if_empty(&self) -> bool {
        let mut waiting = lock(&self.waiting);
        if waiting.as_ref().is_some_and(Vec::is_empty) {
            *waiting = None;
        }
        waiting.is_none()
    }

    /// Closes the door; returns those that still waited.
    fn close(&self) -> Vec<Client> {
        lock(&self.waiting).take().unwrap_or_default()
    }
}

/// Locks what no panic leaves half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes the door of a feed that ends in whatever way, so that the next client begins another.
struct Leaving {
    feeds: Feeds,
    subject: Subject,
    door: Arc<Door>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let ended = Status::internal("the subscription ended by a fault of the daemon");
        for client in self.door.close() {
            client.end.try_fail(&ended);
        }
        self.feeds.forget(&self.subject, &self.door);
    }
}

/// A feed as its thread has it.
struct Feed {
    watch: Watch,
    followed: Followed,
    clients: Vec<Client>,
    leaving: Leaving,
}

impl Feed {
    /// Feeds clients until they, the site or the daemon end it.
    fn run(mut self) {
        let door = Arc::clone(&self.leaving.door);
        let interval = self.leaving.subject.interval;
        let mut due = Instant::now();
        loop {
            let mut come = door.wait_until(due);
            let is_due = due <= Instant::now();
            if let Err(error) = self.look(is_due, &mut come) {
                let all = self.clients.into_iter().chain(come).chain(door.close());
                return fail(all, &error.into());
            }
            if is_due {
                // Dates that have passed are not made up for.
                due = (due + interval).max(Instant::now());
            }
            self.clients.append(&mut come);
            self.clients.retain(|client| !client.end.has_ended());
            if self.clients.is_empty() && door.close_if_empty() {
                return;
            }
        }
    }

    /// Reads and tells, for those who have come, and at its time for all.
    fn look(&mut self, is_due: bool, come: &mut [Client]) -> Result<(), CallError> {
        let told = if is_due { &mut self.clients[..] } else { &mut [] };
        let mut told: Vec<_> = told.iter_mut().chain(come).collect();
        // Nothing is read for those who can't take it.
        if told.iter().any(|client| client.end.has_room()) {
            let sample = self.watch.sample();
            self.watch.rest();
            // Whoever has no values yet is told the present ones.
            let deadband = match told.iter().any(|client| client.since == 0) {
                true => Deadband::default(),
                false => self.leaving.subject.deadband,
            };
            self.followed.take(&sample?, deadband);
        }
        let mut messages = Messages::new(&self.followed);
        told.iter_mut().for_each(|client| client.tell(&mut messages));
        Ok(())
    }
}

/// Ends all streams with the reason, each as soon as it has room for it.
fn fail(clients: impl Iterator<Item = Client>, reason: &Status) {
    let mut left: Vec<Client> = clients.collect();
    loop {
        left.retain(|client| !client.end.has_ended() && !client.end.try_fail(reason));
        if left.is_empty() {
            return;
        }
        thread::sleep(LOOK);
    }
}

/// A client of a feed, and how much of it it has got.
#[derive(Debug)]
struct Client {
    end: StreamEnd<Bytes>,
    /// The list that it has, by the number of its first sample; 0 for none.
    listed_at: u64,
    /// The last sample of that list which it knows; 0 for none.
    since: u64,
    /// Samples that were left out since then.
    left_out: u64,
}

impl Client {
    fn new(end: StreamEnd<Bytes>) -> Self {
        Self { end, listed_at: 0, since: 0, left_out: 0 }
    }

    /// Sends what it does not know yet, as far as there is room.
    fn tell(&mut self, messages: &mut Messages<'_>) {
        if self.end.has_room() && self.listed_at < messages.followed.listed_at() {
            (self.listed_at, self.since) = (messages.followed.listed_at(), 0);
            self.end.send(messages.list());
        }
        // Between two looks a place may have become free; no sample comes before its list.
        if self.listed_at < messages.followed.listed_at() || !self.end.has_room() {
            self.left_out += 1;
        } else if let Some(message) = messages.changes(self.since, self.left_out) {
            (self.since, self.left_out) = (messages.followed.number(), 0);
            self.end.send(message);
        }
    }
}

/// The messages after a reading; clients that know the same get the same, encoded once.
struct Messages<'feed> {
    followed: &'feed Followed,
    list: Option<Bytes>,
    /// The last message, by what its clients know and what they have missed.
    changes: Option<((u64, u64), Option<Bytes>)>,
}

impl<'feed> Messages<'feed> {
    fn new(followed: &'feed Followed) -> Self {
        Self { followed, list: None, changes: None }
    }

    fn list(&mut self) -> Bytes {
        let encode = || encode(Content::Variables(self.followed.list()));
        self.list.get_or_insert_with(encode).clone()
    }

    fn changes(&mut self, since: u64, left_out: u64) -> Option<Bytes> {
        match &self.changes {
            Some((key, message)) if *key == (since, left_out) => message.clone(),
            _ => {
                let found = self.followed.changes(since, left_out);
                let message = found.map(|told| encode(Content::Sample(told)));
                self.changes = Some(((since, left_out), message.clone()));
                message
            }
        }
    }
}

fn encode(content: Content) -> Bytes {
    v1::SubscribeVariablesResponse { content: Some(content) }.encode_to_vec().into()
}

#[cfg(test)]
mod tests;
