//! Programs sent to the daemon over its socket, and deployed to a partition that really runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quietcore_api::v1::build_program_response::Content as Built;
use quietcore_api::v1::program_service_client::ProgramServiceClient;
use quietcore_api::v1::upload_program_request::Content;
use quietcore_api::v1::variable_service_client::VariableServiceClient;
use quietcore_api::v1::{self, BuildOutcome};
use quietcore_daemon::{Daemon, UPLOADS_MAX};
use quietcore_record::class::catalogue;
use quietcore_skip::skip;
use quietcore_supervisor::control::{Activity, Restart};
use quietcore_supervisor::live::{Plan, Running};
use quietcore_supervisor::places::{Places, StartedBy};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio_stream::StreamExt as _;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

/// The longest wait of a test, on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(180);

const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "fast-control-loop"

[partition.vcr]
cpus = [0]

[partition.program]
model = "counter"
period = "5 ms"
policy = "other"
watchdog = "1 s"
"#;

/// A program that says which one it is.
fn counter(number: u32) -> String {
    format!(
        "double which;\ndouble cycles;\nvoid counter_initialize(void) {{ which = 0.0; }}\n\
         void counter_step(void) {{ which = {number}.0; cycles += 1.0; }}\n\
         void counter_terminate(void) {{}}\n"
    )
}

/// A daemon on a thread of its own, and a client.
struct Bench {
    folder: TempDir,
    daemon: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    runtime: Runtime,
    client: ProgramServiceClient<Channel>,
    channel: Channel,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let runtime = Runtime::new().expect("threads");
        let (daemon, channel) = serve(&places(folder.path()), &runtime);
        let client = ProgramServiceClient::new(channel.clone());
        Self { folder, daemon: Some(daemon), runtime, client, channel }
    }

    fn end(&mut self) {
        if let Some((stop, daemon)) = self.daemon.take() {
            let _ = stop.send(());
            daemon.join().expect("the daemon ends well");
        }
    }

    fn restart(&mut self) {
        self.end();
        let (daemon, channel) = serve(&places(self.folder.path()), &self.runtime);
        self.daemon = Some(daemon);
        self.client = ProgramServiceClient::new(channel.clone());
        self.channel = channel;
    }

    fn run<T>(&self, call: impl Future<Output = T>) -> T {
        let within = async { tokio::time::timeout(PATIENCE, call).await };
        self.runtime.block_on(within).expect("the daemon answers")
    }

    fn send(&self, program: &str, parts: Vec<Content>) -> Result<v1::ProgramVersion, Status> {
        let begin = Content::Begin(v1::UploadBegin { program: program.to_owned() });
        self.send_plain([vec![begin], parts].concat())
    }

    fn send_plain(&self, parts: Vec<Content>) -> Result<v1::ProgramVersion, Status> {
        let parts = parts.into_iter().map(|part| v1::UploadProgramRequest { content: Some(part) });
        let mut client = self.client.clone();
        let sent = self.run(client.upload_program(tokio_stream::iter(parts)))?;
        Ok(sent.into_inner().version.expect("a version"))
    }

    /// Sends a program of one file.
    fn send_text(&self, text: &str) -> v1::ProgramVersion {
        let parts =
            vec![Content::File("counter.c".to_owned()), Content::Chunk(text.as_bytes().to_vec())];
        self.send("counter", parts).expect("a good program")
    }

    /// Builds a version, for the partition if there is one; `None` where no sandbox is granted.
    fn build(&self, version: u64, partition: &str) -> Option<(Vec<String>, BuildOutcome)> {
        let (program, partition) = ("counter".to_owned(), partition.to_owned());
        let request = v1::BuildProgramRequest { program, version, partition, site: String::new() };
        let mut client = self.client.clone();
        let told = self.run(async {
            let mut stream = client.build_program(request).await?.into_inner();
            let mut lines = Vec::new();
            loop {
                match stream.message().await?.and_then(|message| message.content) {
                    Some(Built::Line(line)) => lines.push(line),
                    Some(Built::Outcome(outcome)) => return Ok((lines, outcome)),
                    None => return Err(Status::aborted("no outcome")),
                }
            }
        });
        match told {
            Ok(told) => Some(told),
            Err(refused) if refused.message().contains("in a sandbox only") => {
                skip!("{}", refused.message());
                None
            }
            Err(refused) => panic!("{refused}"),
        }
    }

    fn deploy(&self, version: u64) -> Result<v1::DeployedBuild, Status> {
        let request = v1::DeployProgramRequest {
            partition: "axis".to_owned(),
            program: "counter".to_owned(),
            version,
            ..v1::DeployProgramRequest::default()
        };
        let deployed = self.run(self.client.clone().deploy_program(request))?.into_inner();
        assert_eq!(deployed.version, version);
        Ok(deployed.deployed.expect("what came of it"))
    }

    fn roll_back(&self) -> Result<u64, Status> {
        let partition = "axis".to_owned();
        let request = v1::RollBackProgramRequest { partition, ..Default::default() };
        let back = self.run(self.client.clone().roll_back_program(request))?.into_inner();
        Ok(back.version)
    }

    fn delete(&self, version: u64) -> Result<(), Status> {
        let request = v1::DeleteVersionRequest { program: "counter".to_owned(), version };
        self.run(self.client.clone().delete_version(request)).map(drop)
    }

    fn versions(&self) -> Vec<v1::ProgramVersion> {
        let request = v1::ListVersionsRequest { program: "counter".to_owned() };
        let listed = self.run(self.client.clone().list_versions(request));
        listed.expect("versions").into_inner().versions
    }

    /// Waits until the program that runs says that it is this one.
    fn wait_for(&self, number: u32) {
        let mut variables = VariableServiceClient::new(self.channel.clone());
        let patterns = vec!["which".to_owned()];
        let partition = "axis".to_owned();
        let request = v1::ReadVariablesRequest { partition, patterns, ..Default::default() };
        let end = Instant::now() + PATIENCE;
        loop {
            let read = self.run(variables.read_variables(request.clone()));
            // A deploy may come in between.
            let read = read.map(|read| read.into_inner().variables.swap_remove(0).value);
            let value = read.ok().flatten().and_then(|value| value.kind);
            let double = Some(v1::value::Kind::Double(number.into()));
            if value == double {
                return;
            }
            assert!(Instant::now() < end, "{value:?} is not {number}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Brings up the site with a program of its own.
    fn bring_up(&self) -> Running {
        let model = self.folder.path().join("counter");
        fs::create_dir(&model).expect("a folder");
        fs::write(model.join("counter.c"), counter(100)).expect("a source");
        let site_file = self.folder.path().join("press.toml");
        fs::write(&site_file, SITE).expect("a site file");
        let site = quietcore_site::read("press.toml", SITE.as_bytes(), &catalogue());
        let plan = Plan {
            site: Arc::new(site.expect("a good site file")),
            site_file,
            runtime: runtime(),
            start: Restart::Warm,
            controls: None,
            started_by: StartedBy::this_process(),
        };
        let places = places(self.folder.path());
        let running = Running::up(plan, &places, &mut |line| println!("{line}"));
        let running = running.unwrap_or_else(|error| panic!("{error}"));
        let end = Instant::now() + PATIENCE;
        loop {
            let client = quietcore_supervisor::client::Client::connect(&places, None);
            let states = client.expect("the site answers").list().expect("the site answers");
            if states[0].state == Activity::Running {
                return running;
            }
            assert!(Instant::now() < end, "it does not run: {states:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some((stop, _)) = self.daemon.take() {
            let _ = stop.send(());
        }
    }
}

fn places(folder: &Path) -> Places {
    Places::new(folder.join("run"), folder.join("state"))
}

fn serve(places: &Places, runtime: &Runtime) -> ((oneshot::Sender<()>, JoinHandle<()>), Channel) {
    let daemon = Daemon::new(places.clone()).expect("the daemon's place is free");
    let (stop, stopped) = oneshot::channel();
    let serving = thread::spawn(move || {
        let runtime = Runtime::new().expect("threads");
        let stopped = async { stopped.await.unwrap_or_default() };
        runtime.block_on(daemon.serve(stopped)).expect("it serves");
    });
    let socket = format!("unix:{}", places.daemon_socket().display());
    let endpoint = Endpoint::from_shared(socket).expect("a path");
    let channel = runtime.block_on(endpoint.connect()).expect("the daemon takes clients");
    ((stop, serving), channel)
}

/// The program that becomes a partition: an example, which is built with the tests.
fn runtime() -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    let folder = own.parent().and_then(Path::parent).expect("target/debug/deps/programs");
    folder.join("examples/daemon_partition")
}

fn has_compiler() -> bool {
    let asked = std::process::Command::new("gcc").arg("--version").output();
    asked.is_ok_and(|asked| asked.status.success())
}

/// Goal: the way of generated code, from the design tool into a program that runs, and back.
/// Method: a site with a program of its own; two versions are sent, built, deployed, taken back
/// and looked up by another daemon, and the program says at each point which one it is.
#[test]
fn a_program_is_sent_built_deployed_and_rolled_back() {
    if !has_compiler() {
        skip!("there is no gcc; install it");
        return;
    }
    let mut bench = Bench::new();
    let first = bench.send_text(&counter(1));
    assert_eq!((first.number, first.files, first.sha256.len()), (1, 1, 64));
    let site = bench.bring_up();
    bench.wait_for(100);
    let Some((lines, outcome)) = bench.build(1, "axis") else { return };
    assert!(outcome.succeeded && !outcome.was_built_before, "{outcome:?}");
    assert!(lines.contains(&"compiling counter.c".to_owned()), "{lines:?}");
    let deployed = bench.deploy(1).expect("it runs");
    assert_eq!(deployed.probation(), v1::Probation::Passed);
    assert!(deployed.generation == 2 && deployed.carried >= 1, "{deployed:?}");
    bench.wait_for(1);
    assert_eq!(bench.send_text(&counter(1)).number, 1, "the same files are the same version");
    assert_eq!(bench.roll_back().expect_err("no version before").code(), Code::FailedPrecondition);
    assert_eq!(bench.send_text(&counter(2)).number, 2);
    bench.deploy(2).expect("it runs");
    bench.wait_for(2);
    let refused = bench.delete(2).expect_err("it runs");
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert!(refused.message().contains("in use by partition `axis`"), "{refused}");
    assert_eq!(bench.roll_back().expect("the version before"), 1);
    bench.wait_for(1);
    // A version that does not compile changes nothing.
    bench.send_text("#include \"/etc/shadow\"\n");
    let refused = bench.deploy(3).expect_err("it can't be built");
    assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
    assert!(refused.message().contains("the old program runs on"), "{refused}");
    bench.wait_for(1);
    bench.restart();
    let versions = bench.versions();
    let running: Vec<_> = versions.iter().map(|it| (it.number, it.running_in.len())).collect();
    assert_eq!(running, [(3, 0), (2, 0), (1, 1)], "another daemon finds what runs");
    assert_eq!(versions[2].running_in[0].partition, "axis");
    assert!(versions[2].last_build.as_ref().is_some_and(|build| build.succeeded));
    bench.delete(2).expect("nothing runs it");
    drop(site);
    bench.delete(1).expect("the site is down");
    assert_eq!(bench.versions().len(), 1);
}

#[test]
fn hostile_and_broken_programs_are_refused_with_their_place() {
    if !has_compiler() {
        skip!("there is no gcc; install it");
        return;
    }
    let bench = Bench::new();
    let secret = bench.folder.path().join("secret");
    fs::write(&secret, "int planted_4711;\n").expect("a secret");
    let good = counter(1);
    let text = format!(
        "{good}#include \"{}\"\n__asm__(\".incbin \\\"/etc/shadow\\\"\");\n",
        secret.display()
    );
    bench.send_text(&text);
    let Some((lines, outcome)) = bench.build(1, "") else { return };
    assert!(!outcome.succeeded && outcome.hash.is_empty(), "{outcome:?}");
    let problem = &outcome.problems[0];
    assert!(problem.is_error && problem.file == "counter.c" && problem.line == 6, "{problem:?}");
    assert!(!lines.iter().any(|line| line.contains("4711") || line.contains("root:")), "{lines:?}");
    let other = good.replace("counter_", "plant_").replace("which", "other").replace("cycles", "t");
    let file = |name: &str| Content::File(name.to_owned());
    let chunk = |text: &str| Content::Chunk(text.as_bytes().to_vec());
    let two = vec![file("counter.c"), chunk(&good), file("plant.c"), chunk(&other)];
    assert_eq!(bench.send("counter", two).expect("two models").number, 2);
    let (_, outcome) = bench.build(2, "").expect("it was tried before");
    let told = outcome.remarks.join("\n");
    assert!(!outcome.succeeded && told.contains("counter") && told.contains("plant"), "{told}");
    let makefile = vec![file("Makefile"), chunk("all:\n\ttouch /tmp/never\n")];
    bench.send("counter", makefile).expect("some file");
    let (_, outcome) = bench.build(3, "").expect("it was tried before");
    assert!(outcome.remarks.join("").contains("holds no source file"), "{outcome:?}");
    // With no site there is no partition.
    let request = v1::BuildProgramRequest {
        program: "counter".to_owned(),
        partition: "axis".to_owned(),
        ..Default::default()
    };
    let refused = bench.run(async {
        bench.client.clone().build_program(request).await?.into_inner().message().await
    });
    assert_eq!(refused.expect_err("nothing runs").code(), Code::NotFound);
}

/// Goal: an upload that stops leaves its place and nothing else.
/// Method: clients begin as many as there may be and send no more; then they are gone.
#[test]
fn uploads_have_a_limit_and_leave_nothing_when_their_client_goes() {
    let bench = Bench::new();
    let incoming = bench.folder.path().join("state/@daemon/programs/incoming");
    let wait_for = |count: usize| {
        let end = Instant::now() + PATIENCE;
        // The folder is made with the first upload.
        while fs::read_dir(&incoming).map_or(0, Iterator::count) != count {
            assert!(Instant::now() < end, "there are not {count} uploads");
            thread::sleep(Duration::from_millis(5));
        }
    };
    let begun = |_| {
        let begin = Content::Begin(v1::UploadBegin { program: "half".to_owned() });
        let parts = [begin, Content::File("a.c".to_owned()), Content::Chunk(b"int".to_vec())];
        let parts = parts.map(|part| v1::UploadProgramRequest { content: Some(part) });
        let mut client = bench.client.clone();
        let stream = tokio_stream::iter(parts).chain(tokio_stream::pending());
        bench.runtime.spawn(async move { client.upload_program(stream).await })
    };
    let calls: Vec<_> = (0..UPLOADS_MAX).map(begun).collect();
    wait_for(UPLOADS_MAX);
    let file = || vec![Content::File("a.c".to_owned()), Content::Chunk(b"int".to_vec())];
    let refused = bench.send("one-more", file()).expect_err("there is no place");
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    wait_for(0);
    assert_eq!(bench.send("one-more", file()).expect("there is a place").number, 1);
}

#[test]
fn uploads_that_mislead_are_refused_and_leave_nothing() {
    let mut bench = Bench::new();
    let file = |name: &str| Content::File(name.to_owned());
    let chunk = |bytes: &[u8]| Content::Chunk(bytes.to_vec());
    let cases = [
        (vec![file("../evil.c"), chunk(b"1")], Code::InvalidArgument, "leads out of the folder"),
        (vec![file("a\nb.c"), chunk(b"1")], Code::InvalidArgument, "a control character"),
        (vec![file("/etc/cron.d/evil")], Code::InvalidArgument, "begins at the root"),
        (vec![file("a.c"), file("a.c")], Code::InvalidArgument, "is there twice"),
        (vec![chunk(b"no archive")], Code::InvalidArgument, "no known kind"),
        (vec![], Code::InvalidArgument, "there are no files"),
        (
            vec![chunk(&[b'P'; 3 << 20]); 22],
            Code::ResourceExhausted,
            "the archive is too large: more than 67108864 bytes",
        ),
    ];
    for (parts, code, told) in cases {
        let refused = bench.send("evil", parts).expect_err(told);
        assert_eq!(refused.code(), code, "{refused}");
        assert!(refused.message().contains(told), "{told}: {refused}");
    }
    let refused = bench.send("../evil", vec![file("a.c")]).expect_err("a bad name");
    assert!(refused.message().contains("is no name of a program"), "{refused}");
    let refused = bench.send_plain(vec![file("a.c")]).expect_err("no beginning");
    assert!(refused.message().contains("begin the upload"), "{refused}");
    let request = v1::ListVersionsRequest { program: "evil".to_owned() };
    let refused = bench.run(bench.client.clone().list_versions(request)).expect_err("none");
    assert_eq!(refused.code(), Code::NotFound, "{refused}");
    let kept = bench.folder.path().join("state/@daemon");
    for folder in ["incoming", "versions"] {
        let left = fs::read_dir(kept.join("programs").join(folder)).expect("a folder").count();
        assert_eq!(left, 0, "{folder}");
    }
    // What is damaged is told, and all else is served.
    bench.end();
    fs::write(kept.join("programs.db"), "no database, but long enough to be looked at").expect("");
    bench.restart();
    let request = v1::ListProgramsRequest {};
    let refused = bench.run(bench.client.clone().list_programs(request)).expect_err("damaged");
    assert_eq!(refused.code(), Code::DataLoss, "{refused}");
    assert!(refused.message().contains("is damaged"), "{refused}");
}
