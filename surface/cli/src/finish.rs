//! The end of every run: the folder is read back, judged, reported and sealed.
//!
//! What is shown to a person is what was read back from the disk, not what was in memory.

use std::path::Path;

use quietcore_evidence::{Evidence, Writer};
use quietcore_record::document;
use quietcore_report::{html, junit};

use crate::status::Failure;

/// The name of the page in the folder.
pub(crate) const REPORT: &str = "report.html";

/// Seals the folder, reads it back, and adds summary, page and JUnit file.
pub(crate) fn finish(writer: &Writer) -> Result<Evidence, Failure> {
    writer.seal()?;
    let evidence = quietcore_evidence::read(writer.root())?;
    let document =
        document::of(&evidence.records, &evidence.judgements, evidence.manifest.exceedance);
    writer.evidence(&document)?;
    writer.file(REPORT, page(&evidence).as_bytes())?;
    writer.file("junit.xml", junit::render(&evidence).as_bytes())?;
    writer.seal()?;
    Ok(evidence)
}

/// The page of some evidence, with the published tables that fit beside it.
pub(crate) fn page(evidence: &Evidence) -> String {
    html::render(evidence, &[])
}

/// Reads a folder that a run has written.
pub(crate) fn read(folder: &Path) -> Result<Evidence, Failure> {
    Ok(quietcore_evidence::read(folder)?)
}
