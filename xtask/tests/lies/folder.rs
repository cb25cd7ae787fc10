//! The folders that lies are told in, and whether they are found.

use std::fs;
use std::path::{Path, PathBuf};

use quietcore_evidence::{Evidence, MachineKey, Signature, Writer, read, read_text, sign};
use quietcore_record::reason::{MachineDrift, NotInForce, RunProblem, ThreadSetting};
use quietcore_record::record::{PolicyInForce, Record};
use quietcore_report::{derived, junit};
use quietcore_units::SchedulingPolicy;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::edit::Lie;
use crate::sample;

/// Lateness of the release that makes the sample fail.
const LATE_NS: u64 = 5_000_000;

/// The files that a forger makes anew after the edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forger {
    /// No file at all.
    Careless,
    /// The sums of all files.
    Sums,
    /// The sums, and all that follows from the records.
    Thorough,
}

impl Forger {
    pub(crate) const ALL: [Self; 3] = [Self::Careless, Self::Sums, Self::Thorough];

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Careless => "edit alone",
            Self::Sums => "with new sums",
            Self::Thorough => "with new sums and pages",
        }
    }
}

/// A folder as a campaign leaves it, with and without a signature.
pub(crate) struct Bench {
    folder: TempDir,
    key: MachineKey,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = MachineKey::open_or_make(folder.path()).unwrap();
        let bench = Self { folder, key };
        let writer = sample::write(&bench.folder("unsigned"), &sample::manifest(), &records());
        derive(writer.root());
        writer.seal().unwrap();
        let evidence = read(writer.root()).unwrap();
        assert_eq!(says(&evidence, writer.root()), Vec::<String>::new());
        copy(writer.root(), &bench.folder("signed"));
        sign(&bench.folder("signed"), &evidence, &bench.key).unwrap();
        assert!(bench.is_genuine(&bench.folder("signed")));
        bench
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns `true` if a lie is found in a folder.
    pub(crate) fn is_found(&self, lie: &Lie, signed: bool, forger: Forger) -> bool {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("run");
        let original = self.folder(if signed { "signed" } else { "unsigned" });
        copy(&original, &root);
        (lie.tell)(&root);
        if forger == Forger::Thorough && !lie.is_of_pages {
            derive(&root);
        }
        if forger != Forger::Careless && root.join("SHA256SUMS").exists() {
            sums(&root);
        }
        if is_same(&root, &original) {
            // What the forger made anew has undone the edit: there is nothing to be found.
            return true;
        }
        if signed {
            return !self.is_genuine(&root);
        }
        read(&root).map_or(true, |evidence| !says(&evidence, &root).is_empty())
    }

    /// Returns `true` if a folder is one that the key has signed, and nothing contradicts it. Its
    /// pages are signed with the rest.
    fn is_genuine(&self, root: &Path) -> bool {
        let Ok(evidence) = read(root) else { return false };
        let is_signed = match &evidence.signature {
            Signature::Signed { key, .. } => *key == self.key.verification_key(),
            Signature::Unsigned | Signature::Broken(_) => false,
        };
        is_signed && evidence.is_sound()
    }
}

/// The records of the sample, with one that was not measured as asked for and one that is invalid,
/// neither of which counts.
fn records() -> Vec<Record> {
    let mut records = sample::records(LATE_NS);
    for record in &mut records {
        if record.name == "press.tp1.cycle" {
            record.degraded =
                vec![NotInForce::refused(ThreadSetting::Policy, "not permitted").into()];
            record.conditions.policy = PolicyInForce::ReadBack(SchedulingPolicy::Other);
        }
        if record.name == "press.tp1.Sort" {
            let first = MachineDrift::CpuOffline { cpu: 1 };
            record.invalid_because = vec![RunProblem::MachineDrifted { first, more: 0 }.into()];
        }
    }
    records
}

/// Lists what `quietcore show` would name.
fn says(evidence: &Evidence, root: &Path) -> Vec<String> {
    let mut said = evidence.damage.clone();
    said.extend(evidence.contradictions.iter().map(ToString::to_string));
    said.extend(evidence.unaccounted.iter().map(|missing| missing.because.clone()));
    if said.is_empty() {
        let stored = |name: &str| read_text(root, name);
        said.extend(derived::differences(evidence, &stored).iter().map(ToString::to_string));
    }
    said
}

/// Makes what follows from the records, where they can be read at all.
fn derive(root: &Path) {
    let Ok(evidence) = read(root) else { return };
    // As a forger's own program would: nothing is held against the records.
    let mut records = evidence.records.clone();
    for record in &mut records {
        let stored = root.join("records").join(format!("{}.json", record.name));
        let stored = fs::read(stored).ok().and_then(|text| serde_json::from_slice(&text).ok());
        if let Some(stored) = stored {
            *record = stored;
        }
    }
    let Evidence { manifest, site, doctor, traces, .. } = evidence;
    let evidence = Evidence { site, doctor, traces, ..Evidence::of(manifest, records) };
    let document = evidence.document();
    let text = serde_json::to_string_pretty(&document).unwrap();
    for (file, text) in [
        (derived::SUMMARY, text),
        (derived::PAGE, derived::page(&evidence)),
        (derived::JUNIT, junit::render(&evidence)),
    ] {
        fs::write(root.join(file), text).unwrap();
    }
}

/// Makes the sums anew without Quietcore, which would take a signature away.
fn sums(root: &Path) {
    let mut lines = String::new();
    for name in files(root) {
        let Ok(bytes) = fs::read(root.join(&name)) else { continue };
        if name != "SHA256SUMS" && name != "evidence.intoto.json" {
            let sum: String = Sha256::digest(bytes).iter().map(|it| format!("{it:02x}")).collect();
            lines.push_str(&format!("{sum}  {name}\n"));
        }
    }
    fs::write(root.join("SHA256SUMS"), lines).unwrap();
}

/// The files of a folder and of those within it, relative to it and sorted.
fn files(root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(prefix) = folders.pop() {
        for entry in fs::read_dir(root.join(&prefix)).unwrap().map(Result::unwrap) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type().unwrap().is_dir() {
                folders.push(name + "/");
            } else {
                names.push(name);
            }
        }
    }
    names.sort();
    names
}

fn is_same(one: &Path, other: &Path) -> bool {
    let is_alike = |name: &String| {
        let is_plain = fs::symlink_metadata(one.join(name)).is_ok_and(|found| found.is_file());
        is_plain && fs::read(one.join(name)).ok() == fs::read(other.join(name)).ok()
    };
    let names = files(one);
    names == files(other) && names.iter().all(is_alike)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("records")).unwrap();
    for name in files(from) {
        fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

/// A writer's seal, for lies that Quietcore itself would help with.
pub(crate) fn reseal(root: &Path) {
    Writer::open(root).unwrap().seal().unwrap();
}
