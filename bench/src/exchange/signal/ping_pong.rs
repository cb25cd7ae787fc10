//! A number goes to the other core and back, again and again.

use std::sync::atomic::{AtomicU64, Ordering};

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::channel::{SignalReader, SignalWriter};
use quietcore_process::channel::ChannelMemory;
use quietcore_units::Nanos;

use crate::cores::{Cores, together};
use crate::exchange::signal::SIGNAL;

/// A link that carries numbers in both directions.
pub(super) trait Link: Sync + Sized {
    /// One end of it; made in the thread that uses it.
    type End<'a>: End
    where
        Self: 'a;

    /// A new one, on which nothing was sent.
    fn new() -> Result<Self, String>;

    /// The end that sends in direction `sends` and receives in the other; 0 or 1.
    fn end(&self, sends: usize) -> Result<Self::End<'_>, String>;
}

/// One end of a link.
pub(super) trait End {
    /// Sends a number to the other end.
    fn send(&mut self, number: u64);

    /// Asks again and again until this number is there.
    fn wait_for(&mut self, number: u64);
}

/// Measures the time of a number from one core to the other, in ns: half of the mean round trip.
pub(super) fn one_way<L: Link>(cores: Cores, trips: u64) -> Result<f64, String> {
    let link = L::new()?;
    let near = |mut end: L::End<'_>| {
        let begin = Monotonic.now();
        for number in 1..=trips {
            end.send(number);
            end.wait_for(number);
        }
        Monotonic.now() - begin
    };
    let far = |mut end: L::End<'_>| {
        for number in 1..=trips {
            end.wait_for(number);
            end.send(number);
        }
    };
    let elapsed = together(cores, || link.end(0), || link.end(1), near, far)?;
    Ok(elapsed.get() as f64 / (2 * trips) as f64)
}

/// A cache line of its own; with the one beside it, which processors fetch along.
#[repr(align(128))]
#[derive(Default)]
struct Padded(AtomicU64);

/// Bare cache lines, one a direction.
#[derive(Default)]
pub(super) struct Line([Padded; 2]);

/// An end of bare cache lines.
pub(super) struct LineEnd<'a> {
    out: &'a AtomicU64,
    back: &'a AtomicU64,
}

impl Link for Line {
    type End<'a> = LineEnd<'a>;

    fn new() -> Result<Self, String> {
        Ok(Self::default())
    }

    fn end(&self, sends: usize) -> Result<LineEnd<'_>, String> {
        Ok(LineEnd { out: &self.0[sends].0, back: &self.0[1 - sends].0 })
    }
}

impl End for LineEnd<'_> {
    fn send(&mut self, number: u64) {
        self.out.store(number, Ordering::Release);
    }

    fn wait_for(&mut self, number: u64) {
        while self.back.load(Ordering::Acquire) != number {}
    }
}

/// Two signals, one a direction.
pub(super) struct Signal(ChannelMemory);

/// An end of two signals.
pub(super) struct SignalEnd<'a> {
    out: SignalWriter<'a>,
    back: SignalReader<'a>,
}

impl Link for Signal {
    type End<'a> = SignalEnd<'a>;

    fn new() -> Result<Self, String> {
        ChannelMemory::create(&[SIGNAL, SIGNAL]).map(Self).map_err(|error| error.to_string())
    }

    fn end(&self, sends: usize) -> Result<SignalEnd<'_>, String> {
        let channel = self.0.channel();
        let out = channel.signal_writer(sends).ok_or("there is no signal")?;
        let back = channel.signal_reader(1 - sends).ok_or("there is no signal")?;
        Ok(SignalEnd { out, back })
    }
}

impl End for SignalEnd<'_> {
    fn send(&mut self, number: u64) {
        self.out.send(Nanos::new(number), number);
    }

    fn wait_for(&mut self, number: u64) {
        // A reading that the sender overtook is one more try.
        while self.back.receive().map(|received| received.value) != Ok(number) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_on_every_link() {
        let cores = Cores { cpu: 0, other_cpu: 0 };
        // Two threads that wait for each other on one CPU: each number costs a time slice.
        assert!(one_way::<Line>(cores, 3).unwrap() > 0.0);
        assert!(one_way::<Signal>(cores, 3).unwrap() > 0.0);
    }
}
