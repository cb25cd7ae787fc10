//! Summarising and reporting a large campaign: 24 records of 2.88 million cycles, 8 h at 10 ms.
//!
//! The evidence is synthetic and only its size is meant. The work is done in a process of its own,
//! so that its peak memory is that of the work; there is no peer, so the figures are absolute.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use quietcore_evidence::{MANIFEST_SCHEMA, Manifest, Origin, Writer};
use quietcore_record::class::catalogue;
use quietcore_record::document;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{Conditions, Counters, RECORD_SCHEMA, Record, Timeline};
use quietcore_report::{html, junit};

use crate::findings::pairs::Median;

const RECORDS: u64 = 24;
const CYCLES: u64 = 2_880_000;
const SLOTS: u64 = 1024;

/// Summarising and reporting 24 records of 2.88 million cycles
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    /// Repetitions
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Do the work once, on this folder, and print time and memory
    #[arg(long, hide = true)]
    folder: Option<std::path::PathBuf>,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    if let Some(folder) = &request.folder {
        return work(folder);
    }
    let folder = std::env::temp_dir().join(format!("quietcore-bench-{}", std::process::id()));
    let result = write(&folder).and_then(|()| repeat(request.runs, &folder));
    // What was written is worthless, also after a failure.
    let _ = fs::remove_dir_all(&folder);
    result
}

fn repeat(runs: usize, folder: &Path) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let (mut seconds, mut mebibytes) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let output = Command::new(&own)
            .args(["report", "--folder"])
            .arg(folder)
            .output()
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut figures = text.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
        let (Some(time), Some(memory)) = (figures.next(), figures.next()) else {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        };
        seconds.push(time);
        mebibytes.push(memory);
    }
    println!(
        "reading, summarising and reporting {RECORDS} records of {CYCLES} cycles, {runs} runs"
    );
    println!("  time in s      {}", Median::of(&seconds).ok_or("no runs")?);
    println!("  peak in MiB    {}", Median::of(&mebibytes).ok_or("no runs")?);
    Ok(())
}

/// Reads, summarises and renders; prints seconds and the peak of resident memory in MiB.
fn work(folder: &Path) -> Result<(), String> {
    let begin = Instant::now();
    let evidence = quietcore_evidence::read(folder).map_err(|error| error.to_string())?;
    let document =
        document::of(&evidence.records, &evidence.judgements, evidence.manifest.exceedance);
    let pages = html::render(&evidence, &[]).len() + junit::render(&evidence).len();
    let seconds = begin.elapsed().as_secs_f64();
    if document.records.len() as u64 != RECORDS || pages == 0 || !evidence.damage.is_empty() {
        return Err("the work was not done".to_owned());
    }
    let status = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    println!("{seconds} {}", kib.ok_or("the kernel tells no peak")? / 1024.0);
    Ok(())
}

fn write(folder: &Path) -> Result<(), String> {
    let writer = Writer::create(folder).map_err(|error| error.to_string())?;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for index in 0..RECORDS {
        writer.record(&record(index, &mut random)).map_err(|error| error.to_string())?;
    }
    let manifest = Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        name: "synthetic".to_owned(),
        origin: Origin::Campaign,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
        site_sha256: String::new(),
        exceedance: 1e-6,
        classes: catalogue(),
        declared: [("p0".to_owned(), "process-control".to_owned())].into(),
        profiles: (0..4).map(|index| (format!("tp{index}"), String::new())).collect(),
        length: None,
        limits: Vec::new(),
        site_folder: None,
        not_measured: Vec::new(),
        complete: true,
    };
    writer.manifest(&manifest).map_err(|error| error.to_string())?;
    writer.seal().map_err(|error| error.to_string())
}

/// A record whose values spread over many bins: that is the expensive kind.
fn record(index: u64, random: &mut u64) -> Record {
    let mut next = || {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        *random
    };
    let mut release = Histogram::new();
    let mut wakeup = Histogram::new();
    for _ in 0..CYCLES {
        let word = next();
        // A long tail: the more leading zeros, the later.
        let late = 2_000 + (word >> 44) / 64 + (1 << (word.trailing_zeros().min(20)));
        release.record(late % 512);
        wakeup.record(late);
    }
    let slot_cycles = CYCLES.div_ceil(SLOTS);
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        name: format!("p{}.tp{}.cpu{index}", index / 4, index % 4),
        probe: "latency".to_owned(),
        partition: format!("p{}", index / 4),
        profile: format!("tp{}", index % 4),
        reserved: true,
        cpu: None,
        period_ns: Some(10_000_000),
        release,
        wakeup: Some(wakeup),
        scan: None,
        routine: None,
        interrupt: None,
        memory: None,
        trial: None,
        round_trip: None,
        counters: Counters { planned_cycles: CYCLES, ..Counters::default() },
        spikes: Vec::new(),
        ledgers: None,
        timeline: Timeline {
            slot_cycles,
            slots: (0..SLOTS).map(|_| (slot_cycles, next() >> 44, slot_cycles * 300)).collect(),
        },
        conditions: Conditions::default(),
        interrupted: false,
        degraded: Vec::new(),
        invalid_because: Vec::new(),
    }
}
