//! The local authority: a key of its own, by which it makes certificates of server and clients.
//!
//! All keys are of the curve P-256, which every client library knows. The authority's name is made
//! of its key, so that nothing but the key is needed to sign.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType, SerialNumber,
};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use crate::AccessError;
use crate::name::Name;

/// The most names and addresses of a server.
pub const SERVER_NAMES_MAX: usize = 64;
/// The longest name of a machine, in bytes (RFC 1035).
const MACHINE_NAME_BYTES_MAX: usize = 253;
/// Life of the authority's certificate and the server's: some ten years.
const AUTHORITY_DAYS: u32 = 3652;
/// Time by which a certificate holds before it was made, for machines whose clocks are late.
const EARLIER: SignedDuration = SignedDuration::from_hours(1);

/// The checked names and addresses by which clients call the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerNames {
    names: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl ServerNames {
    /// Takes these, and beside them `localhost` with its addresses.
    ///
    /// # Errors
    /// [`AccessError::ServerName`] and [`AccessError::ServerNames`].
    pub fn new(names: Vec<String>, addresses: Vec<IpAddr>) -> Result<Self, AccessError> {
        let allowed = |it: char| it.is_ascii_alphanumeric() || "-.".contains(it);
        let is_name = |name: &str| {
            name.len() <= MACHINE_NAME_BYTES_MAX
                && name.split('.').all(|part| (1..=63).contains(&part.len()))
                && name.chars().all(allowed)
        };
        if let Some(bad) = names.iter().find(|name| !is_name(name)) {
            return Err(AccessError::ServerName(bad.clone()));
        }
        let localhost = ["127.0.0.1", "::1"].map(|text| text.parse().expect("an address"));
        let names = without_doubles(names.into_iter().chain(["localhost".to_owned()]));
        let addresses = without_doubles(addresses.into_iter().chain(localhost));
        let count = names.len() + addresses.len();
        if count > SERVER_NAMES_MAX {
            return Err(AccessError::ServerNames(count));
        }
        Ok(Self { names, addresses })
    }

    /// Returns names, then addresses, as text.
    pub fn all(&self) -> impl Iterator<Item = String> + '_ {
        self.names.iter().cloned().chain(self.addresses.iter().map(IpAddr::to_string))
    }
}

fn without_doubles<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}

/// A certificate with its key, as PEM, and as its hash.
pub(crate) struct Signed {
    pub(crate) certificate: String,
    pub(crate) key: String,
    pub(crate) sha256: [u8; 32],
}

/// The authority with its key.
pub(crate) struct Authority {
    key: KeyPair,
    params: CertificateParams,
}

impl Authority {
    /// Makes a new key.
    pub(crate) fn generate() -> Result<Self, AccessError> {
        Ok(Self::of_key(KeyPair::generate()?))
    }

    /// Takes a key that was kept.
    pub(crate) fn of_pem(pem: &str) -> Result<Self, AccessError> {
        Ok(Self::of_key(KeyPair::from_pem(pem)?))
    }

    fn of_key(key: KeyPair) -> Self {
        let number = Sha256::digest(key.public_key_raw());
        let number: String = number.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let mut params = CertificateParams::default();
        params.distinguished_name = named(&format!("Quietcore authority {number}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Self { key, params }
    }

    pub(crate) fn key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    /// Makes the authority's own certificate, by which clients know the server.
    pub(crate) fn certificate(&self, now: Timestamp) -> Result<String, AccessError> {
        let mut params = self.params.clone();
        live(&mut params, now, end_of(now, AUTHORITY_DAYS));
        Ok(params.self_signed(&self.key)?.pem())
    }

    /// Makes a certificate of the server with a new key.
    pub(crate) fn server(
        &self,
        server: &ServerNames,
        now: Timestamp,
    ) -> Result<Signed, AccessError> {
        let mut params = CertificateParams::new(server.names.clone())?;
        params.subject_alt_names.extend(server.addresses.iter().copied().map(SanType::IpAddress));
        params.distinguished_name = named("quietcored");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        live(&mut params, now, end_of(now, AUTHORITY_DAYS));
        self.sign(params)
    }

    /// Makes a certificate of a client with a new key. Role and grants are in the registry alone.
    pub(crate) fn client(
        &self,
        name: &Name,
        serial: &[u8],
        (begin, end): (Timestamp, Timestamp),
    ) -> Result<Signed, AccessError> {
        let mut params = CertificateParams::default();
        params.distinguished_name = named(name.as_str());
        params.serial_number = Some(SerialNumber::from_slice(serial));
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        live(&mut params, begin, end);
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<Signed, AccessError> {
        let key = KeyPair::generate()?;
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let issuer = Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&key, &issuer)?;
        Ok(Signed {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            sha256: Sha256::digest(certificate.der()).into(),
        })
    }
}

fn named(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    name
}

/// Returns the end of a life of so many days.
pub(crate) fn end_of(begin: Timestamp, days: u32) -> Timestamp {
    let life = SignedDuration::from_hours(i64::from(days) * 24);
    begin.checked_add(life).unwrap_or(Timestamp::MAX)
}

fn live(params: &mut CertificateParams, begin: Timestamp, end: Timestamp) {
    let earlier = begin.checked_sub(EARLIER).unwrap_or(begin);
    let at = |time: Timestamp| {
        OffsetDateTime::from_unix_timestamp(time.as_second()).expect("it is of this age")
    };
    (params.not_before, params.not_after) = (at(earlier), at(end));
}
