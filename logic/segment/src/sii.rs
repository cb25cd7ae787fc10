//! The content of a SubDevice's EEPROM, made from its blueprint (ETG.1000.6, 5.4; ETG.2010).
//!
//! | word | what |
//! |---|---|
//! | `0x00` | PDI control and configuration, checksum at word 7; alias at word 4 |
//! | `0x08` | vendor, product, revision, serial |
//! | `0x18` | mailboxes: receive offset and size, send offset and size, protocols |
//! | `0x3E` | size in KiBit less one, version |
//! | `0x40` | categories: type, length in words, content; 0xFFFF ends |

use quietcore_units::DataType;

use crate::blueprint::{Blueprint, Pdo, SyncManagerUse};
use crate::esc::eeprom::checksum;

const CATEGORY_STRINGS: u16 = 10;
const CATEGORY_GENERAL: u16 = 30;
const CATEGORY_FMMU: u16 = 40;
const CATEGORY_SYNC_MANAGER: u16 = 41;
const CATEGORY_TX_PDO: u16 = 50;
const CATEGORY_RX_PDO: u16 = 51;
const CATEGORY_CLOCK: u16 = 60;
const PROTOCOL_COE: u16 = 0x0004;
/// CoE details: SDO, SDO information, PDO assignment, PDO configuration, complete access.
const COE_SDO: u8 = 0x0F;
const COE_COMPLETE_ACCESS: u8 = 0x20;
/// Configuration of the SYNC unit for operation with SYNC0 (register 0x0980).
const ASSIGN_ACTIVATE: u16 = 0x0300;
/// ESC configuration in word 0: device emulation.
const DEVICE_EMULATION: u8 = 0x01;
/// The largest usual EEPROM of a SubDevice, of 32 KiBit. MainDevices may read no more of one.
const EEPROM_BYTES_MAX: usize = 4096;
/// EEPROMs come in multiples of this.
const KIBIT_BYTES: usize = 128;
/// No PDO in the SII belongs to this SyncManager.
const UNASSIGNED: u8 = 0xFF;

/// The content of the EEPROM of such a device. Where it would be larger than EEPROMs are, PDOs are
/// left out of it if they can be read through the mailbox.
pub(crate) fn build(blueprint: &Blueprint) -> Vec<u8> {
    let whole = content(blueprint, true);
    match blueprint.mailbox {
        Some(_) if whole.len() > EEPROM_BYTES_MAX => content(blueprint, false),
        _ => whole,
    }
}

fn content(blueprint: &Blueprint, has_pdos: bool) -> Vec<u8> {
    let mut content = head(blueprint);
    let mut strings = Strings::default();
    // Order code first: some MainDevices take the first string for the name.
    let order = strings.number(&blueprint.order);
    let name = strings.number(&blueprint.name);
    let general = general(blueprint, order, name);
    let [sent, received] = [false, true].map(|received| match has_pdos {
        true => pdos(blueprint, received, &mut strings),
        false => Vec::new(),
    });
    let clock = clock(blueprint, &mut strings);
    category(&mut content, CATEGORY_STRINGS, &strings.category());
    category(&mut content, CATEGORY_GENERAL, &general);
    category(&mut content, CATEGORY_FMMU, &padded(blueprint.fmmu_usage.clone(), 0xFF));
    category(&mut content, CATEGORY_SYNC_MANAGER, &sync_managers(blueprint));
    category(&mut content, CATEGORY_TX_PDO, &sent);
    category(&mut content, CATEGORY_RX_PDO, &received);
    category(&mut content, CATEGORY_CLOCK, &clock);
    content.extend([0xFF, 0xFF]);
    let size = content.len().next_multiple_of(KIBIT_BYTES);
    content.resize(size, 0xFF);
    let kibit = (size / KIBIT_BYTES) as u16 - 1;
    content[0x7C..0x7E].copy_from_slice(&kibit.to_le_bytes());
    content
}

/// Words 0x00 to 0x3F.
fn head(blueprint: &Blueprint) -> Vec<u8> {
    let mut head = vec![0; 0x80];
    // A PDI of some kind; simple devices have digital I/O (4) and emulate the processor.
    let emulated = blueprint.device_emulation;
    head[0] = if emulated { 4 } else { 5 };
    head[1] = 0x0C | if emulated { DEVICE_EMULATION } else { 0 };
    head[14] = checksum(&head[..14]);
    let identity = blueprint.identity;
    let numbers = [identity.vendor, identity.product, identity.revision, identity.serial];
    for (place, number) in head[0x10..0x20].chunks_exact_mut(4).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    if let Some(mailbox) = blueprint.mailbox {
        let words = [
            mailbox.receive,
            mailbox.receive_bytes,
            mailbox.send,
            mailbox.send_bytes,
            PROTOCOL_COE,
        ];
        for (place, word) in head[0x30..0x3A].chunks_exact_mut(2).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }
    head[0x7E] = 1;
    head
}

fn category(content: &mut Vec<u8>, kind: u16, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    debug_assert!(data.len().is_multiple_of(2), "categories are whole words");
    content.extend(kind.to_le_bytes());
    content.extend(((data.len() / 2) as u16).to_le_bytes());
    content.extend(data);
}

fn padded(mut data: Vec<u8>, filler: u8) -> Vec<u8> {
    if !data.len().is_multiple_of(2) {
        data.push(filler);
    }
    data
}

fn general(blueprint: &Blueprint, order: u8, name: u8) -> Vec<u8> {
    let mut general = vec![0; 32];
    general[0] = order;
    general[2] = order;
    general[3] = name;
    if let Some(mailbox) = blueprint.mailbox {
        general[5] = COE_SDO | if mailbox.complete_access { COE_COMPLETE_ACCESS } else { 0 };
    }
    // Physical ports, four bits each: 1 MII, 3 E-bus (ETG.2010, general category).
    let ports = (0..4).fold(0_u16, |ports, port| {
        let kind = match (blueprint.controller.ports >> (2 * port)) & 3 {
            2 => 3,
            3 => 1,
            _ => 0,
        };
        ports | (kind << (4 * port))
    });
    general[16..18].copy_from_slice(&ports.to_le_bytes());
    general
}

fn sync_managers(blueprint: &Blueprint) -> Vec<u8> {
    let mut data = Vec::new();
    for plan in &blueprint.sync_managers {
        data.extend(plan.start.to_le_bytes());
        data.extend(plan.length.to_le_bytes());
        data.extend([plan.control, 0, plan.enable, plan.usage as u8]);
    }
    data
}

fn pdos<'b>(blueprint: &'b Blueprint, received: bool, strings: &mut Strings<'b>) -> Vec<u8> {
    let mut data = Vec::new();
    for pdo in blueprint.pdos.iter().filter(|pdo| pdo.is_received == received) {
        pdo_category(pdo, &mut data, strings);
    }
    data
}

fn pdo_category<'b>(pdo: &'b Pdo, data: &mut Vec<u8>, strings: &mut Strings<'b>) {
    data.extend(pdo.index.to_le_bytes());
    data.extend([pdo.entries.len() as u8, pdo.sync_manager.unwrap_or(UNASSIGNED), 0]);
    data.push(strings.number(&pdo.name));
    data.extend([0, 0]);
    for entry in &pdo.entries {
        data.extend(entry.index.to_le_bytes());
        data.extend([entry.subindex, strings.number(&entry.name)]);
        data.extend([entry.data_type.map_or(0, type_code) as u8, entry.bits, 0, 0]);
    }
}

fn clock(blueprint: &Blueprint, strings: &mut Strings<'_>) -> Vec<u8> {
    let has_inputs_or_outputs = blueprint
        .sync_managers
        .iter()
        .any(|plan| matches!(plan.usage, SyncManagerUse::Outputs | SyncManagerUse::Inputs));
    if blueprint.controller.clock.is_none() || !has_inputs_or_outputs {
        return Vec::new();
    }
    let mut data = vec![0; 24];
    data[14..16].copy_from_slice(&ASSIGN_ACTIVATE.to_le_bytes());
    data[16] = 1;
    data[18] = strings.number("DC synchronous");
    data
}

/// The number of a type in the object dictionary and the SII (ETG.1000.6, table of basic types).
pub(crate) fn type_code(data_type: DataType) -> u16 {
    match data_type {
        DataType::Bool => 0x01,
        DataType::I8 => 0x02,
        DataType::I16 => 0x03,
        DataType::I32 => 0x04,
        DataType::U8 => 0x05,
        DataType::U16 => 0x06,
        DataType::U32 => 0x07,
        DataType::F32 => 0x08,
        DataType::F64 => 0x11,
        DataType::I64 => 0x15,
        DataType::U64 => 0x1B,
    }
}

/// The string category; strings are numbered from one.
#[derive(Default)]
struct Strings<'b>(Vec<&'b str>);

impl<'b> Strings<'b> {
    /// The number of a string; zero for none and when there is no number left.
    fn number(&mut self, text: &'b str) -> u8 {
        // A string's length is a byte.
        let end = (0..=text.len().min(255)).rev().find(|end| text.is_char_boundary(*end));
        let text = &text[..end.unwrap_or_default()];
        if text.is_empty() {
            return 0;
        }
        let known = self.0.iter().position(|other| *other == text);
        let position = known.unwrap_or(self.0.len());
        let Ok(number) = u8::try_from(position + 1) else { return 0 };
        if known.is_none() {
            self.0.push(text);
        }
        number
    }

    fn category(&self) -> Vec<u8> {
        let mut data = vec![self.0.len() as u8];
        for text in &self.0 {
            data.push(text.len() as u8);
            data.extend(text.as_bytes());
        }
        padded(data, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::blueprint;

    #[test]
    fn the_checksum_is_that_of_a_real_device() {
        // Words 0 and 4 of an EK1100 as its capture shows them; word 7 there is 0x46.
        let mut configuration = [0; 14];
        configuration[1] = 0x0D;
        assert_eq!(checksum(&configuration), 0x46);
        configuration[8..10].copy_from_slice(&0xABCD_u16.to_le_bytes());
        assert_eq!(checksum(&configuration), 0x52);
    }

    #[test]
    fn categories_follow_each_other_up_to_the_end() {
        for (name, expected) in
            [("coupler", &[10, 30][..]), ("servo-drive", &[10, 30, 40, 41, 50, 51, 60])]
        {
            let content = build(&blueprint(name).unwrap());
            let word = |place: usize| u16::from_le_bytes([content[place], content[place + 1]]);
            let (mut place, mut found) = (0x80, Vec::new());
            while word(place) != 0xFFFF {
                found.push(word(place));
                place += 4 + 2 * usize::from(word(place + 2));
            }
            assert_eq!(found, expected, "{name}");
        }
    }
}
