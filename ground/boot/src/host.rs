//! What a guest needs to know of its host.

use core::fmt;

use crate::RECORD_BYTES;
use crate::device::PassedDevice;
use crate::words::{Reader, Writer};

/// "quietc" and the version of the layout.
const MAGIC: u64 = u64::from_le_bytes(*b"quietc\x00\x02");

/// The number of the time that is told with the page.
const TOLD_ONCE: u64 = 0;

/// The longest memory of a guest, and the end of all places.
const ADDRESS_END: u64 = 1 << 32;

/// A stretch of the guest's addresses; of no bytes where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Place {
    /// Its first address.
    pub address: u64,
    /// Its size, in bytes.
    pub bytes: u64,
}

impl Place {
    /// Whether it is there and ends at 4 GiB or before.
    pub fn is_possible(self) -> bool {
        self.address.checked_add(self.bytes).is_some_and(|end| end <= ADDRESS_END)
    }
}

/// What a guest needs to know of its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPage {
    /// The guest's memory, which begins at zero, in bytes.
    pub memory_bytes: u64,
    /// How often the time stamp counter counts in a second.
    pub counter_hz: u64,
    /// A value of the counter, and …
    pub counter_then: u64,
    /// … the host's monotonic clock at that instant, in ns. A host may tell both again while the
    /// guest runs: [`HostTime`](crate::HostTime).
    pub host_then_ns: u64,
    /// The partition's exchange.
    pub exchange: Place,
    /// The post, by which the partition's job and orders come.
    pub job: Place,
    /// The clock board.
    pub clock_board: Place,
    /// The device that was passed through to it; of vendor 0 where there is none.
    pub device: PassedDevice,
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
        const NOWHERE: Place = Place { address: 0, bytes: 0 };
        Self {
            memory_bytes: 0,
            counter_hz,
            counter_then: 0,
            host_then_ns: 0,
            exchange: NOWHERE,
            job: NOWHERE,
            clock_board: NOWHERE,
            device: PassedDevice::NONE,
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
        for place in [self.exchange, self.job, self.clock_board] {
            writer.put(place.address);
            writer.put(place.bytes);
        }
        self.device.write(&mut writer);
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
        for place in [&mut place.exchange, &mut place.job, &mut place.clock_board] {
            *place = Place { address: reader.take(), bytes: reader.take() };
        }
        place.device = PassedDevice::read(&mut reader);
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
            (self.device.is_possible(), "its device"),
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
        exchange: Place { address: 0x8000_0000, bytes: 1 << 20 },
        job: Place { address: 0x20_0000, bytes: 100 },
        clock_board: Place { address: 0xD000_0000, bytes: 4096 },
        device: PassedDevice {
            vendor: 0x1234,
            device: 0x11E8,
            bars: [Place { address: 0xC000_0000, bytes: 1 << 20 }; 6],
            first_vector: 0x40,
            vectors: 1,
        },
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
        for version in [1, 3] {
            let mut bytes = PAGE.to_bytes();
            bytes[7] = version;
            assert_eq!(HostPage::from_bytes(&bytes), Err(Refused::Foreign));
        }
        let said = Refused::Foreign.to_string();
        assert!(said.contains("of another version"), "{said}");
    }

    #[test]
    fn what_can_not_be_is_named() {
        let past = Place { address: 0xFFFF_F000, bytes: 0x1001 };
        let wraps = Place { address: u64::MAX, bytes: 2 };
        for (page, what) in [
            (HostPage { memory_bytes: (4 << 30) + 1, ..PAGE }, "its memory"),
            (HostPage { counter_hz: 999_999, ..PAGE }, "its counter"),
            (HostPage { exchange: past, ..PAGE }, "its exchange"),
            (HostPage { job: wraps, ..PAGE }, "its job"),
            (HostPage { clock_board: past, ..PAGE }, "its clock board"),
            (
                HostPage { device: PassedDevice { bars: [past; 6], ..PAGE.device }, ..PAGE },
                "its device",
            ),
            (
                HostPage { device: PassedDevice { first_vector: 256, ..PAGE.device }, ..PAGE },
                "its device",
            ),
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
