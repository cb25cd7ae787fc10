//! Messages about links, as the kernel lays them out (`linux/netlink.h`, `linux/rtnetlink.h`).
//!
//! ```text
//! header      length:4  type:2  flags:2  sequence:4  port:4
//! link        family:1  0:1  kind:2  index:4  flags:4  change:4
//! attributes  length:2  type:2  value …
//! ```
//!
//! Messages and attributes begin at multiples of 4 bytes.

/// The types of message.
const NEW_LINK: u16 = 16;
const DELETED_LINK: u16 = 17;
/// The attribute that holds the name.
const NAME: u16 = 3;
/// The lower layer is up (`IFF_LOWER_UP`), and so is the interface (`IFF_UP`).
const IS_UP: u32 = 0x1_0001;
/// The longest name (`IFNAMSIZ`).
const NAME_MAX: usize = 16;

const HEADER: usize = 16;
const LINK_HEADER: usize = 16;
const ATTRIBUTE_HEADER: usize = 4;

/// A link as a message tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) index: i32,
    pub(super) name: String,
    pub(super) is_up: bool,
    pub(super) is_gone: bool,
}

/// The links of a datagram. What is cut off, or none of that, is passed over.
pub(super) fn links(mut datagram: &[u8]) -> Vec<Link> {
    let mut links = Vec::new();
    while let Some(length) = word(datagram, 0) {
        let length = length as usize;
        if length < HEADER || length > datagram.len() {
            break;
        }
        links.extend(link(&datagram[..length]));
        let Some(rest) = datagram.get(aligned(length)..) else { break };
        datagram = rest;
    }
    links
}

fn link(message: &[u8]) -> Option<Link> {
    let kind = half(message, 4)?;
    if kind != NEW_LINK && kind != DELETED_LINK {
        return None;
    }
    let body = message.get(HEADER..)?;
    let flags = word(body, 8)?;
    Some(Link {
        index: word(body, 4)?.cast_signed(),
        name: name(body.get(LINK_HEADER..)?).unwrap_or_default(),
        is_up: flags & IS_UP == IS_UP,
        is_gone: kind == DELETED_LINK,
    })
}

fn name(mut attributes: &[u8]) -> Option<String> {
    loop {
        let (length, kind) = (half(attributes, 0)? as usize, half(attributes, 2)?);
        let value = attributes.get(ATTRIBUTE_HEADER..length)?;
        if kind == NAME {
            let text = value.split(|byte| *byte == 0).next()?;
            let text = &text[..text.len().min(NAME_MAX)];
            let shown = String::from_utf8_lossy(text);
            return Some(shown.replace(char::is_control, "\u{fffd}"));
        }
        attributes = attributes.get(aligned(length)..)?;
    }
}

const fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(four.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_ne_bytes(two.try_into().ok()?))
}
