//! The statement that is signed: an in-toto Statement v1 over the digests of all files of a folder,
//! with a predicate of ours.
//!
//! The standards' own predicates of tests and verifications know two results. Ours has the third
//! one: `NOT_PROVEN`.

use std::collections::BTreeMap;

use quietcore_record::record::Record;
use quietcore_record::verdict::Verdict;
use serde::{Deserialize, Serialize};

use super::key::VerificationKey;
use crate::files::sum_of_bytes;
use crate::manifest::Origin;
use crate::read::Evidence;

/// The type of the statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// The type of the predicate: a name, under which nothing is fetched.
pub const PREDICATE_TYPE: &str = "urn:quietcore:timing-evidence:1";

/// An in-toto statement on an evidence folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// [`STATEMENT_TYPE`].
    #[serde(rename = "_type")]
    pub statement_type: String,
    /// All files of the folder but the signature.
    pub subject: Vec<Subject>,
    /// [`PREDICATE_TYPE`].
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// The claims about them.
    pub predicate: Predicate,
}

/// A file with its sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its path in the folder.
    pub name: String,
    /// Its sums by their algorithm; `sha256` is there.
    pub digest: BTreeMap<String, String>,
}

/// The claims about a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Predicate {
    /// The verdict on all partitions, each against the class that it declares.
    #[serde(with = "in_one_word")]
    pub verdict: Verdict,
    /// The verdict on each of them.
    pub partitions: Vec<SignedPartition>,
    /// Name of the site, or of what was imported or probed.
    pub name: String,
    /// The origin of the records.
    pub origin: Origin,
    /// Start of the run, RFC 3339, UTC.
    pub started_at: String,
    /// `true` if all that was asked for has been measured.
    pub complete: bool,
    /// The probability per cycle that a PASS excludes.
    pub exceedance: f64,
    /// SHA-256 of the site file; empty where there is none.
    pub site_sha256: String,
    /// The records by their digests.
    pub records: Vec<SignedRecord>,
    /// The version of Quietcore that derived the verdicts.
    pub quietcore_version: String,
    /// The key that signs.
    pub signer: Signer,
}

/// Writes and reads a verdict as predicates word it: `NOT_PROVEN` is one word there.
mod in_one_word {
    use quietcore_record::verdict::Verdict;
    use serde::de::IntoDeserializer as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(verdict: &Verdict, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&verdict.to_string().replace(' ', "_"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Verdict, D::Error> {
        let word = String::deserialize(from)?;
        Verdict::deserialize(word.replace('_', " ").into_deserializer())
    }
}

/// A partition with its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedPartition {
    /// Name of the partition.
    pub name: String,
    /// The class that it declares.
    pub class: String,
    /// The verdict on the partition.
    #[serde(with = "in_one_word")]
    pub verdict: Verdict,
}

/// A record by its digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedRecord {
    /// Name of the record.
    pub name: String,
    /// Cycles that were measured.
    pub cycles: u64,
    /// SHA-256 of its raw histogram: `release` as JSON without spaces.
    pub histogram_sha256: String,
    /// SHA-256 of its `conditions`, likewise.
    pub conditions_sha256: String,
    /// The build of the program that was measured; empty where the probe ran alone.
    pub program_build: String,
}

/// The key that signs. It tells which machine to ask, and proves nothing by itself: a forger names
/// a key as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signer {
    /// SHA-256 of the key's SubjectPublicKeyInfo.
    pub keyid: String,
    /// The key, as PEM.
    pub public_key: String,
}

impl Statement {
    /// Makes the statement that follows from some evidence, over files with these sums.
    pub(super) fn of(
        evidence: &Evidence,
        files: Vec<(String, String)>,
        key: &VerificationKey,
    ) -> Self {
        let subject = files.into_iter().map(|(name, sum)| Subject {
            name,
            digest: BTreeMap::from([("sha256".to_owned(), sum)]),
        });
        Self {
            statement_type: STATEMENT_TYPE.to_owned(),
            subject: subject.collect(),
            predicate_type: PREDICATE_TYPE.to_owned(),
            predicate: Predicate::of(evidence, key),
        }
    }
}

impl Predicate {
    fn of(evidence: &Evidence, key: &VerificationKey) -> Self {
        let manifest = &evidence.manifest;
        Self {
            verdict: evidence.declared_verdict(),
            partitions: verdicts(evidence),
            name: manifest.name.clone(),
            origin: manifest.origin,
            started_at: manifest.started_at.clone(),
            complete: manifest.complete,
            exceedance: manifest.exceedance,
            site_sha256: manifest.site_sha256.clone(),
            records: evidence.records.iter().map(signed).collect(),
            quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
            signer: Signer { keyid: key.id(), public_key: key.to_pem() },
        }
    }
}

/// The verdict on each partition that declares a class.
pub(super) fn verdicts(evidence: &Evidence) -> Vec<SignedPartition> {
    let declared = evidence.manifest.declared.iter();
    let verdict = |(name, class): (&String, &String)| SignedPartition {
        name: name.clone(),
        class: class.clone(),
        verdict: evidence.overall(name, class),
    };
    declared.map(verdict).collect()
}

fn signed(record: &Record) -> SignedRecord {
    let build = record.conditions.machine.get("program_build");
    SignedRecord {
        name: record.name.clone(),
        cycles: record.release.count(),
        histogram_sha256: digest(&record.release),
        conditions_sha256: digest(&record.conditions),
        program_build: build.cloned().unwrap_or_default(),
    }
}

fn digest(value: &impl Serialize) -> String {
    sum_of_bytes(&serde_json::to_vec(value).expect("what was read as JSON can be written as JSON"))
}
