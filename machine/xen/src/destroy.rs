//! The end of a domain without Xen's store, which `xl` waits for: a hypercall of dom0.
//!
//! ```text
//! /dev/xen/privcmd ── domctl: destroydomain, version of the interface, domain ──► Xen
//! ```
//!
//! The interface is Xen's own and has a version, which Xen compares; this request has looked the
//! same in all of them, so each is tried. Whoever can reach the store uses `xl`, which removes the
//! domain's keys as well.
// UNSAFETY: a device is asked by a structure that the compiler does not know.
#![expect(unsafe_code, reason = "the device of hypercalls has no other face")]

use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::AsRawFd as _;

use crate::DomainId;

const DEVICE: &str = "/dev/xen/privcmd";
/// The request for a hypercall (Linux, `include/uapi/xen/privcmd.h`): its number, five arguments.
const HYPERCALL: libc::c_ulong = (6 * size_of::<u64>() as libc::c_ulong) << 16 | 0x5000;
/// The hypercall by which dom0 controls domains, and the request in it (Xen, `public/domctl.h`).
const DOMCTL: u64 = 36;
const DESTROY: u64 = 2;
/// Versions of the interface: of Xen 4.11, and more than there are.
const VERSIONS: RangeInclusive<u64> = 0x10..=0x40;
/// Words of a request, of which Xen copies at most so many.
const REQUEST_WORDS: usize = 32;

/// Destroys a domain at once, whatever it does.
///
/// # Errors
/// Those of the device and of Xen; it is no error that there is no such domain.
pub fn destroy(domain: DomainId) -> io::Result<()> {
    let device = File::options().read(true).write(true).open(DEVICE)?;
    let mut outcome = Ok(());
    for version in VERSIONS {
        outcome = ask(&device, request(version, domain));
        match outcome.as_ref().map_err(io::Error::raw_os_error) {
            // Another version.
            Err(Some(libc::EACCES)) => {}
            Err(Some(libc::ESRCH)) => return Ok(()),
            Ok(()) | Err(_) => break,
        }
    }
    outcome
}

/// Returns a request: what is asked for, the version, the domain, nothing else.
fn request(version: u64, domain: DomainId) -> [u64; REQUEST_WORDS] {
    let mut words = [0; REQUEST_WORDS];
    words[0] = DESTROY | version << 32;
    words[1] = u64::from(domain.0);
    words
}

fn ask(device: &File, mut request: [u64; REQUEST_WORDS]) -> io::Result<()> {
    let mut call = [DOMCTL, request.as_mut_ptr() as u64, 0, 0, 0, 0];
    // SAFETY: the kernel reads the call, which has the size in the request's number, and Xen reads
    // and writes the request, which is longer than any of its own.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), HYPERCALL, call.as_mut_ptr()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_laid_out_as_in_xens_header() {
        let bytes: Vec<u8> =
            request(0x15, DomainId(0x0102)).iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(bytes[..4], [2, 0, 0, 0], "cmd");
        assert_eq!(bytes[4..8], [0x15, 0, 0, 0], "interface_version");
        assert_eq!(bytes[8..10], [2, 1], "domain");
        assert!(bytes[10..].iter().all(|byte| *byte == 0));
        assert_eq!(HYPERCALL, 0x30_5000, "_IOC(_IOC_NONE, 'P', 0, 48)");
    }
}
