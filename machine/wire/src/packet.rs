//! A raw socket on a network interface (packet(7)).
//!
//! ```text
//! send    ─► send(2), past the queueing discipline ─► driver
//!                     through it, where the interface is limited
//! receive ─► recv(2), again and again for `spin` ─► ppoll(2) until the time-out
//! ```
//!
//! The socket is bound to the interface and to EtherCAT's type, so no other frame wakes it, and it
//! ignores what its own interface sends. Without `spin` a frame costs a wake-up of the thread; with
//! it, the CPU.
//!
// UNSAFETY: `bind` to a packet address and the options of packet sockets have no safe face in the
// libraries used.
#![expect(unsafe_code, reason = "two system calls without a safe face are made on a packet socket")]

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_units::Nanos;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, recv, send,
    socket_with,
};

use crate::waiting;
use crate::wire::{ETHERCAT_TYPE, FRAME_BYTES_MAX, Wire, WireError};

/// The time for which [`PacketWire`] asks again and again before it sleeps, unless told otherwise.
/// An answer of a short segment arrives within it.
pub const SPIN: Nanos = Nanos::from_micros(50);

/// Why an interface could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no interface of this name.
    #[error("there is no network interface `{interface}`; see `ip link`")]
    NoInterface {
        /// The name that was asked for.
        interface: String,
        /// The error of the kernel.
        #[source]
        cause: io::Error,
    },
    /// Raw sockets need a privilege that the process lacks.
    #[error(
        "raw frames on `{interface}` need CAP_NET_RAW; run as root, or grant it with \
         `setcap cap_net_raw+ep PROGRAM`"
    )]
    NotPermitted {
        /// The interface that was asked for.
        interface: String,
    },
    /// The socket can't be made or bound for another reason.
    #[error("the raw socket on `{interface}` could not be opened")]
    Socket {
        /// The interface that was asked for.
        interface: String,
        /// The error of the kernel.
        #[source]
        cause: io::Error,
    },
}

/// The path of frames to the driver, as to the queueing discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransmitPath {
    Past,
    Through,
}

/// EtherCAT frames on a network interface.
#[derive(Debug)]
pub struct PacketWire {
    socket: OwnedFd,
    index: u32,
    spin: Nanos,
}

/// Looks after the interface of a [`PacketWire`], which is as silent when its interface is gone as
/// when nobody sends.
#[derive(Debug)]
pub struct InterfaceLook {
    socket: OwnedFd,
    index: u32,
}

impl InterfaceLook {
    /// Returns whether the interface is still there. One of the same name that came later is
    /// another one.
    pub fn is_there(&self) -> bool {
        let name = netdevice::index_to_name_inlined(&self.socket, self.index);
        !matches!(name, Err(Errno::NODEV | Errno::NXIO))
    }
}

impl PacketWire {
    /// Opens the interface of this name, past its queueing discipline.
    ///
    /// # Errors
    /// When there is no such interface, without `CAP_NET_RAW`, or when the kernel refuses.
    pub fn open(interface: &str) -> Result<Self, OpenError> {
        Self::open_by(interface, TransmitPath::Past)
    }

    /// Opens the interface of this name, through its queueing discipline: what that does not let
    /// pass is [`WireError::Full`].
    ///
    /// # Errors
    /// Those of [`PacketWire::open`].
    pub fn open_limited(interface: &str) -> Result<Self, OpenError> {
        Self::open_by(interface, TransmitPath::Through)
    }

    fn open_by(interface: &str, path: TransmitPath) -> Result<Self, OpenError> {
        let failed = |cause: Errno| match cause {
            Errno::PERM | Errno::ACCESS => {
                OpenError::NotPermitted { interface: interface.to_owned() }
            }
            cause => OpenError::Socket { interface: interface.to_owned(), cause: cause.into() },
        };
        // Protocol 0: nothing is received before the socket is bound to its interface and type.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket =
            socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None).map_err(failed)?;
        let index = netdevice::name_to_index(&socket, interface).map_err(|cause| {
            OpenError::NoInterface { interface: interface.to_owned(), cause: cause.into() }
        })?;
        switch_on(&socket, PACKET_IGNORE_OUTGOING).map_err(failed)?;
        if path == TransmitPath::Past {
            switch_on(&socket, libc::PACKET_QDISC_BYPASS).map_err(failed)?;
        }
        bind(&socket, index).map_err(failed)?;
        Ok(Self { socket, index, spin: SPIN })
    }

    /// Returns a look at its interface, for a caller that gives the wire away.
    ///
    /// # Errors
    /// Those of `dup`.
    pub fn look(&self) -> io::Result<InterfaceLook> {
        Ok(InterfaceLook { socket: self.socket.try_clone()?, index: self.index })
    }

    /// The same wire over another number of its socket, which `renumber` gives it.
    ///
    /// # Errors
    /// Those of `renumber`.
    pub fn renumbered(
        self,
        renumber: impl FnOnce(OwnedFd) -> io::Result<OwnedFd>,
    ) -> io::Result<Self> {
        Ok(Self { socket: renumber(self.socket)?, ..self })
    }

    /// The same wire, asking for `spin` again and again before it sleeps.
    #[must_use]
    pub fn with_spin(self, spin: Nanos) -> Self {
        Self { spin, ..self }
    }

    /// The frame that is there, if one is.
    fn poll_once(&self, buffer: &mut [u8]) -> Result<Option<usize>, WireError> {
        // With TRUNC the kernel tells the frame's own length, so that a cut one is recognised.
        match recv(&self.socket, &mut *buffer, RecvFlags::TRUNC) {
            Ok((_, bytes)) if bytes <= buffer.len() => Ok(Some(bytes)),
            // Too long; or the interface is down, which silences the wire like a pulled cable.
            Ok(_) | Err(Errno::AGAIN | Errno::INTR | Errno::NETDOWN) => Ok(None),
            Err(Errno::NXIO | Errno::NODEV) => Err(WireError::Down),
            Err(other) => Err(WireError::Refused(other.raw_os_error())),
        }
    }
}

impl Wire for PacketWire {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        if frame.len() > FRAME_BYTES_MAX {
            return Err(WireError::TooLong { bytes: frame.len(), limit: FRAME_BYTES_MAX });
        }
        match send(&self.socket, frame, SendFlags::DONTWAIT) {
            Ok(_) => Ok(()),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => Err(WireError::Full),
            Err(Errno::NETDOWN | Errno::NXIO | Errno::NODEV) => Err(WireError::Down),
            Err(Errno::MSGSIZE) => {
                Err(WireError::TooLong { bytes: frame.len(), limit: FRAME_BYTES_MAX })
            }
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

impl AsFd for PacketWire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// `PACKET_IGNORE_OUTGOING` of `linux/if_packet.h`, since Linux 4.20.
const PACKET_IGNORE_OUTGOING: c_int = 23;

/// Sets an option of packet sockets to 1.
fn switch_on(socket: &OwnedFd, option: c_int) -> Result<(), Errno> {
    let one: c_int = 1;
    // SAFETY: the kernel reads one `c_int` from a live variable of that size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            (&raw const one).cast(),
            size_of::<c_int>() as libc::socklen_t,
        )
    };
    errno_of(result)
}

/// Binds to the interface of this index and to EtherCAT's type.
fn bind(socket: &OwnedFd, index: u32) -> Result<(), Errno> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: ETHERCAT_TYPE.to_be(),
        sll_ifindex: index as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: the kernel reads a live `sockaddr_ll` of the size given.
    let result = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    errno_of(result)
}

fn errno_of(result: c_int) -> Result<(), Errno> {
    if result == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_does_not_exist_is_named() {
        match PacketWire::open("no-such-if0") {
            Err(OpenError::NoInterface { interface, .. }) => assert_eq!(interface, "no-such-if0"),
            Err(OpenError::NotPermitted { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}
