//! Calls over the daemon's socket to a site that takes notes, and to a program that really runs.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quietcore_api::refusal;
use quietcore_api::v1::host_service_client::HostServiceClient;
use quietcore_api::v1::partition_service_client::PartitionServiceClient;
use quietcore_api::v1::site_service_client::SiteServiceClient;
use quietcore_api::v1::subscribe_variables_response::Content;
use quietcore_api::v1::value::Kind;
use quietcore_api::v1::variable_service_client::VariableServiceClient;
use quietcore_api::v1::{self, ChangeKind, WhyNoEffect};
use quietcore_daemon::{Daemon, DaemonError, STREAMS_MAX};
use quietcore_supervisor::control;
use quietcore_supervisor::fake::{FakeProgram, FakeSite, event};
use quietcore_supervisor::places::{Claim, PlaceError, Places};
use quietcore_supervisor::server::{Limits, Server};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

/// The longest wait for something that comes within milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// A daemon on a thread of its own, a site beside it, and a client.
struct Bench {
    folder: TempDir,
    site: Arc<FakeSite>,
    _server: Server,
    _claim: Claim,
    stop: Option<oneshot::Sender<()>>,
    daemon: Option<JoinHandle<()>>,
    runtime: Runtime,
    channel: Channel,
}

fn places(folder: &Path) -> Places {
    Places::new(folder.join("run"), folder.join("state"))
}

fn endpoint(places: &Places) -> Endpoint {
    let socket = format!("unix:{}", places.daemon_socket().display());
    Endpoint::from_shared(socket).expect("a path")
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let program = FakeProgram::start(folder.path()).expect("a program");
        let site = Arc::new(FakeSite::with_program(program));
        let places = places(folder.path());
        let claim = Claim::take(&places, "line").expect("the site is free");
        let server = Server::start(
            claim.listen().expect("a socket"),
            "line",
            Arc::clone(&site) as _,
            Limits::default(),
        );
        let daemon = Daemon::new(places.clone()).expect("the daemon's place is free");
        let endpoint = endpoint(&places);
        let (stop, stopped) = oneshot::channel();
        let daemon = thread::spawn(move || {
            let runtime = Runtime::new().expect("threads");
            let stopped = async { stopped.await.unwrap_or_default() };
            runtime.block_on(daemon.serve(stopped)).expect("it serves");
        });
        let runtime = Runtime::new().expect("threads");
        let channel = runtime.block_on(endpoint.connect()).expect("the daemon takes clients");
        Self {
            folder,
            site,
            _server: server.expect("threads"),
            _claim: claim,
            stop: Some(stop),
            daemon: Some(daemon),
            runtime,
            channel,
        }
    }

    fn variables(&self) -> VariableServiceClient<Channel> {
        VariableServiceClient::new(self.channel.clone())
    }

    /// Runs a call to its end.
    fn run<T>(&self, call: impl Future<Output = T>) -> T {
        let within = async { tokio::time::timeout(PATIENCE, call).await };
        self.runtime.block_on(within).expect("the daemon answers")
    }

    fn write(&self, changes: Vec<v1::Change>) -> Result<v1::WriteVariablesResponse, tonic::Status> {
        let request = v1::WriteVariablesRequest {
            partition: "axis".to_owned(),
            changes,
            ..v1::WriteVariablesRequest::default()
        };
        self.run(self.variables().write_variables(request)).map(tonic::Response::into_inner)
    }

    fn end(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
        if let Some(daemon) = self.daemon.take() {
            daemon.join().expect("the daemon ends well");
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }
}

fn change(kind: ChangeKind, variable: &str, value: &str) -> v1::Change {
    v1::Change {
        kind: kind.into(),
        variable: variable.to_owned(),
        value: Some(value.to_owned()),
        allow_nan: false,
    }
}

fn subscription(patterns: &[&str]) -> v1::SubscribeVariablesRequest {
    v1::SubscribeVariablesRequest {
        partition: "axis".to_owned(),
        patterns: patterns.iter().map(|it| (*it).to_owned()).collect(),
        interval_us: 1000,
        ..v1::SubscribeVariablesRequest::default()
    }
}

#[test]
fn sites_and_partitions_are_those_of_the_supervisor() {
    let bench = Bench::new();
    let mut sites = SiteServiceClient::new(bench.channel.clone());
    let found = bench.run(sites.list_sites(v1::ListSitesRequest {})).unwrap().into_inner();
    assert_eq!(found.sites.iter().map(|it| &it.name).collect::<Vec<_>>(), ["line"]);
    let mut partitions = PartitionServiceClient::new(bench.channel.clone());
    let request = v1::ListPartitionsRequest { site: "line".to_owned() };
    let found = bench.run(partitions.list_partitions(request)).unwrap().into_inner();
    let states = bench.site.state().partitions.clone();
    assert_eq!(found.partitions.len(), states.len());
    for (found, state) in found.partitions.iter().zip(states) {
        assert_eq!((&found.name, found.cycles), (&state.name, state.cycles));
    }
    let request = v1::ListPartitionsRequest { site: "lime".to_owned() };
    let refused = bench.run(partitions.list_partitions(request)).unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    assert_eq!(refused.message(), "site `lime` does not run; did you mean `line`?");
}

#[test]
fn a_partition_is_held_and_started_anew_on_behalf_of_the_caller() {
    let bench = Bench::new();
    let mut partitions = PartitionServiceClient::new(bench.channel.clone());
    let (site, partition) = (String::new(), "axis".to_owned());
    let pause = v1::PausePartitionRequest { site: site.clone(), partition: partition.clone() };
    let paused = bench.run(partitions.pause_partition(pause)).unwrap().into_inner();
    assert!(paused.has_fieldbus && !paused.was_paused);
    let resume = v1::ResumePartitionRequest { site: site.clone(), partition: partition.clone() };
    bench.run(partitions.resume_partition(resume)).unwrap();
    let kind = v1::RestartKind::Cold.into();
    let restart = v1::RestartPartitionRequest { site, partition, kind };
    bench.run(partitions.restart_partition(restart)).unwrap();
    let state = bench.site.state();
    assert_eq!(state.asked[..2], ["pause axis", "resume axis"]);
    assert!(state.asked[2].contains("Cold"), "{:?}", state.asked);
    let by = state.by.as_ref().expect("somebody has asked");
    assert_eq!(by.says.login.as_ref(), Some(&by.user));
    assert!(by.says.program.starts_with("quietcored for tonic"), "{}", by.says.program);
}

#[test]
fn variables_are_listed_by_pages_until_there_are_no_more() {
    let bench = Bench::new();
    let mut paths = Vec::new();
    let mut request = v1::ListVariablesRequest {
        partition: "axis".to_owned(),
        page_size: 3,
        ..v1::ListVariablesRequest::default()
    };
    loop {
        let call = bench.run(bench.variables().list_variables(request.clone()));
        let page = call.unwrap().into_inner();
        assert!((1..=3).contains(&page.variables.len()), "{page:?}");
        paths.extend(page.variables.into_iter().map(|it| it.path));
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    let whole = v1::ListVariablesRequest { page_size: 0, page_token: String::new(), ..request };
    let whole = bench.run(bench.variables().list_variables(whole)).unwrap().into_inner();
    assert_eq!(paths, whole.variables.iter().map(|it| it.path.clone()).collect::<Vec<_>>());
    let kp = whole.variables.iter().find(|it| it.path == "servo_P.Kp").expect("a parameter");
    assert_eq!((kp.r#type.as_str(), kp.role.as_str(), kp.writable), ("f64", "parameter", true));
}

#[test]
fn a_group_is_written_and_read_as_the_program_has_it() {
    let bench = Bench::new();
    let changes = vec![
        change(ChangeKind::Set, "servo_P.Kp", "3.25"),
        change(ChangeKind::Force, "servo_U.enable", "false"),
    ];
    let written = bench.write(changes).unwrap();
    assert_eq!(written.effects[0].old.as_deref(), Some("2.0"));
    assert_eq!(written.effects[0].new.as_deref(), Some("3.25"));
    let request = v1::ReadVariablesRequest {
        partition: "axis".to_owned(),
        patterns: vec!["servo_P.Kp".to_owned(), "servo_U.enable".to_owned()],
        ..v1::ReadVariablesRequest::default()
    };
    let read = bench.run(bench.variables().read_variables(request)).unwrap().into_inner();
    let kind = |index: usize| read.variables[index].value.as_ref().and_then(|it| it.kind.clone());
    assert_eq!(kind(0), Some(Kind::Double(3.25)));
    assert_eq!(kind(1), Some(Kind::Boolean(false)));
    assert!(!read.variables[0].forced && read.variables[1].forced);
    let held = bench.write(vec![change(ChangeKind::Set, "servo_U.enable", "true")]).unwrap();
    assert_eq!(held.effects[0].without_effect(), WhyNoEffect::HeldByForce);
    let all = v1::UnforceAllRequest { partition: "axis".to_owned(), site: String::new() };
    let released = bench.run(bench.variables().unforce_all(all)).unwrap().into_inner();
    assert_eq!(released.effects.len(), 1);
    let changes = v1::ListChangesRequest::default();
    let changes = bench.run(bench.variables().list_changes(changes)).unwrap().into_inner();
    assert!(changes.changes[0].by.contains("quietcored for tonic"), "{changes:?}");
}

#[test]
fn what_a_site_refuses_comes_with_its_code_and_its_words() {
    let bench = Bench::new();
    let refused = bench.write(vec![change(ChangeKind::Set, "servo_P.Kq", "1")]).unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    let told = refusal::refused(&refused).expect("a refusal of ours");
    assert_eq!(told.kind, control::ErrorKind::NoVariable);
    assert!(refused.message().contains("perhaps `Kp`"), "{refused:?}");
    let refused = bench.write(vec![change(ChangeKind::Set, "servo_P.Kp", "much")]).unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    for changes in [vec![], vec![change(ChangeKind::Unspecified, "servo_P.Kp", "1")]] {
        assert_eq!(bench.write(changes).unwrap_err().code(), Code::InvalidArgument);
    }
    let request = v1::RestartPartitionRequest { partition: "axi".to_owned(), ..<_>::default() };
    let mut partitions = PartitionServiceClient::new(bench.channel.clone());
    let refused = bench.run(partitions.restart_partition(request)).unwrap_err();
    assert_eq!(refused.message(), "`axi`: no such partition; did you mean `axis`?");
}

/// Goal: a client that follows variables ends up with the values that the program has, of whichever
/// build.
#[test]
fn a_subscription_lists_its_variables_then_tells_each_change() {
    let bench = Bench::new();
    let request = subscription(&["servo_P.Kp", "servo_U.enable"]);
    let stream = bench.run(bench.variables().subscribe_variables(request));
    let mut stream = stream.unwrap().into_inner();
    let mut next = || bench.run(stream.message()).unwrap().expect("it goes on").content;
    let Some(Content::Variables(list)) = next() else { panic!("a list is first") };
    let paths: Vec<&str> = list.variables.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["servo_P.Kp", "servo_U.enable"]);
    let Some(Content::Sample(first)) = next() else { panic!("a sample is next") };
    assert_eq!(first.indices, [0, 1]);
    assert_eq!(first.values[0].kind, Some(Kind::Double(2.0)));
    bench.write(vec![change(ChangeKind::Force, "servo_P.Kp", "4.5")]).unwrap();
    let mut value = None;
    let mut forced = Vec::new();
    while value != Some(Kind::Double(4.5)) || forced != [0] {
        let Some(Content::Sample(sample)) = next() else { panic!("another list") };
        if sample.forced_changed {
            forced = sample.forced;
        }
        if let Some(at) = sample.indices.iter().position(|index| *index == 0) {
            value = sample.values[at].kind.clone();
        }
    }
}

#[test]
fn what_a_subscription_may_not_ask_for_is_refused_at_once() {
    let bench = Bench::new();
    let refuse = |request: v1::SubscribeVariablesRequest| {
        let refused = bench.run(bench.variables().subscribe_variables(request)).unwrap_err();
        (refused.code(), refused.message().to_owned())
    };
    let fast = v1::SubscribeVariablesRequest { interval_us: 999, ..subscription(&["*"]) };
    assert_eq!(refuse(fast).0, Code::InvalidArgument);
    let slow = v1::SubscribeVariablesRequest { interval_us: 60_000_001, ..subscription(&["*"]) };
    assert_eq!(refuse(slow).0, Code::InvalidArgument);
    for deadband in [-1.0, f64::NAN] {
        let request = v1::SubscribeVariablesRequest { deadband, ..subscription(&["*"]) };
        assert_eq!(refuse(request).0, Code::InvalidArgument);
    }
    assert_eq!(refuse(subscription(&["servo_P.Kq"])).0, Code::NotFound);
    let many = vec!["x"; quietcore_daemon::PATTERNS_MAX + 1];
    assert!(refuse(subscription(&many)).1.contains("1001 patterns"));
    let long = "x".repeat(quietcore_daemon::PATTERN_BYTES_MAX + 1);
    assert!(refuse(subscription(&[&long])).1.contains("513 bytes"));
}

/// Goal: a client that opens streams without end is refused, harms no other call, and gives the
/// places back by going.
#[test]
fn streams_have_a_limit_and_give_their_places_back() {
    let bench = Bench::new();
    let open = || bench.run(bench.variables().subscribe_variables(subscription(&["servo_P.Kp"])));
    let streams: Vec<_> = (0..STREAMS_MAX).map(|_| open().unwrap()).collect();
    assert_eq!(open().unwrap_err().code(), Code::ResourceExhausted);
    assert!(bench.write(vec![change(ChangeKind::Set, "servo_P.Kp", "1")]).is_ok());
    drop(streams);
    let begun = Instant::now();
    while open().is_err() {
        assert!(begun.elapsed() < PATIENCE, "the places are not given back");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Goal: a client that does not read gets fewer samples and no old ones, and costs no memory.
/// Method: it rests while each cycle changes values, then looks for the samples that were left out.
#[test]
fn a_client_that_reads_slowly_gets_fewer_samples_and_is_told_how_many() {
    let bench = Bench::new();
    if let Some(program) = &bench.site.state().program {
        program.run_every(Duration::from_millis(1));
    }
    // A window of some messages, so that the daemon soon has no place for more.
    let narrow = endpoint(&places(bench.folder.path())).initial_stream_window_size(1024);
    let mut variables = VariableServiceClient::new(bench.run(narrow.connect()).unwrap());
    let stream = bench.run(variables.subscribe_variables(subscription(&["*"])));
    let mut stream = stream.unwrap().into_inner();
    let begun = Instant::now();
    let mut cycle = 0;
    loop {
        assert!(begun.elapsed() < PATIENCE, "nothing was left out");
        let message = bench.run(stream.message()).unwrap().expect("it goes on");
        let Some(Content::Sample(sample)) = message.content else { continue };
        let read_in = sample.reading.expect("each sample has it").cycle;
        assert!(read_in >= cycle, "samples go forward");
        cycle = read_in;
        if sample.left_out > 0 {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Goal: whatever comes in at the socket harms nobody.
#[test]
fn bytes_that_are_no_call_end_their_connection_alone() {
    let bench = Bench::new();
    let socket = places(bench.folder.path()).daemon_socket();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let noise: Vec<u8> =
        (0..65_536_u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for bytes in [&noise[..], &[0; 64], b"GET / HTTP/1.1\r\n\r\n", &[&preface[..], &noise].concat()]
    {
        let mut stranger = UnixStream::connect(&socket).unwrap();
        // The daemon may hang up while it is written to.
        let _ = stranger.write_all(bytes);
        let _ = stranger.shutdown(Shutdown::Write);
        stranger.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut answer = Vec::new();
        let ended = stranger.take(1 << 20).read_to_end(&mut answer);
        assert!(
            ended.as_ref().map_or_else(|it| it.kind() == ErrorKind::ConnectionReset, |_| true),
            "the connection is not ended: {ended:?}"
        );
    }
    // Connections that say nothing take nobody's place.
    let silent: Vec<_> = (0..20).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    assert!(bench.write(vec![change(ChangeKind::Set, "servo_P.Kp", "1")]).is_ok());
    drop(silent);
}

#[test]
fn events_that_happened_come_first_and_new_ones_as_they_happen() {
    let bench = Bench::new();
    bench.site.state().events.push(event(3));
    let mut sites = SiteServiceClient::new(bench.channel.clone());
    let request = v1::WatchEventsRequest { site: "line".to_owned(), since: 0, past_only: false };
    let mut stream = bench.run(sites.watch_events(request)).unwrap().into_inner();
    let mut next = || bench.run(stream.message()).unwrap().expect("it goes on").event;
    assert_eq!(next().expect("an event").sequence, 3);
    bench.site.state().events.push(event(9));
    assert_eq!(next().expect("an event").sequence, 9);
}

#[test]
fn a_site_file_is_checked_with_all_its_problems() {
    let bench = Bench::new();
    let mut sites = SiteServiceClient::new(bench.channel.clone());
    let mut validate = |toml: &str| {
        let request = v1::ValidateSiteRequest { toml: toml.to_owned() };
        bench.run(sites.validate_site(request)).unwrap().into_inner()
    };
    let good = validate(quietcore_supervisor::fake::CHANNELS);
    assert!(good.problems.is_empty() && !good.site.is_empty(), "{good:?}");
    let bad = validate("[site]\nnam = \"line\"\n");
    assert!(bad.site.is_empty());
    let mistyped = bad.problems.iter().find(|it| it.line == 2).expect("the key's line");
    assert!(mistyped.remedy.contains("name"), "{mistyped:?}");
}

#[test]
fn the_machine_is_told_and_a_bad_list_of_cpus_refused() {
    let bench = Bench::new();
    let mut host = HostServiceClient::new(bench.channel.clone());
    let told = bench.run(host.get_host(v1::GetHostRequest {})).unwrap().into_inner();
    assert_eq!(told.version, env!("CARGO_PKG_VERSION"));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(told.kernel, kernel.trim());
    let request = v1::ExamineHostRequest { cpus: "2-".to_owned(), with_report: false };
    let refused = bench.run(host.examine_host(request)).unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
}

#[test]
fn timing_is_that_of_the_partitions_exchange() {
    let bench = Bench::new();
    bench.site.state().program.as_ref().expect("a program").step(1000);
    let mut partitions = PartitionServiceClient::new(bench.channel.clone());
    let request = |partition: &str| v1::GetTimingRequest {
        site: String::new(),
        partition: partition.to_owned(),
    };
    let told = bench.run(partitions.get_timing(request("axis"))).unwrap().into_inner();
    let [task] = &told.tasks[..] else { panic!("one task: {told:?}") };
    assert_eq!((task.name.as_str(), task.period_ns, task.cycles), ("main", 1_000_000, 1000));
    let release = task.release.as_ref().expect("a histogram");
    assert_eq!((release.count, release.min_ns, release.max_ns), (1000, 2_000, 40_000));
    assert_eq!((release.p99_ns.is_some(), release.p99_9_ns), (true, None), "ten lie beyond p99");
    assert_eq!(release.bars.iter().map(|bar| bar.count).sum::<u64>(), 1000);
    let worst = &task.worst_releases[0];
    assert_eq!((worst.value_ns, worst.wakeup_ns, worst.cpu), (40_000, Some(40_000), Some(1)));
    assert!(worst.at_ns >= task.since_ns, "{worst:?}");
    let execution = task.worst_execution.as_ref().expect("the longest step");
    assert_eq!((execution.value_ns, execution.cpu), (110_000, None));
    assert_eq!(told.class.expect("a class").latency_ns, Some(100_000));
    let refused = bench.run(partitions.get_timing(request("axle"))).unwrap_err();
    assert_eq!(refused.code(), Code::NotFound, "{refused:?}");
}

#[test]
fn each_cpu_of_the_machine_is_told_with_its_use() {
    let bench = Bench::new();
    let mut host = HostServiceClient::new(bench.channel.clone());
    let cpus = bench.run(host.list_cpus(v1::ListCpusRequest {})).unwrap().into_inner().cpus;
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let online: quietcore_units::CpuSet = online.trim().parse().unwrap();
    let is_online = |cpu: &&v1::Cpu| cpu.r#use() != v1::CpuUse::Offline;
    assert_eq!(cpus.iter().filter(is_online).count(), online.len());
    assert!(cpus.iter().any(|cpu| cpu.daemon), "it has to run somewhere: {cpus:?}");
    assert!(cpus.iter().all(|cpu| cpu.r#use() != v1::CpuUse::Unspecified));
}

#[test]
fn only_one_daemon_of_a_user_runs_and_its_place_is_free_when_it_has_ended() {
    let mut bench = Bench::new();
    let again = || Daemon::new(places(bench.folder.path()));
    let refused = again().unwrap_err();
    assert!(matches!(refused, DaemonError::Place(PlaceError::DaemonRuns { pid: Some(_) })));
    // A stream that goes on does not keep the daemon.
    let stream = bench.run(bench.variables().subscribe_variables(subscription(&["servo_P.Kp"])));
    let socket = places(bench.folder.path()).daemon_socket();
    bench.end();
    let mut stream = stream.unwrap().into_inner();
    let ended = loop {
        match bench.run(stream.message()) {
            Ok(message) => assert!(message.is_some(), "the stream ends without a reason"),
            Err(ended) => break ended,
        }
    };
    assert_eq!((ended.code(), ended.message()), (Code::Unavailable, "the daemon ends"));
    assert!(!socket.exists());
    assert!(Daemon::new(places(bench.folder.path())).is_ok());
}
