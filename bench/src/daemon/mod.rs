//! The daemon: its start and memory, a group of writes, many clients that follow variables, and a
//! program on its way from an upload to its first cycle.
//!
//! ```text
//! CPU of the partition     a program with a thousand variables at 1 ms, or the servo model
//! the other CPUs           quietcored ─ its clients ─ the peers
//! ```

mod follow;
mod idle;
mod opc_ua;
pub(crate) mod process;
mod upload;
mod write;

use std::path::PathBuf;

use crate::cores::{Awake, pin};
use crate::findings::{Common, Findings};
use crate::site::Stand;
use crate::watch::model;

/// Variables of the program that is written and followed.
const LEAVES: usize = 1_000;

/// The daemon's start, memory, writes, subscriptions and uploads, beside `asyncua`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    common: Common,
    /// The CPU of the partition
    #[arg(long, default_value_t = 1)]
    cpu: u32,
    /// The CPU of the daemon, its clients and its peers
    #[arg(long, default_value_t = 0)]
    other_cpu: u32,
    /// Measure these parts alone
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    only: Vec<Part>,
    /// The model that is uploaded, a folder of generated C
    #[arg(long, value_name = "DIR", default_value = "models/servo")]
    model: PathBuf,
}

/// A part of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Part {
    /// From the start of the process to its first answer, and its memory
    Idle,
    /// A group of writes, in cycles until it is in force
    Write,
    /// Ten clients that follow a thousand variables each, 100 times a second
    Follow,
    /// From the upload of a program to its first cycle
    Upload,
}

impl Request {
    /// Returns `true` if this part is asked for.
    fn has(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    let common = &request.common;
    let rounds = common.rounds_or(20);
    let method = format!(
        "`quietcored` and its clients on CPU {}, a partition at 1 ms on CPU {}, sides in turn",
        request.other_cpu, request.cpu
    );
    let mut findings = Findings::begin("daemon", method, common, rounds);
    let _awake = Awake::hold(&mut findings);
    // Processes that are started from here inherit it.
    pin(request.other_cpu)?;
    if request.has(Part::Idle) {
        idle::measure(rounds, &mut findings)?;
    }
    if request.has(Part::Write) || request.has(Part::Follow) {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = model::write(folder.path(), request.cpu, LEAVES)?;
        let stand = Stand::new(&file, folder)?;
        let life = stand.up()?;
        let served = process::Served::start(stand.places())?;
        if request.has(Part::Write) {
            write::measure(&life, &served, rounds, common, &mut findings)?;
        }
        if request.has(Part::Follow) {
            follow::measure(&life, &served, rounds, common, &mut findings)?;
        }
    }
    if request.has(Part::Upload) {
        upload::measure(request, rounds, &mut findings)?;
    }
    findings.print(common)
}
