//! The daemon under systemd: sockets that it is handed, and units that it prints.

use std::fs::DirBuilder;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt as _, FdMapping};
use jiff::Timestamp;
use quietcore_access::{Access, ServerNames};
use quietcore_api::v1::ListSitesRequest;
use quietcore_api::v1::site_service_client::SiteServiceClient;
use quietcore_daemon::{Daemon, DaemonError};
use quietcore_skip::skip;
use quietcore_supervisor::places::{PlaceError, Places};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tonic::transport::Endpoint;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first file descriptor that systemd hands over.
const FIRST: i32 = 3;

struct Ground {
    folder: TempDir,
    places: Places,
}

impl Ground {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let places = Places::new(folder.path().join("run"), folder.path().join("state"));
        Self { folder, places }
    }

    /// Listens as systemd does, which makes the folders on the way.
    fn listen(&self) -> UnixListener {
        let socket = self.places.daemon_socket();
        let parent = socket.parent().expect("a folder");
        DirBuilder::new().recursive(true).mode(0o700).create(parent).expect("a folder");
        UnixListener::bind(socket).expect("a socket")
    }

    /// Begins a command of the daemon's program with the folders of this ground.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("QUIETCORE_RUN_DIR", self.folder.path().join("run"));
        command.env("QUIETCORE_STATE_DIR", self.folder.path().join("state"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a daemon that is handed these sockets.
    fn hand_over(&self, sockets: Vec<OwnedFd>) -> Started {
        // The number of its process is that of the shell, which becomes the daemon.
        let mut command = self.command("sh");
        command.args([
            "-c",
            "LISTEN_PID=$$ exec \"$0\" --no-page",
            env!("CARGO_BIN_EXE_quietcored"),
        ]);
        command.env("LISTEN_FDS", sockets.len().to_string());
        let mapped = (FIRST..).zip(sockets);
        let mapped = mapped.map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd });
        command.fd_mappings(mapped.collect()).expect("the numbers differ");
        Started(command.spawn().expect("the daemon starts"))
    }

    /// Asks the daemon for its sites, which waits until there is one.
    fn number_of_sites(&self) -> usize {
        let runtime = tokio::runtime::Runtime::new().expect("threads");
        let socket = format!("unix:{}", self.places.daemon_socket().display());
        let asked = async {
            let endpoint = Endpoint::from_shared(socket).expect("a path");
            let channel = endpoint.connect().await.expect("somebody listens");
            let mut sites = SiteServiceClient::new(channel);
            sites.list_sites(ListSitesRequest::default()).await.expect("an answer")
        };
        let within = runtime.block_on(async { tokio::time::timeout(PATIENCE, asked).await });
        within.expect("the daemon answers").into_inner().sites.len()
    }
}

/// A daemon that does not outlive its test.
struct Started(Child);

impl Started {
    /// Ends it as systemd does, and returns its exit status and its lines.
    fn end(mut self) -> (ExitStatus, String) {
        // One that has ended by itself is there until somebody has waited for it.
        kill_process(Pid::from_child(&self.0), Signal::TERM).expect("it is a child");
        self.wait()
    }

    fn wait(&mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        let lines = self.0.stderr.as_mut().expect("a pipe");
        lines.read_to_string(&mut said).expect("its lines");
        (self.0.wait().expect("it is a child"), said)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Goal: while systemd has the socket, no call is lost with a daemon.
/// Method: kills a daemon that was handed a socket; a client calls before the next one starts.
#[test]
fn calls_wait_while_a_daemon_of_systemd_starts_anew() {
    let ground = Ground::new();
    let listener = ground.listen();
    let socket = || vec![listener.try_clone().expect("a descriptor").into()];

    let first = ground.hand_over(socket());
    assert_eq!(ground.number_of_sites(), 0);
    drop(first);

    let (asking, asks) = std::sync::mpsc::channel();
    let second = std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            asking.send(()).expect("the test waits");
            ground.number_of_sites()
        });
        asks.recv().expect("the client has begun");
        let second = ground.hand_over(socket());
        assert_eq!(call.join().expect("the call was answered"), 0);
        second
    });
    let (status, said) = second.end();
    assert!(status.success(), "{said}");

    let folder = ground.places.daemon_socket();
    let left = std::fs::read_dir(folder.parent().expect("a folder")).expect("it stays");
    let left: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left, ["socket"], "the socket is systemd's, and all else was the daemon's");
}

/// Goal: systemd itself starts the daemon with the first call.
/// Method: `systemd-socket-activate` listens, and a client calls.
#[test]
fn the_first_call_starts_the_daemon() {
    let ground = Ground::new();
    drop(ground.listen());
    std::fs::remove_file(ground.places.daemon_socket()).expect("it was there");
    let mut command = ground.command("systemd-socket-activate");
    command.arg("--listen").arg(ground.places.daemon_socket());
    for variable in ["QUIETCORE_RUN_DIR", "QUIETCORE_STATE_DIR"] {
        command.arg("--setenv").arg(variable);
    }
    command.arg(env!("CARGO_BIN_EXE_quietcored")).arg("--no-page");
    let started = match command.spawn() {
        Ok(child) => Started(child),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skip!("there is no systemd-socket-activate; install Debian's package `systemd`");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let last = Instant::now() + PATIENCE;
    while !ground.places.daemon_socket().exists() {
        assert!(Instant::now() < last, "nobody listens: {}", started.end().1);
        sleep(Duration::from_millis(20));
    }
    assert_eq!(ground.number_of_sites(), 0);
    let (status, said) = started.end();
    assert!(status.success() && said.contains("serving at"), "{said}");
}

/// Goal: a socket of the network takes no call from those without a credential.
/// Method: hands one over without an authority, and with one.
#[test]
fn a_socket_of_the_network_is_served_by_tls_alone() {
    let ground = Ground::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let socket = || vec![listener.try_clone().expect("a descriptor").into()];

    let (status, said) = ground.hand_over(socket()).wait();
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(said.contains("quietcore auth init"), "{said}");

    let access = Access::of_state(&ground.places.daemon_state().expect("a folder"));
    let names = ServerNames::new(Vec::new(), Vec::new()).expect("localhost");
    access.init(&names, Timestamp::now()).expect("an authority");
    let daemon = ground.hand_over(socket());
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").expect("it reads");
    // A TLS alert, whatever else: 21 is its type, and 3 the version's first number.
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(answer, [21, 3]);
    let (status, said) = daemon.end();
    assert!(status.success(), "{said}");
    assert!(said.contains(&format!("serving at {address} by TLS")), "{said}");
}

/// Goal: a unit that is wrong is named, and nothing is served.
/// Method: hands over a socket at another path, and one that takes no connections.
#[test]
fn sockets_that_no_client_looks_for_are_refused() {
    let ground = Ground::new();
    let elsewhere = UnixListener::bind(ground.folder.path().join("other")).expect("a socket");
    let (status, said) = ground.hand_over(vec![elsewhere.into()]).wait();
    assert_eq!(status.code(), Some(2), "{said}");
    let expected = ground.places.daemon_socket();
    assert!(said.contains(&format!("ListenStream={}", expected.display())), "{said}");

    let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let (status, said) = ground.hand_over(vec![ground.listen().into(), datagrams.into()]).wait();
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(said.contains("socket 2 of systemd is of another kind"), "{said}");
}

/// Goal: a daemon that is started by hand takes nothing from systemd.
/// Method: starts one while another process listens at the socket, and after that.
#[test]
fn a_daemon_started_by_hand_leaves_the_socket_of_systemd_alone() {
    let ground = Ground::new();
    let listener = ground.listen();
    match Daemon::new(ground.places.clone()) {
        Err(DaemonError::Place(PlaceError::SocketHeld { path })) => {
            assert_eq!(path, ground.places.daemon_socket());
        }
        other => panic!("{other:?}"),
    }
    UnixStream::connect(ground.places.daemon_socket()).expect("systemd listens");
    drop(listener);
    // What another test starts has inherited the socket until it is another program.
    let last = Instant::now() + PATIENCE;
    while let Err(error) = Daemon::new(ground.places.clone()) {
        assert!(Instant::now() < last, "nobody listens any more: {error}");
    }
}

/// Goal: the units are what systemd takes.
/// Method: prints them and lets `systemd-analyze verify` look.
#[test]
fn systemd_finds_no_fault_in_the_units() {
    let ground = Ground::new();
    let mut paths = Vec::new();
    for unit in ["service", "socket"] {
        let mut command = ground.command(env!("CARGO_BIN_EXE_quietcored"));
        let printed = command.args(["unit", unit]).output().expect("it prints");
        assert!(printed.status.success(), "{printed:?}");
        paths.push(ground.folder.path().join(format!("quietcored.{unit}")));
        std::fs::write(&paths[paths.len() - 1], printed.stdout).expect("a file");
    }
    let text = std::fs::read_to_string(&paths[0]).expect("a text");
    let run = ground.folder.path().join("run");
    assert!(text.contains(&format!("\"QUIETCORE_RUN_DIR={}\"", run.display())), "{text}");
    let mut command = Command::new("systemd-analyze");
    let verified = match command.args(["verify", "--man=no"]).args(&paths).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skip!("there is no systemd-analyze; install Debian's package `systemd`");
            return;
        }
        verified => verified.expect("it runs"),
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && !said.contains("quietcored"), "{said}");
}
