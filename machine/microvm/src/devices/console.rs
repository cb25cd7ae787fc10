//! The console: text that the guest writes.
//!
//! The processor's thread puts bytes into a ring and goes on; whoever reads is told by an event
//! file, and makes lines of them. Where nobody reads, what does not fit is lost, and counted: a
//! guest that talks without end keeps nobody busy but itself.
//!
//! Lines are text for people: what could steer a terminal is taken out.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rtrb::{Consumer, Producer, RingBuffer};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;

use super::Device;
use crate::bus::After;

/// The ring, in bytes.
const RING_BYTES: usize = 16 << 10;

/// The longest line, in bytes; a longer one is broken.
pub const LINE_BYTES: usize = 512;

/// The register (of a serial line of a PC) that says whether a byte may be written.
const LINE_STATUS: u64 = 5;
/// There is room, always.
const NOTHING_TO_SEND: u8 = 0x60;

/// The end of a console that the guest writes to.
#[derive(Debug)]
pub struct Console {
    /// Taken by the processor's thread alone, so that it never waits for it.
    ring: Mutex<Producer<u8>>,
    told: Arc<ConsoleSignal>,
}

/// The end that is read.
#[derive(Debug)]
pub struct ConsoleReader {
    ring: Consumer<u8>,
    told: Arc<ConsoleSignal>,
    line: Vec<u8>,
}

#[derive(Debug)]
struct ConsoleSignal {
    event: OwnedFd,
    lost: AtomicU64,
}

impl Console {
    /// A console, and its reader.
    ///
    /// # Errors
    /// Where no event file can be had.
    pub fn new() -> io::Result<(Self, ConsoleReader)> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let told = Arc::new(ConsoleSignal { event, lost: AtomicU64::new(0) });
        let (producer, consumer) = RingBuffer::new(RING_BYTES);
        let console = Self { ring: Mutex::new(producer), told: told.clone() };
        Ok((console, ConsoleReader { ring: consumer, told, line: Vec::with_capacity(LINE_BYTES) }))
    }

    /// Takes what the guest says. Never waits.
    pub fn say(&self, text: &[u8]) {
        let mut ring: MutexGuard<'_, Producer<u8>> =
            self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let was_empty = ring.slots() == RING_BYTES;
        let (taken, rest) = ring.push_partial_slice(text);
        let is_line = taken.contains(&b'\n');
        if !rest.is_empty() {
            self.told.lost.fetch_add(rest.len() as u64, Relaxed);
        }
        // Who reads need not be woken for each byte.
        if is_line || was_empty || !rest.is_empty() {
            // A counter that is at its end has been written often enough.
            let _ = rustix::io::write(&self.told.event, &1_u64.to_ne_bytes());
        }
    }
}

impl Device for Console {
    fn write(&self, offset: u64, data: &[u8]) -> After {
        if offset == 0 {
            self.say(data);
        }
        After::GoOn
    }

    fn read(&self, offset: u64, data: &mut [u8]) {
        if offset == LINE_STATUS {
            data.fill(NOTHING_TO_SEND);
        }
    }
}

impl ConsoleReader {
    /// The lines that have been said since, without their ends. Never waits.
    pub fn lines(&mut self) -> Vec<String> {
        let mut count = [0; 8];
        // Nothing may be there to be read.
        let _ = rustix::io::read(&self.told.event, &mut count);
        let mut lines = Vec::new();
        // As much as the ring holds: a guest that goes on is heard the next time.
        for _ in 0..RING_BYTES {
            let Ok(byte) = self.ring.pop() else { break };
            if byte != b'\n' {
                self.line.push(byte);
            }
            if byte == b'\n' || self.line.len() == LINE_BYTES {
                lines.push(self.take_line());
            }
        }
        lines
    }

    /// The begin of a line whose end was never said.
    pub fn rest(&mut self) -> Option<String> {
        (!self.line.is_empty()).then(|| self.take_line())
    }

    /// Counts the bytes that were lost because nobody read.
    pub fn lost(&self) -> u64 {
        self.told.lost.load(Relaxed)
    }

    fn take_line(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.line);
        let line = text.chars().filter(|letter| !letter.is_control() || *letter == '\t').collect();
        self.line.clear();
        line
    }
}

impl AsFd for ConsoleReader {
    /// A file that is readable when there may be something to be read.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.told.event.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_said_is_heard_line_by_line() {
        let (console, mut reader) = Console::new().unwrap();
        console.write(0, b"one\ntw");
        assert_eq!(reader.lines(), ["one"]);
        console.write(0, b"o\n\nthree");
        console.write(3, b"no register of a console");
        assert_eq!(reader.lines(), ["two", ""]);
        assert_eq!(reader.lines(), Vec::<String>::new());
        assert_eq!(reader.rest().as_deref(), Some("three"));
        assert_eq!((reader.rest(), reader.lost()), (None, 0));
    }

    #[test]
    fn what_nobody_reads_is_counted_as_lost() {
        let (console, mut reader) = Console::new().unwrap();
        console.say(&[b'x'; RING_BYTES + 10]);
        console.say(b"more");
        assert_eq!(reader.lost(), 14);
        let lines = reader.lines();
        assert_eq!(lines.len(), RING_BYTES / LINE_BYTES);
        assert!(lines.iter().all(|line| line.len() == LINE_BYTES));
    }

    #[test]
    fn no_terminal_is_steered() {
        let (console, mut reader) = Console::new().unwrap();
        console.say(b"\x1b[2Jred\x07\tcell\r\n");
        assert_eq!(reader.lines(), ["[2Jred\tcell"]);
    }

    #[test]
    fn there_is_always_room_to_write() {
        let (console, _reader) = Console::new().unwrap();
        let mut status = [0xFF];
        console.read(5, &mut status);
        assert_eq!(status[0] & 0x20, 0x20);
    }

    proptest! {
        #[test]
        fn whatever_is_said_becomes_lines(said in vec(vec(any::<u8>(), 0..600), 0..60)) {
            let (console, mut reader) = Console::new().unwrap();
            let mut heard = 0;
            for text in &said {
                console.say(text);
                for line in reader.lines() {
                    // A byte that is no text becomes one sign of three.
                    prop_assert!(line.len() <= 3 * LINE_BYTES && !line.contains('\n'));
                    heard += 1;
                }
            }
            let ends = said.iter().flatten().filter(|byte| **byte == b'\n').count();
            prop_assert!(heard >= ends && reader.lost() == 0);
        }
    }
}
