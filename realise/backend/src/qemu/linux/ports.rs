//! The host's ends of the ports to a Linux guest.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};

use quietcore_process::remark::remark;

use super::machine::PORTS;
use super::parcel::Parcel;

/// Stack of a thread that passes on what comes.
const STACK_BYTES: usize = 256 << 10;
/// Longest line of remarks that is passed on whole.
const LINE_BYTES_MAX: u64 = 4 << 10;
/// Bytes of what is printed that are taken at once.
const PRINTED_BYTES: usize = 4 << 10;

/// The ports to a guest that is yet to be started.
pub(super) struct Ports;

/// The host's ends of the ports, with the threads behind them.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) orders: Sender,
    pub(super) readers: Readers,
}

/// The way of parcels into the guest. Nobody who sends waits for the guest.
#[derive(Debug)]
pub(super) struct Sender(mpsc::Sender<Parcel>);

/// The threads that pass on what the guest says, until QEMU has ended.
#[derive(Debug)]
pub(super) struct Readers(Vec<JoinHandle<()>>);

impl Ports {
    /// Makes the ports and starts their threads. Returns QEMU's ends, too.
    ///
    /// # Errors
    /// When the operating system refuses a socket or a thread; in words.
    pub(super) fn pairs() -> Result<(Host, [OwnedFd; PORTS.len()]), String> {
        let refused = |error: io::Error| format!("no port to the guest: {error}");
        let pair = || UnixStream::pair().map_err(refused);
        let [(orders, first), (printed, second), (remarks, third)] = [pair()?, pair()?, pair()?];
        let (sender, parcels) = mpsc::channel();
        // It ends when QEMU has, or nobody sends any more; nobody waits for it.
        started("orders", move || write_all(&parcels, orders)).map_err(refused)?;
        let printed = started("printed", move || pass_on_printed(printed)).map_err(refused)?;
        let remarks = started("remarks", move || pass_on_remarks(remarks)).map_err(refused)?;
        let host = Host { orders: Sender(sender), readers: Readers(vec![printed, remarks]) };
        Ok((host, [first.into(), second.into(), third.into()]))
    }
}

impl Sender {
    /// Sends a parcel, in its turn.
    pub(super) fn send(&self, parcel: Parcel) {
        // The guest has ended where nobody takes it; that is said elsewhere.
        let _ = self.0.send(parcel);
    }
}

impl Readers {
    /// Waits until all is passed on that the guest has said.
    pub(super) fn join(self) {
        for reader in self.0 {
            // A reader that panicked has said so.
            let _ = reader.join();
        }
    }
}

fn started(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work)
}

fn write_all(parcels: &Receiver<Parcel>, mut port: UnixStream) {
    for parcel in parcels {
        if parcel.write(&mut port).is_err() {
            return;
        }
    }
}

/// Passes on what the program prints. What this process's own output has no room for is lost, as it
/// is for a program on the host.
fn pass_on_printed(mut port: UnixStream) {
    let mut bytes = [0; PRINTED_BYTES];
    while let Ok(count @ 1..) = port.read(&mut bytes) {
        let _ = io::stdout().write_all(&bytes[..count]).and_then(|()| io::stdout().flush());
    }
}

fn pass_on_remarks(port: UnixStream) {
    let mut port = BufReader::new(port);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut port).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => remark(format_args!("{}", String::from_utf8_lossy(&line).trim_end())),
        }
    }
}
