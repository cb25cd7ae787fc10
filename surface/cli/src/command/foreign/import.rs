//! `quietcore import`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quietcore_evidence::{MANIFEST_SCHEMA, Manifest, Origin, Writer};
use quietcore_record::class::catalogue;
use quietcore_record::import::{self, ImportOptions, Kind};
use quietcore_record::reason::Reason;
use quietcore_record::record::Record;
use quietcore_units::Nanos;

use crate::arguments::Import;
use crate::status::{Failure, Status};
use crate::{files, finish, machine};

/// The largest file that is read, in bytes.
const FILE_BYTES_MAX: usize = 64 << 20;

pub(in crate::command) fn run(request: &Import) -> Result<Status, Failure> {
    if !(request.exceedance > 0.0 && request.exceedance < 1.0) {
        return Err(Failure::new(format_args!(
            "quietcore: --exceedance {}: a probability lies between 0 and 1, such as 1e-6",
            request.exceedance
        )));
    }
    if request.interval == Some(Nanos::ZERO) {
        return Err(Failure::new(
            "quietcore: --interval 0 is no time between two releases; give the one that was \
             measured with, such as 1ms, or leave it out",
        ));
    }
    files::refuse_dash("--out", &request.out)?;
    let records = read_all(request)?;
    let writer = Writer::create(&request.out)?;
    writer.manifest(&manifest(request, &records))?;
    for record in &records {
        writer.record(record)?;
    }
    let evidence = finish::finish(&writer)?;
    super::show::print_evidence(&evidence, false)?;
    crate::terminal::say(format_args!("report: {}", request.out.join(finish::REPORT).display()));
    // Printed last: without a period, nothing passes.
    if let Some(remark) = without_period(&records) {
        crate::terminal::say(remark);
    }
    Ok(Status::Done)
}

/// Returns a remark on how to give records a period; `None` if each has one.
fn without_period(records: &[Record]) -> Option<String> {
    let open = |record: &&Record| record.period_ns.is_none() && record.degraded.is_empty();
    let count = records.iter().filter(open).count();
    (count > 0).then(|| {
        format!(
            "remark: {count} of {} records do not say how often they measured, so no class can \
             pass. Import again with `--interval D`, the time between two releases (`-i` of \
             cyclictest and jitterdebugger, `-p` of rtla), such as `--interval 1ms`",
            records.len()
        )
    })
}

/// Reads all files before anything is written; their problems become one failure.
fn read_all(request: &Import) -> Result<Vec<Record>, Failure> {
    let options = ImportOptions { interval: request.interval, nanoseconds: request.nanoseconds };
    let mut records = Vec::new();
    let mut problems = Vec::new();
    for path in &request.files {
        match read_one(request.kind, path, &options) {
            Ok(threads) if request.merge => records.extend(merged(threads)),
            Ok(threads) => records.extend(threads),
            Err(failure) => problems.push(failure.to_string()),
        }
    }
    let mut names = BTreeSet::new();
    for record in &records {
        if !names.insert(&record.name) {
            problems.push(format!(
                "quietcore: two files yield the record `{}`; give them different names",
                record.name
            ));
        }
    }
    if problems.is_empty() { Ok(records) } else { Err(Failure::new(problems.join("\n"))) }
}

/// Merges the records of all threads of a file. Figures that follow the order of one thread's
/// values, such as the difference of successive values, have no meaning for the merged record.
fn merged(threads: Vec<Record>) -> Option<Record> {
    let mut threads = threads.into_iter();
    let mut all = threads.next()?;
    all.name.clone_from(&all.partition);
    all.cpu = None;
    for thread in threads {
        all.release.merge(&thread.release);
        all.counters.planned_cycles += thread.counters.planned_cycles;
        all.counters.difference_sum_ns = None;
        let more = thread.invalid_because.into_iter();
        let new = more.filter(|reason| !all.invalid_because.contains(reason));
        let new: Vec<Reason> = new.collect();
        all.invalid_because.extend(new);
    }
    Some(all)
}

fn read_one(kind: Kind, path: &Path, options: &ImportOptions) -> Result<Vec<Record>, Failure> {
    let bytes = files::read(path, FILE_BYTES_MAX)?;
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let path = path.display();
        return Err(Failure::new(format_args!(
            "{path}: the text is UTF-16, as PowerShell's `>` writes it; import what \
             `iconv -f UTF-16 -t UTF-8 {path}` prints"
        )));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        Failure::new(format_args!(
            "{}: byte {} is not UTF-8; give a text file that {kind} has written",
            path.display(),
            error.utf8_error().valid_up_to()
        ))
    })?;
    import::read(kind, &path.display().to_string(), &text, options).map_err(Failure::new)
}

fn manifest(request: &Import, records: &[Record]) -> Manifest {
    let name = request
        .out
        .file_name()
        .map_or_else(|| "import".to_owned(), |name| name.to_string_lossy().into_owned());
    let mut profiles: Vec<(String, String)> = Vec::new();
    for record in records {
        if !profiles.iter().any(|(profile, _)| *profile == record.profile) {
            profiles.push((record.profile.clone(), String::new()));
        }
    }
    Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        name,
        origin: Origin::Import,
        started_at: machine::time_of_day(),
        quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
        site_sha256: String::new(),
        exceedance: request.exceedance,
        classes: catalogue(),
        declared: BTreeMap::new(),
        profiles,
        length: None,
        limits: Vec::new(),
        site_folder: None,
        not_measured: Vec::new(),
        probes: Vec::new(),
        complete: true,
        renewal: None,
    }
}
