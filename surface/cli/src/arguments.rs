//! Command-line arguments of `quietcore`. These modules only parse: they open no file, read no
//! clock and print nothing.

mod backend;
mod campaign;
mod channel;
mod choice;
mod daemon;
mod documents;
mod experiment;
mod export;
mod guest;
mod memory;
mod osek;
mod running;
mod verdict;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use quietcore_probe::guest::irq::{INTERRUPTS_MAX, PUBLISHED_INTERRUPTS};
use quietcore_record::import::Kind;
use quietcore_release::Injection;
use quietcore_site::{Accelerator, Backend, Policy};
use quietcore_units::{CpuSet, Nanos, WakeKind};

use self::backend::{backend_of_interrupts, backend_of_routines};
use self::choice::{Choice, one_of};
use self::experiment::ACCELERATORS;

pub(crate) use backend::ProbeBackend;
pub(crate) use campaign::PaperCampaign;
pub(crate) use channel::ChannelRequest;
pub(crate) use daemon::{AuditRequest, Since};
pub(crate) use daemon::{Auth, AuthInit, AuthIssue, AuthKind, AuthList, AuthRevoke, AuthToken};
pub(crate) use daemon::{ContextAdd, ContextKind, ContextVerb};
pub(crate) use documents::{Completions, Man, Schema, SchemaKind};
pub(crate) use experiment::{Cost, Disturb, Followed, Rounds, Tune};
pub(crate) use export::Export;
pub(crate) use guest::{GuestBuild, GuestKind, GuestVerb};
pub(crate) use memory::Memory;
pub(crate) use osek::{Osek, OsekCheck, OsekGenerate, OsekKind, OsekVerb};
pub(crate) use running::{
    Assignment, ConsoleRequest, Deploy, Down, Events, Force, Of, Ps, RestartRequest,
    RunningCommand, Set, Top, TraceRequest, Unforce, Up, Watch,
};
pub(crate) use verdict::VerdictRequest;

/// Run industrial control programs beside ordinary workloads on one machine, and prove with
/// evidence that their timing holds
#[derive(Debug, Parser)]
#[command(name = "quietcore", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Begin with `quietcore doctor`, then `quietcore init > site.toml`, \
    `quietcore plan site.toml` and `quietcore qualify site.toml`.\n\nExit status: 0 passed or \
    done, 1 failed or not proven, 2 could not be done.")]
pub(crate) struct Arguments {
    /// The machine that is meant: a context, or `HOST[:PORT]` of one; `here` is this machine
    #[arg(long, global = true, value_name = "HOST")]
    pub(crate) at: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Examine everything about this machine that decides real-time behaviour
    Doctor(Doctor),
    /// Write a site file that fits this machine to standard output
    Init(Init),
    /// Say what a campaign would do on this machine, without doing it
    Plan(Plan),
    /// Run a site's campaign on this machine and judge it against the application classes
    Qualify(Qualify),
    /// Run the whole experiment of a paper on this machine, within a time that you give
    Campaign(PaperCampaign),
    /// Find out what each control of the machine does for a site, and which it needs
    Tune(Tune),
    /// Find out what each kind of neighbour does to a partition, and why
    Disturb(Disturb),
    /// Find out what each backend costs a partition, against a process of this machine
    Cost(Cost),
    /// Run one probe by hand
    Probe(Probe),
    /// Print the records and verdicts of an evidence folder
    Show(Show),
    /// List which verdicts hold for this machine as it is now
    Verdict(VerdictRequest),
    /// Check that an evidence folder is as a machine has signed it
    Verify(Verify),
    /// Write the report and other formats of an evidence folder again
    Report(Report),
    /// Read results of other programs into an evidence folder
    Import(Import),
    #[command(flatten)]
    Running(RunningCommand),
    /// Print or verify the daemon's audit trail: who has changed what, with old and new values
    Audit(AuditRequest),
    /// Show how two runs differ, or put a published table beside one
    Compare(Compare),
    /// Simulate an EtherCAT segment on a network interface, for any main device
    Segment(Segment),
    /// Check the OIL file of an OSEK application, or generate the files of a stand-alone program
    Osek(OsekVerb),
    /// Build the image of a Linux guest
    Guest(GuestVerb),
    /// Hand out and take back access to the daemon from the network
    Auth(Auth),
    /// Name the daemons of other machines, for `--at`
    Context(ContextVerb),
    /// Write the files with which systemd, Podman or Kubernetes runs a site
    Export(Export),
    /// Print a JSON Schema: of the site file, or of what `show --json` prints
    Schema(Schema),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Show a page of the manual, or write all of them into a folder
    Man(Man),
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The CPUs that control programs will run on, such as `1` or `2-5`; all without this
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<CpuSet>,
    /// Print facts and findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the counts and the unmet requirements only
    #[arg(long, conflicts_with = "json")]
    pub(crate) summary: bool,
    /// Also print what is as it should be
    #[arg(long, conflicts_with_all = ["json", "summary"])]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quietcore init > site.toml\n  \
    quietcore init --example servo > servo.toml     writes `models/servo` here as well\n  \
    quietcore init --example osek > osek.toml       writes `models/conveyor`, C with an OIL file")]
pub(crate) struct Init {
    /// The example to fit: minimal, quickstart or acceptance; servo, turbine or tank, which run a
    /// program on a simulated fieldbus; or osek, which runs an OSEK program. Those with a program
    /// write its folder below `models` here as well
    #[arg(long, value_name = "NAME", default_value = "quickstart")]
    pub(crate) example: quietcore_site::Example,
    /// A folder with your own program: the site file is written for what is found in it, with stubs
    /// for what is connected to its inputs and outputs
    #[arg(long, value_name = "FOLDER", conflicts_with = "example")]
    pub(crate) model: Option<PathBuf>,
    /// The model to run, where the folder holds several
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) model_name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Path of the site file
    pub(crate) site: PathBuf,
    /// Print the plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quietcore qualify site.toml                  writes runs/TIME-NAME\n  \
    quietcore qualify site.toml --duration 8h --out night\n  \
    quietcore qualify --resume night             measures the rest after Ctrl-C\n  \
    quietcore qualify site.toml --renew night    measures what has EXPIRED since")]
pub(crate) struct Qualify {
    /// Path of the site file
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) site: Option<PathBuf>,
    /// Run only these profiles, such as `tp2,tp4`; `isolation` for the twelve rows of hofer2019
    #[arg(long, value_name = "NAME,..", value_delimiter = ',',
        conflicts_with_all = ["resume", "renew"])]
    pub(crate) profile: Vec<String>,
    /// Measure each profile this long, such as `40 s` or `8h`, instead of what the site file says
    #[arg(long, value_name = "D", conflicts_with_all = ["cycles", "resume", "renew"])]
    pub(crate) duration: Option<Nanos>,
    /// Measure this many cycles of each profile instead of what the site file says
    #[arg(long, value_name = "N", conflicts_with_all = ["resume", "renew"])]
    pub(crate) cycles: Option<u64>,
    /// Run the instructions of QEMU's guests in this way; by default as the site file says
    #[arg(long, value_parser = one_of(ACCELERATORS), conflicts_with_all = ["resume", "renew"])]
    pub(crate) accelerator: Option<Accelerator>,
    /// The evidence folder to make; by default runs/TIME-NAME
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with a campaign that was interrupted
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// Make a new folder of this one, for the machine as it is now: records that still hold are
    /// taken over, and only what has expired since (see `verdict`) is measured again, as long as
    /// before. Nothing is measured again for its verdict
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) renew: Option<PathBuf>,
    /// Print records and verdicts as JSON at the end, as `show --json` does
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) followed: Followed,
}

#[derive(Debug, Args)]
pub(crate) struct Probe {
    #[command(subcommand)]
    pub(crate) probe: ProbeKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProbeKind {
    /// Measure how late a CPU releases a real-time thread
    Latency(Latency),
    /// Measure how long an EtherCAT cycle takes out and back, and how many fit in a second
    Ethercat(Ethercat),
    /// Measure how late a site's programs are released, how long they execute, and when they finish
    Exec(Exec),
    /// Measure memory access times by working set, and how much neighbours add to them
    Memory(Memory),
    /// Measure the ten routines of scordino2020 on the OSEK kernel
    Osek(Osek),
    /// Measure the time from an interrupt of a clock board to its handler and its task in a guest
    Irq(Irq),
}

/// Ways of waiting for the next release.
const MODES: &[Choice<WakeKind>] = &[
    ("sleep", WakeKind::Sleep, "Sleep until the release: measures what cyclictest measures"),
    (
        "early-wake",
        WakeKind::Early,
        "Sleep until a margin before the release, then spin to the instant",
    ),
    (
        "spin",
        WakeKind::Spin,
        "Never sleep: spin from one release to the next; only for a guest, which then has no VM \
         exits",
    ),
];

/// Scheduling policies of Linux, by their words on the command line.
const POLICIES: &[Choice<Policy>] = &[
    ("fifo", Policy::Fifo, "SCHED_FIFO with the priority of `--priority`"),
    (
        "deadline",
        Policy::Deadline,
        "SCHED_DEADLINE; the kernel does not let such a thread be pinned",
    ),
    ("other", Policy::Other, "SCHED_OTHER, as ordinary programs have it"),
];

#[derive(Debug, Args)]
pub(crate) struct Latency {
    /// Backend that runs the task; a guest has one task, on one CPU
    #[arg(long, value_enum, default_value_t)]
    pub(crate) backend: ProbeBackend,
    /// CPUs to measure, one pinned thread on each; the last one by default
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<CpuSet>,
    /// Measure one thread that may run on any CPU
    #[arg(long, conflicts_with = "cpus")]
    pub(crate) unpinned: bool,
    /// Time between two releases
    #[arg(long, value_name = "D", default_value = "1 ms")]
    pub(crate) period: Nanos,
    /// Length of the measurement
    #[arg(long, value_name = "D", default_value = "10 s")]
    pub(crate) duration: Nanos,
    /// Number of releases to measure, instead of a duration
    #[arg(long, value_name = "N", conflicts_with = "duration")]
    pub(crate) cycles: Option<u64>,
    /// Time to run before the measurement begins
    #[arg(long, value_name = "D", default_value = "1 s")]
    pub(crate) warm_up: Nanos,
    /// Scheduling policy of the threads
    #[arg(long, value_parser = one_of(POLICIES), default_value = "fifo")]
    pub(crate) policy: Policy,
    /// Priority of SCHED_FIFO, 1 to 99
    #[arg(long, value_name = "N", default_value_t = 90,
        value_parser = clap::value_parser!(u8).range(1..=99))]
    pub(crate) priority: u8,
    /// Way of waiting for the next release
    #[arg(long, value_parser = one_of(MODES), default_value = "sleep")]
    pub(crate) mode: WakeKind,
    /// Fixed margin for mode early-wake; by default it is learned
    #[arg(long, value_name = "D")]
    pub(crate) margin: Option<Nanos>,
    /// Share of the core that a learned margin may spend spinning, in per cent
    #[arg(long, value_name = "N", default_value_t = 25,
        value_parser = clap::value_parser!(u8).range(1..=90))]
    pub(crate) share: u8,
    /// Delay one release on purpose, to prove that the delay is seen, such as `500us@1000`
    #[arg(long, value_name = "D@N")]
    pub(crate) inject: Option<Injection>,
    /// Explain each release later than this, such as `50us`: where its time went, cause by cause.
    /// The kernel is traced meanwhile (as root), which adds to every latency
    #[arg(long, value_name = "D", alias = "breaktrace")]
    pub(crate) explain: Option<Nanos>,
    /// Run a load beside it: a kind and a number of workers, such as `sqrt:4`; may be repeated
    #[arg(long, value_name = "KIND:N")]
    pub(crate) load: Vec<String>,
    /// Keep records and report in this new folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print records as JSON, as `show --json` does
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what cyclictest -h would print, with this many buckets of 1 µs
    #[arg(long, value_name = "N", conflicts_with = "json",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) histogram: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  quietcore probe ethercat --cycles 1000000\n  \
    quietcore probe ethercat --backend kvm --out runs/kvm\n  \
    quietcore probe ethercat --backend qemu --accelerator tcg\n\n\
    The MainDevice runs in a process, or in a task of our OSEK kernel in a guest, whose network \
    device leads to the SubDevices. What QEMU emulates (tcg) shows that it works, and is marked \
    `timing not valid`.")]
pub(crate) struct Ethercat {
    /// Backend that the MainDevice runs in: a process, or a guest with our OSEK kernel
    #[arg(long, value_name = "BACKEND", value_parser = backend_of_routines(),
        default_value_t = Backend::default())]
    pub(crate) backend: Backend,
    /// Run the instructions of QEMU's guest in this way; `kvm` by default
    #[arg(long, value_name = "WORD", value_parser = one_of(ACCELERATORS))]
    pub(crate) accelerator: Option<Accelerator>,
    /// A network interface with SubDevices on it, or `sim` for simulated ones
    #[arg(long, value_name = "IF", default_value = "sim")]
    pub(crate) interface: String,
    /// A file with the SubDevices of `sim`, as `quietcore segment` takes it
    #[arg(long, value_name = "FILE")]
    pub(crate) subdevices: Option<PathBuf>,
    /// Cycles to measure; scordino2020 measured 1000; use a million for a meaningful maximum
    #[arg(long, value_name = "N", default_value_t = 1_000,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) cycles: u64,
    /// Time to measure, instead of a number of cycles
    #[arg(long, value_name = "D", conflicts_with = "cycles")]
    pub(crate) duration: Option<Nanos>,
    /// Time from one cycle to the next; without it, each begins when the one before has ended
    #[arg(long, value_name = "D")]
    pub(crate) period: Option<Nanos>,
    /// Time that a cycle waits for its frames
    #[arg(long, value_name = "D", default_value = "10 ms")]
    pub(crate) timeout: Nanos,
    /// Time to poll for the next frame before sleeping
    #[arg(long, value_name = "D", default_value = "1 ms")]
    pub(crate) spin: Nanos,
    /// The CPU to run on
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// Run under SCHED_FIFO with this priority, 1 to 99
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub(crate) priority: Option<u8>,
    /// Keep the record and a report in this new folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// Path of the site file
    pub(crate) site: PathBuf,
    /// Measure only this partition; by default all that have a program, at the same time
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// Length of the measurement
    #[arg(long, value_name = "D", default_value = "10 s")]
    pub(crate) duration: Nanos,
    /// Number of releases of each fastest task to measure, instead of a duration
    #[arg(long, value_name = "N", conflicts_with = "duration")]
    pub(crate) cycles: Option<u64>,
    /// Time to run before the measurement begins
    #[arg(long, value_name = "D", default_value = "1 s")]
    pub(crate) warm_up: Nanos,
    /// Let the tasks move between the CPUs
    #[arg(long)]
    pub(crate) unpinned: bool,
    /// Explain each release later than this, such as `50us`: where its time went, cause by cause.
    /// The kernel is traced meanwhile (as root), which adds to every latency
    #[arg(long, value_name = "D", alias = "breaktrace")]
    pub(crate) explain: Option<Nanos>,
    /// Run a load beside it: a kind and a number of workers, such as `sqrt:4`; may be repeated
    #[arg(long, value_name = "KIND:N")]
    pub(crate) load: Vec<String>,
    /// Put a published table beside it, such as `queiroz2023/table-3`
    #[arg(long, value_name = "TABLE", conflicts_with = "json")]
    pub(crate) with: Option<String>,
    /// Keep records and report in this new folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print records as JSON, as `show --json` does
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  quietcore probe irq --period 10ms --interrupts 10000\n  \
    quietcore probe irq --backend qemu --accelerator tcg --period 10ms --interrupts 100\n\n\
    A thread of this machine is the clock board: it writes an event file, which KVM makes an \
    interrupt of the guest; under QEMU it is that of a device for shared memory \
    (`ivshmem-doorbell`). The record names the way. What QEMU emulates (tcg) shows that it works, \
    and is marked `timing not valid`.")]
pub(crate) struct Irq {
    /// Backend whose guest is interrupted
    #[arg(long, value_name = "BACKEND", value_parser = backend_of_interrupts(),
        default_value_t = Backend::OF_PROBES_IN_GUESTS)]
    pub(crate) backend: Backend,
    /// Run the instructions of QEMU's guest in this way; `kvm` by default
    #[arg(long, value_name = "WORD", value_parser = one_of(ACCELERATORS))]
    pub(crate) accelerator: Option<Accelerator>,
    /// Time between two interrupts; kong2021 measured 10 ms
    #[arg(long, value_name = "D,..", value_delimiter = ',', default_value = "10 ms,1 ms")]
    pub(crate) period: Vec<Nanos>,
    /// Interrupts to measure of each period; kong2021 measured 10000
    #[arg(long, value_name = "N", default_value_t = PUBLISHED_INTERRUPTS,
        value_parser = clap::value_parser!(u64).range(1..=INTERRUPTS_MAX))]
    pub(crate) interrupts: u64,
    /// Time to measure with each period, instead of a number of interrupts
    #[arg(long, value_name = "D", conflicts_with = "interrupts")]
    pub(crate) duration: Option<Nanos>,
    /// The CPU of the guest's processor; the last one by default
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
    /// The CPU that raises the interrupts; the first one by default
    #[arg(long, value_name = "N")]
    pub(crate) board_cpu: Option<u32>,
    /// Priority of SCHED_FIFO of both threads, 1 to 98; the board's is one higher
    #[arg(long, value_name = "N", default_value_t = 90,
        value_parser = clap::value_parser!(u8).range(1..=98))]
    pub(crate) priority: u8,
    /// Keep the processor in the guest while the guest waits, where KVM allows that
    #[arg(long)]
    pub(crate) polls: bool,
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

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    quietcore verify runs/2026-11-21T20-15-03-press-line\n  \
    quietcore verify --print-key > machine.pub.pem          on the machine that measures\n  \
    quietcore verify FOLDER --key machine.pub.pem           on any other\n\n\
    Status 0 says that the folder is genuine, whatever its verdict.")]
pub(crate) struct Verify {
    /// Path of the evidence folder
    #[arg(required_unless_present = "print_key")]
    pub(crate) folder: Option<PathBuf>,
    /// The public key of the machine that wrote it, as PEM; by default this machine's
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Print this machine's public key as PEM (SubjectPublicKeyInfo), with which others can verify
    #[arg(long, conflicts_with_all = ["folder", "key", "json"])]
    pub(crate) print_key: bool,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Evidence that this machine has signed is compared with the machine as it \
    is: `EXPIRED since: kernel 6.1.0-1 → 6.1.0-2` says that its verdicts do not hold any more, and \
    why. `quietcore verdict` lists all that hold.\n\nStatus 0 says that the folder is as it was \
    written, whatever its verdicts and whether they hold; 1 that it is not.")]
pub(crate) struct Show {
    /// Path of the evidence folder
    pub(crate) folder: PathBuf,
    /// Print records and verdicts as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The evidence folder; or a folder of several, for a page with the trend of each partition
    pub(crate) folder: PathBuf,
    /// Write the page to this file; without any of these options, into the evidence folder
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a JUnit file for continuous integration
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write records.csv, histograms.csv and verdicts.csv into this folder; also
    /// program-histograms.csv if a program ran, memory.csv if memory accesses were measured, and
    /// isolation.csv if the isolation matrix was
    #[arg(long, value_name = "DIR", value_parser = folder_of_tables)]
    pub(crate) csv: Option<PathBuf>,
    /// Write the page's sections on probes, isolation, controls and neighbours into this folder:
    /// sections.json with their answers, tables, remarks and drawings, and each table as CSV, in
    /// the words of the page
    #[arg(long, value_name = "DIR", value_parser = folder_of_tables)]
    pub(crate) sections: Option<PathBuf>,
    /// Write the histograms as cyclictest would, as text or, with the ending .json, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) cyclictest: Option<PathBuf>,
}

/// Reads the folder for several tables; refuses a path named like one of them, with `.csv`.
fn folder_of_tables(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.extension().is_some_and(|end| end == "csv") && !path.is_dir() {
        let stem = path.with_extension("");
        return Err(format!("several tables go into a folder; write `--csv {}`", stem.display()));
    }
    Ok(path)
}

/// Programs whose results can be imported.
const IMPORT_KINDS: &[Choice<Kind>] = &[
    (Kind::Cyclictest.name(), Kind::Cyclictest, "cyclictest -h (text) or --json"),
    (Kind::Hwlatdetect.name(), Kind::Hwlatdetect, "hwlatdetect's whole output"),
    (Kind::Jitterdebugger.name(), Kind::Jitterdebugger, "jitterdebugger's results as JSON"),
    (Kind::Oslat.name(), Kind::Oslat, "oslat's whole output, or --json"),
    (Kind::Rtla.name(), Kind::Rtla, "rtla timerlat hist or rtla osnoise hist"),
];

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The program that wrote the files
    #[arg(value_parser = one_of(IMPORT_KINDS))]
    pub(crate) kind: Kind,
    /// Files that the program wrote
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The evidence folder to make
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Time between two releases, where the files don't say
    #[arg(long, value_name = "D")]
    pub(crate) interval: Option<Nanos>,
    /// Make one record of all threads of a file
    #[arg(long)]
    pub(crate) merge: bool,
    /// cyclictest ran with -N: the files are in nanoseconds
    #[arg(long)]
    pub(crate) nanoseconds: bool,
    /// The probability per cycle of exceeding a limit that must be excluded for a PASS
    #[arg(long, value_name = "P", default_value_t = 1e-6)]
    pub(crate) exceedance: f64,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The evidence folder of the run, A
    #[arg(required_unless_present = "tables")]
    pub(crate) folder: Option<PathBuf>,
    /// The evidence folders to compare with, B, each with A on its own
    #[arg(value_name = "OTHER", required_unless_present_any = ["with", "tables"],
        conflicts_with = "with")]
    pub(crate) others: Vec<PathBuf>,
    /// A published table to put beside the run, such as `queiroz2023/table-4`
    #[arg(long, value_name = "TABLE")]
    pub(crate) with: Option<String>,
    /// List every table and figure of the papers, with the commands of its counterpart
    #[arg(long)]
    pub(crate) tables: bool,
    /// Print the comparison, or the list, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "A file of SubDevices has one name a line, in the order in which frames \
    reach them, and a number before it for several: `4 servo-drive`; what follows a `#` is a \
    remark. Without a file there is one of each kind. With `--esi` a name may be a type of the \
    ESI files: `EL3104`, or `EL3104@0x00140000` for a revision. Such a SubDevice does nothing, its \
    inputs are zero.\n\nThe segment is a test tool and no SubDevice product. \
    EtherCAT is a registered trademark and patented technology of Beckhoff Automation GmbH.")]
pub(crate) struct Segment {
    /// The network interface on which frames are answered; needs CAP_NET_RAW
    #[arg(long, value_name = "IF")]
    pub(crate) interface: String,
    /// A file with its SubDevices
    #[arg(long, value_name = "FILE")]
    pub(crate) subdevices: Option<PathBuf>,
    /// An ESI file, or a folder of them; the file of SubDevices names their types. Repeatable
    #[arg(long, value_name = "PATH", requires = "subdevices")]
    pub(crate) esi: Vec<String>,
    /// Time to poll for the next frame before sleeping; a longer one is faster and uses more CPU
    #[arg(long, value_name = "D", default_value = "50 us")]
    pub(crate) spin: Nanos,
    /// The CPU to run on
    #[arg(long, value_name = "N")]
    pub(crate) cpu: Option<u32>,
}
