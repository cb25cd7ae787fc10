//! Arguments of `quietcore osek`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    after_help = "An OIL file beside C makes a folder an OSEK program: `model` in a site file \
                        names the folder, and `quietcore up` builds and runs it as a partition. \
                        These commands check such a file alone, or generate a stand-alone program \
                        from it. The language is described in docs/oil.md.\n\nExamples:\n  \
    quietcore init --example osek > osek.toml       a project to begin with\n  \
    quietcore osek check models/conveyor/conveyor.oil\n  \
    quietcore osek generate models/conveyor/conveyor.oil --out build"
)]
pub(crate) struct OsekVerb {
    #[command(subcommand)]
    pub(crate) osek: OsekKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OsekKind {
    /// Check an OIL file and say what it describes
    #[command(after_help = CHECK)]
    Check(OsekCheck),
    /// Write the files of a stand-alone program beside its own C: tables, headers and the kernel
    #[command(after_help = GENERATE)]
    Generate(OsekGenerate),
}

const CHECK: &str = "Files that were written for another implementation (ERIKA, Trampoline and \
                     others) are read as far as they describe an application: what is not used \
                     here is listed, and what is missing gets a default, which is listed, \
                     too.\n\nExit status: 0 the kernel can run it, 1 it can't, 2 the file could \
                     not be read.";
const GENERATE: &str = "The files are os_cfg.h and os_cfg.c, generated from the OIL file; os.h and \
                        quietcore_osek.h; and libquietcore_osek.a, the kernel. A program that is \
                        run as a partition needs none of them.";

#[derive(Debug, Args)]
pub(crate) struct OsekCheck {
    /// Path of the OIL file
    #[arg(value_name = "FILE.oil")]
    pub(crate) file: PathBuf,
    /// Refuse what departs from OIL 2.5 or belongs to another implementation of it
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the application, or the problems of its file, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OsekGenerate {
    /// Path of the OIL file
    #[arg(value_name = "FILE.oil")]
    pub(crate) file: PathBuf,
    /// The folder to write into; it is made if it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Refuse what departs from OIL 2.5 or belongs to another implementation of it
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the names of the files as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
