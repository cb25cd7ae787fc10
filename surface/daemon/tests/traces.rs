//! Traces of a program that runs in a thread of the test, started, left alone and fetched.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quietcore_api::v1;
use quietcore_api::v1::fetch_trace_response::Content;
use quietcore_api::v1::trace_service_client::TraceServiceClient;
use quietcore_daemon::Daemon;
use quietcore_supervisor::fake::{FakeProgram, FakeSite};
use quietcore_supervisor::places::{Claim, Places};
use quietcore_supervisor::server::{Limits, Server};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio_stream::StreamExt as _;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Response, Status};

/// The longest wait for something that comes within milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two cycles of the program.
const PERIOD: Duration = Duration::from_micros(500);

/// A site whose program counts its cycles, and a daemon beside it.
struct Bench {
    folder: TempDir,
    site: Arc<FakeSite>,
    _server: Server,
    _claim: Claim,
    daemon: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    runtime: Runtime,
    channel: Channel,
}

fn places(folder: &Path) -> Places {
    Places::new(folder.join("run"), folder.join("state"))
}

fn serve(folder: &Path, runtime: &Runtime) -> ((oneshot::Sender<()>, JoinHandle<()>), Channel) {
    let places = places(folder);
    let daemon = Daemon::new(places.clone()).expect("the daemon's place is free");
    let (stop, stopped) = oneshot::channel();
    let daemon = thread::spawn(move || {
        let stopped = async { stopped.await.unwrap_or_default() };
        Runtime::new().expect("threads").block_on(daemon.serve(stopped)).expect("it serves");
    });
    let channel = connect(&places, runtime);
    ((stop, daemon), channel)
}

fn connect(places: &Places, runtime: &Runtime) -> Channel {
    let socket = format!("unix:{}", places.daemon_socket().display());
    let endpoint = Endpoint::from_shared(socket).expect("a path");
    runtime.block_on(endpoint.connect()).expect("the daemon takes clients")
}

impl Bench {
    fn new() -> Self {
        let bench = Self::standing();
        bench.run_program();
        bench
    }

    /// Makes one whose program runs no cycle yet.
    fn standing() -> Self {
        let folder = TempDir::new().expect("a folder");
        let program = FakeProgram::start(folder.path()).expect("a program");
        let site = Arc::new(FakeSite::with_program(program));
        let claim = Claim::take(&places(folder.path()), "line").expect("the site is free");
        let socket = claim.listen().expect("a socket");
        let server = Server::start(socket, "line", Arc::clone(&site) as _, Limits::default());
        let runtime = Runtime::new().expect("threads");
        let (daemon, channel) = serve(folder.path(), &runtime);
        let server = server.expect("threads");
        let daemon = Some(daemon);
        Self { folder, site, _server: server, _claim: claim, daemon, runtime, channel }
    }

    fn run_program(&self) {
        self.site.state().program.as_ref().expect("it has one").run_every(PERIOD);
    }

    /// Ends the daemon as a signal does, and starts the next one.
    fn restart_daemon(&mut self) {
        self.end_daemon();
        let (daemon, channel) = serve(self.folder.path(), &self.runtime);
        self.daemon = Some(daemon);
        self.channel = channel;
    }

    fn end_daemon(&mut self) {
        if let Some((stop, daemon)) = self.daemon.take() {
            let _ = stop.send(());
            daemon.join().expect("the daemon ends well");
        }
    }

    /// Runs a call to its end.
    fn run<T>(&self, call: impl Future<Output = Result<Response<T>, Status>>) -> Result<T, Status> {
        let within = async { tokio::time::timeout(PATIENCE, call).await };
        self.runtime.block_on(within).expect("the daemon answers").map(Response::into_inner)
    }

    fn traces(&self) -> TraceServiceClient<Channel> {
        TraceServiceClient::new(self.channel.clone())
    }

    fn start(&self, asked: v1::StartTraceRequest) -> Result<v1::Trace, Status> {
        let started = self.run(self.traces().start_trace(asked))?;
        Ok(started.trace.expect("a trace"))
    }

    fn get(&self, number: u64) -> Result<v1::Trace, Status> {
        let found = self.run(self.traces().get_trace(v1::GetTraceRequest { number }))?;
        Ok(found.trace.expect("a trace"))
    }

    fn stop(&self, number: u64) -> Result<v1::Trace, Status> {
        let stopped = self.run(self.traces().stop_trace(v1::StopTraceRequest { number }))?;
        Ok(stopped.trace.expect("a trace"))
    }

    fn delete(&self, number: u64) -> Result<(), Status> {
        self.run(self.traces().delete_trace(v1::DeleteTraceRequest { number })).map(drop)
    }

    fn numbers(&self) -> Vec<u64> {
        let listed = self.run(self.traces().list_traces(v1::ListTracesRequest::default()));
        listed.expect("a list").traces.iter().map(|trace| trace.number).collect()
    }

    fn wait_for(&self, number: u64, state: v1::TraceState) -> v1::Trace {
        let end = Instant::now() + PATIENCE;
        loop {
            let trace = self.get(number).expect("a trace");
            if trace.state() == state {
                return trace;
            }
            assert!(Instant::now() < end, "{trace:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Fetches a trace, whose chunks become one.
    fn fetch(&self, number: u64) -> Result<(v1::Trace, v1::TraceRows), Status> {
        let mut traces = self.traces();
        let call = traces.fetch_trace(v1::FetchTraceRequest { number });
        let mut stream = self.runtime.block_on(call)?.into_inner();
        let first = self.runtime.block_on(stream.next()).expect("a message")?;
        let Some(Content::Trace(trace)) = first.content else { panic!("{first:?}") };
        let mut rows = v1::TraceRows {
            columns: vec![v1::TraceValues::default(); trace.variables.len()],
            ..v1::TraceRows::default()
        };
        while let Some(next) = self.runtime.block_on(stream.next()) {
            let Some(Content::Rows(chunk)) = next?.content else { panic!("one trace is told") };
            assert_eq!(chunk.first_row, rows.cycles.len() as u64, "no chunk is left out");
            rows.cycles.extend(chunk.cycles);
            rows.times_ns.extend(chunk.times_ns);
            rows.gaps.extend(chunk.gaps);
            for (all, column) in rows.columns.iter_mut().zip(chunk.columns) {
                all.doubles.extend(column.doubles);
                all.unsigned.extend(column.unsigned);
                all.signed.extend(column.signed);
            }
        }
        Ok((trace, rows))
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().join("state/@daemon/traces")
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.daemon.take().map(|(stop, _)| stop.send(()));
    }
}

fn asked(trigger: &str, before: u64, after: u64) -> v1::StartTraceRequest {
    v1::StartTraceRequest {
        partition: "axis".to_owned(),
        variables: vec!["servo_Y".to_owned(), "servo_DW.counter".to_owned()],
        trigger: trigger.to_owned(),
        before,
        after,
        ..v1::StartTraceRequest::default()
    }
}

/// Goal: nobody has to wait for a trigger; whoever asks later gets each cycle around it.
#[test]
fn a_trace_goes_on_without_its_client_and_another_one_fetches_it() {
    let mut bench = Bench::standing();
    let started = bench.start(asked("rising servo_DW.counter >= 1500", 20, 800)).expect("a trace");
    // The program begins after the trace, so that the trigger is still to come.
    bench.run_program();
    assert_eq!((started.number, started.state()), (1, v1::TraceState::Armed));
    let paths: Vec<&str> = started.variables.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["servo_Y.torque", "servo_Y.mode", "servo_DW.counter"]);
    assert!(!started.variables[1].names.is_empty(), "the mode is an enumeration");
    bench.channel = connect(&places(bench.folder.path()), &bench.runtime);

    let complete = bench.wait_for(1, v1::TraceState::Complete);
    assert_eq!((complete.rows, complete.lost, complete.why.as_str()), (820, 0, ""));
    let (trace, rows) = bench.fetch(1).expect("its rows");
    assert_eq!(trace, complete);
    let cycle = rows.cycles[20];
    let window = v1::TraceWindow { first_row: 0, before: 20, trigger_cycle: cycle };
    assert_eq!(trace.begun, [window]);
    assert!(rows.cycles.windows(2).all(|pair| pair[1] == pair[0] + 1), "each cycle has a row");
    let counter = &rows.columns[2].unsigned;
    assert_eq!((counter[19], counter[20]), (1499, 1500), "the trigger is where it is told");
    assert_eq!((rows.times_ns.len(), rows.gaps.len()), (820, 0));
}

/// Goal: rows are read while they come, and those that were kept stay when a trace is stopped.
#[test]
fn a_trace_that_runs_is_fetched_as_far_as_it_is_and_keeps_that_when_it_is_stopped() {
    let bench = Bench::new();
    bench.start(asked("", 0, 100_000)).expect("a trace");
    let second = bench.start(asked("", 0, 10)).expect_err("one records the partition already");
    assert_eq!(second.code(), Code::Aborted, "{second:?}");
    bench.wait_for(1, v1::TraceState::Triggered);
    let (trace, rows) = bench.fetch(1).expect("its rows so far");
    assert_eq!(trace.rows, rows.cycles.len() as u64);
    let stopped = bench.stop(1).expect("it can be stopped");
    assert_eq!(stopped.state(), v1::TraceState::Ended);
    assert!(stopped.why.starts_with("stopped by "), "{stopped:?}");
    assert!(stopped.rows >= trace.rows);
    assert_eq!(bench.stop(1).expect("it stays as it is"), stopped);
    let (kept, later) = bench.fetch(1).expect("its rows");
    assert_eq!((kept, later.cycles.len() as u64), (stopped.clone(), stopped.rows));
    bench.start(asked("", 0, 10)).expect("the partition is free again");
}

/// Goal: a trace that has ended outlives its daemon, and no number is given twice.
#[test]
fn the_next_daemon_has_the_traces_of_the_one_before() {
    let mut bench = Bench::new();
    bench.start(asked("", 0, 700)).expect("a trace");
    bench.wait_for(1, v1::TraceState::Complete);
    let rows = bench.fetch(1).expect("its rows");
    bench.start(asked("falling servo_DW.counter > 1e9", 5, 5)).expect("a trace");
    bench.restart_daemon();
    assert_eq!(bench.fetch(1).expect("its rows"), rows);
    let ended = bench.get(2).expect("the daemon kept it");
    assert_eq!(
        (ended.state(), ended.why.as_str()),
        (v1::TraceState::Ended, "the daemon has ended")
    );
    assert_eq!(bench.numbers(), [1, 2]);
    bench.delete(2).expect("it can be deleted");
    bench.delete(1).expect("it can be deleted");
    assert!(bench.numbers().is_empty());
    assert_eq!(bench.delete(1).expect_err("it is gone").code(), Code::NotFound);
    assert_eq!(bench.start(asked("", 0, 5)).expect("a trace").number, 3);
}

/// Goal: several moments of one kind come from one trace.
#[test]
fn a_trace_keeps_a_window_for_each_trigger() {
    let bench = Bench::new();
    let every = v1::StartTraceRequest { windows: 3, ..asked("changing servo_DW.counter", 0, 4) };
    bench.start(every).expect("a trace");
    let trace = bench.wait_for(1, v1::TraceState::Complete);
    let (_, rows) = bench.fetch(1).expect("its rows");
    let first: Vec<u64> = trace.begun.iter().map(|window| window.first_row).collect();
    assert_eq!((first, rows.cycles.len()), (vec![0, 4, 8], 12));
    for window in &trace.begun {
        assert_eq!(rows.cycles[window.first_row as usize], window.trigger_cycle);
    }
}

/// Goal: a full disk loses no trace while the daemon lives, and says so.
#[test]
fn a_trace_that_can_not_be_kept_on_the_disk_stays_in_memory() {
    let bench = Bench::new();
    bench.start(asked("", 0, 100_000)).expect("a trace");
    bench.wait_for(1, v1::TraceState::Triggered);
    let (folder, away) = (bench.folder(), bench.folder.path().join("away"));
    fs::rename(&folder, &away).expect("the folder is ours");
    fs::write(&folder, "no folder").expect("a file");
    let stopped = bench.run(bench.traces().stop_trace(v1::StopTraceRequest { number: 1 }));
    let stopped = stopped.expect("it ends").trace.expect("a trace");
    assert!(stopped.not_kept.contains("traces"), "{stopped:?}");
    let (_, rows) = bench.fetch(1).expect("its rows are in memory");
    assert_eq!(rows.cycles.len() as u64, stopped.rows);
    fs::remove_file(&folder).expect("the file is ours");
    fs::rename(&away, &folder).expect("the folder is ours");
    bench.delete(1).expect("it can be deleted");
    assert!(bench.numbers().is_empty());
}

/// Goal: a file that was damaged is told as such, and hides no other trace.
#[test]
fn a_damaged_trace_is_named_and_the_others_are_listed() {
    let bench = Bench::new();
    for number in 1..=3 {
        bench.start(asked("", 0, 600)).expect("a trace");
        bench.wait_for(number, v1::TraceState::Complete);
    }
    let file = bench.folder().join("1.trace");
    let bytes = fs::read(&file).expect("it was kept");
    fs::write(&file, &bytes[..bytes.len() - 100]).expect("the file is ours");
    fs::write(bench.folder().join("2.trace"), [0xff; 40]).expect("the file is ours");
    let cut = bench.fetch(1).expect_err("its end is missing");
    assert_eq!(cut.code(), Code::DataLoss, "{cut:?}");
    assert!(cut.message().contains("1.trace` is damaged; delete the trace"), "{cut:?}");
    assert_eq!(bench.get(2).expect_err("it is no trace").code(), Code::DataLoss);
    assert_eq!(bench.numbers(), [1, 3]);
    bench.delete(2).expect("it can be deleted");
    assert_eq!(bench.get(2).expect_err("it is gone").code(), Code::NotFound);
}

/// Goal: each mistake is told before the site is asked, with what would be right.
#[test]
fn settings_that_can_not_be_are_refused() {
    let bench = Bench::new();
    let refused = |asked| bench.start(asked).expect_err("it is refused");
    let unknown = refused(asked("rising servo_X.speed", 0, 5));
    assert_eq!(unknown.code(), Code::NotFound, "{unknown:?}");
    let task = refused(v1::StartTraceRequest { task: 9, ..asked("", 0, 5) });
    assert_eq!(task.code(), Code::InvalidArgument, "{task:?}");
    assert!(task.message().contains("there is no task 9"), "{task:?}");
    let large = refused(asked("", 0, 500_000));
    assert!(large.message().contains("are kept at most"), "{large:?}");
    let elsewhere = v1::StartTraceRequest { partition: "gone".to_owned(), ..asked("", 0, 5) };
    assert_eq!(refused(elsewhere).code(), Code::NotFound);
    assert!(bench.numbers().is_empty(), "none of them began");
}
