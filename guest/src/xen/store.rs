//! Xen's store, read: a request and its answer, through a page that is shared with the store.
// UNSAFETY: takes the store's page for what it is.
#![expect(unsafe_code, reason = "the page is beyond what Rust knows")]

use quietcore_boot::xen::message::{HEADER_BYTES, Header, kind};

use super::hypercall::{self, Parameter};
use super::{place_of_page, ring};

/// Bytes of each direction, and where the four indices are (Xen, `xen/include/public/io/xs_wire.h`,
/// `xenstore_domain_interface`).
const BYTES: u32 = 1024;
const INDICES: u64 = 2048;

/// Tries to go on with a message, each of which lets others run: on a slow machine some seconds.
const TRIES: u32 = 2_000_000;

/// Reads the value of a key below this guest's own path into `value`; `None` if there is none, or
/// it is longer.
pub(super) fn read<'v>(key: &[u8], value: &'v mut [u8]) -> Option<&'v [u8]> {
    let page = place_of_page(hypercall::parameter(Parameter::StorePage)?)?;
    let channel = hypercall::parameter(Parameter::StoreChannel)? as u32;
    let index = |number: u64| page + INDICES + 4 * number;
    // SAFETY: the page of the store, as its layout is.
    let requests = unsafe { ring(page, BYTES, index(0)) };
    // SAFETY: as above.
    let answers = unsafe { ring(page + u64::from(BYTES), BYTES, index(2)) };
    // The path ends with a zero.
    let header = Header { kind: kind::READ, request: 0, bytes: key.len() as u32 + 1 };
    for part in [&header.to_bytes()[..], key, &[0]] {
        exchange_all(part.len(), channel, |done| requests.write(&part[done..]))?;
    }
    let mut bytes = [0; HEADER_BYTES];
    exchange_all(HEADER_BYTES, channel, |done| answers.read(&mut bytes[done..]))?;
    let answer = Header::from_bytes(&bytes)?;
    let value = value.get_mut(..answer.bytes as usize)?;
    exchange_all(value.len(), channel, |done| answers.read(&mut value[done..]))?;
    (answer.kind == kind::READ).then_some(value)
}

/// Moves `count` bytes, in as many pieces as it takes: `step` is given how many it has moved, and
/// returns how many more. `None` where the store does not take part.
fn exchange_all(count: usize, channel: u32, mut step: impl FnMut(usize) -> usize) -> Option<()> {
    let (mut done, mut tries) = (0, 0);
    while done < count {
        let moved = step(done);
        done += moved;
        if moved > 0 {
            hypercall::notify(channel);
        } else if tries < TRIES {
            tries += 1;
            hypercall::let_others_run();
        } else {
            return None;
        }
    }
    Some(())
}
