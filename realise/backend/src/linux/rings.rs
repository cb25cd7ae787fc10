//! Ports that are rings in shared memory, from either side. Who reads or writes waits in its own
//! way where nothing can be moved.

use std::io::{self, Read, Write};

use quietcore_boot::xen::Ring;
use quietcore_boot::xen::ports::{INDICES_BYTES, Port};
use quietcore_process::in_guest::words::DeviceWords;
use quietcore_process::memory::MemorySource;
use quietcore_units::Causes;

/// The end of a ring that is read. `wait` returns `false` where no more will come.
#[derive(Debug)]
pub(crate) struct Incoming<W> {
    pub(crate) ring: Ring<'static>,
    pub(crate) wait: W,
}

/// The end of a ring that is written. `wait` returns `false` where nobody takes any more.
#[derive(Debug)]
pub(crate) struct Outgoing<C, W> {
    pub(crate) ring: Ring<'static>,
    /// Called when there is something to read.
    pub(crate) call: C,
    pub(crate) wait: W,
}

/// Maps an area of ports, which stays for as long as the process lives. Returns the rings of
/// [`Port::ALL`].
///
/// # Errors
/// When it can't be mapped, or is too small; in words.
pub(crate) fn open(source: &MemorySource) -> Result<[Ring<'static>; 3], String> {
    let words = DeviceWords::open(source);
    let words = words.map_err(|error| format!("the ports: {}", Causes(&error)))?;
    let words: &'static DeviceWords = Box::leak(Box::new(words));
    let (indices, bytes) = words.split(INDICES_BYTES);
    let ring = |port: Port| port.ring(indices, bytes).ok_or("the area of ports is too small");
    Ok([ring(Port::Orders)?, ring(Port::Printed)?, ring(Port::Remarks)?])
}

impl<W: FnMut() -> bool> Read for Incoming<W> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.ring.read(into);
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            if !(self.wait)() {
                // What was written before the end is read, too.
                return Ok(self.ring.read(into));
            }
        }
    }
}

impl<C: Fn(), W: FnMut() -> bool> Write for Outgoing<C, W> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        loop {
            let count = self.ring.write(from);
            if count > 0 || from.is_empty() {
                (self.call)();
                return Ok(count);
            }
            if !(self.wait)() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU8, AtomicU32};

    use super::*;

    fn ring() -> Ring<'static> {
        let bytes: Vec<AtomicU8> = (0..8).map(|_| AtomicU8::new(0)).collect();
        let [read, written] = [0, 0].map(|_| Box::leak(Box::new(AtomicU32::new(0))));
        Ring::new(Box::leak(bytes.into_boxed_slice()), read, written)
    }

    #[test]
    fn what_was_written_before_the_end_is_read() {
        let (ring, calls) = (ring(), Cell::new(0));
        let call = || calls.set(calls.get() + 1);
        let mut output = Outgoing { ring, call, wait: || false };
        output.write_all(b"abc").unwrap();
        assert_eq!(output.write_all(b"defghi").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(calls.get(), 2);
        let mut input = Incoming { ring, wait: || false };
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abcdefgh");
    }

    #[test]
    fn who_finds_nothing_waits_and_looks_again() {
        let ring = ring();
        let mut waited = 0;
        let mut input = Incoming {
            ring,
            wait: || {
                waited += 1;
                if waited == 3 {
                    ring.write(b"at last");
                }
                waited < 5
            },
        };
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), waited), ("at last", 5));
    }
}
