//! Logical addressing: reads and writes through the FMMUs.

use crate::esc::Esc;
use crate::esc::fmmu::Fmmu;
use crate::esc::registers::{DIGITAL_OUTPUTS, Span};

/// The most physical bytes that one unit may map in one datagram: what a frame can carry, and one.
const PHYSICAL_BYTES_MAX: usize = 1500;

/// The effect of a logical access in one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// `true` if something was read.
    pub(crate) read: bool,
    /// `true` if something was written.
    pub(crate) written: bool,
}

impl Esc {
    /// Lets a datagram at a logical address pass: first what it brings is written, then what it
    /// shall take along is read, each as far as asked for and mapped.
    #[inline]
    pub(crate) fn logical(
        &mut self,
        address: u32,
        data: &mut [u8],
        reads: bool,
        writes: bool,
        now_ns: u64,
    ) -> Reached {
        let mut reached = Reached::default();
        for index in 0..self.fmmus_in_use {
            let fmmu = self.fmmus[index];
            if fmmu.active && writes && fmmu.writable {
                reached.written |= self.write_mapped(&fmmu, address, data, now_ns);
            }
        }
        for index in 0..self.fmmus_in_use {
            let fmmu = self.fmmus[index];
            if fmmu.active && reads && fmmu.readable {
                reached.read |= self.read_mapped(&fmmu, address, data, now_ns);
            }
        }
        reached
    }

    fn write_mapped(&mut self, fmmu: &Fmmu, address: u32, data: &[u8], now_ns: u64) -> bool {
        let Some(overlap) = fmmu.overlap(address, data.len()) else {
            return false;
        };
        let mapped = &data[overlap.data..overlap.data + overlap.length];
        let (start, length) = fmmu.physical_span(overlap);
        let start = usize::from(fmmu.physical) + start;
        let Ok(physical) = u16::try_from(start) else {
            return false;
        };
        if fmmu.is_bytewise() {
            return self.write(physical, mapped, now_ns);
        }
        // The bits around the mapped ones stay, so the bytes are read, changed and written.
        if start + length > self.memory.len() || length > PHYSICAL_BYTES_MAX {
            return false;
        }
        let mut buffer = [0; PHYSICAL_BYTES_MAX + 1];
        buffer[..length].copy_from_slice(&self.memory[start..start + length]);
        let base = start - usize::from(fmmu.physical);
        for (offset, byte) in mapped.iter().enumerate() {
            let run = fmmu.bits(overlap.offset + offset);
            let at = run.physical_bit / 8 - base;
            let [low, high] = run.scatter(*byte, [buffer[at], buffer[at + 1]]);
            (buffer[at], buffer[at + 1]) = (low, high);
        }
        self.write(physical, &buffer[..length], now_ns)
    }

    fn read_mapped(&mut self, fmmu: &Fmmu, address: u32, data: &mut [u8], now_ns: u64) -> bool {
        let Some(overlap) = fmmu.overlap(address, data.len()) else {
            return false;
        };
        let mapped = &mut data[overlap.data..overlap.data + overlap.length];
        let (start, length) = fmmu.physical_span(overlap);
        let start = usize::from(fmmu.physical) + start;
        let Ok(physical) = u16::try_from(start) else {
            return false;
        };
        if fmmu.is_bytewise() {
            return self.read(physical, mapped, now_ns);
        }
        if length > PHYSICAL_BYTES_MAX {
            return false;
        }
        let mut buffer = [0; PHYSICAL_BYTES_MAX + 1];
        if !self.read(physical, &mut buffer[..length], now_ns) {
            return false;
        }
        let base = start - usize::from(fmmu.physical);
        for (offset, byte) in mapped.iter_mut().enumerate() {
            let run = fmmu.bits(overlap.offset + offset);
            let at = run.physical_bit / 8 - base;
            *byte = (*byte & !run.mask()) | run.gather([buffer[at], buffer[at + 1]]);
        }
        true
    }

    /// A span of the RAM or the digital outputs, for the device itself.
    pub(crate) fn ram(&self, start: u16, length: u16) -> Option<&[u8]> {
        let span = Span::new(start, usize::from(length));
        (span.start >= usize::from(DIGITAL_OUTPUTS))
            .then(|| self.memory.get(span.start..span.end))?
    }

    /// The same, to write.
    pub(crate) fn ram_mut(&mut self, start: u16, length: u16) -> Option<&mut [u8]> {
        let span = Span::new(start, usize::from(length));
        (span.start >= usize::from(DIGITAL_OUTPUTS))
            .then(|| self.memory.get_mut(span.start..span.end))?
    }
}
