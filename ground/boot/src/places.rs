//! Where records are in a guest, and by which ports it is heard.

/// Where the host page is, in the guest's memory.
pub const HOST_PAGE: u64 = 0x7000;

/// Where the crash record is, in the guest's memory.
pub const CRASH_RECORD: u64 = 0x7800;

/// The most bytes that each of the two takes.
pub const RECORD_BYTES: usize = 0x800;

/// Ports by which a guest is heard.
pub mod port {
    /// The console: what is written is text. The first serial line of a PC.
    pub const CONSOLE: u16 = 0x3F8;
    /// The end: the guest ends with the byte written as its status. QEMU's `isa-debug-exit`, put
    /// there, ends with twice that and one.
    pub const END: u16 = 0x501;
    /// The statuses of guests that ended well, and that crashed.
    pub const ENDED: u8 = 0;
    /// See [`ENDED`].
    pub const CRASHED: u8 = 1;
}
