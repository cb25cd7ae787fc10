//! The control socket: an accept loop and a thread a client, all of ordinary priority.
//!
//! | limit | value | beyond it |
//! |-------|-------|---------------------|
//! | clients | [`CLIENTS_MAX`] | a further client is told so and closed |
//! | line | [`LINE_BYTES_MAX`] | told so and closed |
//! | idle | [`Limits::idle`] | told so and closed |
//! | time for a line | [`Limits::line`] | told so and closed |
//! | changes in a group, variables in a recording | [`CHANGE_COUNT_MAX`], [`TRACE_VARIABLES_MAX`] | refused |
//!
//! Only this user and root may connect: the kernel tells who is at the other end. A recording ends
//! with the connection that began it, so a client that is killed leaves none behind.
//!
//! [`LINE_BYTES_MAX`]: crate::control::line::LINE_BYTES_MAX
//! [`CHANGE_COUNT_MAX`]: crate::control::CHANGE_COUNT_MAX
//! [`TRACE_VARIABLES_MAX`]: crate::control::TRACE_VARIABLES_MAX

mod history;
mod session;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use crate::Site;
use crate::channel::{Channel, Patience};
use crate::control::line::answer_line;
use crate::control::{Answer, Refusal};
use crate::socket::peer;
use history::History;
use session::Session;

/// Limit of the clients that are connected at once.
pub const CLIENTS_MAX: usize = 32;

/// Pause of the accept loop when the process has no file descriptors left.
const REST: Duration = Duration::from_millis(100);

/// Limits for the clients of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of clients at once.
    pub clients: usize,
    /// Longest silence of a client between two requests.
    pub idle: Duration,
    /// Longest time for a line, either way.
    pub line: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { clients: CLIENTS_MAX, idle: Duration::from_secs(600), line: Duration::from_secs(10) }
    }
}

/// A running server. Dropping it ends all connections.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
    /// Socket that is closed to wake the accept loop.
    wake: Option<UnixStream>,
}

/// The state that the threads of a server share.
struct Shared {
    site: Arc<dyn Site>,
    name: String,
    limits: Limits,
    stopping: AtomicBool,
    clients: Mutex<Clients>,
    history: Mutex<History>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("site", &self.name).finish_non_exhaustive()
    }
}

/// The connected clients, and their recordings.
#[derive(Debug, Default)]
struct Clients {
    next: u64,
    connections: BTreeMap<u64, UnixStream>,
    /// The client that began the recording of each partition.
    traces: BTreeMap<String, u64>,
}

impl Server {
    /// Serves the site called `name` on `listener`.
    ///
    /// # Errors
    /// When the process has no threads or file descriptors left.
    pub fn start(
        listener: UnixListener,
        name: &str,
        site: Arc<dyn Site>,
        limits: Limits,
    ) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        listener.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            site,
            name: name.to_owned(),
            limits,
            stopping: AtomicBool::new(false),
            clients: Mutex::default(),
            history: Mutex::default(),
        });
        let accepting = thread::Builder::new().name("control".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || accept_all(&shared, &listener, &woken)
        })?;
        Ok(Self { shared, accepting: Some(accepting), wake: Some(wake) })
    }

    /// Ends all connections and waits for the accept loop. Requests that are being served run to
    /// their end, unheard.
    pub fn stop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        self.wake = None;
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        for connection in self.shared.clients().connections.values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    /// Locks the table of clients, which remains usable even if a thread panicked while it held the
    /// lock.
    fn clients(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the changes that clients have made, under the same rule.
    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

fn accept_all(shared: &Arc<Shared>, listener: &UnixListener, woken: &UnixStream) {
    while !shared.is_stopping() {
        let mut polled = [
            PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(woken.as_fd(), PollFlags::IN),
        ];
        if poll(&mut polled, None).is_err() {
            continue;
        }
        match listener.accept() {
            Ok((stream, _)) => admit(shared, stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // No file descriptors are left, or the client has gone again. Connected clients go on.
            Err(_) => thread::sleep(REST),
        }
    }
}

/// Gives a new client its thread, or tells it why not.
fn admit(shared: &Arc<Shared>, stream: UnixStream) {
    let refused = |stream: &UnixStream, refusal: Refusal| {
        let error = refusal.at("connection");
        // It must not hold up the loop: what doesn't fit into the socket at once is lost.
        let _ = stream.set_nonblocking(true);
        let mut stream = stream;
        let _ = stream.write_all(&answer_line(&Answer::Error(error)));
    };
    let own = rustix::process::geteuid();
    let is_allowed = |uid: u32| uid == own.as_raw() || uid == 0;
    let Some(peer) = peer::other_side(&stream, is_allowed) else {
        refused(&stream, Refusal::OtherUser);
        return;
    };
    let Ok(copy) = stream.set_nonblocking(false).and_then(|()| stream.try_clone()) else {
        refused(&stream, Refusal::NoDescriptors);
        return;
    };
    let client = {
        let mut clients = shared.clients();
        if clients.connections.len() >= shared.limits.clients {
            refused(&stream, Refusal::TooManyClients { count: shared.limits.clients });
            return;
        }
        clients.next += 1;
        let client = clients.next;
        clients.connections.insert(client, copy);
        client
    };
    let patience = Patience { begin: shared.limits.idle, finish: shared.limits.line };
    let channel = Channel::new(stream, patience);
    let session = Session::new(Arc::clone(shared), client, peer, channel);
    let name = thread::Builder::new().name(format!("client-{client}"));
    // Without a thread the session is dropped, which closes the connection and forgets it.
    let _ = name.spawn(move || session.serve());
}

#[cfg(test)]
mod tests;
