//! SDO information: which objects there are, and what they are (ETG.1000.6, 5.6.3).
//!
//! | request | answer |
//! |--:|---|
//! | 1 | 2: the indices of a list; the number of each list for list 0 |
//! | 3 | 4: type, highest subindex, form and name of an object |
//! | 5 | 6: type, size, rights and name of a value |
//! | | 7: an abort code |

use crate::coe::abort::Abort;
use crate::coe::dictionary::Object;
use crate::coe::objects::Objects;
use crate::coe::{header, service};

/// Most bytes of a name in an answer, which may be longer than its mailbox by some more.
const NAME_BYTES_MAX: usize = 200;
const LIST_REQUEST: u8 = 1;
const OBJECT_REQUEST: u8 = 3;
const ENTRY_REQUEST: u8 = 5;
const ERROR_ANSWER: u8 = 7;
/// Bit of the opcode: more fragments follow.
const INCOMPLETE: u8 = 0x80;
/// CoE header, opcode, reserved, fragments left.
const HEADER_BYTES: usize = 6;
/// The lists: all, mappable into RxPDOs, into TxPDOs, stored, settings.
const LISTS: u16 = 5;

/// A list that is being sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Information {
    list: u16,
    /// Number of its indices that were sent; `None` when no list is under way.
    sent: Option<usize>,
}

impl Information {
    /// The next fragment of a list; false when there is none.
    pub(crate) fn go_on(
        &mut self,
        objects: &Objects<'_>,
        reply: &mut Vec<u8>,
        room: usize,
    ) -> bool {
        let Some(sent) = self.sent else {
            return false;
        };
        // The first fragment begins with the number of the list.
        let prefix = if sent == 0 { 2 } else { 0 };
        let per_first = room.saturating_sub(HEADER_BYTES + 2) / 2;
        let per_next = room.saturating_sub(HEADER_BYTES) / 2;
        if per_first == 0 {
            self.sent = None;
            return false;
        }
        let members = || objects.dictionary.objects().iter().filter(|o| is_in(o, self.list));
        let left = members().count().saturating_sub(sent);
        let now = left.min(if sent == 0 { per_first } else { per_next });
        let fragments = (left - now).div_ceil(per_next);
        let more = if fragments > 0 { INCOMPLETE } else { 0 };
        write_header(reply, (LIST_REQUEST + 1) | more, fragments as u16);
        if prefix > 0 {
            reply.extend(self.list.to_le_bytes());
        }
        for object in members().skip(sent).take(now) {
            reply.extend(object.index.to_le_bytes());
        }
        self.sent = (fragments > 0).then_some(sent + now);
        true
    }
}

/// Answers a request; it begins with the opcode.
pub(crate) fn answer_information(
    information: &mut Information,
    request: &[u8],
    objects: &Objects<'_>,
    reply: &mut Vec<u8>,
    room: usize,
) {
    let [opcode, _, _, _, data @ ..] = request else {
        return;
    };
    information.sent = None;
    let result = match opcode & 0x7F {
        LIST_REQUEST => list(information, data, objects, reply, room),
        OBJECT_REQUEST => object(data, objects, reply),
        ENTRY_REQUEST => entry(data, objects, reply),
        _ => Err(Abort::COMMAND),
    };
    if let Err(abort) = result {
        reply.clear();
        write_header(reply, ERROR_ANSWER, 0);
        reply.extend(abort.0.to_le_bytes());
    }
    reply.truncate(room);
}

fn write_header(reply: &mut Vec<u8>, opcode: u8, fragments: u16) {
    reply.extend(header(service::SDO_INFORMATION));
    reply.extend([opcode, 0]);
    reply.extend(fragments.to_le_bytes());
}

fn word(data: &[u8], at: usize) -> Result<u16, Abort> {
    match data.get(at..at + 2) {
        Some(bytes) => Ok(u16::from_le_bytes([bytes[0], bytes[1]])),
        None => Err(Abort::LENGTH),
    }
}

fn list(
    information: &mut Information,
    data: &[u8],
    objects: &Objects<'_>,
    reply: &mut Vec<u8>,
    room: usize,
) -> Result<(), Abort> {
    let list = word(data, 0)?;
    match list {
        0 => {
            write_header(reply, LIST_REQUEST + 1, 0);
            reply.extend(0_u16.to_le_bytes());
            for list in 1..=LISTS {
                let members =
                    objects.dictionary.objects().iter().filter(|object| is_in(object, list));
                reply.extend((members.count() as u16).to_le_bytes());
            }
        }
        1..=LISTS => {
            *information = Information { list, sent: Some(0) };
            information.go_on(objects, reply, room);
        }
        _ => return Err(Abort::ACCESS),
    }
    Ok(())
}

/// Returns `true` if an object belongs to a list.
fn is_in(object: &Object, list: u16) -> bool {
    let has = |bits| object.entries.iter().any(|entry| entry.access.0 & bits != 0);
    match list {
        1 => true,
        2 => has(0x40),
        3 => has(0x80),
        // Nothing is stored; settings are what can be written and is not mapped.
        5 => has(0x38) && !has(0xC0),
        _ => false,
    }
}

fn object(data: &[u8], objects: &Objects<'_>, reply: &mut Vec<u8>) -> Result<(), Abort> {
    let index = word(data, 0)?;
    let object = objects.dictionary.object(index).ok_or(Abort::NO_OBJECT)?;
    let first = object.entries.last().ok_or(Abort::NO_SUBINDEX)?;
    write_header(reply, OBJECT_REQUEST + 1, 0);
    reply.extend(index.to_le_bytes());
    reply.extend(first.object_type.code().to_le_bytes());
    reply.extend([first.subindex, object.code as u8]);
    reply.extend(name(&object.name));
    Ok(())
}

fn entry(data: &[u8], objects: &Objects<'_>, reply: &mut Vec<u8>) -> Result<(), Abort> {
    let index = word(data, 0)?;
    let subindex = *data.get(2).ok_or(Abort::LENGTH)?;
    let object = objects.dictionary.object(index).ok_or(Abort::NO_OBJECT)?;
    let entry = object.entry(subindex).ok_or(Abort::NO_SUBINDEX)?;
    write_header(reply, ENTRY_REQUEST + 1, 0);
    reply.extend(index.to_le_bytes());
    // Of the optional values (unit, default, limits) none is sent.
    reply.extend([subindex, 0]);
    reply.extend(entry.object_type.code().to_le_bytes());
    reply.extend(entry.bits().to_le_bytes());
    reply.extend(entry.access.0.to_le_bytes());
    reply.extend(name(&entry.name));
    Ok(())
}

/// The bytes of a name, as many as there is always room for.
fn name(name: &str) -> &[u8] {
    &name.as_bytes()[..name.len().min(NAME_BYTES_MAX)]
}
