//! The registers of an EtherCAT SubDevice controller (ESC), by address (ETG.1000.4, 6).
//!
//! | address | bytes | what | MainDevice |
//! |---|--:|---|---|
//! | `0x0000` | 10 | type, revision, build, FMMU and SyncManager counts, RAM, ports, features | reads |
//! | `0x0010` `0x0012` | 2, 2 | station address; alias | writes; reads |
//! | `0x0040` | 1 | reset, by writing `R`, `E`, `S` | writes |
//! | `0x0100` `0x0110` | 4, 2 | DL control (loops, alias on); DL status (links, loops) | writes; reads |
//! | `0x0120` `0x0130` `0x0134` | 2 each | AL control; AL status; AL status code | writes; reads |
//! | `0x0140` `0x0150` | 2, 4 | PDI control and configuration, from SII words 0 to 3 | reads |
//! | `0x0200` `0x0210` | 2, 2 | event mask; events | writes; reads |
//! | `0x0300` | 20 | error counters; writing clears | both |
//! | `0x0400` `0x0410` `0x0420` | 2 each | watchdog divider, PDI time, process data time | writes |
//! | `0x0440` `0x0442` | 2, 2 | watchdog status; expiry counters, writing clears | both |
//! | `0x0500` | 16 | SII: owner, control and status, address, data | both |
//! | `0x0600` + 16 n | 16 | FMMU n | writes |
//! | `0x0800` + 8 n | 8 | SyncManager n; status and PDI part are read only | both |
//! | `0x0900` | 16 | receive times of the ports; writing latches | both |
//! | `0x0910` – `0x0935` | | clock: system time, offset, delay, difference, control loop | both |
//! | `0x0980` – `0x09CF` | | SYNC and latch unit | both |
//! | `0x0F00` | 4 | digital outputs | both |
//! | `0x0F80` | 128 | user RAM | both |
//! | `0x1000` | | process data RAM | both |
//!
//! Features that a device lacks are not there at all: an access that touches none of its registers
//! is not counted, so a broadcast to FMMU 3 counts the devices with four FMMUs and more. Nor is a
//! write counted that touches read-only registers alone. Both as observed on real devices.

pub(crate) const TYPE: u16 = 0x0000;
pub(crate) const STATION_ADDRESS: u16 = 0x0010;
pub(crate) const STATION_ALIAS: u16 = 0x0012;
pub(crate) const RESET: u16 = 0x0040;
pub(crate) const DL_CONTROL: u16 = 0x0100;
pub(crate) const DL_STATUS: u16 = 0x0110;
pub(crate) const AL_CONTROL: u16 = 0x0120;
pub(crate) const AL_STATUS: u16 = 0x0130;
pub(crate) const AL_STATUS_CODE: u16 = 0x0134;
pub(crate) const PDI_CONTROL: u16 = 0x0140;
pub(crate) const PDI_CONFIGURATION: u16 = 0x0150;
pub(crate) const EVENT_MASK: u16 = 0x0200;
pub(crate) const EVENTS: u16 = 0x0210;
pub(crate) const RX_ERRORS: u16 = 0x0300;
pub(crate) const FORWARDED_ERRORS: u16 = 0x0308;
pub(crate) const LOST_LINKS: u16 = 0x0310;
pub(crate) const WATCHDOG_DIVIDER: u16 = 0x0400;
pub(crate) const WATCHDOG_TIME_PDI: u16 = 0x0410;
pub(crate) const WATCHDOG_TIME: u16 = 0x0420;
pub(crate) const WATCHDOG_STATUS: u16 = 0x0440;
pub(crate) const WATCHDOG_COUNTERS: u16 = 0x0442;
pub(crate) const SII: u16 = 0x0500;
pub(crate) const SII_CONTROL: u16 = 0x0502;
pub(crate) const SII_ADDRESS: u16 = 0x0504;
pub(crate) const SII_DATA: u16 = 0x0508;
pub(crate) const SII_END: u16 = 0x0510;
pub(crate) const FMMUS: u16 = 0x0600;
pub(crate) const FMMU_BYTES: u16 = 16;
pub(crate) const SYNC_MANAGERS: u16 = 0x0800;
pub(crate) const SYNC_MANAGER_BYTES: u16 = 8;
/// Offset of the status in a SyncManager's registers.
pub(crate) const SYNC_MANAGER_STATUS: u16 = 5;
/// Offset of the PDI control in a SyncManager's registers.
pub(crate) const SYNC_MANAGER_PDI: u16 = 7;
pub(crate) const RECEIVE_TIMES: u16 = 0x0900;
pub(crate) const SYSTEM_TIME: u16 = 0x0910;
pub(crate) const RECEIVE_TIME_UNIT: u16 = 0x0918;
pub(crate) const SYSTEM_TIME_OFFSET: u16 = 0x0920;
pub(crate) const SYSTEM_TIME_DELAY: u16 = 0x0928;
pub(crate) const SYSTEM_TIME_DIFFERENCE: u16 = 0x092C;
pub(crate) const SPEED_COUNTER_START: u16 = 0x0930;
pub(crate) const SPEED_COUNTER_DIFFERENCE: u16 = 0x0932;
pub(crate) const DIFFERENCE_FILTER: u16 = 0x0934;
pub(crate) const CYCLIC_UNIT: u16 = 0x0980;
pub(crate) const SYNC_ACTIVATION: u16 = 0x0981;
pub(crate) const SYNC_PULSE: u16 = 0x0982;
pub(crate) const SYNC0_STATUS: u16 = 0x098E;
pub(crate) const SYNC_START_TIME: u16 = 0x0990;
pub(crate) const SYNC1_NEXT: u16 = 0x0998;
pub(crate) const SYNC0_CYCLE: u16 = 0x09A0;
pub(crate) const LATCH_CONTROL: u16 = 0x09A8;
pub(crate) const LATCH_STATUS: u16 = 0x09AE;
pub(crate) const LATCH_END: u16 = 0x09D0;
/// Pins of controllers with digital outputs; a SyncManager may guard them like RAM.
pub(crate) const DIGITAL_OUTPUTS: u16 = 0x0F00;
pub(crate) const USER_RAM: u16 = 0x0F80;
/// The end of the registers, and the begin of the process data RAM.
pub(crate) const RAM: u16 = 0x1000;

/// The `N` bytes at `address`. Only for addresses of registers, which are always there.
fn bytes<const N: usize>(memory: &[u8], address: u16) -> [u8; N] {
    let start = usize::from(address);
    memory[start..start + N].try_into().expect("a range of N bytes")
}

/// A 16-bit register.
pub(crate) fn get_u16(memory: &[u8], address: u16) -> u16 {
    u16::from_le_bytes(bytes(memory, address))
}

/// A 32-bit register.
pub(crate) fn get_u32(memory: &[u8], address: u16) -> u32 {
    u32::from_le_bytes(bytes(memory, address))
}

/// A 64-bit register.
pub(crate) fn get_u64(memory: &[u8], address: u16) -> u64 {
    u64::from_le_bytes(bytes(memory, address))
}

/// Stores bytes at a register.
pub(crate) fn put(memory: &mut [u8], address: u16, value: &[u8]) {
    let start = usize::from(address);
    memory[start..start + value.len()].copy_from_slice(value);
}

/// Which addresses an access covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Address of its first byte.
    pub(crate) start: usize,
    /// First address after it.
    pub(crate) end: usize,
}

impl Span {
    /// `length` bytes from `address` on.
    pub(crate) fn new(address: u16, length: usize) -> Self {
        let start = usize::from(address);
        Self { start, end: start + length }
    }

    /// Returns `true` if the span and `length` bytes at `address` have a byte in common.
    pub(crate) fn touches(self, address: u16, length: usize) -> bool {
        let other = Self::new(address, length);
        self.start < other.end && other.start < self.end
    }

    /// Returns `true` if the span covers the byte at `address`.
    pub(crate) fn covers(self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }
}
