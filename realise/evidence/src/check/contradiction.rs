//! The contradictions that a folder may hold: two of its parts that exclude each other.

use std::fmt;

use quietcore_record::reason::Reason;

/// Two parts of a folder that exclude each other. One of them was changed after the run, or the
/// folder was put together from several runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Contradiction {
    /// A campaign's folder has no site file.
    NoSite,
    /// A campaign's folder has no facts about the machine.
    NoFacts,
    /// The site file is none that this program reads.
    SiteUnreadable {
        /// Its first problem, as a sentence.
        problem: String,
    },
    /// A folder of imported data has a site file.
    SiteOfImport,
    /// The manifest says other than the site file, or than another of its own keys.
    Manifest {
        /// The key in `manifest.json`.
        key: String,
        /// The content of the manifest.
        says: String,
        /// The content that follows from the other files.
        follows: String,
    },
    /// A record says other than the site file or the manifest.
    Record {
        /// Name of the record.
        record: String,
        /// The key that differs.
        key: &'static str,
        /// The content of the record.
        says: String,
        /// The content that follows from the other files.
        follows: String,
    },
    /// The numbers of a record exclude each other.
    Numbers {
        /// Name of the record.
        record: String,
        /// The numbers that exclude each other.
        problem: Reason,
    },
    /// A record does not stand in the file of its name, or two have one name.
    OtherFile {
        /// Name of the record.
        record: String,
        /// The file that it stands in.
        file: String,
    },
    /// Two records hold the same measured values.
    Twice {
        /// Name of one of them.
        record: String,
        /// Name of the other one.
        other: String,
    },
    /// Records of one campaign say different things of what they have in common.
    OneRun {
        /// Name of one record.
        record: String,
        /// Another one of the same run.
        other: String,
        /// The key that they differ in.
        key: String,
    },
}

impl Contradiction {
    /// The record that it is about; `None` where it is about the whole folder.
    pub fn record(&self) -> Option<&str> {
        match self {
            Self::Record { record, .. }
            | Self::Numbers { record, .. }
            | Self::OtherFile { record, .. }
            | Self::Twice { record, .. }
            | Self::OneRun { record, .. } => Some(record),
            Self::NoSite
            | Self::NoFacts
            | Self::SiteUnreadable { .. }
            | Self::SiteOfImport
            | Self::Manifest { .. } => None,
        }
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSite => f.write_str("`site.toml` is missing, which a campaign writes"),
            Self::NoFacts => f.write_str("`doctor.json` is missing, which a campaign writes"),
            Self::SiteUnreadable { problem } => {
                write!(f, "`site.toml` is no site file that can be checked: {problem}")
            }
            Self::SiteOfImport => f.write_str("`site.toml` is there, which no import writes"),
            Self::Manifest { key, says, follows } => {
                write!(f, "`manifest.json`: `{key}` is {says}, and from the rest follows {follows}")
            }
            Self::Record { record, key, says, follows } => {
                write!(f, "record `{record}`: `{key}` is {says}, and from the rest follows ")?;
                f.write_str(follows)
            }
            Self::Numbers { record, problem } => write!(f, "record `{record}`: {problem}"),
            Self::OtherFile { record, file } => {
                write!(f, "`{file}` holds record `{record}`, which has a file of its own")
            }
            Self::Twice { record, other } => {
                write!(f, "records `{record}` and `{other}` hold the same measured values")
            }
            Self::OneRun { record, other, key } => {
                write!(
                    f,
                    "records `{record}` and `{other}` are of one campaign and differ in `{key}`"
                )
            }
        }
    }
}
