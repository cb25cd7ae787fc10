//! The control memory's device, from its server's side: the memory, and the interrupt by which the
//! host calls the guest.
//!
//! QEMU gets both through a socket, by the protocol of its `ivshmem-server` (QEMU,
//! `docs/specs/ivshmem-spec.rst`): numbers of 8 bytes, some with a file. Nothing is ever read from
//! it: there are no other peers.
//!
//! ```text
//! 0             version of the protocol
//! 0             the guest's number
//! -1 + memory
//! 0 + event     the guest's own first vector
//! ```

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{EventfdFlags, eventfd};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::guest::mail::Attention;

const VERSION: i64 = 0;
const GUEST: i64 = 0;
const MEMORY: i64 = -1;

/// The host's end of the device.
#[derive(Debug)]
pub(super) struct Doorbell {
    event: OwnedFd,
    /// QEMU takes a closed socket for a server that has gone, and says so.
    _server: UnixStream,
}

impl Doorbell {
    /// Makes the device with this memory. Returns QEMU's end of its socket, too, in which all that
    /// it reads is waiting.
    ///
    /// # Errors
    /// Those of the operating system.
    pub(super) fn new(memory: &File) -> io::Result<(Self, OwnedFd)> {
        let (server, client) = UnixStream::pair()?;
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        send(&server, VERSION, None)?;
        send(&server, GUEST, None)?;
        send(&server, MEMORY, Some(memory.as_fd()))?;
        send(&server, GUEST, Some(event.as_fd()))?;
        Ok((Self { event, _server: server }, client.into()))
    }
}

impl Doorbell {
    /// Returns the event file by which the guest is called, once more.
    ///
    /// # Errors
    /// Those of the operating system.
    pub(super) fn line(&self) -> io::Result<OwnedFd> {
        self.event.try_clone()
    }
}

impl Attention for Doorbell {
    fn call(&self) {
        // It is full after more calls than anybody makes, and the guest is called then.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}

fn send(server: &UnixStream, number: i64, file: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut files = SendAncillaryBuffer::new(&mut space);
    if let Some(file) = &file {
        files.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(file)));
    }
    let bytes = number.to_le_bytes();
    let sent = sendmsg(server, &[IoSlice::new(&bytes)], &mut files, SendFlags::NOSIGNAL)?;
    if sent == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

#[cfg(test)]
mod tests {
    use std::io::IoSliceMut;

    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

    use super::*;

    fn receive(client: &OwnedFd) -> (i64, Option<OwnedFd>) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut files = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = [0; 8];
        let mut into = [IoSliceMut::new(&mut bytes)];
        recvmsg(client, &mut into, &mut files, RecvFlags::empty()).unwrap();
        let file = files.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        (i64::from_le_bytes(bytes), file)
    }

    #[test]
    fn a_client_gets_memory_and_interrupt_in_the_order_of_the_protocol() {
        let memory = tempfile::tempfile().unwrap();
        memory.set_len(77).unwrap();
        let (doorbell, client) = Doorbell::new(&memory).unwrap();
        let messages: Vec<_> = (0..4).map(|_| receive(&client)).collect();
        let numbers: Vec<i64> = messages.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 0, -1, 0]);
        let files: Vec<bool> = messages.iter().map(|(_, file)| file.is_some()).collect();
        assert_eq!(files, [false, false, true, true]);
        let [_, _, (_, memory), (_, event)] = <[_; 4]>::try_from(messages).unwrap();
        assert_eq!(File::from(memory.unwrap()).metadata().unwrap().len(), 77);
        doorbell.call();
        doorbell.call();
        let mut count = [0; 8];
        rustix::io::read(event.unwrap(), &mut count).unwrap();
        assert_eq!(u64::from_ne_bytes(count), 2);
    }
}
