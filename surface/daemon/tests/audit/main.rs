//! The audit trail of a daemon: every call that changes something is in it, and no other.

mod example;

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use quietcore_api::v1;
use quietcore_api::v1::audit_service_client::AuditServiceClient;
use quietcore_api::v1::variable_service_client::VariableServiceClient;
use quietcore_audit::{Entry, FILE, Kind, Reader};
use quietcore_daemon::{CALLS, Daemon, Effect};
use quietcore_supervisor::fake::{FakeProgram, FakeSite};
use quietcore_supervisor::places::{Claim, Places};
use quietcore_supervisor::server::{Limits, Server};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Response, Status};

/// The longest wait for something that comes within milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// A daemon on a thread of its own, a site beside it, and a client.
struct Bench {
    folder: TempDir,
    site: Arc<FakeSite>,
    _server: Server,
    _claim: Claim,
    stop: Option<oneshot::Sender<()>>,
    runtime: Runtime,
    channel: Channel,
}

impl Bench {
    fn new() -> Self {
        Self::beside(|_| {})
    }

    /// Starts a daemon whose folder of what lasts was prepared.
    fn beside(prepare: impl FnOnce(&Path)) -> Self {
        let folder = TempDir::new().expect("a folder");
        prepare(folder.path());
        let program = FakeProgram::start(folder.path()).expect("a program");
        let site = Arc::new(FakeSite::with_program(program));
        let places = Places::new(folder.path().join("run"), folder.path().join("state"));
        let claim = Claim::take(&places, "line").expect("the site is free");
        let socket = claim.listen().expect("a socket");
        let server = Server::start(socket, "line", Arc::clone(&site) as _, Limits::default());
        let daemon = Daemon::new(places.clone()).expect("the daemon's place is free");
        let daemon =
            daemon.with_page(0).expect("a port").starting_from(fake_programs(folder.path()));
        let (stop, stopped) = oneshot::channel();
        thread::spawn(move || {
            let stopped = async { stopped.await.unwrap_or_default() };
            Runtime::new().expect("threads").block_on(daemon.serve(stopped)).expect("it serves");
        });
        let socket = format!("unix:{}", places.daemon_socket().display());
        let endpoint = Endpoint::from_shared(socket).expect("a path");
        let runtime = Runtime::new().expect("threads");
        let channel = runtime.block_on(endpoint.connect()).expect("the daemon takes clients");
        let (server, stop) = (server.expect("threads"), Some(stop));
        Self { folder, site, _server: server, _claim: claim, stop, runtime, channel }
    }

    /// Runs a call to its end.
    fn run<T>(&self, call: impl Future<Output = Result<Response<T>, Status>>) -> Result<T, Status> {
        let within = async { tokio::time::timeout(PATIENCE, call).await };
        self.runtime.block_on(within).expect("the daemon answers").map(Response::into_inner)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("state/@daemon").join(FILE)
    }

    /// The entries, but for the one by which the trail begins.
    fn entries(&self) -> Vec<Entry> {
        let reader = Reader::open(&self.file()).expect("there is a trail");
        assert_eq!(reader.verify().expect("it can be read").fault, None);
        let rows = reader.rows(2, usize::MAX).expect("it can be read");
        rows.iter().map(|row| row.entry().expect("an entry")).collect()
    }

    fn write(&self, variable: &str) -> Result<v1::WriteVariablesResponse, Status> {
        let change = v1::Change {
            kind: v1::ChangeKind::Force.into(),
            variable: variable.to_owned(),
            value: Some("3.5".to_owned()),
            allow_nan: false,
        };
        let partition = "axis".to_owned();
        let request =
            v1::WriteVariablesRequest { partition, changes: vec![change], ..<_>::default() };
        self.run(VariableServiceClient::new(self.channel.clone()).write_variables(request))
    }
}

/// Makes a program that goes on as a run does, tells its process, and measures nothing.
fn fake_programs(folder: &Path) -> PathBuf {
    let programs = folder.join("programs");
    fs::create_dir(&programs).expect("a folder");
    let text = "#!/bin/sh\nwhile [ \"$1\" != --progress ]; do shift; done\n\
                exec setsid sh -c 'printf \"{\\\"schema\\\":\\\"\\\",\\\"pid\\\":$$}\" > \"$1\"; \
                exec sleep 60' run \"$2\"\n";
    let path = programs.join("quietcore");
    fs::write(&path, text).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    programs
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }
}

/// Goal: no call that changes something is made without a trace, and reading leaves none.
#[test]
fn each_changing_call_leaves_intention_and_outcome_and_reading_leaves_nothing() {
    let bench = Bench::new();
    bench.write("servo_U.enable").unwrap_err();
    example::prepare(&bench);
    let mut before = bench.entries().len();
    for (call, _, effect) in CALLS {
        example::make(&bench, call);
        let entries = bench.entries();
        let new = &entries[before..];
        before = entries.len();
        if *effect == Effect::Reads {
            assert!(new.is_empty(), "{call}: {new:#?}");
            continue;
        }
        let kinds: Vec<Kind> = new.iter().map(|entry| entry.kind).collect();
        let outcome = if example::is_refused(call) { Kind::Refused } else { Kind::Done };
        assert_eq!(kinds, [Kind::Intended, outcome], "{call}");
        assert_eq!(new[1].of, Some(new[0].number));
        for entry in new {
            assert_eq!(entry.call, *call);
            let place = (entry.site.as_str(), entry.partition.as_str());
            assert_eq!(place, example::place(call), "{call}");
            assert!(!entry.who.user.is_empty() && entry.who.via == "socket", "{entry:#?}");
            assert!(entry.who.program.starts_with("tonic"), "{entry:#?}");
        }
    }
}

#[test]
fn an_outcome_has_old_and_new_values_or_the_refusal() {
    let bench = Bench::new();
    bench.write("servo_P.Kp").unwrap();
    let refused = bench.write("servo_P.Kq").unwrap_err();
    let entries = bench.entries();
    let effect = &entries[1].what["effects"][0];
    assert_eq!((&effect["old"], &effect["new"]), (&"2.0".into(), &"3.5".into()));
    assert_eq!(effect["change"]["kind"], "force");
    assert_eq!(entries[0].what["changes"][0]["value"], "3.5");
    let refusal = entries[3].refusal.as_ref().expect("a refusal");
    assert_eq!(entries[3].kind, Kind::Refused);
    assert_eq!((refusal.kind.as_str(), &*refusal.sentence), ("NO_VARIABLE", refused.message()));
    // Entries come over the contract as they are, by pages.
    let mut audit = AuditServiceClient::new(bench.channel.clone());
    let mut request = v1::ListEntriesRequest { page_size: 2, ..<_>::default() };
    let mut listed = Vec::new();
    loop {
        let page = bench.run(audit.list_entries(request.clone())).unwrap();
        listed.extend(page.entries);
        request.since = page.next;
        if page.at_end {
            break;
        }
    }
    let numbers: Vec<u64> = listed.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert_eq!(listed[2].kind(), v1::AuditKind::Done);
    assert_eq!(listed[4].refusal.as_ref().expect("a refusal").kind, "NO_VARIABLE");
    let nobody = v1::ListEntriesRequest { who: "nobody".to_owned(), ..<_>::default() };
    let page = bench.run(audit.list_entries(nobody)).unwrap();
    assert_eq!((page.entries.len(), page.next, page.at_end), (0, 6, true));
    let call = "VariableService/WriteVariables".to_owned();
    let of_call = v1::ListEntriesRequest { call, ..<_>::default() };
    let page = bench.run(audit.list_entries(of_call)).unwrap();
    assert_eq!(page.entries.len(), 4, "the trail's own first entry is of no call");
}

/// Goal: while nothing can be entered nothing is changed, reading goes on, and nobody has to start
/// the daemon anew afterwards.
#[test]
fn without_a_trail_nothing_is_changed_and_reading_goes_on() {
    let bench = Bench::beside(|folder| {
        fs::create_dir(folder.join("state")).unwrap();
        fs::set_permissions(folder.join("state"), fs::Permissions::from_mode(0o700)).unwrap();
        // A file stands where the folder of the trail should be.
        fs::write(folder.join("state/@daemon"), "").unwrap();
    });
    let refused = bench.write("servo_P.Kp").unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable, "{refused:?}");
    let told = "nothing may be changed while the audit trail can't be written: ";
    assert!(refused.message().starts_with(told), "{refused:?}");
    assert!(bench.site.state().asked.is_empty(), "{:?}", bench.site.state().asked);
    example::make(&bench, "VariableService/ReadVariables");
    example::make(&bench, "AuditService/ListEntries");
    fs::remove_file(bench.folder.path().join("state/@daemon")).unwrap();
    bench.write("servo_P.Kp").unwrap();
    assert_eq!(bench.entries().len(), 2);
}

#[test]
fn a_damaged_trail_is_set_aside_and_the_daemon_says_so_in_the_next() {
    let bench = Bench::beside(|folder| {
        let folder = folder.join("state/@daemon");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
        fs::write(folder.join(FILE), vec![7; 8192]).unwrap();
    });
    bench.write("servo_P.Kp").unwrap();
    let first = Reader::open(&bench.file()).unwrap().rows(0, 1).unwrap()[0].entry().unwrap();
    assert_eq!(first.kind, Kind::Began);
    let name = first.what["file"].as_str().expect("it is named");
    let aside = bench.file().with_file_name(name);
    assert_eq!(fs::read(aside).unwrap(), vec![7; 8192]);
    assert!(first.what["fault"].as_str().unwrap().contains("not a database"), "{first:#?}");
}
