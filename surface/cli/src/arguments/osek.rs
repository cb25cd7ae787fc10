//! Arguments of `quietcore osek`, and of the probe of that name.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use quietcore_probe::osek::{LOOPS_MAX, OTHERS_MAX};
use quietcore_site::{Accelerator, Backend};
use quietcore_units::Nanos;

use super::backend::backend_of_routines;
use super::choice::one_of;
use super::experiment::ACCELERATORS;

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

const OSEK: &str = "Examples:\n  quietcore probe osek --loops 100\n  quietcore probe osek \
                    --backend kvm --out runs/kvm\n  quietcore probe osek --backend qemu \
                    --accelerator tcg --loops 100\n\nThe same image runs as a guest of our own \
                    monitor, of QEMU, and as a domain of Xen, where this machine is its dom0. Keep \
                    a run of each in one folder, and `quietcore report` of that folder draws all \
                    of them in one figure. What QEMU emulates (tcg) shows that it works, and is \
                    marked `timing not valid`. A guest brings its interrupts by software and by \
                    its own interrupt controller and timer; under our monitor by a doorbell, too.";

#[derive(Clone, Debug, Args)]
#[command(after_help = OSEK)]
pub(crate) struct Osek {
    /// Backend that runs the kernel: a process, on the hosted port, or a guest, on the bare one
    #[arg(long, value_name = "BACKEND", value_parser = backend_of_routines(),
        default_value_t = Backend::default())]
    pub(crate) backend: Backend,
    /// Run the instructions of QEMU's guest in this way; `kvm` by default
    #[arg(long, value_name = "WORD", value_parser = one_of(ACCELERATORS))]
    pub(crate) accelerator: Option<Accelerator>,
    /// Number of measurements of each routine, a run for each number; scordino2020 measured 100
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "100,1000000",
        value_parser = clap::value_parser!(u64).range(1..=LOOPS_MAX))]
    pub(crate) loops: Vec<u64>,
    /// Approximate time to measure, instead of numbers of loops: a short run finds how many fit
    #[arg(long, value_name = "D", conflicts_with = "loops")]
    pub(crate) duration: Option<Nanos>,
    /// The CPU to run on; the last one by default
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Let the thread move between the CPUs
    #[arg(long, conflicts_with = "cpu")]
    pub(crate) unpinned: bool,
    /// Priority of SCHED_FIFO, 1 to 99
    #[arg(long, value_name = "N", default_value_t = 90,
        value_parser = clap::value_parser!(u8).range(1..=99))]
    pub(crate) priority: u8,
    /// Use extended status, which looks for programming errors; the paper measured standard status
    #[arg(long)]
    pub(crate) extended: bool,
    /// Account every job, as a partition does
    #[arg(long)]
    pub(crate) accounting: bool,
    /// Number of additional tasks, of lower priority than those measured and ready all the time
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(0..=i64::from(OTHERS_MAX)))]
    pub(crate) other_tasks: u8,
    /// Run a load beside it: a kind and a number of workers, such as `sqrt:4`; may be repeated
    #[arg(long, value_name = "KIND:N")]
    pub(crate) load: Vec<String>,
    /// Keep records and report in this new folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print records as JSON, as `show --json` does
    #[arg(long)]
    pub(crate) json: bool,
}
