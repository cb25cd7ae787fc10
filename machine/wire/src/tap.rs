//! A virtual network interface whose cable ends in this process (a tap, tun(4)).
//!
//! ```text
//! send    ─► write(2) ─► the interface receives it, as from a cable
//! receive ◄─ read(2)  ◄─ what the host sends over the interface
//! ```
//!
//! The interface is there as long as the wire is, and goes with the process that has it: nothing is
//! left behind. Whatever the host itself says on a new interface is not heard: only EtherCAT's
//! frames are.
// UNSAFETY: interfaces are made by `ioctl`, which has no safe face in the libraries used.
#![expect(unsafe_code, reason = "three system calls without a safe face make the interface")]

use std::ffi::{c_int, c_short, c_ulong};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_units::Nanos;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::packet::SPIN;
use crate::waiting;
use crate::wire::{ETHERCAT_TYPE, FRAME_BYTES_MAX, Wire, WireError};

/// The device by which interfaces are made.
const DEVICE: &str = "/dev/net/tun";
/// The longest name of an interface, in bytes.
pub const NAME_BYTES_MAX: usize = libc::IFNAMSIZ - 1;

/// Frames that are dropped in one look for one.
const STRAYS_MAX: usize = 64;

/// Why there is no such interface.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// The name can't be an interface's.
    #[error(
        "`{0}` can't be the name of an interface; use 1 to {NAME_BYTES_MAX} letters and digits"
    )]
    Name(String),
    /// The kernel has no such interfaces.
    #[error("`{DEVICE}` can't be opened: {0}; is the kernel's module `tun` loaded?")]
    Device(io::Error),
    /// A privilege is missing.
    #[error("making the interface `{0}` needs CAP_NET_ADMIN; run as root")]
    NotPermitted(String),
    /// There is one of this name.
    #[error("there is an interface `{0}` already; see `ip link`")]
    Taken(String),
    /// The interface can't be made or opened for another reason.
    #[error("the interface `{interface}` can't be {what}")]
    Refused {
        /// The name of the interface.
        interface: String,
        /// The action that failed, in words.
        what: &'static str,
        /// The error of the kernel.
        #[source]
        cause: io::Error,
    },
}

/// The far end of a virtual network interface.
#[derive(Debug)]
pub struct TapWire {
    file: OwnedFd,
    name: String,
    spin: Nanos,
}

impl TapWire {
    /// Makes an interface of this name and sets it up.
    ///
    /// # Errors
    /// [`TapError`]; then there is no interface of ours.
    pub fn make(name: &str) -> Result<Self, TapError> {
        let is_good = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let length = 1..=NAME_BYTES_MAX;
        if !length.contains(&name.len()) || !name.chars().all(is_good) || name == "." {
            return Err(TapError::Name(name.to_owned()));
        }
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file =
            open(DEVICE, flags, Mode::empty()).map_err(|cause| TapError::Device(cause.into()))?;
        let mut request = Request::of(name);
        // A frame as it is, without a header; and the interface of somebody else is not taken.
        request.flags = (libc::IFF_TAP | libc::IFF_NO_PI) as c_short | IFF_TUN_EXCL as c_short;
        let refused = |what| {
            move |cause: Errno| match cause {
                Errno::PERM | Errno::ACCESS => TapError::NotPermitted(name.to_owned()),
                Errno::BUSY => TapError::Taken(name.to_owned()),
                cause => {
                    TapError::Refused { interface: name.to_owned(), what, cause: cause.into() }
                }
            }
        };
        ask(&file, libc::TUNSETIFF as c_ulong, &mut request).map_err(refused("made"))?;
        let socket =
            socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
                .map_err(refused("set up"))?;
        let mut request = Request::of(name);
        ask(&socket, libc::SIOCGIFFLAGS as c_ulong, &mut request).map_err(refused("looked at"))?;
        request.flags |= libc::IFF_UP as c_short;
        ask(&socket, libc::SIOCSIFFLAGS as c_ulong, &mut request).map_err(refused("set up"))?;
        Ok(Self { file, name: name.to_owned(), spin: SPIN })
    }

    /// The same wire, asking for `spin` again and again before it sleeps.
    #[must_use]
    pub fn with_spin(self, spin: Nanos) -> Self {
        Self { spin, ..self }
    }

    /// The name of the interface.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The frame that is there, if one is; those that are no EtherCAT are taken and dropped.
    fn poll_once(&self, buffer: &mut [u8]) -> Result<Option<usize>, WireError> {
        // One byte more than a frame, so that a longer one shows.
        let mut frame = [0; FRAME_BYTES_MAX + 1];
        for _ in 0..STRAYS_MAX {
            let bytes = match read(&self.file, &mut frame) {
                Ok(bytes) => bytes,
                Err(Errno::AGAIN | Errno::INTR | Errno::IO) => return Ok(None),
                Err(Errno::BADFD | Errno::NODEV | Errno::NXIO) => return Err(WireError::Down),
                Err(other) => return Err(WireError::Refused(other.raw_os_error())),
            };
            let is_ethercat = frame[12..14] == ETHERCAT_TYPE.to_be_bytes() && bytes > 14;
            let place = buffer.get_mut(..bytes).filter(|_| is_ethercat);
            if let Some(place) = place.filter(|place| place.len() <= FRAME_BYTES_MAX) {
                place.copy_from_slice(&frame[..bytes]);
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

impl Wire for TapWire {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        if frame.len() > FRAME_BYTES_MAX {
            return Err(WireError::TooLong { bytes: frame.len(), limit: FRAME_BYTES_MAX });
        }
        match write(&self.file, frame) {
            Ok(_) => Ok(()),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => Err(WireError::Full),
            // The interface was taken down, as a cable is pulled.
            Err(Errno::IO | Errno::NETDOWN | Errno::BADFD | Errno::NODEV) => Err(WireError::Down),
            Err(other) => Err(WireError::Refused(other.raw_os_error())),
        }
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        waiting::receive(self, self.spin, until, || self.poll_once(buffer))
    }

    fn now(&self) -> Nanos {
        Monotonic.now()
    }
}

impl AsFd for TapWire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// `IFF_TUN_EXCL` of `linux/if_tun.h`.
const IFF_TUN_EXCL: c_int = 0x8000;

/// The part of `struct ifreq` that is used: a name, and flags; padded to its size.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: c_short,
    rest: [u8; 22],
}

const _: () = assert!(size_of::<Request>() == size_of::<libc::ifreq>());

impl Request {
    /// About the interface of this name, which was checked.
    fn of(name: &str) -> Self {
        let mut request = Self { name: [0; libc::IFNAMSIZ], flags: 0, rest: [0; 22] };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        request
    }
}

/// Asks for something about an interface.
fn ask(file: &impl AsFd, what: c_ulong, request: &mut Request) -> Result<(), Errno> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: each of the requests made here reads and writes one live `ifreq`, which this is as
    // large as.
    let result = unsafe { libc::ioctl(file, what as _, std::ptr::from_mut(request)) };
    if result >= 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_name_of_an_interface_is_refused() {
        for name in ["", ".", "a name", "far-too-long-for-one", "a/b", "ä"] {
            assert!(matches!(TapWire::make(name), Err(TapError::Name(_))), "{name}");
        }
    }
}
