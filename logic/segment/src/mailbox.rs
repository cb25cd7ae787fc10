//! The mailbox of a device: requests in, answers and emergencies out (ETG.1000.4, 5.6).
//!
//! ```text
//! header: length u16, address u16, channel and priority, type (low 4 bits) and counter (bits 4–6)
//!
//! written by the MainDevice ─► after the device's time: taken, answered ─► posted
//! read by the MainDevice ────► next fragment, waiting answer or emergency posted
//! ```
//!
//! The counter goes round from 1 to 7. A request with the counter of the one before is a repetition
//! and is not executed again; counter 0 switches this off.

use crate::coe::objects::Objects;
use crate::coe::server::SdoServer;
use crate::coe::{Emergency, header, service};
use crate::esc::Esc;

/// Bytes of the header.
const HEADER_BYTES: usize = 6;
const TYPE_ERROR: u8 = 0;
const TYPE_COE: u8 = 3;
/// Details of mailbox errors (ETG.1000.4, 5.6.2).
const ERROR_PROTOCOL: u16 = 2;
const ERROR_HEADER: u16 = 5;
const ERROR_SHORT: u16 = 6;
/// Names and abort texts may be longer than a mailbox before they are cut.
const REPLY_SLACK: usize = 256;
/// The most emergencies that wait.
pub(crate) const EMERGENCIES_MAX: usize = 16;

/// The mailbox of one device.
pub(crate) struct Mailbox {
    receive: usize,
    send: usize,
    reaction_ns: u64,
    /// When the request that lies there is answered.
    due_ns: Option<u64>,
    request: Vec<u8>,
    /// Answer without its header; `reply_type` is the mailbox type.
    reply: Vec<u8>,
    reply_type: u8,
    reply_waits: bool,
    request_counter: u8,
    counter: u8,
    emergencies: [Emergency; EMERGENCIES_MAX],
    emergencies_first: usize,
    emergencies_count: usize,
    pub(crate) server: SdoServer,
    /// A fault: requests are taken and never answered.
    pub(crate) silent: bool,
    /// A fault: answers carry a counter that is one too high.
    pub(crate) wrong_counter: bool,
}

impl Mailbox {
    /// A mailbox on these two SyncManagers, for mailboxes of at most `bytes_max` bytes.
    pub(crate) fn new(
        receive: usize,
        send: usize,
        reaction_ns: u64,
        bytes_max: usize,
        object_bytes_max: usize,
    ) -> Self {
        Self {
            receive,
            send,
            reaction_ns,
            due_ns: None,
            request: Vec::with_capacity(bytes_max),
            reply: Vec::with_capacity(bytes_max + REPLY_SLACK),
            reply_type: TYPE_COE,
            reply_waits: false,
            request_counter: 0,
            counter: 0,
            emergencies: [Emergency::default(); EMERGENCIES_MAX],
            emergencies_first: 0,
            emergencies_count: 0,
            server: SdoServer::new(object_bytes_max),
            silent: false,
            wrong_counter: false,
        }
    }

    /// Forgets everything, as on entering INIT.
    pub(crate) fn reset(&mut self) {
        self.due_ns = None;
        self.reply_waits = false;
        self.request_counter = 0;
        self.counter = 0;
        self.emergencies_count = 0;
        self.server.reset();
    }

    /// When it wants to be called.
    pub(crate) fn due_ns(&self) -> Option<u64> {
        self.due_ns
    }

    /// A request has come.
    pub(crate) fn requested(&mut self, now_ns: u64) {
        self.due_ns = Some(now_ns.saturating_add(self.reaction_ns));
    }

    /// The mailbox works from now on; a request may lie there already.
    pub(crate) fn started(&mut self, esc: &Esc, now_ns: u64) {
        if esc.sync_managers[self.receive].is_full() {
            self.requested(now_ns);
        }
    }

    /// The MainDevice has read a mailbox.
    pub(crate) fn fetched(&mut self, esc: &mut Esc, objects: &Objects<'_>) {
        esc.mailbox_begun(self.send);
        if !self.reply_waits {
            self.reply.clear();
            let room = self.room(esc);
            if self.server.go_on(objects, &mut self.reply, room) {
                self.reply_type = TYPE_COE;
                self.reply_waits = true;
            }
        }
        self.post(esc);
    }

    /// The MainDevice did not get the last mailbox and asks for it again.
    pub(crate) fn repeat(&mut self, esc: &mut Esc) {
        let manager = &mut esc.sync_managers[self.send];
        if !manager.is_full() && self.counter != 0 {
            // It still lies in the RAM.
            manager.written();
        }
        esc.acknowledge_repeat(self.send);
    }

    /// Queues an emergency; one more than there is room for is lost, as in a real device.
    pub(crate) fn alarm(&mut self, emergency: Emergency, esc: &mut Esc) {
        if self.emergencies_count < EMERGENCIES_MAX {
            let place = (self.emergencies_first + self.emergencies_count) % EMERGENCIES_MAX;
            self.emergencies[place] = emergency;
            self.emergencies_count += 1;
        }
        self.post(esc);
    }

    /// Answers the request that lies there, when its time has come.
    pub(crate) fn advance(&mut self, esc: &mut Esc, objects: &mut Objects<'_>, now_ns: u64) {
        if self.due_ns.is_none_or(|due| due > now_ns) {
            return;
        }
        self.due_ns = None;
        if self.reply_waits {
            // One at a time: the request stays in the mailbox until the answer before is fetched.
            return;
        }
        let manager = esc.sync_managers[self.receive];
        if !manager.is_full() {
            return;
        }
        self.request.clear();
        let bytes = usize::from(manager.length).min(self.request.capacity()) as u16;
        if let Some(ram) = esc.ram(manager.start, bytes) {
            self.request.extend_from_slice(ram);
        }
        esc.mailbox_taken(self.receive);
        if !self.silent {
            let room = self.room(esc);
            self.answer(objects, room);
            self.post(esc);
        }
    }

    /// Bytes of an answer behind the header.
    fn room(&self, esc: &Esc) -> usize {
        let length = usize::from(esc.sync_managers[self.send].length);
        length.min(self.reply.capacity() - REPLY_SLACK).saturating_sub(HEADER_BYTES)
    }

    fn answer(&mut self, objects: &mut Objects<'_>, room: usize) {
        self.reply.clear();
        let [low, high, _, _, _, kind, payload @ ..] = self.request.as_slice() else {
            return;
        };
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let counter = (kind >> 4) & 7;
        if counter != 0 && counter == self.request_counter {
            return;
        }
        self.request_counter = counter;
        match (kind & 0x0F, payload.get(..length)) {
            (_, None) => write_error(&mut self.reply, ERROR_HEADER),
            (TYPE_COE, Some(payload)) if payload.len() < 2 => {
                write_error(&mut self.reply, ERROR_SHORT);
            }
            (TYPE_COE, Some(payload)) => {
                self.server.answer(payload, objects, &mut self.reply, room);
                self.reply_type = TYPE_COE;
                self.reply_waits = !self.reply.is_empty();
                return;
            }
            _ => write_error(&mut self.reply, ERROR_PROTOCOL),
        }
        self.reply_type = TYPE_ERROR;
        self.reply_waits = true;
    }

    /// Puts the next message into the mailbox, when that is empty: emergencies first.
    fn post(&mut self, esc: &mut Esc) {
        let manager = esc.sync_managers[self.send];
        if !manager.is_on() || manager.is_full() {
            return;
        }
        let mut emergency = [0; 10];
        let (kind, payload): (u8, &[u8]) = if self.emergencies_count > 0 {
            let first = self.emergencies[self.emergencies_first];
            self.emergencies_first = (self.emergencies_first + 1) % EMERGENCIES_MAX;
            self.emergencies_count -= 1;
            emergency[..2].copy_from_slice(&header(service::EMERGENCY));
            emergency[2..4].copy_from_slice(&first.code.to_le_bytes());
            emergency[4] = first.register;
            emergency[5..].copy_from_slice(&first.data);
            (TYPE_COE, &emergency)
        } else if self.reply_waits {
            self.reply_waits = false;
            (self.reply_type, &self.reply)
        } else {
            return;
        };
        self.counter = self.counter % 7 + 1;
        let shown = if self.wrong_counter { self.counter % 7 + 1 } else { self.counter };
        let Some(ram) = esc.ram_mut(manager.start, manager.length) else {
            return;
        };
        let bytes = payload.len().min(ram.len().saturating_sub(HEADER_BYTES));
        if ram.len() >= HEADER_BYTES {
            ram[..2].copy_from_slice(&(bytes as u16).to_le_bytes());
            ram[2..5].fill(0);
            ram[5] = kind | (shown << 4);
            ram[HEADER_BYTES..HEADER_BYTES + bytes].copy_from_slice(&payload[..bytes]);
        }
        esc.sync_managers[self.send].written();
        if esc.sync_managers[self.receive].is_full() && self.due_ns.is_none() {
            // A request waited for this answer to be posted.
            self.due_ns = Some(0);
        }
    }
}

fn write_error(reply: &mut Vec<u8>, detail: u16) {
    reply.extend(1_u16.to_le_bytes());
    reply.extend(detail.to_le_bytes());
}
