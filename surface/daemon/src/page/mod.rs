//! The live page: files for browsers of this machine, and the calls that they make.
//!
//! ```text
//! quietcored link ── socket ──► link, once ──► browser ── POST /session ──► session
//!                                                 └── calls by gRPC-Web, each with its session
//! ```
//!
//! The page is served on loopback alone, by plain HTTP. Its session is shown in a header of each
//! call, and not in a cookie: a browser shows those to programs of other users on other ports, too.
//!
//! | module | content |
//! |--------|---------|
//! | `files` | the page as it was built in |
//! | `front` | answers browsers before all services |
//! | `listener` | connections on loopback |
//! | `sessions` | links and sessions |

mod files;
mod front;
mod listener;
mod sessions;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tonic::Status;

pub use files::is_built_in;
pub(crate) use front::{FrontLayer, session};
pub use listener::PAGE_CONNECTIONS_MAX;
pub(crate) use listener::{Listener, accept};
use sessions::Sessions;
pub use sessions::{LINK_TIME, LINKS_MAX, SESSION_TIME, SESSIONS_MAX};

use crate::caller::Caller;

/// The page of a daemon: who may use it.
#[derive(Debug)]
pub(crate) struct Page {
    /// Port on loopback; `None` where the page isn't served.
    port: Option<u16>,
    sessions: Mutex<Sessions>,
}

impl Page {
    pub(crate) fn new(port: Option<u16>) -> Self {
        Self { port, sessions: Mutex::default() }
    }

    /// Makes a link that opens the page once in the name of a caller.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` where the page isn't served, `UNAVAILABLE` if the kernel gives no
    /// random numbers.
    pub(crate) fn link(&self, caller: Caller) -> Result<String, Status> {
        let told = "the page is not served; start `quietcored` without `--no-page`";
        let port = self.port.ok_or_else(|| Status::failed_precondition(told))?;
        let link = self.sessions().link(caller, Instant::now()).map_err(no_random_numbers)?;
        Ok(format!("http://127.0.0.1:{port}/#link={link}"))
    }

    /// Makes a session of a link; `None` if the link holds no more.
    ///
    /// # Errors
    /// `UNAVAILABLE` if the kernel gives no random numbers.
    fn open(&self, link: &str) -> Result<Option<String>, Status> {
        self.sessions().open(link, Instant::now()).map_err(no_random_numbers)
    }

    /// Returns the caller of a session that goes on.
    pub(crate) fn caller(&self, session: &str) -> Option<Caller> {
        self.sessions().caller(session, Instant::now()).cloned()
    }

    fn close(&self, session: &str) {
        self.sessions().close(session);
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_random_numbers(error: getrandom::Error) -> Status {
    Status::unavailable(format!("the kernel gives no random numbers: {error}"))
}
