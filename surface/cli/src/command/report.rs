//! `quietcore report`

use std::path::Path;

use quietcore_evidence::{Evidence, FolderLock, Signature, Writer, write_whole};
use quietcore_record::export;
use quietcore_report::{derived, junit};
use quietcore_units::Nanos;

use crate::arguments::Report;
use crate::files;
use crate::finish::{self, REPORT};
use crate::runs;
use crate::status::{Failure, Status};

/// Range of the histogram in cyclictest's format; longer latencies are counted as its overflow.
const CYCLICTEST_END: Nanos = Nanos::from_millis(10);

pub(super) fn run(request: &Report) -> Result<Status, Failure> {
    let chosen = [
        ("--html", &request.html),
        ("--junit", &request.junit),
        ("--csv", &request.csv),
        ("--sections", &request.sections),
        ("--cyclictest", &request.cyclictest),
    ];
    let chosen = chosen.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
    let chosen: Vec<_> = chosen.collect();
    for &(option, path) in &chosen {
        files::refuse_dash(option, path)?;
    }
    if !request.folder.join("manifest.json").exists() {
        let folders = runs::folders(&request.folder);
        if !folders.is_empty() {
            return index(request, &folders);
        }
    }
    let evidence = finish::read(&request.folder)?;
    for damage in &evidence.damage {
        crate::terminal::say(format_args!("damaged: {damage}"));
    }
    for contradiction in &evidence.contradictions {
        crate::terminal::say(format_args!("contradicted: {contradiction}"));
    }
    for missing in &evidence.unaccounted {
        crate::terminal::say(format_args!("missing: {}", missing.because));
    }
    if chosen.is_empty() {
        make_anew(&request.folder, &evidence)?;
        super::print(&format!("{}\n", request.folder.join(REPORT).display()))?;
    }
    if let Some(path) = &request.html {
        write_whole(path, derived::page(&evidence).as_bytes())?;
    }
    if let Some(path) = &request.junit {
        write_whole(path, junit::render(&evidence).as_bytes())?;
    }
    if let Some(folder) = &request.csv {
        write_csv(folder, &evidence)?;
    }
    if let Some(folder) = &request.sections {
        write_sections(folder, &evidence)?;
    }
    if let Some(path) = &request.cyclictest {
        write_whole(path, cyclictest(path, &evidence).as_bytes())?;
    }
    Ok(if evidence.is_sound() { Status::Done } else { Status::NotPassed })
}

/// Makes summary, page and JUnit file again from the records, in the folder.
fn make_anew(folder: &Path, evidence: &Evidence) -> Result<(), Failure> {
    if let Signature::Signed { key, .. } = &evidence.signature
        && finish::own_key().as_ref() != Some(key)
    {
        // The signer also answers for the page, which is as it was signed.
        crate::terminal::say(
            "remark: the folder is signed by another machine, and its page stays as it was signed; \
             --html FILE writes one elsewhere",
        );
        return Ok(());
    }
    let lock = FolderLock::take(folder)?;
    if evidence.damage.is_empty() {
        finish::derive(&Writer::of(lock)?)?;
    } else {
        // Damaged evidence keeps its sums, which show the damage.
        write_whole(&folder.join(REPORT), derived::page(evidence).as_bytes())?;
    }
    Ok(())
}

/// Writes the page over a folder of runs.
fn index(request: &Report, folders: &[String]) -> Result<Status, Failure> {
    let other = [&request.junit, &request.csv, &request.sections, &request.cyclictest];
    if other.iter().any(|option| option.is_some()) {
        return Err(Failure::new(format_args!(
            "quietcore: `{}` holds {} runs; --junit, --csv, --sections and --cyclictest are for \
             one of them",
            request.folder.display(),
            folders.len()
        )));
    }
    let place = request.html.clone().unwrap_or_else(|| request.folder.join(runs::INDEX));
    if request.html.is_none() && runs::standing(&place) == runs::Standing::Others {
        return Err(Failure::new(format_args!(
            "quietcore: `{}` is not a page of runs, and is left alone; name another file with \
             --html",
            place.display()
        )));
    }
    write_whole(&place, runs::page(&request.folder, folders).as_bytes())?;
    super::print(&format!("{}\n", place.display()))?;
    Ok(Status::Done)
}

fn write_csv(folder: &Path, evidence: &Evidence) -> Result<(), Failure> {
    files::make_folder(folder)?;
    for (name, text) in [
        ("records.csv", export::records_csv(&evidence.records)),
        ("histograms.csv", export::histogram_csv(&evidence.records)),
        ("verdicts.csv", export::verdicts_csv(&evidence.judgements)),
    ] {
        write_whole(&folder.join(name), text.as_bytes())?;
    }
    if let Some(text) = export::scan_histogram_csv(&evidence.records) {
        write_whole(&folder.join("program-histograms.csv"), text.as_bytes())?;
    }
    if let Some(text) = export::memory_csv(&evidence.records) {
        write_whole(&folder.join("memory.csv"), text.as_bytes())?;
    }
    if let Some(text) = export::isolation_csv(&evidence.records) {
        write_whole(&folder.join("isolation.csv"), text.as_bytes())?;
    }
    Ok(())
}

fn write_sections(folder: &Path, evidence: &Evidence) -> Result<(), Failure> {
    files::make_folder(folder)?;
    let document = derived::sections(evidence);
    let text = serde_json::to_string_pretty(&document)? + "\n";
    write_whole(&folder.join("sections.json"), text.as_bytes())?;
    for (name, table) in document.tables() {
        write_whole(&folder.join(name), table.as_bytes())?;
    }
    Ok(())
}

fn cyclictest(path: &Path, evidence: &Evidence) -> String {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let write = if is_json { export::cyclictest_json } else { export::cyclictest_text };
    write(&finish::as_slept(&evidence.records), CYCLICTEST_END)
}
