//! Analog terminals: four voltages in, four voltages out, ±10 V as ±32767.
//!
//! Outputs fall to zero outside of OP and when the watchdog expires. Each channel of the inputs has
//! one PDO with the value alone, so that a MainDevice may leave channels out.

use std::sync::LazyLock;

use quietcore_units::DataType;

use crate::application::{Application, Situation};
use crate::blueprint::{
    Blueprint, Controller, MailboxPlace, Pdo, PdoEntry, SyncManagerPlan, SyncManagerUse, Timing,
};
use crate::describe::{Identity, Signal, SignalDirection};

const CHANNELS: usize = 4;
const VOLTS_MAX: f64 = 10.0;
const COUNTS_MAX: f64 = 32_767.0;
const UNIT: &str = "10 V / 32767";

const INPUT_NAMES: [&str; CHANNELS] = ["input_1", "input_2", "input_3", "input_4"];
const OUTPUT_NAMES: [&str; CHANNELS] = ["output_1", "output_2", "output_3", "output_4"];

static INPUT_SIGNALS: LazyLock<[Signal; CHANNELS]> =
    LazyLock::new(|| INPUT_NAMES.map(|name| voltage(name, SignalDirection::Sensor)));
static OUTPUT_SIGNALS: LazyLock<[Signal; CHANNELS]> =
    LazyLock::new(|| OUTPUT_NAMES.map(|name| voltage(name, SignalDirection::Actuator)));

fn voltage(name: &'static str, direction: SignalDirection) -> Signal {
    Signal { name: name.into(), direction, unit: "V", minimum: -VOLTS_MAX, maximum: VOLTS_MAX }
}

/// Volts to counts; what is no number counts as zero.
fn counts(volts: f64) -> i16 {
    (volts / VOLTS_MAX * COUNTS_MAX).round().clamp(-COUNTS_MAX, COUNTS_MAX) as i16
}

#[derive(Default)]
struct AnalogInput {
    volts: [f64; CHANNELS],
}

impl Application for AnalogInput {
    fn consume(&mut self, _: Situation, _: &[u8]) {}

    fn produce(&mut self, _: Situation, inputs: &mut [u8]) {
        for (place, volts) in inputs.chunks_exact_mut(2).zip(self.volts) {
            place.copy_from_slice(&counts(volts).to_le_bytes());
        }
    }

    fn signals(&self) -> &[Signal] {
        &*INPUT_SIGNALS
    }

    fn sense(&mut self, signal: usize, value: f64) {
        if let Some(volts) = self.volts.get_mut(signal) {
            *volts = value;
        }
    }
}

#[derive(Default)]
struct AnalogOutput {
    volts: [f64; CHANNELS],
}

impl Application for AnalogOutput {
    fn consume(&mut self, situation: Situation, outputs: &[u8]) {
        if !situation.outputs_valid {
            self.volts = [0.0; CHANNELS];
            return;
        }
        for (volts, place) in self.volts.iter_mut().zip(outputs.chunks_exact(2)) {
            let counts = i16::from_le_bytes([place[0], place[1]]);
            *volts = f64::from(counts) / COUNTS_MAX * VOLTS_MAX;
        }
    }

    fn produce(&mut self, _: Situation, _: &mut [u8]) {}

    fn signals(&self) -> &[Signal] {
        &*OUTPUT_SIGNALS
    }

    fn actuator(&self, signal: usize) -> f64 {
        self.volts.get(signal).copied().unwrap_or(0.0)
    }
}

/// Making and application of the input terminal.
pub(super) fn input_parts(identity: Identity) -> (Blueprint, Box<dyn Application>) {
    let pdos = channels(0x1A00, 0x6000, 0x11, 3, &INPUT_NAMES);
    let blueprint = terminal("analog-input-4", "QC-AI4", identity, pdos);
    (blueprint, Box::new(AnalogInput::default()))
}

/// Making and application of the output terminal.
pub(super) fn output_parts(identity: Identity) -> (Blueprint, Box<dyn Application>) {
    let pdos = channels(0x1600, 0x7000, 0x01, 2, &OUTPUT_NAMES);
    let blueprint = terminal("analog-output-4", "QC-AO4", identity, pdos);
    (blueprint, Box::new(AnalogOutput::default()))
}

fn channels(
    pdo: u16,
    object: u16,
    subindex: u8,
    sync_manager: u8,
    names: &[&'static str; CHANNELS],
) -> Vec<Pdo> {
    names
        .iter()
        .enumerate()
        .map(|(channel, name)| Pdo {
            index: pdo + channel as u16,
            is_received: pdo < 0x1A00,
            name: (*name).into(),
            sync_manager: Some(sync_manager),
            flexible: false,
            entries: vec![PdoEntry {
                index: object + 0x10 * channel as u16,
                subindex,
                bits: 16,
                data_type: Some(DataType::I16),
                name: (*name).into(),
                unit: UNIT.into(),
            }],
        })
        .collect()
}

/// SyncManagers of a device with mailbox: two mailboxes, outputs, inputs.
pub(super) fn sync_managers(
    mailbox: MailboxPlace,
    output_bytes: u16,
    input_bytes: u16,
) -> Vec<SyncManagerPlan> {
    let plan = |start, length, control, usage| SyncManagerPlan {
        start,
        length,
        control,
        enable: u8::from(length > 0),
        usage,
    };
    vec![
        plan(mailbox.receive, mailbox.receive_bytes, 0x26, SyncManagerUse::MailboxReceive),
        plan(mailbox.send, mailbox.send_bytes, 0x22, SyncManagerUse::MailboxSend),
        plan(0x1400, output_bytes, 0x64, SyncManagerUse::Outputs),
        plan(0x1600, input_bytes, 0x20, SyncManagerUse::Inputs),
    ]
}

/// The mailboxes of our devices.
pub(super) const MAILBOX: MailboxPlace = MailboxPlace {
    receive: 0x1000,
    receive_bytes: 128,
    send: 0x1100,
    send_bytes: 128,
    complete_access: true,
};

fn terminal(
    name: &'static str,
    order: &'static str,
    identity: Identity,
    pdos: Vec<Pdo>,
) -> Blueprint {
    let bytes = CHANNELS as u16 * 2;
    let received = pdos.iter().any(|pdo| pdo.is_received);
    let (output_bytes, input_bytes) = if received { (bytes, 0) } else { (0, bytes) };
    Blueprint {
        name: name.into(),
        order: order.into(),
        identity,
        controller: Controller::like_et1100(),
        device_emulation: false,
        mailbox: Some(MAILBOX),
        sync_managers: sync_managers(MAILBOX, output_bytes, input_bytes),
        fmmu_usage: vec![1, 2, 3],
        pdos,
        objects: Vec::new(),
        timing: Timing::default(),
        sii: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voltages_and_counts_agree_at_the_ends_and_beyond() {
        assert_eq!(counts(10.0), 32_767);
        assert_eq!(counts(-10.0), -32_767);
        assert_eq!(counts(99.0), 32_767);
        assert_eq!(counts(0.0), 0);
        assert_eq!(counts(f64::NAN), 0);
    }
}
