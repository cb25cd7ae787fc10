//! A channel of a running site in an ordinary program of the host.
//!
//! ```text
//! site file: from = "host" ── supervisor ── file with the lock of the end ──► HostChannel
//!                                                                                 │ send
//!                        partition ◄──────────── the channel's memory ◄───────────┘
//! ```
//!
//! Values of every channel may be read, by any number of programs and without cost for those at its
//! ends. To send, and to take messages from a queue, a program has to be the end that the site file
//! gives to programs of the host; the kernel frees it when the program has gone. After the site has
//! come down nothing arrives any more: [`HostChannel::is_up`] tells.

mod opening;

use quietcore_clock::{Clock as _, Monotonic};
pub use quietcore_exchange::channel::{Received, SendError};
use quietcore_exchange::channel::{WaitClock, is_overdue};
use quietcore_process::channel::{ChannelMemoryError, HostEnd, HostEndError};
use quietcore_program::{Value, ValueError};
use quietcore_units::Nanos;
use quietcore_wording::nearest;

use crate::client::{Client, ClientError};
use crate::control::{ChannelOpened, ChannelSignal, ChannelUse, Hello, quoted};
use crate::places::{PlaceError, Places};

pub use opening::SiteChannels;

/// The error of an operation on a channel.
#[derive(Debug, thiserror::Error)]
pub enum HostChannelError {
    /// The site does not answer, or refuses.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The folder of running sites can't be used.
    #[error(transparent)]
    Places(#[from] PlaceError),
    /// The memory can't be used.
    #[error("the memory of channel `{channel}` can't be used")]
    Memory {
        /// Name of the channel.
        channel: String,
        /// The error of mapping it.
        #[source]
        source: ChannelMemoryError,
    },
    /// There is no signal of that name.
    #[error("channel `{channel}` has no signal `{signal}`; {remedy}")]
    NoSignal {
        /// Name of the channel.
        channel: String,
        /// Name that was asked for.
        signal: String,
        /// The nearest name, or all of them.
        remedy: String,
    },
    /// The value doesn't fit the signal.
    #[error("signal `{signal}`")]
    Value {
        /// Name of the signal.
        signal: String,
        /// The error of the value.
        #[source]
        source: ValueError,
    },
    /// The operation is none of this channel or this end of it, or was not done.
    #[error(transparent)]
    End(#[from] HostEndError),
}

/// A channel that this program reads, or is an end of. Dropping it frees the end.
#[derive(Debug)]
pub struct HostChannel {
    opened: ChannelOpened,
    end: HostEnd,
    begun: Nanos,
    places: Places,
    supervisor: u32,
}

impl HostChannel {
    /// Opens a channel of the client's site.
    ///
    /// # Errors
    /// [`HostChannelError`] when the site refuses it or its memory can't be used.
    pub fn open(
        client: &mut Client,
        channel: &str,
        usage: ChannelUse,
    ) -> Result<Self, HostChannelError> {
        let Hello { pid, .. } = client.hello()?;
        let (opened, file) = client.channel(channel, usage)?;
        let end = match (usage, &opened.from) {
            (ChannelUse::Read, _) => HostEnd::read(file),
            (ChannelUse::End, None) => HostEnd::send_on(file),
            (ChannelUse::End, Some(_)) => HostEnd::receive_on(file),
        };
        let channel = || channel.to_owned();
        let end = end.map_err(|source| HostChannelError::Memory { channel: channel(), source })?;
        let places = client.places().clone();
        Ok(Self { opened, end, begun: Monotonic.now(), places, supervisor: pid })
    }

    /// Returns the description of the channel.
    pub fn opened(&self) -> &ChannelOpened {
        &self.opened
    }

    /// Finds a signal by name.
    ///
    /// # Errors
    /// [`HostChannelError::NoSignal`] with the nearest name.
    pub fn signal(&self, name: &str) -> Result<&ChannelSignal, HostChannelError> {
        let signals = &self.opened.signals;
        signals.iter().find(|signal| signal.name == name).ok_or_else(|| {
            let names: Vec<&str> = signals.iter().map(|signal| signal.name.as_str()).collect();
            let remedy = match nearest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", quoted(&names)),
            };
            let channel = self.opened.channel.clone();
            HostChannelError::NoSignal { channel, signal: name.to_owned(), remedy }
        })
    }

    /// Takes the newest values, all of one sending, and clears the update bit.
    ///
    /// # Errors
    /// [`HostChannelError::End`].
    pub fn receive(&mut self) -> Result<Received, HostChannelError> {
        Ok(self.end.receive()?)
    }

    /// Waits until values come that were not received yet, and takes them; `None` if none has come
    /// within `limit`. The sender is not disturbed: see [`WaitClock`].
    ///
    /// # Errors
    /// [`HostChannelError::End`].
    pub fn wait(&mut self, limit: Nanos) -> Result<Option<Received>, HostChannelError> {
        let found = WAIT_CLOCK.look_until(limit, || match self.end.receive() {
            Ok(received) if !received.updated => None,
            // Whoever waits may as well wait until the sender has finished.
            Err(HostEndError::Torn) => None,
            other => Some(other),
        });
        Ok(found.transpose()?)
    }

    /// Returns the age of values that were received, and `true` if that is beyond the timeout of
    /// the channel. Where none was sent yet, both count from the opening.
    pub fn age(&self, received: &Received) -> (Nanos, bool) {
        let timeout = self.opened.timeout().unwrap_or(Nanos::ZERO);
        let sent = if received.count > 0 { received.sent } else { self.begun };
        let age = Monotonic.now().saturating_sub(sent);
        (age, is_overdue(age, timeout))
    }

    /// Returns a value as it was received last.
    ///
    /// # Errors
    /// [`HostChannelError::End`] for a queue, and on the sending end.
    pub fn value(&self, signal: &ChannelSignal) -> Result<Value, HostChannelError> {
        let bits = self.end.value(signal.entry)?;
        Ok(Value::from_number_bits(bits, signal.value_type))
    }

    /// Sets a value as a person writes it; it is sent with the next [`send`](Self::send).
    ///
    /// # Errors
    /// [`HostChannelError`] when there is no such signal, the value doesn't fit it, or this is not
    /// the sending end.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), HostChannelError> {
        let (entry, bits) = self.encoded(name, text)?;
        Ok(self.end.set(entry, bits)?)
    }

    /// Returns the entry of a signal, and the bits of a value that is given as a person writes it.
    fn encoded(&self, name: &str, text: &str) -> Result<(u32, u64), HostChannelError> {
        let signal = self.signal(name)?;
        let value = Value::parse_number(text, signal.value_type)
            .map_err(|source| HostChannelError::Value { signal: name.to_owned(), source })?;
        Ok((signal.entry, value.number_bits(signal.value_type)))
    }

    /// Checks a value as a person writes it, without setting it.
    ///
    /// # Errors
    /// [`HostChannelError`] when there is no such signal or the value doesn't fit it.
    pub fn check_text(&self, name: &str, text: &str) -> Result<(), HostChannelError> {
        self.encoded(name, text).map(|_| ())
    }

    /// Sends all values at once, with the instant now.
    ///
    /// # Errors
    /// [`HostChannelError::End`] where this is not the sending end.
    pub fn send(&mut self) -> Result<(), HostChannelError> {
        Ok(self.end.send(Monotonic.now())?)
    }

    /// Sends a value, as a person writes it, as a message of a queue.
    ///
    /// # Errors
    /// [`HostChannelError`] when there is no such queue, no room in it, the value doesn't fit, or
    /// this is not the sending end.
    pub fn push_text(&mut self, name: &str, text: &str) -> Result<(), HostChannelError> {
        let (entry, bits) = self.encoded(name, text)?;
        let bytes = self.signal(name)?.value_type.bytes();
        Ok(self.end.send_message(entry, Monotonic.now(), &bits.to_le_bytes()[..bytes])?)
    }

    /// Sends bytes as a message of the queue behind an entry, with the instant now.
    ///
    /// # Errors
    /// Those of [`HostEnd::send_message`].
    pub fn push(&mut self, entry: u32, message: &[u8]) -> Result<(), HostEndError> {
        self.end.send_message(entry, Monotonic.now(), message)
    }

    /// Takes the oldest message of a queue; `None` when there is none.
    ///
    /// # Errors
    /// [`HostChannelError::End`] where it is no queue or this is not its receiving end.
    pub fn take(&mut self, signal: &ChannelSignal) -> Result<Option<Value>, HostChannelError> {
        let mut bytes = [0; 8];
        let taken = self.end.receive_message(signal.entry, &mut bytes)?;
        // The message is shorter than the type where its sender says so.
        let value = Value::from_number_bits(u64::from_le_bytes(bytes), signal.value_type);
        Ok(taken.map(|_| value))
    }

    /// Returns the end itself, for programs that know the bytes of their values.
    pub fn end(&mut self) -> &mut HostEnd {
        &mut self.end
    }

    /// Finds out whether the site runs that the channel belongs to.
    ///
    /// # Errors
    /// [`HostChannelError::Places`] when the folder of running sites can't be read.
    pub fn is_up(&self) -> Result<bool, HostChannelError> {
        let running = self.places.running()?;
        Ok(running.iter().any(|site| {
            let pid = site.description.as_ref().map(|described| described.pid);
            site.name == self.opened.site && pid.is_none_or(|pid| pid == self.supervisor)
        }))
    }
}

/// The monotonic clock, by which partitions date what they send.
const WAIT_CLOCK: WaitClock =
    WaitClock { now: || Monotonic.now(), sleep_until: |due| Monotonic.sleep_until(due) };
