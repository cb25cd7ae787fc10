//! `quietcore show`

pub(super) mod ageing;
pub(super) mod verdict;
pub(super) mod verify;

use quietcore_evidence::{Evidence, unfinished_pages};
use quietcore_report::text;

use crate::arguments::Show;
use crate::status::{Failure, Status};
use crate::{finish, terminal};

pub(super) fn run(request: &Show) -> Result<Status, Failure> {
    let evidence = finish::read(&request.folder)?;
    let stale = finish::stale(&request.folder, &evidence, finish::own_key().as_ref());
    print_evidence(&evidence, request.json)?;
    print_ageing(&evidence, request.json)?;
    for problem in &stale {
        terminal::say(format_args!("changed: {}", terminal::visible(problem)));
    }
    for problem in unfinished_pages(&request.folder) {
        terminal::say(format_args!("remark: {problem}"));
    }
    terminal::say(verify::line(&evidence.signature));
    let is_whole = evidence.is_sound() && stale.is_empty();
    Ok(if is_whole { Status::Done } else { Status::NotPassed })
}

/// Prints the records and verdicts of some evidence.
pub(super) fn print_evidence(evidence: &Evidence, json: bool) -> Result<(), Failure> {
    if json {
        super::print_json(&evidence.document())
    } else {
        super::print(&text::render(evidence, terminal::width(), terminal::color()))
    }
}

/// Prints what has changed on this machine since some evidence of it was measured; nothing for
/// evidence of others. Beside JSON, which is the evidence alone, it is a remark.
pub(super) fn print_ageing(evidence: &Evidence, json: bool) -> Result<(), Failure> {
    for line in ageing::Here::new().lines(evidence) {
        if json {
            terminal::say(line);
        } else {
            super::print_lines(&(line + "\n"))?;
        }
    }
    Ok(())
}
