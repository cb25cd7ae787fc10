//! The events of a site that is down, from the file that it has left.

use std::path::Path;

use quietcore_supervisor::places::past::PastSite;
use quietcore_supervisor::places::{Places, RunningSite};

use super::{EventLine, text};
use crate::arguments::Events;
use crate::command::running::watch::put;
use crate::status::{Failure, Status};
use crate::terminal::say;

/// Prints the events of a site that is down; returns `None` if the request means no such site.
pub(super) fn tell(request: &Events) -> Result<Option<Status>, Failure> {
    let places = Places::of_environment()?;
    let meant = meant(request, &places.running()?, places.past());
    let Some((site, partition)) = meant.filter(|_| !request.follow) else { return Ok(None) };
    let mut events = site.events()?;
    let is_meant = |event: &EventLine| partition.is_none_or(|it| *it == event.partition);
    events.retain(is_meant);
    if events.is_empty() {
        return Ok(None);
    }
    let skipped = request.last.map_or(0, |last| events.len().saturating_sub(last));
    let file =
        site.site_file.as_deref().map_or_else(String::new, |it| format!(" ({})", it.display()));
    say(format_args!("remark: site `{}`{file} is down; what is kept of its events", site.name));
    put(&text(request, &site.name, &events[skipped..]))?;
    Ok(Some(Status::Done))
}

/// Returns the site that is down and meant, and its partition that is meant. Without a name it is
/// the last one, if no site runs.
fn meant<'a>(
    request: &'a Events,
    running: &[RunningSite],
    past: Vec<PastSite>,
) -> Option<(PastSite, Option<&'a str>)> {
    let runs = |name: &str| running.iter().any(|site| site.name == name);
    let down = past.into_iter().filter(|site| !runs(&site.name));
    let address = request.partition.as_ref();
    let asked = address.and_then(|it| it.site.as_deref()).or(request.site.as_deref());
    let partition = address.map(|it| it.partition.as_str());
    let down: Vec<PastSite> = down.collect();
    let found = |name: &str| {
        let file = Path::new(name).canonicalize().ok();
        let is_it =
            |site: &&PastSite| site.name == name || file.is_some() && site.site_file == file;
        down.iter().find(is_it).cloned()
    };
    match (asked, partition) {
        (Some(asked), _) => Some((found(asked)?, partition)),
        (None, Some(name)) if found(name).is_some() => Some((found(name)?, None)),
        (None, _) if running.is_empty() => Some((down.first()?.clone(), partition)),
        (None, _) => None,
    }
}
