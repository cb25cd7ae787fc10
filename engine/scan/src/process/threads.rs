//! The threads of a partition's tasks.
//!
//! ```text
//! watchman ─ load the first build ─ task threads: settings ─┐ barrier ┌─ cycles ─ state
//!                                                           └ start ──┘
//! ```
//!
//! A setting that the kernel refuses is written into the exchange and the run goes on: the host
//! decides what that is worth.

use std::boxed::Box;
use std::cell::RefCell;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;
use std::vec::Vec;

use arc_swap::ArcSwapOption;
use quietcore_clock::{Clock, Monotonic};
use quietcore_exchange::com::{Provision, Services};
use quietcore_exchange::{Recorder, Region, Release, SLOT_COUNT, TaskState};
use quietcore_process::guard::{self, Guard};
use quietcore_process::memory::MemorySource;
use quietcore_process::remark::remark;
use quietcore_process::setting;
use quietcore_process::snare::{Laid, Trap};
use quietcore_process::thread::host_threads;
use quietcore_release::Margin;
use quietcore_release::process::settings;
use quietcore_release::process::start::CommonStart;
use quietcore_units::Nanos;
use rustix::thread::gettid;

use crate::change::Builds;
use crate::follower::Follower;
use crate::kernel::Allowance;
use crate::leader::Leader;
use crate::process::channels::Channels;
use crate::process::departure;
use crate::process::error::RunError;
use crate::process::job::{ProgramJob, TaskJob};
use crate::process::kernel::{self, KernelCycle, Threads, allowance_of};
use crate::process::library;
use crate::process::loading::{self, Loaded, Loader, Refusal, Slots};
use crate::process::orders::Orders;
use crate::process::watchman::{self, Watched};
use crate::program::Fieldbus;
use crate::release::{Rest, Waiting};
use crate::running::{self, Plan};
use crate::shared::{Shared, TASK_LIMIT};
use crate::stage::{Room, Stage};
use crate::task::{Task, TaskSettings};
use crate::watchdog::Watchdog;

/// Stack size of a thread; all of it is locked.
pub(super) const STACK_BYTES: usize = 512 << 10;
/// The status of a process whose program can't be loaded.
const NOT_LOADED: i32 = 2;
/// Releases to a stretch of the time line where there is no end.
const ENDLESS_SLOT_CYCLES: u64 = 1 << 32;

/// All that the tasks' threads share.
struct TaskThreads<'a, 'map> {
    job: &'a ProgramJob,
    region: Region<'map>,
    shared: Shared,
    slots: Slots,
    channels: Channels,
    /// Of a program that is a kernel.
    kernel: Option<&'a KernelCycle<'map>>,
    watched: Arc<[Watched]>,
    handles: [OnceLock<Thread>; TASK_LIMIT],
    start: CommonStart,
    /// Set when the warm-up is over.
    measuring: AtomicBool,
    done: AtomicBool,
    memory_refused: Option<i32>,
    /// Traps that late releases spring.
    snare: Option<Laid>,
}

/// Ends the process when its thread panics: the others would wait for it for ever, and nobody would
/// start the partition anew.
pub(super) struct EndsWithPanic;

impl Drop for EndsWithPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            remark(format_args!("quietcore-runtime: a thread panicked; the process ends"));
            std::process::abort();
        }
    }
}

/// Runs a program's tasks until they are told to stop or their cycles are run. `orders` are the
/// lines that follow the job. To be called in a process of its own: it locks the process's memory.
///
/// `bring_up` is called when the program is loaded, as late as can be: from then on the SubDevices
/// wait for frames, and the watchdogs of some take their outputs away after 100 ms.
///
/// # Errors
/// [`RunError`] when nothing could be run.
pub fn run<F: Fieldbus + Send, E: Into<Box<dyn Error + Send + Sync>>>(
    job: &ProgramJob,
    region: Region<'static>,
    memory: &MemorySource,
    bring_up: impl FnOnce() -> Result<F, E>,
    orders: &Orders,
) -> Result<(), RunError> {
    job.check()?;
    let _end = EndsWithPanic;
    loading::prepare().map_err(RunError::Handlers)?;
    library::begin(region).map_err(RunError::Examiner)?;
    let memory_refused = setting::lock_memory().err().map(|error| settings::number_of(&error));
    let watched: Arc<[Watched]> =
        job.tasks.iter().map(watched).chain([loading::watched_loader(loading::CALL_MAX)]).collect();
    let rates: Vec<u32> = job.tasks.iter().map(|task| task.rate).collect();
    let channels = Channels::of(job)?;
    let kernel = KernelCycle::new(Threads);
    let services = Provision { table: channels.table(), kernel: &kernel };
    let services = Services::new(&services);
    let loader = Loader {
        memory,
        region,
        room: room(region, job.tasks.len()),
        rates: &rates,
        watched: Arc::clone(&watched),
        kernel_tasks: &job.kernel_tasks,
        services: &services,
    };
    let kernel = (!job.kernel_tasks.is_empty()).then_some(&kernel);
    let surroundings = Surroundings { region, channels, kernel, memory_refused };
    watchman::watch_during(job, region, &watched, || {
        run_loaded(job, &loader, surroundings, bring_up, orders)
    })
}

/// The values that the tasks find when they begin.
#[derive(Clone, Copy)]
struct Surroundings<'a, 'map> {
    region: Region<'map>,
    channels: Channels,
    kernel: Option<&'a KernelCycle<'map>>,
    memory_refused: Option<i32>,
}

/// Loads the first build and runs the tasks, under the eyes of the watchman.
fn run_loaded<F: Fieldbus + Send, E: Into<Box<dyn Error + Send + Sync>>>(
    job: &ProgramJob,
    loader: &Loader<'_>,
    surroundings: Surroundings<'_, '_>,
    bring_up: impl FnOnce() -> Result<F, E>,
    orders: &Orders,
) -> Result<(), RunError> {
    let mut events = loader
        .region
        .event_writer(loader.region.layout().shape.task_count)
        .ok_or(RunError::NoEvents)?;
    let first = match loader.load(&job.build, &mut events) {
        Ok(first) => first,
        Err(Refusal::Words(why)) => return Err(RunError::NotLoaded { why }),
        Err(held) => {
            // A string can't be had any more.
            remark(format_args!("quietcore-runtime: {held}"));
            guard::end_process(NOT_LOADED);
        }
    };
    let Surroundings { region, channels, kernel, memory_refused } = surroundings;
    let threads = TaskThreads {
        job,
        region,
        kernel,
        shared: Shared::default(),
        slots: [ArcSwapOption::empty(), ArcSwapOption::empty()],
        channels,
        watched: Arc::clone(&loader.watched),
        handles: Default::default(),
        start: CommonStart::new(job.tasks.len()),
        measuring: AtomicBool::new(false),
        done: AtomicBool::new(false),
        memory_refused,
        snare: job.snare.as_ref().and_then(settings::take_over),
    };
    let first_stage = first.stage.clone();
    threads.slots[usize::from(first_stage.slot)].store(Some(first));
    let mut fieldbus = Some(bring_up().map_err(|error| RunError::Fieldbus(error.into()))?);
    thread::scope(|scope| {
        let threads = &threads;
        let first = &first_stage;
        let spawn =
            |name: &str| thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
        for (index, task) in job.tasks.iter().enumerate() {
            let bus = if index == 0 { fieldbus.take() } else { None };
            let spawned = spawn(&task.name).spawn_scoped(scope, move || {
                let _end = EndsWithPanic;
                let _ = threads.handles[index].set(thread::current());
                match bus {
                    Some(bus) => threads.lead(task, bus, first),
                    None => threads.follow(index, task),
                }
            });
            if let Err(error) = spawned {
                // Those started wait at the barrier for one that will never come; nothing but the
                // end of the process frees them.
                remark(format_args!("quietcore-runtime: thread `{}`: {error}", task.name));
                std::process::exit(1);
            }
        }
        let over = || threads.done.load(Ordering::Relaxed);
        orders.serve(loader, &threads.slots, &threads.shared, &mut events, over);
    });
    Ok(())
}

/// Returns the sizes that every build must fit.
fn room(region: Region<'_>, tasks: usize) -> Room {
    let shape = region.layout().shape;
    Room {
        data: shape.data_bytes as usize,
        inputs: shape.input_bytes as usize,
        outputs: shape.output_bytes as usize,
        retain: shape.retain_bytes as usize,
        tasks,
    }
}

fn watched(task: &TaskJob) -> Watched {
    Watched {
        guard: Guard::default(),
        limit: Watchdog::new(task.watchdog, task.sensitivity).limit(),
        thread_id: AtomicU32::new(0),
    }
}

impl<'map> TaskThreads<'_, 'map> {
    /// Returns the releases in a stretch of the time line.
    fn slot_cycles(&self) -> u64 {
        match self.job.cycles {
            Some(cycles) => cycles.div_ceil(SLOT_COUNT as u64),
            None => ENDLESS_SLOT_CYCLES,
        }
    }

    /// Prepares the calling thread and returns what its task needs.
    fn prepare(&self, index: usize, task: &TaskJob) -> Option<(Task<'map>, Option<u32>)> {
        let number = index as u32;
        let shared = self.region.task(number)?;
        let slot_cycles = self.slot_cycles();
        // A task without a period of its own is late by no period.
        let period = task.release.period().unwrap_or(Nanos::from_secs(3600));
        let mut recorder = Recorder::new(shared, period, slot_cycles);
        let thread_id = gettid().as_raw_nonzero().get().unsigned_abs();
        let of_host = host_threads::number_of(self.job.cpu);
        recorder.set_thread_id(of_host);
        self.watched[index].thread_id.store(thread_id, Ordering::Relaxed);
        let pinned =
            settings::prepare(&mut recorder, self.job.cpu, task.policy, self.memory_refused);
        if let (0, Some(kernel)) = (index, self.kernel) {
            let first = self.job.tasks.len() as u32;
            let tasks = &self.job.kernel_tasks;
            let leads = kernel::lead(kernel, self.region, tasks, first, slot_cycles, of_host);
            leads
                .map_err(|error| remark(format_args!("quietcore-runtime: no timer: {error}")))
                .ok()??;
        }
        departure::watch(&task.name, &self.job.kernel_tasks);
        // A thread's first look allocates; its cycles must not.
        drop(self.slots.each_ref().map(ArcSwapOption::load));
        let own = TaskSettings {
            index,
            rate: task.rate,
            deadline: task.deadline,
            watchdog: Watchdog::new(task.watchdog, task.sensitivity),
            stop_beyond: task.stop_beyond(),
        };
        let events = self.region.event_writer(number)?;
        Some((Task::new(own, recorder, events, self.region.trace_writer(number)), pinned))
    }

    fn waiting(
        &self,
        index: usize,
        task: &TaskJob,
        cpu: Option<u32>,
        start: Nanos,
    ) -> Waiting<'static, Parking> {
        let margin = Margin::new(task.wake, task.release.interval());
        Waiting::new(&Parking, task.release, index, margin, cpu, start)
    }

    fn stop(&self) -> bool {
        self.region.stop_requested() || self.done.load(Ordering::Relaxed)
    }

    /// Wakes tasks; bit `n` of `fired` stands for task `n`.
    #[inline]
    fn wake(&self, mut fired: u32) {
        while fired != 0 {
            let task = fired.trailing_zeros() as usize;
            fired &= fired - 1;
            if let Some(thread) = self.handles.get(task).and_then(OnceLock::get) {
                thread.unpark();
            }
        }
    }

    fn plan(&self, job: &TaskJob) -> Plan {
        Plan {
            release: job.release,
            overrun: job.overrun,
            warm_up_cycles: self.job.warm_up_cycles,
            cycles: self.job.cycles,
        }
    }

    fn lead(&self, job: &TaskJob, fieldbus: impl Fieldbus, first: &Stage) {
        let prepared = self.prepare(0, job).and_then(|(task, cpu)| {
            let leader = Leader::new(
                task,
                self.region,
                fieldbus,
                self.job.on_fault,
                self.job.probation_cycles,
                first,
                &self.shared,
            );
            Some((leader?, cpu))
        });
        let start = self.start.agree(&Monotonic);
        let Some((mut leader, cpu)) = prepared else {
            self.done.store(true, Ordering::Relaxed);
            return;
        };
        let mut waiting = self.waiting(0, job, cpu, start);
        let leading = self.thread(0, allowance_of(job, waiting.margin_max()));
        running::lead(&leading, &mut leader, &mut waiting, &self.plan(job), start);
    }

    /// Returns the thread of a task, as the host of that task.
    fn thread(&self, index: usize, allowance: Allowance) -> TaskThread<'_, '_, 'map> {
        let trap = self.snare.as_ref().and_then(|snare| snare.trap(index as u32));
        TaskThread { threads: self, allowance, trap: RefCell::new(trap) }
    }

    fn follow(&self, index: usize, job: &TaskJob) {
        let prepared = self.prepare(index, job);
        let start = self.start.agree(&Monotonic);
        let Some((task, cpu)) = prepared else { return };
        let mut follower = Follower::new(task, self.region);
        let mut waiting = self.waiting(index, job, cpu, start);
        let following = self.thread(index, allowance_of(job, waiting.margin_max()));
        running::follow(&following, &mut follower, &mut waiting, &self.plan(job));
    }
}

/// The thread of a task, as the host of that task.
struct TaskThread<'a, 'job, 'map> {
    threads: &'a TaskThreads<'job, 'map>,
    /// The limits of a step, where the program is a kernel.
    allowance: Allowance,
    /// The trap of this thread's task that a late release springs.
    trap: RefCell<Option<Trap<'a>>>,
}

impl running::TaskHost for TaskThread<'_, '_, '_> {
    type Program = Loaded;

    fn shared(&self) -> &Shared {
        &self.threads.shared
    }

    #[inline]
    fn now(&self) -> Nanos {
        Monotonic.now()
    }

    fn stops(&self) -> bool {
        self.threads.stop()
    }

    fn pauses(&self) -> bool {
        self.threads.region.pause_requested()
    }

    #[inline]
    fn with_builds<R>(&self, work: impl FnOnce(&Builds<'_, Loaded>) -> R) -> R {
        let guards = self.threads.slots.each_ref().map(ArcSwapOption::load);
        work(&guards.each_ref().map(|build| build.as_deref()))
    }

    fn wake(&self, fired: u32) {
        self.threads.wake(fired);
    }

    fn begin(&self, start: Nanos) {
        self.threads.channels.table().begin(start);
    }

    #[inline]
    fn begin_cycle(&self, release: &Release, cycle: u64) {
        self.threads.channels.table().begin_cycle(release.started);
        if let Some(kernel) = self.threads.kernel {
            kernel.begin_cycle(release, cycle, &self.allowance);
        }
    }

    #[inline]
    fn released(&self, number: u64, release: &Release) {
        if let Some(trap) = &mut *self.trap.borrow_mut() {
            trap.started(number, release);
        }
    }

    fn skipped(&self, period: Nanos, count: u64) {
        if let Some(trap) = &mut *self.trap.borrow_mut() {
            trap.skipped(period, count);
        }
    }

    fn measure(&self, due: Nanos) {
        self.threads.kernel.inspect(|kernel| kernel.measure(due));
        self.threads.measuring.store(true, Ordering::Relaxed);
    }

    fn measures(&self) -> bool {
        self.threads.measuring.load(Ordering::Relaxed)
    }

    fn forget(&self) {
        self.threads.kernel.inspect(|kernel| kernel.forget());
    }

    fn end(&self, state: TaskState) {
        self.threads.kernel.inspect(|kernel| kernel::end(kernel, state));
        self.threads.done.store(true, Ordering::Relaxed);
        for thread in self.threads.handles.iter().filter_map(OnceLock::get) {
            thread.unpark();
        }
    }

    fn yield_now(&self) {
        thread::yield_now();
    }
}

/// The clock of a thread, which is woken by unparking it.
#[derive(Debug)]
struct Parking;

impl Clock for Parking {
    #[inline]
    fn now(&self) -> Nanos {
        Monotonic.now()
    }

    #[inline]
    fn sleep_until(&self, due: Nanos) {
        Monotonic.sleep_until(due);
    }

    fn cpu(&self) -> u32 {
        Monotonic.cpu()
    }
}

impl Rest for Parking {
    fn rest(&self, longest: Nanos) {
        thread::park_timeout(Duration::from_nanos(longest.get()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a panic leaves no process behind that hangs.
    /// Method: this test runs once more in a process of its own, whose other thread waits.
    #[test]
    fn a_panic_in_a_thread_ends_the_process() {
        const OWN_PROCESS: &str = "QUIETCORE_TEST_PANICS";
        const NAME: &str = "process::threads::tests::a_panic_in_a_thread_ends_the_process";
        if std::env::var_os(OWN_PROCESS).is_some() {
            thread::scope(|scope| {
                scope.spawn(|| {
                    let _end = EndsWithPanic;
                    panic!("on purpose");
                });
                thread::sleep(std::time::Duration::from_secs(20));
            });
            return;
        }
        let mut own = std::process::Command::new(std::env::current_exe().unwrap());
        own.args(["--exact", NAME, "--nocapture"]).env(OWN_PROCESS, "1");
        let output = own.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_none(), "ended by a signal: {:?}", output.status);
        assert!(said.contains("panicked; the process ends"), "{said}");
    }
}
