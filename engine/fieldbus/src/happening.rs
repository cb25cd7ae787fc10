//! Alarms of the MainDevice as events of the exchange.

use quietcore_exchange::Happening;
use quietcore_maindevice::Alarm;

/// Returns an alarm as an event; `None` for lost frames and their return, which whoever drives the
/// cycle counts and tells.
pub fn happening(alarm: &Alarm) -> Option<Happening> {
    Some(match *alarm {
        Alarm::Lost { .. } | Alarm::Returned { .. } => return None,
        Alarm::WorkingCounter { subdevice, expected, found } => Happening::WorkingCounter {
            subdevice: subdevice.map(u32::from),
            expected: u32::from(expected),
            found: u32::from(found),
        },
        Alarm::State { subdevice, found, code } => Happening::AlState {
            subdevice: u32::from(subdevice),
            state: u32::from(found.number()),
            code: u32::from(code),
        },
        Alarm::Absent { subdevice } => {
            Happening::SubDeviceAbsent { subdevice: u32::from(subdevice) }
        }
        Alarm::Foreign { subdevice, vendor, product } => {
            Happening::SubDeviceForeign { subdevice: u32::from(subdevice), vendor, product }
        }
        Alarm::Recovered { subdevice } => {
            Happening::SubDeviceRecovered { subdevice: u32::from(subdevice) }
        }
        Alarm::NotRecovered { subdevice, wanted, code } => Happening::SubDeviceNotRecovered {
            subdevice: u32::from(subdevice),
            wanted: u32::from(wanted.number()),
            code: u32::from(code),
        },
        Alarm::Emergency { subdevice, code, register, data } => {
            let mut bytes = [0; 8];
            bytes[..5].copy_from_slice(&data);
            Happening::Emergency {
                subdevice: u32::from(subdevice),
                code: u32::from(code),
                register: u32::from(register),
                data: u64::from_le_bytes(bytes),
            }
        }
        Alarm::ErrorCounters { subdevice, counters } => {
            let sum = |ports: [u8; 4]| ports.iter().map(|count| u32::from(*count)).sum::<u32>();
            Happening::ErrorCounters {
                subdevice: u32::from(subdevice),
                invalid_frames: sum(counters.invalid_frames),
                lost_links: sum(counters.lost_links),
            }
        }
    })
}
