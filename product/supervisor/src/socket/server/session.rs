//! Serves one client, from its first line to its last.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::Shared;
use crate::channel::{Channel, ChannelError, Patience};
use crate::control::line::{LINE_BYTES_MAX, answer_line, read_request};
use crate::control::{
    Answer, Ask, Asked, Asker, ControlError, Done, ErrorKind, Events, Hello, Introduction, Refusal,
    Request, SiteVerb, Verb,
};
use crate::site::Answered;

/// Time between two looks for new events.
const EVENTS_EVERY: Duration = Duration::from_millis(100);
/// Longest silence of a client that records.
const RECORDING_MAX: Duration = Duration::from_secs(366 * 24 * 3600);
/// Limit of the events in one line; a client asks again for those after them.
pub(crate) const EVENTS_A_LINE: usize = 256;

/// A client's connection. Dropping it forgets the client and ends its recordings.
pub(super) struct Session {
    shared: Arc<Shared>,
    client: u64,
    /// The other end, as the kernel knows it.
    peer: Asker,
    channel: Channel,
}

impl Session {
    pub(super) fn new(shared: Arc<Shared>, client: u64, peer: Asker, channel: Channel) -> Self {
        Self { shared, client, peer, channel }
    }

    /// Serves requests until the client goes, breaks the limits, or the server stops.
    pub(super) fn serve(mut self) {
        while !self.shared.is_stopping() {
            let answered = match self.channel.receive() {
                Ok(line) => match read_request(&line) {
                    Ok(request) => self.answer(request),
                    Err(error) => self.say(&Answer::Error(error)),
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

    /// Tells a client that is still there why it is closed.
    fn complain(&mut self, error: &ChannelError) {
        let (place, remedy) = match error {
            ChannelError::Closed | ChannelError::Cut | ChannelError::Io(_) => return,
            ChannelError::TooLong | ChannelError::Slow(_) => ("line", "send one request a line"),
            ChannelError::Silent(_) => ("connection", "connect again"),
        };
        let error = ControlError::new(ErrorKind::BadRequest, place, error.to_string(), remedy);
        let _ = self.say(&Answer::Error(error));
    }

    fn say(&mut self, answer: &Answer) -> Result<(), ChannelError> {
        self.channel.send(&line_of(answer))
    }

    /// Returns the client that asks: as the kernel knows it, with what it says of itself.
    fn asker(&self, says: Introduction) -> Asker {
        Asker { says, ..self.peer.clone() }
    }

    fn answer(&mut self, request: Request) -> Result<(), ChannelError> {
        let by = self.asker(request.by);
        let answered = match request.ask {
            Ask::Site(verb) => return self.answer_of_site(&verb, &by),
            Ask::Partition { partition, verb } => self.pass_on(Asked { by, partition, verb }),
        };
        self.say_answered(answered)
    }

    /// Sends an answer with its file, or the refusal.
    fn say_answered(
        &mut self,
        answered: Result<Answered, ControlError>,
    ) -> Result<(), ChannelError> {
        match answered {
            Ok(Answered { answer, file: Some(file) }) => {
                self.channel.send_with(&line_of(&answer), file.as_fd())
            }
            Ok(Answered { answer, file: None }) => self.say(&answer),
            Err(refused) => self.say(&Answer::Error(refused)),
        }
    }

    fn answer_of_site(&mut self, verb: &SiteVerb, by: &Asker) -> Result<(), ChannelError> {
        let answer = match verb {
            SiteVerb::Channel { channel, usage } => {
                let answered = self.shared.site.channel(channel, *usage, by);
                return self.say_answered(answered);
            }
            SiteVerb::Hello => Answer::from(Hello {
                site: self.shared.name.clone(),
                quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
                pid: std::process::id(),
            }),
            SiteVerb::Ps => self.shared.site.partitions().into(),
            SiteVerb::Down => {
                // The answer comes first: the site may end before the socket has taken it.
                self.say(&Done {}.into())?;
                self.shared.site.down(by);
                return Ok(());
            }
            SiteVerb::Events { since, follow } => return self.events(*since, *follow),
            SiteVerb::Changes { since } => self.shared.history().since(*since).into(),
        };
        self.say(&answer)
    }

    /// Passes a request on to a partition. Notes changes, for clients that record, and which client
    /// records.
    fn pass_on(&mut self, asked: Asked) -> Result<Answered, ControlError> {
        asked.verb.check()?;
        let (by, partition) = (asked.by.clone(), asked.partition.clone());
        let recording = match asked.verb {
            Verb::TraceStart { .. } => Some(true),
            Verb::TraceStop => Some(false),
            _ => None,
        };
        match recording {
            Some(true) => self.claim_recording(&partition)?,
            Some(false) => self.refuse_others_recording(&partition)?,
            None => {}
        }
        let site = Arc::clone(&self.shared.site);
        // A client that goes meanwhile does not stop the request.
        let mut progress = |line: &str| {
            let _ = self.say(&Answer::Progress { line: line.to_owned() });
        };
        let answered = site.ask(asked, &mut progress);
        if let Some(begins) = recording {
            // A recording that did not begin, or has ended, is nobody's.
            if begins != answered.is_ok() {
                self.shared.clients().traces.remove(&partition);
            }
            self.adapt_patience();
        }
        if let Ok(Answered { answer: Answer::Applied(applied), .. }) = &answered {
            self.shared.history().note(&partition, &by, applied);
        }
        answered
    }

    fn claim_recording(&self, partition: &str) -> Result<(), ControlError> {
        let mut clients = self.shared.clients();
        if clients.traces.contains_key(partition) {
            return Err(Refusal::RecordedByOther.at(partition));
        }
        clients.traces.insert(partition.to_owned(), self.client);
        Ok(())
    }

    fn refuse_others_recording(&self, partition: &str) -> Result<(), ControlError> {
        match self.shared.clients().traces.get(partition) {
            Some(client) if *client != self.client => Err(Refusal::OthersRecording.at(partition)),
            _ => Ok(()),
        }
    }

    /// Sets the longest silence of the client: one that records has every reason to be silent.
    fn adapt_patience(&mut self) {
        let records = self.shared.clients().traces.values().any(|client| *client == self.client);
        let limits = self.shared.limits;
        let begin = if records { RECORDING_MAX } else { limits.idle };
        self.channel.set_patience(Patience { begin, finish: limits.line });
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
            self.say(&Events { events }.into())?;
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
            let by = self.asker(Introduction::default());
            let asked = Asked { by, partition: partition.clone(), verb: Verb::TraceStop };
            // The partition may have come down meanwhile.
            let _ = self.shared.site.ask(asked, &mut |_| {});
            self.shared.clients().traces.remove(&partition);
        }
    }
}

/// Returns an answer as a line; one that is too long becomes a refusal.
fn line_of(answer: &Answer) -> Vec<u8> {
    let line = answer_line(answer);
    if line.len() <= LINE_BYTES_MAX {
        return line;
    }
    let what =
        format!("the answer has {} bytes, and a line has at most {LINE_BYTES_MAX}", line.len());
    answer_line(&Answer::Error(Refusal::Failed { what }.at("")))
}
