//! `quietcore audit`: the audit trail of the daemon, printed, exported and verified.

mod shown;
mod verification;

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use quietcore_audit::{Entry, FILE, Reader, Row};
use quietcore_remote::StoredEntry;
use quietcore_supervisor::places::Places;

use crate::arguments::{AuditRequest, Since};
use crate::command::distance::Reach;
use crate::status::{Failure, Status};
use crate::terminal::{harmless_json, say, width};

pub(super) fn run(reach: &Reach, request: &AuditRequest) -> Result<Status, Failure> {
    if let Some(remote) = reach.remote()? {
        print(request, |show| {
            Ok(remote.for_each_entry(|StoredEntry { number, text, hash }| {
                show(Row { number, text, hash })
            })?)
        })?;
        return Ok(Status::Done);
    }
    let path = match &request.file {
        Some(file) => file.clone(),
        None => own_file()?,
    };
    let reader = Reader::open(&path)?;
    let status = if request.verify {
        let found = reader.verify()?;
        super::print_lines(&verification::words(&found))?;
        Status::of(found.fault.is_none())
    } else {
        print(request, |show| Ok(reader.for_each(0, show)?))?;
        Status::Done
    };
    if request.file.is_none() {
        for aside in set_aside(&path) {
            say(format_args!(
                "remark: an earlier trail was damaged and is set aside; read it with `quietcore \
                 audit --file {}`",
                aside.display()
            ));
        }
    }
    Ok(status)
}

/// Returns the file of this user's daemon.
fn own_file() -> Result<PathBuf, Failure> {
    let places = Places::of_environment()?;
    let folder = places.existing_daemon_state();
    let file = folder.map(|folder| folder.join(FILE)).filter(|file| file.exists());
    file.ok_or_else(|| {
        Failure::new("quietcore: there is no audit trail yet; `quietcored` makes it when it starts")
    })
}

/// Prints the entries that are asked for, as rows or as lines of JSON. `for_each` shows all that
/// there are, until it is told `false`.
fn print(
    request: &AuditRequest,
    for_each: impl FnOnce(&mut dyn FnMut(Row) -> bool) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let since = request.since.map(instant);
    let mut rows = shown::Rows::default();
    let mut outcome = Ok(());
    for_each(&mut |row| {
        let entry = row.entry();
        let is_wanted = entry.as_ref().is_some_and(|entry| is_wanted(entry, since, request));
        match entry.filter(|_| is_wanted) {
            Some(_) if request.json => {
                outcome = super::write(&(harmless_json(&row.line()) + "\n"));
            }
            Some(entry) => rows.take(entry),
            None => {}
        }
        outcome.is_ok()
    })?;
    outcome?;
    if request.json { Ok(()) } else { super::print(&rows.text(width())) }
}

fn is_wanted(entry: &Entry, since: Option<Timestamp>, request: &AuditRequest) -> bool {
    let AuditRequest { site, partition, who, .. } = request;
    let site = partition.as_ref().and_then(|it| it.site.as_ref()).or(site.as_ref());
    since.is_none_or(|since| entry.instant.at >= since)
        && site.is_none_or(|site| *site == entry.site)
        && partition.as_ref().is_none_or(|it| it.partition == entry.partition)
        && who.as_ref().is_none_or(|who| entry.who.is(who))
}

fn instant(since: Since) -> Timestamp {
    match since {
        Since::At(at) => at,
        Since::Ago(span) => {
            let nanos = i64::try_from(span.get()).unwrap_or(i64::MAX);
            let ago = Timestamp::now().checked_sub(SignedDuration::from_nanos(nanos));
            ago.unwrap_or(Timestamp::MIN)
        }
    }
}

/// Returns the trails that were set aside beside a file, by name and so by time.
fn set_aside(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |name: &str| name.starts_with("audit-") && name.ends_with(".db");
    let mut files: Vec<PathBuf> = listed
        .filter(|entry| entry.file_name().to_str().is_some_and(is_one))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}
