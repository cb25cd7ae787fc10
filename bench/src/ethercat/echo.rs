//! The bare echo: frames through two raw sockets, and nothing done with them.
//!
//! The kernel's own time for a frame out and back is the least that any main device can need. Both
//! ends wait as all sides here do: they ask again and again for 50 µs before they sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use quietcore_units::Nanos;
use quietcore_wire::{FRAME_BYTES_MAX, PacketWire, Wire};

use crate::cores::pin;
use crate::ethercat::network::far_end;
use crate::ethercat::{Side, TIMEOUT};

/// Time after which a far end looks if it shall stop.
const PATIENCE: Nanos = Nanos::from_millis(50);
/// Destination, source and type of the frames.
const HEADER: [u8; 14] = [255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 0x88, 0xA4];

/// A thread at the far end of a pair, which ends with this.
pub(super) struct Far {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl Far {
    /// Starts one on a CPU; `serve` runs until the flag is set.
    pub(super) fn start(
        pair: &str,
        cpu: u32,
        serve: impl FnOnce(PacketWire, &AtomicBool) -> Result<(), String> + Send + 'static,
    ) -> Result<Self, String> {
        let wire = PacketWire::open(&far_end(pair)).map_err(|error| error.to_string())?;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            pin(cpu)?;
            serve(wire, &asked)
        });
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Ok(Err(problem))) = self.thread.take().map(JoinHandle::join) {
            eprintln!("the far end: {problem}");
        }
    }
}

/// The near end of the echo.
pub(super) struct Echo {
    wire: PacketWire,
    frame: Vec<u8>,
    _far: Far,
}

impl Echo {
    /// An echo of frames of so many bytes.
    pub(super) fn new(frame_bytes: usize, cpu: u32) -> Result<Self, String> {
        let far = Far::start("echo", cpu, send_back)?;
        let wire = PacketWire::open("echo").map_err(|error| error.to_string())?;
        let mut frame = vec![0; frame_bytes.max(HEADER.len())];
        frame[..HEADER.len()].copy_from_slice(&HEADER);
        Ok(Self { wire, frame, _far: far })
    }
}

/// Sends back what comes.
fn send_back(mut wire: PacketWire, stop: &AtomicBool) -> Result<(), String> {
    let mut frame = [0; FRAME_BYTES_MAX];
    while !stop.load(Ordering::Relaxed) {
        let until = wire.now() + PATIENCE;
        let received = wire.receive(&mut frame, until).map_err(|error| error.to_string())?;
        if let Some(bytes) = received {
            wire.send(&frame[..bytes]).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

impl Side for Echo {
    fn block(&mut self, cycles: usize) -> Result<Vec<u64>, String> {
        let mut buffer = [0; FRAME_BYTES_MAX];
        let mut trips = Vec::with_capacity(cycles);
        for _ in 0..cycles {
            let begin = self.wire.now();
            self.wire.send(&self.frame).map_err(|error| error.to_string())?;
            let received = self.wire.receive(&mut buffer, begin + TIMEOUT);
            let end = self.wire.now();
            if received.map_err(|error| error.to_string())?.is_some() {
                trips.push((end - begin).get());
            }
        }
        Ok(trips)
    }
}
