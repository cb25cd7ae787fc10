//! One SubDevice: a controller, what it is for, and the firmware between them.
//!
//! ```text
//! advance(now) ─► AL requests and mailboxes that are due, watchdog, SYNC0
//! prepare(now) ─► inputs produced into the RAM
//!     … the datagrams of a frame read and write the controller …
//! settle(now)  ─► outputs consumed, new requests noted
//! ```

use quietcore_units::Nanos;

use crate::application::{Application, Situation};
use crate::blueprint::{Blueprint, SyncManagerUse};
use crate::coe::Emergency;
use crate::coe::dictionary::Dictionary;
use crate::coe::objects::Objects;
use crate::describe::{Description, Identity, Signal, SignalDirection};
use crate::device::{self, UnknownDevice};
use crate::esc::Esc;
use crate::esc::al_state::{AlRequest, AlState, AlStatus, code, decide};
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

/// One simulated SubDevice.
pub struct SubDevice {
    pub(crate) esc: Esc,
    blueprint: Blueprint,
    application: Box<dyn Application>,
    dictionary: Dictionary,
    outputs: ProcessImage,
    inputs: ProcessImage,
    mailbox: Option<Mailbox>,
    output_manager: Option<usize>,
    input_manager: Option<usize>,
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

    /// A device of this making with this application, powered up.
    pub fn new(blueprint: Blueprint, application: Box<dyn Application>) -> Self {
        let content = blueprint.sii.clone().unwrap_or_else(|| sii::build(&blueprint));
        let eeprom = Eeprom::new(content, blueprint.controller.eeprom_status, &blueprint.timing);
        let dictionary = device::dictionary(&blueprint);
        let mailbox = mailbox(&blueprint, &dictionary);
        let manager = |usage| blueprint.sync_managers.iter().position(|plan| plan.usage == usage);
        Self {
            esc: Esc::new(&blueprint, eeprom, 0),
            application,
            dictionary,
            outputs: ProcessImage::new(&blueprint, true),
            inputs: ProcessImage::new(&blueprint, false),
            mailbox,
            output_manager: manager(SyncManagerUse::Outputs),
            input_manager: manager(SyncManagerUse::Inputs),
            request: None,
            outputs_valid: false,
            trouble: Trouble::default(),
            blueprint,
        }
    }

    /// The name of the kind of device.
    pub fn name(&self) -> &'static str {
        self.blueprint.name
    }

    /// What the device is.
    pub fn describe(&self) -> Description {
        describe::of(&self.blueprint, self.application.signals())
    }

    /// The AL state.
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

    /// Its physical connectors.
    pub fn signals(&self) -> &'static [Signal] {
        self.application.signals()
    }

    /// The number of the physical connector of this name and direction.
    pub fn signal(&self, direction: SignalDirection, name: &str) -> Option<usize> {
        self.signals()
            .iter()
            .position(|signal| (signal.direction, signal.name) == (direction, name))
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
        &self.outputs.own
    }

    /// The inputs in the layout of the description, as last produced.
    pub fn inputs(&self) -> &[u8] {
        &self.inputs.own
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
        if let Some(mailbox) = &mut self.mailbox {
            mailbox.silent = trouble.mailbox_silent;
            mailbox.wrong_counter = trouble.mailbox_counter;
        }
    }

    /// The lasting faults.
    pub(crate) fn trouble(&self) -> Trouble {
        self.trouble
    }

    /// Power has failed.
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

    /// Sends an emergency.
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

    /// The earliest time at which something happens in the device by itself.
    #[inline]
    pub(crate) fn next_event_ns(&self) -> Option<u64> {
        if self.trouble.dark {
            return None;
        }
        let mut next = self.esc.watchdog.expires_ns();
        let mut earlier = |candidate: Option<u64>| {
            next = match (next, candidate) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        };
        earlier(self.request.filter(|_| !self.trouble.state_stuck).map(|(_, due)| due));
        earlier(self.mailbox.as_ref().and_then(Mailbox::due_ns));
        if let Some(clock) = &self.esc.clock
            && clock.has_pulses()
        {
            earlier(clock.next_pulse_ns(&self.esc.memory));
        }
        next
    }

    /// Does what is due by `now_ns`.
    pub(crate) fn advance(&mut self, now_ns: u64) {
        if self.trouble.dark {
            return;
        }
        if self.esc.watchdog.expires_by(now_ns) {
            self.watchdog_expired(now_ns);
        }
        if let Some((request, due)) = self.request
            && due <= now_ns
            && !self.trouble.state_stuck
        {
            self.request = None;
            self.change_state(request, now_ns);
        }
        self.serve_mailbox(|mailbox, esc, objects| mailbox.advance(esc, objects, now_ns));
        let pulse = match &mut self.esc.clock {
            Some(clock) => clock.take_pulses(&self.esc.memory, now_ns),
            None => false,
        };
        if pulse {
            self.consume(now_ns);
            self.produce(now_ns);
        }
    }

    /// Lets the mailbox act, where the AL state has one.
    fn serve_mailbox(&mut self, act: impl FnOnce(&mut Mailbox, &mut Esc, &mut Objects<'_>)) {
        let state = self.esc.status().state;
        let Some(mailbox) = self.mailbox.as_mut().filter(|_| state.has_mailbox()) else {
            return;
        };
        let mut objects = Objects {
            dictionary: &mut self.dictionary,
            outputs: &mut self.outputs,
            inputs: &mut self.inputs,
            application: self.application.as_mut(),
            state,
        };
        act(mailbox, &mut self.esc, &mut objects);
    }

    fn watchdog_expired(&mut self, now_ns: u64) {
        self.esc.count_expiry();
        self.outputs_valid = false;
        if self.state() == AlState::Op && !self.blueprint.device_emulation {
            self.drop_state(code::WATCHDOG, now_ns);
        } else {
            self.consume(now_ns);
        }
    }

    /// Brings the inputs up to date before a frame reads them; not where SYNC0 does.
    #[inline]
    pub(crate) fn prepare(&mut self, now_ns: u64) {
        if self.input_manager.is_some() && !self.is_synchronous() {
            self.produce(now_ns);
        }
    }

    /// Whether SYNC0 drives the application.
    fn is_synchronous(&self) -> bool {
        self.esc.clock.as_ref().is_some_and(crate::esc::Clock::has_pulses)
    }

    /// Does what the frame that has just passed asks for; false when that is nothing.
    #[inline]
    pub(crate) fn settle(&mut self, now_ns: u64) -> bool {
        if self.esc.attention == crate::esc::Attention::default() {
            return false;
        }
        self.attend(now_ns);
        true
    }

    fn attend(&mut self, now_ns: u64) {
        let attention = std::mem::take(&mut self.esc.attention);
        if attention.outputs_written {
            self.outputs_written(now_ns);
        }
        if let Some(request) = attention.al_request {
            let due = now_ns.saturating_add(self.blueprint.timing.state_change.get());
            self.request = Some((request, due));
        }
        if attention.mailbox_written {
            self.serve_mailbox(|mailbox, _, _| mailbox.requested(now_ns));
        }
        if attention.mailbox_read {
            self.serve_mailbox(|mailbox, esc, objects| mailbox.fetched(esc, objects));
        }
        if attention.mailbox_repeat {
            self.serve_mailbox(|mailbox, esc, _| mailbox.repeat(esc));
        }
        if attention.reset {
            self.restart(now_ns);
        }
    }

    fn outputs_written(&mut self, now_ns: u64) {
        let Some(manager) = self.output_manager else {
            return;
        };
        let manager = self.esc.sync_managers[manager];
        if manager.length == self.outputs.mapped_bytes()
            && let Some(ram) = self.esc.ram(manager.start, manager.length)
        {
            self.outputs.take(ram);
        }
        self.outputs_valid = self.state() == AlState::Op;
        if !self.is_synchronous() {
            self.consume(now_ns);
        }
    }

    fn situation(&self, now_ns: u64) -> Situation {
        Situation {
            now: Nanos::new(now_ns),
            state: self.state(),
            outputs_valid: self.outputs_valid && !self.trouble.dark,
        }
    }

    fn consume(&mut self, now_ns: u64) {
        let situation = self.situation(now_ns);
        self.application.consume(situation, &self.outputs.own);
        while let Some(emergency) = self.application.take_emergency() {
            self.alarm(emergency);
        }
    }

    fn produce(&mut self, now_ns: u64) {
        let situation = self.situation(now_ns);
        if !situation.state.has_inputs() && !self.blueprint.device_emulation {
            return;
        }
        self.application.produce(situation, &mut self.inputs.own);
        let Some(manager) = self.input_manager else {
            return;
        };
        let manager = self.esc.sync_managers[manager];
        if manager.length == self.inputs.mapped_bytes()
            && let Some(ram) = self.esc.ram_mut(manager.start, manager.length)
        {
            self.inputs.put(ram);
        }
    }

    fn change_state(&mut self, request: AlRequest, now_ns: u64) {
        let before = self.esc.status();
        let after = decide(before, request, |next| self.missing(next));
        self.enter(after, now_ns);
    }

    /// Why a state cannot be entered from below.
    fn missing(&self, next: AlState) -> u16 {
        let managers = &self.esc.sync_managers;
        match next {
            AlState::Boot => code::NO_BOOT,
            AlState::PreOp if !self.mailboxes_set_up() => code::INVALID_MAILBOX,
            AlState::SafeOp => {
                if !fits(self.output_manager.map(|at| &managers[at]), &self.outputs) {
                    code::INVALID_OUTPUTS
                } else if !fits(self.input_manager.map(|at| &managers[at]), &self.inputs) {
                    code::INVALID_INPUTS
                } else {
                    code::NONE
                }
            }
            AlState::Op if self.pulses_missing() => code::NO_SYNC,
            _ => code::NONE,
        }
    }

    fn mailboxes_set_up(&self) -> bool {
        let Some(mailbox) = self.blueprint.mailbox else {
            return true;
        };
        let places = [
            (SyncManagerUse::MailboxReceive, mailbox.receive_bytes, true),
            (SyncManagerUse::MailboxSend, mailbox.send_bytes, false),
        ];
        places.into_iter().all(|(usage, bytes_max, written)| {
            let plans = &self.blueprint.sync_managers;
            let Some(at) = plans.iter().position(|plan| plan.usage == usage) else {
                return false;
            };
            let manager = &self.esc.sync_managers[at];
            manager.is_on()
                && manager.is_mailbox()
                && manager.is_written_by_main_device() == written
                && manager.length <= bytes_max
                && self.esc.ram(manager.start, manager.length).is_some()
        })
    }

    /// SYNC0 is switched on, but its start time has passed.
    fn pulses_missing(&self) -> bool {
        let activation = self.esc.memory[usize::from(crate::esc::registers::SYNC_ACTIVATION)];
        activation & 3 == 3 && !self.is_synchronous() && self.esc.clock.is_some()
    }

    fn outputs_feed_watchdog(&self) -> bool {
        self.output_manager.is_some_and(|at| self.esc.sync_managers[at].feeds_watchdog())
    }

    fn enter(&mut self, status: AlStatus, now_ns: u64) {
        let before = self.esc.status();
        self.esc.set_status(status);
        if status.state == AlState::Init
            && let Some(mailbox) = &mut self.mailbox
        {
            mailbox.reset();
        }
        if status.state == before.state {
            return;
        }
        if before.state == AlState::Init {
            self.esc.eeprom.read_by_processor();
            self.serve_mailbox(|mailbox, esc, _| mailbox.started(esc, now_ns));
        }
        self.outputs_valid = false;
        if status.state == AlState::Op {
            // Outputs that came in SAFE-OP count from the next frame on; the watchdog runs from
            // here, where there is something that feeds it.
            if self.outputs.mapped_bytes() > 0 && self.outputs_feed_watchdog() {
                self.esc.watchdog.feed(now_ns);
            }
        }
        if status.state.has_inputs() {
            self.produce(now_ns);
        }
        self.consume(now_ns);
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

/// Whether a SyncManager is set up for what is mapped: for nothing it may be off.
fn fits(manager: Option<&crate::esc::SyncManager>, image: &ProcessImage) -> bool {
    match (manager, image.mapped_bytes()) {
        (_, 0) => manager.is_none_or(|manager| !manager.is_on()),
        (Some(manager), bytes) => manager.is_on() && manager.length == bytes,
        (None, _) => false,
    }
}
