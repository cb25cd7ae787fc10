//! Files with credentials: small, and secrets for their owner alone.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::process::geteuid;

use crate::error::RemoteError;

/// The most bytes of a certificate, a key or a token.
pub const SECRET_BYTES_MAX: u64 = 64 << 10;
/// Rights of anybody but the owner.
const OTHERS: u32 = 0o077;

/// Reads a file that everybody may know.
pub(crate) fn read(path: &Path) -> Result<String, RemoteError> {
    let mut file = File::open(path).map_err(|source| unreadable(path, source))?;
    content(path, &mut file)
}

/// Reads a file that only its owner may read: this user or root.
pub(crate) fn read_secret(path: &Path) -> Result<String, RemoteError> {
    let mut file = File::open(path).map_err(|source| unreadable(path, source))?;
    let found = file.metadata().map_err(|source| unreadable(path, source))?;
    let is_owned = found.uid() == geteuid().as_raw() || found.uid() == 0;
    if found.mode() & OTHERS != 0 || !is_owned {
        return Err(RemoteError::NotSecret { path: path.to_owned() });
    }
    content(path, &mut file)
}

fn content(path: &Path, file: &mut File) -> Result<String, RemoteError> {
    let found = file.metadata().map_err(|source| unreadable(path, source))?;
    if !found.is_file() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "it is no file");
        return Err(unreadable(path, source));
    }
    let mut text = String::new();
    let mut limited = file.take(SECRET_BYTES_MAX + 1);
    limited.read_to_string(&mut text).map_err(|source| unreadable(path, source))?;
    if text.len() as u64 > SECRET_BYTES_MAX {
        let source = io::Error::new(io::ErrorKind::InvalidData, "it is too long for a credential");
        return Err(unreadable(path, source));
    }
    Ok(text)
}

fn unreadable(path: &Path, source: io::Error) -> RemoteError {
    RemoteError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_secret_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "quietcore_x\n").unwrap();
        for mode in [0o604, 0o640, 0o620] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let refused = read_secret(&path).unwrap_err();
            assert!(refused.to_string().contains("chmod 600"), "{refused}");
        }
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read_secret(&path).unwrap(), "quietcore_x\n");
    }

    #[test]
    fn a_credential_is_a_file_of_a_limited_size() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_err());
        let path = folder.path().join("authority.pem");
        let most = usize::try_from(SECRET_BYTES_MAX).unwrap();
        fs::write(&path, "x".repeat(most)).unwrap();
        assert_eq!(read(&path).unwrap().len(), most);
        fs::write(&path, "x".repeat(most + 1)).unwrap();
        assert!(read(&path).is_err());
    }
}
