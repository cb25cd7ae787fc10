//! A wire on which a bring-up ends when the partition is stopped.
//!
//! A bring-up takes as long as SubDevices do, which may be seconds, and whoever runs it can't be
//! interrupted in a guest. So the wire that it uses looks at the exchange each time it is asked for
//! a frame, and is of no use any more once a stop is requested. From the first cycle on it does not
//! look: the scan cycle does.
//!
//! A guest asks for frames without sleeping. At a real-time priority it would keep its CPU for
//! seconds from all that has less: the soft interrupts that carry its own frames over a virtual
//! interface, timers, RCU. So it is told how to rest, and looks and rests in turns:
//!
//! ```text
//! look for [`SPIN`] ─► rest for [`REST`] ─► look …      an answer that comes at once is not late
//! ```

use quietcore_exchange::Region;
use quietcore_units::Nanos;
use quietcore_wire::{Wire, WireError};

/// The longest that a stop is not looked for.
const LOOK: Nanos = Nanos::from_millis(10);

/// The longest time for which a wire is asked for a frame before a rest.
const SPIN: Nanos = Nanos::from_micros(50);
/// Length of a rest.
const REST: Nanos = Nanos::from_micros(200);

/// Sleeps until an instant, or for a shorter while.
pub type RestUntil = fn(Nanos);

/// A wire that may be stopped.
pub(crate) struct Stoppable<'map, W> {
    wire: W,
    /// Rests the caller; `None` where the wire does that while it is asked.
    rest: Option<RestUntil>,
    /// Whose stop ends it; none once the bring-up is over.
    watched: Option<Region<'map>>,
}

impl<'map, W: Wire> Stoppable<'map, W> {
    /// A wire that is of no use once `region` says that the tasks shall end.
    pub(crate) fn new(wire: W, region: Region<'map>, rest: Option<RestUntil>) -> Self {
        Self { wire, rest, watched: Some(region) }
    }

    /// Does not look any more.
    pub(crate) fn go_on(&mut self) {
        self.watched = None;
    }

    pub(crate) fn inner_mut(&mut self) -> &mut W {
        &mut self.wire
    }

    #[cold]
    fn receive_or_stop(
        &mut self,
        region: Region<'map>,
        buffer: &mut [u8],
        until: Nanos,
    ) -> Result<Option<usize>, WireError> {
        loop {
            if region.stop_requested() {
                return Err(WireError::Down);
            }
            let now = self.wire.now();
            let next_look = now + if self.rest.is_some() { SPIN } else { LOOK };
            let received = self.wire.receive(buffer, until.min(next_look))?;
            if received.is_some() || until <= next_look {
                return Ok(received);
            }
            if let Some(rest) = self.rest {
                rest(until.min(self.wire.now() + REST));
            }
        }
    }
}

impl<W: Wire> Wire for Stoppable<'_, W> {
    #[inline]
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        self.wire.send(frame)
    }

    #[inline]
    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        match self.watched {
            None => self.wire.receive(buffer, until),
            Some(region) => self.receive_or_stop(region, buffer, until),
        }
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.wire.now()
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use quietcore_exchange::Shape;
    use quietcore_process::exchange::Exchange;
    use quietcore_wire::fake::{FakeWire, Mishap};

    use super::*;

    #[test]
    fn a_wait_ends_with_the_stop_and_only_during_the_bring_up() {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let region = exchange.region();
        let mut wire = Stoppable::new(FakeWire::new(|_: &mut [u8]| ()), region, None);
        wire.inner_mut().mishap(0, Mishap::Late(Nanos::from_millis(50)));
        wire.send(&[1; 60]).unwrap();
        let mut buffer = [0; 60];
        let start = wire.now();
        let until = start + Nanos::from_millis(40);
        assert_eq!(wire.receive(&mut buffer, until), Ok(None));
        assert_eq!(wire.now(), until, "looking does not shorten the wait");
        let later = until + Nanos::from_millis(40);
        assert_eq!(wire.receive(&mut buffer, later), Ok(Some(60)));
        region.request_stop();
        assert_eq!(wire.receive(&mut buffer, later), Err(WireError::Down));
        wire.go_on();
        assert_eq!(wire.receive(&mut buffer, later), Ok(None));
    }

    thread_local! {
        static RESTS: Cell<u64> = const { Cell::new(0) };
    }

    /// Goal: who waits for a frame without sleeping leaves its CPU to others again and again, but
    /// not in the cycle, whose waits are short and end when they are to.
    #[test]
    fn a_wire_that_does_not_sleep_is_rested_during_the_bring_up() {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let rest = |_| RESTS.with(|count| count.set(count.get() + 1));
        let wire = FakeWire::new(|_: &mut [u8]| ());
        let mut wire = Stoppable::new(wire, exchange.region(), Some(rest));
        let mut buffer = [0; 60];
        let until = wire.now() + Nanos::from_millis(5);
        assert_eq!(wire.receive(&mut buffer, until), Ok(None));
        assert_eq!(wire.now(), until);
        // No time passes in this rest: it comes after each look but the last.
        assert_eq!(RESTS.get(), 99);
        wire.send(&[1; 60]).unwrap();
        let later = until + Nanos::from_millis(5);
        assert_eq!(wire.receive(&mut buffer, later), Ok(Some(60)), "an answer that comes at once");
        assert_eq!(RESTS.get(), 99);
        wire.go_on();
        assert_eq!(wire.receive(&mut buffer, later), Ok(None));
        assert_eq!(RESTS.get(), 99);
    }
}
