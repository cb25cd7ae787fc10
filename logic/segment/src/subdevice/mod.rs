//! One SubDevice: a controller, what it is for, and the firmware between them.
//!
//! ```text
//! advance(now) ─► AL requests and mailboxes that are due, watchdog, SYNC0
//! prepare(now) ─► inputs produced into the RAM
//!     … the datagrams of a frame read and write the controller …
//! settle(now)  ─► outputs consumed, new requests noted
//! ```

mod firmware;

use quietcore_units::Nanos;

use crate::application::Application;
use crate::blueprint::{Blueprint, Carrier, SyncManagerUse};
use crate::coe::Emergency;
use crate::coe::dictionary::Dictionary;
use crate::describe::{Description, Identity, Signal, SignalDirection};
use crate::device::{self, Entries, UnknownDevice};
use crate::esc::Esc;
use crate::esc::al_state::{AlRequest, AlState, AlStatus, code};
use crate::esc::eeprom::Eeprom;
use crate::mailbox::Mailbox;
use crate::process_data::ProcessImage;
use crate::{describe, sii};

/// Faults of one SubDevice that last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The AL state does not change.
    pub(crate) state_stuck: bool,
    /// The EEPROM stays busy.
    pub(crate) eeprom_stuck: bool,
    /// Mailboxes are not answered.
    pub(crate) mailbox_silent: bool,
    /// Answers carry a wrong counter.
    pub(crate) mailbox_counter: bool,
    /// There is no power.
    pub(crate) dark: bool,
}

/// One simulated SubDevice on the line.
pub struct SubDevice {
    pub(crate) esc: Esc,
    blueprint: Blueprint,
    application: Box<dyn Application>,
    dictionary: Dictionary,
    outputs: ProcessImage,
    inputs: ProcessImage,
    mailbox: Option<Mailbox>,
    /// The SyncManagers of the outputs.
    output_carriers: Vec<Carrier>,
    /// The SyncManagers of the inputs.
    input_carriers: Vec<Carrier>,
    /// A request for an AL state, and when it is done.
    request: Option<(AlRequest, u64)>,
    outputs_valid: bool,
    trouble: Trouble,
}

impl SubDevice {
    /// The built-in device of this name, powered up.
    ///
    /// # Errors
    ///
    /// [`UnknownDevice`] with the names that there are.
    pub fn by_name(name: &str) -> Result<Self, UnknownDevice> {
        device::build(name)
    }

    /// A device of this making, powered up, of which nothing but its process data is known: it
    /// keeps its outputs, and each number that is assigned at power-up is a connector, by its
    /// place, such as `input bit 16`. An input that no plant moves stays zero.
    pub fn of_entries(blueprint: Blueprint) -> Self {
        let application = Box::new(Entries::of(&blueprint));
        Self::new(blueprint, application)
    }

    /// A device of this making with this application, powered up.
    pub fn new(blueprint: Blueprint, application: Box<dyn Application>) -> Self {
        let content = blueprint.sii.clone().unwrap_or_else(|| sii::build(&blueprint));
        let eeprom = Eeprom::new(content, blueprint.controller.eeprom_status, &blueprint.timing);
        let dictionary = device::dictionary(&blueprint);
        let mailbox = mailbox(&blueprint, &dictionary);
        Self {
            esc: Esc::new(&blueprint, eeprom, 0),
            application,
            dictionary,
            outputs: ProcessImage::new(&blueprint, true),
            inputs: ProcessImage::new(&blueprint, false),
            mailbox,
            output_carriers: blueprint.layout(true).carriers,
            input_carriers: blueprint.layout(false).carriers,
            request: None,
            outputs_valid: false,
            trouble: Trouble::default(),
            blueprint,
        }
    }

    /// The name of the kind of device.
    pub fn name(&self) -> &str {
        &self.blueprint.name
    }

    /// Returns the description of the device for others.
    pub fn describe(&self) -> Description {
        describe::of(&self.blueprint, self.application.signals())
    }

    /// Returns the present AL state.
    pub fn state(&self) -> AlState {
        self.esc.status().state
    }

    /// The AL status code; zero when nothing went wrong.
    pub fn status_code(&self) -> u16 {
        self.esc.status().code
    }

    /// The station address that a MainDevice gave it.
    pub fn station_address(&self) -> u16 {
        crate::esc::registers::get_u16(&self.esc.memory, crate::esc::registers::STATION_ADDRESS)
    }

    /// The content of the EEPROM.
    pub fn sii(&self) -> &[u8] {
        self.esc.eeprom.content()
    }

    /// Fits another EEPROM, which counts from the next power-up on.
    pub fn fit_sii(&mut self, content: Vec<u8>) {
        self.esc.eeprom.fit(content);
    }

    /// Gives it another identity in its EEPROM, as if another device stood in its place.
    pub fn swap_identity(&mut self, identity: Identity) {
        self.blueprint.identity = identity;
        self.fit_sii(sii::build(&self.blueprint));
    }

    /// Returns its physical connectors, in order.
    pub fn signals(&self) -> &[Signal] {
        self.application.signals()
    }

    /// The number of the physical connector of this name and direction.
    pub fn signal(&self, direction: SignalDirection, name: &str) -> Option<usize> {
        self.signals()
            .iter()
            .position(|signal| (signal.direction, &*signal.name) == (direction, name))
    }

    /// The present value of an actuator, in its unit.
    pub fn actuator(&self, signal: usize) -> f64 {
        if self.trouble.dark { 0.0 } else { self.application.actuator(signal) }
    }

    /// Tells the value that a sensor sees, in its unit.
    pub fn sense(&mut self, signal: usize, value: f64) {
        self.application.sense(signal, value);
    }

    /// The outputs in the layout of the description, as last received.
    pub fn outputs(&self) -> &[u8] {
        self.outputs.own()
    }

    /// The inputs in the layout of the description, as last produced.
    pub fn inputs(&self) -> &[u8] {
        self.inputs.own()
    }

    /// The stored value of an object, little-endian; live process data are not in it.
    pub fn object(&self, index: u16, subindex: u8) -> Option<&[u8]> {
        Some(&self.dictionary.entry(index, subindex)?.value)
    }

    /// Turns the power off and on again at the time `now`.
    pub fn power_cycle(&mut self, now: Nanos) {
        self.restart(now.get());
    }

    fn restart(&mut self, now_ns: u64) {
        let content = self.esc.eeprom.content().to_vec();
        let eeprom =
            Eeprom::new(content, self.blueprint.controller.eeprom_status, &self.blueprint.timing);
        let round_trip_ns = self.esc.round_trip_ns();
        self.esc = Esc::new(&self.blueprint, eeprom, now_ns);
        self.esc.set_link(round_trip_ns);
        self.dictionary = device::dictionary(&self.blueprint);
        self.outputs = ProcessImage::new(&self.blueprint, true);
        self.inputs = ProcessImage::new(&self.blueprint, false);
        self.mailbox = mailbox(&self.blueprint, &self.dictionary);
        self.request = None;
        self.outputs_valid = false;
        self.consume(now_ns);
        let trouble = self.trouble;
        self.set_trouble(trouble);
    }

    /// Sets the lasting faults.
    pub(crate) fn set_trouble(&mut self, trouble: Trouble) {
        self.trouble = trouble;
        self.esc.eeprom.stuck = trouble.eeprom_stuck;
        self.esc.state_stuck = trouble.state_stuck;
        if let Some(mailbox) = &mut self.mailbox {
            mailbox.silent = trouble.mailbox_silent;
            mailbox.wrong_counter = trouble.mailbox_counter;
        }
    }

    /// Returns the lasting faults of this SubDevice.
    pub(crate) fn trouble(&self) -> Trouble {
        self.trouble
    }

    /// Takes the power away, and with it the state.
    pub(crate) fn lose_power(&mut self, now_ns: u64) {
        self.outputs_valid = false;
        self.esc.set_status(AlStatus { state: AlState::Init, error: false, code: code::NONE });
        self.consume(now_ns);
    }

    /// Leaves OP by itself, with this AL status code.
    pub(crate) fn drop_state(&mut self, code: u16, now_ns: u64) {
        let status = self.esc.status();
        let state = if status.state == AlState::Op { AlState::SafeOp } else { status.state };
        self.enter(AlStatus { state, error: true, code }, now_ns);
    }

    /// Sends an emergency message as soon as the mailbox is free; drops it without a mailbox that
    /// works, or behind too many others.
    pub fn alarm(&mut self, emergency: Emergency) {
        if let Some(mailbox) = &mut self.mailbox
            && self.esc.status().state.has_mailbox()
        {
            mailbox.alarm(emergency, &mut self.esc);
        }
    }

    /// Lets the SDO server abort one request with `code`, after `served` more requests.
    pub fn abort_sdo(&mut self, served: u32, code: u32) {
        if let Some(mailbox) = &mut self.mailbox {
            mailbox.server.abort_after = Some((served, code));
        }
    }
}

fn mailbox(blueprint: &Blueprint, dictionary: &Dictionary) -> Option<Mailbox> {
    let place = blueprint.mailbox?;
    let at = |usage| blueprint.sync_managers.iter().position(|plan| plan.usage == usage);
    Some(Mailbox::new(
        at(SyncManagerUse::MailboxReceive)?,
        at(SyncManagerUse::MailboxSend)?,
        blueprint.timing.mailbox.get(),
        usize::from(place.receive_bytes.max(place.send_bytes)),
        dictionary.bytes_max(),
    ))
}
