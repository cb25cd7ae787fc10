//! The serial line of a PC (a 16550), for guests that expect one: Linux. What is said on it goes to
//! a [`Console`]. While it is silent it costs nothing: it has no thread and no timer.

use std::io;
use std::sync::{Mutex, PoisonError};

use vm_superio::serial::NoEvents;
use vm_superio::{Serial, Trigger};
use vmm_sys_util::eventfd::EventFd;

use super::Device;
use super::console::Console;
use crate::bus::After;

/// The first port of the first serial line of a PC.
pub const PORT: u16 = 0x3F8;
/// Number of its ports.
pub const PORTS: u16 = 8;
/// The pin of the interrupt controller that it raises.
pub const PIN: u32 = 4;

/// A serial line that the guest writes to.
#[derive(Debug)]
pub struct SerialLine {
    /// Taken by the processor's thread, and by who types.
    line: Mutex<Serial<Interrupt, NoEvents, Said>>,
}

#[derive(Debug)]
struct Interrupt(EventFd);

impl Trigger for Interrupt {
    type E = io::Error;

    fn trigger(&self) -> io::Result<()> {
        self.0.write(1)
    }
}

#[derive(Debug)]
struct Said(Console);

impl io::Write for Said {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.say(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SerialLine {
    /// A line with this console, which raises its interrupt by writing to the file.
    pub fn new(console: Console, interrupt: EventFd) -> Self {
        Self { line: Mutex::new(Serial::new(Interrupt(interrupt), Said(console))) }
    }

    /// Types to the guest. Returns how many bytes it has taken: as many as it has room for.
    pub fn type_in(&self, text: &[u8]) -> usize {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let count = text.len().min(line.fifo_capacity());
        line.enqueue_raw_bytes(&text[..count]).unwrap_or(0)
    }
}

impl Device for SerialLine {
    fn write(&self, offset: u64, data: &[u8]) -> After {
        let Ok(offset) = u8::try_from(offset) else { return After::GoOn };
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        for byte in data {
            // A guest that loses an interrupt asks again.
            let _ = line.write(offset, *byte);
        }
        After::GoOn
    }

    fn read(&self, offset: u64, data: &mut [u8]) {
        let Ok(offset) = u8::try_from(offset) else { return };
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        for byte in data {
            *byte = line.read(offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use vmm_sys_util::eventfd::EFD_NONBLOCK;

    use super::*;

    #[test]
    fn what_is_written_is_said_and_what_is_typed_is_read_after_an_interrupt() {
        let (console, mut reader) = Console::new().unwrap();
        let interrupt = EventFd::new(EFD_NONBLOCK).unwrap();
        let line = SerialLine::new(console, interrupt.try_clone().unwrap());
        line.write(0, b"said\n");
        assert_eq!(reader.lines(), ["said"]);
        // Interrupts when something was received.
        line.write(1, &[1]);
        assert_eq!(line.type_in(&[b'k'; 1000]), 64, "as much as there is room for");
        assert!(interrupt.read().is_ok());
        let mut typed = [0; 2];
        line.read(0, &mut typed);
        assert_eq!(&typed, b"kk");
        line.write(300, b"nowhere");
        line.read(300, &mut typed);
    }
}
