//! Physical addressing: reads and writes of registers and RAM, and whether they count.

use crate::esc::access::{READ, WRITE};
use crate::esc::eeprom::Eeprom;
use crate::esc::registers as r;
use crate::esc::registers::Span;
use crate::esc::sync_manager::{Action, Completed, SYNC_MANAGERS_MAX};
use crate::esc::{EVENT_AL_STATUS, EVENT_DL_STATUS, Esc, sync_manager_address};

impl Esc {
    /// Reads into `data`; false, with `data` untouched, when the access does not count.
    pub(crate) fn read(&mut self, address: u16, data: &mut [u8], now_ns: u64) -> bool {
        let span = Span::new(address, data.len());
        if span.start < usize::from(r::RAM) {
            self.read_registers(span, data, now_ns)
        } else {
            self.read_ram(span, data)
        }
    }

    fn read_registers(&mut self, span: Span, data: &mut [u8], now_ns: u64) -> bool {
        if span.end > usize::from(r::RAM) {
            return false;
        }
        if !self.access.of(span).iter().any(|access| access & READ != 0) {
            return false;
        }
        let guarded = span.touches(r::DIGITAL_OUTPUTS, 4);
        if guarded && !self.passes(Action::Read, span) {
            return false;
        }
        self.show(span, now_ns);
        // What cannot be read is never written either, so it is zero.
        data.copy_from_slice(&self.memory[span.start..span.end]);
        if span.touches(r::AL_STATUS, 1) {
            self.clear(EVENT_AL_STATUS);
        }
        if span.touches(r::DL_STATUS, 1) {
            self.clear(EVENT_DL_STATUS);
        }
        true
    }

    fn clear(&mut self, event: u16) {
        let events = r::get_u16(&self.memory, r::EVENTS) & !event;
        r::put(&mut self.memory, r::EVENTS, &events.to_le_bytes());
    }

    /// Brings registers that follow time up to date.
    fn show(&mut self, span: Span, now_ns: u64) {
        if Eeprom::owns(span) {
            self.eeprom.show(&mut self.memory, now_ns);
        }
        if let Some(clock) = &self.clock
            && span.touches(r::SYSTEM_TIME, usize::from(r::LATCH_END - r::SYSTEM_TIME))
        {
            clock.show(&mut self.memory, now_ns);
        }
        if span.touches(r::SYNC_MANAGERS, SYNC_MANAGERS_MAX * 8) {
            self.show_sync_managers();
        }
    }

    fn show_sync_managers(&mut self) {
        for (index, manager) in self.sync_managers[..self.sync_manager_count].iter().enumerate() {
            let start = sync_manager_address(index) + r::SYNC_MANAGER_STATUS;
            self.memory[usize::from(start)] = manager.status;
        }
    }

    fn read_ram(&mut self, span: Span, data: &mut [u8]) -> bool {
        if span.end > self.memory.len() || !self.passes(Action::Read, span) {
            return false;
        }
        data.copy_from_slice(&self.memory[span.start..span.end]);
        self.note(Action::Read, span, 0);
        true
    }

    /// Returns `true` if the SyncManagers let an access to the RAM pass.
    fn passes(&self, action: Action, span: Span) -> bool {
        self.sync_managers[..self.sync_manager_count]
            .iter()
            .filter(|manager| manager.guards(span.start, span.end))
            .all(|manager| manager.allows(action, span.start))
    }

    /// Notes an access to the RAM in the SyncManagers that it touches.
    fn note(&mut self, action: Action, span: Span, now_ns: u64) {
        let managers = &mut self.sync_managers[..self.sync_manager_count];
        for (index, manager) in managers.iter_mut().enumerate() {
            if !manager.guards(span.start, span.end) {
                continue;
            }
            let is_mailbox = manager.is_mailbox() && self.process_data & 1 << index == 0;
            match manager.note(action, span.start, span.end) {
                Completed::Nothing => {}
                Completed::Written if is_mailbox => {
                    self.attention.mailbox_written = true;
                }
                Completed::Written => {
                    self.attention.outputs_written = true;
                    if manager.feeds_watchdog() {
                        self.watchdog.feed(now_ns);
                        self.memory[usize::from(r::WATCHDOG_STATUS)] = 1;
                    }
                }
                Completed::Read => self.attention.mailbox_read |= is_mailbox,
            }
        }
    }

    /// Writes `data`; false when the access does not count.
    pub(crate) fn write(&mut self, address: u16, data: &[u8], now_ns: u64) -> bool {
        let span = Span::new(address, data.len());
        if span.start < usize::from(r::RAM) {
            return self.write_registers(span, data, now_ns);
        }
        if span.end > self.memory.len() || !self.passes(Action::Write, span) {
            return false;
        }
        self.memory[span.start..span.end].copy_from_slice(data);
        self.note(Action::Write, span, now_ns);
        true
    }

    fn write_registers(&mut self, span: Span, data: &[u8], now_ns: u64) -> bool {
        if span.end > usize::from(r::RAM) {
            return false;
        }
        let guarded = span.touches(r::DIGITAL_OUTPUTS, 4);
        if guarded && !self.passes(Action::Write, span) {
            return false;
        }
        let mut counts = false;
        let access = self.access.of(span);
        for ((byte, new), access) in
            self.memory[span.start..span.end].iter_mut().zip(data).zip(access)
        {
            if access & WRITE != 0 {
                *byte = *new;
                counts = true;
            }
        }
        if counts {
            self.act(span, data, now_ns);
        }
        if counts && guarded {
            self.note(Action::Write, span, now_ns);
        }
        counts
    }

    /// Reads into `data` and writes what stood there before: +1 for the read, +2 for the write.
    pub(crate) fn exchange(
        &mut self,
        address: u16,
        data: &mut [u8],
        scratch: &mut [u8],
        now_ns: u64,
    ) -> u16 {
        let sent = &mut scratch[..data.len()];
        sent.copy_from_slice(data);
        let read = self.read(address, data, now_ns);
        let written = self.write(address, sent, now_ns);
        u16::from(read) + 2 * u16::from(written)
    }

    /// Reads and combines with what is in `data` by or.
    pub(crate) fn combine(
        &mut self,
        address: u16,
        data: &mut [u8],
        scratch: &mut [u8],
        now_ns: u64,
    ) -> bool {
        let own = &mut scratch[..data.len()];
        let read = self.read(address, own, now_ns);
        if read {
            for (byte, own) in data.iter_mut().zip(own.iter()) {
                *byte |= own;
            }
        }
        read
    }
}
