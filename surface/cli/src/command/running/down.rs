//! `quietcore down`
//!
//! Without a name it means the only site that runs, if that was started from here. Somebody else
//! may rely on a site from elsewhere.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use quietcore_backend::rooms::Cleared;
use quietcore_backend::xen;
use quietcore_settings::resctrl::{self, Swept};
use quietcore_supervisor::places::{Places, StartedBy};
use quietcore_wording::plural;

use super::site;
use crate::arguments::Down;
use crate::command;
use crate::machine;
use crate::status::{Failure, Status};

/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 256;

/// The only site that runs was neither named nor started from here.
#[derive(Debug, thiserror::Error)]
enum NotNamed {
    #[error("site `{site}` {by}; if it is meant, use `quietcore down {site}`")]
    Elsewhere { site: String, by: String },
    #[error("site `{site}` stays up")]
    Refused { site: String },
}

pub(in crate::command) fn run(request: &Down) -> Result<Status, Failure> {
    let client = match site::named(request.site.name()) {
        Ok(client) => client,
        // There may be nothing but what a killed supervisor has left.
        Err(failure) => return if recover()? { Ok(Status::Done) } else { Err(failure) },
    };
    let name = client.site().to_owned();
    if request.site.name().is_none() {
        make_sure(&name)?;
    }
    client.down()?;
    command::print_lines(&format!("{name}: down\n"))?;
    recover()?;
    Ok(Status::Done)
}

/// Checks that an unnamed site may be brought down: it was started from here, or the person at the
/// terminal confirms it.
fn make_sure(name: &str) -> Result<(), Failure> {
    let mut running = Places::of_environment()?.running()?.into_iter();
    let description = running.find(|site| site.name == name).and_then(|site| site.description);
    let by = description.and_then(|description| description.started_by);
    if by.as_ref().is_some_and(|by| by.is_from(&StartedBy::this_process())) {
        return Ok(());
    }
    let by = match by {
        Some(by) => format!("was started by {by}, not from here"),
        None => "does not say who has started it".to_owned(),
    };
    let site = name.to_owned();
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(NotNamed::Elsewhere { site, by }.into());
    }
    crate::terminal::ask(format_args!("Site `{site}` {by}. Bring it down? [y/N]"));
    let mut answer = String::new();
    io::stdin().lock().take(ANSWER_BYTES_MAX).read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(NotNamed::Refused { site }.into()),
    }
}

/// Removes what killed supervisors have left; returns `false` if there was nothing.
fn recover() -> Result<bool, Failure> {
    let containers = clear_containers()?;
    let domains = report(&xen::clear(), "domain of Xen")?;
    let shares = give_back_shares()?;
    Ok(put_back()? || containers || domains || shares)
}

/// Removes containers whose owner is gone; returns `false` if there were none.
fn clear_containers() -> Result<bool, Failure> {
    let Some(folder) = Places::of_environment()?.containers()? else { return Ok(false) };
    report(&quietcore_backend::container::clear(&folder), "container")
}

/// Tells what was removed of a kind, and what was not; returns `false` if there was nothing.
fn report(cleared: &Cleared, kind: &str) -> Result<bool, Failure> {
    cleared.left.iter().for_each(crate::terminal::say);
    for name in &cleared.gone {
        command::print_lines(&format!("{name}: the {kind} is removed\n"))?;
    }
    Ok(*cleared != Cleared::default())
}

/// Gives back ways of the last-level cache and limits of the memory's bandwidth whose owner is
/// gone; returns `false` if there were none.
fn give_back_shares() -> Result<bool, Failure> {
    let Swept { gone, left } = resctrl::recover();
    left.iter().for_each(crate::terminal::say);
    if gone > 0 {
        let plural = plural(gone as u64);
        let text = format!("resctrl: {gone} group{plural} of partitions that are gone removed\n");
        command::print_lines(&text)?;
    }
    Ok(gone > 0 || !left.is_empty())
}

/// Puts back settings of the machine whose owner is gone; returns `false` if there were none.
fn put_back() -> Result<bool, Failure> {
    let Some(controls) = machine::changed()? else { return Ok(false) };
    let recovery = controls.recover()?;
    for left in &recovery.left {
        crate::terminal::say(left);
    }
    let are = if recovery.left.is_empty() { "are" } else { "are, but for these," };
    for name in &recovery.gone {
        command::print_lines(&format!("{name}: the machine's settings {are} as they were\n"))?;
    }
    Ok(!recovery.gone.is_empty() || !recovery.left.is_empty())
}
