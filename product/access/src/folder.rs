//! The folder of access: authority, server and registry, and what is made from them.
//!
//! ```text
//! access/                  0700; appears whole, by `init`
//! ├── authority.key.pem    0600: the key that signs
//! ├── authority.pem        its certificate, which clients get
//! ├── server.pem           0600: certificate and key of the server
//! ├── registry.json        0600: the credentials, without their secrets
//! └── lock                 held while one of them is changed
//! ```

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::authority::{Authority, ServerNames, end_of};
use crate::files::{self, NewFolder};
use crate::registry::{Credential, CredentialKind, Registry};
use crate::{AccessError, GRANTS_MAX, Grants, Name, Role};

/// The longest life of a certificate, in days.
pub const CERTIFICATE_DAYS_MAX: u32 = 3650;
/// The longest life of a token, in hours: a year.
pub const TOKEN_HOURS_MAX: u32 = 8760;
/// The beginning of each token, by which people and scanners of secrets know it.
pub const TOKEN_PREFIX: &str = "quietcore_";

const AUTHORITY_KEY: &str = "authority.key.pem";
const AUTHORITY: &str = "authority.pem";
const SERVER: &str = "server.pem";
const REGISTRY: &str = "registry.json";

/// Bytes of a token's secret.
const TOKEN_BYTES: usize = 32;
/// Bytes of a serial number.
const SERIAL_BYTES: usize = 8;

/// The order of a credential.
#[derive(Clone, Debug)]
pub struct Order {
    /// Name of whoever gets it.
    pub name: Name,
    /// The role that it gives.
    pub role: Role,
    /// The sites and partitions that it is for.
    pub grants: Grants,
}

/// A token that was just made. Its secret is nowhere else.
pub struct IssuedToken {
    /// Its entry in the registry.
    pub credential: Credential,
    /// The text that goes with each call.
    pub secret: String,
}

impl fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedToken").field("credential", &self.credential).finish_non_exhaustive()
    }
}

/// Certificates and key of the server, as PEM.
pub struct Server {
    /// The authority's certificate, by which clients are known.
    pub authority: String,
    /// The server's certificate and key.
    pub identity: String,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("authority", &self.authority).finish_non_exhaustive()
    }
}

/// The folder of access, which may not be there yet.
#[derive(Clone, Debug)]
pub struct Access {
    folder: PathBuf,
}

impl Access {
    /// Takes the folder `access` in the daemon's state.
    pub fn of_state(daemon_state: &Path) -> Self {
        Self { folder: daemon_state.join("access") }
    }

    /// Returns the path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn registry_path(&self) -> PathBuf {
        self.folder.join(REGISTRY)
    }

    /// Makes the authority and the server's certificate.
    ///
    /// # Errors
    /// [`AccessError::Authority`] if there is one; others if the folder can't be made.
    pub fn init(&self, server: &ServerNames, now: Timestamp) -> Result<(), AccessError> {
        let there = || AccessError::Authority { folder: self.folder.clone() };
        if self.folder.exists() {
            return Err(there());
        }
        let new = NewFolder::beside(&self.folder)?;
        let authority = Authority::generate()?;
        let file = |name: &str| new.path().join(name);
        files::write_whole(&file(AUTHORITY_KEY), &authority.key_pem())?;
        files::write_whole(&file(AUTHORITY), &authority.certificate(now)?)?;
        let signed = authority.server(server, now)?;
        files::write_whole(&file(SERVER), &(signed.certificate + &signed.key))?;
        Registry::default().write(&file(REGISTRY))?;
        if new.appear_at(&self.folder)? { Ok(()) } else { Err(there()) }
    }

    /// Makes a new certificate of the server, for other names or addresses. Clients go on with what
    /// they have; the daemon takes it when it is started again.
    ///
    /// # Errors
    /// [`AccessError`] if there is no authority, or the file can't be written.
    pub fn renew_server(&self, server: &ServerNames, now: Timestamp) -> Result<(), AccessError> {
        let _held = self.lock()?;
        let signed = self.authority()?.server(server, now)?;
        files::write_whole(&self.folder.join(SERVER), &(signed.certificate + &signed.key))
    }

    /// Reads certificates and key of the server.
    ///
    /// # Errors
    /// [`AccessError::NoAuthority`] before `init`.
    pub fn server(&self) -> Result<Server, AccessError> {
        self.check_there()?;
        Ok(Server {
            authority: files::read(&self.folder.join(AUTHORITY))?,
            identity: files::read(&self.folder.join(SERVER))?,
        })
    }

    /// Reads all that was handed out.
    ///
    /// # Errors
    /// [`AccessError::NoAuthority`] before `init`, [`AccessError::Damaged`] if it is none.
    pub fn registry(&self) -> Result<Registry, AccessError> {
        self.check_there()?;
        Registry::read(&self.registry_path())
    }

    /// Makes a certificate, and the new folder `out` with it, its key and the authority's.
    ///
    /// # Errors
    /// [`AccessError`]; then there is neither a folder nor an entry in the registry.
    pub fn issue(
        &self,
        order: &Order,
        days: u32,
        out: &Path,
        now: Timestamp,
    ) -> Result<Credential, AccessError> {
        check_life(days, CERTIFICATE_DAYS_MAX, "days")?;
        check_grants(order)?;
        let _held = self.lock()?;
        let serial = serial_number()?;
        let life = (now, end_of(now, days));
        let signed = self.authority()?.client(&order.name, &serial, life)?;
        let new = NewFolder::beside(out)?;
        let authority = files::read(&self.folder.join(AUTHORITY))?;
        files::write_whole(&new.path().join("authority.pem"), &authority)?;
        files::write_whole(&new.path().join("certificate.pem"), &signed.certificate)?;
        files::write_whole(&new.path().join("key.pem"), &signed.key)?;
        let kind = CredentialKind::Certificate;
        let credential = credential(order, kind, &serial, life, &signed.sha256);
        // The folder comes first: an entry without one would only puzzle its reader.
        if !new.appear_at(out)? {
            return Err(AccessError::OutExists(out.to_owned()));
        }
        self.register(credential, now).inspect_err(|_| {
            let _ = std::fs::remove_dir_all(out);
        })
    }

    /// Makes a token that holds for some hours.
    ///
    /// # Errors
    /// [`AccessError`]; then there is no entry in the registry.
    pub fn token(
        &self,
        order: &Order,
        hours: u32,
        now: Timestamp,
    ) -> Result<IssuedToken, AccessError> {
        check_life(hours, TOKEN_HOURS_MAX, "hours")?;
        check_grants(order)?;
        let _held = self.lock()?;
        let secret = URL_SAFE_NO_PAD.encode(random::<TOKEN_BYTES>()?);
        let secret = format!("{TOKEN_PREFIX}{secret}");
        let end = now.checked_add(SignedDuration::from_hours(i64::from(hours)));
        let life = (now, end.unwrap_or(Timestamp::MAX));
        let sha256 = Sha256::digest(&secret).into();
        let credential = credential(order, CredentialKind::Token, &serial_number()?, life, &sha256);
        let credential = self.register(credential, now)?;
        Ok(IssuedToken { credential, secret })
    }

    /// Revokes the credential of a serial number, or all of a name, and returns them.
    ///
    /// # Errors
    /// [`AccessError::NoCredential`] if none of them holds.
    pub fn revoke(&self, which: &str, now: Timestamp) -> Result<Vec<Credential>, AccessError> {
        let _held = self.lock()?;
        let mut registry = self.registry()?;
        let revoked = registry.revoke(which, now);
        if revoked.is_empty() {
            return Err(AccessError::NoCredential(which.to_owned()));
        }
        registry.write(&self.registry_path())?;
        Ok(revoked)
    }

    fn register(&self, one: Credential, now: Timestamp) -> Result<Credential, AccessError> {
        let mut registry = self.registry()?;
        registry.add(one.clone(), now)?;
        registry.write(&self.registry_path())?;
        Ok(one)
    }

    fn authority(&self) -> Result<Authority, AccessError> {
        Authority::of_pem(&files::read(&self.folder.join(AUTHORITY_KEY))?)
    }

    fn lock(&self) -> Result<std::fs::File, AccessError> {
        self.check_there()?;
        files::lock(&self.folder)
    }

    fn check_there(&self) -> Result<(), AccessError> {
        if self.folder.is_dir() {
            return Ok(());
        }
        Err(AccessError::NoAuthority { folder: self.folder.clone() })
    }
}

fn credential(
    order: &Order,
    kind: CredentialKind,
    serial: &[u8],
    (issued_at, expires_at): (Timestamp, Timestamp),
    sha256: &[u8; 32],
) -> Credential {
    Credential {
        serial: hexadecimal(serial),
        kind,
        name: order.name.clone(),
        role: order.role,
        grants: order.grants.clone(),
        issued_at,
        expires_at,
        revoked: false,
        sha256: hexadecimal(sha256),
    }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns random bytes of the kernel.
fn random<const N: usize>() -> Result<[u8; N], AccessError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| AccessError::Random(io::Error::other(error.to_string())))?;
    Ok(bytes)
}

/// Returns a new serial number, whose first byte is neither zero nor negative, so that it stands in
/// a certificate as it is.
fn serial_number() -> Result<[u8; SERIAL_BYTES], AccessError> {
    let mut serial = random()?;
    serial[0] = serial[0] & 0x7f | 0x40;
    Ok(serial)
}

fn check_life(asked: u32, most: u32, unit: &'static str) -> Result<(), AccessError> {
    if (1..=most).contains(&asked) {
        return Ok(());
    }
    Err(AccessError::Life { asked, unit, most })
}

fn check_grants(order: &Order) -> Result<(), AccessError> {
    match order.grants.count() {
        0..=GRANTS_MAX => Ok(()),
        more => Err(AccessError::Grants(more)),
    }
}
