//! An event channel by which a program of dom0 calls a domain, from both ends.
// UNSAFETY: a device is asked by numbers that the compiler does not know.
#![expect(unsafe_code, reason = "the device of event channels has no other face")]

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;

use crate::DomainId;

const DEVICE: &str = "/dev/xen/evtchn";
/// Requests to it (Linux, `include/uapi/xen/evtchn.h`), with one word, but the first with two.
const BIND_TO_REMOTE: libc::c_ulong = request(1, 2);
const BIND_UNBOUND_PORT: libc::c_ulong = request(2, 1);
const NOTIFY: libc::c_ulong = request(4, 1);
/// The number of dom0.
const HOST: u32 = 0;
/// Bytes of a word.
const WORD_BYTES: usize = size_of::<u32>();

/// The host's end of a channel, which is closed when this is dropped.
#[derive(Debug)]
pub struct EventChannel {
    device: File,
    port: u32,
}

impl EventChannel {
    /// Makes a channel whose other end is for a domain.
    ///
    /// # Errors
    /// Those of the operating system: there is no such device, or no such domain.
    pub fn open(domain: DomainId) -> io::Result<Self> {
        let device = File::options().read(true).write(true).open(DEVICE)?;
        let port = ask(&device, BIND_UNBOUND_PORT, [domain.0.into(), 0])?;
        Ok(Self { device, port })
    }

    /// Returns the number of the host's end, by which the domain binds its own.
    pub fn port(&self) -> u32 {
        self.port
    }

    /// Raises the domain's interrupt of this channel.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn notify(&self) -> io::Result<()> {
        ask(&self.device, NOTIFY, [self.port, 0]).map(drop)
    }
}

/// The end of such a channel in the domain that is called.
#[derive(Debug)]
pub struct Doorbell {
    device: File,
}

impl Doorbell {
    /// Binds the domain's end to dom0's, which has this port.
    ///
    /// # Errors
    /// Those of the operating system: there is no such device, or no such channel.
    pub fn bind(port: u32) -> io::Result<Self> {
        let device = File::options().read(true).write(true).open(DEVICE)?;
        ask(&device, BIND_TO_REMOTE, [HOST, port])?;
        Ok(Self { device })
    }

    /// Waits until the domain is called, unless it was since the last time.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn wait(&mut self) -> io::Result<()> {
        let mut port = [0; WORD_BYTES];
        self.device.read_exact(&mut port)?;
        // The next call is told only then.
        self.device.write_all(&port)
    }
}

const fn request(number: libc::c_ulong, words: usize) -> libc::c_ulong {
    let bytes = (words * WORD_BYTES) as libc::c_ulong;
    bytes << 16 | (b'E' as libc::c_ulong) << 8 | number
}

fn ask(device: &File, request: libc::c_ulong, words: [u32; 2]) -> io::Result<u32> {
    // SAFETY: all requests read two words at the address at most, and keep nothing.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), request, words.as_ptr()) };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}
