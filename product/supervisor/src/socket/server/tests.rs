//! The server with clients that behave, and with those that don't.

use std::io::{BufRead as _, BufReader, Read as _};
use std::time::Instant;

use super::*;
use crate::client::{Client, ClientError};
use crate::control::line::{CONTROL_SCHEMA, LINE_BYTES_MAX};
use crate::control::{
    Applied, Change, ChangeKind, ControlError, DeployPatience, Deployed, Done, Effect, ErrorKind,
    Restart, Trace, TraceStarted, Verb,
};
use crate::fake::{self, FakeSite};
use crate::places::{Claim, Places};

/// The longest wait, long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A fake site with a server.
struct Fixture {
    server: Server,
    site: Arc<FakeSite>,
    places: Places,
    _claim: Claim,
    _folder: tempfile::TempDir,
}

fn ground(limits: Limits) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let places = Places::new(folder.path().join("run"), folder.path().join("state"));
    let claim = Claim::take(&places, "line").unwrap();
    let site = Arc::new(FakeSite::new());
    let server =
        Server::start(claim.listen().unwrap(), "line", Arc::clone(&site) as _, limits).unwrap();
    Fixture { server, site, places, _claim: claim, _folder: folder }
}

fn usual() -> Fixture {
    ground(Limits::default())
}

impl Fixture {
    fn client(&self) -> Client {
        Client::connect(&self.places, None).unwrap()
    }

    fn raw(&self) -> UnixStream {
        let stream = UnixStream::connect(self.places.run_folder().join("line/socket")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn asked(&self) -> Vec<String> {
        self.site.state().asked.clone()
    }

    /// Waits until something holds, which takes another thread a moment.
    fn wait_until(&self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < end, "{what}: {:?}", self.asked());
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn set(variable: &str, value: &str) -> Change {
    let kind = ChangeKind::Set;
    Change { kind, variable: variable.to_owned(), value: Some(value.to_owned()), allow_nan: false }
}

fn trace() -> Trace {
    Trace { variables: vec!["servo_Y.torque".to_owned()], every: 1, task: 0 }
}

#[test]
fn every_request_reaches_the_site_and_comes_back() {
    let ground = usual();
    let mut client = ground.client();
    assert_eq!(client.hello().unwrap().pid, std::process::id());
    assert_eq!(client.list().unwrap(), fake::partitions());
    let write = Verb::write([set("P.Kp", "3.5"), set("P.Ki", "0.1")]);
    let applied: Applied = client.ask("axis", write).unwrap();
    assert_eq!(applied.cycle, 1001);
    assert_eq!(client.ask::<Applied>("axis", Verb::UnforceAll).unwrap().cycle, 1002);
    assert_eq!(
        client.ask::<TraceStarted>("axis", Verb::TraceStart { trace: trace() }).unwrap().generation,
        1
    );
    client.ask::<Done>("axis", Verb::TraceStop).unwrap();
    let mut lines = Vec::new();
    let mut progress = |line: &str| lines.push(line.to_owned());
    let deploy = Verb::deploy("/models/servo", DeployPatience::UntilProven);
    let deployed: Deployed = client.ask_hearing("axis", deploy, &mut progress).unwrap();
    assert_eq!((deployed, lines), (fake::deployed(), vec!["building".into(), "staged".into()]));
    client.ask::<Done>("tank", Verb::Restart { how: Restart::Cold }).unwrap();
    assert_eq!(
        ground.asked(),
        [
            "write axis: Set P.Kp 3.5, Set P.Ki 0.1",
            "unforce-all axis",
            "trace-start axis: servo_Y.torque, every 1 of task 0",
            "trace-stop axis",
            "deploy axis /models/servo, until proven",
            "tank: Restart { how: Cold }",
        ]
    );
}

#[test]
fn a_monitor_gets_the_exchanges_file() {
    let ground = usual();
    let mut client = ground.client();
    let refused = client.open("axis").unwrap_err().to_string();
    assert_eq!(refused, "axis: it does not run");
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"exchange").unwrap();
    ground.site.state().opened = Some((fake::opened("line", "axis"), file));
    let (opened, file) = client.open("axis").unwrap();
    assert_eq!(opened, fake::opened("line", "axis"));
    let mut content = [0; 8];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut content, 0).unwrap();
    assert_eq!(&content, b"exchange");
}

#[test]
fn refusals_come_as_they_were_made() {
    let ground = usual();
    let refused = ground
        .client()
        .ask::<Done>("axsi", Verb::Restart { how: Restart::Warm })
        .unwrap_err()
        .to_string();
    assert_eq!(refused, "`axsi`: no such partition; did you mean `axis`?");
    let error = ControlError::new(ErrorKind::NoVariable, "`P.Kq`", "no such variable", "`P.Kp`?");
    ground.site.state().refusal = Some(error.clone());
    let refused =
        ground.client().ask::<Applied>("axis", Verb::write([set("P.Kq", "1")])).unwrap_err();
    assert!(matches!(&refused, ClientError::Refused(refusal) if *refusal == error), "{refused}");
}

#[test]
fn what_is_too_much_is_refused_before_the_site_sees_it() {
    let ground = usual();
    let mut client = ground.client();
    assert!(client.ask::<Applied>("axis", Verb::write(vec![set("x", "1"); 65])).is_err());
    let wrong = Trace { every: 0, ..trace() };
    assert!(client.ask::<TraceStarted>("axis", Verb::TraceStart { trace: wrong }).is_err());
    let deploy = Verb::deploy("models", DeployPatience::UntilItRuns);
    let refused = client.ask::<Deployed>("axis", deploy).unwrap_err().to_string();
    assert!(refused.contains("relative"), "{refused}");
    assert_eq!(ground.asked(), Vec::<String>::new());
}

/// Goal: the site knows who asks, by what the kernel says of the other end.
/// Method: a client tells of a terminal, and another one tries to tell of a user.
#[test]
fn the_site_is_told_who_asks_and_a_client_can_not_say_it_is_another() {
    let ground = usual();
    let stream = ground.raw();
    let ask = |request: &str| {
        let line = format!("{{\"schema\":\"{CONTROL_SCHEMA}\",{request}}}\n");
        (&stream).write_all(line.as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        line
    };
    let pause = "\"request\":\"pause\",\"partition\":\"axis\",\"by\":";
    let said = ask(&format!("{pause}{{\"terminal\":\"pts/9\",\"program\":\"script\"}}"));
    assert!(said.contains("\"response\":\"paused\""), "{said}");
    let by = ground.site.state().by.clone().unwrap();
    let own = rustix::process::geteuid().as_raw();
    assert_eq!((by.uid, by.pid), (own, std::process::id()));
    assert_eq!(by.says.terminal.as_deref(), Some("pts/9"));
    assert!(by.to_string().ends_with(" in terminal pts/9 (script)"), "{by}");
    for lie in ["{\"uid\":0}", "{\"user\":\"root\"}", "{\"pid\":1}"] {
        let said = ask(&format!("{pause}{lie}"));
        assert!(said.contains("bad-request") && said.contains("unknown field"), "{said}");
    }
    assert_eq!(ground.asked(), ["pause axis"]);
}

/// Goal: whoever records hears who changed what, from which value to which.
#[test]
fn a_change_is_kept_with_who_made_it_and_both_values() {
    let ground = usual();
    let folder = tempfile::tempdir().unwrap();
    ground.site.state().program = Some(fake::FakeProgram::start(folder.path()).unwrap());
    let mut client = ground.client();
    client.ask::<Applied>("axis", Verb::write([set("servo_P.Kp", "3.5")])).unwrap();
    let kept = client.changes(0).unwrap().changes.remove(0);
    let Effect { old, new, without_effect, .. } = &kept.effect;
    assert_eq!((old.as_deref(), new.as_deref()), (Some("2.0"), Some("3.5")));
    assert_eq!((without_effect, kept.by.pid), (&None, std::process::id()));
}

/// Goal: a recording neither outlives its client nor is disturbed by another.
#[test]
fn a_recording_ends_with_its_client() {
    let ground = usual();
    let mut first = ground.client();
    first.ask::<TraceStarted>("axis", Verb::TraceStart { trace: trace() }).unwrap();
    let mut second = ground.client();
    let refused = second
        .ask::<TraceStarted>("axis", Verb::TraceStart { trace: trace() })
        .unwrap_err()
        .to_string();
    assert!(refused.contains("another client records it"), "{refused}");
    assert!(second.ask::<Done>("axis", Verb::TraceStop).is_err());
    second.ask::<TraceStarted>("tank", Verb::TraceStart { trace: trace() }).unwrap();
    drop(first);
    ground.wait_until("stopped", |it| it.asked().contains(&"trace-stop axis".to_owned()));
    ground.wait_until("free again", |_| {
        second.ask::<TraceStarted>("axis", Verb::TraceStart { trace: trace() }).is_ok()
    });
}

#[test]
fn hostile_lines_are_answered_and_do_no_harm() {
    let ground = usual();
    let mut stream = ground.raw();
    stream.write_all(b"hello\n\n{}\n").unwrap();
    let request = format!("{{\"schema\":\"{CONTROL_SCHEMA}\",\"request\":\"hello\"}}\n");
    stream.write_all(request.as_bytes()).unwrap();
    let lines: Vec<String> = BufReader::new(&stream).lines().take(4).map(Result::unwrap).collect();
    assert!(lines[..3].iter().all(|line| line.contains("bad-request")), "{lines:?}");
    assert!(lines[3].contains("\"response\":\"hello\""), "{lines:?}");
    // A line that never ends is answered and the connection closed.
    let mut stream = ground.raw();
    let filler = vec![b'x'; LINE_BYTES_MAX];
    let _ = stream.write_all(&filler);
    let mut said = String::new();
    let _ = stream.read_to_string(&mut said);
    assert!(said.contains("longer than 1048576 bytes"), "{said}");
    assert!(ground.client().hello().is_ok());
}

#[test]
fn a_client_too_many_is_told_so_and_room_is_made_by_one_that_goes() {
    let ground = ground(Limits { clients: 2, ..Limits::default() });
    let (mut first, mut second) = (ground.client(), ground.client());
    assert!(first.hello().is_ok() && second.hello().is_ok());
    let refused = ground.client().hello().unwrap_err().to_string();
    assert!(refused.contains("2 clients are connected already"), "{refused}");
    drop(first);
    ground.wait_until("room", |it| it.client().hello().is_ok());
}

#[test]
fn the_idle_and_the_slow_are_closed_with_a_word() {
    let short = Duration::from_millis(100);
    // Each limit has a server of its own: on a machine that stands still, a line that begins late
    // would be taken for silence.
    let idle = Limits { idle: short, ..Limits::default() };
    let line = Limits { line: short, ..Limits::default() };
    for (limits, sent, word) in
        [(idle, "", "nothing was said"), (line, "{\"schema\"", "a line took longer")]
    {
        let ground = ground(limits);
        let mut stream = ground.raw();
        stream.write_all(sent.as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn a_client_that_was_idle_connects_again_and_one_that_records_stays() {
    let idle = Duration::from_millis(50);
    let ground = ground(Limits { idle, ..Limits::default() });
    let (mut quiet, mut recording) = (ground.client(), ground.client());
    quiet.hello().unwrap();
    recording.ask::<TraceStarted>("axis", Verb::TraceStart { trace: trace() }).unwrap();
    ground.wait_until("closed", |it| it.server.shared.clients().connections.len() == 1);
    thread::sleep(2 * idle);
    quiet.hello().unwrap();
    assert!(!ground.asked().contains(&"trace-stop axis".to_owned()), "{:?}", ground.asked());
    recording.ask::<Done>("axis", Verb::TraceStop).unwrap();
    ground.wait_until("closed too", |it| it.server.shared.clients().connections.is_empty());
}

#[test]
fn events_are_followed_until_the_client_asks_for_something_else() {
    let ground = usual();
    ground.site.state().events = (0..600).map(fake::event).collect();
    let mut client = ground.client();
    let first = client.events(590).unwrap();
    assert_eq!(
        first.iter().map(|event| event.sequence).collect::<Vec<_>>(),
        Vec::from_iter(590..600)
    );
    assert_eq!(client.events(0).unwrap().len(), session::EVENTS_A_LINE);
    let stream = ground.raw();
    let ask = |request: &str| {
        let line = format!("{{\"schema\":\"{CONTROL_SCHEMA}\",{request}}}\n");
        (&stream).write_all(line.as_bytes()).unwrap();
    };
    ask("\"request\":\"events\",\"since\":598,\"follow\":true");
    let mut lines = BufReader::new(&stream).lines();
    assert_eq!(lines.next().unwrap().unwrap().matches("\"sequence\"").count(), 2);
    ground.site.state().events.push(fake::event(600));
    assert!(lines.next().unwrap().unwrap().contains("\"sequence\":600"));
    ask("\"request\":\"ps\"");
    assert!(lines.next().unwrap().unwrap().contains("\"response\":\"partitions\""));
}

/// Goal: files sent to the server, wanted by nobody, do not use up its descriptors.
/// Method: send far more than a process may have open, and see that the server still has some.
#[test]
fn uninvited_files_are_closed() {
    let ground = usual();
    let file = tempfile::tempfile().unwrap();
    let (limit, _) = {
        let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        (limits.current.unwrap_or(1024).min(2000), limits.maximum)
    };
    let patience = Patience { begin: PATIENCE, finish: PATIENCE };
    let mut channel = Channel::new(ground.raw(), patience);
    for _ in 0..limit + 10 {
        channel.send_with(b"{}\n", file.as_fd()).unwrap();
        assert!(channel.receive().is_ok());
    }
    assert!(ground.client().hello().is_ok());
}

#[test]
fn a_stopped_server_closes_its_clients_and_goes() {
    let mut ground = usual();
    let mut client = ground.client();
    client.hello().unwrap();
    ground.server.stop();
    assert!(client.hello().is_err());
    ground.wait_until("sessions gone", |it| it.server.shared.clients().connections.is_empty());
}

#[test]
fn down_waits_until_the_lock_is_free() {
    let ground = usual();
    let client = ground.client();
    let coming_down = thread::spawn(move || client.down());
    ground.wait_until("asked", |it| it.asked().contains(&"down".to_owned()));
    assert!(!coming_down.is_finished());
    drop(ground);
    coming_down.join().unwrap().unwrap();
}
