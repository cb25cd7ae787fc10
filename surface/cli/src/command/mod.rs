//! The commands, one file each.

mod audit;
pub(crate) mod campaign;
mod daemon;
pub(crate) mod distance;
mod doctor;
mod documents;
mod experiment;
mod foreign;
mod neighbours;
mod osek;
mod plan;
mod probe;
mod qualify;
mod report;
mod running;
mod segment;
mod show;
mod writing;

use std::io::{self, Write as _};

use serde::Serialize;

use crate::arguments::Command;
use crate::command::distance::Reach;
use crate::status::{Failure, Status};

/// Dispatches a command to its module; `at` names the machine that it is about.
pub(crate) fn run(at: Option<&str>, command: Command) -> Result<Status, Failure> {
    let reach = Reach::of(at, &command)?;
    match command {
        Command::Doctor(request) => doctor::run(&reach, &request),
        Command::Init(request) => writing::init::run(&request),
        Command::Plan(request) => plan::run(&request),
        Command::Qualify(request) => qualify::run(&request),
        Command::Campaign(request) => campaign::run(&request),
        Command::Tune(request) => experiment::tune::run(&request),
        Command::Disturb(request) => experiment::disturb::run(&request),
        Command::Cost(request) => experiment::cost::run(&request),
        Command::Probe(request) => probe::run(request),
        Command::Running(command) => running::run(&reach, command),
        Command::Audit(request) => audit::run(&reach, &request),
        Command::Show(request) => show::run(&request),
        Command::Verdict(request) => show::verdict::run(&request),
        Command::Verify(request) => show::verify::run(&request),
        Command::Report(request) => report::run(&request),
        Command::Import(request) => foreign::import::run(&request),
        Command::Compare(request) => foreign::compare::run(&request),
        Command::Segment(request) => segment::run(&request),
        Command::Guest(request) => writing::guest::run(&request),
        Command::Osek(request) => osek::run(&request),
        Command::Auth(request) => daemon::auth::run(&request),
        Command::Context(request) => daemon::context::run(&request),
        Command::Export(request) => writing::export::run(&request),
        Command::Schema(request) => documents::schema(&request),
        Command::Completions(request) => documents::completions(&request),
        Command::Man(request) => documents::man(&request),
    }
}

/// Prints text on standard output without control characters. A reader that has gone away, as
/// `head` does, is no failure.
fn print(text: &str) -> Result<(), Failure> {
    write(&crate::terminal::harmless(text))
}

/// Prints sentences on standard output, wrapped at the width of the terminal.
fn print_lines(text: &str) -> Result<(), Failure> {
    print(&crate::terminal::fitting(text))
}

fn write(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a document as JSON without control characters.
fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    write(&crate::terminal::harmless_json(&text))
}
