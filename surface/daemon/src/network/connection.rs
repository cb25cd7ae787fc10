//! A connection of either kind, and what services learn of it.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use super::UNKNOWN_TIME;
use super::places::ConnectionPlace;

/// The way in which a connection came.
#[derive(Clone, Debug)]
pub(crate) enum Arrival {
    /// Over the local socket, of this user by the kernel's word.
    Socket(Option<u32>),
    /// Over the network, by TLS.
    Network(Arc<NetworkArrival>),
    /// By a browser of this machine.
    Page(Known),
}

/// Takes note of the first call that was let in on a connection, which may stay then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(Arc<AtomicBool>);

impl Known {
    /// Lets the connection stay: a call was let in.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A connection over the network, as its calls see it.
#[derive(Debug)]
pub(crate) struct NetworkArrival {
    address: IpAddr,
    certificate: Option<Vec<u8>>,
    known: Known,
}

impl NetworkArrival {
    /// Returns the address at the other end.
    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }

    /// Returns the client's certificate, of whose key and authority TLS has made sure.
    pub(crate) fn certificate(&self) -> Option<&[u8]> {
        self.certificate.as_deref()
    }

    /// Returns whether a call was let in.
    pub(crate) fn known(&self) -> &Known {
        &self.known
    }
}

/// A connection that calls come by.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    arrival: Arrival,
    /// End of a connection that nobody has become known on; `None` once it may stay.
    end: Option<Pin<Box<Sleep>>>,
    _place: Option<Place>,
}

/// The place of a connection, which is free again when this is dropped.
#[derive(Debug)]
enum Place {
    Network { _place: ConnectionPlace },
    Page { _place: OwnedSemaphorePermit },
}

#[derive(Debug)]
enum Stream {
    Socket(UnixStream),
    Network(Box<TlsStream<TcpStream>>),
    Page(TcpStream),
}

impl Connection {
    /// Takes a connection of the local socket.
    pub(crate) fn of_socket(stream: UnixStream) -> Self {
        let uid = stream.peer_cred().ok().map(|peer| peer.uid());
        let arrival = Arrival::Socket(uid);
        Self { stream: Stream::Socket(stream), arrival, end: None, _place: None }
    }

    /// Takes a connection over the network after its handshake.
    pub(super) fn of_network(
        stream: TlsStream<TcpStream>,
        address: IpAddr,
        place: ConnectionPlace,
    ) -> Self {
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let certificate = shown.map(|certificate| certificate.to_vec());
        let arrival = NetworkArrival { address, certificate, known: Known::default() };
        Self {
            stream: Stream::Network(Box::new(stream)),
            arrival: Arrival::Network(Arc::new(arrival)),
            end: Some(Box::pin(sleep(UNKNOWN_TIME))),
            _place: Some(Place::Network { _place: place }),
        }
    }

    /// Takes a connection of a browser.
    pub(crate) fn of_page(stream: TcpStream, place: OwnedSemaphorePermit) -> Self {
        Self {
            stream: Stream::Page(stream),
            arrival: Arrival::Page(Known::default()),
            end: Some(Box::pin(sleep(UNKNOWN_TIME))),
            _place: Some(Place::Page { _place: place }),
        }
    }

    /// Returns `true` when the time of a connection is over on which nobody has become known.
    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let Some(end) = &mut self.end else { return false };
        let known = match &self.arrival {
            Arrival::Socket(_) => return false,
            Arrival::Network(arrival) => &arrival.known,
            Arrival::Page(known) => known,
        };
        if known.is_set() {
            self.end = None;
            return false;
        }
        end.as_mut().poll(context).is_ready()
    }
}

impl Connected for Connection {
    type ConnectInfo = Arrival;

    fn connect_info(&self) -> Arrival {
        self.arrival.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // The server reads all the time, so the end is seen though nothing comes.
        if self.is_over(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        match &mut self.stream {
            Stream::Socket(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Network(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Page(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Socket(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Network(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Page(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Socket(stream) => Pin::new(stream).poll_flush(context),
            Stream::Network(stream) => Pin::new(stream).poll_flush(context),
            Stream::Page(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Socket(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Network(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Page(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
