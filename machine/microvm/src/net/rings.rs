//! Frames out of and into the queues of a guest (virtio 1.2, 2.7 and 5.1.6).
//!
//! A frame is what a chain of descriptors says, behind a header of 12 bytes. What the chain says is
//! the guest's: it may be a loop, of any length, and anywhere.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use quietcore_wire::FRAME_BYTES_MAX;
use virtio_queue::{DescriptorChain, Queue, QueueOwnedT as _, QueueT as _};
use vm_memory::{Bytes as _, GuestAddress, GuestMemoryMmap};

/// The header before each frame.
pub(super) const HEADER_BYTES: usize = 12;
/// A header, and the longest frame.
pub(super) const PACKET_BYTES_MAX: usize = HEADER_BYTES + FRAME_BYTES_MAX;
/// Addresses and type: what is shorter is no frame.
const FRAME_BYTES_MIN: usize = 14;
/// Descriptors of which a frame may consist.
const DESCRIPTORS_MAX: usize = 16;
/// In how many buffers a frame is: the header's last word.
const ONE_BUFFER: [u8; 2] = 1_u16.to_le_bytes();
/// The guest wants no interrupt (2.7.7).
const NO_INTERRUPT: u16 = 1;

/// The queue can't be what the standard says, so that nothing in it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// The next buffer of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The queue is empty.
    Nothing,
    /// A frame of so many bytes, in the packet behind its header.
    Frame(usize),
    /// A buffer that is no frame; it is out of the queue.
    Malformed,
}

/// The fate of a frame for the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// It is in a buffer of the guest.
    Done,
    /// The guest has no buffer.
    NoBuffer,
    /// The next buffer was too short for it, or none; it is out of the queue.
    Dropped,
}

/// A header and a frame.
pub(super) type Packet = [u8; PACKET_BYTES_MAX];

/// Takes the next frame out of the queue.
pub(super) fn take(
    queue: &mut Queue,
    memory: &GuestMemoryMmap,
    packet: &mut Packet,
) -> Result<Taken, Broken> {
    let Some(chain) = next(queue, memory)? else { return Ok(Taken::Nothing) };
    let head = chain.head_index();
    let bytes = gather(chain, memory, packet).filter(|bytes| *bytes >= FRAME_BYTES_MIN);
    queue.add_used(memory, head, 0).map_err(|_| Broken)?;
    Ok(bytes.map_or(Taken::Malformed, Taken::Frame))
}

/// Puts a frame, which is in the packet behind the header, into the next buffer of the queue.
pub(super) fn give(
    queue: &mut Queue,
    memory: &GuestMemoryMmap,
    packet: &mut Packet,
    frame_bytes: usize,
) -> Result<Given, Broken> {
    let Some(chain) = next(queue, memory)? else { return Ok(Given::NoBuffer) };
    let head = chain.head_index();
    let (header, _) = packet.split_at_mut(HEADER_BYTES);
    header.fill(0);
    header[HEADER_BYTES - ONE_BUFFER.len()..].copy_from_slice(&ONE_BUFFER);
    let bytes = HEADER_BYTES + frame_bytes;
    let given = scatter(chain, memory, &packet[..bytes]).is_some();
    let used = if given { bytes as u32 } else { 0 };
    queue.add_used(memory, head, used).map_err(|_| Broken)?;
    Ok(if given { Given::Done } else { Given::Dropped })
}

/// Returns `true` if the queue holds a buffer.
pub(super) fn has_more(queue: &Queue, memory: &GuestMemoryMmap) -> bool {
    queue.avail_idx(memory, Acquire).is_ok_and(|index| index.0 != queue.next_avail())
}

/// Has the guest ring when it puts something into the queue, or not. Whoever has it ring looks at
/// the queue once more afterwards: returns whether it holds something.
pub(super) fn want_bell(
    queue: &mut Queue,
    memory: &GuestMemoryMmap,
    is_wanted: bool,
) -> Result<bool, Broken> {
    if is_wanted {
        queue.enable_notification(memory).map_err(|_| Broken)
    } else {
        queue.disable_notification(memory).map(|()| false).map_err(|_| Broken)
    }
}

/// Returns `true` if the guest wants an interrupt when a buffer is put into its queue.
pub(super) fn wants_interrupt(queue: &Queue, memory: &GuestMemoryMmap) -> bool {
    let flags = memory.load::<u16>(GuestAddress(queue.avail_ring()), Relaxed);
    flags.is_ok_and(|flags| u16::from_le(flags) & NO_INTERRUPT == 0)
}

fn next<'a>(
    queue: &mut Queue,
    memory: &'a GuestMemoryMmap,
) -> Result<Option<DescriptorChain<&'a GuestMemoryMmap>>, Broken> {
    // More than the queue holds: refused by the library.
    queue.iter(memory).map(|mut heads| heads.next()).map_err(|_| Broken)
}

/// Copies a chain into the packet; returns how many bytes are behind the header.
fn gather(
    chain: DescriptorChain<&GuestMemoryMmap>,
    memory: &GuestMemoryMmap,
    packet: &mut Packet,
) -> Option<usize> {
    let mut filled = 0;
    for (number, descriptor) in chain.enumerate() {
        if number == DESCRIPTORS_MAX || descriptor.is_write_only() {
            return None;
        }
        let end = filled + usize::try_from(descriptor.len()).ok()?;
        let place = packet.get_mut(filled..end)?;
        memory.read_slice(place, descriptor.addr()).ok()?;
        filled = end;
        if !descriptor.has_next() {
            return filled.checked_sub(HEADER_BYTES);
        }
    }
    // The chain goes on where there is nothing, or in a circle.
    None
}

/// Copies a packet into a chain, which has room for all of it.
fn scatter(
    chain: DescriptorChain<&GuestMemoryMmap>,
    memory: &GuestMemoryMmap,
    packet: &[u8],
) -> Option<()> {
    let mut rest = packet;
    for (number, descriptor) in chain.enumerate() {
        if number == DESCRIPTORS_MAX || !descriptor.is_write_only() {
            return None;
        }
        let room = usize::try_from(descriptor.len()).ok()?;
        let (here, after) = rest.split_at(rest.len().min(room));
        memory.write_slice(here, descriptor.addr()).ok()?;
        rest = after;
        if rest.is_empty() {
            return Some(());
        }
    }
    None
}
