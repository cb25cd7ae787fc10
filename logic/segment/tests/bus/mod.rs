//! Drives `ethercrab` against a segment: polls its futures, passes its frames, moves the time.

use ethercrab::{PduRx, PduTx, Timeouts};
use quietcore_segment::{Delivery, Fault, FaultKind, Options, Segment, SubDevice, When};
use quietcore_units::Nanos;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The largest datagram that a frame of the MainDevice carries.
pub(crate) const MAX_FRAME: usize = ethercrab::PduStorage::element_size(1100);
/// Time by which the segment advances with each look at the send queue.
const STEP: Nanos = Nanos::from_micros(20);
/// No test takes as long as this in real time.
const PATIENCE: Duration = Duration::from_secs(120);

/// Gives a test its own storage, split into its three parts.
macro_rules! storage {
    ($tx:ident, $rx:ident, $pdu_loop:ident) => {
        static STORAGE: PduStorage<16, MAX_FRAME> = PduStorage::new();
        let ($tx, $rx, $pdu_loop) = STORAGE.try_split().expect("split once");
    };
}
pub(crate) use storage;

/// A segment with a MainDevice's send and receive queues.
pub(crate) struct Bus {
    tx: PduTx<'static>,
    rx: PduRx<'static>,
    pub(crate) segment: Segment,
    now: Nanos,
}

/// Runs a test with room for the futures of the MainDevice, which hold large buffers.
pub(crate) fn with_room(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(test).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Makes devices by their names.
pub(crate) fn devices(names: &[&str]) -> Vec<SubDevice> {
    names.iter().map(|name| SubDevice::by_name(name).expect("a built-in device")).collect()
}

/// Generous, because they count real time.
pub(crate) fn timeouts() -> Timeouts {
    Timeouts {
        state_transition: PATIENCE,
        pdu: PATIENCE,
        eeprom: PATIENCE,
        wait_loop_delay: Duration::ZERO,
        mailbox_echo: PATIENCE,
        mailbox_response: PATIENCE,
    }
}

impl Bus {
    /// A segment of these devices at time zero.
    pub(crate) fn new(tx: PduTx<'static>, rx: PduRx<'static>, devices: Vec<SubDevice>) -> Self {
        Self { tx, rx, segment: Segment::new(devices, Options::default()), now: Nanos::ZERO }
    }

    /// Gives a clock another error, in parts per billion.
    pub(crate) fn set_drift(&mut self, subdevice: usize, ppb: i32) {
        let kind = FaultKind::ClockDrift { subdevice, ppb };
        self.segment.faults_mut().add(Fault { kind, when: When::Always });
    }

    /// Lets `time` go by.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.now += Nanos::new(time.as_nanos() as u64);
        self.segment.advance(self.now);
    }

    /// Polls a future of the MainDevice until it is done.
    pub(crate) fn drive<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        let start = Instant::now();
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            self.exchange();
            assert!(start.elapsed() < PATIENCE, "the MainDevice does not come to an end");
        }
    }

    /// Passes all frames that wait.
    fn exchange(&mut self) {
        self.now += STEP;
        while let Some(frame) = self.tx.next_sendable_frame() {
            let mut answer = Vec::new();
            frame
                .send_blocking(|bytes| {
                    answer.extend_from_slice(bytes);
                    Ok(bytes.len())
                })
                .expect("a copy cannot fail");
            let length = answer.len();
            let delivery = self.segment.process(&mut answer, self.now);
            assert_eq!(answer.len(), length);
            if delivery == Delivery::Deliver {
                self.rx.receive_frame(&answer).expect("the MainDevice knows its frame");
            }
        }
    }
}
