//! The host page: the facts about its host that a guest needs.

use core::fmt;

use crate::RECORD_BYTES;
use crate::words::{Reader, Writer};

/// "quietc" and the version of the layout.
const MAGIC: u64 = u64::from_le_bytes(*b"quietc\x00\x04");

/// The number of the time that is told with the page.
const TOLD_ONCE: u64 = 0;

/// The longest memory of a guest, and the end of all places.
const ADDRESS_END: u64 = 1 << 32;

/// A stretch of the guest's addresses; of no bytes where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AddressRange {
    /// The first address of the range.
    pub address: u64,
    /// Its size, in bytes.
    pub bytes: u64,
}

impl AddressRange {
    /// Returns `true` if the range ends at 4 GiB or before, be it empty or not.
    pub fn is_possible(self) -> bool {
        self.address.checked_add(self.bytes).is_some_and(|end| end <= ADDRESS_END)
    }
}

/// The facts about its host that a guest needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPage {
    /// The guest's memory, which begins at zero, in bytes.
    pub memory_bytes: u64,
    /// Frequency of the time stamp counter, in Hz.
    pub counter_hz: u64,
    /// A value of the counter, and …
    pub counter_then: u64,
    /// … the host's monotonic clock at that instant, in ns. A host may tell both again while the
    /// guest runs: [`HostTime`](crate::HostTime).
    pub host_then_ns: u64,
    /// The partition's exchange; of no bytes if there is none.
    pub exchange: AddressRange,
    /// The post, by which the partition's job and orders come.
    pub job: AddressRange,
    /// The page of the clock board; of no bytes if there is none.
    pub clock_board: AddressRange,
    /// The registers of the network card that is the guest's; of no bytes if there is none.
    pub card: AddressRange,
    /// Vendor and device number of that card, as the first word of its configuration space has
    /// them.
    pub card_kind: u32,
}

/// Why a host page is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is none: its first word is zero.
    Absent,
    /// It begins with something else, or is of another version.
    Foreign,
    /// A value can't be.
    Impossible(&'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("there is no host page"),
            Self::Foreign => f.write_str("the host page is of another version"),
            Self::Impossible(what) => write!(f, "the host page says what can't be of {what}"),
        }
    }
}

impl core::error::Error for Refused {}

impl HostPage {
    /// A host of which nothing is known but its counter.
    pub const fn of_counter(counter_hz: u64) -> Self {
        const NOWHERE: AddressRange = AddressRange { address: 0, bytes: 0 };
        Self {
            memory_bytes: 0,
            counter_hz,
            counter_then: 0,
            host_then_ns: 0,
            exchange: NOWHERE,
            job: NOWHERE,
            clock_board: NOWHERE,
            card: NOWHERE,
            card_kind: 0,
        }
    }

    /// As it is written.
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let mut writer = Writer::new(&mut bytes);
        writer.put(MAGIC);
        for word in [TOLD_ONCE, self.counter_then, self.host_then_ns] {
            writer.put(word);
        }
        for word in [self.memory_bytes, self.counter_hz] {
            writer.put(word);
        }
        for place in [self.exchange, self.job, self.clock_board, self.card] {
            writer.put(place.address);
            writer.put(place.bytes);
        }
        writer.put(u64::from(self.card_kind));
        bytes
    }

    /// Reads and checks it.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Result<Self, Refused> {
        let mut reader = Reader::new(bytes);
        match reader.take() {
            0 => return Err(Refused::Absent),
            MAGIC => {}
            _ => return Err(Refused::Foreign),
        }
        // How often the time was told.
        let _ = reader.take();
        let mut place = Self {
            counter_then: reader.take(),
            host_then_ns: reader.take(),
            memory_bytes: reader.take(),
            counter_hz: reader.take(),
            ..Self::default()
        };
        let Self { exchange, job, clock_board, card, .. } = &mut place;
        for place in [exchange, job, clock_board, card] {
            *place = AddressRange { address: reader.take(), bytes: reader.take() };
        }
        place.card_kind = reader.take() as u32;
        place.check().map(|()| place)
    }

    fn check(&self) -> Result<(), Refused> {
        let checks = [
            (self.memory_bytes <= ADDRESS_END, "its memory"),
            // 1 MHz to 1 THz: what a division by it stays sound for.
            ((1_000_000..=1_000_000_000_000).contains(&self.counter_hz), "its counter"),
            (self.exchange.is_possible(), "its exchange"),
            (self.job.is_possible(), "its job"),
            (self.clock_board.is_possible(), "its clock board"),
            (self.card.is_possible(), "its network card"),
        ];
        match checks.into_iter().find(|(holds, _)| !holds) {
            Some((_, what)) => Err(Refused::Impossible(what)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const PAGE: HostPage = HostPage {
        memory_bytes: 16 << 20,
        counter_hz: 2_500_000_000,
        counter_then: 7,
        host_then_ns: 8,
        exchange: AddressRange { address: 0x8000_0000, bytes: 1 << 20 },
        job: AddressRange { address: 0x20_0000, bytes: 100 },
        clock_board: AddressRange { address: 0xD000_0000, bytes: 4096 },
        card: AddressRange { address: 0xD010_0000, bytes: 0x6000 },
        card_kind: 0x1533_8086,
    };

    #[test]
    fn what_was_written_is_read() {
        assert_eq!(HostPage::from_bytes(&PAGE.to_bytes()), Ok(PAGE));
    }

    #[test]
    fn memory_that_is_zero_is_no_host_page() {
        assert_eq!(HostPage::from_bytes(&[0; RECORD_BYTES]), Err(Refused::Absent));
    }

    #[test]
    fn another_version_is_refused() {
        for version in [3, 5] {
            let mut bytes = PAGE.to_bytes();
            bytes[7] = version;
            assert_eq!(HostPage::from_bytes(&bytes), Err(Refused::Foreign));
        }
        let said = Refused::Foreign.to_string();
        assert!(said.contains("of another version"), "{said}");
    }

    #[test]
    fn what_can_not_be_is_named() {
        let past = AddressRange { address: 0xFFFF_F000, bytes: 0x1001 };
        let wraps = AddressRange { address: u64::MAX, bytes: 2 };
        for (page, what) in [
            (HostPage { memory_bytes: (4 << 30) + 1, ..PAGE }, "its memory"),
            (HostPage { counter_hz: 999_999, ..PAGE }, "its counter"),
            (HostPage { exchange: past, ..PAGE }, "its exchange"),
            (HostPage { job: wraps, ..PAGE }, "its job"),
            (HostPage { clock_board: past, ..PAGE }, "its clock board"),
            (HostPage { card: wraps, ..PAGE }, "its network card"),
        ] {
            assert_eq!(HostPage::from_bytes(&page.to_bytes()), Err(Refused::Impossible(what)));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), RECORD_BYTES)) {
            let bytes: [u8; RECORD_BYTES] = bytes.try_into().expect("of this length");
            let _ = HostPage::from_bytes(&bytes);
        }
    }
}
