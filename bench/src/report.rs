//! Summarising and reporting a large campaign: 24 records of 2.88 million cycles, 8 h at 10 ms.
//!
//! The evidence is synthetic and only its size is meant. The work is done in a process of its own,
//! so that its peak memory is that of the work; there is no peer, so the figures are absolute.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use quietcore_evidence::{MANIFEST_SCHEMA, Manifest, Origin, Writer};
use quietcore_exchange::SPIKE_COUNT;
use quietcore_record::class::catalogue;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{Conditions, Counters, Record, Spike, Timeline};
use quietcore_report::{html, junit};

use crate::findings::{Common, Findings, Goal};

const RECORDS: u64 = 24;
const CYCLES: u64 = 2_880_000;
const SLOTS: u64 = 1024;
const PERIOD_NS: u64 = 10_000_000;

/// Summarising and reporting 24 records of 2.88 million cycles
#[derive(Debug, clap::Args)]
pub(crate) struct Request {
    #[command(flatten)]
    common: Common,
    /// Do the work once, on this folder, and print time and memory
    #[arg(long, hide = true)]
    folder: Option<std::path::PathBuf>,
}

pub(crate) fn run(request: &Request) -> Result<(), String> {
    if let Some(folder) = &request.folder {
        return work(folder);
    }
    let folder = std::env::temp_dir().join(format!("quietcore-bench-{}", std::process::id()));
    let result = write(&folder).and_then(|()| repeat(&request.common, &folder));
    // What was written is worthless, also after a failure.
    let _ = fs::remove_dir_all(&folder);
    result
}

fn repeat(common: &Common, folder: &Path) -> Result<(), String> {
    let rounds = common.rounds_or(7);
    let method = format!(
        "reading, summarising and reporting {RECORDS} records of {CYCLES} cycles, each time in a \
         process of its own"
    );
    let mut findings = Findings::begin("report", method, common, rounds);
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let (mut seconds, mut mebibytes) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
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
    findings.goal("time", "s", &seconds, Goal::AtMost(2.0));
    findings.goal("peak of memory", "MiB", &mebibytes, Goal::AtMost(200.0));
    findings.print(common)
}

/// Reads, summarises and renders; prints seconds and the peak of resident memory in MiB.
fn work(folder: &Path) -> Result<(), String> {
    let begin = Instant::now();
    let evidence = quietcore_evidence::read(folder).map_err(|error| error.to_string())?;
    let document = evidence.document();
    let pages = html::render(&evidence, &[]).len() + junit::render(&evidence).len();
    let seconds = begin.elapsed().as_secs_f64();
    if document.records.len() as u64 != RECORDS || pages == 0 || !evidence.is_sound() {
        let what: Vec<_> = evidence.contradictions.iter().map(ToString::to_string).collect();
        return Err(format!("the work was not done: {what:?}"));
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
        origin: Origin::Probe,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        quietcore_version: env!("CARGO_PKG_VERSION").to_owned(),
        site_sha256: String::new(),
        exceedance: 1e-6,
        classes: catalogue(),
        declared: BTreeMap::new(),
        profiles: (0..4).map(|index| (format!("tp{index}"), String::new())).collect(),
        length: None,
        limits: Vec::new(),
        site_folder: None,
        not_measured: Vec::new(),
        probes: Vec::new(),
        complete: true,
        renewal: None,
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
    let (name, partition) = (format!("p{}.tp{}.cpu{index}", index / 4, index % 4), index / 4);
    let profile = format!("tp{}", index % 4);
    let mut record = Record::empty(name, "latency", &format!("p{partition}"), &profile);
    let slot_cycles = CYCLES.div_ceil(SLOTS);
    let mut slots = vec![(0, 0, 0); CYCLES.div_ceil(slot_cycles) as usize];
    let mut wakeup = Histogram::new();
    let mut worst = Vec::new();
    for release in 0..CYCLES {
        let word = next();
        // A long tail: the more leading zeros, the later.
        let wakeup_ns = 2_000 + (word >> 44) / 64 + (1 << (word.trailing_zeros().min(20)));
        let latency_ns = wakeup_ns % 512;
        record.release.record(latency_ns);
        wakeup.record(wakeup_ns);
        let (count, max_ns, sum_ns) = &mut slots[(release / slot_cycles) as usize];
        *count += 1;
        *max_ns = latency_ns.max(*max_ns);
        *sum_ns += latency_ns;
        // All as late as they can be; there are more of them than a record keeps.
        if latency_ns == 511 && worst.len() < SPIKE_COUNT {
            let (at_ns, cpu) = (release * PERIOD_NS, index as u32);
            worst.push(Spike {
                release,
                at_ns,
                latency_ns,
                wakeup_ns,
                cpu,
                conditions: Vec::new(),
            });
        }
    }
    record.reserved = true;
    record.period_ns = Some(PERIOD_NS);
    record.wakeup = Some(wakeup);
    record.counters = Counters { planned_cycles: CYCLES, ..Counters::default() };
    record.spikes = worst;
    record.timeline = Timeline { slot_cycles, slots };
    record.conditions = Conditions { duration_ns: CYCLES * PERIOD_NS, ..Conditions::default() };
    record
}
