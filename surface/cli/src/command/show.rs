//! `quietcore show`

use quietcore_evidence::Evidence;
use quietcore_record::document;
use quietcore_report::text;

use crate::arguments::Show;
use crate::status::{Failure, Status};
use crate::{finish, terminal};

pub(super) fn run(request: &Show) -> Result<Status, Failure> {
    let evidence = finish::read(&request.folder)?;
    print_evidence(&evidence, request.json)?;
    Ok(if evidence.damage.is_empty() { Status::Done } else { Status::NotPassed })
}

/// Prints the records and verdicts of some evidence.
pub(super) fn print_evidence(evidence: &Evidence, json: bool) -> Result<(), Failure> {
    if json {
        let exceedance = evidence.manifest.exceedance;
        super::print_json(&document::of(&evidence.records, &evidence.judgements, exceedance))
    } else {
        super::print(&text::render(evidence, terminal::width(), terminal::color()))
    }
}
