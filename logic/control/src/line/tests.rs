//! Round trips of every line, and lines that nobody should have written.

use proptest::prelude::*;
use quietcore_units::Nanos;

use super::*;
use crate::samples;
use crate::*;

fn requests() -> Vec<Ask> {
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
    let of_site = [
        SiteVerb::Hello,
        SiteVerb::Ps,
        SiteVerb::Down,
        SiteVerb::Events { since: 7, follow: true },
        SiteVerb::Changes { since: 7 },
        SiteVerb::Channel { channel: "setpoint".to_owned(), usage: ChannelUse::End },
    ];
    let patience = DeployPatience::UntilProven;
    let of_partition = [
        Verb::Open,
        Verb::Write { changes, confirm: true },
        Verb::UnforceAll,
        Verb::TraceStart { trace },
        Verb::TraceStop,
        Verb::Deploy { folder: "/models/servo".into(), patience },
        Verb::Restart { how: Restart::Cold },
        Verb::Pause,
        Verb::Resume,
    ];
    let of_site = of_site.into_iter().map(Ask::Site);
    of_site.chain(of_partition.into_iter().map(|verb| Ask::of("axis", verb))).collect()
}

fn answers() -> Vec<Answer> {
    let opened = samples::opened("line", "axis");
    let effect = |without_effect| Effect {
        change: Change {
            kind: ChangeKind::Set,
            variable: "servo_P.Kp".to_owned(),
            value: Some("3.5".to_owned()),
            allow_nan: false,
        },
        old: Some("2".to_owned()),
        new: Some("3.5".to_owned()),
        without_effect,
    };
    let change = AppliedChange {
        sequence: 7,
        partition: "axis".to_owned(),
        cycle: 12,
        by: samples::asker(),
        effect: effect(None),
    };
    let effects = vec![effect(None), effect(Some(WhyNoEffect::HeldByForce))];
    let error = Refusal::NoVariable { why: "no such variable".to_owned() }.at("axis: `x`");
    vec![
        Hello { site: "line".into(), quietcore_version: "0".into(), pid: 1 }.into(),
        Partitions { partitions: samples::partitions(), drift: Vec::new() }.into(),
        Answer::Opened(opened),
        Applied { cycle: 12, effects }.into(),
        TraceStarted { generation: 1, cycle: 13 }.into(),
        Answer::Progress { line: "building".into() },
        Answer::Deployed(samples::deployed()),
        Events { events: vec![samples::event(0), samples::event(1)] }.into(),
        History { changes: vec![change], next: 8 }.into(),
        Answer::ChannelOpened(samples::channel("line")),
        Paused { is_paused: true, was_paused: false, has_fieldbus: true }.into(),
        Done {}.into(),
        Answer::Error(error),
    ]
}

fn by() -> Introduction {
    samples::asker().says
}

#[test]
fn every_request_and_answer_comes_back_as_it_was() {
    let requests = requests();
    let words = SiteVerb::WORDS.into_iter().chain(Verb::WORDS);
    assert_eq!(requests.len(), words.clone().count());
    for (ask, word) in requests.into_iter().zip(words) {
        let line = request_line(&by(), &ask);
        let text = String::from_utf8(line.clone()).unwrap();
        assert!(text.contains(&format!("\"request\":\"{word}\"")), "{text}");
        assert_eq!(text.matches('\n').count(), 1);
        assert_eq!(read_request(&line).unwrap(), Request { by: by(), ask });
    }
    for answer in answers() {
        assert_eq!(read_answer(&answer_line(&answer)).unwrap(), answer);
    }
}

#[test]
fn the_written_form_stays() {
    let requests = requests();
    let requests = requests.iter().flat_map(|ask| request_line(&by(), ask));
    let all: Vec<u8> = requests.chain(answers().iter().flat_map(answer_line)).collect();
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
    let cases: [(&str, &[&str]); 16] = [
        ("", &["line: no JSON"]),
        ("hello", &["line: no JSON", "one object a line"]),
        ("[1]", &["no JSON object"]),
        ("\u{0}\u{1}", &["no JSON"]),
        ("{\"request\":\"ps\"}", &["schema: missing", CONTROL_SCHEMA]),
        ("{\"schema\":1,\"request\":\"ps\"}", &["schema: missing"]),
        ("{\"schema\":\"quietcore.control/1\",\"request\":\"ps\"}", &["control/1", "control/2"]),
        (&format!("{{{schema}}}"), &["request"]),
        (&format!("{{{schema},\"request\":\"wirte\"}}"), &["`wirte`", "did you mean `write`?"]),
        (&format!("{{{schema},\"request\":\"open\",\"partition\":\"a\",\"x\":1}}"), &["`x`"]),
        (&format!("{{{schema},\"request\":\"ps\",\"partition\":\"a\"}}"), &["`partition`"]),
        (&format!("{{{schema},\"request\":\"pause\"}}"), &["partition: missing", "of which"]),
        (
            &format!("{{{schema},\"request\":\"ps\",\"by\":{{\"user\":\"root\"}}}}"),
            &["by", "`user`"],
        ),
        (
            &format!(
                "{{{schema},\"request\":\"restart\",\"partition\":\"a\",\"how\":\"cold\",\"x\":1}}"
            ),
            &["`x`"],
        ),
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

proptest! {
    #[test]
    fn any_bytes_are_a_request_or_a_refusal(
        line in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = read_request(&line);
        let _ = read_answer(&line);
    }

    #[test]
    fn any_text_survives_a_line(text in "\\PC{0,60}", number in any::<u64>()) {
        let error = ControlError::new(ErrorKind::Failed, text.clone(), text.clone(), text.clone());
        let state = Activity::Waiting { restart_in: Nanos::new(number), why: text };
        let mut partitions = samples::partitions();
        partitions[0].state = state;
        for answer in [Answer::Error(error), Partitions { partitions, drift: Vec::new() }.into()] {
            prop_assert_eq!(read_answer(&answer_line(&answer)).unwrap(), answer);
        }
    }
}
