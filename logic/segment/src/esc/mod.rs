//! One EtherCAT SubDevice controller: registers and RAM as a MainDevice reads and writes them.
//!
//! Every access goes through [`Esc::read`], [`Esc::write`] or [`Esc::exchange`]. They answer
//! whether it counts in the working counter, and note in [`Attention`] what the device behind must
//! look at.

mod access;
pub(crate) mod al_state;
mod clock;
mod datagram_access;
pub(crate) mod eeprom;
mod fmmu;
mod logical;
mod ports;
pub(crate) mod registers;
mod sync_manager;
mod watchdog;

use access::AccessMap;
use al_state::{AlRequest, AlState, AlStatus, code};
pub(crate) use clock::Clock;
use eeprom::Eeprom;
use fmmu::{FMMUS_MAX, Fmmu};
use registers as r;
use registers::Span;
use sync_manager::SYNC_MANAGERS_MAX;
pub(crate) use sync_manager::SyncManager;
use watchdog::Watchdog;

use crate::blueprint::Blueprint;

/// Actions of a MainDevice that the device must look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attention {
    /// A request for an AL state.
    pub(crate) al_request: Option<AlRequest>,
    /// The mailbox to the device is full.
    pub(crate) mailbox_written: bool,
    /// The mailbox from the device was read.
    pub(crate) mailbox_read: bool,
    /// The last mailbox shall be sent again.
    pub(crate) mailbox_repeat: bool,
    /// The outputs came completely.
    pub(crate) outputs_written: bool,
    /// The controller shall be reset.
    pub(crate) reset: bool,
    /// The addresses that it answers to may have changed.
    pub(crate) address: bool,
    /// Clock or watchdog were set.
    pub(crate) timing: bool,
}

/// The EtherCAT controller of one SubDevice.
pub(crate) struct Esc {
    /// The registers, followed by the process data RAM.
    pub(crate) memory: Box<[u8]>,
    access: AccessMap,
    fmmus: [Fmmu; FMMUS_MAX],
    /// The units that may be active are the first ones, this many; saves the walk over the others.
    fmmus_in_use: usize,
    /// Number of units that the chip has.
    fmmu_count: usize,
    pub(crate) sync_managers: [SyncManager; SYNC_MANAGERS_MAX],
    sync_manager_count: usize,
    /// The SyncManagers of process data, a bit each. Some devices have a single buffer for them,
    /// with the control register of a mailbox.
    process_data: u16,
    pub(crate) eeprom: Eeprom,
    pub(crate) clock: Option<Clock>,
    pub(crate) watchdog: Watchdog,
    pub(crate) attention: Attention,
    /// Time from port 0 to port 1 over all devices behind; `None` when there are none.
    round_trip_ns: Option<u64>,
    reset_progress: u8,
    device_emulation: bool,
    /// A fault: a device without processor does not follow the AL control.
    pub(crate) state_stuck: bool,
    shows_writing: bool,
    /// Constant low bits of the DL status.
    dl_status: u8,
}

impl Esc {
    /// The controller of a device, as it is after power-up at `now_ns`.
    pub(crate) fn new(blueprint: &Blueprint, eeprom: Eeprom, now_ns: u64) -> Self {
        let controller = &blueprint.controller;
        let ram = usize::from(controller.ram_kib.min(60)) * 1024;
        let carriers = [true, false].map(|received| blueprint.layout(received).carriers);
        let process_data = carriers.iter().flatten().fold(0, |all, it| all | 1 << it.manager);
        let mut esc = Self {
            memory: vec![0; usize::from(r::RAM) + ram].into_boxed_slice(),
            access: AccessMap::new(controller),
            fmmus: [Fmmu::default(); FMMUS_MAX],
            fmmus_in_use: 0,
            fmmu_count: usize::from(controller.fmmus).min(FMMUS_MAX),
            sync_managers: [SyncManager::default(); SYNC_MANAGERS_MAX],
            sync_manager_count: usize::from(controller.sync_managers).min(SYNC_MANAGERS_MAX),
            process_data,
            clock: controller.clock.map(|making| Clock::new(making, now_ns)),
            eeprom,
            watchdog: Watchdog::default(),
            attention: Attention::default(),
            round_trip_ns: None,
            reset_progress: 0,
            device_emulation: blueprint.device_emulation,
            state_stuck: false,
            shows_writing: controller.shows_writing,
            dl_status: controller.dl_status,
        };
        esc.power_up(blueprint);
        esc
    }

    fn power_up(&mut self, blueprint: &Blueprint) {
        let controller = &blueprint.controller;
        let head = [
            controller.kind,
            controller.revision,
            controller.build.to_le_bytes()[0],
            controller.build.to_le_bytes()[1],
            controller.fmmus,
            controller.sync_managers,
            controller.ram_kib,
            controller.ports,
            controller.features.to_le_bytes()[0],
            controller.features.to_le_bytes()[1],
        ];
        r::put(&mut self.memory, r::TYPE, &head);
        r::put(&mut self.memory, r::PDI_CONTROL, &self.eeprom.word(0).to_le_bytes());
        r::put(&mut self.memory, r::PDI_CONFIGURATION, &self.eeprom.word(1).to_le_bytes());
        r::put(&mut self.memory, r::WATCHDOG_DIVIDER, &watchdog::DIVIDER_DEFAULT.to_le_bytes());
        r::put(&mut self.memory, r::WATCHDOG_TIME_PDI, &watchdog::TICKS_DEFAULT.to_le_bytes());
        r::put(&mut self.memory, r::WATCHDOG_TIME, &watchdog::TICKS_DEFAULT.to_le_bytes());
        self.watchdog.set(watchdog::DIVIDER_DEFAULT, watchdog::TICKS_DEFAULT);
        r::put(&mut self.memory, r::WATCHDOG_STATUS, &[1]);
        self.load_alias();
        r::put(&mut self.memory, r::AL_CONTROL, &[AlState::Init as u8]);
        self.set_status(AlStatus { state: AlState::Init, error: false, code: code::NONE });
    }

    /// Takes the alias over from the SII, unless its checksum is wrong.
    fn load_alias(&mut self) {
        let alias = if self.eeprom.is_sound() { self.eeprom.word(4) } else { 0 };
        r::put(&mut self.memory, r::STATION_ALIAS, &alias.to_le_bytes());
    }

    /// The addresses that it answers to: its station address, and its alias where that is on, else
    /// the station address again.
    pub(crate) fn addresses(&self) -> [u16; 2] {
        let station = r::get_u16(&self.memory, r::STATION_ADDRESS);
        let alias_on = self.memory[usize::from(r::DL_CONTROL) + 3] & 1 != 0;
        [station, if alias_on { r::get_u16(&self.memory, r::STATION_ALIAS) } else { station }]
    }

    /// Returns the AL status with its code.
    pub(crate) fn status(&self) -> AlStatus {
        let low = self.memory[usize::from(r::AL_STATUS)];
        AlStatus {
            // A device with emulation may show a number that is no state.
            state: AlState::from_bits(low).unwrap_or(AlState::Init),
            error: low & 0x10 != 0,
            code: r::get_u16(&self.memory, r::AL_STATUS_CODE),
        }
    }

    /// Shows an AL status.
    pub(crate) fn set_status(&mut self, status: AlStatus) {
        let low = status.state as u8 | (u8::from(status.error) << 4);
        r::put(&mut self.memory, r::AL_STATUS, &u16::from(low).to_le_bytes());
        r::put(&mut self.memory, r::AL_STATUS_CODE, &status.code.to_le_bytes());
        self.raise(EVENT_AL_STATUS);
        if status.state != AlState::Op {
            self.watchdog.stop();
        }
    }

    fn raise(&mut self, event: u16) {
        let events = r::get_u16(&self.memory, r::EVENTS) | event;
        r::put(&mut self.memory, r::EVENTS, &events.to_le_bytes());
    }

    /// The events that the MainDevice wants to be told of in each datagram.
    #[inline]
    pub(crate) fn wanted_events(&self) -> u16 {
        r::get_u16(&self.memory, r::EVENTS) & r::get_u16(&self.memory, r::EVENT_MASK)
    }

    /// Carries out the effects of a write to registers.
    fn act(&mut self, span: Span, data: &[u8], now_ns: u64) {
        if span.start <= usize::from(r::RECEIVE_TIMES) {
            self.act_below_clock(span, now_ns);
        }
        if let Some(clock) = &mut self.clock
            && span.touches(r::SYSTEM_TIME, usize::from(r::LATCH_END - r::SYSTEM_TIME))
        {
            let written = written_time(span, data);
            self.attention.timing |=
                span.touches(r::CYCLIC_UNIT, usize::from(r::LATCH_CONTROL - r::CYCLIC_UNIT));
            clock.written(span, &mut self.memory, written, now_ns);
        }
    }

    /// The same for the registers below the clock's. Each frame writes the clock's, so that these
    /// stand apart.
    fn act_below_clock(&mut self, span: Span, now_ns: u64) {
        if span.covers(usize::from(r::AL_CONTROL)) {
            self.al_control_written();
        }
        if Eeprom::owns(span) && self.eeprom.written(span, &mut self.memory, now_ns) {
            self.load_alias();
            self.attention.address = true;
        }
        self.attention.address |=
            span.touches(r::STATION_ADDRESS, 2) || span.touches(r::DL_CONTROL, 4);
        if span.touches(r::FMMUS, FMMUS_MAX * usize::from(r::FMMU_BYTES)) {
            self.fmmus_written();
        }
        if span.touches(r::SYNC_MANAGERS, SYNC_MANAGERS_MAX * 8) {
            self.sync_managers_written(span);
        }
        if span
            .touches(r::WATCHDOG_DIVIDER, usize::from(r::WATCHDOG_TIME + 2 - r::WATCHDOG_DIVIDER))
        {
            self.attention.timing = true;
            let divider = r::get_u16(&self.memory, r::WATCHDOG_DIVIDER);
            self.watchdog.set(divider, r::get_u16(&self.memory, r::WATCHDOG_TIME));
        }
        self.counters_written(span);
        if span.covers(usize::from(r::RESET)) {
            self.reset_written();
        }
        if span.covers(usize::from(r::RECEIVE_TIMES)) {
            self.latch_receive_times(now_ns);
        }
    }

    fn al_control_written(&mut self) {
        let low = self.memory[usize::from(r::AL_CONTROL)];
        if self.device_emulation && self.state_stuck {
            return;
        }
        if self.device_emulation {
            // The status shows what was asked for; there is nobody to refuse it.
            r::put(&mut self.memory, r::AL_STATUS, &u16::from(low & 0x1F).to_le_bytes());
            self.raise(EVENT_AL_STATUS);
            if low & 0x0F != AlState::Op as u8 {
                self.watchdog.stop();
            }
        } else {
            self.attention.al_request = Some(AlRequest::decode(low));
        }
    }

    fn fmmus_written(&mut self) {
        self.fmmus_in_use = 0;
        for index in 0..self.fmmu_count {
            let start = usize::from(r::FMMUS + index as u16 * r::FMMU_BYTES);
            let registers: &[u8; 16] =
                self.memory[start..start + 16].try_into().expect("a range of 16 bytes");
            self.fmmus[index] = Fmmu::decode(registers);
            if self.fmmus[index].active {
                self.fmmus_in_use = index + 1;
            }
        }
    }

    fn sync_managers_written(&mut self, span: Span) {
        for index in 0..self.sync_manager_count {
            let start = sync_manager_address(index);
            if !span.touches(start, usize::from(r::SYNC_MANAGER_BYTES)) {
                continue;
            }
            let at = usize::from(start);
            let (control, activate) = (self.memory[at + 4], self.memory[at + 6]);
            let repeat_asked = (activate ^ self.memory[at + 7]) & 2 != 0;
            let manager = &mut self.sync_managers[index];
            manager.configure(
                r::get_u16(&self.memory, start),
                r::get_u16(&self.memory, start + 2),
                control,
                activate,
            );
            let is_send = manager.is_mailbox() && !manager.is_written_by_main_device();
            self.attention.mailbox_repeat |= repeat_asked && is_send && manager.is_on();
        }
    }

    fn reset_written(&mut self) {
        // Three writes of one byte each: `R`, `E`, `S` (ESC data sheet, register 0x0040).
        let byte = self.memory[usize::from(r::RESET)];
        self.reset_progress = match (self.reset_progress, byte) {
            (_, b'R') => 1,
            (1, b'E') => 2,
            (2, b'S') => {
                self.attention.reset = true;
                0
            }
            _ => 0,
        };
        self.memory[usize::from(r::RESET)] = self.reset_progress;
    }

    /// The device has read process data, or written them: a single buffer is free, or full.
    pub(crate) fn process_data_passed(&mut self, index: usize) {
        let manager = &mut self.sync_managers[index];
        match manager.is_written_by_main_device() {
            _ if !manager.is_mailbox() => {}
            true => manager.taken(),
            false => manager.written(),
        }
    }

    /// The device has read the mailbox that the MainDevice wrote.
    pub(crate) fn mailbox_taken(&mut self, index: usize) {
        self.sync_managers[index].taken();
    }

    /// The device has begun to write its next mailbox.
    pub(crate) fn mailbox_begun(&mut self, index: usize) {
        self.sync_managers[index].begin_writing(self.shows_writing);
    }

    /// Acknowledges a repeat request.
    pub(crate) fn acknowledge_repeat(&mut self, index: usize) {
        let at = usize::from(sync_manager_address(index));
        self.memory[at + 7] = (self.memory[at + 7] & !2) | (self.memory[at + 6] & 2);
    }
}

/// The AL status changed.
const EVENT_AL_STATUS: u16 = 1 << 3;
/// The DL status changed.
const EVENT_DL_STATUS: u16 = 1 << 2;

fn sync_manager_address(index: usize) -> u16 {
    r::SYNC_MANAGERS + index as u16 * r::SYNC_MANAGER_BYTES
}

/// The value that a write put to 0x0910, with the bytes it had.
fn written_time(span: Span, data: &[u8]) -> Option<(u64, usize)> {
    let at = usize::from(r::SYSTEM_TIME).checked_sub(span.start)?;
    let value = data.get(at..)?;
    let width = value.len().min(8);
    if width < 4 {
        return None;
    }
    let mut bytes = [0; 8];
    bytes[..width].copy_from_slice(&value[..width]);
    Some((u64::from_le_bytes(bytes), width))
}
