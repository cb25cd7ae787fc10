//! Requests and answers as lines: `quietcore.control/2`, one JSON object a line.
//!
//! ```text
//! client ─► {"schema":"quietcore.control/2","request":"pause","partition":"axis","by":{…}}
//! server ─► {"schema":"quietcore.control/2","response":"paused","is_paused":true,…}
//! ```
//!
//! | request | answers |
//! |---------|---------|
//! | `hello` | `hello` |
//! | `ps` | `partitions` |
//! | `open` | `opened`, and with it the exchange's file, open for reading only |
//! | `write`, `unforce-all` | `applied`: each change with the value before and after |
//! | `trace-start` | `tracing`; the recording ends with the connection at the latest |
//! | `pause`, `resume` | `paused` |
//! | `trace-stop`, `restart`, `down` | `done` |
//! | `deploy` | any number of `progress`, then `deployed` |
//! | `changes` | `changes`: what clients have set and forced lately, and who they are |
//! | `channel` | `channel-opened`, and with it the channel's memory: for reading only, or as an end of it |
//! | `events` | `events`; with `follow` one after another until the client goes |
//!
//! A request to a partition names it as `partition`. `by` is the client in its own words and
//! may be left out; the user is not among them, as the supervisor has that from the kernel. Instead
//! of any answer `error` may come. A client sends a request when the last one is answered. What
//! breaks the protocol (a line too long, not JSON, another schema) is answered with an `error`;
//! after a line too long or cut the connection ends, since nobody knows where the next one begins.

use quietcore_wording::nearest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::asker::Introduction;
use crate::error::{ControlError, ErrorKind, quoted};
use crate::request::{Ask, Request, SiteVerb, Verb};

/// The schema that every line names.
pub const CONTROL_SCHEMA: &str = "quietcore.control/2";

/// The longest line, its end included.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// The keys that stand beside a verb.
const PARTITION: &str = "partition";
const BY: &str = "by";

#[derive(Serialize)]
struct Line<'a, T> {
    schema: &'a str,
    #[serde(flatten)]
    content: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a Introduction>,
}

/// Writes an answer as a line, its end included.
pub fn answer_line(answer: &Answer) -> Vec<u8> {
    to_line(answer, None, None)
}

/// Writes a request as a line, its end included.
pub fn request_line(by: &Introduction, ask: &Ask) -> Vec<u8> {
    match ask {
        Ask::Site(verb) => to_line(verb, None, Some(by)),
        Ask::Partition { partition, verb } => to_line(verb, Some(partition), Some(by)),
    }
}

fn to_line(
    content: &impl Serialize,
    partition: Option<&str>,
    by: Option<&Introduction>,
) -> Vec<u8> {
    let line = Line { schema: CONTROL_SCHEMA, content, partition, by };
    let mut bytes = serde_json::to_vec(&line).expect("all our types can be written as JSON");
    bytes.push(b'\n');
    bytes
}

/// Reads a line as a request.
///
/// # Errors
/// [`ControlError`] that says what is wrong with the line.
pub fn read_request(line: &[u8]) -> Result<Request, ControlError> {
    let mut object = content_of(line)?;
    let by = match object.remove(BY) {
        None => Introduction::default(),
        Some(by) => read::<Introduction>(by, BY, "")?.harmless(),
    };
    let word = object.get("request").and_then(Value::as_str);
    let is_of_partition = word.is_some_and(|word| Verb::WORDS.contains(&word));
    if let Some(word) = word
        && !is_of_partition
        && !SiteVerb::WORDS.contains(&word)
    {
        return Err(unknown(word));
    }
    if !is_of_partition {
        return Ok(Request { by, ask: Ask::Site(read_verb(object)?) });
    }
    let Some(partition) = object.remove(PARTITION) else {
        return Err(bad(PARTITION, "missing".to_owned(), "say of which partition it is asked"));
    };
    let partition = read(partition, PARTITION, "")?;
    Ok(Request { by, ask: Ask::Partition { partition, verb: read_verb(object)? } })
}

/// Reads a verb from what is left of its line. One that takes nothing refuses what stands beside
/// it, as the others do by their types.
fn read_verb<V: DeserializeOwned + Serialize>(
    object: Map<String, Value>,
) -> Result<V, ControlError> {
    let beside = object.keys().find(|key| *key != "request").cloned();
    let verb: V = read(Value::Object(object), "request", "")?;
    let takes_nothing = serde_json::to_value(&verb)
        .is_ok_and(|value| value.as_object().is_some_and(|object| object.len() == 1));
    match beside {
        Some(key) if takes_nothing => {
            Err(bad("request", format!("unknown field `{}`", shortened(&key)), ""))
        }
        _ => Ok(verb),
    }
}

fn unknown(word: &str) -> ControlError {
    let words: Vec<&str> = SiteVerb::WORDS.into_iter().chain(Verb::WORDS).collect();
    let remedy = match nearest(word, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", quoted(&words)),
    };
    bad("request", format!("`{}` is unknown", shortened(word)), &remedy)
}

/// Reads a line as an answer.
///
/// # Errors
/// [`ControlError`] when the line is none: the other side is of another version.
pub fn read_answer(line: &[u8]) -> Result<Answer, ControlError> {
    read(Value::Object(content_of(line)?), "response", SAME_BUILD)
}

fn read<T: DeserializeOwned>(value: Value, place: &str, remedy: &str) -> Result<T, ControlError> {
    let read = serde_json::from_value(value);
    read.map_err(|error| bad(place, shortened(&error.to_string()), remedy))
}

const SAME_BUILD: &str = "use `quietcore` of the build that runs the site";

/// Checks what all lines have in common.
fn content_of(line: &[u8]) -> Result<Map<String, Value>, ControlError> {
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| bad("line", format!("no JSON: {error}"), "write one object a line"))?;
    let Value::Object(mut object) = value else {
        return Err(bad("line", "no JSON object".to_owned(), "write one object a line"));
    };
    match object.remove("schema") {
        Some(Value::String(schema)) if schema == CONTROL_SCHEMA => Ok(object),
        Some(Value::String(schema)) => {
            let what = format!("`{}` is not understood", shortened(&schema));
            Err(bad("schema", what, &format!("this side speaks `{CONTROL_SCHEMA}`; {SAME_BUILD}")))
        }
        _ => Err(bad("schema", "missing".to_owned(), &format!("say `{CONTROL_SCHEMA}`"))),
    }
}

fn bad(place: &str, what: String, remedy: &str) -> ControlError {
    ControlError::new(ErrorKind::BadRequest, place, what, remedy)
}

/// The beginning of a text that the other side chose.
fn shortened(text: &str) -> String {
    const CHARACTERS_MAX: usize = 200;
    if text.chars().nth(CHARACTERS_MAX).is_none() {
        return text.to_owned();
    }
    text.chars().take(CHARACTERS_MAX).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
