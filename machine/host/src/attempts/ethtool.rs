//! Asks a network interface for its time stamps, by the ioctl that `ethtool -T` uses.
//
// UNSAFETY: an ioctl takes a raw structure with a pointer to a second one.

#![expect(unsafe_code, reason = "an ioctl takes a raw pointer")]

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;

use super::Timestamping;
use crate::reading::Reading;

/// `SIOCETHTOOL` of `linux/sockios.h`.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
/// `ETHTOOL_GET_TS_INFO` of `linux/ethtool.h`.
const GET_TS_INFO: u32 = 0x41;

/// Bits of `linux/net_tstamp.h`.
const TX_HARDWARE: u32 = 1 << 0;
const TX_SOFTWARE: u32 = 1 << 1;
const RX_HARDWARE: u32 = 1 << 2;
const RX_SOFTWARE: u32 = 1 << 3;
const RAW_HARDWARE: u32 = 1 << 6;
const FILTER_ALL: u32 = 1 << 1;

/// `struct ethtool_ts_info` of `linux/ethtool.h`.
#[repr(C)]
#[derive(Default)]
struct TimestampingInfo {
    command: u32,
    abilities: u32,
    clock_index: i32,
    transmit_types: u32,
    transmit_reserved: [u32; 3],
    receive_filters: u32,
    receive_reserved: [u32; 3],
}

/// Asks the interface. Any socket carries the question, so it is one without a network.
pub(super) fn timestamping(interface: &str) -> Reading<Timestamping> {
    match ask(interface) {
        Ok(info) => Reading::Read(understood(&info)),
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Reading::Absent,
        // Virtual interfaces have no such operation at all.
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Reading::Absent,
        Err(error) => Reading::Unreadable(crate::error_text(&error)),
    }
}

fn ask(interface: &str) -> io::Result<TimestampingInfo> {
    let socket = UnixDatagram::unbound()?;
    let mut info = TimestampingInfo { command: GET_TS_INFO, ..TimestampingInfo::default() };
    let mut name = [0; libc::IFNAMSIZ];
    if interface.len() >= name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in name.iter_mut().zip(interface.bytes()) {
        *to = from.cast_signed() as libc::c_char;
    }
    let mut request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: (&raw mut info).cast() },
    };
    // SAFETY: the request holds a terminated name and a pointer to the structure that the command
    // in it asks for; both live until the call returns.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    if status == 0 { Ok(info) } else { Err(io::Error::last_os_error()) }
}

fn understood(info: &TimestampingInfo) -> Timestamping {
    let has = |bits: u32| info.abilities & bits == bits;
    Timestamping {
        hardware_transmit: has(TX_HARDWARE | RAW_HARDWARE),
        hardware_receive: has(RX_HARDWARE | RAW_HARDWARE),
        software_transmit: has(TX_SOFTWARE),
        software_receive: has(RX_SOFTWARE),
        every_received_frame: has(RX_HARDWARE) && info.receive_filters & FILTER_ALL != 0,
        clock_index: u32::try_from(info.clock_index).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_stamps_need_the_raw_hardware_bit() {
        let mut info = TimestampingInfo {
            abilities: TX_HARDWARE | RX_HARDWARE | RX_SOFTWARE,
            clock_index: -1,
            ..TimestampingInfo::default()
        };
        let without = understood(&info);
        assert!(!without.hardware_transmit && !without.hardware_receive);
        assert!(without.software_receive);
        assert_eq!(without.clock_index, None);
        info.abilities |= RAW_HARDWARE;
        info.clock_index = 0;
        assert!(understood(&info).hardware_receive);
        assert_eq!(understood(&info).clock_index, Some(0));
    }

    #[test]
    fn an_interface_that_does_not_exist_is_absent() {
        assert_eq!(timestamping("quietcore-none"), Reading::Absent);
        assert_eq!(timestamping("a-name-too-long-for-linux"), Reading::Absent);
    }
}
