//! Sockets that systemd has made for the daemon, and hands over as `sd_listen_fds(3)` describes.
//!
//! Clients can connect to them before the daemon runs, and between two daemons: their calls wait.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use listenfd::ListenFd;
use quietcore_supervisor::places::Places;

/// The sockets that the daemon was started with; none if systemd did not start it.
#[derive(Debug, Default)]
pub struct Activation {
    pub(crate) local: Option<UnixListener>,
    pub(crate) network: Vec<TcpListener>,
}

/// The error of a socket that the daemon can't serve.
#[derive(Debug, thiserror::Error)]
pub enum ActivationError {
    /// It takes no connections of a kind that the daemon knows.
    #[error(
        "socket {number} of systemd is of another kind; write `ListenStream=` with a path, or \
         with an address and a port"
    )]
    Kind {
        /// Its place among those handed over, from 1.
        number: usize,
    },
    /// Clients look for it elsewhere.
    #[error(
        "systemd listens at {}, where no client looks for it; write `ListenStream={}`",
        found.as_ref().map_or("no path".to_owned(), |it| format!("`{}`", it.display())),
        expected.display()
    )]
    Path {
        /// Path of the socket, where it has one.
        found: Option<PathBuf>,
        /// Path at which clients look.
        expected: PathBuf,
    },
}

impl Activation {
    /// Takes the sockets that the environment of this process tells of. Programs that it starts
    /// later don't inherit them.
    ///
    /// # Errors
    /// [`ActivationError`] for a socket that can't be served.
    pub fn of_environment(places: &Places) -> Result<Self, ActivationError> {
        let mut sockets = ListenFd::from_env();
        let mut taken = Self::default();
        for index in 0..sockets.len() {
            if let Ok(Some(listener)) = sockets.take_unix_listener(index) {
                taken.local = Some(at(listener, places.daemon_socket())?);
            } else if let Ok(Some(listener)) = sockets.take_tcp_listener(index) {
                taken.network.push(listener);
            } else {
                return Err(ActivationError::Kind { number: index + 1 });
            }
        }
        Ok(taken)
    }
}

/// Returns the socket if it is at this path.
fn at(listener: UnixListener, expected: PathBuf) -> Result<UnixListener, ActivationError> {
    let address = listener.local_addr().ok();
    let found = address.and_then(|it| it.as_pathname().map(PathBuf::from));
    if found.as_ref() == Some(&expected) {
        return Ok(listener);
    }
    Err(ActivationError::Path { found, expected })
}
