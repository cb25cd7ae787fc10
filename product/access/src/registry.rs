//! The registry: every credential that was handed out and may still hold.
//!
//! A file of JSON, schema [`SCHEMA`], that is replaced as a whole. What has expired is kept for
//! [`REMEMBERED`], so that the log can tell whose it was, and is forgotten then.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::{AccessError, Grants, Name, Role, files};

/// The most credentials in the registry.
pub const CREDENTIALS_MAX: usize = 10_000;
/// Time for which an expired credential is remembered.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The schema of the file.
const SCHEMA: &str = "quietcore.access/1";

/// The kind of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    /// A certificate with a key, shown when a connection begins.
    Certificate,
    /// A secret that goes with each call.
    Token,
}

impl std::fmt::Display for CredentialKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Certificate => "certificate",
            Self::Token => "token",
        })
    }
}

/// The state of a credential at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It opens the daemon.
    Holds,
    /// Its life is over.
    Expired,
    /// It was taken back before its end.
    Revoked,
}

impl State {
    /// Returns the word of the state in lists.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// A credential as the registry knows it, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// Serial number, 16 hexadecimal digits; of a certificate the one that stands in it.
    pub serial: String,
    /// The way in which it is shown.
    pub kind: CredentialKind,
    /// Name of whoever has it.
    pub name: Name,
    /// The role that it gives.
    pub role: Role,
    /// The sites and partitions that it is for.
    pub grants: Grants,
    /// Time from which it holds.
    #[serde(with = "rfc3339")]
    pub issued_at: Timestamp,
    /// Time from which it holds no more.
    #[serde(with = "rfc3339")]
    pub expires_at: Timestamp,
    /// True once it was revoked.
    #[serde(default)]
    pub revoked: bool,
    /// SHA-256 of the certificate, or of the token's text, in hexadecimal digits.
    pub sha256: String,
}

impl Credential {
    /// Returns its state at a time.
    pub fn state(&self, now: Timestamp) -> State {
        match (self.revoked, now < self.expires_at) {
            (true, _) => State::Revoked,
            (false, false) => State::Expired,
            (false, true) => State::Holds,
        }
    }
}

/// Times as RFC 3339 in UTC.
mod rfc3339 {
    use jiff::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(time)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// All credentials, in the order in which they were handed out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Registry {
    schema: String,
    credentials: Vec<Credential>,
}

impl Default for Registry {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), credentials: Vec::new() }
    }
}

impl Registry {
    /// Reads the file and checks all of it.
    pub(crate) fn read(path: &Path) -> Result<Self, AccessError> {
        let damaged = |problem| AccessError::Damaged { path: path.to_owned(), problem };
        let read: Self = serde_json::from_str(&files::read(path)?)
            .map_err(|error| damaged(error.to_string()))?;
        if read.schema != SCHEMA {
            return Err(damaged(format!("its schema is not `{SCHEMA}`")));
        }
        Ok(read)
    }

    /// Writes the file whole. One that is too large to be read again is not written; a revocation
    /// makes it no larger.
    pub(crate) fn write(&self, path: &Path) -> Result<(), AccessError> {
        let text = serde_json::to_string_pretty(self).expect("all of it can be written as JSON");
        let text = text + "\n";
        if text.len() as u64 > files::FILE_BYTES_MAX {
            return Err(AccessError::Full);
        }
        files::write_whole(path, &text)
    }

    /// Returns the credentials, the oldest first.
    pub fn credentials(&self) -> &[Credential] {
        &self.credentials
    }

    /// Finds the credential of a hash, in a time that tells nothing about those that are there.
    pub(crate) fn find(&self, sha256: &str) -> Option<&Credential> {
        let is_it = |it: &&Credential| bool::from(it.sha256.as_bytes().ct_eq(sha256.as_bytes()));
        // All are compared, whether one was found or not.
        self.credentials.iter().fold(None, |found, it| if is_it(&it) { Some(it) } else { found })
    }

    /// Adds a credential, and forgets those that expired long ago.
    pub(crate) fn add(&mut self, one: Credential, now: Timestamp) -> Result<(), AccessError> {
        let forgotten = |it: &Credential| {
            it.expires_at.checked_add(REMEMBERED).is_ok_and(|forgotten_at| forgotten_at < now)
        };
        self.credentials.retain(|it| !forgotten(it));
        if self.credentials.len() >= CREDENTIALS_MAX {
            return Err(AccessError::Full);
        }
        self.credentials.push(one);
        Ok(())
    }

    /// Revokes the credential of a serial number, or all of a name, and returns those that held.
    pub(crate) fn revoke(&mut self, which: &str, now: Timestamp) -> Vec<Credential> {
        let meant = |it: &Credential| it.serial == which || it.name.as_str() == which;
        let all = self.credentials.iter_mut().filter(|it| meant(it));
        all.filter(|it| it.state(now) == State::Holds)
            .map(|it| {
                it.revoked = true;
                it.clone()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::iter::repeat_n;

    use super::*;
    use crate::GRANTS_MAX;

    /// Returns a credential of the largest size.
    fn largest() -> Credential {
        let name = "n".repeat(64);
        let grant = format!("{name}/{name}").parse().expect("a grant");
        let now = Timestamp::now();
        Credential {
            serial: "4f00000000000001".to_owned(),
            kind: CredentialKind::Certificate,
            name: "anna".parse().expect("a name"),
            role: Role::Viewer,
            grants: Grants::new(vec![grant; GRANTS_MAX]),
            issued_at: now,
            expires_at: now + SignedDuration::from_hours(1),
            revoked: false,
            sha256: "0".repeat(64),
        }
    }

    /// Goal: what was handed out can be revoked, however much it is.
    #[test]
    fn a_registry_that_could_not_be_read_again_is_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("registry.json");
        let mut registry = Registry::default();
        let bytes_each = serde_json::to_string_pretty(&largest()).expect("JSON").len() as u64;
        let too_many = files::FILE_BYTES_MAX.div_ceil(bytes_each) as usize;
        assert!(too_many < CREDENTIALS_MAX, "their number does not keep it small");
        registry.credentials.extend(repeat_n(largest(), too_many));
        assert!(matches!(registry.write(&path), Err(AccessError::Full)));
        assert!(!path.exists());
        // Lines are indented in the file.
        registry.credentials.truncate(too_many * 4 / 5);
        registry.write(&path).expect("it is small enough");
        let mut read = Registry::read(&path).expect("it can be read");
        assert_eq!(read.revoke("anna", Timestamp::now()).len(), too_many * 4 / 5);
        read.write(&path).expect("it is no larger");
    }
}
