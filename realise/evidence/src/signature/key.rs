//! The key that a machine signs its evidence with, and the key that others check it by.
//!
//! ```text
//! FOLDER/                   0700
//! ├── signing-key.pem       0600, PKCS #8: who has it can sign in the machine's name
//! └── verifying-key.pem     SubjectPublicKeyInfo: for everybody
//! ```
//!
//! Both are the formats of RFC 8410, which other programs read as they are.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _,
};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

use crate::files::{open_plain, sum_of_bytes};

/// The largest file that is read as a key.
const KEY_BYTES_MAX: u64 = 4096;

const PRIVATE: &str = "signing-key.pem";
const PUBLIC: &str = "verifying-key.pem";

/// A key can't be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The operating system refused something.
    #[error("the key `{}` can't be read or made", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// Others could sign with it, or have put it there.
    #[error(
        "the key `{}` is not this user's alone; remove it, and a new one is made",
        path.display()
    )]
    NotAlone {
        /// Path of the file.
        path: PathBuf,
    },
    /// It holds something else.
    #[error("`{}` is no Ed25519 key in PEM as it is expected here", path.display())]
    NoKey {
        /// Path of the file.
        path: PathBuf,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers to make a key from")]
    NoRandomness,
}

/// A key that signatures are checked by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationKey(VerifyingKey);

/// The key that a machine signs with. Its secret is never shown.
pub struct MachineKey(SigningKey);

impl VerificationKey {
    /// Reads a public key as `quietcore verify --print-key` prints it: PEM of its
    /// SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// [`KeyError`] when the file can't be read or holds something else.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let text = text_of(path)?;
        Self::of_pem(&text).ok_or_else(|| KeyError::NoKey { path: path.to_owned() })
    }

    /// The key in this PEM; `None` where there is none.
    pub(crate) fn of_pem(text: &str) -> Option<Self> {
        VerifyingKey::from_public_key_pem(text.trim()).ok().map(Self)
    }

    /// The key as PEM of its SubjectPublicKeyInfo.
    pub fn to_pem(&self) -> String {
        self.0.to_public_key_pem(LineEnding::LF).expect("a key of 32 bytes has a PEM form")
    }

    /// The key's name: the SHA-256 of its SubjectPublicKeyInfo, in hexadecimal digits.
    pub fn id(&self) -> String {
        let document = self.0.to_public_key_der().expect("a key of 32 bytes has a DER form");
        sum_of_bytes(document.as_bytes())
    }

    /// Returns whether `signature` is one of `message` by this key. Keys and signatures that would
    /// fit several messages are refused.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let signature = Signature::from_slice(signature);
        signature.is_ok_and(|signature| self.0.verify_strict(message, &signature).is_ok())
    }
}

impl MachineKey {
    /// The key in `folder`; `None` where none was made yet.
    ///
    /// # Errors
    /// [`KeyError`] when it is there and can't be used.
    pub fn open(folder: &Path) -> Result<Option<Self>, KeyError> {
        let path = folder.join(PRIVATE);
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(KeyError::Io { path, source }),
        };
        let others_may = found.permissions().mode() & 0o077 != 0;
        if others_may || found.uid() != own_user(folder)? || !found.is_file() {
            return Err(KeyError::NotAlone { path });
        }
        let text = text_of(&path)?;
        let key = SigningKey::from_pkcs8_pem(&text).map_err(|_| KeyError::NoKey { path })?;
        Ok(Some(Self(key)))
    }

    /// The key in `folder`, which is made where there is none. Two who make one at the same time
    /// get the same.
    ///
    /// # Errors
    /// [`KeyError`] when it can't be made or used.
    pub fn open_or_make(folder: &Path) -> Result<Self, KeyError> {
        if let Some(key) = Self::open(folder)? {
            return Ok(key);
        }
        let mut seed = [0; ed25519_dalek::SECRET_KEY_LENGTH];
        getrandom::fill(&mut seed).map_err(|_| KeyError::NoRandomness)?;
        let made = SigningKey::from_bytes(&seed);
        let text = made.to_pkcs8_pem(LineEnding::LF).expect("a key of 32 bytes has a PEM form");
        keep(folder, PRIVATE, 0o600, text.as_bytes())?;
        let path = folder.join(PRIVATE);
        let key = Self::open(folder)?.ok_or(KeyError::NoKey { path })?;
        keep(folder, PUBLIC, 0o644, key.verification_key().to_pem().as_bytes())?;
        Ok(key)
    }

    /// The key that others check by.
    pub fn verification_key(&self) -> VerificationKey {
        VerificationKey(self.0.verifying_key())
    }

    /// Signs a message with Ed25519.
    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).to_bytes().to_vec()
    }
}

impl std::fmt::Debug for MachineKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("MachineKey").field(&self.verification_key().id()).finish()
    }
}

/// Writes a file whole under a name that is free; where it is taken, that one stays.
fn keep(folder: &Path, name: &str, mode: u32, bytes: &[u8]) -> Result<(), KeyError> {
    let path = folder.join(name);
    let written = tempfile::Builder::new()
        .prefix(".quietcore-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
        .and_then(|mut part| {
            part.write_all(bytes)?;
            part.as_file().sync_all()?;
            match part.persist_noclobber(&path) {
                Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                    Err(error.error)
                }
                _ => File::open(folder)?.sync_all(),
            }
        });
    written.map_err(|source| KeyError::Io { path, source })
}

/// Returns the user who owns the folder, and so must own the key.
fn own_user(folder: &Path) -> Result<u32, KeyError> {
    let found = fs::metadata(folder);
    found.map(|found| found.uid()).map_err(|source| KeyError::Io { path: folder.into(), source })
}

fn text_of(path: &Path) -> Result<String, KeyError> {
    let mut text = String::new();
    let read = open_plain(path).and_then(|file| file.take(KEY_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(KeyError::NoKey { path: path.to_owned() })
        }
        Err(source) => Err(KeyError::Io { path: path.to_owned(), source }),
    }
}
