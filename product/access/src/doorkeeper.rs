//! The question of each call: whose credential is this, and does it hold?
//!
//! The registry is looked at for each call, and read again when its file was replaced: so what was
//! revoked holds no more at the next call, on connections that stand, too. A registry that can't be
//! read opens to nobody.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::clock::ForwardClock;
use crate::folder::hexadecimal;
use crate::registry::{Registry, State};
use crate::{Access, AccessError, CredentialKind, Grants, Name, Role, TOKEN_PREFIX};

/// The longest text that is taken for a token, in bytes.
const TOKEN_TEXT_BYTES_MAX: usize = 128;

/// The owner of a credential that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name of the credential's owner.
    pub name: Name,
    /// Serial number of the credential.
    pub serial: String,
    /// Kind of the credential.
    pub kind: CredentialKind,
    /// Role that the registry gives it.
    pub role: Role,
    /// The sites and partitions that it is for.
    pub grants: Grants,
}

/// The reason why a credential opens nothing. It is for the log; the caller learns nothing of it.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The registry has no such credential.
    #[error("an unknown {0}")]
    Unknown(CredentialKind),
    /// The end of its life has come.
    #[error("the {kind} {serial} of `{name}` has expired")]
    Expired {
        /// Kind of the credential.
        kind: CredentialKind,
        /// Serial number of the credential.
        serial: String,
        /// Name of its owner.
        name: Name,
    },
    /// It was taken back by `quietcore auth revoke`.
    #[error("the {kind} {serial} of `{name}` was revoked")]
    Revoked {
        /// Kind of the credential.
        kind: CredentialKind,
        /// Serial number of the credential.
        serial: String,
        /// Name of its owner.
        name: Name,
    },
    /// The registry can't be read.
    #[error(transparent)]
    Registry(#[from] AccessError),
}

/// The registry as it was read last, with the file that it was read from.
#[derive(Debug)]
struct LastRead {
    of: FileVersion,
    registry: Arc<Registry>,
}

/// The marks by which one version of a file differs from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion([i128; 5]);

impl FileVersion {
    fn of(found: &Metadata) -> Self {
        let time = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
        Self([
            found.dev().into(),
            found.ino().into(),
            found.size().into(),
            time(found.mtime(), found.mtime_nsec()),
            time(found.ctime(), found.ctime_nsec()),
        ])
    }
}

/// Knows credentials by the registry of an access folder.
#[derive(Debug)]
pub struct Doorkeeper {
    path: PathBuf,
    clock: ForwardClock,
    last: Mutex<Option<LastRead>>,
}

impl Doorkeeper {
    /// Begins with the registry of this folder.
    ///
    /// # Errors
    /// [`AccessError::NoAuthority`] before `init`, others if the registry can't be read.
    pub fn of(access: &Access) -> Result<Self, AccessError> {
        access.registry()?;
        let path = access.registry_path();
        Ok(Self { path, clock: ForwardClock::begin(), last: Mutex::default() })
    }

    /// Finds the owner of a token.
    ///
    /// # Errors
    /// [`Refused`] with the reason, for the log.
    pub fn by_token(&self, text: &str) -> Result<Identity, Refused> {
        if !text.starts_with(TOKEN_PREFIX) || text.len() > TOKEN_TEXT_BYTES_MAX {
            return Err(Refused::Unknown(CredentialKind::Token));
        }
        self.find(CredentialKind::Token, text.as_bytes(), self.clock.now())
    }

    /// Finds the owner of a certificate, of whose key TLS has made sure.
    ///
    /// # Errors
    /// [`Refused`] with the reason, for the log.
    pub fn by_certificate(&self, der: &[u8]) -> Result<Identity, Refused> {
        self.find(CredentialKind::Certificate, der, self.clock.now())
    }

    fn find(
        &self,
        kind: CredentialKind,
        shown: &[u8],
        now: Timestamp,
    ) -> Result<Identity, Refused> {
        let registry = self.registry()?;
        let found = registry.find(&hexadecimal(&Sha256::digest(shown)));
        let found = found.filter(|it| it.kind == kind).ok_or(Refused::Unknown(kind))?.clone();
        match found.state(now) {
            State::Holds => Ok(Identity {
                name: found.name,
                serial: found.serial,
                kind,
                role: found.role,
                grants: found.grants,
            }),
            State::Expired => {
                Err(Refused::Expired { kind, serial: found.serial, name: found.name })
            }
            State::Revoked => {
                Err(Refused::Revoked { kind, serial: found.serial, name: found.name })
            }
        }
    }

    fn registry(&self) -> Result<Arc<Registry>, AccessError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let found = std::fs::metadata(&self.path).map_err(AccessError::io(&self.path, "read"))?;
        let of = FileVersion::of(&found);
        match &*last {
            Some(known) if known.of == of => Ok(Arc::clone(&known.registry)),
            _ => {
                // If it is replaced meanwhile, the next call sees another version again.
                let registry = Arc::new(Registry::read(&self.path)?);
                *last = Some(LastRead { of, registry: Arc::clone(&registry) });
                Ok(registry)
            }
        }
    }
}

#[cfg(test)]
mod tests;
