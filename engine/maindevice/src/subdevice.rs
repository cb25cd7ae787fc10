//! A SubDevice as it was found and set up.
//!
//! After the bring-up the MainDevice reads back what the SubDevices were set to: SyncManagers,
//! FMMUs, clock. The read values are the truth about the process image, and what a SubDevice is set
//! to again when it lost its power.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::expectation::{Identity, StartUp};
use crate::frame::register;
use crate::mailbox::Mailbox;

/// Bytes of the process data of all SubDevices, at most.
pub const IMAGE_BYTES_MAX: usize = 8192;

/// Settings of a SubDevice's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockSettings {
    /// Delay from the reference clock, in nanoseconds.
    pub(crate) delay_ns: u32,
    /// The SYNC signals, if any is on.
    pub(crate) sync: Option<SyncSettings>,
}

/// Settings of the SYNC signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncSettings {
    /// The register that switches them on.
    pub(crate) activation: u8,
    /// System time of the first SYNC0, in nanoseconds.
    pub(crate) start_ns: u64,
    /// Period of SYNC0, in nanoseconds.
    pub(crate) period_ns: u32,
    /// Time of SYNC1, in nanoseconds.
    pub(crate) second_ns: u32,
}

/// A SubDevice that was brought up.
#[derive(Clone, Debug)]
pub struct SubDevice {
    pub(crate) position: u16,
    pub(crate) address: u16,
    /// The name that the site gives it, else that in its SII.
    pub(crate) name: String,
    pub(crate) identity: Identity,
    pub(crate) features: u16,
    pub(crate) links: u16,
    pub(crate) managers: Vec<[u8; 8]>,
    pub(crate) fmmus: Vec<[u8; 16]>,
    pub(crate) mailbox: Option<Mailbox>,
    pub(crate) clock: Option<ClockSettings>,
    pub(crate) start_up: Vec<StartUp>,
    /// Time of the process data watchdog in steps of 100 µs, where that of power-up is too short.
    pub(crate) watchdog: Option<u16>,
    pub(crate) inputs: Range<usize>,
    pub(crate) outputs: Range<usize>,
}

impl SubDevice {
    /// Position in the order in which frames pass, from 0.
    pub fn position(&self) -> u16 {
        self.position
    }

    /// Its configured station address.
    pub fn address(&self) -> u16 {
        self.address
    }

    /// The name that the site gives it, else that in its SII.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the identity in its SII.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the range of its inputs in the process image.
    pub fn inputs(&self) -> Range<usize> {
        self.inputs.clone()
    }

    /// Returns the range of its outputs in the process image.
    pub fn outputs(&self) -> Range<usize> {
        self.outputs.clone()
    }

    /// Returns `true` if it has a clock that is synchronised.
    pub fn has_clock(&self) -> bool {
        self.clock.is_some()
    }

    /// Returns `true` if it understands LRW.
    pub(crate) fn knows_lrw(&self) -> bool {
        self.features & register::FEATURE_NO_LRW == 0
    }

    /// Returns the number that it adds to the working counter of an LRW of all its process data.
    pub fn working_counter(&self) -> u16 {
        u16::from(!self.inputs.is_empty()) + 2 * u16::from(!self.outputs.is_empty())
    }

    /// The SyncManagers that carry process data and are switched off: their numbers and their
    /// register of activation.
    pub(crate) fn switched_off(&self) -> impl Iterator<Item = (usize, u8)> {
        let is_carried = |manager: &[u8; 8]| {
            let [start, bytes] = [[manager[0], manager[1]], [manager[2], manager[3]]]
                .map(|word| u32::from(u16::from_le_bytes(word)));
            self.fmmus.iter().filter(|fmmu| fmmu[11] & 3 != 0 && fmmu[12] & 1 == 1).any(|fmmu| {
                let length = u32::from(u16::from_le_bytes([fmmu[4], fmmu[5]]));
                let first = u32::from(u16::from_le_bytes([fmmu[8], fmmu[9]]));
                bytes > 0 && first < start + bytes && start < first + length
            })
        };
        let off = move |(number, manager): (usize, &[u8; 8])| {
            (manager[6] & 1 == 0 && is_carried(manager)).then_some((number, manager[6]))
        };
        self.managers.iter().enumerate().filter_map(off)
    }

    /// The logical memory that FMMUs give to inputs and outputs.
    pub(crate) fn mapped(fmmus: &[[u8; 16]]) -> (Range<usize>, Range<usize>) {
        let hull = |direction: u8| {
            let mut hull: Option<Range<usize>> = None;
            let active = |fmmu: &&[u8; 16]| fmmu[11] & direction != 0 && fmmu[12] & 1 == 1;
            for fmmu in fmmus.iter().filter(active) {
                let start = u32::from_le_bytes([fmmu[0], fmmu[1], fmmu[2], fmmu[3]]) as usize;
                let bytes = u16::from_le_bytes([fmmu[4], fmmu[5]]);
                let end = start.saturating_add(usize::from(bytes));
                hull = Some(hull.map_or(start..end, |old| old.start.min(start)..old.end.max(end)));
            }
            hull.unwrap_or(0..0)
        };
        (hull(1), hull(2))
    }
}

#[cfg(test)]
impl SubDevice {
    /// A SubDevice with this place in the image, for tests.
    pub(crate) fn fake(position: u16, inputs: Range<usize>, outputs: Range<usize>) -> Self {
        Self {
            position,
            address: 0x1000 + position,
            name: alloc::format!("fake {position}"),
            identity: Identity { vendor: 1, product: 2, revision: Some(3), serial: None },
            features: 0,
            links: 0,
            managers: Vec::new(),
            fmmus: Vec::new(),
            mailbox: None,
            clock: None,
            start_up: Vec::new(),
            watchdog: None,
            inputs,
            outputs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a SyncManager without process data stays as it is, though it lies within another one.
    #[test]
    fn only_syncmanagers_with_process_data_are_told_as_switched_off() {
        let manager = |start: u16, bytes: u16, activation: u8| {
            let ([a, b], [c, d]) = (start.to_le_bytes(), bytes.to_le_bytes());
            [a, b, c, d, 0x64, 0, activation, 0]
        };
        let managers = vec![
            manager(0x1000, 0x200, 0),
            manager(0x1100, 0, 0),
            manager(0x1400, 8, 0),
            manager(0x1600, 4, 1),
        ];
        let fmmu = |start: u16, bytes: u16| {
            let ([a, b], [c, d]) = (start.to_le_bytes(), bytes.to_le_bytes());
            [0, 0, 0, 0, c, d, 0, 7, a, b, 0, 2, 1, 0, 0, 0]
        };
        let fmmus = vec![fmmu(0x1000, 0x200), fmmu(0x1600, 4), fmmu(0x080D, 1)];
        let subdevice = SubDevice { managers, fmmus, ..SubDevice::fake(0, 0..0, 0..0) };
        assert_eq!(subdevice.switched_off().collect::<Vec<_>>(), [(0, 0)]);
    }

    #[test]
    fn fmmus_say_where_the_process_data_lie() {
        let fmmu = |start: u8, bytes: u8, direction: u8, active: u8| {
            [start, 0, 0, 0, bytes, 0, 0, 7, 0, 0x11, 0, direction, active, 0, 0, 0]
        };
        let fmmus = [fmmu(4, 2, 1, 1), fmmu(6, 1, 1, 1), fmmu(20, 3, 2, 1), fmmu(30, 3, 2, 0)];
        assert_eq!(SubDevice::mapped(&fmmus), (4..7, 20..23));
        assert_eq!(SubDevice::mapped(&[]), (0..0, 0..0));
        assert_eq!(SubDevice::fake(0, 4..7, 20..23).working_counter(), 3);
        assert_eq!(SubDevice::fake(0, 0..0, 20..23).working_counter(), 2);
    }
}
