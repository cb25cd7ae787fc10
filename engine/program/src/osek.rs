//! Makes an OSEK program of C and an OIL file, with the kernel as a static library, its headers,
//! and the tables.
//!
//! ```text
//! *.oil ─► os_cfg.h, os_cfg.c ─┐
//! os.h, quietcore_osek.h ──────┼─► gcc ─► a module with the kernel in it, or a program of its own
//! libquietcore_osek.a ─────────┘
//! ```

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use quietcore_oil::{Configuration, NotIncluded, Problems, Reading};

/// The kernel, for C: position independent code that needs the C library and nothing else.
pub const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libquietcore_osek.a"));
/// The same for a guest: without an operating system, and with memory and time from others. Empty
/// where the Rust target for it was missing when this was compiled.
pub const LIBRARY_FOR_GUEST: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/libquietcore_osek_guest.a"));
/// The name of that file.
pub const LIBRARY_FILE: &str = "libquietcore_osek.a";
/// File name of the generated header.
pub const HEADER_FILE: &str = "os_cfg.h";
/// File name of the generated tables.
pub const TABLES_FILE: &str = "os_cfg.c";

/// The headers of the kernel, by name.
pub const HEADERS: [(&str, &str); 2] = [
    ("os.h", include_str!("../../../ground/osek/include/os.h")),
    ("quietcore_osek.h", include_str!("../../../ground/osek/include/quietcore_osek.h")),
];

/// Largest OIL file, in bytes; the language allows less.
const OIL_BYTES_MAX: u64 = 16 << 20;

/// An OIL file that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OilError {
    /// It could not be read.
    #[error("`{path}` could not be read")]
    Unreadable {
        /// Path of the file.
        path: String,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// It describes no application that the kernel can run.
    #[error(transparent)]
    Refused(#[from] Problems),
}

/// Reads an OIL file, with the files that it includes from beside it.
///
/// # Errors
/// [`OilError`], with every problem at its place.
pub fn read(path: &Path, reading: Reading) -> Result<Configuration, OilError> {
    let name = path.display().to_string();
    let text =
        read_text(path).map_err(|source| OilError::Unreadable { path: name.clone(), source })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut include = |file: &str| {
        let path = folder.join(file);
        read_text(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                NotIncluded::Missing(format!("there is no `{}`", path.display()))
            }
            _ => NotIncluded::Unreadable(error.to_string()),
        })
    };
    Ok(quietcore_oil::read(&name, &text, reading, &mut include)?)
}

/// Reads what an OIL file or one that it includes holds. Devices and pipes are refused before they
/// are opened: they may have no end, or make a reader wait for ever.
fn read_text(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    let mut bytes = Vec::new();
    // Not what its length says: a file may grow meanwhile, and those of the kernel have none.
    fs::File::open(path)?.take(OIL_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > OIL_BYTES_MAX {
        return Err(io::Error::other("it is larger than any OIL file"));
    }
    Ok(quietcore_oil::decode(bytes))
}

/// Generates from an application the files by name, with their contents.
pub fn generated(configuration: &Configuration) -> [(&'static str, String); 2] {
    [
        (HEADER_FILE, quietcore_oil::header(configuration)),
        (TABLES_FILE, quietcore_oil::source(configuration)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a file without an end, or one that nobody writes into, is refused and not read.
    #[test]
    fn what_is_no_file_is_not_read() {
        for (path, why) in [
            ("/dev/zero", "it is no ordinary file"),
            ("/dev/null", "it is no ordinary file"),
            ("/", "is a directory"),
        ] {
            let Err(OilError::Unreadable { source, .. }) =
                read(Path::new(path), Reading::default())
            else {
                panic!("{path} was read");
            };
            assert_eq!(source.to_string(), why, "{path}");
        }
    }

    #[test]
    fn what_is_included_and_is_no_file_is_refused_at_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("application.oil");
        fs::write(&path, "OIL_VERSION = \"2.5\";\n#include \"/dev/zero\"\n").unwrap();
        let error = read(&path, Reading::default()).unwrap_err().to_string();
        let place = format!("{}:2:1: `/dev/zero`: ", path.display());
        assert!(error.contains(&place) && error.contains("it is no ordinary file"), "{error}");
    }
}
