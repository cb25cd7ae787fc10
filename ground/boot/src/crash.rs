//! The crash record: the guest's exception, its address and its registers.

use crate::RECORD_BYTES;
use crate::words::{Reader, Writer};

/// "crash", and the version of the layout.
const MAGIC: u64 = u64::from_le_bytes(*b"crash\x00\x00\x01");

/// The general registers, in the order of the record.
pub const REGISTERS: [&str; 15] = [
    "r15", "r14", "r13", "r12", "r11", "r10", "r9", "r8", "rbp", "rdi", "rsi", "rdx", "rcx", "rbx",
    "rax",
];

/// The exception, or panic, that ended a guest, with the registers at that instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrashRecord {
    /// The exception (Intel SDM volume 3, table 6-1); 256 for a panic of the guest's own,
    /// 257 for an interrupt that must not have come.
    pub vector: u64,
    /// The error code that the processor pushed; 0 for exceptions without one.
    pub error_code: u64,
    /// The address of the instruction.
    pub instruction: u64,
    /// The stack pointer (rsp).
    pub stack: u64,
    /// The flags register (rflags).
    pub flags: u64,
    /// The address that a page fault is about.
    pub address: u64,
    /// The general registers, as [`REGISTERS`] names them.
    pub registers: [u64; 15],
}

impl CrashRecord {
    /// The vector of a panic.
    pub const PANIC: u64 = 256;
    /// The vector of an interrupt that came while they were held back, which the processor does not
    /// do and a hypervisor that emulates it may.
    pub const HELD_BACK: u64 = 257;
    /// The vector of the exception that comes with the address that was accessed.
    pub const PAGE_FAULT: u64 = 14;
    /// Of the error code of a page fault: there is a page, which does not allow the access.
    pub const PRESENT: u64 = 1;
    /// Of the same: it was a write.
    pub const WRITE: u64 = 2;

    /// As it is written.
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let mut writer = Writer::new(&mut bytes);
        writer.put(MAGIC);
        let parts =
            [self.vector, self.error_code, self.instruction, self.stack, self.flags, self.address];
        for word in parts.into_iter().chain(self.registers) {
            writer.put(word);
        }
        bytes
    }

    /// Reads it; `None` where there is none of this version.
    pub fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        if reader.take() != MAGIC {
            return None;
        }
        let mut record = Self {
            vector: reader.take(),
            error_code: reader.take(),
            instruction: reader.take(),
            stack: reader.take(),
            flags: reader.take(),
            address: reader.take(),
            ..Self::default()
        };
        for register in &mut record.registers {
            *register = reader.take();
        }
        Some(record)
    }

    /// Names the exception, such as `page fault`.
    pub fn what(&self) -> &'static str {
        match self.vector {
            0 => "division by zero",
            1 => "debug exception",
            2 => "non-maskable interrupt",
            3 => "breakpoint",
            4 => "overflow",
            5 => "bound exceeded",
            6 => "invalid instruction",
            7 => "no floating-point unit",
            8 => "double fault",
            10 => "invalid task state",
            11 => "segment not present",
            12 => "stack fault",
            13 => "general protection fault",
            Self::PAGE_FAULT => "page fault",
            16 => "floating-point error",
            17 => "misaligned access",
            18 => "machine check",
            19 => "floating-point exception",
            20 => "virtualisation exception",
            21 => "control protection exception",
            Self::PANIC => "panic",
            Self::HELD_BACK => "interrupt while it held interrupts back",
            _ => "exception",
        }
    }

    /// Describes the access that caused a page fault; `None` for other exceptions.
    pub fn access(&self) -> Option<&'static str> {
        let how = if self.error_code & Self::WRITE != 0 { "writing to" } else { "reading" };
        (self.vector == Self::PAGE_FAULT).then_some(how)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let mut record = CrashRecord { vector: 14, address: 0xDEAD, ..CrashRecord::default() };
        for (number, register) in (100..).zip(&mut record.registers) {
            *register = number;
        }
        assert_eq!(CrashRecord::from_bytes(&record.to_bytes()), Some(record));
        assert_eq!((record.what(), record.access()), ("page fault", Some("reading")));
        record.error_code = CrashRecord::PRESENT | CrashRecord::WRITE;
        assert_eq!(record.access(), Some("writing to"));
        record.vector = 13;
        assert_eq!(record.access(), None);
        // By these words the lab knows the fault of its emulator.
        record.vector = CrashRecord::HELD_BACK;
        assert!(record.what().ends_with("while it held interrupts back"));
    }

    #[test]
    fn memory_that_is_zero_is_no_record() {
        assert_eq!(CrashRecord::from_bytes(&[0; RECORD_BYTES]), None);
    }
}
