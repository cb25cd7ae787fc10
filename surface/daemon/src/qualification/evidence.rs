//! The evidence of runs: verdicts, files, and the verdicts that hold.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use quietcore_api::v1;
use quietcore_record::verdict::Verdict;
use serde::Deserialize;

use super::asked::RunKind;
use super::kept::{RunError, Runs};
use crate::caller::Caller;
use crate::command_line;
use crate::failure::CallError;

/// The most files of a run that are listed.
pub const RUN_FILES_MAX: usize = 10_000;
/// The largest file that is sent, in bytes.
pub const RUN_FILE_BYTES_MAX: u64 = 1 << 30;
/// Folders of an evidence folder that hold files, besides itself.
const FOLDERS: [&str; 3] = ["", "records", "traces"];
/// The most bytes of a log in which its last line is sought.
const TAIL_BYTES: u64 = 4096;

/// Adds what the evidence says to a run that has ended; `whole` with each verdict and file.
pub(super) fn add(run: &mut v1::Run, folder: &Path, kind: RunKind, whole: bool) {
    if whole {
        run.files = files(folder);
    }
    if kind != RunKind::Qualify {
        return;
    }
    let Ok(evidence) = quietcore_evidence::read(folder) else { return };
    run.verdict = evidence.declared_verdict().to_string();
    if !whole {
        return;
    }
    for judgement in &evidence.judgements {
        let record = evidence.records.iter().find(|record| record.name == judgement.record);
        let Some(record) = record else { continue };
        run.verdicts.push(v1::RecordVerdict {
            partition: record.partition.clone(),
            profile: record.profile.clone(),
            application_class: judgement.class.clone(),
            record: record.name.clone(),
            verdict: judgement.verdict.to_string(),
            because: judgement.because.clone(),
            cycles_needed: judgement.cycles_needed.unwrap_or_default(),
        });
    }
}

/// Lists the plain files of a folder of evidence, by name.
fn files(folder: &Path) -> Vec<v1::RunFile> {
    let mut files = Vec::new();
    for below in FOLDERS {
        let entries = fs::read_dir(folder.join(below)).into_iter().flatten().flatten();
        for entry in entries.take(RUN_FILES_MAX) {
            let plain = entry.metadata().ok().filter(fs::Metadata::is_file);
            let (Some(found), Some(name)) = (plain, entry.file_name().to_str().map(str::to_owned))
            else {
                continue;
            };
            let name = if below.is_empty() { name } else { format!("{below}/{name}") };
            files.push(v1::RunFile { name, bytes: found.len() });
        }
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files.truncate(RUN_FILES_MAX);
    files
}

impl Runs {
    /// Opens a file of a run's evidence. Names are those that are listed and no others.
    ///
    /// # Errors
    /// [`RunError::NoFile`]; [`RunError::FileSize`] beyond [`RUN_FILE_BYTES_MAX`].
    pub(crate) fn open_file(&self, number: u64, name: String) -> Result<File, CallError> {
        let folder = self.evidence(number)?;
        let listed = files(&folder).into_iter().find(|file| file.name == name);
        let Some(v1::RunFile { name, bytes }) = listed else {
            return Err(RunError::NoFile { number, name }.into());
        };
        if bytes > RUN_FILE_BYTES_MAX {
            return Err(RunError::FileSize { name, bytes }.into());
        }
        let path = folder.join(name);
        Ok(File::open(&path).map_err(RunError::at(&path))?)
    }
}

/// Returns the last line of a log; an empty text where there is none.
pub(super) fn last_line(path: &Path) -> String {
    let tail = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes).map(|_| bytes)
    };
    let bytes = tail().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}

/// The verdicts as `quietcore verdict --json` prints them.
#[derive(Debug, Deserialize)]
struct Listing {
    verdicts: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    verdict: Verdict,
    standing: String,
    site: String,
    partition: String,
    class: String,
    started_at: String,
    folder: PathBuf,
    expired_by: Vec<Change>,
}

#[derive(Debug, Deserialize)]
struct Change {
    dependency: String,
    before: String,
    now: String,
}

/// Lists the newest verdicts of the runs that are kept, as far as they are granted to the caller;
/// the product's own program compares them with the machine.
///
/// # Errors
/// Those of the folder and of the program.
pub(crate) fn standing_verdicts(
    runs: &Runs,
    caller: &Caller,
) -> Result<Vec<v1::StandingVerdict>, CallError> {
    let mut folders = Vec::new();
    for record in runs.all()?.into_iter().filter(|it| it.kind == RunKind::Qualify) {
        let folder = runs.evidence(record.number)?;
        if !runs.goes_on(record.number)? && quietcore_evidence::read_manifest(&folder).is_ok() {
            folders.push(folder);
        }
    }
    if folders.is_empty() {
        return Ok(Vec::new());
    }
    let program = runs.program();
    let mut command = command_line::command(&program, runs.places())?;
    command.args(["verdict", "--json"]).args(folders).stdin(Stdio::null());
    let printed = command.output().map_err(|source| RunError::Start { program, source })?;
    let listing: Listing = serde_json::from_slice(&printed.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&printed.stderr);
        CallError::NotNow(format!("verdicts can't be compared: {error}; {}", said.trim()))
    })?;
    let granted = |entry: &Entry| caller.grants().has_partition(&entry.site, &entry.partition);
    Ok(listing.verdicts.into_iter().filter(granted).map(told).collect())
}

fn told(entry: Entry) -> v1::StandingVerdict {
    let run = entry.folder.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let changed =
        |change: Change| format!("{} {} → {}", change.dependency, change.before, change.now);
    v1::StandingVerdict {
        site: entry.site,
        partition: entry.partition,
        application_class: entry.class,
        verdict: entry.verdict.to_string(),
        standing: entry.standing,
        started_at: entry.started_at,
        run: run.and_then(|number| number.parse().ok()).unwrap_or_default(),
        expired_by: entry.expired_by.into_iter().map(changed).collect(),
    }
}
