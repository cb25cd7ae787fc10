//! Accesses of a guest to its devices, and of a stranger to a ledger, made of any bytes. Used by
//! the tests and by the fuzzer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use quietcore_microvm::bus::{After, Bus};
use quietcore_microvm::devices::console::{Console, LINE_BYTES};
use quietcore_microvm::devices::serial::{PORT, PORTS, SerialLine};
use quietcore_microvm::devices::{Devices, EndPort};
use quietcore_microvm::exits::{LEDGER_BYTES, Ledger, RECENT};
use vmm_sys_util::eventfd::{EFD_NONBLOCK, EventFd};

/// The port by which the guest ends.
const END: u16 = 0x501;
/// A console at addresses; no machine has one there.
const CONSOLE: u64 = 0xD000_1000;

/// Plays any bytes as accesses of a guest, and checks what must hold whatever they are.
///
/// # Panics
/// If it does not hold.
pub(crate) fn access_devices(mut bytes: &[u8]) {
    let (said, mut on_line) = Console::new().expect("a console");
    let (console, mut on_console) = Console::new().expect("a console");
    let interrupt = EventFd::new(EFD_NONBLOCK).expect("an event file");
    let line = SerialLine::new(said, interrupt);
    let devices = Devices::default()
        .at_ports("serial line", PORT, PORTS, Arc::new(line))
        .and_then(|devices| devices.at_ports("end", END, 1, Arc::new(EndPort)))
        .and_then(|devices| devices.at_addresses("console", CONSOLE, 8, Arc::new(console)))
        .expect("they don't overlap");
    while let Some((access, rest)) = Access::of(bytes) {
        bytes = rest;
        let after = access.play(&devices);
        let may_end = access.is_port && access.is_write && access.at as u16 == END;
        assert!(after == After::GoOn || may_end, "{access:x?}");
    }
    for reader in [&mut on_line, &mut on_console] {
        for text in reader.lines().into_iter().chain(reader.rest()) {
            assert!(text.len() <= 3 * LINE_BYTES);
            assert!(text.chars().all(|letter| letter == '\t' || !letter.is_control()));
        }
    }
}

#[derive(Debug)]
struct Access<'a> {
    is_port: bool,
    is_write: bool,
    at: u64,
    data: &'a [u8],
}

impl<'a> Access<'a> {
    /// The next access: a byte of what it is, eight of where or one of how near, one of how long,
    /// and the data.
    fn of(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (kind, rest) = bytes.split_first()?;
        let (is_port, is_write) = (kind & 1 == 0, kind & 2 == 0);
        let (at, rest) = if kind & 4 == 0 {
            let (near, rest) = rest.split_first()?;
            let first = if is_port { u64::from(PORT) - 8 } else { CONSOLE - 8 };
            let at = if kind & 8 == 0 { first } else { END.into() };
            (at + u64::from(near % 32), rest)
        } else {
            let (at, rest) = rest.split_first_chunk()?;
            (u64::from_le_bytes(*at), rest)
        };
        let (length, rest) = rest.split_first()?;
        // An access to an address has eight bytes at most; a string of them to a port, a page.
        let most = if is_port { usize::from(*length) } else { usize::from(*length % 9) };
        let (data, rest) = rest.split_at(most.min(rest.len()));
        Some((Self { is_port, is_write, at, data }, rest))
    }

    fn play(&self, bus: &impl Bus) -> After {
        let port = self.at as u16;
        if self.is_write {
            return match self.is_port {
                true => bus.write_port(port, self.data),
                false => bus.write_address(self.at, self.data),
            };
        }
        let mut answer = vec![0xFF; self.data.len()];
        match self.is_port {
            true => bus.read_port(port, &mut answer),
            false => bus.read_address(self.at, &mut answer),
        }
        After::GoOn
    }
}

/// Reads any bytes as a ledger of exits.
///
/// # Panics
/// If it tells more than a ledger can hold.
pub(crate) fn read_ledger(bytes: &[u8]) {
    let words: Vec<AtomicU64> = (0..LEDGER_BYTES / 8).map(|_| AtomicU64::new(0)).collect();
    // The bytes again and again, behind the word that makes it a ledger.
    words[0].store(u64::from_le_bytes(*b"exits\x00\x00\x01"), Relaxed);
    let chunks = bytes
        .chunks_exact(8)
        .map(|chunk| u64::from_le_bytes(*chunk.first_chunk().expect("it is that long")));
    let mut all = chunks.collect::<Vec<_>>().into_iter().cycle();
    for word in &words[1..] {
        word.store(all.next().unwrap_or(0), Relaxed);
    }
    let ledger = Ledger::of_words(&words).expect("it is signed");
    assert!(ledger.recent().len() <= RECENT);
    let _ = (ledger.total(), ledger.sample(), ledger.hertz(), ledger.ahead(), ledger.recorded());
}
