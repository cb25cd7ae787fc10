//! Alarms of the fieldbus, as values.
//!
//! The cycle and the supervision raise alarms; whoever runs the cycle takes them and tells others.
//! The queue has a fixed size and keeps the first ones. A cycle with its supervision raises three
//! at most, so whoever takes as many in each loses none.

use core::fmt;

use crate::state::AlState;

/// Alarms that wait to be taken at most.
pub const ALARMS_MAX: usize = 64;

/// The error counters of one SubDevice (ETG.1000.4, 6.1; registers 0x0300 to 0x0313).
///
/// Each counter stays at 255 when it gets there. Arrays are by port, 0 to 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounters {
    /// Frames that were damaged when they arrived.
    pub invalid_frames: [u8; 4],
    /// Errors that the physical layer saw, also between frames.
    pub receive_errors: [u8; 4],
    /// Damaged frames that a SubDevice further up had marked already.
    pub forwarded_errors: [u8; 4],
    /// Frames that passed and were no EtherCAT frames.
    pub processing_errors: u8,
    /// Errors between the controller and the device's own processor.
    pub process_data_interface_errors: u8,
    /// Losses of the link, by port.
    pub lost_links: [u8; 4],
}

impl ErrorCounters {
    /// Reads the registers; missing ones count as zero.
    pub(crate) fn parse(data: &[u8]) -> Self {
        let at = |index: usize| data.get(index).copied().unwrap_or_default();
        let four = |first: usize, step: usize| core::array::from_fn(|port| at(first + step * port));
        Self {
            invalid_frames: four(0, 2),
            receive_errors: four(1, 2),
            forwarded_errors: four(8, 1),
            processing_errors: at(12),
            process_data_interface_errors: at(13),
            lost_links: four(16, 1),
        }
    }
}

/// Something that is wrong, or right again. A SubDevice is named by its position, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// Frames did not come back in time; said once, when it begins.
    Lost {
        /// Number of the cycle's frames that were lost.
        frames: u16,
    },
    /// All frames come back again.
    Returned {
        /// Number of cycles in a row that lost frames.
        cycles: u64,
    },
    /// Process data did not reach a SubDevice, or it gave none; said once, when it begins.
    WorkingCounter {
        /// Which; `None` if each SubDevice alone counts right and all together don't.
        subdevice: Option<u16>,
        /// The working counter of its data: 1 for inputs, 2 for outputs, 3 for both.
        expected: u16,
        /// The working counter that came back.
        found: u16,
    },
    /// A SubDevice is not in the state in which it should be.
    State {
        /// Position of the SubDevice.
        subdevice: u16,
        /// The AL state that it shows.
        found: AlState,
        /// Its AL status code (ETG.1000.6, table 11); 0 without an error.
        code: u16,
    },
    /// A SubDevice does not answer.
    Absent {
        /// Position of the SubDevice.
        subdevice: u16,
    },
    /// Another device stands where a SubDevice was.
    Foreign {
        /// Position of the SubDevice.
        subdevice: u16,
        /// Vendor of the device that is there.
        vendor: u32,
        /// The product code that was found.
        product: u32,
    },
    /// A SubDevice is in OP again.
    Recovered {
        /// Position of the SubDevice.
        subdevice: u16,
    },
    /// A SubDevice could not be brought to a state; it is tried again.
    NotRecovered {
        /// Position of the SubDevice.
        subdevice: u16,
        /// The state that it did not reach.
        wanted: AlState,
        /// Its AL status code.
        code: u16,
    },
    /// A SubDevice sent a CoE emergency (ETG.1000.6, 5.6.4).
    Emergency {
        /// Position of the SubDevice.
        subdevice: u16,
        /// The error code of the message.
        code: u16,
        /// The error register, object 0x1001.
        register: u8,
        /// Data of the manufacturer.
        data: [u8; 5],
    },
    /// Error counters of a SubDevice have moved.
    ErrorCounters {
        /// Position of the SubDevice.
        subdevice: u16,
        /// The counters as they stand.
        counters: ErrorCounters,
    },
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { frames } => write!(f, "{frames} frames did not come back in time"),
            Self::Returned { cycles } => write!(f, "frames come back again, after {cycles} cycles"),
            Self::WorkingCounter { subdevice: Some(subdevice), expected, found } => {
                write!(f, "SubDevice {subdevice}: working counter {found} instead of {expected}")
            }
            Self::WorkingCounter { subdevice: None, expected, found } => write!(
                f,
                "working counter {found} instead of {expected}, with no SubDevice at fault"
            ),
            Self::State { subdevice, found, code } => {
                write!(f, "SubDevice {subdevice}: in {found}, AL status code {code:#06x}")
            }
            Self::Absent { subdevice } => write!(f, "SubDevice {subdevice}: does not answer"),
            Self::Foreign { subdevice, vendor, product } => write!(
                f,
                "SubDevice {subdevice}: another device is there, vendor {vendor:#010x}, product \
                 {product:#010x}"
            ),
            Self::Recovered { subdevice } => write!(f, "SubDevice {subdevice}: in OP again"),
            Self::NotRecovered { subdevice, wanted, code } => write!(
                f,
                "SubDevice {subdevice}: does not reach {wanted}, AL status code {code:#06x}"
            ),
            Self::Emergency { subdevice, code, register, .. } => write!(
                f,
                "SubDevice {subdevice}: emergency {code:#06x}, error register {register:#04x}"
            ),
            Self::ErrorCounters { subdevice, counters } => write!(
                f,
                "SubDevice {subdevice}: error counters moved; by port, invalid frames {}, lost \
                 links {}",
                ByPort(counters.invalid_frames),
                ByPort(counters.lost_links)
            ),
        }
    }
}

/// A counter of each port, as people read them.
struct ByPort([u8; 4]);

impl fmt::Display for ByPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third, fourth] = self.0;
        write!(f, "{first}, {second}, {third}, {fourth}")
    }
}

/// Alarms that wait to be taken.
#[derive(Debug)]
pub(crate) struct Alarms {
    ring: [Option<Alarm>; ALARMS_MAX],
    first: usize,
    count: usize,
}

impl Default for Alarms {
    fn default() -> Self {
        Self { ring: [None; ALARMS_MAX], first: 0, count: 0 }
    }
}

impl Alarms {
    pub(crate) fn raise(&mut self, alarm: Alarm) {
        if self.count == ALARMS_MAX {
            return;
        }
        self.ring[(self.first + self.count) % ALARMS_MAX] = Some(alarm);
        self.count += 1;
    }

    pub(crate) fn take(&mut self) -> Option<Alarm> {
        self.count = self.count.checked_sub(1)?;
        let alarm = self.ring[self.first].take();
        self.first = (self.first + 1) % ALARMS_MAX;
        alarm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_come_out_in_order_and_the_first_are_kept() {
        let mut alarms = Alarms::default();
        for subdevice in 0..70 {
            alarms.raise(Alarm::Absent { subdevice });
        }
        for subdevice in 0..64 {
            assert_eq!(alarms.take(), Some(Alarm::Absent { subdevice }));
        }
        assert_eq!(alarms.take(), None);
        alarms.raise(Alarm::Recovered { subdevice: 1 });
        assert_eq!(alarms.take(), Some(Alarm::Recovered { subdevice: 1 }));
    }

    #[test]
    fn error_counters_are_read_by_port() {
        let registers: Vec<u8> = (0..20).collect();
        let counters = ErrorCounters::parse(&registers);
        assert_eq!(counters.invalid_frames, [0, 2, 4, 6]);
        assert_eq!(counters.receive_errors, [1, 3, 5, 7]);
        assert_eq!(counters.forwarded_errors, [8, 9, 10, 11]);
        assert_eq!((counters.processing_errors, counters.lost_links), (12, [16, 17, 18, 19]));
        assert_eq!(ErrorCounters::parse(&[]), ErrorCounters::default());
    }

    #[test]
    fn error_counters_are_told_by_port() {
        let registers: Vec<u8> = (0..20).collect();
        let alarm =
            Alarm::ErrorCounters { subdevice: 1, counters: ErrorCounters::parse(&registers) };
        assert_eq!(
            alarm.to_string(),
            "SubDevice 1: error counters moved; by port, invalid frames 0, 2, 4, 6, lost links 16, \
             17, 18, 19"
        );
    }

    #[test]
    fn an_alarm_names_the_subdevice() {
        let alarm = Alarm::WorkingCounter { subdevice: Some(2), expected: 3, found: 0 };
        assert_eq!(alarm.to_string(), "SubDevice 2: working counter 0 instead of 3");
    }
}
