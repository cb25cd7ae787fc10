//! The evidence folder of a run: written whole or not at all, hashed, and read back.
//!
//! ```text
//! runs/2026-11-21T20-15-03-press-line/
//! ├── manifest.json         what was run, what was not and why; classes and confidence asked for
//! ├── site.toml             the site file, byte for byte (campaigns only)
//! ├── doctor.json           facts about the machine and what follows from them
//! ├── records/NAME.json     one record a task and profile, with its raw histograms
//! ├── checkpoints/          records of a run that is not over; gone when it is
//! ├── traces/NAME.csv       variables over time, where some were recorded
//! ├── evidence.json         summary and verdicts, as `quietcore show --json` prints them
//! ├── report.html, junit.xml
//! ├── SHA256SUMS            of all the others
//! └── evidence.intoto.json  the signature of all these
//! ```
//!
//! Invariants:
//! - A file appears under its name only when its whole content is on disk: it is written beside,
//!   synced, and renamed. A full disk leaves the files before it readable and none half-written.
//!   a run that is not over there are checkpoints: a machine that dies loses 30 s at most.
//!   a run that is not over there are checkpoints: a machine that dies loses half a minute.
//! - Reading checks the sums; what doesn't agree is damage, and damage is never a PASS.
//! - Reading derives everything anew and compares it; what contradicts itself is never a PASS, and
//!   what was planned and has no record is NOT PROVEN.
//! - Whoever changes a signed folder can't sign it anew, and sealing takes the signature away.
//!
//! The crate stands on floor 5 because the campaign writes the folder and the report reads it, and
//! both are on floor 6.

#![forbid(unsafe_code)]

mod check;
mod checkpoint;
mod files;
mod folder;
mod lock;
mod manifest;
mod read;
mod signature;
mod write;

pub use check::Contradiction;
pub use checkpoint::Checkpoints;
pub use files::{WriteError, read_text, write_whole};
pub use folder::{FILE_BYTES_MAX, RECORD_COUNT_MAX, TRACE_COUNT_MAX, folder_name};
pub use lock::FolderLock;
pub use manifest::{Length, MANIFEST_SCHEMA, Manifest, NotMeasured, Origin, ProbeEntry};
pub use read::{
    Evidence, ReadError, changed_since_sealed, is_finished, read, read_kernel, read_manifest,
    read_record, sum_of_sums, unfinished_pages,
};
pub use signature::{
    KeyError, MachineKey, PREDICATE_TYPE, Predicate, STATEMENT_TYPE, Signature, SignatureProblem,
    SignedPartition, SignedRecord, Signer, Statement, Subject, VerificationKey, pages_not_there,
    sign,
};
pub use write::Writer;
