//! The document that `show --json` prints, compared with the one that a folder holds: keys may be
//! added, and none may be removed or changed (see `logic/record/src/document.rs`).

use std::collections::BTreeSet;

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
    let mut added = BTreeSet::new();
    if !adds_keys_only(&held, &printed, "", &mut added) {
        return answer.to_owned();
    }
    let added: Vec<String> = added.into_iter().collect();
    let beside = match &added[..] {
        [] => String::new(),
        added => format!(", and beside it {}", added.join(", ")),
    };
    let (before, after) = (&answer[..begin], answer[end..].trim_start_matches('\n'));
    format!("{before}(as `{file}` in the folder{beside})\n{after}")
}

/// Returns `true` if `new` has all of `old`; the places of additional keys go to `added`.
fn adds_keys_only(old: &Value, new: &Value, place: &str, added: &mut BTreeSet<String>) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let beside = new.keys().filter(|key| !old.contains_key(*key));
            added.extend(beside.map(|key| format!("{place}.{key}")));
            old.iter().all(|(key, old)| {
                let place = format!("{place}.{key}");
                new.get(key).is_some_and(|new| adds_keys_only(old, new, &place, added))
            })
        }
        (Value::Array(old), Value::Array(new)) => {
            let place = format!("{place}[]");
            old.len() == new.len()
                && old.iter().zip(new).all(|(old, new)| adds_keys_only(old, new, &place, added))
        }
        // Earlier versions lost the last bits of a fraction when they read it back.
        (Value::Number(old), Value::Number(new)) if old.is_f64() && new.is_f64() => {
            let (old, new) = (old.as_f64().unwrap(), new.as_f64().unwrap());
            (old - new).abs() <= 4.0 * f64::EPSILON * old.abs().max(new.abs())
        }
        (old, new) => old == new,
    }
}

#[test]
fn a_key_may_be_added_and_nothing_changed() {
    let held = "{\n  \"a\": [{\"b\": 1}]\n}\n";
    let answer = |document: &str| by_its_file(&format!("status 0\n{document}rest\n"), "f", held);
    assert_eq!(answer(held), "status 0\n(as `f` in the folder)\nrest\n");
    let more = answer("{\n  \"a\": [{\"b\": 1, \"c\": 2}]\n}\n");
    assert_eq!(more, "status 0\n(as `f` in the folder, and beside it .a[].c)\nrest\n");
    let changed = "{\n  \"a\": [{\"b\": 2}]\n}\n";
    assert_eq!(answer(changed), format!("status 0\n{changed}rest\n"));
    let removed = "{\n  \"a\": [{}]\n}\n";
    assert_eq!(answer(removed), format!("status 0\n{removed}rest\n"));
}
