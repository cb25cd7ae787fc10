//! One client, from its first line to its last.

use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::Shared;
use crate::control::{
    Applied, CHANGE_COUNT_MAX, Change, ChangeKind, ControlError, DeployPatience, ErrorKind,
    TRACE_VARIABLES_MAX, Trace, TraceStarted,
};
use crate::protocol::{
    Channel, ChannelError, LINE_BYTES_MAX, Patience, Request, Response, read_request, to_line,
};

/// Time between two looks for new events.
const EVENTS_EVERY: Duration = Duration::from_millis(100);
/// How long a client may say nothing while it records.
const RECORDING_MAX: Duration = Duration::from_secs(366 * 24 * 3600);
/// The most events in one line; a client asks again for those after them.
pub(crate) const EVENTS_A_LINE: usize = 256;

/// A client's connection. Dropping it forgets the client and ends its recordings.
pub(super) struct Session {
    shared: Arc<Shared>,
    client: u64,
    channel: Channel,
}

impl Session {
    pub(super) fn new(shared: Arc<Shared>, client: u64, channel: Channel) -> Self {
        Self { shared, client, channel }
    }

    /// Serves requests until the client goes, breaks the limits, or the server stops.
    pub(super) fn serve(mut self) {
        while !self.shared.is_stopping() {
            let answered = match self.channel.receive() {
                Ok(line) => match read_request(&line) {
                    Ok(request) => self.answer(request),
                    Err(error) => self.say(&Response::Error(error)),
                },
                Err(error) => {
                    self.complain(&error);
                    break;
                }
            };
            if answered.is_err() {
                break;
            }
        }
    }

    /// Tells a client why it is closed, where it is still there to hear it.
    fn complain(&mut self, error: &ChannelError) {
        let (place, remedy) = match error {
            ChannelError::Closed | ChannelError::Cut | ChannelError::Io(_) => return,
            ChannelError::TooLong | ChannelError::Slow(_) => ("line", "send one request a line"),
            ChannelError::Silent(_) => ("connection", "connect again"),
        };
        let error = ControlError::new(ErrorKind::BadRequest, place, error.to_string(), remedy);
        let _ = self.say(&Response::Error(error));
    }

    fn say(&mut self, response: &Response) -> Result<(), ChannelError> {
        self.channel.send(&line_of(response))
    }

    fn answer(&mut self, request: Request) -> Result<(), ChannelError> {
        let site = Arc::clone(&self.shared.site);
        let response = match request {
            Request::Hello => Ok(Response::Hello {
                site: self.shared.name.clone(),
                quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
                pid: std::process::id(),
            }),
            Request::Ps => Ok(Response::Partitions { partitions: site.list() }),
            Request::Open { partition } => match site.open(&partition) {
                Ok((opened, file)) => {
                    let line = line_of(&Response::Opened(opened));
                    return self.channel.send_with(&line, file.as_fd());
                }
                Err(error) => Err(error),
            },
            Request::Write { partition, changes } => check_changes(&changes)
                .and_then(|()| site.write(&partition, &changes))
                .map(|applied| self.noted(&partition, Some(&changes), applied)),
            Request::UnforceAll { partition } => {
                let applied = site.unforce_all(&partition);
                applied.map(|applied| self.noted(&partition, None, applied))
            }
            Request::TraceStart { partition, trace } => {
                self.start_trace(&partition, &trace).map(Response::Tracing)
            }
            Request::TraceStop { partition } => {
                self.stop_trace(&partition).map(|()| Response::Done)
            }
            Request::Deploy { partition, folder, patience } => {
                self.deploy(&partition, &folder, patience)
            }
            Request::Restart { partition, how } => {
                site.restart(&partition, how).map(|()| Response::Done)
            }
            Request::Pause { partition } => site.pause(&partition, true).map(|()| Response::Done),
            Request::Resume { partition } => site.pause(&partition, false).map(|()| Response::Done),
            Request::Down => {
                // Said first: the site may be quicker than the socket.
                self.say(&Response::Done)?;
                site.down();
                return Ok(());
            }
            Request::Events { since, follow } => return self.events(since, follow),
            Request::Changes { since } => {
                let (changes, next) = self.shared.history().since(since);
                Ok(Response::Changes { changes, next })
            }
        };
        self.say(&response.unwrap_or_else(Response::Error))
    }

    /// Notes what was changed, for those who record.
    fn noted(&self, partition: &str, changes: Option<&[Change]>, applied: Applied) -> Response {
        self.shared.history().note(partition, applied.cycle, changes);
        Response::Applied(applied)
    }

    fn start_trace(
        &mut self,
        partition: &str,
        trace: &Trace,
    ) -> Result<TraceStarted, ControlError> {
        check_trace(trace)?;
        {
            let mut clients = self.shared.clients();
            if clients.traces.contains_key(partition) {
                let what = "another client records it";
                let remedy = "wait until its recording has ended";
                return Err(ControlError::new(ErrorKind::Busy, partition, what, remedy));
            }
            clients.traces.insert(partition.to_owned(), self.client);
        }
        let started = self.shared.site.trace_start(partition, trace);
        if started.is_err() {
            self.shared.clients().traces.remove(partition);
        }
        self.adapt_patience();
        started
    }

    /// A client that records has every reason to be silent.
    fn adapt_patience(&mut self) {
        let records = self.shared.clients().traces.values().any(|client| *client == self.client);
        let limits = self.shared.limits;
        let begin = if records { RECORDING_MAX } else { limits.idle };
        self.channel.set_patience(Patience { begin, finish: limits.line });
    }

    fn stop_trace(&mut self, partition: &str) -> Result<(), ControlError> {
        match self.shared.clients().traces.get(partition) {
            Some(client) if *client != self.client => {
                let what = "another client records it";
                let remedy = "its recording ends with it";
                return Err(ControlError::new(ErrorKind::Busy, partition, what, remedy));
            }
            _ => {}
        }
        self.shared.site.trace_stop(partition)?;
        self.shared.clients().traces.remove(partition);
        self.adapt_patience();
        Ok(())
    }

    fn deploy(
        &mut self,
        partition: &str,
        folder: &Path,
        patience: DeployPatience,
    ) -> Result<Response, ControlError> {
        if folder.is_relative() {
            let place = format!("`{}`", folder.display());
            let (what, remedy) = ("the folder is relative", "give an absolute path");
            return Err(ControlError::new(ErrorKind::BadRequest, place, what, remedy));
        }
        let site = Arc::clone(&self.shared.site);
        // A client that goes meanwhile does not stop it.
        let mut progress = |line: &str| {
            let _ = self.say(&Response::Progress { line: line.to_owned() });
        };
        site.deploy(partition, folder, patience, &mut progress).map(Response::Deployed)
    }

    fn events(&mut self, mut since: u64, follow: bool) -> Result<(), ChannelError> {
        loop {
            let mut events = self.shared.site.events(since);
            events.truncate(EVENTS_A_LINE);
            if let Some(last) = events.last() {
                since = last.sequence.saturating_add(1);
            } else if follow {
                // The client has gone, or asks for something else.
                if self.channel.is_disturbed() || self.shared.is_stopping() {
                    return Ok(());
                }
                thread::sleep(EVENTS_EVERY);
                continue;
            }
            self.say(&Response::Events { events })?;
            if !follow {
                return Ok(());
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let own: Vec<String> = {
            let mut clients = self.shared.clients();
            clients.connections.remove(&self.client);
            let traces = clients.traces.iter().filter(|(_, client)| **client == self.client);
            traces.map(|(partition, _)| partition.clone()).collect()
        };
        for partition in own {
            // It may have come down meanwhile.
            let _ = self.shared.site.trace_stop(&partition);
            self.shared.clients().traces.remove(&partition);
        }
    }
}

/// A response as a line; one that is too long for it is a refusal instead.
fn line_of(response: &Response) -> Vec<u8> {
    let line = to_line(response);
    if line.len() <= LINE_BYTES_MAX {
        return line;
    }
    let what =
        format!("the answer has {} bytes, and a line has at most {LINE_BYTES_MAX}", line.len());
    to_line(&Response::Error(ControlError::new(ErrorKind::Failed, "", what, "")))
}

fn check_changes(changes: &[Change]) -> Result<(), ControlError> {
    let bad = |place: String, what: String, remedy: &str| {
        Err(ControlError::new(ErrorKind::BadRequest, place, what, remedy))
    };
    if changes.is_empty() || changes.len() > CHANGE_COUNT_MAX {
        let what = format!("{} changes; 1 to {CHANGE_COUNT_MAX} fit into a cycle", changes.len());
        return bad("changes".to_owned(), what, "make several groups of them");
    }
    for change in changes {
        let needs_value = change.kind != ChangeKind::Unforce;
        if needs_value != change.value.is_some() {
            let what = if needs_value { "no value is given" } else { "a value is given" };
            let remedy = "`set` and `force` take one, `unforce` takes none";
            return bad(format!("`{}`", change.variable), what.to_owned(), remedy);
        }
    }
    Ok(())
}

fn check_trace(trace: &Trace) -> Result<(), ControlError> {
    let count = trace.variables.len();
    let what = if count == 0 || count > TRACE_VARIABLES_MAX {
        format!("{count} variables; 1 to {TRACE_VARIABLES_MAX} can be recorded at once")
    } else if trace.every == 0 {
        "every 0th cycle; 1 is every one".to_owned()
    } else {
        return Ok(());
    };
    Err(ControlError::new(ErrorKind::BadRequest, "trace", what, ""))
}
