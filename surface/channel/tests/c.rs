//! The C library: it compiles without a warning, and what C sends and waits for arrives.
//!
//! Method: a compiled program runs beside this test, which serves the site and holds the
//! partitions' ends of its channels.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use quietcore_process::channel::{ChannelMemory, HostEnd};
use quietcore_supervisor::fake::{self, FakeSite};
use quietcore_supervisor::places::{Claim, Places};
use quietcore_supervisor::server::{Limits, Server};
use quietcore_units::Nanos;

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wconversion"];

struct Site {
    folder: tempfile::TempDir,
    site: Arc<FakeSite>,
    _server: Server,
    _claim: Claim,
}

impl Site {
    fn serve() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::new(folder.path().join("run"), folder.path().join("state"));
        let claim = Claim::take(&places, "line").unwrap();
        let classes = quietcore_record::class::catalogue();
        let checked =
            quietcore_site::read("line.toml", fake::CHANNELS.as_bytes(), &classes).unwrap();
        let site = Arc::new(FakeSite::new());
        site.state().channels = Some(fake::channels(&checked));
        let served = Arc::clone(&site) as Arc<dyn quietcore_supervisor::Site>;
        let server =
            Server::start(claim.listen().unwrap(), "line", served, Limits::default()).unwrap();
        Self { folder, site, _server: server, _claim: claim }
    }

    fn memory(&self, channel: &str) -> Arc<ChannelMemory> {
        self.site.state().channels.as_ref().unwrap().memory(channel).unwrap()
    }

    fn program(&self, program: &Path, what: &str) -> Command {
        let mut command = Command::new(program);
        command.arg(what).env("QUIETCORE_RUN_DIR", self.folder.path().join("run"));
        command.env("QUIETCORE_STATE_DIR", self.folder.path().join("state"));
        command
    }

    fn runs_well(&self, program: &Path, what: &str) {
        let output = self.program(program, what).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{what}: {said}");
    }
}

/// Compiles the program with the shared library; `None` where there is no such compiler.
fn compile(compiler: &str, standard: &str) -> Option<PathBuf> {
    if Command::new(compiler).arg("--version").output().is_err() {
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("host-{compiler}"));
    let own = std::env::current_exe().unwrap();
    let libraries = own.parent().unwrap();
    let language = if compiler == "gcc" { "c" } else { "c++" };
    let output = Command::new(compiler)
        .args(["-x", language, standard, "-O1"])
        .args(WARNINGS)
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join("tests/program.c"))
        .arg("-L")
        .arg(libraries)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .arg("-lquietcore_channel")
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{compiler} {standard}:\n{said}");
    Some(program)
}

fn use_every_function(program: &Path) {
    let site = Site::serve();
    site.runs_well(program, "refused");
    let mut axis = HostEnd::receive_on(site.memory("setpoint").file().unwrap()).unwrap();
    site.runs_well(program, "send");
    let received = axis.receive().unwrap();
    assert_eq!((received.count, axis.value(1)), (1, Ok(12.5_f64.to_bits())));
    let mut message = [0; 8];
    assert_eq!(axis.receive_message(3, &mut message).unwrap().map(|it| it.bytes), Some(1));
    assert_eq!(message[0], 7);

    let mut command = site.program(program, "wait");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "waiting\n");
    let mut axis = HostEnd::send_on(site.memory("actual").file().unwrap()).unwrap();
    axis.send_message(2, Nanos::new(1), &(-6_i16).to_le_bytes()).unwrap();
    for count in 1..=3 {
        axis.set(1, f64::from(count).to_bits()).unwrap();
        axis.send(Nanos::new(1)).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_c99_program_of_the_host_reaches_a_channel_by_name() {
    let Some(program) = compile("gcc", "-std=c99") else {
        quietcore_skip::skip!("no C compiler; install Debian's `gcc`");
        return;
    };
    use_every_function(&program);
}

#[test]
fn a_cpp17_program_of_the_host_reaches_a_channel_by_name() {
    let Some(program) = compile("g++", "-std=c++17") else {
        quietcore_skip::skip!("no C++ compiler; install Debian's `g++`");
        return;
    };
    use_every_function(&program);
}
