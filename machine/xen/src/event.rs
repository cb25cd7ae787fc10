//! An event channel by which a program of dom0 calls a domain.
// UNSAFETY: a device is asked by numbers that the compiler does not know.
#![expect(unsafe_code, reason = "the device of event channels has no other face")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use crate::DomainId;

const DEVICE: &str = "/dev/xen/evtchn";
/// Requests to it (Linux, `include/uapi/xen/evtchn.h`), each with one word.
const BIND_UNBOUND_PORT: libc::c_ulong = request(2);
const NOTIFY: libc::c_ulong = request(4);

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
        let port = ask(&device, BIND_UNBOUND_PORT, domain.0.into())?;
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
        ask(&self.device, NOTIFY, self.port).map(drop)
    }
}

const fn request(number: libc::c_ulong) -> libc::c_ulong {
    const WORD_BYTES: libc::c_ulong = 4;
    WORD_BYTES << 16 | (b'E' as libc::c_ulong) << 8 | number
}

fn ask(device: &File, request: libc::c_ulong, word: u32) -> io::Result<u32> {
    // SAFETY: both requests read one word at the address, and keep nothing.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), request, &raw const word) };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}
