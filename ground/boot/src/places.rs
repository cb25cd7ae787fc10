//! Addresses in a guest's memory, and the ports by which the host hears it.
//!
//! Addresses are physical ones, and are mapped as they are. What is behind the guest's own memory
//! is what the host shares; see [`HostPage`](crate::HostPage) for how much of it there is.

/// Address of the record of late releases; it follows what the guest is started with.
pub const LATE_RELEASES: u64 = 0x6C00;

/// Address of the host page in the guest's memory.
pub const HOST_PAGE: u64 = 0x7000;

/// Address of the crash record in the guest's memory.
pub const CRASH_RECORD: u64 = 0x7800;

/// The most bytes that each of the two takes.
pub const RECORD_BYTES: usize = 0x800;

/// The size of a page of the guest, in bytes: everything here begins on one.
pub const PAGE_BYTES: u64 = 4096;

/// Address of the guest's image; its stacks and its heap follow it.
pub const IMAGE: u64 = 1 << 20;

/// The first address that is not the guest's own memory any more.
pub const MEMORY_END: u64 = 0x0400_0000;

/// The job and the orders; see [`post`](crate::post).
pub const POST: u64 = 0x0800_0000;

/// The most bytes that these take.
pub const POST_BYTES_MAX: u64 = 32 << 20;

/// Data of the program in slot A and in slot B: the exchange's data slots once more.
pub const PROGRAM_DATA: [u64; 2] = [0x2000_0000, 0x3000_0000];

/// The most bytes of each of these.
pub const PROGRAM_DATA_BYTES_MAX: u64 = 256 << 20;

/// Address of the partition's exchange.
pub const EXCHANGE: u64 = 0x4000_0000;

/// The most bytes of the exchange.
pub const EXCHANGE_BYTES_MAX: u64 = PROGRAM_CODE[0] - EXCHANGE;

/// Code and constants of the program in slot A and in slot B. Under our own monitor the guest can't
/// write them; so they are behind all that it can, which is one slot of KVM's. Elsewhere its own
/// tables keep it from that.
pub const PROGRAM_CODE: [u64; 2] = [0x7800_0000, 0x7A00_0000];

/// The most bytes of each of these.
pub const PROGRAM_CODE_BYTES_MAX: u64 = 32 << 20;

/// The channels are from here, each where the job says, …
pub const CHANNELS: u64 = 0x8000_0000;

/// The end of the channels; the first address that is none of theirs.
pub const CHANNELS_END: u64 = 0xC000_0000;

/// The clock board's page, which the guest can read without leaving.
pub const CLOCK_BOARD: u64 = 0xD000_0000;

/// The registers of the network's device.
pub const NET: u64 = 0xD000_1000;

/// The registers of a network card that the guest drives itself.
pub const CARD: u64 = 0xD010_0000;

/// The doorbells: a write there tells the host something.
pub const DOORBELLS: u64 = 0xD000_2000;

const _: () = {
    assert!(PROGRAM_CODE[0] + PROGRAM_CODE_BYTES_MAX <= PROGRAM_CODE[1]);
    assert!(PROGRAM_CODE[1] + PROGRAM_CODE_BYTES_MAX <= CHANNELS);
    assert!(MEMORY_END <= POST);
    assert!(POST + POST_BYTES_MAX <= PROGRAM_DATA[0]);
    assert!(PROGRAM_DATA[0] + PROGRAM_DATA_BYTES_MAX <= PROGRAM_DATA[1]);
    assert!(PROGRAM_DATA[1] + PROGRAM_DATA_BYTES_MAX <= EXCHANGE);
};

/// Ports by which a guest is heard.
pub mod port {
    /// The console: what is written is text. The first serial line of a PC.
    pub const CONSOLE: u16 = 0x3F8;
    /// The end: the guest ends with the byte written as its status. QEMU's `isa-debug-exit`, put
    /// there, ends with twice that and one.
    pub const END: u16 = 0x501;
    /// A rest: whoever has the guest sleeps for a moment when it is written, so that others get its
    /// CPU. For probes, which measure without an end.
    pub const REST: u16 = 0x502;
    /// Releases were late, where the host asked for that: [`LateReleases`](crate::LateReleases).
    pub const LATE: u16 = 0x503;
    /// The statuses of guests that ended well, and that crashed.
    pub const ENDED: u8 = 0;
    /// See [`ENDED`].
    pub const CRASHED: u8 = 1;
    /// The status of a guest that could not run what it was asked to, and said why.
    pub const REFUSED: u8 = 2;
}

/// Vectors by which the host interrupts a guest.
pub mod vector {
    /// The guest of a partition looks at what the host asks for: a stop, an order, the end of a
    /// call that is over its time.
    pub const ATTENTION: u8 = 0xE1;
}
