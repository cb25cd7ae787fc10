//! The firmware of a SubDevice: what it does by itself in time, and after each frame.

use quietcore_units::Nanos;

use crate::application::Situation;
use crate::blueprint::{Carrier, SyncManagerUse};
use crate::coe::objects::Objects;
use crate::esc::al_state::{AlRequest, AlState, AlStatus, code, decide};
use crate::esc::registers::SYNC_ACTIVATION;
use crate::esc::{Attention, Clock, Esc, SyncManager};
use crate::mailbox::Mailbox;
use crate::process_data::ProcessImage;
use crate::subdevice::SubDevice;

impl SubDevice {
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
        if !self.input_carriers.is_empty() && !self.is_synchronous() {
            self.produce(now_ns);
        }
    }

    /// Returns `true` if SYNC0 drives the application.
    fn is_synchronous(&self) -> bool {
        self.esc.clock.as_ref().is_some_and(Clock::has_pulses)
    }

    /// Does what the frame that has just passed asks for; false when that is nothing.
    #[inline]
    pub(crate) fn settle(&mut self, now_ns: u64) -> bool {
        if self.esc.attention == Attention::default() {
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
        if self.output_carriers.is_empty() {
            return;
        }
        for carrier in &self.output_carriers {
            let manager = self.esc.sync_managers[carrier.manager];
            if manager.length == carried(carrier, &self.output_carriers, &self.outputs)
                && let Some(ram) = self.esc.ram(manager.start, manager.length)
            {
                self.outputs.take(carrier.first, ram);
            }
            self.esc.process_data_passed(carrier.manager);
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

    pub(super) fn consume(&mut self, now_ns: u64) {
        let situation = self.situation(now_ns);
        self.application.consume(situation, self.outputs.own());
        while let Some(emergency) = self.application.take_emergency() {
            self.alarm(emergency);
        }
    }

    fn produce(&mut self, now_ns: u64) {
        let situation = self.situation(now_ns);
        if !situation.state.has_inputs() && !self.blueprint.device_emulation {
            return;
        }
        self.application.produce(situation, self.inputs.own_mut());
        for carrier in &self.input_carriers {
            let manager = self.esc.sync_managers[carrier.manager];
            if manager.length == carried(carrier, &self.input_carriers, &self.inputs)
                && let Some(ram) = self.esc.ram_mut(manager.start, manager.length)
            {
                self.inputs.put(carrier.first, ram);
            }
            self.esc.process_data_passed(carrier.manager);
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
                if !fit(&self.output_carriers, managers, &self.outputs) {
                    code::INVALID_OUTPUTS
                } else if !fit(&self.input_carriers, managers, &self.inputs) {
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
        let activation = self.esc.memory[usize::from(SYNC_ACTIVATION)];
        activation & 3 == 3 && !self.is_synchronous() && self.esc.clock.is_some()
    }

    fn outputs_feed_watchdog(&self) -> bool {
        let mut carriers = self.output_carriers.iter();
        carriers.any(|carrier| self.esc.sync_managers[carrier.manager].feeds_watchdog())
    }

    pub(super) fn enter(&mut self, status: AlStatus, now_ns: u64) {
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

/// The bytes that a SyncManager carries: what is mapped at present where it is the only one of its
/// direction.
fn carried(carrier: &Carrier, carriers: &[Carrier], image: &ProcessImage) -> u16 {
    if carriers.len() == 1 { image.mapped_bytes() } else { carrier.bytes }
}

/// Returns `true` if the SyncManagers of a direction are set up for what is mapped. One may be off
/// if nothing is.
fn fit(carriers: &[Carrier], managers: &[SyncManager], image: &ProcessImage) -> bool {
    let fits = |carrier: &Carrier| {
        let manager = &managers[carrier.manager];
        match carried(carrier, carriers, image) {
            0 => !manager.is_on(),
            bytes => manager.is_on() && manager.length == bytes,
        }
    };
    carriers.iter().all(fits) && (image.mapped_bytes() == 0 || !carriers.is_empty())
}
