//! Which registers a controller has, and which of them a MainDevice may write.

use crate::blueprint::Controller;
use crate::esc::registers as r;

/// A MainDevice may read the byte.
pub(crate) const READ: u8 = 1;
/// A MainDevice may write the byte.
pub(crate) const WRITE: u8 = 2;
const BOTH: u8 = READ | WRITE;

/// Access rights of each byte of the registers.
pub(crate) struct AccessMap(Box<[u8]>);

/// Registers that every controller has: address, bytes, access.
const ALWAYS: &[(u16, u16, u8)] = &[
    (r::TYPE, 10, READ),
    (r::STATION_ADDRESS, 2, BOTH),
    (r::STATION_ALIAS, 2, READ),
    (r::RESET, 1, BOTH),
    (r::DL_CONTROL, 4, BOTH),
    (r::DL_STATUS, 2, READ),
    (r::AL_CONTROL, 2, BOTH),
    (r::AL_STATUS, 2, READ),
    (r::AL_STATUS_CODE, 2, READ),
    (r::PDI_CONTROL, 2, READ),
    (r::PDI_CONFIGURATION, 4, READ),
    (r::EVENT_MASK, 2, BOTH),
    (r::EVENTS, 2, READ),
    (r::RX_ERRORS, 20, BOTH),
    (r::WATCHDOG_DIVIDER, 2, BOTH),
    (r::WATCHDOG_TIME_PDI, 2, BOTH),
    (r::WATCHDOG_TIME, 2, BOTH),
    (r::WATCHDOG_STATUS, 2, READ),
    (r::WATCHDOG_COUNTERS, 2, BOTH),
    (r::SII, 1, BOTH),
    (r::SII + 1, 1, READ),
    (r::SII_CONTROL, 14, BOTH),
    (r::RECEIVE_TIMES, 4, BOTH),
    (r::RECEIVE_TIMES + 4, 12, READ),
    (r::DIGITAL_OUTPUTS, 4, BOTH),
    (r::USER_RAM, 128, BOTH),
];

/// Registers of a controller with distributed clocks.
const CLOCK: &[(u16, u16, u8)] = &[
    (r::SYSTEM_TIME, 8, BOTH),
    (r::RECEIVE_TIME_UNIT, 8, READ),
    (r::SYSTEM_TIME_OFFSET, 8, BOTH),
    (r::SYSTEM_TIME_DELAY, 4, BOTH),
    (r::SYSTEM_TIME_DIFFERENCE, 4, READ),
    (r::SPEED_COUNTER_START, 2, BOTH),
    (r::SPEED_COUNTER_DIFFERENCE, 2, READ),
    (r::DIFFERENCE_FILTER, 2, BOTH),
    (r::CYCLIC_UNIT, 2, BOTH),
    (r::SYNC_PULSE, 3, READ),
    (r::SYNC0_STATUS, 2, READ),
    (r::SYNC_START_TIME, 8, BOTH),
    (r::SYNC1_NEXT, 8, READ),
    (r::SYNC0_CYCLE, 8, BOTH),
    (r::LATCH_CONTROL, 2, BOTH),
    (r::LATCH_STATUS, r::LATCH_END - r::LATCH_STATUS, READ),
];

impl AccessMap {
    /// The registers of this controller.
    pub(crate) fn new(controller: &Controller) -> Self {
        let mut map = Self(vec![0; usize::from(r::RAM)].into_boxed_slice());
        map.mark_all(ALWAYS);
        for fmmu in 0..u16::from(controller.fmmus) {
            map.mark(r::FMMUS + fmmu * r::FMMU_BYTES, r::FMMU_BYTES, BOTH);
        }
        for sync_manager in 0..u16::from(controller.sync_managers) {
            let start = r::SYNC_MANAGERS + sync_manager * r::SYNC_MANAGER_BYTES;
            map.mark(start, r::SYNC_MANAGER_BYTES, BOTH);
            map.mark(start + r::SYNC_MANAGER_STATUS, 1, READ);
            map.mark(start + r::SYNC_MANAGER_PDI, 1, READ);
        }
        if controller.clock.is_some() {
            map.mark_all(CLOCK);
        }
        map
    }

    fn mark_all(&mut self, table: &[(u16, u16, u8)]) {
        for (start, length, access) in table {
            self.mark(*start, *length, *access);
        }
    }

    fn mark(&mut self, start: u16, length: u16, access: u8) {
        self.0[usize::from(start)..usize::from(start + length)].fill(access);
    }

    /// Returns the access rights of the bytes of a span inside the registers.
    pub(crate) fn of(&self, span: r::Span) -> &[u8] {
        &self.0[span.start..span.end]
    }
}
