//! The ports of a Linux guest of QEMU: sockets behind ports of virtio.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use crate::linux::ports::Host;

use super::machine::PORTS;

/// Makes the ports and starts the threads behind the host's ends. Returns QEMU's ends, too.
///
/// # Errors
/// When the operating system refuses a socket or a thread; in words.
pub(super) fn pairs() -> Result<(Host, [OwnedFd; PORTS.len()]), String> {
    let refused = |error: io::Error| format!("no port to the guest: {error}");
    let pair = || UnixStream::pair().map_err(refused);
    let [(orders, first), (printed, second), (remarks, third)] = [pair()?, pair()?, pair()?];
    let host = Host::over(orders, printed, remarks).map_err(refused)?;
    Ok((host, [first.into(), second.into(), third.into()]))
}
