//! The document that `show --json` prints, compared with the one that a folder holds: keys may be
//! added, and none may be removed or changed (see `logic/record/src/document.rs`) but for what
//! earlier versions said otherwise.

use std::collections::BTreeSet;

use quietcore_report::derived::is_of_an_earlier_version;
use serde_json::Value;

/// Replaces the document in an answer by the name of the file that holds it, with the keys that it
/// has in addition; leaves the answer as it is if anything else differs.
pub(crate) fn by_its_file(answer: &str, file: &str, held: &str) -> String {
    let Some(begin) = answer.find("\n{\n").map(|newline| newline + 1) else {
        return answer.to_owned();
    };
    let mut values = serde_json::Deserializer::from_str(&answer[begin..]).into_iter();
    let (Some(Ok(printed)), Ok(held)) = (values.next(), serde_json::from_str::<Value>(held)) else {
        return answer.to_owned();
    };
    let end = begin + values.byte_offset();
    let mut more = More::default();
    if !is_kept(&held, &printed, "", &mut more) {
        return answer.to_owned();
    }
    let list = |word: &str, places: BTreeSet<String>| match places.len() {
        0 => String::new(),
        _ => format!("{word} {}", places.into_iter().collect::<Vec<_>>().join(", ")),
    };
    let beside = list(", and beside it", more.added) + &list(", and in other words", more.reworded);
    let (before, after) = (&answer[..begin], answer[end..].trim_start_matches('\n'));
    format!("{before}(as `{file}` in the folder{beside})\n{after}")
}

/// Places of a document that are not as in another.
#[derive(Default)]
struct More {
    added: BTreeSet<String>,
    reworded: BTreeSet<String>,
}

/// Returns `true` if `new` has all of `old`; the places of what it has beyond go to `more`.
fn is_kept(old: &Value, new: &Value, place: &str, more: &mut More) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let beside = new.keys().filter(|key| !old.contains_key(*key));
            more.added.extend(beside.map(|key| format!("{place}.{key}")));
            old.iter().all(|(key, old)| {
                let place = format!("{place}.{key}");
                new.get(key).is_some_and(|new| is_kept(old, new, &place, more))
            })
        }
        (Value::Array(old), Value::Array(new)) => {
            let place = format!("{place}[]");
            old.len() == new.len()
                && old.iter().zip(new).all(|(old, new)| is_kept(old, new, &place, more))
        }
        // Earlier versions lost the last bits of a fraction when they read it back.
        (Value::Number(old), Value::Number(new)) if old.is_f64() && new.is_f64() => {
            let (old, new) = (old.as_f64().unwrap(), new.as_f64().unwrap());
            (old - new).abs() <= 4.0 * f64::EPSILON * old.abs().max(new.abs())
        }
        (old, new) if old == new => true,
        (old, new) => {
            more.reworded.insert(place.to_owned());
            let key = place.rsplit('.').next().unwrap_or_default();
            is_of_an_earlier_version(key, old, new)
        }
    }
}

#[test]
fn a_key_may_be_added_and_nothing_changed() {
    let held = "{\n  \"a\": [{\"b\": 1}]\n}\n";
    let answer = |document: &str| by_its_file(&format!("status 0\n{document}rest\n"), "f", held);
    assert_eq!(answer(held), "status 0\n(as `f` in the folder)\nrest\n");
    let more = answer("{\n  \"a\": [{\"b\": 1, \"c\": 2}]\n}\n");
    assert_eq!(more, "status 0\n(as `f` in the folder, and beside it .a[].c)\nrest\n");
    let changed = "{\n  \"a\": [{\"b\": null}]\n}\n";
    assert_eq!(answer(changed), format!("status 0\n{changed}rest\n"));
    let removed = "{\n  \"a\": [{}]\n}\n";
    assert_eq!(answer(removed), format!("status 0\n{removed}rest\n"));
}

#[test]
fn what_an_earlier_version_said_otherwise_is_listed() {
    let held =
        r#"{"a": [{"because": "5 of 9 releases were later than 1 ms"}], "b": {"max_ns": 0}}"#;
    let answer = |document: &str| by_its_file(&format!("0\n{{\n{document}}}\nrest\n"), "f", held);
    let now = r#""a": [{"because": "between 1 and 5 of 9 releases were later than 1 ms"}],
                 "b": {"max_ns": null}"#;
    let said = "0\n(as `f` in the folder, and in other words .a[].because, .b.max_ns)\nrest\n";
    assert_eq!(answer(now), said);
    for wrong in [now.replace("and 5", "and 6"), now.replace("null", "1")] {
        assert!(answer(&wrong).contains("between"), "{wrong}");
    }
}
