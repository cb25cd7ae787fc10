//! The thread that raises the board's interrupts.
//!
//! ```text
//! sleep to a margin before ─► spin to the instant ─► counter ─► page ─► event file ─► interrupt
//!            ▲                                        └──────────── raised ────────────┘
//!            └ the bell: another order, or the end
//! ```
//!
//! The time from the reading of the counter until KVM has made an interrupt of it is part of every
//! response that is measured: the register begins to count before.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use quietcore_boot::board::UNIT_NS;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use super::schedule::Schedule;
use super::shared::Shared;

/// Time before an interrupt is due at which the thread wakes, to spin from there; less where that
/// would be more than a quarter of the period.
const MARGIN_NS: u64 = 50_000;
/// The part of a period that the margin may take.
const MARGIN_PART: u64 = 4;
/// The stack of the thread, which is small because all of it may be locked.
const STACK_BYTES: usize = 64 << 10;

/// The thread. It ends when this is dropped.
#[derive(Debug)]
pub struct Generator {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Generator {
    /// Starts the thread. `prepare` runs in it first, to pin it and to ask for its policy.
    pub(super) fn start(
        shared: Arc<Shared>,
        prepare: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let own = Arc::clone(&shared);
        let builder = thread::Builder::new().name("clock-board".to_owned()).stack_size(STACK_BYTES);
        let thread = builder.spawn(move || {
            prepare();
            run(&own);
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        self.shared.end();
        if let Some(thread) = self.thread.take() {
            // A panic there was printed there, and nothing here depends on it.
            let _ = thread.join();
        }
    }
}

fn run(shared: &Shared) {
    let mut schedule = Schedule::default();
    let mut number = 0;
    while let Some((order, switchings)) = shared.order() {
        let now_ns = now_ns();
        if schedule.follow(order, switchings, now_ns) {
            // The guest counts from where it switched the board on.
            number = 0;
        }
        let Some(due_ns) = schedule.next_ns() else {
            wait(shared, None);
            continue;
        };
        let margin_ns = MARGIN_NS.min(u64::from(order.period) * UNIT_NS / MARGIN_PART);
        let wake_ns = due_ns.saturating_sub(margin_ns);
        if now_ns < wake_ns {
            wait(shared, Some(wake_ns - now_ns));
            continue;
        }
        while self::now_ns() < due_ns {
            std::hint::spin_loop();
        }
        number += 1;
        shared.raise(number);
        schedule.raised(self::now_ns());
        shared.say_left_out(schedule.left_out());
    }
}

/// Waits until the bell rings, or until so many ns have passed.
fn wait(shared: &Shared, timeout_ns: Option<u64>) {
    let timeout = timeout_ns.map(|ns| Timespec {
        tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (ns % 1_000_000_000) as _,
    });
    let bell = shared.bell();
    let mut files = [PollFd::new(&bell, PollFlags::IN)];
    // A wait that is broken off is another look at what is to be done.
    if poll(&mut files, timeout.as_ref()).is_ok_and(|ready| ready > 0) {
        shared.take_bell();
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}
