//! The errors of received programs.

use std::io;
use std::path::{Path, PathBuf};

use crate::name::NameProblem;

/// The reason why a program is not received, kept or found.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// The name can't be the name of a program.
    #[error(
        "`{}` is no name of a program; use up to 64 letters, digits, `-`, `_` and `.`, and begin \
         with a letter or digit", name.escape_debug()
    )]
    ProgramName {
        /// The name that was given.
        name: String,
    },
    /// A file has a name that it may not have.
    #[error("`{}` {problem}", name.escape_debug())]
    FileName {
        /// The name in the archive.
        name: String,
        /// The rule that it breaks.
        problem: NameProblem,
    },
    /// An entry is no plain file and no folder.
    #[error("`{}` is {kind}; only plain files and folders are taken", name.escape_debug())]
    EntryKind {
        /// The name in the archive.
        name: String,
        /// The kind that it is of.
        kind: &'static str,
    },
    /// The archive can't be read.
    #[error("the archive can't be read: {why}; give a `.zip`, `.tar` or `.tar.gz`")]
    Archive {
        /// The fault, in words.
        why: String,
    },
    /// There is nothing in it.
    #[error("there are no files in it")]
    Empty,
    /// The parts of an upload come in an order that means nothing.
    #[error("{0}")]
    Order(&'static str),
    /// A limit is passed.
    #[error("{what}: more than {most}{}", of_what(*what))]
    Limit {
        /// The subject of the limit.
        what: LimitedQuantity,
        /// The most that is allowed, in the unit of the subject.
        most: u64,
    },
    /// There is no such program.
    #[error("there is no program `{program}`; upload it first")]
    NoProgram {
        /// The name that was given.
        program: String,
    },
    /// There is no such version.
    #[error("program `{program}` has no version {number}; it has {}", listed(numbers))]
    NoVersion {
        /// Name of the program.
        program: String,
        /// The number that was given.
        number: u64,
        /// Those that there are.
        numbers: Vec<u64>,
    },
    /// The version is in use.
    #[error(
        "version {number} of program `{program}` is in use by partition `{partition}` of site \
         `{site}`; deploy another one first"
    )]
    InUse {
        /// Name of the program.
        program: String,
        /// Number of the version.
        number: u64,
        /// Name of the site.
        site: String,
        /// Name of the partition.
        partition: String,
    },
    /// Nothing was deployed before.
    #[error(
        "nothing was deployed to partition `{partition}` of site `{site}` before; deploy a version"
    )]
    NothingBefore {
        /// Name of the site.
        site: String,
        /// Name of the partition.
        partition: String,
    },
    /// The disk is full.
    #[error("there is no room left for `{}`; delete versions, or make room on the disk",
        path.display())]
    Full {
        /// The file that was written.
        path: PathBuf,
    },
    /// The index is damaged.
    #[error(
        "`{}` is damaged: {why}; put back a copy of it, or move it away to begin anew without the \
         versions that it lists", path.display()
    )]
    Damaged {
        /// Path of the database.
        path: PathBuf,
        /// The fault, in words.
        why: String,
    },
    /// The index can't be used.
    #[error("the index of programs can't be used")]
    Index(#[source] rusqlite::Error),
    /// The system refused something.
    #[error("`{}` can't be {action}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The attempt that failed, as a participle.
        action: &'static str,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}

/// The subject of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedQuantity {
    /// Bytes of an archive.
    Archive,
    /// Bytes of all files.
    Unpacked,
    /// Bytes of all files for each byte of the archive.
    Ratio,
    /// Number of files and folders in an archive.
    Files,
    /// Bytes of an extension of a header.
    Header,
    /// Number of programs that have a name.
    Programs,
    /// Bytes of all versions.
    Kept,
}

impl std::fmt::Display for LimitedQuantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Archive => "the archive is too large",
            Self::Unpacked => "the files are too large",
            Self::Ratio => "the archive unpacks to too much",
            Self::Files => "there are too many files and folders",
            Self::Header => "a header of the archive is too large",
            Self::Programs => "there are too many programs",
            Self::Kept => "the versions that are kept are too large; delete some of them",
        })
    }
}

const fn of_what(what: LimitedQuantity) -> &'static str {
    match what {
        LimitedQuantity::Files | LimitedQuantity::Programs => "",
        LimitedQuantity::Ratio => " bytes for each of its own",
        _ => " bytes",
    }
}

fn listed(numbers: &[u64]) -> String {
    match numbers {
        [] => "none".to_owned(),
        [first] => first.to_string(),
        [first, .., last] => format!("{} from {first} to {last}", numbers.len()),
    }
}

impl ProgramsError {
    /// Returns the error of a file or folder.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full { path: path.clone() },
            _ => Self::Io { path: path.clone(), action, source },
        }
    }
}
