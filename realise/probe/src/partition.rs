//! The threads of a partition: prepared one by one, started together.
//!
//! ```text
//! thread 0  pin ─ slack ─ policy ─ own cost ─┐         ┌─ warm-up ─ cycles ─ state
//! thread 1  pin ─ slack ─ policy ─ own cost ─┼ barrier ┼─ warm-up ─ cycles ─ state
//! ```
//!
//! All threads take their releases from one start instant, so their cycles are in phase, as those
//! of programs on one fieldbus are. A setting that the kernel refuses is written into the exchange
//! and the run goes on: the host decides what such a record is worth.

use std::thread;

use quietcore_clock::Monotonic;
use quietcore_exchange::{Recorder, Region, SLOT_COUNT};
use quietcore_process::remark::remark;
use quietcore_process::setting;
use quietcore_process::snare::Laid;
use quietcore_process::thread::host_threads;
use quietcore_release::process::settings::{number_of, prepare, take_over};
use quietcore_release::process::start::CommonStart;

use crate::job::LatencyJob;
use crate::latency::{self, Whole};

/// Stack of a measuring thread in bytes: small, because all of it is locked.
const STACK_BYTES: usize = 256 << 10;

/// Runs the probe `latency` in all tasks of a partition, and returns when all have ended. Must be
/// called in a process of its own: it locks the process's memory, and ends the process when a
/// thread can't be started.
pub fn run_latency(job: &LatencyJob, region: Region<'_>) {
    let memory = setting::lock_memory().err().map(|error| number_of(&error));
    let start = CommonStart::new(job.cpus.len());
    let snare = job.snare.as_ref().and_then(take_over);
    let snare = snare.as_ref();
    thread::scope(|scope| {
        for (index, cpu) in (0_u32..).zip(&job.cpus) {
            let task = Task { job, cpu: *cpu, region, index, start: &start, snare };
            let spawned = thread::Builder::new()
                .name(format!("task-{index}"))
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || task.run(memory));
            if let Err(error) = spawned {
                // The threads that were started wait at the barrier for one that will never come;
                // only the end of the process frees them.
                remark(format_args!("quietcore-runtime: thread {index}: {error}"));
                std::process::exit(1);
            }
        }
    });
}

struct Task<'a> {
    job: &'a LatencyJob,
    cpu: Option<u32>,
    region: Region<'a>,
    index: u32,
    start: &'a CommonStart,
    snare: Option<&'a Laid>,
}

impl Task<'_> {
    fn run(&self, memory_errno: Option<i32>) {
        let Some(shared) = self.region.task(self.index) else {
            self.start.agree(&Monotonic);
            return;
        };
        let clock = Monotonic;
        let slot_cycles = self.job.cycles.div_ceil(SLOT_COUNT as u64);
        let mut recorder = Recorder::new(shared, self.job.period, slot_cycles);
        recorder.set_thread_id(host_threads::number_of(self.cpu));
        let pinned_to = prepare(&mut recorder, self.cpu, self.job.policy, memory_errno);
        let cost = latency::own_cost(&clock, &mut recorder);
        recorder.set_own_cost(cost);
        let whole = Whole {
            first_release: self.start.agree(&clock),
            period: self.job.period,
            cycles: self.job.cycles,
            warm_up_cycles: self.job.warm_up_cycles,
            wake: self.job.wake,
            injection: self.job.injection,
            cpu: pinned_to,
        };
        let mut trap = self.snare.and_then(|snare| snare.trap(self.index));
        let stop = || self.region.stop_requested();
        latency::carry_out(&clock, &whole, &mut recorder, stop, |number, release| {
            if let Some(trap) = &mut trap {
                trap.started(number, release);
            }
        });
    }
}
