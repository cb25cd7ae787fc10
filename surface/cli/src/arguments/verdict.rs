//! Arguments of `quietcore verdict`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quietcore verdict                        the newest verdicts below runs/\n  \
    quietcore verdict runs/2026-11-21T20-15-03-press-line\n  \
    quietcore verdict --json || quietcore qualify site.toml\n\n\
    A verdict expires when something changes that it depends on: kernel and its command line, \
    microcode, firmware, processor and caches, hypervisor, the interrupts on the partition's \
    CPUs, its reservation, the container runtime, Quietcore. What the evidence did not record is \
    no change, and is named. A verdict is of this machine if this machine's key has signed \
    it.\n\nStatus 0 says that each newest verdict of this machine is PASS and holds; 1 that one \
    is not, does not, or that there is none.")]
pub(crate) struct VerdictRequest {
    /// Evidence folders, or folders of several; by default `runs`, where `qualify` keeps them
    #[arg(value_name = "FOLDER")]
    pub(crate) folders: Vec<PathBuf>,
    /// Also list verdicts that a newer one on the same partition and class has replaced
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the verdicts as JSON, with each change and each condition that was not compared
    #[arg(long)]
    pub(crate) json: bool,
}
