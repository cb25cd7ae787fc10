//! Arguments of `quietcore context`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    after_help = "A context is the address of a machine's daemon and the files with your access to \
    it. They are named in `quietcore/contexts.toml` of your configuration folder \
    (`$XDG_CONFIG_HOME`, else `~/.config`), which holds no secret itself.\n\nWithout `--at` the \
    environment's QUIETCORE_AT is meant, then the context in use, then this \
    machine.\n\nExamples:\n  \
    quietcore context add plant7 --address plant7.example --access plant7-anna\n  \
    quietcore --at plant7 ps\n  \
    quietcore context use plant7         from now on; `here` goes back to this machine"
)]
pub(crate) struct ContextVerb {
    #[command(subcommand)]
    pub(crate) verb: ContextKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextKind {
    /// Name a machine's daemon
    Add(ContextAdd),
    /// List the contexts, and which of them is in use
    List,
    /// Use a context where no `--at` is given; `here` for this machine
    Use(ContextName),
    /// Remove a context; its files stay
    Remove(ContextName),
}

#[derive(Debug, Args)]
pub(crate) struct ContextAdd {
    /// The name to give it
    pub(crate) name: String,
    /// Name or address of the machine, as its certificate has it, and perhaps the port (7443); or
    /// `unix:` and the path of a local socket
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) address: String,
    /// The folder that `quietcore auth issue` has made there
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["certificate", "key", "authority"])]
    pub(crate) access: Option<PathBuf>,
    /// The file with your certificate
    #[arg(long, value_name = "FILE", requires_all = ["key", "authority"])]
    pub(crate) certificate: Option<PathBuf>,
    /// The file with its key, which only you may read
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// The certificate of the machine's authority
    #[arg(long, value_name = "FILE")]
    pub(crate) authority: Option<PathBuf>,
    /// A file with a token of `quietcore auth token`, which only you may read
    #[arg(long, value_name = "FILE", conflicts_with_all = ["access", "certificate"],
        requires = "authority")]
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ContextName {
    /// Name of the context
    pub(crate) name: String,
}
