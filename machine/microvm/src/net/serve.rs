//! The thread that serves the device.
//!
//! ```text
//! turn ─► moved? ─► turn …
//!   │ nothing, for `spin`
//!   └► have the guest ring ─► look once more ─► sleep: bell, frame of the link, its instant
//! ```
//!
//! A guest that has more and more for it does not keep the thread from sleeping: after so many
//! turns it pauses for as long as they took, so that others of its priority and below get half of
//! its CPU at least.
//!
//! System calls: `ppoll` and `read` where it sleeps, `clock_nanosleep` where it pauses, and those
//! of the link.
// UNSAFETY: the library's event files lend their descriptors as numbers only.
#![expect(unsafe_code, reason = "an event file is waited for by its descriptor's number")]

use std::hint;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use quietcore_boot::places::NET;
use quietcore_units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use vmm_sys_util::eventfd::EventFd;

use super::BELL;
use super::device::{Net, Service, State};
use super::link::Readiness;
use crate::machine::{Machine, MachineError};

const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// Turns with something to do before the thread pauses. A fieldbus takes one or two a cycle.
const TURNS_MAX: u32 = 64;
/// The shortest pause between two looks.
const PAUSE: Nanos = Nanos::from_micros(50);

impl Net {
    /// The bell of a device at its place in this machine, as an event file: then the guest's
    /// processor leaves it for the kernel only. For [`serve`](Self::serve).
    ///
    /// # Errors
    /// [`MachineError`].
    pub fn bell(machine: &Machine) -> Result<EventFd, MachineError> {
        // Any value: KVM knows the bell by its address alone, which is the shortest way there is.
        machine.doorbell(NET + BELL, None)
    }

    /// Serves the device until [`stop`](Self::stop): what a thread of its own does. `bell` is the
    /// guest's, where KVM has it.
    ///
    /// The service is [`Service::Thread`]; for any other this returns at once.
    pub fn serve(&self, bell: Option<&EventFd>) {
        let Service::Thread { spin } = self.service() else { return };
        let mut idle_since = None;
        let mut turns = 0;
        let mut busy_since = None;
        while !self.is_stopping.load(Relaxed) {
            if turns >= TURNS_MAX {
                self.count_pause();
                let busy = self.lock().link.now().saturating_sub(busy_since.unwrap_or_default());
                thread::sleep(Duration::from_nanos(pause(busy).get()));
                (turns, busy_since) = (0, None);
            }
            let mut state = self.lock();
            busy_since.get_or_insert_with(|| state.link.now());
            if self.turn(&mut state) {
                idle_since = None;
                turns += 1;
                continue;
            }
            let now = state.link.now();
            let idle = now.saturating_sub(*idle_since.get_or_insert(now));
            let shall_spin = idle < spin && state.registers.is_live();
            let has_more = self.settle_thread(&mut state, !shall_spin);
            if shall_spin || has_more {
                drop(state);
                // Who lets it spin has given it a CPU.
                (turns, busy_since) = if shall_spin { (0, None) } else { (turns + 1, busy_since) };
                hint::spin_loop();
                continue;
            }
            let sleep = Sleep::of(&state);
            drop(state);
            self.sleep(bell, &sleep);
            (idle_since, busy_since, turns) = (None, None, 0);
        }
    }

    /// Has the thread that serves return.
    pub fn stop(&self) {
        self.is_stopping.store(true, Relaxed);
        self.wake();
    }

    /// Sleeps until there is something to do.
    fn sleep(&self, bell: Option<&EventFd>, sleep: &Sleep) {
        let link = self.link_file.as_ref().filter(|_| sleep.takes_frames);
        // What is not there is waited for at another's place, which changes nothing.
        let wake = as_file(&self.wake);
        let files = [wake, bell.map_or(wake, as_file), link.map_or(wake, |file| file.as_fd())];
        let mut files = files.map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
        let timeout = sleep.left.map(|left| Timespec {
            tv_sec: (left.get() / NANOS_PER_SECOND) as i64,
            tv_nsec: (left.get() % NANOS_PER_SECOND) as i64,
        });
        // A signal is as good a reason to look as any.
        let _ = poll(&mut files, timeout.as_ref());
        let is_rung = bell.is_some_and(|bell| bell.read().is_ok());
        if self.wake.read().is_ok() || is_rung {
            self.count_bell();
        }
    }
}

/// Returns the pause of a thread that was `busy` for so long.
fn pause(busy: Nanos) -> Nanos {
    busy.max(PAUSE)
}

/// The file and the time that are slept for beside bells.
struct Sleep {
    /// Frames of the link's file: the guest can take them.
    takes_frames: bool,
    /// The time until a frame comes by itself.
    left: Option<Nanos>,
}

impl Sleep {
    fn of(state: &State) -> Self {
        let takes_frames = Net::can_receive(state);
        let left = match state.link.readiness() {
            Readiness::At(Some(due)) if takes_frames => Some(due.saturating_sub(state.link.now())),
            _ => None,
        };
        Self { takes_frames, left }
    }
}

fn as_file(event: &EventFd) -> BorrowedFd<'_> {
    // SAFETY: the file is open as long as the borrowed event is there.
    unsafe { BorrowedFd::borrow_raw(event.as_raw_fd()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_rests_as_long_as_it_works_for_a_guest_without_an_end() {
        assert_eq!(pause(Nanos::from_millis(80)), Nanos::from_millis(80));
        assert_eq!(pause(Nanos::from_micros(3)), PAUSE);
    }
}
