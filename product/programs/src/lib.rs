//! Programs that were received: unpacked, kept as versions, and where each was deployed.
//!
//! ```text
//! chunks ─► incoming/…/archive ─► names, limits ─► incoming/…/files ─ rename ─► versions/SHA-256
//!                                                                                   │
//!                                           programs.db: program, number ─► SHA-256 ┘
//! ```
//!
//! | module | content |
//! |--------|---------|
//! | [`Programs`] | what is kept, and every change of it |
//! | [`Upload`] | a program on its way in |
//! | [`name`] | the names that a file may have |
//! | `archive` | `.zip`, `.tar` and `.tar.gz`, entry by entry |
//! | `unpacked` | the files of an upload, within limits |
//! | `record` | what is known of programs, versions, builds and deployments |
//! | `index` | the database |
//! | [`sites`] | sites whose texts were received, with these programs |
//!
//! A version is the SHA-256 of its files, and its folder never changes. It is marked as received,
//! so that whoever builds it uses the sandbox. What was acknowledged survives the death of the
//! process at any point; what was not is removed at the next start.
//!
//! | limit | value |
//! |-------|-------|
//! | bytes of an archive | [`ARCHIVE_BYTES_MAX`] |
//! | bytes of all files | [`UNPACKED_BYTES_MAX`], and [`RATIO_MAX`] times those of the archive |
//! | files and folders | [`FILE_COUNT_MAX`] |
//! | folders in each other | [`name::DEPTH_MAX`] |
//! | bytes of a name | [`name::NAME_BYTES_MAX`] |
//! | programs | [`PROGRAM_COUNT_MAX`] |
//! | versions of a program | [`VERSION_COUNT_MAX`]; the oldest goes, if it is not in use |
//! | bytes of all versions | [`KEPT_BYTES_MAX`] |
//! | sites; versions of each | [`sites::SITE_COUNT_MAX`], [`sites::SITE_VERSION_COUNT_MAX`] |

#![forbid(unsafe_code)]

mod archive;
mod error;
mod index;
pub mod name;
mod programs;
mod record;
pub mod sites;
mod unpacked;
mod upload;

pub use error::ProgramsError;
pub use programs::{KEPT_BYTES_MAX, PROGRAM_COUNT_MAX, Programs, VERSION_COUNT_MAX};
pub use record::{
    Authorship, BuildRecord, DeployPlace, Deployment, DeploymentOutcome, ProgramEntry, Version,
};
pub use unpacked::{FILE_COUNT_MAX, RATIO_MAX, UNPACKED_BYTES_MAX};
pub use upload::{ARCHIVE_BYTES_MAX, Upload};
