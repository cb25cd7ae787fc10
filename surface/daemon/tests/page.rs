//! The live page: what browsers of this machine get, and what they don't.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quietcore_daemon::{Daemon, LinkError, ask_for_link};
use quietcore_supervisor::fake::{FakeProgram, FakeSite};
use quietcore_supervisor::places::{Claim, Places};
use quietcore_supervisor::server::{Limits, Server};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Status of gRPC for a call without a caller, and for one that its caller may not make.
const UNAUTHENTICATED: &str = "grpc-status: 16";
const PERMISSION_DENIED: &str = "grpc-status: 7";

/// A daemon with a page, and a site beside it.
struct Bench {
    places: Places,
    port: u16,
    _folder: TempDir,
    _server: Server,
    _claim: Claim,
    stop: Option<oneshot::Sender<()>>,
    daemon: Option<JoinHandle<()>>,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let program = FakeProgram::start(folder.path()).expect("a program");
        let site = Arc::new(FakeSite::with_program(program));
        let places = Places::new(folder.path().join("run"), folder.path().join("state"));
        let claim = Claim::take(&places, "line").expect("the site is free");
        let listener = claim.listen().expect("a socket");
        let server = Server::start(listener, "line", site as _, Limits::default());
        let daemon = Daemon::new(places.clone()).expect("the daemon's place is free");
        let daemon = daemon.with_page(0).expect("a port");
        let port = daemon.page_port().expect("the port");
        let (stop, stopped) = oneshot::channel();
        let daemon = thread::spawn(move || {
            let runtime = Runtime::new().expect("threads");
            let stopped = async { stopped.await.unwrap_or_default() };
            runtime.block_on(daemon.serve(stopped)).expect("it serves");
        });
        Self {
            places,
            port,
            _folder: folder,
            _server: server.expect("threads"),
            _claim: claim,
            stop: Some(stop),
            daemon: Some(daemon),
        }
    }

    /// Asks for a link at the socket, and returns its secret.
    fn link(&self, role: &str) -> String {
        let runtime = Runtime::new().expect("threads");
        let socket = self.places.daemon_socket();
        let asked = ask_for_link(&socket, Some(role));
        let url = runtime.block_on(asked).expect("a link");
        let begin = format!("http://127.0.0.1:{}/#link=", self.port);
        url.strip_prefix(&begin).expect("the address of this page").to_owned()
    }

    /// Sends a request with these headers beside `Host`, and returns the whole answer.
    fn send(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> String {
        let mut request = format!("{line} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            request += &format!("host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("content-length: {}\r\n\r\n", body.len());
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream.write_all(body).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Opens a session of this role.
    fn session(&self, role: &str) -> String {
        let opened = self.send("POST /session", &[], self.link(role).as_bytes());
        assert!(opened.starts_with("HTTP/1.1 200 "), "{opened}");
        let (_, rest) = opened.split_once(r#""session":""#).expect("a session");
        rest.split_once('"').expect("its end").0.to_owned()
    }

    /// Makes a call with an empty message by gRPC-Web.
    fn call(&self, call: &str, session: Option<&str>) -> String {
        let bearer = session.map(|session| format!("Bearer {session}"));
        let mut headers = vec![("content-type", "application/grpc-web+proto")];
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        self.send(&format!("POST /quietcore.v1.{call}"), &headers, &[0; 5])
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        let ended = self.daemon.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(()))), "the daemon has served until it was stopped");
    }
}

/// Goal: whoever has a link uses the page in the role of the link, and no other one does.
/// Method: calls without a session, with one, with one of a viewer, and after its end.
#[test]
fn a_link_opens_the_page_once_and_in_its_role() {
    let bench = Bench::new();
    let link = bench.link("operator");
    let opened = bench.send("POST /session", &[], link.as_bytes());
    assert!(opened.starts_with("HTTP/1.1 200 ") && opened.contains(r#""role":"operator""#));
    let again = bench.send("POST /session", &[], link.as_bytes());
    assert!(again.starts_with("HTTP/1.1 401 "), "{again}");

    let sites = "SiteService/ListSites";
    for stranger in [None, Some("0000"), Some(link.as_str())] {
        let refused = bench.call(sites, stranger);
        assert!(refused.contains(UNAUTHENTICATED), "{refused}");
    }
    let headers = [("content-type", "application/grpc-web+proto")];
    let path = "POST /quietcore.v1.SiteService/ListSites";
    let refused = bench.send(path, &headers, &[0; 500_000]);
    assert!(refused.contains(UNAUTHENTICATED), "whatever it sends: {refused}");
    let viewer = bench.session("viewer");
    let listed = bench.call(sites, Some(&viewer));
    assert!(listed.contains("line") && listed.contains("grpc-status:0"), "{listed}");
    let pause = "PartitionService/PausePartition";
    let refused = bench.call(pause, Some(&viewer));
    assert!(refused.contains(PERMISSION_DENIED) && refused.contains("operator"), "{refused}");
    let operator = bench.session("operator");
    assert!(!bench.call(pause, Some(&operator)).contains(PERMISSION_DENIED));

    let bearer = format!("Bearer {viewer}");
    let shown = [("authorization", bearer.as_str())];
    let known = bench.send("GET /session", &shown, &[]);
    assert!(known.contains(r#""role":"viewer""#) && known.contains(r#""session":null"#), "{known}");
    assert!(bench.send("DELETE /session", &shown, &[]).starts_with("HTTP/1.1 204 "));
    assert!(bench.send("GET /session", &shown, &[]).starts_with("HTTP/1.1 401 "));
    assert!(bench.call(sites, Some(&viewer)).contains(UNAUTHENTICATED));
}

/// Goal: other users of the machine can't take all connections, and somebody known keeps his.
/// Method: one connection that says nothing, and one on which a session is shown.
#[test]
fn a_connection_without_a_session_is_closed_and_another_stays() {
    let bench = Bench::new();
    let admin = bench.session("admin");
    let address = SocketAddr::from(([127, 0, 0, 1], bench.port));
    let connect = || {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        stream
    };
    let request = format!(
        "GET /session HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nauthorization: Bearer {admin}\r\n\r\n",
        bench.port
    );
    let ask = |stream: &mut TcpStream| {
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = [0; 2048];
        let read = stream.read(&mut answer).expect("it answers");
        assert!(answer[..read].starts_with(b"HTTP/1.1 200 "));
    };
    let (mut known, mut silent) = (connect(), connect());
    ask(&mut known);
    let begun = Instant::now();
    // A connection that is closed ends, or is reset.
    assert_eq!(silent.read(&mut [0; 1]).unwrap_or(0), 0, "nothing is said");
    assert!(begun.elapsed() < PATIENCE, "it was closed, not waited for");
    ask(&mut known);
}

/// Goal: a viewer can't make a link for more, neither on the page nor elsewhere, and a page makes
/// none at all: sessions would follow each other without end.
/// Method: a page of a viewer asks for links; the socket is asked for a role that is none.
#[test]
fn a_link_gives_no_more_than_its_maker_has() {
    let bench = Bench::new();
    let viewer = bench.session("viewer");
    // Field 1, a text of 5 bytes.
    let message = [&[0, 0, 0, 0, 7, 0x0a, 5], b"admin".as_slice()].concat();
    let bearer = format!("Bearer {viewer}");
    let headers = [("content-type", "application/grpc-web+proto"), ("authorization", &*bearer)];
    let make =
        |message: &[u8]| bench.send("POST /quietcore.v1.PageService/CreateLink", &headers, message);
    let refused = make(&message);
    assert!(refused.contains(PERMISSION_DENIED), "{refused}");
    let refused = make(&[0; 5]);
    assert!(refused.contains("run%20%60quietcored%20link%60%20there"), "{refused}");
    let runtime = Runtime::new().expect("threads");
    let socket = bench.places.daemon_socket();
    let refused = runtime.block_on(ask_for_link(&socket, Some("root"))).expect_err("it is no role");
    assert!(matches!(&refused, LinkError::Refused(_)) && refused.to_string().contains("`root`"));
}

/// Goal: pages of others reach nothing, by whichever name they come.
/// Method: requests with another host or origin, and files that are none.
#[test]
fn the_page_is_for_browsers_of_this_machine_alone() {
    let bench = Bench::new();
    let page = bench.send("GET /", &[], &[]);
    assert!(page.starts_with("HTTP/1.1 200 ") && page.contains("<!doctype html>"), "{page}");
    let policy = "content-security-policy: default-src 'none'; script-src 'self'";
    assert!(page.contains(policy) && page.contains("x-content-type-options: nosniff"));
    let link = bench.link("admin");
    for header in [("host", "evil.example"), ("origin", "http://evil.example")] {
        let refused = bench.send("GET /", &[header], &[]);
        assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
        let refused = bench.send("POST /session", &[header], link.as_bytes());
        assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
    }
    let opened = bench.send("POST /session", &[], link.as_bytes());
    assert!(opened.starts_with("HTTP/1.1 200 "), "nobody else has used it up");
    for (line, status) in [
        ("GET /../../etc/passwd", "404"),
        ("GET /app.css.map", "404"),
        ("PUT /", "405"),
        ("POST /", "400"),
    ] {
        let refused = bench.send(line, &[], &[]);
        assert!(refused.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {refused}");
    }
    let long = bench.send("POST /session", &[], &[b'0'; 100_000]);
    assert!(long.starts_with("HTTP/1.1 413 "), "{long}");
}

/// Goal: a daemon without a page says so to whoever asks for a link.
/// Method: one is asked that serves the socket alone.
#[test]
fn without_a_page_there_is_no_link() {
    let folder = TempDir::new().expect("a folder");
    let places = Places::new(folder.path().join("run"), folder.path().join("state"));
    let runtime = Runtime::new().expect("threads");
    let socket = places.daemon_socket();
    let nobody = runtime.block_on(ask_for_link(&socket, None)).expect_err("there is no daemon");
    assert!(nobody.to_string().contains("start `quietcored`"), "{nobody}");
    let daemon = Daemon::new(places).expect("the place is free");
    let (stop, stopped) = oneshot::channel::<()>();
    let served = runtime.spawn(daemon.serve(async { stopped.await.unwrap_or_default() }));
    let refused = runtime.block_on(ask_for_link(&socket, None)).expect_err("there is no page");
    assert!(refused.to_string().contains("--no-page"), "{refused}");
    stop.send(()).expect("it waits");
    runtime.block_on(served).expect("no panic").expect("it ended in order");
}
