//! The folder of an image, and whether it is whole.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Name of the kernel's file.
pub const KERNEL: &str = "vmlinuz";
/// Name of the file of files that the kernel starts from.
pub const INITRAMFS: &str = "initramfs.cpio.gz";
/// Name of the description.
pub const DESCRIPTION: &str = "guest.json";
/// Version of the description, and of how host and guest begin.
pub const VERSION: u32 = 1;

/// The most bytes of a description.
const DESCRIPTION_BYTES_MAX: u64 = 64 << 10;

/// The content of an image's description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// [`VERSION`] of the program that made it.
    pub version: u32,
    /// The program that made it, with its version.
    pub made_by: String,
    /// Name of the kernel's package.
    pub kernel_package: String,
    /// The kernel's words about itself.
    pub kernel: String,
    /// The files beside the description, by name.
    pub files: BTreeMap<String, FileMark>,
}

/// The marks by which a file is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileMark {
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// An image whose files are those of its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The path of the kernel.
    pub kernel: PathBuf,
    /// The path of the files that it starts from.
    pub initramfs: PathBuf,
    /// The description, as the folder has it.
    pub description: Description,
    /// SHA-256 of the description's file, in hexadecimal digits. Since that has the sum of each
    /// other file, it stands for the whole image.
    pub sha256: String,
}

/// The error of a folder that is no image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A file is not there, or can't be read.
    #[error(
        "`{}` can't be read; `quietcore guest build --out FOLDER` makes the image of a guest",
        path.display()
    )]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The description is none.
    #[error("`{}` describes no image of a guest: {reason}; build it again", path.display())]
    Description {
        /// Path of the description.
        path: PathBuf,
        /// The problem, in words.
        reason: String,
    },
    /// A file is another one.
    #[error(
        "`{}` is not the file that the image was built with ({what}); build it again",
        path.display()
    )]
    Other {
        /// Path of the file.
        path: PathBuf,
        /// The difference, in words.
        what: String,
    },
}

impl Image {
    /// Reads the description in a folder and compares its files with it.
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn open(folder: &Path) -> Result<Self, ImageError> {
        let path = folder.join(DESCRIPTION);
        let (description, sha256) = read_description(&path)?;
        for name in [KERNEL, INITRAMFS] {
            let path = folder.join(name);
            let Some(mark) = description.files.get(name) else {
                let reason = format!("it names no `{name}`");
                return Err(ImageError::Description { path: folder.join(DESCRIPTION), reason });
            };
            mark.compare(&path)?;
        }
        let place = |name: &str| folder.join(name);
        Ok(Self { kernel: place(KERNEL), initramfs: place(INITRAMFS), description, sha256 })
    }
}

/// Returns a description and its SHA-256.
fn read_description(path: &Path) -> Result<(Description, String), ImageError> {
    let failed = |source| ImageError::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mut text = Vec::new();
    file.take(DESCRIPTION_BYTES_MAX + 1).read_to_end(&mut text).map_err(failed)?;
    let refused = |reason| ImageError::Description { path: path.to_owned(), reason };
    if text.len() as u64 > DESCRIPTION_BYTES_MAX {
        return Err(refused(format!("it has more than {DESCRIPTION_BYTES_MAX} bytes")));
    }
    let read: Description =
        serde_json::from_slice(&text).map_err(|error| refused(error.to_string()))?;
    if read.version != VERSION {
        let reason = format!("it has version {}, and this program knows {VERSION}", read.version);
        return Err(refused(reason));
    }
    Ok((read, hexadecimal(&Sha256::digest(&text))))
}

impl FileMark {
    /// Returns the marks of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, sha256: hexadecimal(&Sha256::digest(bytes)) }
    }

    fn compare(&self, path: &Path) -> Result<(), ImageError> {
        let failed = |source| ImageError::File { path: path.to_owned(), source };
        let other = |what: &str| ImageError::Other { path: path.to_owned(), what: what.to_owned() };
        let size = fs::metadata(path).map_err(failed)?.len();
        if size != self.bytes {
            return Err(other(&format!("{size} bytes, and not {}", self.bytes)));
        }
        let found = Self::of(&fs::read(path).map_err(failed)?);
        if found == *self { Ok(()) } else { Err(other("its SHA-256")) }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
