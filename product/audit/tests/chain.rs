//! The chain shows what was altered: every change, removal, addition and exchange of entries.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use proptest::prelude::*;
use quietcore_audit::{
    Head, Intention, OnDisk, Outcome, Reader, Refusal, Retention, Row, Trail, Verification,
    Verifier, Who, WhyFault,
};
use quietcore_skip::skip;
use serde_json::json;

/// A trail with changes of several kinds, and an intention without an outcome.
static ROWS: LazyLock<(Vec<Row>, Head)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let mut trail = Trail::new(folder.path(), Retention::default());
    for number in 0..5 {
        let intended =
            trail.intend(intention(number), OnDisk::BeforeTheChange).expect("it can be written");
        let outcome = match number % 2 {
            0 => Outcome::Done(json!({"old": "2.0", "new": "ä\u{7f}\n\"", "cycle": number})),
            _ => Outcome::Refused(Refusal { kind: "BUSY".into(), sentence: "wait".into() }),
        };
        trail.conclude(intended, outcome).expect("it can be written");
    }
    trail.intend(intention(5), OnDisk::BeforeTheChange).expect("it can be written");
    let reader = Reader::open(trail.path()).expect("it can be read");
    (reader.rows(0, 100).expect("rows"), reader.head().expect("a head"))
});

fn intention(number: u64) -> Intention {
    Intention {
        who: Who { user: "anna".into(), via: "socket".into(), ..Who::default() },
        call: "VariableService/WriteVariables".into(),
        site: "line".into(),
        partition: "axis".into(),
        what: json!({"changes": [{"variable": "servo_P.Kp", "value": number.to_string()}]}),
    }
}

fn verified(rows: &[Row], head: Option<&Head>) -> Verification {
    let mut verifier = Verifier::new();
    let _ = rows.iter().all(|row| verifier.take(row));
    verifier.end(head)
}

#[test]
fn a_chain_in_order_is_told_with_its_extent_and_what_is_unknown() {
    let (rows, head) = &*ROWS;
    let found = verified(rows, Some(head));
    assert_eq!((found.fault, found.count), (None, 12));
    assert_eq!((found.first.map(|it| it.0), found.last.map(|it| it.0)), (Some(1), Some(12)));
    assert_eq!(found.last_hash.as_ref(), Some(&head.hash));
    assert_eq!(found.unknown, [12]);
}

proptest! {
    #[test]
    fn every_changed_byte_is_found(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (rows, head) = &*ROWS;
        let mut rows = rows.clone();
        let index = at.index(rows.len());
        let row = &mut rows[index];
        let mut bytes = row.text.clone().into_bytes();
        let place = at.index(bytes.len());
        prop_assume!(bytes[place] != byte);
        bytes[place] = byte;
        row.text = String::from_utf8_lossy(&bytes).into_owned();
        let number = row.number;
        let fault = verified(&rows, Some(head)).fault.expect("a fault");
        prop_assert_eq!((fault.number, fault.why), (number, WhyFault::Changed));
    }

    #[test]
    fn an_entry_that_was_written_anew_is_found_by_the_next(at in any::<prop::sample::Index>()) {
        let (rows, head) = &*ROWS;
        let index = at.index(rows.len());
        let mut rows = rows.clone();
        let text = rows[index].text.replacen("\"at\":\"2", "\"at\":\"1", 1);
        prop_assert_ne!(&text, &rows[index].text);
        rows[index].hash = sha256(&text);
        rows[index].text = text;
        let fault = verified(&rows, Some(head)).fault.expect("a fault");
        prop_assert_eq!(fault.number, index as u64 + 2);
    }

    #[test]
    fn removed_entries_are_found(from in 0..12_usize, count in 1..12_usize) {
        let (rows, head) = &*ROWS;
        let to = (from + count).min(rows.len());
        let mut rows = rows.clone();
        rows.drain(from..to);
        let fault = verified(&rows, Some(head)).fault;
        prop_assert!(fault.is_some(), "{from} to {to}");
    }

    #[test]
    fn exchanged_and_repeated_entries_are_found(one in 0..12_usize, other in 0..12_usize) {
        let (rows, head) = &*ROWS;
        let mut exchanged = rows.clone();
        exchanged.swap(one, other);
        prop_assert_eq!(verified(&exchanged, Some(head)).fault.is_some(), one != other);
        let mut repeated = rows.clone();
        repeated.insert(other, rows[one].clone());
        prop_assert!(verified(&repeated, Some(head)).fault.is_some());
    }
}

fn sha256(text: &str) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Goal: a stranger checks an export by the program in the documentation, and by nothing of ours.
#[test]
fn a_dozen_lines_of_python_verify_an_export() {
    let source = include_str!("../src/lib.rs");
    let begin = source.find("```python\n").expect("the program") + "```python\n".len();
    let end = begin + source[begin..].find("//! ```").expect("its end");
    let program: String = source[begin..end]
        .lines()
        .map(|line| line.strip_prefix("//! ").unwrap_or_default().to_owned() + "\n")
        .collect();
    assert!(program.lines().count() <= 12, "{program}");
    if !Path::new("/usr/bin/python3").exists() {
        skip!("there is no python3");
        return;
    }
    let run = |rows: &[Row]| {
        let mut python = Command::new("/usr/bin/python3")
            .args(["-c", &program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut input = python.stdin.take().expect("a pipe");
        // It ends at the first fault, and reads no further.
        let _ = rows.iter().try_for_each(|row| writeln!(input, "{}", row.line()));
        drop(input);
        let output = python.wait_with_output().expect("it ends");
        let told = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(told).expect("text"))
    };
    let (rows, head) = &*ROWS;
    assert_eq!(run(rows), (true, format!("in order; the last hash is {}\n", head.hash)));
    let mut changed = rows.clone();
    changed[4].text = changed[4].text.replace("BUSY", "LAZY");
    assert_eq!(run(&changed), (false, "entry 5 was changed\n".to_owned()));
    changed = rows.clone();
    changed.remove(3);
    let told = "entries before 5 are missing or were replaced\n".to_owned();
    assert_eq!(run(&changed), (false, told));
}
