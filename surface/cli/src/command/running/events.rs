//! `quietcore events`

mod past;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_record::verdict::thousands;
use quietcore_supervisor::client::{Address, Client};
use quietcore_supervisor::control::{EventLine, Severity};
use quietcore_supervisor::places::Places;
use serde::Serialize;

use super::site;
use super::site::reached::Reached;
use super::watch::put;
use crate::arguments::Events;
use crate::command::distance::Reach;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::{harmless_json, visible};

/// Time between two looks for new events.
const LOOK: Duration = Duration::from_millis(100);
/// The longest time that a site may take to come down.
const DOWN: Duration = Duration::from_secs(60);
/// Number of past events that are shown before those that are followed.
const BEFORE_FOLLOWING: usize = 10;

/// A line of `events --json`.
#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    site: &'a str,
    #[serde(flatten)]
    event: &'a EventLine,
}

pub(in crate::command) fn run(reach: &Reach, request: &Events) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let (mut client, partition) = match (connect(reach, request), reach) {
        (Ok(connected), _) => connected,
        (Err(failure), Reach::Here) => return past::tell(request)?.ok_or(failure),
        (Err(failure), Reach::There(_)) => return Err(failure),
    };
    let is_meant = |event: &EventLine| partition.as_ref().is_none_or(|it| *it == event.partition);
    let mut next = 0;
    let mut past = news(&mut client, &mut next)?;
    let forgotten = next.saturating_sub(past.len() as u64);
    past.retain(is_meant);
    let last = request.last.or(request.follow.then_some(BEFORE_FOLLOWING));
    let skipped = last.map_or(0, |last| past.len().saturating_sub(last));
    if last.is_none() && forgotten > 0 {
        let count = thousands(forgotten);
        let what = if forgotten == 1 { "event is" } else { "events are" };
        crate::terminal::say(format_args!("remark: {count} older {what} forgotten"));
    }
    let mut heard = put(&text(request, client.site(), &past[skipped..]))?;
    while request.follow && heard && !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
        let mut events = match news(&mut client, &mut next) {
            Ok(events) => events,
            Err(failure) => return wait_until_down(&client, failure, &stop),
        };
        events.retain(is_meant);
        heard = put(&text(request, client.site(), &events))?;
    }
    Ok(Status::Done)
}

/// Connects to the site and checks that it has the partition. A name that is a running site's means
/// the whole site, unless one of its partitions has that name, too.
fn connect(reach: &Reach, request: &Events) -> Result<(Reached, Option<String>), Failure> {
    let named = request.site.as_deref();
    let (mut site, partition) = match reach.remote()? {
        None => connect_here(request)?,
        Some(remote) => {
            let Some(Address { site, partition }) = &request.partition else {
                return Ok((Reached::there(remote, named)?, None));
            };
            let sites = remote.sites()?;
            let is_site = site.is_none() && named.is_none();
            let is_site = is_site && sites.iter().any(|site| site.name == *partition);
            if is_site && !sites.iter().any(|site| site.partitions.contains(partition)) {
                return Ok((Reached::there(remote, Some(partition))?, None));
            }
            let site = Reached::there(remote, site.as_deref().or(named))?;
            (site, Some(partition.clone()))
        }
    };
    if let Some(partition) = &partition {
        site.check_partition(partition)?;
    }
    Ok((site, partition))
}

fn connect_here(request: &Events) -> Result<(Reached, Option<String>), Failure> {
    let Some(address) = &request.partition else {
        return Ok((Reached::Here(site::named(request.site.as_deref())?), None));
    };
    let places = Places::of_environment()?;
    if address.site.is_none() && request.site.is_none() {
        let (name, running) = (&address.partition, places.running()?);
        let mut described = running.iter().filter_map(|site| site.description.as_ref());
        let is_site = running.iter().any(|site| site.name == *name);
        if is_site && !described.any(|site| site.partitions.contains(name)) {
            return Ok((Reached::Here(site::named(Some(name))?), None));
        }
    }
    let client = Client::connect_to(&places, address, request.site.as_deref())?;
    Ok((Reached::Here(client), Some(address.partition.clone())))
}

/// Returns all events from number `next` on, and moves `next` behind them.
fn news(client: &mut Reached, next: &mut u64) -> Result<Vec<EventLine>, Failure> {
    let mut all = Vec::new();
    loop {
        let events = client.events(*next)?;
        let Some(newest) = events.last() else { return Ok(all) };
        *next = newest.sequence.saturating_add(1);
        all.extend(events);
    }
}

/// Waits until the site is down, which ends `--follow` in order. Returns `failure` if the site is
/// still up after [`DOWN`]. A site that comes down closes its connections first, and its partitions
/// take their time.
fn wait_until_down(
    client: &Reached,
    failure: Failure,
    stop: &AtomicBool,
) -> Result<Status, Failure> {
    let end = Instant::now() + DOWN;
    while client.is_up()? {
        if Instant::now() >= end {
            return Err(failure);
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(Status::Done);
        }
        thread::sleep(LOOK);
    }
    crate::terminal::say(format_args!("{}: down", client.site()));
    Ok(Status::Done)
}

fn text(request: &Events, site: &str, events: &[EventLine]) -> String {
    let json = |event| {
        let line = Line { schema: "quietcore.event/1", site, event };
        let text = serde_json::to_string(&line).expect("texts and numbers can be written as JSON");
        harmless_json(&text)
    };
    let one =
        |event| if request.json { json(event) } else { crate::terminal::fitting(&line(event)) };
    events.iter().map(|event| one(event) + "\n").collect()
}

fn line(event: &EventLine) -> String {
    let at = instant(&event.at);
    let sign = sign(event.severity);
    let cycle =
        event.cycle.map_or_else(String::new, |cycle| format!(" (cycle {})", thousands(cycle)));
    let by = event.by.as_ref().map_or_else(String::new, |by| format!("; asked for by {by}"));
    visible(&format!("{at} {sign} {} {}: {}{cycle}{by}", event.partition, event.kind, event.text))
}

/// Returns a UTC time to the millisecond; text that is no time is returned as it is.
fn instant(at: &str) -> String {
    let read = at.parse::<jiff::Timestamp>();
    read.map_or_else(|_| at.to_owned(), |at| at.strftime("%Y-%m-%d %H:%M:%S%.3fZ").to_string())
}

/// Returns a UTC time to the second, in one word; text that is no time is returned as it is.
pub(super) fn moment(at: &str) -> String {
    let read = at.parse::<jiff::Timestamp>();
    read.map_or_else(|_| visible(at), |at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Returns the sign that marks warnings and faults.
pub(super) const fn sign(severity: Severity) -> &'static str {
    match severity {
        Severity::Information => " ",
        Severity::Warning => "!",
        Severity::Fault => "✗",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_supervisor::fake;

    #[test]
    fn an_event_is_a_line_whatever_stands_in_it() {
        assert_eq!(
            line(&fake::event(3)),
            "2026-11-21 20:15:03.250Z ! axis overrun: overrun 3: 1.2 ms of 1 ms (cycle 12)"
        );
        let odd = EventLine {
            at: "soon".into(),
            text: "a\nb\x1b".into(),
            cycle: None,
            severity: Severity::Fault,
            ..fake::event(3)
        };
        assert_eq!(line(&odd), "soon ✗ axis overrun: a | b\u{fffd}");
        let asked = EventLine {
            kind: "set".into(),
            severity: Severity::Information,
            text: "`P.Kp` is set to 3.5".into(),
            by: Some("anna in terminal pts/3 (quietcore set)".into()),
            ..fake::event(0)
        };
        assert_eq!(
            line(&asked),
            "2026-11-21 20:15:03.250Z   axis set: `P.Kp` is set to 3.5 (cycle 12); asked for by \
             anna in terminal pts/3 (quietcore set)"
        );
    }
}
