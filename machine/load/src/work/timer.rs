//! Being woken by a short periodic timer.
//!
//! Each expiration is a timer interrupt, a wakeup and a switch to this thread and back. Only
//! expirations that woke the thread are counted: those that came while it was still busy with the
//! last one cost no interrupt.

use std::convert::Infallible;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::board::Beat;
use crate::work::WorkError;

const PERIOD: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000 };
/// A sign of progress every millisecond or so.
const BATCH: u64 = 32;

pub(super) fn run(beat: &mut Beat<'_>) -> Result<Infallible, WorkError> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)
        .map_err(WorkError::refused("make a timer"))?;
    let setting = Itimerspec { it_interval: PERIOD, it_value: PERIOD };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &setting)
        .map_err(WorkError::refused("arm the timer"))?;
    let mut expirations = [0; 8];
    beat.start();
    loop {
        for _ in 0..BATCH {
            rustix::io::retry_on_intr(|| rustix::io::read(&timer, &mut expirations))
                .map_err(WorkError::refused("wait for the timer"))?;
        }
        beat.add(BATCH, 0);
    }
}
