//! A signal from a process to a partition and back: the partition is a guest, or a process.
//!
//! ```text
//! near thread ─ send n ─► channel `there` ─► echo's step ─ send n ─► channel `back` ─► near thread
//! ```
//!
//! The far end is the same program in C, which calls `Com.h` and looks again and again as long as
//! numbers come. Neither side sleeps, and no guest is left for it: both channels are memory. The
//! figure of a round is the median of its trips, so that what the host does meanwhile is not in it.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::channel::Entry;
use quietcore_process::channel::ChannelMemory;
use quietcore_units::{Nanos, Scheduling};

use super::Request;
use super::program::{Program, partition, steps, until};
use crate::cores::pin;
use crate::findings::Findings;
use crate::findings::pairs::Median;

/// The source of the program.
const ECHO: [(&str, &str); 2] =
    [("echo.h", include_str!("echo/echo.h")), ("echo.c", include_str!("echo/echo.c"))];
/// Trips before those that count.
const WARM_UP: u64 = 100;
/// A step lasts as long as numbers come.
const STEP_MOST: Nanos = Nanos::from_secs(30);
/// A number that takes longer does not come back.
const PATIENCE: Duration = Duration::from_secs(20);
/// Looks between two at the clock.
const LOOKS: u32 = 1 << 16;

pub(super) fn measure(
    request: &Request,
    rounds: usize,
    findings: &mut Findings,
) -> Result<(), String> {
    let trips = request.common.length(2_000, 100);
    let far = [echo("kvm", request.cpu)?, echo("process", request.cpu)?];
    let mut took = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for place in [round % 2, 1 - round % 2] {
            took[place].push(median_trip(&far[place], request.other_cpu, trips)?);
        }
    }
    let [guest, process] = took;
    findings.figure("signal there and back, guest", "ns", &guest);
    findings.figure("signal there and back, process", "ns", &process);
    findings.ratio("signal there and back, guest / process", &guest, &process, None);
    Ok(())
}

/// The far end, built.
fn echo(backend: &str, cpu: u32) -> Result<Program, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let model = folder.path().join("echo");
    fs::create_dir(&model).map_err(|error| error.to_string())?;
    for (name, text) in ECHO {
        fs::write(model.join(name), text).map_err(|error| error.to_string())?;
    }
    let channel = |name: &str, from: &str, to: &str| {
        format!(
            "\n[[channel]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             signals = [{{ name = \"number\", type = \"i64\" }}]\n"
        )
    };
    let text = [
        "[site]\nname = \"bench-echo\"\n".to_owned(),
        partition("near", "process", cpu + 1, "echo"),
        partition("far", backend, cpu, "echo"),
        channel("there", "near", "far"),
        channel("back", "far", "near"),
    ];
    let mut program = Program::of_site(folder, &text.concat(), "far")?;
    for task in &mut program.job.tasks {
        (task.watchdog, task.deadline) = (STEP_MOST, STEP_MOST);
        // A step that looks all the time would leave nothing of its CPU to the kernel.
        task.policy = Scheduling::Other;
    }
    Ok(program)
}

/// The median of so many trips, in ns.
fn median_trip(far: &Program, near_cpu: u32, trips: u64) -> Result<f64, String> {
    let mut job = far.job.clone();
    let mut memories = Vec::new();
    let mut files: Vec<OwnedFd> = Vec::new();
    for channel in &mut job.channels {
        let entries: Vec<Entry> = channel.entries.iter().copied().map(Entry::from).collect();
        let memory = ChannelMemory::create(&entries).map_err(|error| error.to_string())?;
        let file: OwnedFd = memory.file().map_err(|error| error.to_string())?.into();
        channel.descriptor = file.as_raw_fd();
        files.push(file);
        memories.push(memory);
    }
    let [there, back] = &*memories else { return Err("there are not two channels".to_owned()) };
    let mut partition = far.start(&job, files)?;
    until(&mut partition, "a first cycle", |partition| steps(partition) > 0)?;
    let took = thread::scope(|scope| {
        let near = scope.spawn(|| {
            pin(near_cpu)?;
            trip_times(there, back, trips)
        });
        near.join().map_err(|_| "the near end panicked".to_owned())?
    });
    let took = took.map_err(|why| format!("{why}: {}", partition.remarks()))?;
    Median::of(&took).map(|median| median.value).ok_or_else(|| "there were no trips".to_owned())
}

/// Measures the time of each trip, in ns.
fn trip_times(there: &ChannelMemory, back: &ChannelMemory, trips: u64) -> Result<Vec<f64>, String> {
    let mut out = there.channel().group_writer(0).ok_or("there is no signal to send")?;
    let mut answers = back.channel().group_reader(0).ok_or("there is no signal to receive")?;
    let mut took = Vec::new();
    for number in 1..=WARM_UP + trips {
        let begin = Monotonic.now();
        out.set(0, number);
        out.send(begin);
        let (end, mut looks) = (Instant::now() + PATIENCE, 0_u32);
        // A reading that the sender overtook is one more try.
        while answers.receive().is_err() || answers.get(0) != Some(number) {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) && Instant::now() > end {
                return Err(format!("number {number} did not come back"));
            }
        }
        if number > WARM_UP {
            took.push((Monotonic.now() - begin).get() as f64);
        }
    }
    Ok(took)
}
