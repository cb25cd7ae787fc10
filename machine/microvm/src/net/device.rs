//! The device: registers, rings and link behind one lock.
//!
//! The lock is held for one access to a register or for the frames of one turn. While the guest
//! works with the device, nobody but whoever serves it wants the lock. Answers that are waited for
//! at the bell are waited for with it: only the guest's processor could want it, and it waits too.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quietcore_units::Nanos;
use vm_memory::GuestMemoryMmap;
use vmm_sys_util::eventfd::{EFD_CLOEXEC, EFD_NONBLOCK, EventFd};

use super::link::{Link, Readiness};
use super::registers::{DriverRequest, RECEIVE, Registers, TRANSMIT};
use super::rings::{self, Broken, Given, HEADER_BYTES, PACKET_BYTES_MAX, Packet, Taken};
use super::{QUEUE_ENTRIES_MAX, REGISTER_BYTES};

/// Frames that are handled in each direction before others get a chance.
const FRAMES_PER_TURN: usize = QUEUE_ENTRIES_MAX as usize;

/// The thread that handles the guest's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// The guest's own processor, when the guest rings: one exit to this process a bell, no other
    /// thread, and the answer is there when the guest goes on. Answers of as many frames as were
    /// sent are waited for so long; a simulated segment needs no time.
    AtBell {
        /// Time for which the guest stands still for them at most.
        wait: Nanos,
    },
    /// A thread of this process ([`Net::serve`]), which KVM wakes: the guest's processor leaves it
    /// for the kernel only.
    Thread {
        /// Time for which it looks again and again before it sleeps. While it looks the guest need
        /// not ring and leaves its processor for nothing; [`Nanos::MAX`] takes a CPU for that.
        spin: Nanos,
    },
}

/// Counts of frames since the device was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that the guest sent and the link took.
    pub sent: u64,
    /// Frames that the link did not take.
    pub refused: u64,
    /// Frames that the guest was given.
    pub received: u64,
    /// Frames that found no buffer long enough.
    pub dropped: u64,
    /// Buffers that the guest wanted to send and that are no frames.
    pub malformed: u64,
    /// Bells that reached this process: by an exit, or as the waking of a thread.
    pub bells: u64,
    /// Times that the guest broke the device.
    pub broken: u64,
    /// Times that the thread that serves paused, because there was no end of what the guest had.
    pub pauses: u64,
}

#[derive(Debug, Default)]
struct Tally {
    sent: AtomicU64,
    refused: AtomicU64,
    received: AtomicU64,
    dropped: AtomicU64,
    malformed: AtomicU64,
    bells: AtomicU64,
    broken: AtomicU64,
    pauses: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// State that the lock guards.
pub(super) struct State {
    pub(super) registers: Registers,
    pub(super) memory: GuestMemoryMmap,
    pub(super) link: Box<dyn Link>,
    packet: Box<Packet>,
    /// Answers that may still come, of the frames that were sent last.
    owed: usize,
    /// The last order to the guest for each queue, to ring or not; `None` if it was told nothing.
    rings: [Option<bool>; 2],
}

impl State {
    /// Has the guest ring when it puts something into a queue, or not. Returns whether the queue
    /// holds something all the same, which it may not have rung for.
    fn have_ring(&mut self, queue: usize, is_wanted: bool) -> Result<bool, Broken> {
        let (ring, memory) = (&mut self.registers.queues[queue], &self.memory);
        // The guest reads that word before each bell: it is written where it changes.
        if self.rings[queue] != Some(is_wanted) {
            self.rings[queue] = Some(is_wanted);
            return rings::want_bell(ring, memory, is_wanted);
        }
        Ok(is_wanted && rings::has_more(ring, memory))
    }
}

/// A network device of a guest.
pub struct Net {
    state: Mutex<State>,
    service: Service,
    /// Wakes the thread that serves, for whichever reason.
    pub(super) wake: EventFd,
    pub(super) is_stopping: AtomicBool,
    /// Readable while the link has a frame; the link's own, once more, to wait without the lock.
    pub(super) link_file: Option<OwnedFd>,
    interrupt: Option<EventFd>,
    tally: Tally,
}

impl Net {
    /// A device of a guest with this memory, at the end of `link`, whose interface has `address`.
    ///
    /// # Errors
    /// There is no event file to be had.
    pub fn new(
        memory: GuestMemoryMmap,
        link: Box<dyn Link>,
        address: [u8; 6],
        service: Service,
    ) -> io::Result<Self> {
        let registers = Registers::new(address);
        let packet = Box::new([0; PACKET_BYTES_MAX]);
        let link_file = match link.readiness() {
            Readiness::File(file) => Some(file.try_clone_to_owned()?),
            Readiness::At(_) => None,
        };
        let state = State { registers, memory, link, packet, owed: 0, rings: [None; 2] };
        Ok(Self {
            state: Mutex::new(state),
            link_file,
            service,
            wake: EventFd::new(EFD_CLOEXEC | EFD_NONBLOCK)?,
            is_stopping: AtomicBool::new(false),
            interrupt: None,
            tally: Tally::default(),
        })
    }

    /// The same device, with an event file that raises its interrupt where the guest wants one.
    #[must_use]
    pub fn with_interrupt(self, interrupt: EventFd) -> Self {
        Self { interrupt: Some(interrupt), ..self }
    }

    /// Returns the thread that handles the guest's frames.
    pub fn service(&self) -> Service {
        self.service
    }

    /// Returns the counts of frames so far.
    pub fn counts(&self) -> Counts {
        let Tally { sent, refused, received, dropped, malformed, bells, broken, pauses } =
            &self.tally;
        Counts {
            sent: sent.load(Relaxed),
            refused: refused.load(Relaxed),
            received: received.load(Relaxed),
            dropped: dropped.load(Relaxed),
            malformed: malformed.load(Relaxed),
            bells: bells.load(Relaxed),
            broken: broken.load(Relaxed),
            pauses: pauses.load(Relaxed),
        }
    }

    /// The guest reads registers, `offset` bytes from the device's place. What is not filled in
    /// reads as it was.
    pub fn read(&self, offset: u64, data: &mut [u8]) {
        if offset < REGISTER_BYTES {
            self.lock().registers.read(offset, data);
        }
    }

    /// The guest writes to one.
    pub fn write(&self, offset: u64, data: &[u8]) {
        let mut state = self.lock();
        let State { registers, memory, .. } = &mut *state;
        let told = registers.write(offset, data, memory);
        if matches!(told, DriverRequest::Begin | DriverRequest::Reset) {
            (state.owed, state.rings) = (0, [None; 2]);
        }
        match (told, self.service) {
            (DriverRequest::Nothing | DriverRequest::Reset, _) => {}
            (DriverRequest::Begin, Service::AtBell { .. }) => self.settle(&mut state),
            (DriverRequest::Bell, Service::AtBell { wait }) => self.answer(&mut state, wait),
            (DriverRequest::Begin | DriverRequest::Bell, Service::Thread { .. }) => {
                drop(state);
                self.wake();
            }
        }
    }

    /// Wakes the thread that serves. It can't fail but for a counter that is full, which wakes too.
    pub(super) fn wake(&self) {
        let _ = self.wake.write(1);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked has left frames in a queue, at worst.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count_bell(&self) {
        count(&self.tally.bells);
    }

    pub(super) fn count_pause(&self) {
        count(&self.tally.pauses);
    }

    /// One turn at the bell: everything that the guest has for the link, and what comes back.
    fn answer(&self, state: &mut State, wait: Nanos) {
        self.count_bell();
        let sent = self.send(state);
        if sent > 0 {
            state.owed = sent;
        }
        let until = if sent > 0 { state.link.now() + wait } else { Nanos::ZERO };
        for _ in 0..FRAMES_PER_TURN {
            let patience = if state.owed > 0 { until } else { Nanos::ZERO };
            if !self.receive(state, patience) {
                break;
            }
        }
        self.settle(state);
    }

    /// Before the guest goes on: has it ring for what it sends, and for answers that nobody else
    /// would bring.
    fn settle(&self, state: &mut State) {
        if !state.registers.is_live() {
            return;
        }
        let is_coming = match state.link.readiness() {
            Readiness::File(_) => state.owed > 0,
            Readiness::At(due) => due.is_some(),
        };
        let has_buffers = rings::has_more(&state.registers.queues[RECEIVE], &state.memory);
        let told = state.have_ring(RECEIVE, is_coming || !has_buffers);
        let told = told.and_then(|_| state.have_ring(TRANSMIT, true));
        self.survive(state, told);
    }

    /// Has the guest ring for the thread that serves, or not: for what it sends, and for buffers
    /// that it has none of. Returns whether there is something to do all the same.
    pub(super) fn settle_thread(&self, state: &mut State, is_wanted: bool) -> bool {
        if !state.registers.is_live() {
            return false;
        }
        let has_buffers = rings::has_more(&state.registers.queues[RECEIVE], &state.memory);
        let told = state.have_ring(RECEIVE, is_wanted && !has_buffers);
        let told = told.and_then(|came| Ok(state.have_ring(TRANSMIT, is_wanted)? || came));
        self.survive(state, told).unwrap_or(false)
    }

    /// Returns `true` if the guest has a buffer for a frame.
    pub(super) fn can_receive(state: &State) -> bool {
        let State { registers, memory, .. } = state;
        registers.is_live() && rings::has_more(&registers.queues[RECEIVE], memory)
    }

    /// Moves frames in both directions, without waiting. Returns whether there were any.
    pub(super) fn turn(&self, state: &mut State) -> bool {
        let mut moved = self.send(state) > 0;
        for _ in 0..FRAMES_PER_TURN {
            if !self.receive(state, Nanos::ZERO) {
                break;
            }
            moved = true;
        }
        moved
    }

    /// Hands what the guest has for the link to it; returns how many frames.
    fn send(&self, state: &mut State) -> usize {
        let mut sent = 0;
        let mut handled = 0;
        while state.registers.is_live() && handled < FRAMES_PER_TURN {
            let State { registers, memory, link, packet, .. } = state;
            let taken = rings::take(&mut registers.queues[TRANSMIT], memory, packet);
            match taken {
                Ok(Taken::Nothing) => break,
                Ok(Taken::Malformed) => count(&self.tally.malformed),
                Ok(Taken::Frame(bytes)) => {
                    let frame = &packet[HEADER_BYTES..HEADER_BYTES + bytes];
                    if link.send(frame).is_ok() {
                        count(&self.tally.sent);
                        sent += 1;
                    } else {
                        count(&self.tally.refused);
                    }
                }
                Err(Broken) => {
                    self.give_up(state);
                    break;
                }
            }
            handled += 1;
        }
        if handled > 0 {
            self.interrupt(state, TRANSMIT);
        }
        sent
    }

    /// Gives the guest the next frame of the link, which is waited for until the instant. Returns
    /// whether there was one. Without a buffer of the guest's it stays where it is.
    fn receive(&self, state: &mut State, until: Nanos) -> bool {
        if !Self::can_receive(state) {
            return false;
        }
        let State { registers, memory, link, packet, owed, .. } = state;
        // A link that is of no use is as silent as a pulled cable.
        let Ok(Some(bytes)) = link.receive(&mut packet[HEADER_BYTES..], until) else {
            return false;
        };
        *owed = owed.saturating_sub(1);
        match rings::give(&mut registers.queues[RECEIVE], memory, packet, bytes) {
            Ok(Given::Done) => {
                count(&self.tally.received);
                self.interrupt(state, RECEIVE);
            }
            Ok(Given::NoBuffer | Given::Dropped) => count(&self.tally.dropped),
            Err(Broken) => self.give_up(state),
        }
        true
    }

    fn interrupt(&self, state: &mut State, queue: usize) {
        let Some(interrupt) = &self.interrupt else { return };
        let State { registers, memory, .. } = state;
        if registers.is_live() && rings::wants_interrupt(&registers.queues[queue], memory) {
            registers.interrupt();
            // It fails where the counter is full: then it is raised already.
            let _ = interrupt.write(1);
        }
    }

    /// Returns the result that the guest's rings allowed; gives the device up if they are
    /// impossible.
    fn survive<T>(&self, state: &mut State, result: Result<T, Broken>) -> Option<T> {
        if result.is_err() {
            self.give_up(state);
        }
        result.ok()
    }

    /// Does nothing any more until the guest resets the device.
    fn give_up(&self, state: &mut State) {
        count(&self.tally.broken);
        state.registers.fail();
    }
}
