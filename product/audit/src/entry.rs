//! Entries: the parts of one, and the row in which it is kept.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical::{canonical, sha256};
use crate::instant::Instant;

/// The hash before the first entry.
pub const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The author of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    /// The user, by the kernel's word or by a certificate's.
    pub user: String,
    /// The client's program in its own words; may be empty.
    #[serde(default)]
    pub program: String,
    /// The way by which the client came in, such as `socket`.
    #[serde(default)]
    pub via: String,
    /// Name in the certificate or token that the client has shown, if it has shown one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// The role that it acted in, where there are roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

impl Who {
    /// Returns `true` if a name is that of the user or the one in the certificate.
    pub fn is(&self, name: &str) -> bool {
        self.user == name || self.certificate.as_deref() == Some(name)
    }
}

/// As in `anna by socket (grpc-python/1.80)`.
impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.user)?;
        if let Some(certificate) = self.certificate.as_ref().filter(|it| **it != self.user) {
            write!(f, " as {certificate}")?;
        }
        if let Some(role) = &self.role {
            write!(f, ", {role}")?;
        }
        if !self.via.is_empty() {
            write!(f, " by {}", self.via)?;
        }
        if self.program.is_empty() { Ok(()) } else { write!(f, " ({})", self.program) }
    }
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The trail begins here. Its details say why: it is the first, or another one was set aside.
    Began,
    /// Somebody is about to change something; nothing has been asked of the site yet.
    Intended,
    /// The change was made. Its details are those of the answer, with old and new values.
    Done,
    /// The change was refused, or has failed.
    Refused,
    /// Entries at the beginning were removed, because they had been kept long enough.
    Pruned,
}

impl Kind {
    /// Returns the word of the kind.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Began => "began",
            Self::Intended => "intended",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Pruned => "pruned",
        }
    }
}

/// The reason why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The kind of the refusal for programs, such as `NO_VARIABLE`.
    pub kind: String,
    /// The sentence that the client was told.
    pub sentence: String,
}

/// An entry of the trail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number, one more than that of the entry before; the first has 1.
    pub number: u64,
    /// Hash of the entry before; [`NO_HASH`] for the first.
    pub previous: String,
    /// When it was made.
    #[serde(flatten)]
    pub instant: Instant,
    /// The step of a change that it records, or what the trail has done itself.
    pub kind: Kind,
    /// Number of the intention whose outcome it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// The client that has called; the daemon for what the trail does itself.
    pub who: Who,
    /// The call, such as `VariableService/WriteVariables`; empty for what the trail does itself.
    #[serde(default)]
    pub call: String,
    /// Name of the site; empty where a call has none.
    #[serde(default)]
    pub site: String,
    /// Name of the partition; empty where a call has none.
    #[serde(default)]
    pub partition: String,
    /// Details: of an intention what was asked for, of an outcome the answer.
    #[serde(default)]
    pub what: Value,
    /// The refusal, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

impl Entry {
    /// Returns the row of the entry.
    pub(crate) fn row(&self) -> Row {
        let value = serde_json::to_value(self).expect("an entry has texts and numbers only");
        let text = canonical(&value);
        Row { number: self.number, hash: sha256(text.as_bytes()), text }
    }
}

/// An entry as it is kept: its canonical form, and the SHA-256 of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number of the entry, from 1.
    pub number: u64,
    /// The canonical form of the entry.
    pub text: String,
    /// SHA-256 of `text`, in 64 hexadecimal digits.
    pub hash: String,
}

impl Row {
    /// Reads the entry; `None` if the text is none.
    pub fn entry(&self) -> Option<Entry> {
        serde_json::from_str(&self.text).ok()
    }

    /// Returns the entry as a line of JSON with its hash as `hash`, as it is exported. A text that
    /// is no object of JSON is returned as it is.
    pub fn line(&self) -> String {
        match serde_json::from_str(&self.text) {
            Ok(Value::Object(mut members)) => {
                members.insert("hash".to_owned(), self.hash.as_str().into());
                canonical(&Value::Object(members))
            }
            _ => self.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_is_told_by_what_is_known() {
        let socket = Who {
            user: "anna".to_owned(),
            program: "grpc-python/1.80".to_owned(),
            via: "socket".to_owned(),
            ..Who::default()
        };
        assert_eq!(socket.to_string(), "anna by socket (grpc-python/1.80)");
        let remote = Who {
            via: "TLS from 10.0.0.7".to_owned(),
            certificate: Some("line-4".to_owned()),
            role: Some("operator".to_owned()),
            program: String::new(),
            ..socket
        };
        assert_eq!(remote.to_string(), "anna as line-4, operator by TLS from 10.0.0.7");
    }

    #[test]
    fn a_row_is_exported_with_its_hash_and_read_back() {
        let entry = Entry {
            number: 7,
            previous: NO_HASH.to_owned(),
            instant: Instant::now(),
            kind: Kind::Refused,
            of: Some(6),
            who: Who { user: "anna".to_owned(), ..Who::default() },
            call: "VariableService/WriteVariables".to_owned(),
            site: "line".to_owned(),
            partition: "axis".to_owned(),
            what: Value::Null,
            refusal: Some(Refusal { kind: "BUSY".to_owned(), sentence: "wait".to_owned() }),
        };
        let row = entry.row();
        assert_eq!(row.entry(), Some(entry));
        let line: Value = serde_json::from_str(&row.line()).unwrap();
        assert_eq!(line["hash"], row.hash.as_str());
        assert!(!row.text.contains(": ") && row.text.starts_with("{\"at\":\""), "{}", row.text);
    }
}
