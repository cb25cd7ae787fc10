//! A daemon with an open port, and clients with credentials.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jiff::Timestamp;
use quietcore_access::{Access, Grants, Order, Role, ServerNames};
use quietcore_api::v1;
use quietcore_api::v1::site_service_client::SiteServiceClient;
use quietcore_daemon::Daemon;
use quietcore_supervisor::fake::{FakeProgram, FakeSite};
use quietcore_supervisor::places::{Claim, Places};
use quietcore_supervisor::server::{Limits, Server};
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};
use tonic::codegen::InterceptedService;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status};

/// The longest wait for something that comes within some seconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// A call that each role may make.
pub(crate) const LIST_SITES: &str = "/quietcore.v1.SiteService/ListSites";

/// A connection, whose calls bear a token or none.
pub(crate) type Door = InterceptedService<Channel, Bearer>;

/// Puts a token into each call.
#[derive(Clone)]
pub(crate) struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// Makes a call whose argument means nothing, and drops its answer.
pub(crate) async fn attempt(door: &Door, path: &str) -> Result<(), Status> {
    let mut client = tonic::client::Grpc::new(door.clone());
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    // Examining the machine would take seconds; this is no list of CPUs, nor anything else.
    let argument =
        Request::new(v1::ExamineHostRequest { cpus: "x-".to_owned(), with_report: false });
    let path = path.parse::<PathAndQuery>().expect("a path");
    let codec = tonic_prost::ProstCodec::<v1::ExamineHostRequest, ()>::default();
    client.server_streaming(argument, path, codec).await.map(|_| ())
}

pub(crate) fn places(folder: &Path) -> Places {
    Places::new(folder.join("run"), folder.join("state"))
}

/// A daemon with an open port on a thread of its own, and a site beside it.
pub(crate) struct Secured {
    pub(crate) site: Arc<FakeSite>,
    pub(crate) address: SocketAddr,
    folder: TempDir,
    _server: Server,
    _claim: Claim,
    stop: Option<oneshot::Sender<()>>,
    _daemon: JoinHandle<()>,
    runtime: Runtime,
}

impl Secured {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let program = FakeProgram::start(folder.path()).expect("a program");
        let site = Arc::new(FakeSite::with_program(program));
        let places = places(folder.path());
        let claim = Claim::take(&places, "line").expect("the site is free");
        let listener = claim.listen().expect("a socket");
        let server = Server::start(listener, "line", Arc::clone(&site) as _, Limits::default());
        let access = Access::of_state(&places.daemon_state().expect("a folder"));
        let names = ServerNames::new(Vec::new(), Vec::new()).expect("localhost");
        access.init(&names, Timestamp::now()).expect("an authority");
        let daemon = Daemon::new(places).expect("the daemon's place is free");
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let daemon = daemon.listen(&[any_port]).expect("a free port");
        let address = daemon.addresses()[0];
        let (stop, stopped) = oneshot::channel();
        let daemon = thread::spawn(move || {
            let runtime = Runtime::new().expect("threads");
            let stopped = async { stopped.await.unwrap_or_default() };
            runtime.block_on(daemon.serve(stopped)).expect("it serves");
        });
        Self {
            site,
            address,
            folder,
            _server: server.expect("threads"),
            _claim: claim,
            stop: Some(stop),
            _daemon: daemon,
            runtime: Runtime::new().expect("threads"),
        }
    }

    pub(crate) fn access(&self) -> Access {
        Access::of_state(&places(self.folder.path()).daemon_state().expect("a folder"))
    }

    /// Makes a token for hours from `begin`.
    pub(crate) fn token(
        &self,
        name: &str,
        role: Role,
        grants: &[&str],
        hours: u32,
        begin: Timestamp,
    ) -> String {
        self.access().token(&order(name, role, grants), hours, begin).expect("a token").secret
    }

    /// Makes a certificate for days from `begin`.
    pub(crate) fn certificate(
        &self,
        name: &str,
        role: Role,
        grants: &[&str],
        days: u32,
        begin: Timestamp,
    ) -> Identity {
        let out = TempDir::new_in(self.folder.path()).expect("a folder");
        let out = out.path().join("made");
        self.access().issue(&order(name, role, grants), days, &out, begin).expect("one");
        let read = |file: &str| std::fs::read(out.join(file)).expect("it was made");
        Identity::from_pem(read("certificate.pem"), read("key.pem"))
    }

    fn authority(&self) -> String {
        self.access().server().expect("there is one").authority
    }

    /// Connects at the first call, with a certificate or none.
    pub(crate) fn channel(&self, identity: Option<Identity>) -> Door {
        self.door(identity, None)
    }

    fn door(&self, identity: Option<Identity>, token: Option<&str>) -> Door {
        let mut tls =
            ClientTlsConfig::new().ca_certificate(Certificate::from_pem(self.authority()));
        if let Some(identity) = identity {
            tls = tls.identity(identity);
        }
        let uri = format!("https://localhost:{}", self.address.port());
        let endpoint = Endpoint::from_shared(uri).expect("an address").tls_config(tls);
        // Connecting needs the threads, though it happens later.
        let _threads = self.runtime.enter();
        let channel = endpoint.expect("it can be used").connect_lazy();
        let token = token.map(|text| format!("Bearer {text}").parse().expect("visible characters"));
        InterceptedService::new(channel, Bearer(token))
    }

    /// Connects with a new certificate.
    pub(crate) fn with_certificate(&self, name: &str, role: Role, grants: &[&str]) -> Door {
        self.channel(Some(self.certificate(name, role, grants, 1, Timestamp::now())))
    }

    /// Connects without a certificate; calls bear this token.
    pub(crate) fn with_token(&self, text: &str) -> Door {
        self.door(None, Some(text))
    }

    /// Lists the sites that the caller may see.
    pub(crate) fn list(&self, door: &Door) -> Result<v1::ListSitesResponse, Status> {
        let mut sites = SiteServiceClient::new(door.clone());
        self.run(sites.list_sites(v1::ListSitesRequest {})).map(tonic::Response::into_inner)
    }

    /// Connects by this version of TLS without a certificate, and without saying anything in it.
    pub(crate) fn silent_connection(
        &self,
        version: &'static SupportedProtocolVersion,
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(self.authority().as_bytes()).expect("one");
        roots.add(authority).expect("it can be used");
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .expect("a version that is built in")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = "localhost".try_into().expect("a name");
        let client = ClientConnection::new(Arc::new(config), name).expect("a client");
        let stream = TcpStream::connect(self.address).expect("the port is open");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        StreamOwned::new(client, stream)
    }

    /// Connects from an address of this machine, and says nothing.
    pub(crate) fn connect_from(&self, address: Ipv4Addr) -> TcpStream {
        let connect = async {
            let socket = TcpSocket::new_v4()?;
            socket.bind((address, 0).into())?;
            socket.connect(self.address).await?.into_std()
        };
        let stream = self.run(connect).expect("the port is open");
        stream.set_nonblocking(false).expect("it is a socket");
        stream
    }

    /// Returns the threads that calls run on.
    pub(crate) fn threads(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Runs a call to its end.
    pub(crate) fn run<T>(&self, call: impl Future<Output = T>) -> T {
        let within = async { tokio::time::timeout(PATIENCE, call).await };
        self.runtime.block_on(within).expect("the daemon answers")
    }
}

impl Drop for Secured {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }
}

fn order(name: &str, role: Role, grants: &[&str]) -> Order {
    let grants = grants.iter().map(|text| text.parse().expect("a grant")).collect();
    Order { name: name.parse().expect("a name"), role, grants: Grants::new(grants) }
}

/// Returns `true` if the other end has closed a connection.
pub(crate) fn is_closed(read: &io::Result<usize>) -> bool {
    match read {
        Ok(count) => *count == 0,
        Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
    }
}
