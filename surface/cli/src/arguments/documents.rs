//! Arguments of the commands that print documents: schemas, completions, pages of the manual.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// A document that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// The site file, as `plan` reads it
    Site,
    /// The evidence that `show --json` prints
    Evidence,
}

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// The document to describe
    #[arg(value_enum, default_value_t = SchemaKind::Site)]
    pub(crate) document: SchemaKind,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell that will run the script
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command whose page is shown, such as `probe latency`; by default the program itself
    #[arg(conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
