//! The control protocol, `quietcore.control/1`: one JSON object a line over a Unix socket.
//!
//! ```text
//! client ─► {"schema":"quietcore.control/1","request":"ps"}
//! server ─► {"schema":"quietcore.control/1","response":"partitions","partitions":[…]}
//! ```
//!
//! | request | responses |
//! |---------|-----------|
//! | `hello` | `hello` |
//! | `ps` | `partitions` |
//! | `open` | `opened`, and with it the exchange's file, open for reading only |
//! | `write`, `unforce-all` | `applied` |
//! | `trace-start` | `tracing`; the recording ends with the connection at the latest |
//! | `trace-stop`, `restart`, `pause`, `resume`, `down` | `done` |
//! | `deploy` | any number of `progress`, then `deployed` |
//! | `changes` | `changes`: what clients have set and forced lately |
//! | `events` | `events`; with `follow` one after another until the client goes |
//!
//! Instead of any of them, `error` may come. A client sends a request when the last one is
//! answered. What breaks the protocol (a line too long, not JSON, another schema) is answered with
//! an `error`; after a line too long or cut the connection ends, since nobody knows where the next
//! one begins.

mod channel;

use std::path::PathBuf;

use quietcore_wording::nearest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use channel::{Channel, ChannelError, Patience};

use crate::control::{
    Applied, AppliedChange, Change, ControlError, DeployPatience, Deployed, ErrorKind, EventLine,
    Opened, PartitionState, Restart, Trace, TraceStarted, quoted,
};

/// The schema that every line names.
pub const CONTROL_SCHEMA: &str = "quietcore.control/1";

/// The longest line, its end included.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Who is there.
    Hello,
    /// The state of all partitions.
    Ps,
    /// What a monitor needs.
    Open {
        /// The partition.
        partition: String,
    },
    /// Changes of variables, as one group.
    Write {
        /// The partition.
        partition: String,
        /// The changes.
        changes: Vec<Change>,
    },
    /// Releases all forced variables.
    UnforceAll {
        /// The partition.
        partition: String,
    },
    /// Starts a recording.
    TraceStart {
        /// The partition.
        partition: String,
        /// What to record.
        trace: Trace,
    },
    /// Ends a recording.
    TraceStop {
        /// The partition.
        partition: String,
    },
    /// Swaps in a changed program.
    Deploy {
        /// The partition.
        partition: String,
        /// The folder of generated C, absolute.
        folder: PathBuf,
        /// The point until which it is waited for.
        #[serde(default)]
        patience: DeployPatience,
    },
    /// Starts a program anew.
    Restart {
        /// The partition.
        partition: String,
        /// How much of its past it keeps.
        how: Restart,
    },
    /// Holds a program between two cycles.
    Pause {
        /// The partition.
        partition: String,
    },
    /// Lets a program that was held go on.
    Resume {
        /// The partition.
        partition: String,
    },
    /// Brings the site down.
    Down,
    /// What has happened.
    Events {
        /// The first number wanted.
        #[serde(default)]
        since: u64,
        /// Whether to go on as long as the client is there.
        #[serde(default)]
        follow: bool,
    },
    /// What clients have set, forced and let go.
    Changes {
        /// The first number wanted.
        #[serde(default)]
        since: u64,
    },
}

/// The words of [`Request`], for those who mistype one.
const REQUESTS: [&str; 14] = [
    "hello",
    "ps",
    "open",
    "write",
    "unforce-all",
    "trace-start",
    "trace-stop",
    "deploy",
    "restart",
    "pause",
    "resume",
    "down",
    "events",
    "changes",
];

/// What the supervisor answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "response", rename_all = "kebab-case")]
pub enum Response {
    /// Who is there.
    Hello {
        /// Name of the site.
        site: String,
        /// Version of Quietcore.
        quietcore_version: String,
        /// The supervisor's process.
        pid: u32,
    },
    /// The state of all partitions.
    Partitions {
        /// In the order of the site file.
        partitions: Vec<PartitionState>,
    },
    /// What a monitor needs; the file comes with it.
    Opened(Opened),
    /// A group of changes was applied.
    Applied(Applied),
    /// A recording runs.
    Tracing(TraceStarted),
    /// A line about what is being done; more follows.
    Progress {
        /// What is being done.
        line: String,
    },
    /// A changed program runs.
    Deployed(Deployed),
    /// What has happened.
    Events {
        /// In order.
        events: Vec<EventLine>,
    },
    /// What clients have set, forced and let go.
    Changes {
        /// In order; the oldest are forgotten.
        changes: Vec<AppliedChange>,
        /// The number of the next one.
        next: u64,
    },
    /// It was done.
    Done,
    /// It was not done.
    Error(ControlError),
}

#[derive(Serialize)]
struct Line<'a, T> {
    schema: &'a str,
    #[serde(flatten)]
    content: &'a T,
}

/// A request or a response as a line, its end included.
pub fn to_line(content: &impl Serialize) -> Vec<u8> {
    let line = Line { schema: CONTROL_SCHEMA, content };
    let mut bytes = serde_json::to_vec(&line).expect("all our types can be written as JSON");
    bytes.push(b'\n');
    bytes
}

/// Reads a request.
///
/// # Errors
/// [`ControlError`] that says what is wrong with the line.
pub fn read_request(line: &[u8]) -> Result<Request, ControlError> {
    let value = content_of(line)?;
    if let Some(word) = value.get("request").and_then(Value::as_str)
        && !REQUESTS.contains(&word)
    {
        let remedy = match nearest(word, REQUESTS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", quoted(&REQUESTS)),
        };
        return Err(bad("request", format!("`{}` is unknown", shortened(word)), &remedy));
    }
    serde_json::from_value(value).map_err(|error| bad("request", shortened(&error.to_string()), ""))
}

/// Reads a response.
///
/// # Errors
/// [`ControlError`] when the line is none: the other side is of another version.
pub fn read_response(line: &[u8]) -> Result<Response, ControlError> {
    serde_json::from_value(content_of(line)?)
        .map_err(|error| bad("response", shortened(&error.to_string()), SAME_BUILD))
}

const SAME_BUILD: &str = "use `quietcore` of the build that runs the site";

/// Checks what all lines have in common.
fn content_of(line: &[u8]) -> Result<Value, ControlError> {
    let mut value: Value = serde_json::from_slice(line)
        .map_err(|error| bad("line", format!("no JSON: {error}"), "write one object a line"))?;
    let Some(object) = value.as_object_mut() else {
        return Err(bad("line", "no JSON object".to_owned(), "write one object a line"));
    };
    match object.remove("schema") {
        Some(Value::String(schema)) if schema == CONTROL_SCHEMA => Ok(value),
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
