//! Pages that dom0 of Xen grants this domain, through `/dev/xen/gntdev`.
//!
//! The device maps what was asked for in one request, whole: a part of an area is a request of its
//! own. What was mapped stays as long as its mapping, without its request.
// UNSAFETY: a device is asked by numbers that the compiler does not know, and its pages are mapped:
// dom0 may change them; they can't shrink.
#![expect(unsafe_code, reason = "the device of granted pages has no other face")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use memmap2::MmapOptions;
use quietcore_boot::places::PAGE_BYTES;
use quietcore_boot::xen::{Announcement, REFERENCES_PER_DIRECTORY};
use serde::{Deserialize, Serialize};

/// The domain that grants: dom0.
const HOST: u32 = 0;
/// Requests to the device (Linux, `include/uapi/xen/gntdev.h`): the number of the first has the
/// size of a request for one page.
const MAP: libc::c_ulong = request(0, 24);
const UNMAP: libc::c_ulong = request(1, 16);
/// Words before the pages of a request to map: their number, a pad, and the place in the file that
/// the kernel writes.
const WORDS_BEFORE_PAGES: usize = 4;

/// An area of granted pages, as dom0 has announced it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Granted {
    pages: u32,
    directories: Vec<u32>,
}

/// A part of an area, at an offset of the device's file until this is dropped; what was mapped
/// there stays.
#[derive(Debug)]
pub(crate) struct GrantedPart<'f> {
    device: &'f File,
    pub(crate) offset: u64,
    pages: u32,
}

impl Granted {
    /// Returns its size in bytes: whole pages.
    pub fn bytes(&self) -> u64 {
        u64::from(self.pages) * PAGE_BYTES
    }

    /// Asks for a part of it, whole pages.
    ///
    /// # Errors
    /// When it is no part, or dom0 does not grant it.
    pub(crate) fn part<'f>(
        &self,
        device: &'f File,
        offset: u64,
        bytes: u64,
    ) -> io::Result<GrantedPart<'f>> {
        let references = self.references(device)?;
        let page = |bytes: u64| usize::try_from(bytes / PAGE_BYTES).unwrap_or(usize::MAX);
        let first = page(offset);
        let end = first.saturating_add(page(bytes.saturating_add(PAGE_BYTES - 1)));
        let part = references.get(first..end).filter(|part| !part.is_empty());
        GrantedPart::new(device, part.ok_or(io::ErrorKind::InvalidInput)?)
    }

    /// Reads the references of its pages.
    fn references(&self, device: &File) -> io::Result<Vec<u32>> {
        let announced = Announcement::new(self.pages, &self.directories);
        announced.ok_or(io::ErrorKind::InvalidData)?;
        let mut references = Vec::with_capacity(self.pages as usize);
        for directory in &self.directories {
            let part = GrantedPart::new(device, &[*directory])?;
            let mut options = MmapOptions::new();
            options.offset(part.offset).len(PAGE_BYTES as usize);
            let page = options.map_raw(device)?;
            let listed: *const u32 = page.as_ptr().cast();
            for index in 0..REFERENCES_PER_DIRECTORY {
                // SAFETY: within the page; dom0 has written it before this domain began.
                references.push(unsafe { listed.add(index).read_volatile() });
            }
        }
        references.truncate(self.pages as usize);
        Ok(references)
    }
}

impl From<&Announcement> for Granted {
    fn from(announced: &Announcement) -> Self {
        Self { pages: announced.pages(), directories: announced.directories().to_vec() }
    }
}

impl<'f> GrantedPart<'f> {
    fn new(device: &'f File, references: &[u32]) -> io::Result<Self> {
        let pages = u32::try_from(references.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut words = vec![pages, 0, 0, 0];
        words.extend(references.iter().flat_map(|reference| [HOST, *reference]));
        ask(device, MAP, &mut words)?;
        debug_assert_eq!(words.len(), WORDS_BEFORE_PAGES + 2 * references.len());
        let offset = u64::from(words[2]) | u64::from(words[3]) << 32;
        Ok(Self { device, offset, pages })
    }
}

impl Drop for GrantedPart<'_> {
    fn drop(&mut self) {
        let place = [self.offset as u32, (self.offset >> 32) as u32];
        // It can only fail for what is not there.
        let _ = ask(self.device, UNMAP, &mut [place[0], place[1], self.pages, 0]);
    }
}

const fn request(number: libc::c_ulong, bytes: libc::c_ulong) -> libc::c_ulong {
    bytes << 16 | (b'G' as libc::c_ulong) << 8 | number
}

fn ask(device: &File, request: libc::c_ulong, words: &mut [u32]) -> io::Result<()> {
    // SAFETY: the kernel reads and writes as many words as a request of so many pages has.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), request, words.as_mut_ptr()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_is_as_large_as_it_was_announced_and_asks_a_device() {
        let announced = Announcement::parse(b"1025 77 78").unwrap();
        let granted = Granted::from(&announced);
        assert_eq!(granted.bytes(), 1025 * 4096);
        let none = tempfile::tempfile().unwrap();
        let refused = granted.part(&none, 0, 4096).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ENOTTY), "a file grants nothing");
        let wrong = Granted { pages: 1025, directories: vec![77] };
        let refused = wrong.part(&none, 0, 4096).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    }
}
