//! The network: connections by TLS 1.3, each counted before anything is read from it.
//!
//! ```text
//! address:port ──► places, in all and for each address ──► TLS within HANDSHAKE_TIME ──► calls
//! ```
//!
//! A client may show a certificate of the authority; whether that opens anything is decided for
//! each call, as for tokens. A connection without a call that was let in ends after
//! [`UNKNOWN_TIME`], so that strangers take no place for long.

mod connection;
mod places;
mod tls;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

pub(crate) use connection::{Arrival, Connection, NetworkArrival};
pub use places::{CONNECTIONS_MAX, CONNECTIONS_OF_ADDRESS_MAX};
use places::{ConnectionPlace, ConnectionPlaces};
pub use tls::TlsError;
pub(crate) use tls::acceptor;

/// The longest time of a TLS handshake.
pub const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// The most connections whose handshake goes on.
pub const HANDSHAKES_MAX: usize = 64;
/// The longest time of a connection without a call that was let in.
pub const UNKNOWN_TIME: Duration = Duration::from_secs(10);

/// Time to another try when the system gives no connection, as without free file descriptors.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// An address that clients connect to at once, and are served at later.
pub(crate) struct Listener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl Listener {
    /// Takes a socket that clients connect to.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn new(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { listener, acceptor })
    }

    /// Returns the address, with the port that the system has chosen for port 0.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Accepts connections at all addresses, and hands them on, until it is dropped.
///
/// # Errors
/// Those of the system.
pub(crate) fn accept(
    listeners: Vec<Listener>,
    accepted: &Sender<io::Result<Connection>>,
) -> io::Result<JoinSet<()>> {
    let doorway = Doorway {
        places: ConnectionPlaces::default(),
        handshakes: Arc::new(Semaphore::new(HANDSHAKES_MAX)),
        accepted: accepted.clone(),
    };
    let mut tasks = JoinSet::new();
    for Listener { listener, acceptor } in listeners {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tasks.spawn(doorway.clone().accept_at(listener, acceptor));
    }
    Ok(tasks)
}

/// The way of a connection to the services, with its limits.
#[derive(Clone, Debug)]
struct Doorway {
    places: ConnectionPlaces,
    handshakes: Arc<Semaphore>,
    accepted: Sender<io::Result<Connection>>,
}

impl Doorway {
    async fn accept_at(self, listener: tokio::net::TcpListener, acceptor: TlsAcceptor) {
        loop {
            let Ok((stream, address)) = listener.accept().await else {
                sleep(TRY_AGAIN).await;
                continue;
            };
            // Beyond a limit the connection is closed at once: whoever opens many learns it there.
            let Some(place) = self.places.take(address.ip()) else { continue };
            let Ok(handshake) = Arc::clone(&self.handshakes).try_acquire_owned() else { continue };
            let (acceptor, accepted) = (acceptor.clone(), self.accepted.clone());
            tokio::spawn(async move {
                let connection = shake_hands(stream, address, place, acceptor).await;
                drop(handshake);
                if let Some(connection) = connection {
                    // If nobody takes it, the daemon ends.
                    let _ = accepted.send(Ok(connection)).await;
                }
            });
        }
    }
}

/// Makes a connection of TLS; `None` if the client does not manage in time.
async fn shake_hands(
    stream: TcpStream,
    address: SocketAddr,
    place: ConnectionPlace,
    acceptor: TlsAcceptor,
) -> Option<Connection> {
    // An answer is written in pieces that should not wait for each other; it works without, too.
    let _ = stream.set_nodelay(true);
    let stream = timeout(HANDSHAKE_TIME, acceptor.accept(stream)).await.ok()?.ok()?;
    Some(Connection::of_network(stream, address.ip(), place))
}
