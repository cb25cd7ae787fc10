//! The image of a disk: what it is, looked at in its first bytes, before QEMU gets it.
//!
//! QEMU is told the format and finds out none by itself. An image that leads to other files (a
//! backing file, an external data file) is refused: whoever writes the image would choose what QEMU
//! opens on the host, and a guest writes its image.

use std::collections::BTreeMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use quietcore_site::{KeyPosition, Site};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

/// Bytes of an image that are looked at.
const HEAD_BYTES: usize = 1024;
/// Bytes of a sector.
const SECTOR_BYTES: usize = 512;
/// End of the first sector of a disk that a BIOS starts from, or that is divided.
const BOOT_SIGNATURE: [u8; 2] = [0x55, 0xaa];
/// Begin of the second sector where a GUID partition table divides the disk.
const GUID_TABLE: &[u8] = b"EFI PART";
/// Begin of an image of the format qcow2.
const QCOW: &[u8] = b"QFI\xfb";
/// The feature of qcow2 by which the content is in another file.
const EXTERNAL_DATA: u64 = 1 << 2;
/// Begins of images of other formats, with their names.
const OTHERS: [(&[u8], &str); 5] = [
    (b"KDMV", "VMDK"),
    (b"vhdxfile", "VHDX"),
    (b"conectix", "VHD"),
    (b"<<< ", "VDI"),
    (b"\x89LUKS", "LUKS"),
];

/// The format of a disk's image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageFormat {
    /// The bytes of the disk, as they are.
    Raw,
    /// QEMU's own format, which takes the room of what was written.
    Qcow2,
}

impl ImageFormat {
    /// Returns QEMU's word for it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Qcow2 => "qcow2",
        }
    }
}

/// The image of a disk that a guest can start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskImage {
    /// The absolute path, without links.
    pub path: PathBuf,
    /// The format, as its first bytes say.
    pub format: ImageFormat,
    /// The file, whatever its path is: the numbers of its device and of itself.
    identity: (u64, u64),
}

/// Why a file is no image of a disk.
#[derive(Debug, thiserror::Error)]
pub enum ImageFault {
    /// It can't be opened for reading and writing.
    #[error("it can't be opened")]
    Open(#[source] io::Error),
    /// It is a folder, a pipe, or something else that is no disk.
    #[error("it is no file and no disk")]
    NoFile,
    /// It is too small, or begins as no disk that can be started from.
    #[error(
        "it is no image of a disk: its first sector has no boot signature, and there is no GUID \
         partition table behind it"
    )]
    NoDisk,
    /// It is an image in another format.
    #[error(
        "it is an image of the format {0}; `qemu-img convert -O qcow2` makes one of it that can be \
         used"
    )]
    OtherFormat(&'static str),
    /// It is an image of a version of qcow that isn't known.
    #[error("it is an image of version {0} of qcow, and versions 2 and 3 are known")]
    Version(u32),
    /// It is what differs from another image.
    #[error(
        "it is the difference to a backing file, which would be opened too; `qemu-img convert -O \
         qcow2` makes a whole image of both"
    )]
    BackingFile,
    /// Its content is in another file.
    #[error("its content is in another file; `qemu-img convert -O qcow2` makes a whole image")]
    ExternalData,
    /// It is encrypted, and nobody has its key.
    #[error("it is encrypted, and nobody gives its key; decrypt it with `qemu-img convert`")]
    Encrypted,
}

/// A problem with the disks of a site's guests.
#[derive(Debug, thiserror::Error)]
pub enum DiskProblem {
    /// The image can't be used.
    #[error("{place}: `{}` is not the disk of partition `{partition}`", path.display())]
    Image {
        /// Position of the key in the site file.
        place: Box<KeyPosition>,
        /// Name of the partition.
        partition: String,
        /// Path of the image.
        path: PathBuf,
        /// The fault of the image.
        #[source]
        source: ImageFault,
    },
    /// Two partitions would write to one disk.
    #[error(
        "{place}: the disk of partition `{partition}` is that of partition `{other}`, and two \
         systems destroy what both write to; give each a copy"
    )]
    Twice {
        /// Position of the key in the site file.
        place: Box<KeyPosition>,
        /// Name of the partition.
        partition: String,
        /// Name of the partition before it.
        other: String,
    },
    /// There is no firmware to start it with.
    #[error(
        "{place}: partition `{partition}` starts by UEFI, and there is no OVMF here; install it, \
         such as Debian's package `ovmf`"
    )]
    NoFirmware {
        /// Position of the key in the site file.
        place: Box<KeyPosition>,
        /// Name of the partition.
        partition: String,
    },
}

impl DiskImage {
    /// Looks at a file. Nothing beyond its first 1024 bytes is read.
    ///
    /// # Errors
    /// [`ImageFault`] when it is no image that a guest can have.
    pub fn look(path: &Path) -> Result<Self, ImageFault> {
        // A pipe must not make anyone wait.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let mut file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
        let file = file.as_mut().map_err(|error| {
            let kind = io::Error::from(error.kind());
            ImageFault::Open(error.raw_os_error().map_or(kind, io::Error::from_raw_os_error))
        })?;
        let found = file.metadata().map_err(ImageFault::Open)?;
        if !found.is_file() && !found.file_type().is_block_device() {
            return Err(ImageFault::NoFile);
        }
        let head = head(file).map_err(ImageFault::Open)?;
        let format = recognise(&head)?;
        let path = path.canonicalize().map_err(ImageFault::Open)?;
        Ok(Self { path, format, identity: identity(&found) })
    }
}

/// Returns what is wrong with the disks of a site's guests, and with their firmware; empty where
/// nothing is. Paths are relative to `site_folder`.
pub fn problems(site: &Site, site_folder: &Path) -> Vec<DiskProblem> {
    let mut problems = Vec::new();
    let mut seen: BTreeMap<(u64, u64), &str> = BTreeMap::new();
    for partition in site.partitions() {
        let Some(disk) = partition.disk() else { continue };
        let name = partition.name.clone();
        let place = |key: &str| Box::new(site.place(&format!("partition.{name}.guest.{key}")));
        let path = site_folder.join(&disk.image);
        match DiskImage::look(&path) {
            Ok(image) => {
                if let Some(other) = seen.insert(image.identity, &partition.name) {
                    let other = other.to_owned();
                    let partition = name.clone();
                    problems.push(DiskProblem::Twice { place: place("image"), partition, other });
                }
            }
            Err(source) => {
                let (place, partition) = (place("image"), name.clone());
                problems.push(DiskProblem::Image { place, partition, path, source });
            }
        }
        if disk.firmware == quietcore_site::Firmware::Uefi
            && super::firmware::Ovmf::find().is_none()
        {
            let (place, partition) = (place("firmware"), name.clone());
            problems.push(DiskProblem::NoFirmware { place, partition });
        }
    }
    problems
}

fn identity(found: &Metadata) -> (u64, u64) {
    if found.file_type().is_block_device() {
        (u64::MAX, found.rdev())
    } else {
        (found.dev(), found.ino())
    }
}

/// Reads the first bytes, as many as there are and are looked at.
fn head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.seek(SeekFrom::Start(0))?;
    file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns the format of an image that begins so.
///
/// # Errors
/// [`ImageFault`] when no guest can have it.
fn recognise(head: &[u8]) -> Result<ImageFormat, ImageFault> {
    if head.starts_with(QCOW) {
        return qcow(head).map(|()| ImageFormat::Qcow2);
    }
    if let Some((_, name)) = OTHERS.iter().find(|(mark, _)| head.starts_with(mark)) {
        return Err(ImageFault::OtherFormat(name));
    }
    let is_boot = head.get(SECTOR_BYTES - 2..SECTOR_BYTES) == Some(&BOOT_SIGNATURE);
    let has_table = head.get(SECTOR_BYTES..).is_some_and(|rest| rest.starts_with(GUID_TABLE));
    if is_boot || has_table { Ok(ImageFormat::Raw) } else { Err(ImageFault::NoDisk) }
}

/// Checks the header of an image in the format qcow2 (`docs/interop/qcow2.txt` of QEMU).
fn qcow(head: &[u8]) -> Result<(), ImageFault> {
    let bytes = |at: usize, count: usize| head.get(at..at + count).ok_or(ImageFault::NoDisk);
    let word = |at: usize| {
        let bytes = bytes(at, 4)?;
        Ok(u32::from_be_bytes(bytes.try_into().expect("there are four")))
    };
    let long = |at: usize| {
        let bytes = bytes(at, 8)?;
        Ok(u64::from_be_bytes(bytes.try_into().expect("there are eight")))
    };
    let version = word(4)?;
    if !matches!(version, 2 | 3) {
        return Err(ImageFault::Version(version));
    }
    if long(8)? != 0 || word(16)? != 0 {
        return Err(ImageFault::BackingFile);
    }
    if word(32)? != 0 {
        return Err(ImageFault::Encrypted);
    }
    if version == 3 && long(72)? & EXTERNAL_DATA != 0 {
        return Err(ImageFault::ExternalData);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(change: impl FnOnce(&mut Vec<u8>)) -> Result<ImageFormat, ImageFault> {
        let mut head = vec![0; HEAD_BYTES];
        head[..8].copy_from_slice(b"QFI\xfb\0\0\0\x03");
        change(&mut head);
        recognise(&head)
    }

    #[test]
    fn a_disk_is_known_by_its_first_bytes() {
        let mut boot = vec![0; HEAD_BYTES];
        assert!(matches!(recognise(&boot), Err(ImageFault::NoDisk)));
        boot[510..512].copy_from_slice(&BOOT_SIGNATURE);
        assert_eq!(recognise(&boot).unwrap(), ImageFormat::Raw);
        assert!(matches!(recognise(&boot[..511]), Err(ImageFault::NoDisk)), "it is too small");
        let mut table = vec![0; HEAD_BYTES];
        table[512..520].copy_from_slice(GUID_TABLE);
        assert_eq!(recognise(&table).unwrap(), ImageFormat::Raw);
        let other = recognise(b"KDMV").unwrap_err().to_string();
        assert!(other.contains("VMDK") && other.contains("qemu-img convert"), "{other}");
    }

    #[test]
    fn an_image_that_leads_to_other_files_is_refused() {
        assert_eq!(header(|_| ()).unwrap(), ImageFormat::Qcow2);
        let backed = header(|head| head[15] = 0xd0);
        assert!(matches!(backed, Err(ImageFault::BackingFile)), "{backed:?}");
        let external = header(|head| head[79] = 1 << 2);
        assert!(matches!(external, Err(ImageFault::ExternalData)), "{external:?}");
        let encrypted = header(|head| head[35] = 2);
        assert!(matches!(encrypted, Err(ImageFault::Encrypted)), "{encrypted:?}");
        assert!(matches!(header(|head| head[7] = 9), Err(ImageFault::Version(9))));
        assert!(matches!(recognise(b"QFI\xfb\0\0\0\x03"), Err(ImageFault::NoDisk)), "it is cut");
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(DiskImage::look(folder.path()), Err(ImageFault::Open(_))));
        let gone = DiskImage::look(&folder.path().join("gone"));
        assert!(
            matches!(gone, Err(ImageFault::Open(error)) if error.kind() == io::ErrorKind::NotFound)
        );
        let device = DiskImage::look(Path::new("/dev/null"));
        assert!(matches!(device, Err(ImageFault::NoFile)), "{device:?}");
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_look(
            mark in prop::sample::select(vec![&b""[..], QCOW, b"KDMV"]),
            rest in prop::collection::vec(any::<u8>(), 0..HEAD_BYTES),
        ) {
            let _ = recognise(&[mark, &rest].concat());
        }
    }
}
