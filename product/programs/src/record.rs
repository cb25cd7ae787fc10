//! Records of programs: what is known of versions, builds and deployments.

use serde::{Deserialize, Serialize};

/// A place in a site where a version runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeployPlace {
    /// Name of the site.
    pub site: String,
    /// Name of the partition.
    pub partition: String,
}

/// The author of a change, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authorship {
    /// The user, as people know them.
    pub by: String,
    /// Its time; RFC 3339, UTC.
    pub at: String,
}

/// A program of which versions were received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramEntry {
    /// Its name, by which it was sent.
    pub name: String,
    /// Number of its newest version; `None` if all are deleted.
    pub newest: Option<u64>,
    /// Number of versions that are kept.
    pub version_count: u64,
}

/// A version of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Name of the program.
    pub program: String,
    /// Its number, from 1.
    pub number: u64,
    /// SHA-256 of its files, in hexadecimal digits.
    pub sha256: String,
    /// Number of its files.
    pub files: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// The sender and the time.
    pub uploaded: Authorship,
}

/// A build of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildRecord {
    /// The place that it was built for; `None` if for none.
    pub place: Option<DeployPlace>,
    /// The hash of sources, headers, compiler and options; `None` if it could not be built.
    pub hash: Option<String>,
    /// The user who asked for it, and the time.
    pub built: Authorship,
}

/// The state of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeploymentOutcome {
    /// The site was asked, and has not answered yet.
    Begun,
    /// It ran, or has passed its probation.
    Ran,
    /// The site has refused it, it failed or was taken back, or the answer was lost.
    Failed,
}

impl DeploymentOutcome {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Ran => "ran",
            Self::Failed => "failed",
        }
    }

    pub(crate) fn of(word: &str) -> Self {
        let all = [Self::Begun, Self::Ran];
        all.into_iter().find(|outcome| outcome.word() == word).unwrap_or(Self::Failed)
    }
}

/// A version that was deployed to a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// The site and partition that was to run it.
    pub place: DeployPlace,
    /// Name of the program.
    pub program: String,
    /// Number of the version.
    pub number: u64,
    /// Its state, as far as the site has answered.
    pub outcome: DeploymentOutcome,
    /// The hash by which the site knows the build that ran.
    pub hash: Option<String>,
    /// The user who asked for it, and the time.
    pub deployed: Authorship,
}
