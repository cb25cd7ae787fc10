//! `quietcore watch`

mod distant;
pub(super) mod show;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_supervisor::monitor::watch::{Row, Sample, Watch};

use self::distant::DistantWatch;
use self::show::{Changes, Screen};
use super::site::reached::Reached;
use crate::arguments::Watch as Request;
use crate::command::distance::Reach;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::Palette;

/// The longest sleep between two looks at the stop flag.
const DOZE: Duration = Duration::from_millis(50);

/// A form in which samples are shown.
enum Form {
    /// One sample as a table.
    Table,
    /// A table that is drawn over the previous one.
    Screen(Screen),
    /// One line per variable.
    Lines,
    /// One JSON object per line.
    Json,
}

pub(in crate::command) fn run(reach: &Reach, request: &Request) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let (mut watch, label) = begin(reach, request)?;
    let live = io::stdout().is_terminal() && !request.once && !request.changes;
    let mut form = match (request.json, request.once && !request.changes) {
        (true, _) => Form::Json,
        (false, true) => Form::Table,
        (false, false) if live => Form::Screen(Screen::default()),
        (false, false) => Form::Lines,
    };
    let mut changes = request.changes.then(|| Changes::new(request.deadband));
    let period = Duration::from_secs_f64(1.0 / request.rate);
    let end = request.duration.map(|for_| Instant::now() + Duration::from_nanos(for_.get()));
    let mut due = Instant::now();
    loop {
        let sample = watch.sample()?;
        let rows = match &mut changes {
            Some(changes) => changes.of(&sample),
            None => sample.rows.iter().collect(),
        };
        if !rows.is_empty() && !put(&text(&mut form, &label, &sample, &rows))? {
            return Ok(Status::Done);
        }
        due = (due + period).max(Instant::now());
        let ended = end.is_some_and(|end| due >= end);
        if request.once || ended || !sleep_until(due, &stop) {
            return Ok(Status::Done);
        }
    }
}

/// The variables under watch, on this machine or behind a daemon.
enum Watched {
    Here(Box<Watch>),
    There(Box<DistantWatch>),
}

impl Watched {
    fn sample(&mut self) -> Result<Sample, Failure> {
        match self {
            Self::Here(watch) => Ok(watch.sample()?),
            Self::There(watch) => watch.sample(Instant::now()),
        }
    }
}

/// Begins to watch; returns the label of the partition, too.
fn begin(reach: &Reach, request: &Request) -> Result<(Watched, String), Failure> {
    let (site, partition) = Reached::of_partition(reach, &request.of)?;
    match site {
        Reached::Here(client) => {
            let watch = Watch::begin(client, &partition, &request.variables)?;
            let label = format!("{}/{}", watch.opened().site, watch.opened().partition);
            Ok((Watched::Here(Box::new(watch)), label))
        }
        Reached::There { remote, site } => {
            let label = format!("{site}/{partition}");
            let patterns = request.variables.clone();
            Ok((
                Watched::There(Box::new(DistantWatch::new(remote, (site, partition), patterns))),
                label,
            ))
        }
    }
}

fn text(form: &mut Form, label: &str, sample: &Sample, rows: &[&Row]) -> String {
    match form {
        Form::Table => show::table(label, sample, rows),
        Form::Lines => show::lines(sample, rows),
        Form::Json => show::json(label, sample, rows),
        Form::Screen(screen) => {
            let size = ratatui::crossterm::terminal::size().unwrap_or((100, 24));
            screen.draw(label, sample, size, &Palette::of_terminal())
        }
    }
}

/// Prints text. Returns `false` if the reader has gone away.
pub(super) fn put(text: &str) -> Result<bool, Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Sleeps until `due`; returns `false` if told to stop.
pub(super) fn sleep_until(due: Instant, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        match due.checked_duration_since(Instant::now()) {
            None | Some(Duration::ZERO) => return true,
            Some(left) => thread::sleep(left.min(DOZE)),
        }
    }
}
