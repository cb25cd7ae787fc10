//! The table of a partition's signals: what its program calls, by number.

use quietcore_units::Nanos;

use crate::channel::{
    Freshness, GROUP_MEMBERS_MAX, ReceiveError, Received, SendError, Timeouts, WaitClock,
};
use crate::com::ComStatus;
use crate::com::entry::{ComGroup, ComSignal, Direction, OnTimeout, SignalKind};
use crate::primitive::words::mask_of;
use crate::sync::{Acquire, AtomicU64, Relaxed};

/// The state of a received signal or group, beside its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SignalState {
    /// Time since it was sent, or since the start where it never was, in ns.
    pub age_ns: u64,
    /// Values sent so far; zero if there was none.
    pub count: u64,
    /// 1 when there is a value that was not received yet, else 0: the update bit.
    pub updated: u8,
    /// 1 when it has been out for longer than its timeout allows, else 0.
    pub overdue: u8,
    /// Always written as zero.
    pub reserved: [u8; 6],
}

/// Functions called around each use of a queue: a program that is ended in between would keep the
/// queue for ever. Neither function may panic.
#[derive(Clone, Copy, Debug)]
pub struct Shelter {
    /// Called before: from here on the program must not be ended.
    pub enter: fn(),
    /// Called after: from here on the program may be ended.
    pub leave: fn(),
}

impl Shelter {
    /// For programs that nobody ends.
    pub const NONE: Self = Self { enter: || {}, leave: || {} };

    /// Does something from whose middle the program is not ended.
    #[inline]
    pub fn hold<R>(self, work: impl FnOnce() -> R) -> R {
        (self.enter)();
        let result = work();
        (self.leave)();
        result
    }
}

/// The signals and groups of a partition, by number.
#[derive(Debug)]
pub struct ComTable<'map> {
    signals: &'map [ComSignal<'map>],
    groups: &'map [ComGroup<'map>],
    now_ns: AtomicU64,
    started_ns: AtomicU64,
    shelter: Shelter,
    wait_clock: Option<WaitClock>,
}

impl<'map> ComTable<'map> {
    /// A table; numbers are places in the slices. First timeouts count from `started`.
    pub fn new(
        signals: &'map [ComSignal<'map>],
        groups: &'map [ComGroup<'map>],
        started: Nanos,
    ) -> Self {
        let started_ns = AtomicU64::new(started.get());
        let now_ns = AtomicU64::new(started.get());
        Self { signals, groups, now_ns, started_ns, shelter: Shelter::NONE, wait_clock: None }
    }

    /// The table of programs that may be ended from outside, but not in `shelter`.
    #[must_use]
    pub fn with_shelter(self, shelter: Shelter) -> Self {
        Self { shelter, ..self }
    }

    /// The table of programs that may wait for values; in all others a wait is refused.
    #[must_use]
    pub fn with_wait_clock(self, wait_clock: Option<WaitClock>) -> Self {
        Self { wait_clock, ..self }
    }

    /// Lets first timeouts count from `started`: the first release, where that was not known yet
    /// when the table was made.
    pub fn begin(&self, started: Nanos) {
        self.started_ns.store(started.get(), Relaxed);
        self.begin_cycle(started);
    }

    /// Says what time it is. What a cycle sends carries this instant, and ages count up to it.
    #[inline]
    pub fn begin_cycle(&self, now: Nanos) {
        self.now_ns.store(now.get(), Relaxed);
    }

    #[inline]
    pub(super) fn now(&self) -> Nanos {
        Nanos::new(self.now_ns.load(Relaxed))
    }

    #[inline]
    fn started(&self) -> Nanos {
        Nanos::new(self.started_ns.load(Relaxed))
    }

    #[inline]
    fn signal(&self, signal: u16) -> &SignalKind<'map> {
        self.signals.get(usize::from(signal)).map_or(&SignalKind::Unused, |signal| &signal.kind)
    }

    fn group(&self, group: u16, direction: Direction) -> Option<&ComGroup<'map>> {
        self.groups.get(usize::from(group)).filter(|group| group.direction == direction)
    }

    /// Bytes of a signal's value: 1, 2, 4 or 8; `None` where the number stands for no value.
    #[inline]
    pub fn value_bytes(&self, signal: u16) -> Option<u8> {
        match self.signal(signal) {
            SignalKind::Send { bytes, .. }
            | SignalKind::Receive { bytes, .. }
            | SignalKind::Member { bytes, .. } => Some(*bytes),
            SignalKind::Unused | SignalKind::SendQueue(_) | SignalKind::ReceiveQueue { .. } => None,
        }
    }

    /// Sends a value, given in the low bytes. A member's goes into the shadow buffer of its group.
    #[inline]
    pub fn send_signal(&self, signal: u16, value: u64) -> ComStatus {
        match self.signal(signal) {
            SignalKind::Send { cell, bytes, count } => {
                // One task sends a signal, so a load and a store count correctly.
                let number = count.load(Relaxed).wrapping_add(1);
                count.store(number, Relaxed);
                cell.write(number, [value & mask_of(usize::from(*bytes)), self.now().get()]);
                ComStatus::Ok
            }
            SignalKind::Member { group, member, bytes } => {
                let group = self.group(*group, Direction::Send);
                match group.and_then(|group| group.shadow.get(usize::from(*member))) {
                    Some(place) => {
                        place.store(value & mask_of(usize::from(*bytes)), Relaxed);
                        ComStatus::Ok
                    }
                    None => ComStatus::NotOk,
                }
            }
            _ => ComStatus::NotOk,
        }
    }

    /// Receives a value into the low bytes of `value` and clears the update bit. A member's comes
    /// from the shadow buffer of its group.
    #[inline]
    pub fn receive_signal(&self, signal: u16, value: &mut u64) -> ComStatus {
        match self.signal(signal) {
            SignalKind::Receive { cell, initial, timeouts, on_timeout, seen, last, .. } => {
                let mut words = [0; 2];
                let Ok(count) = cell.read(&mut words) else {
                    *value = last.load(Relaxed);
                    return ComStatus::Busy;
                };
                seen.store(count, Relaxed);
                last.store(words[0], Relaxed);
                let received =
                    Received { value: words[0], count, sent: Nanos::new(words[1]), updated: false };
                let freshness = received.freshness(self.now(), self.started(), timeouts);
                let overdue = matches!(freshness, Freshness::Overdue(_));
                let replace = overdue && *on_timeout == OnTimeout::Replace;
                *value = if replace { *initial } else { words[0] };
                if overdue { ComStatus::Timeout } else { ComStatus::Ok }
            }
            SignalKind::Member { group, member, .. } => {
                let group = self.group(*group, Direction::Receive);
                match group.and_then(|group| group.shadow.get(usize::from(*member))) {
                    Some(place) => {
                        *value = place.load(Relaxed);
                        ComStatus::Ok
                    }
                    None => ComStatus::NotOk,
                }
            }
            _ => ComStatus::NotOk,
        }
    }

    /// Sends all members of a group at once, as they are in the shadow buffer.
    pub fn send_group(&self, group: u16) -> ComStatus {
        let Some(group) = self.group(group, Direction::Send) else {
            return ComStatus::NotOk;
        };
        let number = group.count.load(Relaxed).wrapping_add(1);
        group.count.store(number, Relaxed);
        let values = group.shadow[..group.members].iter().map(|value| value.load(Relaxed));
        group.cell.write(number, core::iter::once(self.now().get()).chain(values));
        ComStatus::Ok
    }

    /// Receives all members of a group at once into the shadow buffer, and clears the update bit.
    pub fn receive_group(&self, group: u16) -> ComStatus {
        let Some(group) = self.group(group, Direction::Receive) else {
            return ComStatus::NotOk;
        };
        let mut record = [0; 1 + GROUP_MEMBERS_MAX];
        let Ok(count) = group.cell.read(&mut record) else {
            return ComStatus::Busy;
        };
        group.count.store(count, Relaxed);
        let [sent, values @ ..] = record;
        let received = Received { value: 0, count, sent: Nanos::new(sent), updated: false };
        let freshness = received.freshness(self.now(), self.started(), &group.timeouts);
        let overdue = matches!(freshness, Freshness::Overdue(_));
        let replace = overdue && group.on_timeout == OnTimeout::Replace;
        let values = if replace { &group.initial } else { &values };
        for (place, value) in group.shadow[..group.members].iter().zip(values) {
            place.store(*value, Relaxed);
        }
        if overdue { ComStatus::Timeout } else { ComStatus::Ok }
    }

    /// Waits until a group is sent that was not received yet, and receives it. Returns `NothingNew`
    /// if none was within `limit`, and `NotOk` where the program may not wait.
    pub fn wait_group(&self, group: u16, limit: Nanos) -> ComStatus {
        let receiver = self.group(group, Direction::Receive);
        let (Some(clock), Some(receiver)) = (self.wait_clock, receiver) else {
            return ComStatus::NotOk;
        };
        let is_new = || receiver.cell.number() != receiver.count.load(Relaxed);
        match clock.look_until(limit, || is_new().then_some(())) {
            Some(()) => self.receive_group(group),
            None => ComStatus::NothingNew,
        }
    }

    /// Waits until a signal is sent that was not received yet, and receives it into the low bytes
    /// of `value`; for a member, until its group is, all of which is received then. Returns
    /// `NothingNew` with the last value if none was within `limit`, and `NotOk` where the program
    /// may not wait.
    pub fn wait_signal(&self, signal: u16, limit: Nanos, value: &mut u64) -> ComStatus {
        let waited = match (self.signal(signal), self.wait_clock) {
            (SignalKind::Receive { cell, seen, .. }, Some(clock)) => {
                let is_new = || cell.number() != seen.load(Relaxed);
                match clock.look_until(limit, || is_new().then_some(())) {
                    Some(()) => ComStatus::Ok,
                    None => ComStatus::NothingNew,
                }
            }
            (SignalKind::Member { group, .. }, _) => self.wait_group(*group, limit),
            _ => ComStatus::NotOk,
        };
        if waited == ComStatus::NotOk {
            return waited;
        }
        let received = self.receive_signal(signal, value);
        if waited == ComStatus::Ok { received } else { waited }
    }

    /// Fills in the state of a received signal. Does not clear the update bit.
    pub fn signal_state(&self, signal: u16, state: &mut SignalState) -> ComStatus {
        match self.signal(signal) {
            SignalKind::Receive { cell, timeouts, seen, .. } => {
                let mut words = [0; 2];
                let Ok(count) = cell.read(&mut words) else {
                    return ComStatus::Busy;
                };
                let [value, sent] = words;
                let updated = count != seen.load(Relaxed);
                let received = Received { value, count, sent: Nanos::new(sent), updated };
                *state = self.state_of(&received, timeouts);
                ComStatus::Ok
            }
            _ => ComStatus::NotOk,
        }
    }

    /// Fills in the state of a received group. Does not clear the update bit.
    pub fn group_state(&self, group: u16, state: &mut SignalState) -> ComStatus {
        let Some(group) = self.group(group, Direction::Receive) else {
            return ComStatus::NotOk;
        };
        let mut sent = [0; 1];
        let Ok(count) = group.cell.read(&mut sent) else {
            return ComStatus::Busy;
        };
        let updated = count != group.count.load(Relaxed);
        let received = Received { value: 0, count, sent: Nanos::new(sent[0]), updated };
        *state = self.state_of(&received, &group.timeouts);
        ComStatus::Ok
    }

    /// Returns how often a received signal was sent so far; of a queue the number of its messages,
    /// of a member the count of its group. It changes with each sending, and clears nothing. Zero
    /// for all else.
    #[inline]
    pub fn signal_count(&self, signal: u16) -> u64 {
        match self.signal(signal) {
            SignalKind::Receive { cell, .. } => cell.number(),
            SignalKind::Member { group, .. } => self.group_count(*group),
            SignalKind::ReceiveQueue { sent, .. } => sent.load(Acquire),
            SignalKind::Unused | SignalKind::Send { .. } | SignalKind::SendQueue(_) => 0,
        }
    }

    /// Returns how often a received group was sent so far, as [`Self::signal_count`] does.
    #[inline]
    pub fn group_count(&self, group: u16) -> u64 {
        self.group(group, Direction::Receive).map_or(0, |group| group.cell.number())
    }

    fn state_of(&self, received: &Received, timeouts: &Timeouts) -> SignalState {
        let now = self.now();
        let since = if received.count > 0 { received.sent } else { self.started() };
        let freshness = received.freshness(now, self.started(), timeouts);
        SignalState {
            age_ns: now.saturating_sub(since).get(),
            count: received.count,
            updated: received.updated.into(),
            overdue: matches!(freshness, Freshness::Overdue(_)).into(),
            reserved: [0; 6],
        }
    }

    /// Sends a message; returns a status other than `Ok` if the queue is full or in use, the
    /// message too long, or the signal no queue to send.
    pub fn send_message(&self, signal: u16, message: &[u8]) -> ComStatus {
        let SignalKind::SendQueue(claim) = self.signal(signal) else {
            return ComStatus::NotOk;
        };
        match self.shelter.hold(|| claim.with(|sender| sender.send(self.now(), message))) {
            Some(Ok(())) => ComStatus::Ok,
            Some(Err(SendError::Full)) => ComStatus::QueueFull,
            Some(Err(SendError::TooLong { .. })) => ComStatus::NotOk,
            None => ComStatus::Busy,
        }
    }

    /// Receives the oldest message; `bytes` becomes its length, also where the buffer is too small.
    pub fn receive_message(&self, signal: u16, buffer: &mut [u8], bytes: &mut usize) -> ComStatus {
        let SignalKind::ReceiveQueue { receiver: claim, .. } = self.signal(signal) else {
            return ComStatus::NotOk;
        };
        match self.shelter.hold(|| claim.with(|receiver| receiver.receive(buffer))) {
            Some(Ok(Some(message))) => {
                *bytes = message.bytes;
                ComStatus::Ok
            }
            Some(Ok(None)) => {
                *bytes = 0;
                ComStatus::QueueEmpty
            }
            Some(Err(ReceiveError { needed, .. })) => {
                *bytes = needed;
                ComStatus::BufferTooSmall
            }
            None => ComStatus::Busy,
        }
    }
}
