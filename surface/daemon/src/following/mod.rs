//! Streams of values and events: a thread looks at a rate, and sends what is new. Subscriptions to
//! the same variables share one.
//!
//! A client that reads slowly holds back its own stream alone: while its messages wait, nothing is
//! made for it, and it gets all that has changed meanwhile in one message later.

mod deadband;
pub(crate) mod encoded;
pub(crate) mod events;
pub(crate) mod feeds;
pub(crate) mod variables;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use crate::failure::CallError;
use crate::sites::Sites;

pub(crate) use deadband::Deadband;
pub(crate) use feeds::{Feeds, Subject};

/// The most streams at once.
pub const STREAMS_MAX: usize = 64;
/// The most variables that one call reads or follows; a message of so many fits the 4 MiB that
/// clients take.
pub const FOLLOWED_MAX: usize = 10_000;
/// The shortest interval of a subscription.
pub const INTERVAL_MIN: Duration = Duration::from_millis(1);
/// The longest interval of a subscription.
pub const INTERVAL_MAX: Duration = Duration::from_secs(60);
/// The interval where nothing is said.
const INTERVAL_DEFAULT: Duration = Duration::from_millis(100);

/// Messages that wait for a slow client.
const WAITING_MAX: usize = 4;
/// The longest sleep between two looks for the end of a stream.
const LOOK: Duration = Duration::from_millis(100);

/// Returns the interval of a subscription.
///
/// # Errors
/// [`CallError::Argument`] beyond the limits.
pub(crate) fn interval(asked: Duration) -> Result<Duration, CallError> {
    if asked.is_zero() {
        return Ok(INTERVAL_DEFAULT);
    }
    if (INTERVAL_MIN..=INTERVAL_MAX).contains(&asked) {
        return Ok(asked);
    }
    Err(CallError::Argument(format!(
        "interval_us: {} us; give {} (1 ms) to {} (1 min)",
        asked.as_micros(),
        INTERVAL_MIN.as_micros(),
        INTERVAL_MAX.as_micros()
    )))
}

/// The places of streams.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    places: Arc<Semaphore>,
}

impl Default for Streams {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(STREAMS_MAX)) }
    }
}

impl Streams {
    /// Takes the place of a stream.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` if there are [`STREAMS_MAX`] streams.
    pub(crate) fn begin(&self) -> Result<StreamPlace, Status> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let told = format!("{STREAMS_MAX} streams are open already; end one of them");
            Status::resource_exhausted(told)
        })?;
        Ok(StreamPlace { place })
    }
}

/// The place of a stream, which is free again when the stream has ended.
#[derive(Debug)]
pub(crate) struct StreamPlace {
    place: OwnedSemaphorePermit,
}

/// A stream as a call answers with it.
pub(crate) type Stream<T> = ReceiverStream<Result<T, Status>>;

impl StreamPlace {
    /// Opens the stream; its place is free again when the end that feeds it is dropped.
    pub(crate) fn open<T>(self, sites: &Sites) -> (StreamEnd<T>, Stream<T>) {
        let (sender, receiver) = channel(WAITING_MAX);
        let end = StreamEnd { sender, sites: sites.clone(), _place: self.place };
        (end, ReceiverStream::new(receiver))
    }

    /// Runs `work` on a thread of its own, which feeds the stream that is returned.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` if there is no thread.
    pub(crate) fn follow<T: Send + 'static>(
        self,
        name: &str,
        sites: &Sites,
        work: impl FnOnce(StreamEnd<T>) + Send + 'static,
    ) -> Result<Stream<T>, Status> {
        let (end, stream) = self.open(sites);
        spawn(name, move || work(end))?;
        Ok(stream)
    }
}

/// Runs `work` on a thread of its own, which is called so.
///
/// # Errors
/// `RESOURCE_EXHAUSTED` if the kernel has none left.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Status> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map_err(|error| Status::resource_exhausted(format!("no thread: {error}")))?;
    Ok(())
}

/// The end of a stream that is fed.
#[derive(Debug)]
pub(crate) struct StreamEnd<T> {
    sender: Sender<Result<T, Status>>,
    sites: Sites,
    _place: OwnedSemaphorePermit,
}

impl<T> StreamEnd<T> {
    /// Returns `true` if the client can take a message now.
    pub(crate) fn has_room(&self) -> bool {
        self.sender.capacity() > 0
    }

    /// Sends a message, for which there has to be room. The client may have gone meanwhile.
    pub(crate) fn send(&self, message: T) {
        let _ = self.sender.try_send(Ok(message));
    }

    /// Waits until there is room, and sends; `false` if the stream has ended.
    pub(crate) fn send_all(&self, messages: impl IntoIterator<Item = T>) -> bool {
        messages.into_iter().all(|message| self.sender.blocking_send(Ok(message)).is_ok())
    }

    /// Ends the stream with the reason.
    pub(crate) fn fail(self, reason: impl Into<Status>) {
        let _ = self.sender.blocking_send(Err(reason.into()));
    }

    /// Ends the stream with the reason if there is room for it; `false` if there is none.
    pub(crate) fn try_fail(&self, reason: &Status) -> bool {
        self.sender.try_send(Err(reason.clone())).is_ok()
    }

    /// Returns `true` if the client has gone, or the daemon ends, which the client is told.
    pub(crate) fn has_ended(&self) -> bool {
        if self.sites.is_stopping() {
            let _ = self.sender.try_send(Err(Status::unavailable("the daemon ends")));
        }
        self.sender.is_closed() || self.sites.is_stopping()
    }

    /// Sleeps until `due`; `false` if the stream ends before.
    pub(crate) fn sleep_until(&self, due: Instant) -> bool {
        loop {
            if self.has_ended() {
                return false;
            }
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(LOOK));
        }
    }
}
