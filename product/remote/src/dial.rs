//! The way to a daemon: a socket or TLS, then HTTP/2.
//!
//! The connection is made before gRPC hears of it, so that its faults have words of their own. It
//! is made once: a call after it has broken is an error.

use std::io;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_rustls::rustls::pki_types::ServerName;
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;

use crate::error::RemoteError;
use crate::target::Target;
use crate::tls::{Secured, secured};

/// The longest wait for a connection and its handshake.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Time between two looks for the other side while a call waits, and the longest wait for it.
const ALIVE_EVERY: Duration = Duration::from_secs(10);
/// The program as sites and the audit trail name it.
const AGENT: &str = concat!("quietcore/", env!("CARGO_PKG_VERSION"));

/// A stream of bytes both ways.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Connects to a daemon; returns the token that goes with each call, too.
pub(crate) async fn dial(target: &Target) -> Result<(Channel, Option<String>), RemoteError> {
    let address = target.address();
    let made = match timeout(CONNECT_MAX, wire(target)).await {
        Ok(made) => made?,
        Err(_) => {
            let why = format!("nothing came for {} s", CONNECT_MAX.as_secs());
            return Err(unreachable(target, why));
        }
    };
    let (wire, token) = made;
    let mut wire = Some(TokioIo::new(wire));
    let once = service_fn(move |_| {
        let taken = wire.take().ok_or_else(|| io::Error::other("it was closed at the other end"));
        async move { taken }
    });
    let endpoint = Endpoint::from_static("http://localhost")
        .user_agent(AGENT)
        .map_err(|error| unreachable(target, error.to_string()))?
        .http2_keep_alive_interval(ALIVE_EVERY)
        .keep_alive_timeout(ALIVE_EVERY);
    let channel = endpoint.connect_with_connector(once).await;
    let channel = channel.map_err(|error| RemoteError::of_transport(&error, address))?;
    Ok((channel, token))
}

async fn wire(target: &Target) -> Result<(Box<dyn Wire>, Option<String>), RemoteError> {
    match target {
        Target::Socket(path) => {
            let stream = UnixStream::connect(path).await;
            let stream = stream.map_err(|error| unreachable(target, error.to_string()))?;
            Ok((Box::new(stream), None))
        }
        Target::Network { host, port, credential } => {
            let Secured { connector, token } = secured(credential)?;
            let name = ServerName::try_from(host.clone())
                .map_err(|_| RemoteError::Address { text: target.address() })?;
            let stream = TcpStream::connect((host.as_str(), *port)).await;
            let stream = stream.map_err(|error| unreachable(target, error.to_string()))?;
            let handshake = connector.connect(name, stream).await;
            let stream =
                handshake.map_err(|error| RemoteError::of_handshake(&error, target.address()))?;
            Ok((Box::new(stream), token))
        }
    }
}

fn unreachable(target: &Target, why: String) -> RemoteError {
    let remedy = match target {
        Target::Socket(_) => "start `quietcored`",
        Target::Network { .. } => "is it the machine's name, and does `quietcored --listen` run?",
    };
    RemoteError::Unreachable { address: target.address(), why, remedy }
}
