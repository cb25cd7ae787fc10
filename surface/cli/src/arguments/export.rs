//! `quietcore export`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// For whom files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFor {
    /// A unit: the site as a service of this machine
    Systemd,
    /// A Quadlet unit and a Containerfile: the site in a container
    Podman,
    /// A pod of class Guaranteed, and a Containerfile
    Kubernetes,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  quietcore export systemd site.toml > quietcore-press.service\n  \
                        quietcore export podman site.toml --out deploy\n\nWhat has to be set on \
                        the machine stands in the comments of the files."
)]
pub(crate) struct Export {
    /// For whom
    #[arg(value_enum, value_name = "FOR")]
    pub(crate) kind: ExportFor,
    /// The site file
    pub(crate) site: PathBuf,
    /// A folder for all the files; without it the first of them goes to standard output
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
