//! Faults taking effect: on frames, on single SubDevices, on working counters.

use quietcore_units::Nanos;

use crate::coe::Emergency;
use crate::faults::{FaultKind, Faults, Standing};
use crate::frame::Command;
use crate::segment::{Delivery, Segment};
use crate::subdevice::Trouble;

/// Offset of the EtherCAT part of a frame.
const PAYLOAD_START: usize = 14;

/// Effects of the faults on the present frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Number of SubDevices that are connected and have power.
    pub(crate) reach: usize,
    lose: bool,
    delay: Option<Nanos>,
    corrupt: bool,
    duplicate: bool,
    /// Some working counter is falsified.
    counters: bool,
}

impl Effects {
    /// Returns the number added to a working counter that a SubDevice counts up.
    #[inline]
    pub(crate) fn counter_offset(
        &self,
        faults: &Faults,
        position: usize,
        present: Option<Command>,
    ) -> i16 {
        if !self.counters {
            return 0;
        }
        (0..faults.len())
            .map(|at| faults.get(at))
            .filter(crate::faults::Listed::is_active)
            .map(|listed| match listed.fault.kind {
                FaultKind::WorkingCounter { subdevice, command, offset }
                    if subdevice == position && (command.is_none() || command == present) =>
                {
                    offset
                }
                _ => 0,
            })
            .fold(0, i16::wrapping_add)
    }
}

impl Segment {
    /// Judges all faults for the present frame and lets them take effect.
    pub(crate) fn apply_faults(&mut self, now: Nanos) -> Effects {
        let mut effects = Effects {
            reach: self.subdevices.len(),
            lose: false,
            delay: None,
            corrupt: false,
            duplicate: false,
            counters: false,
        };
        if self.faults.len() == 0 && !self.faults.is_changed {
            return effects;
        }
        self.faults.is_changed = false;
        for at in 0..self.faults.len() {
            let frame = self.counters.frames;
            let standing = self.faults.get_mut(at).judge(frame, now, &mut self.chance);
            self.take_effect(at, standing, now, &mut effects);
        }
        for position in 0..self.subdevices.len() {
            let trouble = self.trouble_of(position);
            self.set_trouble(position, trouble, now);
        }
        effects
    }

    fn take_effect(&mut self, at: usize, standing: Standing, now: Nanos, effects: &mut Effects) {
        let kind = self.faults.get(at).fault.kind;
        let active = matches!(standing, Standing::Begins | Standing::Lasts);
        match kind {
            FaultKind::LoseFrame => effects.lose |= active,
            FaultKind::DelayFrame(by) if active => effects.delay = effects.delay.max(Some(by)),
            FaultKind::CorruptFrame => effects.corrupt |= active,
            FaultKind::DuplicateFrame => effects.duplicate |= active,
            FaultKind::WorkingCounter { .. } => effects.counters |= active,
            FaultKind::Disconnect { subdevice } | FaultKind::PowerLoss { subdevice } if active => {
                effects.reach = effects.reach.min(subdevice);
            }
            FaultKind::ClockJitter { subdevice, up_to } => {
                self.shake_clock(at, subdevice, up_to, active, now);
            }
            _ if standing == Standing::Begins => self.happen_once(kind, now),
            _ => {}
        }
    }

    /// Faults that are an event.
    fn happen_once(&mut self, kind: FaultKind, now: Nanos) {
        let now_ns = now.get();
        match kind {
            FaultKind::AlStateDrop { subdevice, code } => {
                if let Some(device) = self.subdevices.get_mut(subdevice) {
                    device.drop_state(code, now_ns);
                }
            }
            FaultKind::SdoAbort { subdevice, served, code } => {
                if let Some(device) = self.subdevices.get_mut(subdevice) {
                    device.abort_sdo(served, code);
                }
            }
            FaultKind::Emergency { subdevice, code, count } => {
                if let Some(device) = self.subdevices.get_mut(subdevice) {
                    for number in 0..count {
                        device.alarm(Emergency { code, register: 1, data: [number, 0, 0, 0, 0] });
                    }
                }
            }
            FaultKind::SiiCorrupt { subdevice, word, mask } => {
                if let Some(device) = self.subdevices.get_mut(subdevice) {
                    device.esc.eeprom.invert(word, mask);
                }
            }
            FaultKind::ClockDrift { subdevice, ppb } => {
                if let Some(clock) = self.clock_mut(subdevice) {
                    clock.set_drift(ppb, now_ns);
                }
            }
            FaultKind::ClockStep { subdevice, by_ns } => {
                if let Some(clock) = self.clock_mut(subdevice) {
                    clock.step(by_ns, now_ns);
                }
            }
            _ => return,
        }
        self.refresh_all();
    }

    fn clock_mut(&mut self, subdevice: usize) -> Option<&mut crate::esc::Clock> {
        self.subdevices.get_mut(subdevice)?.esc.clock.as_mut()
    }

    fn shake_clock(&mut self, at: usize, subdevice: usize, up_to: Nanos, active: bool, now: Nanos) {
        let limit = up_to.get().min(i64::MAX as u64 / 4);
        let wanted =
            if active { self.chance.below(2 * limit + 1) as i64 - limit as i64 } else { 0 };
        let before = std::mem::replace(&mut self.faults.get_mut(at).jitter_ns, wanted);
        if let Some(clock) = self.clock_mut(subdevice) {
            clock.step(wanted - before, now.get());
        }
    }

    /// The lasting faults of one SubDevice.
    fn trouble_of(&self, position: usize) -> Trouble {
        let mut trouble = Trouble::default();
        for at in 0..self.faults.len() {
            let listed = self.faults.get(at);
            if !listed.is_active() {
                continue;
            }
            match listed.fault.kind {
                FaultKind::AlStateStuck { subdevice } => {
                    trouble.state_stuck |= subdevice == position;
                }
                FaultKind::SiiBusy { subdevice } => trouble.eeprom_stuck |= subdevice == position,
                FaultKind::MailboxSilent { subdevice } => {
                    trouble.mailbox_silent |= subdevice == position;
                }
                FaultKind::MailboxCounter { subdevice } => {
                    trouble.mailbox_counter |= subdevice == position;
                }
                FaultKind::PowerLoss { subdevice } => trouble.dark |= subdevice == position,
                _ => {}
            }
        }
        trouble
    }

    fn set_trouble(&mut self, position: usize, trouble: Trouble, now: Nanos) {
        let before = self.subdevices[position].trouble();
        if trouble == before {
            return;
        }
        let subdevice = &mut self.subdevices[position];
        subdevice.set_trouble(trouble);
        if before.dark && !trouble.dark {
            subdevice.power_cycle(now);
        } else if trouble.dark && !before.dark {
            subdevice.lose_power(now.get());
        }
        self.refresh(position);
    }

    /// Decides the fate of the frame on its way back.
    pub(crate) fn deliver(&mut self, frame: &mut [u8], effects: &Effects) -> Delivery {
        if effects.lose {
            return Delivery::Lost;
        }
        if effects.corrupt {
            self.corrupt(frame, effects.reach);
            return Delivery::Corrupted;
        }
        match effects.delay {
            Some(by) => Delivery::Late(by),
            None if effects.duplicate => Delivery::Duplicate,
            None => Delivery::Deliver,
        }
    }

    /// Damages the frame between two SubDevices on its way back.
    fn corrupt(&mut self, frame: &mut [u8], reach: usize) {
        let bits = (frame.len() - PAYLOAD_START) as u64 * 8;
        let bit = self.chance.below(bits) as usize;
        frame[PAYLOAD_START + bit / 8] ^= 1 << (bit % 8);
        let place = self.chance.below(reach as u64) as usize;
        for (position, subdevice) in self.subdevices[..place.min(reach)].iter_mut().enumerate() {
            subdevice.esc.count_damaged(position + 1 < place);
        }
    }
}
