//! The canonical form of an entry: one text for one value, whoever writes it.
//!
//! JSON without spaces, the names of each object in the order of their code points, texts as they
//! are but for `"`, `\` and what is below U+0020, numbers whole. Python writes the same by
//! `json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)`.
//!
//! Fractions have no place in it, for no two languages write them alike: details that come in are
//! made plain first, a fraction becoming the text of it.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// The longest text within details, in characters; a longer one is cut and ends in `…`.
pub const DETAIL_CHARS_MAX: usize = 1024;
/// The largest details of an entry in their canonical form, in bytes.
pub const DETAILS_BYTES_MAX: usize = 256 << 10;

/// Returns the canonical form of a value.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, to: &mut String) {
    match value {
        Value::Array(values) => {
            to.push('[');
            separated(values, to, write);
            to.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            to.push('{');
            separated(members, to, |(name, value), to| {
                write(&Value::from(name.as_str()), to);
                to.push(':');
                write(value, to);
            });
            to.push('}');
        }
        scalar => to.push_str(&scalar.to_string()),
    }
}

fn separated<T>(all: impl IntoIterator<Item = T>, to: &mut String, one: impl Fn(T, &mut String)) {
    for (index, value) in all.into_iter().enumerate() {
        if index > 0 {
            to.push(',');
        }
        one(value, to);
    }
}

/// Returns details as they may stand in an entry: no fractions, no text beyond
/// [`DETAIL_CHARS_MAX`]. Details beyond [`DETAILS_BYTES_MAX`] are left out, and their size is told
/// instead.
pub(crate) fn plain(details: Value) -> Value {
    let plain = plain_part(details);
    match canonical(&plain).len() {
        0..=DETAILS_BYTES_MAX => plain,
        bytes => Value::Object(Map::from_iter([("left_out_bytes".to_owned(), bytes.into())])),
    }
}

fn plain_part(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => number.to_string().into(),
        Value::String(text) => cut(text).into(),
        Value::Array(values) => values.into_iter().map(plain_part).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (cut(name), plain_part(value))).collect()
        }
        other => other,
    }
}

/// Cuts a text to [`DETAIL_CHARS_MAX`].
pub(crate) fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(DETAIL_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns the SHA-256 of bytes as 64 lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_canonical_form_has_sorted_names_and_no_spaces() {
        let value = json!({"b": [1, -2, null, true], "a": {"ö": "x\n\u{1}\u{7f}\"\\", "Z": {}}});
        let expected =
            "{\"a\":{\"Z\":{},\"ö\":\"x\\n\\u0001\u{7f}\\\"\\\\\"},\"b\":[1,-2,null,true]}";
        assert_eq!(canonical(&value), expected);
    }

    #[test]
    fn details_are_made_plain_and_bounded() {
        assert_eq!(plain(json!({"x": [0.5, 3, 1e300]})), json!({"x": ["0.5", 3, "1e+300"]}));
        let long = plain(json!({ "x": "ä".repeat(DETAIL_CHARS_MAX + 1) }));
        let text = long["x"].as_str().expect("a text");
        assert_eq!(text.chars().count(), DETAIL_CHARS_MAX + 1);
        assert!(text.ends_with('…'));
        let large = plain(vec!["y".repeat(1000); 300].into());
        assert!(large["left_out_bytes"].as_u64() > Some(DETAILS_BYTES_MAX as u64), "{large}");
    }

    #[test]
    fn a_hash_is_that_of_everybody_else() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
    }
}
