//! Sending messages over TCP on the loopback interface, from one thread to another.
//!
//! The kernel's whole way through sockets, TCP and the soft interrupt of the loopback device is
//! busy, without a device or a packet leaving the machine. Both ends belong to this process, so
//! the connection ends with it.

use std::convert::Infallible;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

use crate::board::Beat;
use crate::work::{WorkError, allocate};

/// Strangers that may connect in our place before it counts as a fault.
const STRANGERS_MAX: u32 = 16;

pub(super) fn run(message_size: usize, beat: &mut Beat<'_>) -> Result<Infallible, WorkError> {
    let (mut sending, mut receiving) =
        connect().map_err(WorkError::refused("connect over the loopback interface"))?;
    let message = allocate(message_size, 0x5a_u8)?;
    let mut received = allocate(message_size, 0_u8)?;
    thread::Builder::new()
        .name("load-sender".to_owned())
        // An error here ends the connection, which the receiver tells.
        .spawn(move || while sending.write_all(black_box(&message)).is_ok() {})
        .map_err(WorkError::refused("start the sending thread"))?;
    beat.start();
    loop {
        receiving.read_exact(&mut received).map_err(WorkError::refused("receive a message"))?;
        black_box(&mut received);
        beat.add(1, message_size as u64);
    }
}

/// Both ends of a connection with ourselves.
fn connect() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let sending = TcpStream::connect(listener.local_addr()?)?;
    // Each message goes out at once instead of being joined with the next.
    sending.set_nodelay(true)?;
    for _ in 0..STRANGERS_MAX {
        let (receiving, peer) = listener.accept()?;
        // Another program of this machine may have found the port first.
        if peer == sending.local_addr()? {
            return Ok((sending, receiving));
        }
    }
    Err(io::Error::other("too many strangers connected instead"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_ends_belong_together() {
        let (mut sending, mut receiving) = connect().unwrap();
        sending.write_all(b"quiet").unwrap();
        let mut received = [0; 5];
        receiving.read_exact(&mut received).unwrap();
        assert_eq!(&received, b"quiet");
    }
}
