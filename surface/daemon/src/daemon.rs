//! The socket, the services on it, and their end.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quietcore_access::{Access, AccessError, Doorkeeper};
use quietcore_api::FILE_DESCRIPTOR_SET;
use quietcore_api::v1::audit_service_server::AuditServiceServer;
use quietcore_api::v1::host_service_server::HostServiceServer;
use quietcore_api::v1::page_service_server::PageServiceServer;
use quietcore_api::v1::partition_service_server::PartitionServiceServer;
use quietcore_api::v1::program_service_server::ProgramServiceServer;
use quietcore_api::v1::qualification_service_server::QualificationServiceServer;
use quietcore_api::v1::site_service_server::SiteServiceServer;
use quietcore_api::v1::trace_service_server::TraceServiceServer;
use quietcore_api::v1::variable_service_server::VariableServiceServer;
use quietcore_audit::Retention;
use quietcore_supervisor::places::{Claim, PlaceError, Places};
use tokio_rustls::TlsAcceptor;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tonic::transport::Server;
use tonic_web::GrpcWebLayer;
use tower_layer::{Identity, Stack};

use crate::access::{AccessLayer, Gate};
use crate::applying::Applying;
use crate::audit::Audit;
use crate::cpus::OffPartitions;
use crate::following::Streams;
use crate::following::encoded::Subscriptions;
use crate::network::{self, Connection, Listener, TlsError};
use crate::page::{self, FrontLayer, Page};
use crate::programs::Received;
use crate::qualification::Runs;
use crate::service::{
    AuditCalls, HostCalls, PageCalls, PartitionCalls, ProgramCalls, QualificationCalls, SiteCalls,
    TraceCalls, VariableCalls,
};
use crate::sites::Sites;
use crate::systemd::{Activation, ActivationError};
use crate::traces::Traces;

/// Time that calls have to end by themselves.
const GRACE: Duration = Duration::from_secs(2);
/// Time without a sign of life after which a client is asked for one, and that it has to give it.
const KEEPALIVE: Duration = Duration::from_secs(20);
/// The most calls of one connection at once.
const CALLS_OF_CONNECTION_MAX: u32 = 100;
/// The largest headers of a call, in bytes.
const HEADER_BYTES_MAX: u32 = 16 << 10;
/// Connections over the network that wait to be served.
const ACCEPTED_MAX: usize = 16;

/// The error of a daemon that can't serve.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The folder of the socket can't be used, or another daemon runs.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The socket can't be served.
    #[error("the socket can't be served")]
    Socket(#[source] io::Error),
    /// Nobody was given access from the network, or its files can't be used.
    #[error("calls from the network can't be taken")]
    Access(#[from] AccessError),
    /// The certificate of the daemon can't be used.
    #[error("calls from the network can't be taken")]
    Tls(#[from] TlsError),
    /// An address can't be listened at.
    #[error("`{address}` can't be listened at")]
    Listen {
        /// Address that was asked for.
        address: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A socket of systemd can't be served.
    #[error(transparent)]
    Activation(#[from] ActivationError),
    /// Signals can't be received.
    #[error("signals can't be received")]
    Signals(#[source] io::Error),
    /// The contract that is built in can't be read.
    #[error("the contract can't be handed out")]
    Reflection(#[source] tonic_reflection::server::Error),
    /// The services ended before they were asked to.
    #[error("the services ended")]
    Served(#[source] tonic::transport::Error),
}

/// A daemon with its socket, which clients can connect to at once and are served at later.
#[derive(Debug)]
pub struct Daemon {
    claim: Claim,
    listener: UnixListener,
    sites: Sites,
    retention: Retention,
    network: Vec<Listener>,
    doorkeeper: Option<Doorkeeper>,
    page: Option<page::Listener>,
    programs: PathBuf,
}

impl Daemon {
    /// Claims the place of the daemon and makes its socket.
    ///
    /// # Errors
    /// [`PlaceError::DaemonRuns`] while another daemon of this user runs; others when the folders
    /// can't be used.
    pub fn new(places: Places) -> Result<Self, DaemonError> {
        let claim = Claim::take_daemon(&places)?;
        let listener = claim.listen()?;
        Ok(Self::listening(places, claim, listener))
    }

    /// Claims the place of the daemon, and takes the sockets that systemd has made for it: that of
    /// this machine, and those of the network.
    ///
    /// # Errors
    /// Those of [`Self::new`] and of [`Self::listen`].
    pub fn of_systemd(places: Places, sockets: Activation) -> Result<Self, DaemonError> {
        let mut daemon = match sockets.local {
            None => Self::new(places)?,
            Some(listener) => {
                let claim = Claim::take_daemon_of_systemd(&places)?;
                Self::listening(places, claim, listener)
            }
        };
        if !sockets.network.is_empty() {
            let acceptor = daemon.admit()?;
            for listener in sockets.network {
                let listener = Listener::new(listener, acceptor.clone());
                daemon.network.push(listener.map_err(DaemonError::Socket)?);
            }
        }
        Ok(daemon)
    }

    fn listening(places: Places, claim: Claim, listener: UnixListener) -> Self {
        let sites = Sites::new(places);
        let retention = Retention::default();
        let (network, doorkeeper, page) = (Vec::new(), None, None);
        let programs = beside_this_program();
        Self { claim, listener, sites, retention, network, doorkeeper, page, programs }
    }

    /// Takes calls at these addresses, too, by TLS and from those alone who have a credential.
    ///
    /// # Errors
    /// [`DaemonError::Access`] before `quietcore auth init`; others if its files or an address
    /// can't be used.
    pub fn listen(mut self, addresses: &[SocketAddr]) -> Result<Self, DaemonError> {
        let acceptor = self.admit()?;
        for &address in addresses {
            let listener = TcpListener::bind(address);
            let listener = listener.and_then(|it| Listener::new(it, acceptor.clone()));
            self.network.push(listener.map_err(|source| DaemonError::Listen { address, source })?);
        }
        Ok(self)
    }

    /// Lets those in who have a credential, and returns what accepts their connections.
    fn admit(&mut self) -> Result<TlsAcceptor, DaemonError> {
        let access = Access::of_state(&self.sites.places().daemon_state()?);
        let acceptor = network::acceptor(&access.server()?)?;
        self.doorkeeper = Some(Doorkeeper::of(&access)?);
        Ok(acceptor)
    }

    /// Serves the live page to browsers of this machine, too, at this port of loopback, or at
    /// another one if it is taken.
    ///
    /// # Errors
    /// [`DaemonError::Listen`] if there is no port.
    pub fn with_page(mut self, port: u16) -> Result<Self, DaemonError> {
        let refused = |source| DaemonError::Listen {
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            source,
        };
        self.page = Some(page::Listener::bind(port).map_err(refused)?);
        Ok(self)
    }

    /// Returns the port of the live page, where that is served.
    pub fn page_port(&self) -> Option<u16> {
        self.page.as_ref().map(page::Listener::port)
    }

    /// Returns the addresses of the network that it listens at, with the ports that the system has
    /// chosen.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.network.iter().filter_map(|listener| listener.address().ok()).collect()
    }

    /// Returns the same daemon, which keeps its audit trail for another time.
    #[must_use]
    pub fn keeping_audit_for(self, retention: Retention) -> Self {
        Self { retention, ..self }
    }

    /// Returns the same daemon, which starts the product's programs from another folder than that
    /// of its own program.
    #[must_use]
    pub fn starting_from(self, programs: PathBuf) -> Self {
        Self { programs, ..self }
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> PathBuf {
        self.sites.places().daemon_socket()
    }

    /// Serves until `stop` is done; then streams end, and calls have two seconds.
    ///
    /// # Errors
    /// [`DaemonError`] if it can't begin or go on.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), DaemonError> {
        let page = Arc::new(Page::new(self.page_port()));
        let Self { claim: _claim, listener, sites, retention, network, doorkeeper, .. } = self;
        let (port, runs) = (self.page, Runs::new(sites.places(), self.programs));
        let traces = Traces::new(sites.places());
        listener.set_nonblocking(true).map_err(DaemonError::Socket)?;
        let listener = tokio::net::UnixListener::from_std(listener).map_err(DaemonError::Socket)?;
        let _off_partitions = OffPartitions::watch();
        let (told, stopping) = tokio::sync::oneshot::channel::<()>();
        let gate = Gate::new(doorkeeper, Arc::clone(&page));
        let audit = Audit::start(sites.places(), retention);
        let router = router(&sites, &audit, (runs, traces.clone()), gate, page).await?;
        let (accepted, from_network) = tokio::sync::mpsc::channel(ACCEPTED_MAX);
        let _accepting = network::accept(network, &accepted).map_err(DaemonError::Socket)?;
        if let Some(port) = port {
            tokio::spawn(page::accept(port, accepted.clone()));
        }
        drop(accepted);
        let from_socket = UnixListenerStream::new(listener).map(|it| it.map(Connection::of_socket));
        let incoming = from_socket.merge(ReceiverStream::new(from_network));
        let served = router.serve_with_incoming_shutdown(incoming, async {
            // It was told, or can't be told any more: both are the end.
            let _ = stopping.await;
        });
        tokio::pin!(served);
        tokio::select! {
            ended = &mut served => return ended.map_err(DaemonError::Served),
            () = stop => {}
        }
        sites.stop();
        let _ = told.send(());
        // Traces are kept, for which the time of calls is more than enough.
        let kept = tokio::task::spawn_blocking(move || traces.end());
        // Clients that hold on are cut off.
        match tokio::time::timeout(GRACE, async { tokio::join!(served, kept).0 }).await {
            Ok(ended) => ended.map_err(DaemonError::Served),
            Err(_) => Ok(()),
        }
    }
}

/// Returns the folder of this program, in which the product's others are.
fn beside_this_program() -> PathBuf {
    let program = std::env::current_exe().ok();
    program.as_deref().and_then(Path::parent).map(PathBuf::from).unwrap_or_default()
}

/// The services behind the gate.
type Router = tonic::transport::server::Router<
    Stack<AccessLayer, Stack<GrpcWebLayer, Stack<FrontLayer, Identity>>>,
>;

async fn router(
    sites: &Sites,
    audit: &Audit,
    (runs, traces): (Runs, Traces),
    gate: Gate,
    page: Arc<Page>,
) -> Result<Router, DaemonError> {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<SiteServiceServer<SiteCalls>>().await;
    reporter.set_serving::<PartitionServiceServer<PartitionCalls>>().await;
    reporter.set_serving::<ProgramServiceServer<ProgramCalls>>().await;
    reporter.set_serving::<QualificationServiceServer<QualificationCalls>>().await;
    reporter.set_serving::<TraceServiceServer<TraceCalls>>().await;
    reporter.set_serving::<VariableServiceServer<VariableCalls>>().await;
    reporter.set_serving::<HostServiceServer<HostCalls>>().await;
    reporter.set_serving::<AuditServiceServer<AuditCalls>>().await;
    reporter.set_serving::<PageServiceServer<PageCalls>>().await;
    let reflection = reflection_builder().build_v1().map_err(DaemonError::Reflection)?;
    let older_reflection = reflection_builder().build_v1alpha().map_err(DaemonError::Reflection)?;
    let streams = Streams::default();
    let received = Received::new(sites.places());
    let applying = Applying::new(&received);
    let runs = QualificationCalls::new(sites, &streams, audit, runs, &applying);
    let traces = TraceCalls::new(sites, &streams, audit, &traces);
    let router = Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .max_concurrent_streams(CALLS_OF_CONNECTION_MAX)
        .accept_http1(true)
        .layer(FrontLayer(Arc::clone(&page)))
        .layer(GrpcWebLayer::new())
        .layer(AccessLayer(Arc::new(gate)))
        .add_service(health)
        .add_service(reflection)
        .add_service(older_reflection)
        .add_service(SiteServiceServer::new(SiteCalls::new(sites, &streams, applying, audit)))
        .add_service(PartitionServiceServer::new(PartitionCalls::new(sites, audit)))
        .add_service(ProgramServiceServer::new(ProgramCalls::new(sites, &streams, received, audit)))
        .add_service(Subscriptions::new(VariableCalls::new(sites, &streams, audit)))
        .add_service(QualificationServiceServer::new(runs))
        .add_service(TraceServiceServer::new(traces))
        .add_service(HostServiceServer::new(HostCalls::new(sites)))
        .add_service(AuditServiceServer::new(AuditCalls::new(sites)))
        .add_service(PageServiceServer::new(PageCalls::new(&page, audit)));
    Ok(router)
}

/// Begins the service that hands out the contract; clients ask for it in two versions.
fn reflection_builder() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
