//! The other end of the control socket: finds the site that is meant, asks, and understands.
//!
//! A partition is named alone where one site runs, and as `SITE/PARTITION` where several do.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use quietcore_wording::nearest;

use crate::control::{
    Applied, AppliedChange, Change, ControlError, DeployPatience, Deployed, EventLine, Opened,
    PartitionState, Restart, Trace, TraceStarted, quoted,
};
use crate::places::{PlaceError, Places, RunningSite};
use crate::protocol::{Channel, ChannelError, Patience, Request, Response, read_response, to_line};

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(30);
/// How long a deploy may be silent: a compiler runs meanwhile.
const DEPLOY_SILENCE: Duration = Duration::from_secs(900);
/// How long a site may take to come down.
const DOWN: Duration = Duration::from_secs(60);
/// Time between two looks whether it has.
const DOWN_EVERY: Duration = Duration::from_millis(20);

/// The partition that is meant, and perhaps its site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The site; `None` where it is the only one.
    pub site: Option<String>,
    /// The partition.
    pub partition: String,
}

/// What is written is no `PARTITION` and no `SITE/PARTITION`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no partition; write `PARTITION` or `SITE/PARTITION`")]
pub struct AddressError(String);

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (site, partition) = match text.split_once('/') {
            Some((site, partition)) => (Some(site), partition),
            None => (None, text),
        };
        let is_name = |name: &str| !name.is_empty() && !name.contains('/');
        if !is_name(partition) || !site.is_none_or(is_name) {
            return Err(AddressError(text.to_owned()));
        }
        Ok(Self { site: site.map(str::to_owned), partition: partition.to_owned() })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.site {
            Some(site) => write!(f, "{site}/{}", self.partition),
            None => f.write_str(&self.partition),
        }
    }
}

/// Nobody could be asked, or it was refused.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The folder of running sites can't be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// No site runs.
    #[error("no site runs (looked in `{}`); start one with `quietcore up SITE.toml`{hint}",
        folder.display())]
    NothingRuns {
        /// Where was looked.
        folder: PathBuf,
        /// What else may be the reason.
        hint: &'static str,
    },
    /// This one does not run.
    #[error("site `{asked}` does not run; {remedy}")]
    NotRunning {
        /// The site that was asked for.
        asked: String,
        /// What runs.
        remedy: String,
    },
    /// Several run, and none was named.
    #[error("several sites run: {}; say which one, such as `{example}`", quoted(running))]
    Several {
        /// Their names.
        running: Vec<String>,
        /// How one is named.
        example: String,
    },
    /// The supervisor doesn't take the connection.
    #[error("site `{site}` can't be reached")]
    Connect {
        /// The site.
        site: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The connection broke.
    #[error("site `{site}` does not answer")]
    Broken {
        /// The site.
        site: String,
        /// How it broke.
        #[source]
        source: ChannelError,
    },
    /// The site refused.
    #[error(transparent)]
    Refused(#[from] ControlError),
    /// The answer is none to this request.
    #[error("site `{site}` answers something else; use `quietcore` of the build that runs it")]
    Unexpected {
        /// The site.
        site: String,
    },
    /// It has not come down in time.
    #[error("site `{site}` has not come down within {} s; its process is {pid}", DOWN.as_secs())]
    StillUp {
        /// The site.
        site: String,
        /// Its process.
        pid: u32,
    },
}

/// Picks the site that is meant among those that run.
fn pick<'a>(
    running: &'a [RunningSite],
    asked: Option<&str>,
    partition: Option<&str>,
    folder: &Path,
) -> Result<&'a RunningSite, ClientError> {
    let names: Vec<String> = running.iter().map(|site| site.name.clone()).collect();
    match (asked, running) {
        (_, []) => {
            let has_roots = cfg!(target_os = "linux") && Path::new(ROOTS_PLACE).exists();
            let hint = hint(folder, rustix::process::geteuid().is_root(), has_roots);
            Err(ClientError::NothingRuns { folder: folder.to_owned(), hint })
        }
        (Some(asked), _) => running.iter().find(|site| site.name == asked).ok_or_else(|| {
            let remedy = match nearest(asked, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("running: {}", quoted(&names)),
            };
            ClientError::NotRunning { asked: asked.to_owned(), remedy }
        }),
        (None, [only]) => Ok(only),
        (None, [first, ..]) => {
            // An example that would work, where one can be told from the names.
            let having = |site: &&RunningSite| {
                let partitions = site.description.as_ref().map(|it| &it.partitions);
                partitions
                    .is_some_and(|it| partition.is_some_and(|name| it.iter().any(|p| p == name)))
            };
            let site = running.iter().find(having).unwrap_or(first);
            let example = match partition {
                Some(partition) => format!("{}/{partition}", site.name),
                None => format!("--site {}", site.name),
            };
            Err(ClientError::Several { running: names, example })
        }
    }
}

/// Returns what else may be the reason that no site is found in `folder`.
fn hint(folder: &Path, is_root: bool, has_roots: bool) -> &'static str {
    match (has_roots && folder != Path::new(ROOTS_PLACE), is_root) {
        (false, _) => "",
        (true, true) => "; those in `/run/quietcore` are not seen while `QUIETCORE_RUN_DIR` is set",
        (true, false) => "; sites of root are seen by root only",
    }
}

fn connect(site: &str, socket: &Path) -> Result<Channel, ClientError> {
    let stream = UnixStream::connect(socket)
        .map_err(|source| ClientError::Connect { site: site.to_owned(), source })?;
    Ok(Channel::taking_files(stream, Patience { begin: ANSWER, finish: ANSWER }))
}

/// Where root's sites are.
const ROOTS_PLACE: &str = "/run/quietcore";

/// A connection to the supervisor of a site.
#[derive(Debug)]
pub struct Client {
    channel: Channel,
    places: Places,
    site: String,
    socket: PathBuf,
}

impl Client {
    /// Connects to the site that is named, or to the only one that runs.
    ///
    /// # Errors
    /// [`ClientError`] that says what runs instead.
    pub fn connect(places: &Places, site: Option<&str>) -> Result<Self, ClientError> {
        Self::connect_for(places, site, None)
    }

    /// Connects to the site of a partition. What is said beside the address holds for an address
    /// without site.
    ///
    /// # Errors
    /// [`ClientError`] that says what runs instead.
    pub fn connect_to(
        places: &Places,
        address: &Address,
        site: Option<&str>,
    ) -> Result<Self, ClientError> {
        Self::connect_for(places, address.site.as_deref().or(site), Some(&address.partition))
    }

    fn connect_for(
        places: &Places,
        site: Option<&str>,
        partition: Option<&str>,
    ) -> Result<Self, ClientError> {
        let running = places.running()?;
        let picked = pick(&running, site, partition, places.run_folder())?;
        Ok(Self {
            channel: connect(&picked.name, &picked.socket)?,
            places: places.clone(),
            site: picked.name.clone(),
            socket: picked.socket.clone(),
        })
    }

    /// Name of the site.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Who is there: the supervisor's process, and its version.
    ///
    /// # Errors
    /// [`ClientError`], as for all requests.
    pub fn hello(&mut self) -> Result<(u32, String), ClientError> {
        match self.ask(&Request::Hello)? {
            Response::Hello { pid, quietcore_version, .. } => Ok((pid, quietcore_version)),
            _ => Err(self.unexpected()),
        }
    }

    /// The state of all partitions.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn list(&mut self) -> Result<Vec<PartitionState>, ClientError> {
        match self.ask(&Request::Ps)? {
            Response::Partitions { partitions } => Ok(partitions),
            _ => Err(self.unexpected()),
        }
    }

    /// What a monitor of a partition needs, and its exchange.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn open(&mut self, partition: &str) -> Result<(Opened, File), ClientError> {
        let answer = self.ask(&Request::Open { partition: partition.to_owned() })?;
        match (answer, self.channel.take_file()) {
            (Response::Opened(opened), Some(file)) => Ok((opened, file.into())),
            _ => Err(self.unexpected()),
        }
    }

    /// Applies changes as one group.
    ///
    /// # Errors
    /// [`ClientError`]; then none was applied.
    pub fn write(&mut self, partition: &str, changes: &[Change]) -> Result<Applied, ClientError> {
        let (partition, changes) = (partition.to_owned(), changes.to_owned());
        self.applied(&Request::Write { partition, changes })
    }

    /// Releases all forced variables.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn unforce_all(&mut self, partition: &str) -> Result<Applied, ClientError> {
        self.applied(&Request::UnforceAll { partition: partition.to_owned() })
    }

    fn applied(&mut self, request: &Request) -> Result<Applied, ClientError> {
        match self.ask(request)? {
            Response::Applied(applied) => Ok(applied),
            _ => Err(self.unexpected()),
        }
    }

    /// Starts a recording; it ends with this connection at the latest.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn trace_start(
        &mut self,
        partition: &str,
        trace: &Trace,
    ) -> Result<TraceStarted, ClientError> {
        let (partition, trace) = (partition.to_owned(), trace.clone());
        match self.ask(&Request::TraceStart { partition, trace })? {
            Response::Tracing(started) => Ok(started),
            _ => Err(self.unexpected()),
        }
    }

    /// Stops the recording.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn trace_stop(&mut self, partition: &str) -> Result<(), ClientError> {
        self.done(&Request::TraceStop { partition: partition.to_owned() })
    }

    /// Swaps in a changed program, and waits for its probation where `patience` says so; `progress`
    /// gets a line for each step.
    ///
    /// # Errors
    /// [`ClientError`]; then the old program runs on.
    pub fn deploy(
        &mut self,
        partition: &str,
        folder: &Path,
        patience: DeployPatience,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Deployed, ClientError> {
        let (partition, folder) = (partition.to_owned(), folder.to_owned());
        let request = Request::Deploy { partition, folder, patience };
        self.channel.set_patience(Patience { begin: DEPLOY_SILENCE, finish: ANSWER });
        let mut response = self.ask(&request);
        while let Ok(Response::Progress { line }) = &response {
            progress(line);
            response = self.hear();
        }
        self.channel.set_patience(Patience { begin: ANSWER, finish: ANSWER });
        match response? {
            Response::Deployed(deployed) => Ok(deployed),
            _ => Err(self.unexpected()),
        }
    }

    /// Starts a program anew.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn restart(&mut self, partition: &str, how: Restart) -> Result<(), ClientError> {
        self.done(&Request::Restart { partition: partition.to_owned(), how })
    }

    /// Holds the program of a partition between two cycles, or lets it go on.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn pause(&mut self, partition: &str, pause: bool) -> Result<(), ClientError> {
        let partition = partition.to_owned();
        self.done(&if pause { Request::Pause { partition } } else { Request::Resume { partition } })
    }

    /// What has happened, from number `since` on; not necessarily all of it: ask again with the
    /// number after the last until nothing comes.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn events(&mut self, since: u64) -> Result<Vec<EventLine>, ClientError> {
        match self.ask(&Request::Events { since, follow: false })? {
            Response::Events { events } => Ok(events),
            _ => Err(self.unexpected()),
        }
    }

    /// What clients have set, forced and let go, from number `since` on as far as it is kept, and
    /// the number of the next such change.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn changes(&mut self, since: u64) -> Result<(Vec<AppliedChange>, u64), ClientError> {
        match self.ask(&Request::Changes { since })? {
            Response::Changes { changes, next } => Ok((changes, next)),
            _ => Err(self.unexpected()),
        }
    }

    /// Asks the site to come down and waits until it has.
    ///
    /// # Errors
    /// [`ClientError::StillUp`] when it takes too long.
    pub fn down(mut self) -> Result<(), ClientError> {
        let (pid, _) = self.hello()?;
        self.done(&Request::Down)?;
        let end = Instant::now() + DOWN;
        // The lock is free when the last of its processes has gone.
        while self.places.running()?.iter().any(|running| running.name == self.site) {
            if Instant::now() >= end {
                return Err(ClientError::StillUp { site: self.site, pid });
            }
            std::thread::sleep(DOWN_EVERY);
        }
        Ok(())
    }

    fn done(&mut self, request: &Request) -> Result<(), ClientError> {
        match self.ask(request)? {
            Response::Done => Ok(()),
            _ => Err(self.unexpected()),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Response, ClientError> {
        // Nothing is asked, so nothing should come: it has closed a connection that was idle.
        if self.channel.is_disturbed() {
            self.channel = connect(&self.site, &self.socket)?;
        }
        match self.channel.send(&to_line(request)) {
            Ok(()) => self.hear(),
            // Whoever closed the connection has said why before.
            Err(source) => match self.hear() {
                Err(refused @ ClientError::Refused(_)) => Err(refused),
                _ => Err(self.broken(source)),
            },
        }
    }

    fn hear(&mut self) -> Result<Response, ClientError> {
        let line = self.channel.receive().map_err(|source| self.broken(source))?;
        match read_response(&line)? {
            Response::Error(error) => Err(ClientError::Refused(error)),
            response => Ok(response),
        }
    }

    fn broken(&self, source: ChannelError) -> ClientError {
        ClientError::Broken { site: self.site.clone(), source }
    }

    fn unexpected(&self) -> ClientError {
        ClientError::Unexpected { site: self.site.clone() }
    }
}

#[cfg(test)]
mod tests;
