//! Connections of browsers, on loopback alone.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use crate::network::Connection;

/// The most connections of browsers at once; a further one is closed.
pub const PAGE_CONNECTIONS_MAX: usize = 128;
/// Time to another try when the system gives no connection, as without free file descriptors.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// A port on loopback that browsers connect to at once, and are served at later.
#[derive(Debug)]
pub(crate) struct Listener {
    listener: TcpListener,
    port: u16,
}

impl Listener {
    /// Listens at a port; at another one that is free if this one is taken.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn bind(port: u16) -> io::Result<Self> {
        let at = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let listener = at(port).or_else(|error| match error.kind() {
            io::ErrorKind::AddrInUse => at(0),
            _ => Err(error),
        })?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Returns the port that it has, which may be another one than was asked for.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

/// Accepts connections and hands them on, until nobody takes them any more.
///
/// # Errors
/// Those of the system.
pub(crate) async fn accept(
    listener: Listener,
    accepted: Sender<io::Result<Connection>>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener.listener)?;
    let places = Arc::new(Semaphore::new(PAGE_CONNECTIONS_MAX));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(TRY_AGAIN).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        // An answer is written in pieces that should not wait for each other; it works without.
        let _ = stream.set_nodelay(true);
        if accepted.send(Ok(Connection::of_page(stream, place))).await.is_err() {
            return Ok(());
        }
    }
}
