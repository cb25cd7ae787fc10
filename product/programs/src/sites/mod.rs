//! Sites whose texts were received: what a text may name, and its versions.
//!
//! ```text
//! sites/
//! ├── .incoming/          what is not whole yet; emptied at the next start
//! └── NAME/
//!     ├── lock            held while a version of it is applied or the site is brought down
//!     ├── history.json    which version was applied when, by whom, and what came of it
//!     └── NUMBER/         a version; it never changes
//!         ├── received.toml   the text as it was sent
//!         ├── site.toml       the text with the folders of its programs
//!         ├── version.json    its author, and the programs of its partitions
//!         └── programs/PARTITION/   the files of a program, linked
//! ```
//!
//! | module | content |
//! |--------|---------|
//! | [`SiteText`] | a text that was checked: it names no file of the machine |
//! | [`SiteStore`] | versions and history, each written whole or not at all |
//!
//! A version has its programs by hard links, so that it can be brought up when the version of the
//! program is deleted. It is marked as received: whoever builds it uses the sandbox.

mod error;
mod store;
mod text;

pub use error::SitesError;
pub use store::{
    Application, ApplicationOutcome, HISTORY_MAX, SITE_COUNT_MAX, SITE_VERSION_COUNT_MAX,
    SiteStore, SiteVersion, Staged,
};
pub use text::{ChosenProgram, SiteText};
