//! A wire on which a bring-up ends when the partition is stopped.
//!
//! A bring-up takes as long as SubDevices do, which may be seconds, and whoever runs it can't be
//! interrupted in a guest. So the wire that it uses looks at the exchange each time it is asked for
//! a frame, and is of no use any more once a stop is requested. From the first cycle on it does not
//! look: the scan cycle does.

use quietcore_exchange::Region;
use quietcore_units::Nanos;
use quietcore_wire::{Wire, WireError};

/// The longest that a stop is not looked for.
const LOOK: Nanos = Nanos::from_millis(10);

/// A wire that may be stopped.
pub(crate) struct Stoppable<'map, W> {
    wire: W,
    /// Whose stop ends it; none once the bring-up is over.
    watched: Option<Region<'map>>,
}

impl<'map, W: Wire> Stoppable<'map, W> {
    /// A wire that is of no use once `region` says that the tasks shall end.
    pub(crate) fn new(wire: W, region: Region<'map>) -> Self {
        Self { wire, watched: Some(region) }
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
            let next_look = self.wire.now() + LOOK;
            let received = self.wire.receive(buffer, until.min(next_look))?;
            if received.is_some() || until <= next_look {
                return Ok(received);
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
    use quietcore_exchange::Shape;
    use quietcore_process::exchange::Exchange;
    use quietcore_wire::fake::{FakeWire, Mishap};

    use super::*;

    #[test]
    fn a_wait_ends_with_the_stop_and_only_during_the_bring_up() {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let region = exchange.region();
        let mut wire = Stoppable::new(FakeWire::new(|_: &mut [u8]| ()), region);
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
}
