//! One supervisor a site, and one daemon a user: the lock on its folder, and the removal of a
//! folder whose lock is free.
//!
//! The lock file is removed at the end, so it may have been replaced between being opened and being
//! locked. Whichever process has the lock therefore looks whether its file is still the one in the
//! folder, and tries again if it is not.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{
    DAEMON, LOCK, PlaceError, Places, RUN_VARIABLE, SITE_JSON, SOCKET, SiteDescription, check_name,
    make_own_folder,
};

/// Number of tries for the lock: a process that lists sites holds it for an instant.
const TRIES: u32 = 20;
/// Time between two tries.
const TRY_AGAIN: Duration = Duration::from_millis(10);
/// Longest path of a Unix socket in bytes, its final zero left out.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// The right to run a site, or the daemon, and the folder that goes with it. Dropping it removes
/// the folder.
#[derive(Debug)]
pub struct Claim {
    folder: PathBuf,
    socket: Socket,
    /// Lock that is held as long as this lives; the kernel releases it with the process, however
    /// that ends.
    _lock: File,
}

/// The owner of the socket in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Socket {
    /// The process that has the claim, which makes it.
    Own,
    /// systemd, which has made it and listens between two daemons.
    OfSystemd,
}

impl Claim {
    /// Claims the site `name`, and removes what a killed supervisor has left of it.
    ///
    /// # Errors
    /// [`PlaceError::AlreadyRunning`] while another process has it; others when the folders can't
    /// be used.
    pub fn take(places: &Places, name: &str) -> Result<Self, PlaceError> {
        check_name(name)?;
        let site = name.to_owned();
        let taken = |pid| PlaceError::AlreadyRunning { site, pid };
        Self::take_folder(places, name, Socket::Own, taken)
    }

    /// Claims the place of the daemon, of which a user has one at most.
    ///
    /// # Errors
    /// [`PlaceError::DaemonRuns`] while another process has it; [`PlaceError::SocketHeld`] while
    /// systemd listens at its socket; others when the folders can't be used.
    pub fn take_daemon(places: &Places) -> Result<Self, PlaceError> {
        let mut claim = Self::take_daemon_of_systemd(places)?;
        let path = claim.folder.join(SOCKET);
        // Nobody listens any more for a daemon that was killed, but for an instant what it was
        // about to start.
        for left in (0..TRIES).rev() {
            match UnixStream::connect(&path) {
                Err(_) => break,
                Ok(_) if left == 0 => return Err(PlaceError::SocketHeld { path }),
                Ok(_) => thread::sleep(TRY_AGAIN),
            }
        }
        claim.socket = Socket::Own;
        empty(&claim.folder, claim.socket).map_err(PlaceError::io(&path, "removed"))?;
        Ok(claim)
    }

    /// Claims the place of the daemon whose socket systemd has made, and leaves it there.
    ///
    /// # Errors
    /// Those of [`Self::take_daemon`].
    pub fn take_daemon_of_systemd(places: &Places) -> Result<Self, PlaceError> {
        Self::take_folder(places, DAEMON, Socket::OfSystemd, |pid| PlaceError::DaemonRuns { pid })
    }

    fn take_folder(
        places: &Places,
        name: &str,
        socket: Socket,
        taken: impl FnOnce(Option<u32>) -> PlaceError,
    ) -> Result<Self, PlaceError> {
        make_own_folder(&places.run, RUN_VARIABLE)?;
        let folder = places.run.join(name);
        check_socket_path(&folder)?;
        for _ in 0..TRIES {
            make_own_folder(&folder, RUN_VARIABLE)?;
            match try_lock(&folder) {
                Ok(Some(lock)) => return Self::begin(folder, lock, socket),
                Ok(None) => thread::sleep(TRY_AGAIN),
                // The previous owner has just removed the folder.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(PlaceError::io(&folder.join(LOCK), "locked")(error)),
            }
        }
        Err(taken(owner(&folder)))
    }

    fn begin(folder: PathBuf, mut lock: File, socket: Socket) -> Result<Self, PlaceError> {
        let path = folder.join(LOCK);
        let written = lock
            .set_len(0)
            .and_then(|()| lock.write_all(std::process::id().to_string().as_bytes()));
        written.map_err(PlaceError::io(&path, "written"))?;
        empty(&folder, socket).map_err(PlaceError::io(&folder, "emptied"))?;
        Ok(Self { folder, socket, _lock: lock })
    }

    /// Returns the folder of the running site or daemon, which is removed with the claim.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes the description of the site for others; it appears whole.
    ///
    /// # Errors
    /// [`PlaceError::Io`] when it can't be written.
    pub fn describe(&self, description: &SiteDescription) -> Result<(), PlaceError> {
        let path = self.folder.join(SITE_JSON);
        let written = tempfile::NamedTempFile::new_in(&self.folder).and_then(|mut part| {
            serde_json::to_writer(part.as_file_mut(), description)?;
            part.persist(&path).map_err(|error| error.error)
        });
        written.map(|_| ()).map_err(PlaceError::io(&path, "written"))
    }

    /// Makes the control socket, which this user alone may connect to.
    ///
    /// # Errors
    /// [`PlaceError::Io`] when it can't be made.
    pub fn listen(&self) -> Result<UnixListener, PlaceError> {
        let path = self.folder.join(SOCKET);
        let bound = UnixListener::bind(&path).and_then(|listener| {
            // The folder keeps others out already; the mode shows it to those who look.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            Ok(listener)
        });
        bound.map_err(PlaceError::io(&path, "listened on"))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The lock goes last: until then nobody takes the folder for a leftover.
        let _ = empty(&self.folder, self.socket);
        let _ = fs::remove_file(self.folder.join(LOCK));
        let _ = fs::remove_dir(&self.folder);
    }
}

/// The state of a folder's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockState {
    Held,
    Free,
}

/// Tests if the lock is held. A folder that is being made counts as held.
pub(super) fn lock_state(folder: &Path) -> LockState {
    let lock = match File::open(folder.join(LOCK)) {
        Ok(lock) => lock,
        // The folder was made within the last moment, or is a leftover without its lock; its age
        // tells.
        Err(_) if is_fresh(folder) => return LockState::Held,
        Err(_) => return LockState::Free,
    };
    match flock(&lock, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => LockState::Held,
        _ => LockState::Free,
    }
}

/// Removes what a killed supervisor has left, unless somebody has claimed it meanwhile.
pub(super) fn remove_leftover(folder: &Path) {
    if let Ok(Some(lock)) = try_lock(folder) {
        drop(Claim { folder: folder.to_owned(), socket: Socket::Own, _lock: lock });
    }
}

/// Opens and locks the file; returns `None` while another process holds it, or if it was replaced
/// meanwhile.
fn try_lock(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join(LOCK);
    let lock = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(&path)?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    }
    let (own, there) = (lock.metadata()?, fs::symlink_metadata(&path));
    let same = there.is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino()));
    Ok(same.then_some(lock))
}

/// Reads the number of the process that says to hold the lock.
fn owner(folder: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(folder.join(LOCK)).ok()?.take(16).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

/// Removes everything in the folder but the lock, and the socket if that is systemd's.
fn empty(folder: &Path, socket: Socket) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == LOCK || (name == SOCKET && socket == Socket::OfSystemd) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Returns `true` if the folder was changed within the last second.
fn is_fresh(folder: &Path) -> bool {
    let changed = fs::metadata(folder).and_then(|found| found.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < Duration::from_secs(1)))
}

fn check_socket_path(folder: &Path) -> Result<(), PlaceError> {
    let path = folder.join(SOCKET);
    if path.as_os_str().as_bytes().len() > SOCKET_PATH_BYTES_MAX {
        return Err(PlaceError::SocketPath { path });
    }
    Ok(())
}
