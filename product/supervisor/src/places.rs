//! The folders of running sites, and of what survives them.
//!
//! ```text
//! RUN/                  0700, owned by the user
//! └── SITE/             one folder a running site
//!     ├── lock          held by the supervisor as long as it lives; its process number inside
//!     ├── socket        its control socket
//!     └── site.json     what runs: site file, partitions, since when
//! RUN/@containers/      one folder a container that runs
//! RUN/@daemon/          lock and socket of `quietcored`, as of a site
//! STATE/SITE@NUMBER/    what survives of a site file, to which the number belongs: retained data,
//!                       events
//! STATE/@key/           the key that evidence is signed with
//! STATE/@daemon/        what `quietcored` keeps
//! ```
//!
//! | folder | first that applies |
//! |--------|--------------------|
//! | RUN | `$QUIETCORE_RUN_DIR`, `/run/quietcore` for root, `$XDG_RUNTIME_DIR/quietcore`, `/tmp/quietcore-UID` |
//! | STATE | `$QUIETCORE_STATE_DIR`, `/var/lib/quietcore` for root, `$XDG_STATE_HOME/quietcore`, `~/.local/state/quietcore` |
//!
//! The journal of the machine's settings belongs to the machine, and is in neither of them.
//!
//! A site runs exactly while its lock is held: the kernel releases it with the process, however
//! that ends. A folder whose lock is free is a leftover, and is removed by whichever process finds
//! it. A RUN folder that belongs to somebody else, is a link, or that others may write to is
//! refused, since `/tmp` is open to everybody.

mod claim;
pub(crate) mod cpu_locks;
pub mod log_file;
pub mod past;
pub mod shared_cpus;
mod started;

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use quietcore_settings::Store;
use serde::{Deserialize, Serialize};

pub use claim::Claim;
use claim::{LockState, lock_state};
pub use started::StartedBy;

/// The schema name of `site.json`.
pub const SITE_SCHEMA: &str = "quietcore.running-site/1";

/// Limit of the folders that are looked at when running sites are listed.
pub const SITE_COUNT_MAX: usize = 1024;

/// Limit of the length of a site's name, in bytes.
pub const NAME_BYTES_MAX: usize = 64;

/// Limit of the part of a `site.json` that is read, in bytes.
const SITE_JSON_BYTES_MAX: u64 = 1 << 20;

/// Environment variable that names the folder of running sites.
pub const RUN_VARIABLE: &str = "QUIETCORE_RUN_DIR";
/// Environment variable that names the folder of their states.
pub const STATE_VARIABLE: &str = "QUIETCORE_STATE_DIR";

/// The folders of root.
const RUN_OF_ROOT: &str = "/run/quietcore";
const STATE_OF_ROOT: &str = "/var/lib/quietcore";

/// Names in these folders that no site can have.
const JOURNAL: &str = "@machine";
const CONTAINERS: &str = "@containers";
const DAEMON: &str = "@daemon";
const KEY: &str = "@key";
/// Name of the folder, in that of the daemon, of the sites whose texts it has received.
const RECEIVED_SITES: &str = "sites";

const LOCK: &str = "lock";
const SOCKET: &str = "socket";
const SITE_JSON: &str = "site.json";
/// Names of the files of retained values in the folder of a partition.
pub(crate) const RETAINED: [&str; 2] = ["retained.0", "retained.1"];
/// Name of the file, in a folder of STATE, that holds the path of the site file.
const OWNER: &str = "site-file";

/// The error of a folder that can't be used, or of a site that runs already.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// An environment variable holds a relative path.
    #[error("`{variable}` is `{value}`, which is not absolute; write it with a `/` in front")]
    Relative {
        /// Name of the variable.
        variable: &'static str,
        /// Value of the variable.
        value: String,
    },
    /// There is nowhere to keep state.
    #[error("neither `HOME` nor `XDG_STATE_HOME` is set; set `QUIETCORE_STATE_DIR` to a folder")]
    NoHome,
    /// The folder does not belong to this user alone.
    #[error("`{}` {problem}; remove it, or set `{variable}` to a folder of yours",
        folder.display())]
    Foreign {
        /// Environment variable that determines the folder.
        variable: &'static str,
        /// Path of the folder.
        folder: PathBuf,
        /// Fault of the folder, such as its owner.
        problem: String,
    },
    /// The operating system refused something.
    #[error("`{}` can't be {action}", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// The attempt that failed, as a participle such as `made`.
        action: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The name can't be the name of a folder.
    #[error("`{name}` is no name of a site; use up to 64 letters, digits, `-`, `_` and `.`")]
    Name {
        /// Name that was given.
        name: String,
    },
    /// Another supervisor holds the site.
    #[error(
        "site `{site}` runs already, process {}; see `quietcore ps {site}`, end it with \
         `quietcore down {site}`",
        pid.map_or("unknown".to_owned(), |pid| pid.to_string())
    )]
    AlreadyRunning {
        /// Name of the site.
        site: String,
        /// Number of the process that runs it, where that has said so.
        pid: Option<u32>,
    },
    /// Another daemon of this user runs.
    #[error("`quietcored` of this user runs already, process {}",
        pid.map_or("unknown".to_owned(), |pid| pid.to_string()))]
    DaemonRuns {
        /// Number of its process, where that has said so.
        pid: Option<u32>,
    },
    /// Another process listens at the socket and has no lock, as systemd has for the daemon.
    #[error("another process listens at `{}`, such as systemd for `quietcored`; use that, with \
        `systemctl start quietcored`, or end it with `systemctl stop quietcored.socket`",
        path.display())]
    SocketHeld {
        /// Path of the socket.
        path: PathBuf,
    },
    /// Two site files have the same number, a chance of one in four billion.
    #[error("`{}` is of the site file `{}`; rename one of them", folder.display(), owner.display())]
    OtherOwner {
        /// Folder of that number.
        folder: PathBuf,
        /// Site file that the folder belongs to.
        owner: PathBuf,
    },
    /// The path of the socket has more than 107 bytes.
    #[error("`{}` is too long for a socket; set `QUIETCORE_RUN_DIR` to a shorter folder",
        path.display())]
    SocketPath {
        /// Path of the socket.
        path: PathBuf,
    },
}

impl PlaceError {
    fn io<'a>(path: &'a Path, action: &'static str) -> impl Fn(io::Error) -> Self + 'a {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }
}

/// The content of `site.json`: a running site's description of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteDescription {
    /// Schema of the file, [`SITE_SCHEMA`].
    pub schema: String,
    /// Name of the site.
    pub site: String,
    /// Process number of its supervisor.
    pub pid: u32,
    /// Absolute path of the site file.
    pub site_file: PathBuf,
    /// Time at which it was brought up; RFC 3339, UTC.
    pub started_at: String,
    /// Person or service that has started it; `None` where its version doesn't say so.
    #[serde(default)]
    pub started_by: Option<StartedBy>,
    /// Names of its partitions.
    pub partitions: Vec<String>,
    /// Version of Quietcore that runs it.
    pub quietcore_version: String,
}

/// A site that runs, found in the folder of running sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningSite {
    /// Name of the site.
    pub name: String,
    /// Path of its control socket.
    pub socket: PathBuf,
    /// Its description of itself; `None` in the moments before it has written one.
    pub description: Option<SiteDescription>,
}

/// The folders of running sites and of what survives them.
#[derive(Clone, Debug)]
pub struct Places {
    run: PathBuf,
    state: Option<PathBuf>,
}

impl Places {
    /// Determines the folders for this user and environment. Nothing is created yet.
    ///
    /// # Errors
    /// [`PlaceError::Relative`] when a variable holds a relative path.
    pub fn of_environment() -> Result<Self, PlaceError> {
        let user = rustix::process::geteuid().as_raw();
        Self::choose(user, |name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    /// Takes the folders as given, for tests.
    pub fn new(run: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self { run: run.into(), state: Some(state.into()) }
    }

    /// Chooses by user and environment alone.
    fn choose(
        user: u32,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, PlaceError> {
        let own = |variable: &'static str| match environment(variable).map(PathBuf::from) {
            Some(path) if path.is_relative() => {
                Err(PlaceError::Relative { variable, value: path.display().to_string() })
            }
            path => Ok(path),
        };
        // The XDG base directory specification says that relative paths are to be ignored.
        let absolute =
            |variable: &str| environment(variable).map(PathBuf::from).filter(|it| it.is_absolute());
        let run = match own(RUN_VARIABLE)? {
            Some(run) => run,
            None if user == 0 => PathBuf::from(RUN_OF_ROOT),
            None => match absolute("XDG_RUNTIME_DIR") {
                Some(folder) => folder.join("quietcore"),
                None => PathBuf::from(format!("/tmp/quietcore-{user}")),
            },
        };
        let state = match own(STATE_VARIABLE)? {
            Some(state) => Some(state),
            None if user == 0 => Some(PathBuf::from(STATE_OF_ROOT)),
            None => absolute("XDG_STATE_HOME")
                .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
                .map(|folder| folder.join("quietcore")),
        };
        Ok(Self { run, state })
    }

    /// Returns the folder in which running sites have theirs.
    pub fn run_folder(&self) -> &Path {
        &self.run
    }

    /// Returns the path of the daemon's socket, whether it runs or not.
    pub fn daemon_socket(&self) -> PathBuf {
        self.run.join(DAEMON).join(SOCKET)
    }

    /// Makes and returns the folder for what survives of a site that is written in `site_file`. A
    /// site of the same name in another file, such as a copy of it, has another folder; the
    /// versions of a site that the daemon has received share one.
    ///
    /// # Errors
    /// [`PlaceError`] when there is nowhere to keep it, or the folder is not this user's.
    pub fn state_folder(&self, site: &str, site_file: &Path) -> Result<PathBuf, PlaceError> {
        check_name(site)?;
        let state = self.state.as_ref().ok_or(PlaceError::NoHome)?;
        make_own_folder(state, STATE_VARIABLE)?;
        let file = self.owner(site_file)?;
        let number = crc32fast::hash(file.as_os_str().as_encoded_bytes());
        let folder = state.join(format!("{site}@{number:08x}"));
        make_own_folder(&folder, STATE_VARIABLE)?;
        claim_state(&folder, &file)?;
        Ok(folder)
    }

    /// Returns other site files of this name of which retained values survive, if there are none of
    /// `site_file`: somebody who has moved or copied the file may miss them.
    pub fn states_of_others(&self, site: &str, site_file: &Path) -> Vec<PathBuf> {
        let Some(state) = &self.state else { return Vec::new() };
        let Ok(file) = self.owner(site_file) else { return Vec::new() };
        let prefix = format!("{site}@");
        let listed = fs::read_dir(state).into_iter().flatten().take(SITE_COUNT_MAX).flatten();
        let of_site = listed.filter(|it| it.file_name().to_string_lossy().starts_with(&prefix));
        let read = |folder: PathBuf| {
            let retains = |folder: &Path| RETAINED.iter().any(|name| folder.join(name).exists());
            let holds = fs::read_dir(&folder).ok()?.flatten().any(|it| retains(&it.path()));
            let owner = fs::read(folder.join(OWNER)).ok()?;
            let owner = PathBuf::from(OsString::from_vec(owner));
            Some((owner, holds))
        };
        let all: Vec<_> = of_site.filter_map(|it| read(it.path())).collect();
        if all.iter().any(|(owner, holds)| *owner == file && *holds) {
            return Vec::new();
        }
        let others = all.into_iter().filter(|(owner, holds)| *owner != file && *holds);
        others.map(|(owner, _)| owner).collect()
    }

    /// Returns the journal of the machine's settings, which is one for all sites, wherever their
    /// folders are. Earlier versions had it in STATE; what they have left there is taken over.
    pub fn journal(&self) -> Store {
        let earlier = self.state.as_deref().unwrap_or_else(|| Path::new(STATE_OF_ROOT));
        Store::of_machine(earlier.join(JOURNAL))
    }

    /// Makes and returns the folder of the key that evidence is signed with. No site can have its
    /// name.
    ///
    /// # Errors
    /// Those of [`Self::state_folder`].
    pub fn key_folder(&self) -> Result<PathBuf, PlaceError> {
        self.lasting_folder(KEY)
    }

    /// Returns the folder of the key, if it exists.
    pub fn existing_key_folder(&self) -> Option<PathBuf> {
        self.existing_lasting_folder(KEY)
    }

    /// Makes and returns the folder of what the daemon keeps. No site can have its name.
    ///
    /// # Errors
    /// Those of [`Self::state_folder`].
    pub fn daemon_state(&self) -> Result<PathBuf, PlaceError> {
        self.lasting_folder(DAEMON)
    }

    /// Returns the folder of what the daemon keeps, if it exists.
    pub fn existing_daemon_state(&self) -> Option<PathBuf> {
        self.existing_lasting_folder(DAEMON)
    }

    /// Makes and returns the folder in which each site whose texts the daemon has received has one.
    ///
    /// # Errors
    /// Those of [`Self::state_folder`].
    pub fn received_sites(&self) -> Result<PathBuf, PlaceError> {
        let folder = self.daemon_state()?.join(RECEIVED_SITES);
        make_own_folder(&folder, STATE_VARIABLE)?;
        Ok(folder)
    }

    /// Returns the path that what survives of a site file belongs to: its own, or that of all
    /// versions of a site that the daemon has received.
    fn owner(&self, site_file: &Path) -> Result<PathBuf, PlaceError> {
        let file = absolute(site_file)?;
        let received = self.existing_daemon_state().map(|folder| folder.join(RECEIVED_SITES));
        let Some(received) = received.and_then(|folder| folder.canonicalize().ok()) else {
            return Ok(file);
        };
        let below = file.strip_prefix(&received).ok().and_then(|it| it.components().next());
        Ok(below.map_or_else(|| file.clone(), |site| received.join(site)))
    }

    fn lasting_folder(&self, name: &str) -> Result<PathBuf, PlaceError> {
        let state = self.state.as_ref().ok_or(PlaceError::NoHome)?;
        make_own_folder(state, STATE_VARIABLE)?;
        let folder = state.join(name);
        make_own_folder(&folder, STATE_VARIABLE)?;
        Ok(folder)
    }

    fn existing_lasting_folder(&self, name: &str) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join(name)).filter(|folder| folder.is_dir())
    }

    /// Makes and returns the folder in which containers have theirs. No site can have its name.
    ///
    /// # Errors
    /// [`PlaceError`] when the folder is not this user's.
    pub fn container_folder(&self) -> Result<PathBuf, PlaceError> {
        make_own_folder(&self.run, RUN_VARIABLE)?;
        let folder = self.run.join(CONTAINERS);
        make_own_folder(&folder, RUN_VARIABLE)?;
        Ok(folder)
    }

    /// Returns the folder in which containers have theirs, if it exists.
    ///
    /// # Errors
    /// [`PlaceError`] when it is not this user's.
    pub fn containers(&self) -> Result<Option<PathBuf>, PlaceError> {
        let is_there = self.run.join(CONTAINERS).is_dir();
        if is_there { self.container_folder().map(Some) } else { Ok(None) }
    }

    /// Lists the sites that run, by name, and removes what killed supervisors have left.
    ///
    /// # Errors
    /// [`PlaceError`] when the folder exists but can't be read, or isn't this user's.
    pub fn running(&self) -> Result<Vec<RunningSite>, PlaceError> {
        if !self.run.try_exists().unwrap_or(true) {
            return Ok(Vec::new());
        }
        check_own_folder(&self.run, RUN_VARIABLE)?;
        let listed = fs::read_dir(&self.run).map_err(PlaceError::io(&self.run, "listed"))?;
        let mut sites = Vec::new();
        for entry in listed.take(SITE_COUNT_MAX).filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if check_name(&name).is_err() || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            match lock_state(&entry.path()) {
                LockState::Held => sites.push(self.look_at(name)),
                LockState::Free => claim::remove_leftover(&entry.path()),
            }
        }
        sites.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(sites)
    }

    fn look_at(&self, name: String) -> RunningSite {
        let folder = self.run.join(&name);
        RunningSite { socket: folder.join(SOCKET), description: describe(&folder), name }
    }
}

/// Reads the folder's `site.json`, if there is one of this schema.
fn describe(folder: &Path) -> Option<SiteDescription> {
    use std::io::Read as _;
    let file = fs::File::open(folder.join(SITE_JSON)).ok()?;
    let mut text = String::new();
    file.take(SITE_JSON_BYTES_MAX).read_to_string(&mut text).ok()?;
    let description: SiteDescription = serde_json::from_str(&text).ok()?;
    (description.schema == SITE_SCHEMA).then_some(description)
}

fn check_name(name: &str) -> Result<(), PlaceError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let good = !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with('.')
        && name.chars().all(allowed);
    if good { Ok(()) } else { Err(PlaceError::Name { name: name.to_owned() }) }
}

/// Returns a path that holds in every working folder.
fn absolute(path: &Path) -> Result<PathBuf, PlaceError> {
    let found = path.canonicalize().or_else(|_| std::path::absolute(path));
    found.map_err(PlaceError::io(path, "found"))
}

/// Writes into the folder which site file it belongs to, or makes sure that it belongs to this one.
fn claim_state(folder: &Path, file: &Path) -> Result<(), PlaceError> {
    let place = folder.join(OWNER);
    let own = file.as_os_str().as_encoded_bytes();
    match fs::read(&place) {
        Ok(found) if found == own => Ok(()),
        Ok(found) if !found.is_empty() => {
            let owner = PathBuf::from(OsString::from_vec(found));
            Err(PlaceError::OtherOwner { folder: folder.to_owned(), owner })
        }
        // There is no such note yet, or a machine that lost its power has left an empty one.
        _ => fs::write(&place, own).map_err(PlaceError::io(&place, "written")),
    }
}

/// Makes a folder that is this user's alone, or makes sure that an existing one is. `variable` is
/// the environment variable that determines it.
fn make_own_folder(folder: &Path, variable: &'static str) -> Result<(), PlaceError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    match made {
        // Something is there that is no folder: the check says what it is.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(PlaceError::io(folder, "made")(error))
        }
        _ => check_own_folder(folder, variable),
    }
}

/// Refuses a link, another user's folder, and one that others may write to.
fn check_own_folder(folder: &Path, variable: &'static str) -> Result<(), PlaceError> {
    let foreign =
        |problem: String| PlaceError::Foreign { variable, folder: folder.to_owned(), problem };
    let found = fs::symlink_metadata(folder).map_err(PlaceError::io(folder, "looked at"))?;
    let user = rustix::process::geteuid().as_raw();
    if !found.is_dir() {
        let link = found.file_type().is_symlink();
        return Err(foreign(if link { "is a link" } else { "is no folder" }.to_owned()));
    }
    if found.uid() != user {
        return Err(foreign(format!("belongs to user {}, not to user {user}", found.uid())));
    }
    if found.mode() & 0o022 != 0 {
        return Err(foreign(format!("may be written by others (mode {:o})", found.mode() & 0o777)));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
