//! Reading an evidence folder back, whatever happened to it.

use std::io;
use std::path::{Path, PathBuf};

use quietcore_record::document::{self, Document, OverallVerdict, PartitionVerdict};
use quietcore_record::reason::FolderProblem;
use quietcore_record::record::{RECORD_SCHEMA, Record};
use quietcore_record::verdict::{Judgement, Verdict, is_judged, judge, worst};
use serde::de::DeserializeOwned;

use crate::check::{self, Compared, Contradiction, Filed};
use crate::files::{list, read_text, sum_of, text_of};
use crate::folder::{self, RECORD_COUNT_MAX, TRACE_COUNT_MAX};
use crate::manifest::{MANIFEST_SCHEMA, Manifest, NotMeasured};
use crate::signature::{self, Signature};

/// All that an evidence folder holds.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The manifest of the run.
    pub manifest: Manifest,
    /// The records, by profile in the manifest's order and by name.
    pub records: Vec<Record>,
    /// Each record against each class, made anew from the records.
    pub judgements: Vec<Judgement>,
    /// The site file; `None` where there is none.
    pub site: Option<String>,
    /// The doctor's document; `None` where there is none.
    pub doctor: Option<serde_json::Value>,
    /// Recordings of variables as tables, each with its name, by name.
    pub traces: Vec<(String, Vec<u8>)>,
    /// Damage of the folder: files that are cut off, changed, missing.
    pub damage: Vec<String>,
    /// Parts of the folder that exclude each other.
    pub contradictions: Vec<Contradiction>,
    /// Planned partitions and profiles without a record, of which the manifest says nothing.
    pub unaccounted: Vec<NotMeasured>,
    /// The folder's signature. One that does not hold is part of `damage`.
    pub signature: Signature,
}

impl Evidence {
    /// Records that stand in no folder, judged.
    pub fn of(manifest: Manifest, records: Vec<Record>) -> Self {
        let judge_all = |record| {
            manifest.classes.iter().map(move |class| judge(record, class, manifest.exceedance))
        };
        // What a probe measured is no release, and no class judges it.
        let is_held =
            |record: &&Record| is_judged(record) && check::probe_of(record, &manifest).is_none();
        let judged = records.iter().filter(is_held);
        let judgements = judged.flat_map(judge_all).collect();
        Self {
            unaccounted: check::assumed(&manifest, &records),
            manifest,
            records,
            judgements,
            site: None,
            doctor: None,
            traces: Vec::new(),
            damage: Vec::new(),
            contradictions: Vec::new(),
            signature: Signature::Unsigned,
        }
    }

    /// Iterates over what was asked for and has no whole record, by the manifest and by the folder.
    pub fn missing(&self) -> impl Iterator<Item = &NotMeasured> {
        self.manifest.not_measured.iter().chain(&self.unaccounted)
    }

    /// Returns whether everything in the folder is as it was written, and nothing in it
    /// contradicts anything else.
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty() && self.contradictions.is_empty() && self.unaccounted.is_empty()
    }

    /// Says why nothing in the folder passes, whatever its records say; `None` where it is as it
    /// was written.
    pub fn why_nothing_passes(&self) -> Option<FolderProblem> {
        if !self.damage.is_empty() {
            return Some(FolderProblem::Damaged);
        }
        (!self.contradictions.is_empty()).then_some(FolderProblem::Contradictory)
    }

    /// The verdict on a partition and a class: the worst over the records that keep the
    /// reservation, and NOT PROVEN where one of those is missing or the folder can't be trusted.
    pub fn overall(&self, partition: &str, class: &str) -> Verdict {
        let counts = |judgement: &&Judgement| {
            judgement.class == class
                && self.records.iter().any(|record| {
                    record.name == judgement.record
                        && record.partition == partition
                        && record.reserved
                })
        };
        let judged = self.judgements.iter().filter(counts).map(|judgement| judgement.verdict);
        let missing = self
            .missing()
            .filter(|missing| missing.partition == partition && missing.reserved)
            .map(|_| Verdict::NotProven);
        let distrusted = self.why_nothing_passes().map(|_| Verdict::NotProven);
        worst(judged.chain(missing).chain(distrusted))
    }

    /// The verdict on all partitions, each against the class it declares; NOT PROVEN where none
    /// declares one.
    pub fn declared_verdict(&self) -> Verdict {
        worst(self.partition_verdicts().into_iter().map(|of| of.verdict))
    }

    fn partition_verdicts(&self) -> Vec<PartitionVerdict> {
        let declared = self.manifest.declared.iter();
        let verdicts = declared.map(|(partition, class)| PartitionVerdict {
            partition: partition.clone(),
            class: class.clone(),
            verdict: self.overall(partition, class),
        });
        verdicts.collect()
    }

    /// Makes the document that `show --json` prints and a folder keeps.
    pub fn document(&self) -> Document {
        let partitions = self.partition_verdicts();
        let overall = (!partitions.is_empty())
            .then(|| OverallVerdict { verdict: self.declared_verdict(), partitions });
        Document {
            renewal: self.manifest.renewal.clone(),
            ..document::of(&self.records, &self.judgements, overall, self.manifest.exceedance)
        }
    }
}

/// The folder can't be read as evidence.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file can't be read.
    #[error("`{}` can't be read; give the folder that a run has written", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// A file isn't what it should be.
    #[error("`{}` is damaged: {problem}", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// The problem, with line and column if there is one.
        problem: String,
    },
}

/// Reads an evidence folder. Records that can't be used become entries of `damage`, and so do files
/// that don't agree with their sums; only a folder without a manifest is an error.
///
/// # Errors
/// [`ReadError`] when the folder or its manifest can't be read.
pub fn read(root: &Path) -> Result<Evidence, ReadError> {
    let manifest = read_manifest(root)?;
    let mut damage = check_sums(root);
    let signature = signature::look(root);
    if let Signature::Broken(problems) = &signature {
        damage.extend(problems.iter().map(ToString::to_string));
    }
    let mut filed = read_records(root, &mut damage);
    let traces = read_traces(root, &mut damage);
    let site = optional(root, folder::SITE, &mut damage);
    let doctor = optional(root, folder::DOCTOR, &mut damage).parsed(folder::DOCTOR, &mut damage);
    let rank =
        |record: &Record| manifest.profiles.iter().position(|(name, _)| *name == record.profile);
    filed.sort_by(|Filed { record: a, .. }, Filed { record: b, .. }| {
        (&a.partition, rank(a), a.cpu, &a.name).cmp(&(&b.partition, rank(b), b.cpu, &b.name))
    });
    let file_sum = |file: &str| sum_of(&root.join(file)).ok();
    let compared = check::compare(&manifest, &filed, &site, &doctor, &file_sum);
    let mut records: Vec<Record> = filed.into_iter().map(|filed| filed.record).collect();
    for record in &mut records {
        distrust(record, !damage.is_empty(), &compared.contradictions);
    }
    let mut evidence = Evidence::of(manifest, records);
    let Compared { contradictions, unaccounted } = compared;
    let (site, doctor) = (site.into_option(), doctor.into_option());
    if site.is_some() {
        evidence.unaccounted = unaccounted;
    }
    let evidence = Evidence { site, doctor, traces, damage, contradictions, signature, ..evidence };
    Ok(with_signed_verdicts(evidence))
}

/// The evidence, damaged where its signature holds and says other verdicts than follow.
fn with_signed_verdicts(mut evidence: Evidence) -> Evidence {
    if let Signature::Signed { statement, .. } = &evidence.signature {
        let problems = signature::other_verdicts(statement, &evidence);
        if !problems.is_empty() {
            evidence.damage.extend(problems.iter().map(ToString::to_string));
            evidence.signature = Signature::Broken(problems);
        }
    }
    evidence
}

/// Adds to a record what the folder says against it.
fn distrust(record: &mut Record, is_damaged: bool, contradictions: &[Contradiction]) {
    if is_damaged {
        record.invalid_because.push(FolderProblem::Damaged.into());
    }
    for contradiction in contradictions {
        match contradiction.record() {
            None => {
                record.invalid_because.push(FolderProblem::Contradictory.into());
                break;
            }
            Some(name) if name == record.name => {
                let contradiction = contradiction.to_string();
                record.invalid_because.push(FolderProblem::Contradicted { contradiction }.into());
            }
            Some(_) => {}
        }
    }
}

/// Reads the record of this name; `None` where there is none, or none that can be read.
pub fn read_record(root: &Path, name: &str) -> Option<Record> {
    let path = root.join(folder::record_file(name));
    json::<Record>(&path).ok().filter(Record::has_known_schema)
}

/// Reads the manifest alone, as whoever goes on with an interrupted campaign does.
///
/// # Errors
/// [`ReadError`] when it can't be read or has another schema.
pub fn read_manifest(root: &Path) -> Result<Manifest, ReadError> {
    let path = root.join(folder::MANIFEST);
    let manifest: Manifest = json(&path)?;
    if manifest.schema == MANIFEST_SCHEMA {
        return Ok(manifest);
    }
    let problem =
        format!("its schema is `{}`; this program reads `{MANIFEST_SCHEMA}`", manifest.schema);
    Err(ReadError::Damaged { path, problem })
}

/// Returns the SHA-256 of the list of a folder's sums, which stands for all of its files.
///
/// # Errors
/// [`ReadError`] when the folder is not sealed, or the list can't be read.
pub fn sum_of_sums(root: &Path) -> Result<String, ReadError> {
    let path = root.join(folder::SUMS);
    sum_of(&path).map_err(|source| ReadError::Io { path, source })
}

/// Reads the kernel that the folder was begun under from its facts; `None` where they don't say.
pub fn read_kernel(root: &Path) -> Option<String> {
    let doctor: serde_json::Value = json(&root.join(folder::DOCTOR)).ok()?;
    check::kernel_of(&doctor).map(str::to_owned)
}

/// Lists files that were changed, added or lost since the folder was sealed; none if it never was,
/// as after the sudden end of a campaign. Called before a folder is continued: sealing it anew
/// would make the change part of the evidence.
pub fn changed_since_sealed(root: &Path) -> Vec<String> {
    if !root.join(folder::SUMS).exists() {
        // A signature is of sums, so that a folder that has one was sealed.
        let is_signed = root.join(folder::SIGNATURE).exists();
        return is_signed.then(|| format!("`{}` is missing", folder::SUMS)).into_iter().collect();
    }
    let mut changed = check_sums(root);
    if let Signature::Broken(problems) = signature::look(root) {
        changed.extend(problems.iter().map(ToString::to_string));
    }
    changed
}

/// Returns `true` if the folder was sealed with all its pages, or signed, so that its run came to
/// its end.
pub fn is_finished(root: &Path) -> bool {
    let is_sealed = root.join(folder::SUMS).exists() && unfinished_pages(root).is_empty();
    is_sealed || root.join(folder::SIGNATURE).exists()
}

/// Lists pages of a sealed folder that are missing or have no sum: it is not as it was sealed, or
/// its run did not come to its end, as on a full disk. No verdict depends on them, so that is no
/// damage. Returns none for a folder without sums; that is damage already.
pub fn unfinished_pages(root: &Path) -> Vec<String> {
    let Ok(sums) = text_of(&root.join(folder::SUMS)) else { return Vec::new() };
    let is_sealed = |page: &str| {
        sums.lines().any(|line| line.split_once("  ").is_some_and(|(_, name)| name == page))
    };
    let problem = |page: &str| match (root.join(page).exists(), is_sealed(page)) {
        (true, true) => None,
        (true, false) => Some(format!("`{page}` has no sum: the run did not come to its end")),
        (false, true) => Some(format!("`{page}` is missing: the folder is not as it was sealed")),
        (false, false) => Some(format!("`{page}` is missing: the run did not come to its end")),
    };
    folder::DERIVED.into_iter().filter_map(problem).collect()
}

fn read_records(root: &Path, damage: &mut Vec<String>) -> Vec<Filed> {
    let mut records: Vec<Filed> = Vec::new();
    let names = match list(root) {
        Ok(names) => names,
        Err(error) => {
            damage.push(format!("the folder can't be listed: {error}"));
            return records;
        }
    };
    let wanted =
        names.iter().filter(|name| name.starts_with("records/") && name.ends_with(".json"));
    for name in wanted {
        if records.len() == RECORD_COUNT_MAX {
            damage.push(format!("more than {RECORD_COUNT_MAX} records; the others are left out"));
            break;
        }
        match json::<Record>(&root.join(name)) {
            Ok(record) if record.has_known_schema() => {
                records.push(Filed { file: name.clone(), record });
            }
            Ok(record) => damage.push(format!(
                "`{name}` has schema `{}`; this program reads `{RECORD_SCHEMA}`",
                record.schema
            )),
            Err(error) => damage.push(error.to_string()),
        }
    }
    records
}

fn read_traces(root: &Path, damage: &mut Vec<String>) -> Vec<(String, Vec<u8>)> {
    let mut traces = Vec::new();
    let names = list(root).unwrap_or_default();
    let tables = names.iter().filter_map(|file| {
        let name = file.strip_prefix(folder::TRACES)?.strip_prefix('/')?.strip_suffix(".csv")?;
        Some((file, name)).filter(|_| !name.contains('/'))
    });
    for (file, name) in tables.take(TRACE_COUNT_MAX) {
        match text_of(&root.join(file)) {
            Ok(text) => traces.push((name.to_owned(), text.into_bytes())),
            Err(error) => damage.push(format!("`{file}` can't be read: {error}")),
        }
    }
    // With their endings, `axis-2.csv` comes before `axis.csv`.
    traces.sort_by(|one, other| one.0.cmp(&other.0));
    traces
}

/// Lists files that don't agree with the sums, files without one included. Files that are made from
/// others may differ: nothing is judged by them.
fn check_sums(root: &Path) -> Vec<String> {
    let text = match text_of(&root.join(folder::SUMS)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return vec![format!("`{}` is missing: the run did not come to its end", folder::SUMS)];
        }
        Err(error) => return vec![format!("`{}` can't be read: {error}", folder::SUMS)],
    };
    let mut damage = Vec::new();
    let mut summed = Vec::new();
    for line in text.lines() {
        if summed.len() > RECORD_COUNT_MAX {
            damage.push(format!("`{}` has more lines than a run has files", folder::SUMS));
            break;
        }
        let Some((sum, name)) = line.split_once("  ") else {
            damage.push(format!("`{}` has a line that is no sum: `{line}`", folder::SUMS));
            continue;
        };
        // A name from a file must not lead out of the folder.
        if name.contains("..") || name.starts_with('/') {
            damage.push(format!("`{}` names `{name}`, which is not in the folder", folder::SUMS));
            continue;
        }
        summed.push(name);
        if folder::DERIVED.contains(&name) {
            continue;
        }
        match sum_of(&root.join(name)) {
            Ok(found) if found == sum => {}
            Ok(_) => damage.push(format!("`{name}` was changed after the run")),
            Err(error) => damage.push(format!("`{name}` can't be read: {error}")),
        }
    }
    let present = list(root).unwrap_or_default();
    let needing = present.iter().filter(|name| !folder::DERIVED.contains(&name.as_str()));
    damage.extend(
        needing
            .filter(|name| !summed.contains(&name.as_str()))
            .map(|name| format!("`{name}` has no sum: it was added after the run")),
    );
    damage
}

pub(crate) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, ReadError> {
    let text = text_of(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    serde_json::from_str(&text)
        .map_err(|error| ReadError::Damaged { path: path.to_owned(), problem: error.to_string() })
}

/// The text of a file that need not be there; one that is there and can't be read is damage.
fn optional(root: &Path, name: &str, damage: &mut Vec<String>) -> Part<String> {
    match read_text(root, name) {
        Ok(Some(text)) => Part::Read(text),
        Ok(None) => Part::Missing,
        Err(error) => {
            damage.push(format!("`{name}` can't be read: {error}"));
            Part::Unreadable
        }
    }
}

/// A part of a folder that need not be there.
#[derive(Clone, Debug)]
pub(crate) enum Part<T> {
    /// It is not there.
    Missing,
    /// It is there and says nothing; the damage has why.
    Unreadable,
    /// The content of the file.
    Read(T),
}

impl Part<String> {
    /// The same as JSON; what is none is damage.
    fn parsed(self, name: &str, damage: &mut Vec<String>) -> Part<serde_json::Value> {
        match self {
            Self::Missing => Part::Missing,
            Self::Unreadable => Part::Unreadable,
            Self::Read(text) => match serde_json::from_str(&text) {
                Ok(value) => Part::Read(value),
                Err(error) => {
                    damage.push(format!("`{name}` is no JSON: {error}"));
                    Part::Unreadable
                }
            },
        }
    }
}

impl<T> Part<T> {
    fn into_option(self) -> Option<T> {
        match self {
            Self::Read(content) => Some(content),
            Self::Missing | Self::Unreadable => None,
        }
    }
}
