//! Drives a future of `ethercrab` to its end, without an executor.
//!
//! ```text
//! poll ─► frames that it wants to send ─► wire ─► frames that came ─► guard ─► poll …
//! ```
//!
//! Nobody is woken: after each answer, and after a short wait without one, everything is polled
//! again. That is enough for timers too.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use ethercrab::{PduRx, PduTx};
use quietcore_units::Nanos;
use quietcore_wire::{FRAME_BYTES_MAX, Wire, WireError};

use super::guard::{Guard, Verdict};
use super::time;

/// Time that an answer is waited for before timers are looked at.
const WAIT: Nanos = Nanos::from_micros(200);
/// The pause between two polls when nothing is on its way.
const PAUSE: Nanos = Nanos::from_micros(5);

/// Both ends of `ethercrab` at which frames pass, and the guard.
pub(super) struct Ends<'storage> {
    pub(super) tx: PduTx<'storage>,
    pub(super) rx: PduRx<'storage>,
    pub(super) guard: Guard,
}

/// Why a future was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The wire is of no use.
    Wire(WireError),
    /// It took too long.
    TooLate,
}

/// Polls `future` until it is ready, or until the given instant.
pub(super) fn drive<F: Future>(
    wire: &mut impl Wire,
    ends: &mut Ends<'_>,
    mut future: Pin<&mut F>,
    until: Nanos,
) -> Result<F::Output, Stopped> {
    let mut context = Context::from_waker(Waker::noop());
    let mut received = [0; FRAME_BYTES_MAX];
    let mut under_way = 0_usize;
    loop {
        let now = wire.now();
        time::set(now);
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Ok(output);
        }
        if now > until {
            return Err(Stopped::TooLate);
        }
        under_way += send(wire, ends)?;
        let wait = if under_way > 0 { WAIT } else { PAUSE };
        if let Some(bytes) = wire.receive(&mut received, now + wait).map_err(Stopped::Wire)? {
            under_way = under_way.saturating_sub(1);
            let frame = &received[..bytes];
            if ends.guard.received(frame, wire.now()) == Verdict::Pass {
                // A frame that answers nothing is no error of ours; it is just not taken.
                let _ = ends.rx.receive_frame(frame);
            }
        }
        if let Some(frame) = ends.guard.again(wire.now()) {
            wire.send(frame).map_err(Stopped::Wire)?;
            under_way += 1;
        }
    }
}

/// Sends what `ethercrab` wants to send; returns how many frames.
fn send(wire: &mut impl Wire, ends: &mut Ends<'_>) -> Result<usize, Stopped> {
    let mut count = 0;
    while let Some(frame) = ends.tx.next_sendable_frame() {
        let mut refusal = None;
        let sent = frame.send_blocking(|bytes| match wire.send(bytes) {
            Ok(()) => {
                ends.guard.sent(bytes);
                Ok(bytes.len())
            }
            Err(error) => {
                refusal = Some(error);
                Err(ethercrab::error::Error::SendFrame)
            }
        });
        match (sent, refusal) {
            (Ok(_), _) => count += 1,
            // The frame stays sendable and is tried again at the next poll.
            (Err(_), Some(WireError::Full) | None) => break,
            (Err(_), Some(error)) => return Err(Stopped::Wire(error)),
        }
    }
    Ok(count)
}
