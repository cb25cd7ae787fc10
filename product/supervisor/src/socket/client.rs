//! The other end of the control socket: finds the intended site, sends requests, reads answers.
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

use crate::channel::{Channel, ChannelError, Patience};
use crate::control::line::{read_answer, request_line};
use crate::control::{
    Answer, Ask, ChannelOpened, ChannelUse, ControlError, Done, EventLine, Events, Hello, History,
    Introduction, Opened, PartitionState, Partitions, SiteVerb, Verb, quoted,
};
use crate::places::{PlaceError, Places, RunningSite};
use crate::socket::peer;

/// Longest time that an answer may take once it has begun.
const ANSWER: Duration = Duration::from_secs(30);
/// Longest time that a site may take to come down.
const DOWN: Duration = Duration::from_secs(60);
/// Longest time that a guest with a system of its own may take to shut down, beside that.
const SHUTDOWN: Duration = Duration::from_secs(600);
/// Time between two looks for its end.
const DOWN_EVERY: Duration = Duration::from_millis(20);

/// The name of a partition, and perhaps of its site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Name of the site; `None` if it is the only one.
    pub site: Option<String>,
    /// Name of the partition.
    pub partition: String,
}

/// The error of a text that is neither `PARTITION` nor `SITE/PARTITION`.
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

/// The error of a request that could not be made, or was refused.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The folder of running sites can't be used.
    #[error(transparent)]
    Folder(#[from] PlaceError),
    /// No site runs at all.
    #[error("no site runs (looked in `{}`); start one with `quietcore up SITE.toml`{hint}",
        folder.display())]
    NothingRuns {
        /// Folder in which sites were looked for.
        folder: PathBuf,
        /// Another possible reason; empty if there is none.
        hint: &'static str,
    },
    /// The site that was asked for does not run.
    #[error("site `{asked}` does not run; {remedy}")]
    NotRunning {
        /// Name of the site that was asked for.
        asked: String,
        /// Sites that run, or the one with the nearest name.
        remedy: String,
    },
    /// Several sites run, and none was named.
    #[error("several sites run: {}; say which one, such as `{example}`", quoted(running))]
    Several {
        /// Names of the sites that run.
        running: Vec<String>,
        /// Example of naming one of them.
        example: String,
    },
    /// The supervisor doesn't take the connection.
    #[error("site `{site}` can't be reached")]
    Connect {
        /// Name of the site.
        site: String,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The connection to the site broke.
    #[error("site `{site}` does not answer")]
    Broken {
        /// Name of the site.
        site: String,
        /// The error of the connection.
        #[source]
        source: ChannelError,
    },
    /// The site refused the request.
    #[error(transparent)]
    Refused(#[from] ControlError),
    /// The answer does not belong to the request.
    #[error("site `{site}` answers something else; use `quietcore` of the build that runs it")]
    Unexpected {
        /// Name of the site.
        site: String,
    },
    /// The site has not come down in time.
    #[error("site `{site}` has not come down within {} s; its process is {pid}", DOWN.as_secs())]
    StillUp {
        /// Name of the site.
        site: String,
        /// Number of its process.
        pid: u32,
    },
}

/// Picks the intended site among those that run.
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
            // The example would work, if the names tell one that does.
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

/// Returns another possible reason why no site is found in `folder`.
fn hint(folder: &Path, is_root: bool, has_roots: bool) -> &'static str {
    match (has_roots && folder != Path::new(ROOTS_PLACE), is_root) {
        (false, _) => "",
        (true, true) => "; those in `/run/quietcore` are not seen while `QUIETCORE_RUN_DIR` is set",
        (true, false) => "; sites of root are seen by root only",
    }
}

/// Returns the name of the only site that runs.
///
/// # Errors
/// [`ClientError`] that says which ones run, or that none does.
pub fn only_site(places: &Places) -> Result<String, ClientError> {
    Ok(pick(&places.running()?, None, None, places.run_folder())?.name.clone())
}

fn connect(site: &str, socket: &Path) -> Result<Channel, ClientError> {
    let stream = UnixStream::connect(socket)
        .map_err(|source| ClientError::Connect { site: site.to_owned(), source })?;
    Ok(Channel::taking_files(stream, Patience { begin: ANSWER, finish: ANSWER }))
}

/// Folder in which root's sites are.
const ROOTS_PLACE: &str = "/run/quietcore";

/// A connection to the supervisor of a site.
#[derive(Debug)]
pub struct Client {
    channel: Channel,
    places: Places,
    site: String,
    socket: PathBuf,
    by: Introduction,
}

impl Client {
    /// Connects to the site that is named, or to the only one that runs.
    ///
    /// # Errors
    /// [`ClientError`] that says what runs instead.
    pub fn connect(places: &Places, site: Option<&str>) -> Result<Self, ClientError> {
        Self::connect_for(places, site, None)
    }

    /// Connects to the site of a partition; `site` names it for an address without one.
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
            by: peer::introduction(),
        })
    }

    /// Asks on behalf of somebody else from now on, who is introduced so. The user stays this
    /// process's, by the kernel's word.
    #[must_use]
    pub fn on_behalf_of(mut self, by: Introduction) -> Self {
        self.by = by.harmless();
        self
    }

    /// Closes the connection until the next request, so that a client that waits for a long time
    /// takes no place of another.
    pub fn rest(&mut self) {
        self.channel.hang_up();
    }

    /// Returns `true` if the site holds the connection, on which nothing waits to be read.
    pub fn is_connected(&self) -> bool {
        !self.channel.is_disturbed()
    }

    /// Returns the name of the site.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Asks a partition; the caller names the type of the answer.
    ///
    /// # Errors
    /// [`ClientError`], as for all requests; what was refused was not done, unless the error says
    /// otherwise.
    pub fn ask<A: TryFrom<Answer>>(
        &mut self,
        partition: &str,
        verb: Verb,
    ) -> Result<A, ClientError> {
        self.ask_hearing(partition, verb, &mut |_| {})
    }

    /// Asks a partition; `progress` gets a line for each step of a request that takes long.
    ///
    /// # Errors
    /// Those of [`ask`](Self::ask).
    pub fn ask_hearing<A: TryFrom<Answer>>(
        &mut self,
        partition: &str,
        verb: Verb,
        progress: &mut dyn FnMut(&str),
    ) -> Result<A, ClientError> {
        self.put(&Ask::of(partition, verb), progress)
    }

    /// Opens a partition: returns the description for a monitor, and its exchange.
    ///
    /// # Errors
    /// [`ClientError`] when it is refused or the site does not answer.
    pub fn open(&mut self, partition: &str) -> Result<(Opened, File), ClientError> {
        let opened: Opened = self.ask(partition, Verb::Open)?;
        let file = self.channel.take_file().ok_or_else(|| self.unexpected())?;
        Ok((opened, file.into()))
    }

    /// Opens a channel of the site: returns what it carries, and its memory.
    ///
    /// # Errors
    /// [`ClientError`] when it is refused or the site does not answer.
    pub fn channel(
        &mut self,
        channel: &str,
        usage: ChannelUse,
    ) -> Result<(ChannelOpened, File), ClientError> {
        let opened = self.ask_site(SiteVerb::Channel { channel: channel.to_owned(), usage })?;
        let file = self.channel.take_file().ok_or_else(|| self.unexpected())?;
        Ok((opened, file.into()))
    }

    /// Returns the folders in which the site was found.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Asks the site for its name, version and process.
    ///
    /// # Errors
    /// [`ClientError`] when the site does not answer.
    pub fn hello(&mut self) -> Result<Hello, ClientError> {
        self.ask_site(SiteVerb::Hello)
    }

    /// Returns the state of all partitions.
    ///
    /// # Errors
    /// [`ClientError`] when the site does not answer.
    pub fn list(&mut self) -> Result<Vec<PartitionState>, ClientError> {
        self.partitions().map(|Partitions { partitions, .. }| partitions)
    }

    /// Returns the state of all partitions, and of the machine as far as the site has changed it.
    ///
    /// # Errors
    /// [`ClientError`] when the site does not answer.
    pub fn partitions(&mut self) -> Result<Partitions, ClientError> {
        self.ask_site(SiteVerb::Ps)
    }

    /// Returns events from number `since` on, but not necessarily all of them: ask again with the
    /// number after the last until nothing comes.
    ///
    /// # Errors
    /// [`ClientError`] when the site does not answer.
    pub fn events(&mut self, since: u64) -> Result<Vec<EventLine>, ClientError> {
        let asked = self.ask_site(SiteVerb::Events { since, follow: false });
        asked.map(|Events { events }| events)
    }

    /// Returns the variables that clients have set, forced and released, from number `since` on as
    /// far as they are kept.
    ///
    /// # Errors
    /// [`ClientError`] when the site does not answer.
    pub fn changes(&mut self, since: u64) -> Result<History, ClientError> {
        self.ask_site(SiteVerb::Changes { since })
    }

    /// Asks the site to come down and waits until it has.
    ///
    /// # Errors
    /// [`ClientError::StillUp`] when it takes too long.
    pub fn down(mut self) -> Result<(), ClientError> {
        let Hello { pid, .. } = self.hello()?;
        let takes_long = self.list()?.iter().any(|partition| !partition.has_program());
        let Done {} = self.ask_site(SiteVerb::Down)?;
        let end = Instant::now() + DOWN + if takes_long { SHUTDOWN } else { Duration::ZERO };
        // The lock is free when the last of its processes has gone.
        while self.places.running()?.iter().any(|running| running.name == self.site) {
            if Instant::now() >= end {
                return Err(ClientError::StillUp { site: self.site, pid });
            }
            std::thread::sleep(DOWN_EVERY);
        }
        Ok(())
    }

    fn ask_site<A: TryFrom<Answer>>(&mut self, verb: SiteVerb) -> Result<A, ClientError> {
        self.put(&Ask::Site(verb), &mut |_| {})
    }

    fn put<A: TryFrom<Answer>>(
        &mut self,
        ask: &Ask,
        progress: &mut dyn FnMut(&str),
    ) -> Result<A, ClientError> {
        // Nothing is asked, so nothing should come: the server has closed a connection that was
        // idle.
        if self.channel.is_disturbed() {
            self.channel = connect(&self.site, &self.socket)?;
        }
        self.channel.set_patience(Patience { begin: ask.silence_max(), finish: ANSWER });
        let mut answer = match self.channel.send(&request_line(&self.by, ask)) {
            Ok(()) => self.hear()?,
            // If the server closed the connection, it has said why before.
            Err(source) => match self.hear() {
                Err(refused @ ClientError::Refused(_)) => return Err(refused),
                _ => return Err(self.broken(source)),
            },
        };
        while let Answer::Progress { line } = &answer {
            progress(line);
            answer = self.hear()?;
        }
        A::try_from(answer).map_err(|_| self.unexpected())
    }

    fn hear(&mut self) -> Result<Answer, ClientError> {
        let line = self.channel.receive().map_err(|source| self.broken(source))?;
        match read_answer(&line)? {
            Answer::Error(error) => Err(ClientError::Refused(error)),
            answer => Ok(answer),
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
