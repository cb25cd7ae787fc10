//! The registers of these network cards, and what their bits mean.
//!
//! Offsets are those that the 82574 has (Intel 82574 GbE Controller Family Datasheet, 10.2). The
//! I210 has its queue 0 elsewhere, and answers at these offsets, too (Intel Ethernet Controller
//! I210 Datasheet, 8.1.3).

use quietcore_units::Nanos;

/// A register of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// CTRL: reset and link.
    Control,
    /// STATUS: whether there is a link.
    Status,
    /// State of the EEPROM or flash (EECD; EEC in the I210).
    Eeprom,
    /// Interrupts to be masked (IMC).
    InterruptMaskClear,
    /// RCTL: the switch for receiving, and which frames are.
    ReceiveControl,
    /// TCTL: the switch for sending, and padding.
    TransmitControl,
    /// Gap between frames (TIPG).
    TransmitGap,
    /// Form of receive descriptors (SRRCTL); of the I210 only.
    ReceiveForm,
    /// A register of the ring for received frames.
    Receive(RingRegister),
    /// A register of the ring for frames to be sent.
    Transmit(RingRegister),
    /// A word of the table of multicast addresses (MTA), 0 to 127.
    Multicast(u8),
    /// The lower four bytes of its own address (RAL 0).
    AddressLow,
    /// The upper two bytes of its own address (RAH 0).
    AddressHigh,
}

/// A register that each of the two rings has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RingRegister {
    /// Lower half of the ring's address.
    BaseLow,
    /// Upper half of the ring's address.
    BaseHigh,
    /// Bytes of the ring, a multiple of 128.
    Bytes,
    /// The first descriptor that is the card's.
    Head,
    /// The first descriptor behind the card's.
    Tail,
    /// Thresholds, and in the I210 the switch of the ring.
    Control,
}

/// Number of words of the table of multicast addresses.
pub(super) const MULTICAST_WORDS: u8 = 128;

/// Bytes from the first register to the end of the last one used here, in whole pages.
pub const REGISTER_BYTES: u64 = 0x6000;

impl Register {
    /// Returns its offset from the first one, in bytes.
    pub const fn offset(self) -> u32 {
        match self {
            Self::Control => 0x0000,
            Self::Status => 0x0008,
            Self::Eeprom => 0x0010,
            Self::InterruptMaskClear => 0x00D8,
            Self::ReceiveControl => 0x0100,
            Self::TransmitControl => 0x0400,
            Self::TransmitGap => 0x0410,
            Self::ReceiveForm => 0x280C,
            Self::Receive(of_ring) => 0x2800 + of_ring.offset(),
            Self::Transmit(of_ring) => 0x3800 + of_ring.offset(),
            Self::Multicast(word) => 0x5200 + 4 * (word % MULTICAST_WORDS) as u32,
            Self::AddressLow => 0x5400,
            Self::AddressHigh => 0x5404,
        }
    }
}

impl RingRegister {
    const fn offset(self) -> u32 {
        match self {
            Self::BaseLow => 0x00,
            Self::BaseHigh => 0x04,
            Self::Bytes => 0x08,
            Self::Head => 0x10,
            Self::Tail => 0x18,
            Self::Control => 0x28,
        }
    }
}

/// Access to a card: its registers, and the clock that its driver waits by.
pub trait CardAccess {
    /// Returns the value of a register, as the card gives it at this instant.
    fn read(&mut self, register: Register) -> u32;

    /// Writes a register. Memory that was written before is seen by the card no later.
    fn write(&mut self, register: Register, value: u32);

    /// Returns the instant, on the clock that callers of the driver give times of.
    fn now(&self) -> Nanos;
}

/// Bits of [`Register::Control`].
pub(super) mod control {
    /// The speed is found out by the link (ASDE); reserved and without effect in the I210.
    pub(crate) const FIND_SPEED: u32 = 1 << 5;
    /// The link is set up (SLU).
    pub(crate) const LINK_UP: u32 = 1 << 6;
    /// The card is reset; clears itself (RST).
    pub(crate) const RESET: u32 = 1 << 26;
}

/// Bits of [`Register::Status`].
pub(super) mod status {
    /// The link is up (LU).
    pub(crate) const LINK_UP: u32 = 1 << 1;
}

/// Bits of [`Register::Eeprom`].
pub(super) mod eeprom {
    /// The card has loaded its configuration (AUTO_RD).
    pub(crate) const LOADED: u32 = 1 << 9;
}

/// Bits of [`Register::ReceiveControl`]. Buffers of 2048 bytes are zero (BSIZE).
pub(super) mod receive {
    /// Frames are received (EN).
    pub(crate) const ON: u32 = 1 << 1;
    /// Frames to everybody are received (BAM).
    pub(crate) const BROADCASTS: u32 = 1 << 15;
    /// The check sequence is not stored (SECRC).
    pub(crate) const STRIP_CHECK: u32 = 1 << 26;
}

/// Bits of [`Register::TransmitControl`].
pub(super) mod transmit {
    /// Frames are sent (EN).
    pub(crate) const ON: u32 = 1 << 1;
    /// Short frames are padded (PSP).
    pub(crate) const PAD: u32 = 1 << 3;
    /// Collision threshold of 15 and distance of 63, as both datasheets have it for full duplex.
    pub(crate) const COLLISIONS: u32 = 0xF << 4 | 0x3F << 12;
}

/// The gap between frames for copper: IPGT 8, IPGR1 8, IPGR2 6 (82574 Datasheet, 10.2.6.2).
pub(super) const GAP: u32 = 6 << 20 | 8 << 10 | 8;

/// Values and bits of [`RingRegister::Control`].
pub(super) mod ring {
    /// Each descriptor is written back by itself: a threshold of one, counted in descriptors
    /// (WTHRESH, GRAN).
    pub(crate) const EACH: u32 = 1 << 24 | 1 << 16;
    /// A reserved bit that the 82574 wants to be one in its transmit ring (82574 Datasheet,
    /// 10.2.6.12).
    pub(crate) const RESERVED_ONE: u32 = 1 << 22;
    /// The ring is switched on, in the I210 (I210 Datasheet, 8.10.10 and 8.12.15).
    pub(crate) const ON: u32 = 1 << 25;
}
