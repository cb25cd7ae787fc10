//! Digital terminals: eight switches in, eight switches out.
//!
//! No processor: the controller's own pins are the inputs and outputs. Outputs fall to zero when
//! the watchdog expires, and the AL state stays as it was asked for.

use std::borrow::Cow;
use std::sync::LazyLock;

use quietcore_units::DataType;

use crate::application::{Application, Situation};
use crate::blueprint::{
    Blueprint, Controller, Pdo, PdoEntry, SyncManagerPlan, SyncManagerUse, Timing,
};
use crate::describe::{Identity, Signal, SignalDirection};

/// A switch counts as on from the middle of its range.
pub(super) const THRESHOLD: f64 = 0.5;
/// First address of the outputs of devices without mailbox.
const OUTPUT_START: u16 = 0x1000;
const INPUT_START: u16 = 0x1000;

const INPUT_NAMES: [&str; 8] =
    ["input_1", "input_2", "input_3", "input_4", "input_5", "input_6", "input_7", "input_8"];
const OUTPUT_NAMES: [&str; 8] = [
    "output_1", "output_2", "output_3", "output_4", "output_5", "output_6", "output_7", "output_8",
];

static INPUT_SIGNALS: LazyLock<[Signal; 8]> =
    LazyLock::new(|| INPUT_NAMES.map(|name| switch(name.into(), SignalDirection::Sensor)));
static OUTPUT_SIGNALS: LazyLock<[Signal; 8]> =
    LazyLock::new(|| OUTPUT_NAMES.map(|name| switch(name.into(), SignalDirection::Actuator)));

/// A connector that is on or off.
pub(super) const fn switch(name: Cow<'static, str>, direction: SignalDirection) -> Signal {
    Signal { name, direction, unit: "", minimum: 0.0, maximum: 1.0 }
}

#[derive(Default)]
struct DigitalInput {
    switches: u8,
}

impl Application for DigitalInput {
    fn consume(&mut self, _: Situation, _: &[u8]) {}

    fn produce(&mut self, _: Situation, inputs: &mut [u8]) {
        inputs.fill(self.switches);
    }

    fn signals(&self) -> &[Signal] {
        &*INPUT_SIGNALS
    }

    fn sense(&mut self, signal: usize, value: f64) {
        if signal < INPUT_NAMES.len() {
            let bit = 1 << signal;
            self.switches =
                if value >= THRESHOLD { self.switches | bit } else { self.switches & !bit };
        }
    }
}

#[derive(Default)]
struct DigitalOutput {
    switches: u8,
}

impl Application for DigitalOutput {
    fn consume(&mut self, situation: Situation, outputs: &[u8]) {
        let valid = situation.outputs_valid;
        self.switches = outputs.first().copied().filter(|_| valid).unwrap_or(0);
    }

    fn produce(&mut self, _: Situation, _: &mut [u8]) {}

    fn signals(&self) -> &[Signal] {
        &*OUTPUT_SIGNALS
    }

    fn actuator(&self, signal: usize) -> f64 {
        let on = signal < OUTPUT_NAMES.len() && self.switches >> signal & 1 != 0;
        f64::from(u8::from(on))
    }
}

/// Making and application of the input terminal.
pub(super) fn input_parts(identity: Identity) -> (Blueprint, Box<dyn Application>) {
    let plan = SyncManagerPlan {
        start: INPUT_START,
        length: 1,
        control: 0x00,
        enable: 1,
        usage: SyncManagerUse::Inputs,
    };
    let pdos = channels(0x1A00, 0x6000, &INPUT_NAMES);
    let blueprint = terminal("digital-input-8", "QC-DI8", identity, plan, 2, pdos);
    (blueprint, Box::new(DigitalInput::default()))
}

/// Making and application of the output terminal.
pub(super) fn output_parts(identity: Identity) -> (Blueprint, Box<dyn Application>) {
    let plan = SyncManagerPlan {
        start: OUTPUT_START,
        length: 1,
        control: 0x44,
        enable: 1,
        usage: SyncManagerUse::Outputs,
    };
    let pdos = channels(0x1600, 0x7000, &OUTPUT_NAMES);
    let blueprint = terminal("digital-output-8", "QC-DO8", identity, plan, 1, pdos);
    (blueprint, Box::new(DigitalOutput::default()))
}

/// A PDO of one bit for each channel.
fn channels(pdo: u16, object: u16, names: &[&'static str; 8]) -> Vec<Pdo> {
    names
        .iter()
        .enumerate()
        .map(|(channel, name)| Pdo {
            index: pdo + channel as u16,
            is_received: pdo < 0x1A00,
            name: (*name).into(),
            sync_manager: Some(0),
            flexible: false,
            entries: vec![PdoEntry {
                index: object + 0x10 * channel as u16,
                subindex: 1,
                bits: 1,
                data_type: Some(DataType::Bool),
                name: (*name).into(),
                unit: "".into(),
            }],
        })
        .collect()
}

fn terminal(
    name: &'static str,
    order: &'static str,
    identity: Identity,
    plan: SyncManagerPlan,
    fmmu_usage: u8,
    pdos: Vec<Pdo>,
) -> Blueprint {
    Blueprint {
        name: name.into(),
        order: order.into(),
        identity,
        controller: Controller::for_terminals(),
        device_emulation: true,
        mailbox: None,
        sync_managers: vec![plan],
        fmmu_usage: vec![fmmu_usage],
        pdos,
        objects: Vec::new(),
        timing: Timing::default(),
        sii: None,
    }
}
