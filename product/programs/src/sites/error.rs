//! The errors of sites whose texts were received.

use std::path::PathBuf;

use crate::ProgramsError;

/// The reason why a site is not kept, found or applied.
#[derive(Debug, thiserror::Error)]
pub enum SitesError {
    /// A program of it can't be used, or the system has refused something.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// There is no such version.
    #[error("site `{site}` has no version {number}; list its versions")]
    NoVersion {
        /// Name of the site.
        site: String,
        /// The number that was given.
        number: u64,
    },
    /// The name is none of a site whose text was received.
    #[error("no text of a site `{site}` was received")]
    NoSite {
        /// Name of the site.
        site: String,
    },
    /// No other version came up before the one that runs.
    #[error("no version of site `{site}` was up before; apply a text")]
    NothingBefore {
        /// Name of the site.
        site: String,
    },
    /// Something else is done with the site.
    #[error("site `{site}` is being applied or undone; try again")]
    Busy {
        /// Name of the site.
        site: String,
    },
    /// There are too many sites.
    #[error("there are {most} sites already; remove the folder of one that is not needed any more")]
    TooMany {
        /// The most that there may be.
        most: usize,
    },
    /// A file that the daemon has written can't be read.
    #[error("`{}` is damaged; put back a copy of it, or apply the text again", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
    },
}
