//! Files and folders that a person names: read with size limits, made, refused with clear errors.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use quietcore_site::{Accelerator, Site, with_accelerator};
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::status::Failure;

/// The path that stands for standard input; nothing is written to it.
const STANDARD_INPUT: &str = "-";

/// A file that can't be read, or a path that can't be written to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The operating system refused to read it.
    #[error("`{}` can't be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The file may have no end, or wait for a writer.
    #[error("`{}` is no plain file; for what another program writes, give `-` and pipe it in",
        path.display())]
    NotPlain { path: PathBuf },
    /// The operating system refused to make it, or a file is there.
    #[error("`{}` can't be made a folder; name another one", path.display())]
    NoFolder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The path to write to stands for standard input.
    #[error("{option} -: `-` is no path to write to; for one of that very name, give `./-`")]
    StandardInput { option: &'static str },
}

/// Reads a plain file of at most `limit` bytes, or standard input for `-`. Reads one byte more of a
/// longer file, so that a caller that checks the limit sees that it is exceeded.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let not_plain = || FileError::NotPlain { path: path.to_owned() };
    let mut bytes = Vec::new();
    if path == Path::new(STANDARD_INPUT) {
        let input = io::stdin().lock();
        input.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        return Ok(bytes);
    }
    let kind = fs::metadata(path).map_err(unreadable)?.file_type();
    if kind.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    if !kind.is_file() {
        return Err(not_plain());
    }
    // Not blocking: a file of the kernel that has nothing to say waits when it is read.
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(without_waiting).open(path);
    let file = file.map_err(unreadable)?;
    match file.take(limit as u64 + 1).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(not_plain()),
        Err(error) => Err(unreadable(error)),
    }
}

/// Makes a folder and those above it, where they are not there.
pub(crate) fn make_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|source| FileError::NoFolder { path: path.to_owned(), source })
}

/// Refuses `-` as the path that an option names for what is written.
pub(crate) fn refuse_dash(option: &'static str, path: &Path) -> Result<(), FileError> {
    if path == Path::new(STANDARD_INPUT) {
        return Err(FileError::StandardInput { option });
    }
    Ok(())
}

/// A site file with the bytes it was read from.
pub(crate) struct SiteFile {
    pub(crate) site: Site,
    pub(crate) bytes: Vec<u8>,
    pub(crate) sha256: String,
}

/// Reads and checks a site file in which guests are run in this way, where it is given. The bytes
/// are those of the file as it was changed then.
pub(crate) fn read_site_with(
    path: &Path,
    accelerator: Option<Accelerator>,
) -> Result<SiteFile, Failure> {
    let file = read_site(path)?;
    let Some(accelerator) = accelerator else { return Ok(file) };
    let text = String::from_utf8_lossy(&file.bytes);
    let bytes = with_accelerator(&text, accelerator).map_err(Failure::new)?.into_bytes();
    let classes = quietcore_record::class::catalogue();
    let site = quietcore_site::read(file.site.file(), &bytes, &classes).map_err(Failure::new)?;
    Ok(SiteFile { site, sha256: sha256(&bytes), bytes })
}

/// Reads and checks a site file; each problem in it becomes a line of the failure.
pub(crate) fn read_site(path: &Path) -> Result<SiteFile, Failure> {
    let bytes = read(path, quietcore_site::SITE_BYTES_MAX)?;
    let catalogue = quietcore_record::class::catalogue();
    let site = quietcore_site::read(&path.display().to_string(), &bytes, &catalogue)
        .map_err(Failure::new)?;
    Ok(SiteFile { site, sha256: sha256(&bytes), bytes })
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the program that partitions and loads run in; it is installed beside this one.
pub(crate) fn runtime() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()?;
    let runtime = own.with_file_name("quietcore-runtime");
    if runtime.is_file() {
        return Ok(runtime);
    }
    Err(Failure::new(format_args!(
        "quietcore: `{}` is missing; install it beside `quietcore`, both come from one build",
        runtime.display()
    )))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn refused(path: &str) -> String {
        read(Path::new(path), 100).unwrap_err().to_string()
    }

    #[test]
    fn a_file_is_read_up_to_its_limit_and_one_byte_more() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("site.toml");
        fs::write(&file, [b'x'; 300]).unwrap();
        assert_eq!(read(&file, 100).unwrap().len(), 101);
        assert_eq!(read(&file, 300).unwrap().len(), 300);
        assert!(refused(&folder.path().display().to_string()).contains("can't be read"));
    }

    /// Goal: what may wait for ever, or has no end, is refused and not waited for.
    #[test]
    fn pipes_devices_and_files_that_wait_are_no_plain_files() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe").display().to_string();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_str(), "/dev/zero"] {
            assert!(refused(path).contains("is no plain file; for what another program"), "{path}");
        }
        // It can be read by root only, and holds what the kernel has said since it was last read.
        let kernel = read(Path::new("/proc/kmsg"), 100);
        assert!(!matches!(kernel, Ok(bytes) if bytes.is_empty()));
    }
}
