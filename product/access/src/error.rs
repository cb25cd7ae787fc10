//! Errors of the access folder.

use std::io;
use std::path::{Path, PathBuf};

use crate::name::NAME_BYTES_MAX;
use crate::{CREDENTIALS_MAX, GRANTS_MAX, SERVER_NAMES_MAX};

/// The reason why something about access could not be done. What was there before is still whole.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// There is no authority yet.
    #[error("there is no authority in `{}`; make it with `quietcore auth init`", folder.display())]
    NoAuthority {
        /// Folder in which it was looked for.
        folder: PathBuf,
    },
    /// There is an authority already.
    #[error(
        "there is an authority in `{}` already; `quietcore auth init --renew` makes a new \
         certificate of the server and keeps it",
        folder.display()
    )]
    Authority {
        /// Folder in which it is.
        folder: PathBuf,
    },
    /// The operating system refused something.
    #[error("`{}` can't be {action}", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// The attempt that failed, as a participle such as `written`.
        action: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A file is not what this program writes.
    #[error("`{}` is damaged: {problem}", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// Fault of its content.
        problem: String,
    },
    /// Another program holds the folder.
    #[error("`{}` is held by another `quietcore auth`; try again", folder.display())]
    Held {
        /// Folder that is held.
        folder: PathBuf,
    },
    /// A certificate can't be made.
    #[error("a certificate can't be made")]
    Certificate(#[from] rcgen::Error),
    /// The kernel gives no random numbers.
    #[error("the kernel gives no random numbers")]
    Random(#[source] io::Error),
    /// A name or address of the server can't be one.
    #[error("`{}` is no name of a machine; use letters, digits, `-` and `.`", .0.escape_default())]
    ServerName(String),
    /// The server has too many names.
    #[error("{0} names and addresses; a server has at most {SERVER_NAMES_MAX}")]
    ServerNames(usize),
    /// A credential has too many grants.
    #[error("{0} grants; a credential has at most {GRANTS_MAX}; grant whole sites")]
    Grants(usize),
    /// The registry is full.
    #[error(
        "the registry is full: it holds {CREDENTIALS_MAX} credentials, and 16 MiB with their \
         grants; let some expire, or grant whole sites"
    )]
    Full,
    /// Nothing that holds has this name or serial number.
    #[error("nothing that holds is called `{}`; `quietcore auth list` shows what was handed out",
        .0.chars().take(NAME_BYTES_MAX).flat_map(char::escape_default).collect::<String>())]
    NoCredential(String),
    /// A life is too short or too long.
    #[error("{asked} {unit}; use 1 to {most}")]
    Life {
        /// Length that was asked for.
        asked: u32,
        /// Unit of both, such as `days`.
        unit: &'static str,
        /// The longest length, in that unit.
        most: u32,
    },
    /// The folder for a new certificate is there already.
    #[error("`{}` is there already; choose another folder with `--out`", .0.display())]
    OutExists(PathBuf),
}

impl AccessError {
    pub(crate) fn io<'a>(
        path: &'a Path,
        action: &'static str,
    ) -> impl Fn(io::Error) -> Self + use<'a> {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }
}
