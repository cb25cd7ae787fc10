//! The end of every run: the folder is read back, judged, reported, sealed and signed.
//!
//! The evidence that a person is shown was read back from the disk, not kept in memory.

use std::path::Path;

use quietcore_evidence::{
    Evidence, KeyError, MachineKey, Signature, VerificationKey, Writer, read_text, sign,
};
use quietcore_record::compare::{self, BesideError, SideBySide};
use quietcore_record::published::{self, Quantity};
use quietcore_record::record::Record;
use quietcore_report::{derived, junit};
use quietcore_supervisor::places::{PlaceError, Places};
use quietcore_units::Causes;

use crate::status::Failure;

/// The name of the page in the folder.
pub(crate) const REPORT: &str = derived::PAGE;

/// The machine's key is not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MachineKeyError {
    /// There is no folder for the key.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The key can't be read or made.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// Seals the folder, reads it back, and adds summary, page and JUnit file.
pub(crate) fn finish(writer: &Writer) -> Result<Evidence, Failure> {
    writer.seal()?;
    derive(writer)
}

/// Writes summary, page and JUnit file of a sealed folder, seals it again and signs it.
pub(crate) fn derive(writer: &Writer) -> Result<Evidence, Failure> {
    let evidence = quietcore_evidence::read(writer.root())?;
    let document = evidence.document();
    writer.evidence(&document)?;
    writer.file(REPORT, derived::page(&evidence).as_bytes())?;
    writer.file(derived::JUNIT, junit::render(&evidence).as_bytes())?;
    seal(writer, &evidence)?;
    Ok(evidence)
}

/// Seals a folder. Signs it, too, if it is new or this machine had signed it, and if the user may
/// sign. A folder that was unsigned or signed by others gets no signature of this machine, which
/// would claim that this machine measured it.
pub(crate) fn seal(writer: &Writer, evidence: &Evidence) -> Result<(), Failure> {
    writer.seal()?;
    let before = writer.signed_by();
    if !writer.is_new() && before.is_none() {
        return Ok(());
    }
    match machine_key() {
        Ok(key) => {
            let is_own = before.is_none_or(|before| *before == key.verification_key());
            if is_own {
                sign(writer.root(), evidence, &key)?;
            }
        }
        Err(error) => crate::terminal::say(format_args!("remark: not signed: {}", Causes(&error))),
    }
    Ok(())
}

/// Returns the key of this machine; makes one if there is none.
pub(crate) fn machine_key() -> Result<MachineKey, MachineKeyError> {
    let folder = Places::of_environment()?.key_folder()?;
    Ok(MachineKey::open_or_make(&folder)?)
}

/// Returns the key that this machine's evidence is checked by; `None` if it has signed nothing yet.
pub(crate) fn own_key() -> Option<VerificationKey> {
    let folder = Places::of_environment().ok()?.existing_key_folder()?;
    Some(MachineKey::open(&folder).ok()??.verification_key())
}

/// Reads a folder that a run has written.
pub(crate) fn read(folder: &Path) -> Result<Evidence, Failure> {
    Ok(quietcore_evidence::read(folder)?)
}

/// Names the files of the folder that do not say what follows from its records. Returns none if the
/// folder is not as it was written, since nothing follows from it then, or if `trusted` has signed
/// it: an earlier version may have used other words.
pub(crate) fn stale(
    folder: &Path,
    evidence: &Evidence,
    trusted: Option<&VerificationKey>,
) -> Vec<String> {
    let is_trusted = match &evidence.signature {
        Signature::Signed { key, .. } => trusted == Some(key),
        Signature::Unsigned | Signature::Broken(_) => false,
    };
    if is_trusted || !evidence.is_sound() {
        return Vec::new();
    }
    let differences = derived::differences(evidence, &|name| read_text(folder, name));
    differences.iter().map(ToString::to_string).collect()
}

/// Lists everything that is wrong with the data of a folder.
pub(crate) fn problems(evidence: &Evidence) -> Vec<String> {
    let mut problems: Vec<String> = evidence.damage.clone();
    problems.extend(evidence.contradictions.iter().map(ToString::to_string));
    problems.extend(evidence.unaccounted.iter().map(|missing| missing.because.clone()));
    problems
}

/// Puts a run beside a published table, whose threads slept until their release.
pub(crate) fn beside(
    records: &[Record],
    table: &published::Table,
) -> Result<SideBySide, BesideError> {
    let mut beside = compare::with_table(&as_slept(records), table)?;
    let woke_early = records.iter().any(|record| record.of_wakeup().is_some());
    if woke_early && table.quantity == Quantity::ReleaseLatency {
        beside.remarks.push(WOKE_EARLY.to_owned());
    }
    Ok(beside)
}

/// The remark on a published table if a record holds both latencies.
const WOKE_EARLY: &str = "what is measured here woke before its release and spun to it; beside the \
                          paper's threads, which slept until theirs, stands its wake-up latency";

/// Returns the records as tools that sleep until the release see them, such as cyclictest, and as
/// the papers measured. If a run woke early, its wake-up latency is the comparable quantity.
pub(crate) fn as_slept(records: &[Record]) -> Vec<Record> {
    records.iter().map(|record| record.of_wakeup().unwrap_or_else(|| record.clone())).collect()
}
