//! Round trips of every line, and lines that nobody should have written.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use proptest::prelude::*;
use quietcore_units::Nanos;

use super::*;
use crate::control::{ChangeKind, DeployPatience};
use crate::fake;

const SHORT: Patience =
    Patience { begin: Duration::from_millis(200), finish: Duration::from_millis(200) };

fn pair() -> (Channel, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    (Channel::taking_files(near, SHORT), far)
}

fn requests() -> Vec<Request> {
    let partition = || "axis".to_owned();
    let change = |kind, value: Option<&str>| Change {
        kind,
        variable: "servo_P.Kp".to_owned(),
        value: value.map(str::to_owned),
        allow_nan: false,
    };
    let changes = vec![
        change(ChangeKind::Set, Some("3.5")),
        change(ChangeKind::Force, Some("true")),
        change(ChangeKind::Unforce, None),
    ];
    let trace = Trace { variables: vec!["servo_Y.torque".to_owned()], every: 2, task: 0 };
    vec![
        Request::Hello,
        Request::Ps,
        Request::Open { partition: partition() },
        Request::Write { partition: partition(), changes },
        Request::UnforceAll { partition: partition() },
        Request::TraceStart { partition: partition(), trace },
        Request::TraceStop { partition: partition() },
        Request::Deploy {
            partition: partition(),
            folder: "/models/servo".into(),
            patience: DeployPatience::UntilProven,
        },
        Request::Restart { partition: partition(), how: Restart::Cold },
        Request::Pause { partition: partition() },
        Request::Resume { partition: partition() },
        Request::Down,
        Request::Events { since: 7, follow: true },
        Request::Changes { since: 7 },
    ]
}

fn responses() -> Vec<Response> {
    let opened = fake::opened("line", "axis");
    let change = Change {
        kind: ChangeKind::Set,
        variable: "servo_P.Kp".to_owned(),
        value: Some("3.5".to_owned()),
        allow_nan: false,
    };
    let applied = AppliedChange {
        sequence: 7,
        partition: "axis".to_owned(),
        cycle: 12,
        change: Some(change),
    };
    let all = AppliedChange { sequence: 8, ..applied.clone() };
    let error = ControlError::new(ErrorKind::NoVariable, "axis: `x`", "no such variable", "");
    vec![
        Response::Hello { site: "line".into(), quietcore_version: "0".into(), pid: 1 },
        Response::Partitions { partitions: fake::partitions() },
        Response::Opened(opened),
        Response::Applied(Applied { cycle: 12, overwritten: Vec::new() }),
        Response::Tracing(TraceStarted { generation: 1, cycle: 13 }),
        Response::Progress { line: "building".into() },
        Response::Deployed(fake::deployed()),
        Response::Events { events: vec![fake::event(0), fake::event(1)] },
        Response::Changes {
            changes: vec![applied, AppliedChange { change: None, ..all }],
            next: 9,
        },
        Response::Done,
        Response::Error(error),
    ]
}

#[test]
fn every_request_and_response_comes_back_as_it_was() {
    let requests = requests();
    assert_eq!(requests.len(), REQUESTS.len());
    for (request, word) in requests.iter().zip(REQUESTS) {
        let line = to_line(request);
        let text = String::from_utf8(line.clone()).unwrap();
        assert!(text.contains(&format!("\"request\":\"{word}\"")), "{text}");
        assert_eq!(text.matches('\n').count(), 1);
        assert_eq!(&read_request(&line).unwrap(), request);
    }
    for response in responses() {
        assert_eq!(read_response(&to_line(&response)).unwrap(), response);
    }
}

#[test]
fn the_written_form_stays() {
    let all: Vec<u8> =
        requests().iter().flat_map(to_line).chain(responses().iter().flat_map(to_line)).collect();
    let stored = include_str!("stored.jsonl");
    let text = String::from_utf8(all).unwrap();
    for (line, stored) in text.lines().zip(stored.lines()) {
        assert_eq!(line, stored, "clients rely on the written form; may keys go or change?");
    }
    assert_eq!(text.lines().count(), stored.lines().count(), "{text}");
}

#[test]
fn hostile_lines_are_refused_with_place_and_remedy() {
    let schema = format!("\"schema\":\"{CONTROL_SCHEMA}\"");
    let deep = format!("{{{schema},\"request\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
    let long = format!("{{{schema},\"request\":\"{}\"}}", "x".repeat(5000));
    let cases: [(&str, &[&str]); 12] = [
        ("", &["line: no JSON"]),
        ("hello", &["line: no JSON", "one object a line"]),
        ("[1]", &["no JSON object"]),
        ("\u{0}\u{1}", &["no JSON"]),
        ("{\"request\":\"ps\"}", &["schema: missing", CONTROL_SCHEMA]),
        ("{\"schema\":1,\"request\":\"ps\"}", &["schema: missing"]),
        ("{\"schema\":\"quietcore.control/2\",\"request\":\"ps\"}", &["control/2", "control/1"]),
        (&format!("{{{schema}}}"), &["request"]),
        (&format!("{{{schema},\"request\":\"wirte\"}}"), &["`wirte`", "did you mean `write`?"]),
        (&format!("{{{schema},\"request\":\"open\",\"partition\":\"a\",\"x\":1}}"), &["`x`"]),
        (&deep, &["recursion limit"]),
        (&long, &["xxx…", "is unknown"]),
    ];
    for (line, words) in cases {
        let refused = read_request(line.as_bytes()).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::BadRequest);
        let text = refused.to_string();
        assert!(text.len() < 1000, "{text}");
        for word in words {
            assert!(text.contains(word), "`{word}` in {text}");
        }
    }
}

#[test]
fn lines_come_one_after_another_however_they_are_cut() {
    let (mut channel, mut far) = pair();
    far.write_all(b"one\ntwo\nth").unwrap();
    assert_eq!(channel.receive().unwrap(), b"one");
    assert_eq!(channel.receive().unwrap(), b"two");
    far.write_all(b"ree\n").unwrap();
    assert_eq!(channel.receive().unwrap(), b"three");
    far.write_all(b"four").unwrap();
    drop(far);
    assert!(matches!(channel.receive(), Err(ChannelError::Cut)));
    let (mut channel, far) = pair();
    drop(far);
    assert!(matches!(channel.receive(), Err(ChannelError::Closed)));
}

#[test]
fn a_line_too_long_is_refused_and_the_longest_is_not() {
    for (length, good) in [(LINE_BYTES_MAX - 1, true), (LINE_BYTES_MAX, false)] {
        let (mut channel, mut far) = pair();
        let writer = std::thread::spawn(move || {
            let _ = far.write_all(&vec![b'x'; length]);
            let _ = far.write_all(b"\n");
        });
        let received = channel.receive();
        if good {
            assert_eq!(received.unwrap().len(), length);
        } else {
            assert!(matches!(received, Err(ChannelError::TooLong)));
        }
        drop(channel);
        writer.join().unwrap();
    }
}

#[test]
fn silence_and_a_line_that_never_ends_are_told_apart() {
    let (mut channel, mut far) = pair();
    assert!(matches!(channel.receive(), Err(ChannelError::Silent(_))));
    // A byte now and then does not prolong the time for the line.
    let writer = std::thread::spawn(move || {
        for _ in 0..20 {
            if far.write_all(b"x").is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert!(matches!(channel.receive(), Err(ChannelError::Slow(_))));
    drop(channel);
    writer.join().unwrap();
}

#[test]
fn a_file_goes_with_its_line() {
    let (mut channel, far) = pair();
    let mut sender = Channel::new(far, SHORT);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"content").unwrap();
    sender.send_with(b"here\n", file.as_fd()).unwrap();
    sender.send(b"nothing here\n").unwrap();
    assert_eq!(channel.receive().unwrap(), b"here");
    let mut taken = File::from(channel.take_file().unwrap());
    taken.rewind().unwrap();
    let mut content = String::new();
    taken.read_to_string(&mut content).unwrap();
    assert_eq!(content, "content");
    assert_eq!(channel.receive().unwrap(), b"nothing here");
    assert!(channel.take_file().is_none());
}

#[test]
fn a_long_line_takes_its_file_along_with_its_beginning() {
    let (mut channel, far) = pair();
    let writer = std::thread::spawn(move || {
        let file = tempfile::tempfile().unwrap();
        let mut line = vec![b'y'; LINE_BYTES_MAX - 1];
        line.push(b'\n');
        Channel::new(far, SHORT).send_with(&line, file.as_fd()).unwrap();
    });
    assert_eq!(channel.receive().unwrap().len(), LINE_BYTES_MAX - 1);
    assert!(channel.take_file().is_some());
    writer.join().unwrap();
}

proptest! {
    #[test]
    fn any_bytes_are_a_request_or_a_refusal(
        line in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = read_request(&line);
        let _ = read_response(&line);
    }

    #[test]
    fn any_text_survives_a_line(text in "\\PC{0,60}", number in any::<u64>()) {
        let error = ControlError::new(ErrorKind::Failed, text.clone(), text.clone(), text.clone());
        let state = crate::control::Activity::Waiting { restart_in: Nanos::new(number), why: text };
        let mut partitions = fake::partitions();
        partitions[0].state = state;
        for response in [Response::Error(error), Response::Partitions { partitions }] {
            prop_assert_eq!(read_response(&to_line(&response)).unwrap(), response);
        }
    }
}
