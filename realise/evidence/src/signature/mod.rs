//! The signature of a folder, which proves that it is as its signer wrote it.
//!
//! ```text
//! files ─► sums ─► in-toto Statement (verdicts, digests) ─► DSSE envelope, Ed25519
//!                                                           └─► evidence.intoto.json
//! ```
//!
//! A sum can be made anew by whoever changes a file; a signature by nobody without the key. What a
//! valid one proves: whoever holds the key has written exactly these files. What it does not prove:
//! that they were measured, for the holder of the key can sign anything.
//!
//! A folder without a signature is read as before, and shown as unsigned. One whose signature does
//! not hold is damaged.

mod envelope;
mod key;
mod statement;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

use quietcore_record::verdict::Verdict;

use crate::files::{WriteError, list, sum_of, text_of, write_whole};
use crate::folder::{self, RECORD_COUNT_MAX};
use crate::read::Evidence;
use envelope::Envelope;

pub use key::{KeyError, MachineKey, VerificationKey};
pub use statement::{
    PREDICATE_TYPE, Predicate, STATEMENT_TYPE, SignedPartition, SignedRecord, Signer, Statement,
    Subject,
};

/// The state of a folder's signature.
#[derive(Clone, Debug, PartialEq)]
pub enum Signature {
    /// The folder has no signature.
    Unsigned,
    /// The key that the statement names has signed it, and each file is as it says. Whose key that
    /// is, the folder can't tell.
    Signed {
        /// The key that signed.
        key: VerificationKey,
        /// The statement that was signed.
        statement: Box<Statement>,
    },
    /// There is one, and it does not hold.
    Broken(Vec<SignatureProblem>),
}

/// Why a signature does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureProblem {
    /// The file can't be read.
    Unreadable {
        /// The problem, as the rest of a sentence.
        problem: String,
    },
    /// It holds no statement of ours.
    NoStatement,
    /// The key that it names has not signed it.
    NotSigned,
    /// A file is not as it was signed.
    Changed {
        /// Name of the file.
        file: String,
    },
    /// A file that was signed is not there, or can't be read.
    Missing {
        /// Name of the file.
        file: String,
    },
    /// A file was not signed.
    Added {
        /// Name of the file.
        file: String,
    },
    /// The verdict that was signed does not follow from the records.
    OtherVerdict {
        /// The partition; `None` for all of them.
        partition: Option<String>,
        /// The verdict that was signed.
        says: Verdict,
        /// The verdict that follows from the records.
        follows: Verdict,
    },
}

impl fmt::Display for SignatureProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = folder::SIGNATURE;
        match self {
            Self::Unreadable { problem } => write!(f, "`{name}` can't be read: {problem}"),
            Self::NoStatement => write!(f, "`{name}` holds no statement about such a folder"),
            Self::NotSigned => write!(f, "`{name}` is not signed by the key that it names"),
            Self::Changed { file } => write!(f, "`{file}` is not as it was signed"),
            Self::Missing { file } => write!(f, "`{file}` was signed and can't be read"),
            Self::Added { file } => write!(f, "`{file}` was not signed: it was added afterwards"),
            Self::OtherVerdict { partition: None, says, follows } => {
                write!(f, "`{name}` says {says}, and from the records follows {follows}")
            }
            Self::OtherVerdict { partition: Some(partition), says, follows } => write!(
                f,
                "`{name}` says {says} of partition `{partition}`, and from the records follows \
                 {follows}"
            ),
        }
    }
}

/// Signs a folder, which is sealed before.
///
/// # Errors
/// [`WriteError`] when a file can't be read back, or the signature can't be written.
pub fn sign(root: &Path, evidence: &Evidence, key: &MachineKey) -> Result<(), WriteError> {
    let sums = signed_list(root).map_err(WriteError::at(root))?;
    let statement = Statement::of(evidence, sums, &key.verification_key());
    let failed = |error| WriteError::at(root)(io::Error::other(error));
    let payload = serde_json::to_vec(&statement).map_err(failed)?;
    let mut envelope = serde_json::to_vec(&Envelope::sign(&payload, key)).map_err(failed)?;
    envelope.push(b'\n');
    write_whole(&root.join(folder::SIGNATURE), &envelope)
}

/// Checks the signature of a folder, but for the verdicts in it.
pub(crate) fn look(root: &Path) -> Signature {
    let text = match text_of(&root.join(folder::SIGNATURE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Signature::Unsigned,
        Err(error) => {
            let problem = error.to_string();
            return Signature::Broken(vec![SignatureProblem::Unreadable { problem }]);
        }
    };
    let (key, statement) = match opened(&text) {
        Ok(opened) => opened,
        Err(problem) => return Signature::Broken(vec![problem]),
    };
    let problems = differences(root, &statement);
    if problems.is_empty() {
        Signature::Signed { key, statement: Box::new(statement) }
    } else {
        Signature::Broken(problems)
    }
}

/// Compares the signed verdicts with those that follow from the records.
pub(crate) fn other_verdicts(statement: &Statement, evidence: &Evidence) -> Vec<SignatureProblem> {
    let mut problems = Vec::new();
    let mut differ = |partition: Option<&str>, says: Verdict, follows: Verdict| {
        if says != follows {
            let partition = partition.map(str::to_owned);
            problems.push(SignatureProblem::OtherVerdict { partition, says, follows });
        }
    };
    differ(None, statement.predicate.verdict, evidence.declared_verdict());
    for derived in statement::verdicts(evidence) {
        let mut signed = statement.predicate.partitions.iter();
        let signed = signed.find(|it| it.name == derived.name && it.class == derived.class);
        let says = signed.map_or(Verdict::NotProven, |signed| signed.verdict);
        differ(Some(&derived.name), says, derived.verdict);
    }
    problems
}

/// The statement in an envelope, and the key that it names, which has signed it.
fn opened(text: &str) -> Result<(VerificationKey, Statement), SignatureProblem> {
    let unreadable = |error: serde_json::Error| {
        let problem = error.to_string();
        SignatureProblem::Unreadable { problem }
    };
    let envelope: Envelope = serde_json::from_str(text).map_err(unreadable)?;
    let payload = envelope.payload().ok_or(SignatureProblem::NoStatement)?;
    let statement: Statement = serde_json::from_slice(&payload).map_err(unreadable)?;
    if statement.statement_type != STATEMENT_TYPE || statement.predicate_type != PREDICATE_TYPE {
        return Err(SignatureProblem::NoStatement);
    }
    let signer = &statement.predicate.signer;
    let key = VerificationKey::of_pem(&signer.public_key).filter(|key| key.id() == signer.keyid);
    match key.filter(|key| envelope.is_signed_by(&payload, key)) {
        Some(key) => Ok((key, statement)),
        None => Err(SignatureProblem::NotSigned),
    }
}

/// Compares each file with what was signed.
fn differences(root: &Path, statement: &Statement) -> Vec<SignatureProblem> {
    let mut signed: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for subject in statement.subject.iter().take(2 * RECORD_COUNT_MAX) {
        signed.insert(&subject.name, subject.digest.get("sha256").map(String::as_str));
    }
    let mut problems = Vec::new();
    for name in signed_names(root).unwrap_or_default() {
        match signed.remove(name.as_str()) {
            None => problems.push(SignatureProblem::Added { file: name }),
            Some(sum) => match sum_of(&root.join(&name)) {
                Ok(found) if Some(found.as_str()) == sum => {}
                Ok(_) => problems.push(SignatureProblem::Changed { file: name }),
                Err(_) => problems.push(SignatureProblem::Missing { file: name }),
            },
        }
    }
    // A page that is not there says nothing, and can be made anew.
    let gone = signed.into_keys().filter(|name| !folder::DERIVED.contains(name));
    problems.extend(gone.map(|name| SignatureProblem::Missing { file: name.to_owned() }));
    problems
}

/// The pages that were signed and are not there. They say nothing, and are made anew from the rest.
pub fn pages_not_there(root: &Path, statement: &Statement) -> Vec<String> {
    let signed = statement.subject.iter().map(|subject| subject.name.as_str());
    let pages = signed.filter(|name| folder::DERIVED.contains(name));
    pages.filter(|name| !root.join(name).exists()).map(str::to_owned).collect()
}

/// The files that are signed, each with its sum.
fn signed_list(root: &Path) -> io::Result<Vec<(String, String)>> {
    let names = signed_names(root)?.into_iter();
    names.map(|name| Ok((name.clone(), sum_of(&root.join(name))?))).collect()
}

fn signed_names(root: &Path) -> io::Result<Vec<String>> {
    let mut names = list(root)?;
    if root.join(folder::SUMS).exists() {
        names.push(folder::SUMS.to_owned());
    }
    Ok(names)
}
