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

use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use quietcore_clock::{Clock, Monotonic};
use quietcore_exchange::{Recorder, Region, SLOT_COUNT, Setting};
use quietcore_process::remark::remark;
use quietcore_process::setting::{self, Policy};
use quietcore_process::snare::{Laid, SnareJob};
use quietcore_units::{Causes, CpuId, Nanos};
use rustix::thread::gettid;

use crate::job::LatencyJob;
use crate::latency::{self, Whole};

/// Stack of a measuring thread: small, because all of it is locked.
const STACK_BYTES: usize = 256 << 10;

/// Time from the last thread being ready to the first release.
const START_DELAY: Nanos = Nanos::from_millis(20);

/// What stands for an error that has no number.
const NO_ERROR_NUMBER: i32 = i32::MAX;

/// Runs the probe `latency` in all tasks of a partition and returns when all have ended. To be
/// called in a process of its own: it locks the whole process's memory, and ends the process when a
/// thread can't be started.
pub fn run_latency(job: &LatencyJob, region: Region<'_>) {
    let memory = setting::lock_memory().err().map(|error| number_of(&error));
    let ready = Barrier::new(job.cpus.len());
    let start = AtomicU64::new(0);
    let snare = job.snare.as_ref().and_then(take_over);
    let snare = snare.as_ref();
    thread::scope(|scope| {
        for (index, cpu) in (0_u32..).zip(&job.cpus) {
            let task = Task { job, cpu: *cpu, region, index, ready: &ready, start: &start, snare };
            let spawned = thread::Builder::new()
                .name(format!("task-{index}"))
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || task.run(memory));
            if let Err(error) = spawned {
                // Those started wait at the barrier for one that will never come; nothing but the
                // end of the process frees them.
                remark(format_args!("quietcore-runtime: thread {index}: {error}"));
                std::process::exit(1);
            }
        }
    });
}

/// The number of a refusal, for the exchange.
pub fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(NO_ERROR_NUMBER)
}

/// Asks the kernel for the settings of the calling thread; what is refused is written down, as is
/// `memory_refused`, the error number with which the process's memory could not be locked. Returns
/// the CPU that the thread is pinned to.
pub fn prepare(
    recorder: &mut Recorder<'_>,
    cpu: Option<u32>,
    policy: Policy,
    memory_refused: Option<i32>,
) -> Option<u32> {
    if let Some(errno) = memory_refused {
        recorder.refuse(Setting::MemoryLock, errno);
    }
    let mut ask = |setting: Setting, result: io::Result<()>| {
        if let Err(error) = &result {
            recorder.refuse(setting, number_of(error));
        }
        result.is_ok()
    };
    let mut pinned_to = None;
    ask(Setting::TimerSlack, setting::drop_timer_slack());
    let before = setting::allowed();
    if let Some(cpu) = cpu {
        let pinned = match CpuId::new(cpu) {
            Some(cpu) => setting::pin(cpu),
            None => Err(io::ErrorKind::InvalidInput.into()),
        };
        pinned_to = ask(Setting::Affinity, pinned).then_some(cpu);
    }
    let scheduled = match setting::schedule(policy) {
        Err(error) if pinned_to.is_some() && is_pin_that_stands_against(&error, policy) => {
            ask(Setting::Affinity, Err(error));
            pinned_to = None;
            before.and_then(setting::allow).and_then(|()| setting::schedule(policy))
        }
        scheduled => scheduled,
    };
    ask(Setting::Policy, scheduled);
    pinned_to
}

/// While the kernel throttles real-time threads it refuses SCHED_DEADLINE to a thread that is
/// pinned within a larger domain of its scheduler. The policy is worth more than the pin.
fn is_pin_that_stands_against(error: &io::Error, policy: Policy) -> bool {
    matches!(policy, Policy::Deadline { .. }) && error.kind() == io::ErrorKind::PermissionDenied
}

struct Task<'a> {
    job: &'a LatencyJob,
    cpu: Option<u32>,
    region: Region<'a>,
    index: u32,
    ready: &'a Barrier,
    start: &'a AtomicU64,
    snare: Option<&'a Laid>,
}

/// Takes over the snare that the host has laid; one that can't be had is said, and the run goes on.
pub fn take_over(job: &SnareJob) -> Option<Laid> {
    Laid::take_over(job)
        .map_err(|error| remark(format_args!("quietcore-runtime: snare: {}", Causes(&error))))
        .ok()
}

impl Task<'_> {
    fn run(&self, memory_errno: Option<i32>) {
        let Some(shared) = self.region.task(self.index) else {
            self.ready.wait();
            return;
        };
        let clock = Monotonic;
        let slot_cycles = self.job.cycles.div_ceil(SLOT_COUNT as u64);
        let mut recorder = Recorder::new(shared, self.job.period, slot_cycles);
        recorder.set_thread_id(gettid().as_raw_nonzero().get().unsigned_abs());
        let pinned_to = prepare(&mut recorder, self.cpu, self.job.policy, memory_errno);
        let cost = latency::own_cost(&clock, &mut recorder);
        recorder.set_own_cost(cost);
        let whole = Whole {
            first_release: self.agree_on_start(&clock),
            period: self.job.period,
            cycles: self.job.cycles,
            warm_up_cycles: self.job.warm_up_cycles,
            wake: self.job.wake,
            injection: self.job.injection,
            cpu: pinned_to,
        };
        let mut trap = self.snare.and_then(|snare| snare.trap(self.index));
        let stop = || self.region.stop_requested();
        latency::carry_out(&clock, &whole, &mut recorder, stop, |release, cycle| {
            if let Some(trap) = &mut trap {
                trap.started(release, cycle.due, cycle.started, cycle.cpu);
            }
        });
    }

    /// Waits until all threads are ready; one of them chooses the start for all.
    fn agree_on_start(&self, clock: &impl Clock) -> Nanos {
        if self.ready.wait().is_leader() {
            self.start.store((clock.now() + START_DELAY).get(), Ordering::Relaxed);
        }
        self.ready.wait();
        Nanos::new(self.start.load(Ordering::Relaxed))
    }
}
