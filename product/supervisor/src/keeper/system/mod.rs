//! Keeps a partition whose guest has a system of its own: it has no program of the site, and so no
//! variables, no builds and no cycles. It is started, its reservation is watched, its console is
//! kept, and it is restarted after a fault as a program is.
//!
//! ```text
//! start ─► running ── QEMU has ended ─► waiting ─► start
//!             ├────── the guest has shut itself down ─► stopped, until a client restarts it
//!             └────── the site comes down ─► asked to shut down ─► stopped
//! ```

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_backend::process::PartitionError;
use quietcore_backend::process::asked::Asked;
use quietcore_exchange::TaskState;
use quietcore_site::Partition;
use quietcore_units::{Causes, CpuId, Nanos};
use quietcore_wording::plural;

use super::log::EventLog;
use super::reservation::{ReservationWatch, Reserved};
use super::restarts::Restarts;
use super::standstill::Absence;
use super::{Keeper, LOOK, Published, REQUESTS_MAX, Request};
use crate::control::{Activity, Done, Faults, PartitionState, Refusal, Severity, Verb};
use crate::log_file::LogFile;
use crate::places::cpu_locks::CpuLocks;
use crate::world::{Process, World};

/// Name of the file of what a guest writes to its console, in the folder of the partition's state.
const CONSOLE: &str = "console.log";
/// Limit of its size in bytes, and of the older file beside it.
const CONSOLE_BYTES_MAX: u64 = 1 << 20;
/// Limit of the lines that are written to it in a second.
const LINES_A_SECOND_MAX: u32 = 2_000;
const SECOND: Duration = Duration::from_secs(1);

/// Starts the process of a partition.
pub(crate) type Launch =
    Box<dyn FnMut() -> Result<Box<dyn Process>, PartitionError> + Send + 'static>;

/// Everything about such a partition that does not change while it is kept.
pub(crate) struct SystemSetup {
    pub(crate) partition: Partition,
    pub(crate) state_folder: PathBuf,
    /// The socket on which VNC shows its screen, if it has one.
    pub(crate) vnc: Option<PathBuf>,
    /// `true` if its memory is locked where this user may.
    pub(crate) is_locked: bool,
    /// Locks on the site's CPUs, held until its processors run or are known not to.
    pub(crate) locks: Option<Arc<CpuLocks>>,
    pub(crate) launch: Launch,
}

impl Keeper {
    /// Starts to keep a partition with a system of its own, in the world of its events.
    ///
    /// # Errors
    /// When this process has no threads left.
    pub(crate) fn start_system(setup: SystemSetup, events: Arc<EventLog>) -> Result<Self, String> {
        let (sender, requests) = sync_channel(REQUESTS_MAX);
        let kept = System::new(setup, events, requests);
        let name = kept.setup.partition.name.clone();
        let published = Arc::clone(&kept.published);
        let thread = thread::Builder::new()
            .name(format!("keep-{name}"))
            .spawn(move || kept.keep())
            .map_err(|error| format!("no thread for partition `{name}`: {error}"))?;
        Ok(Self { name, published, requests: Some(sender), thread: Some(thread), takes_long: true })
    }
}

/// A partition with a system of its own, as the thread that keeps it knows it.
struct System {
    setup: SystemSetup,
    console: Console,
    events: Arc<EventLog>,
    published: Arc<Published>,
    requests: Receiver<Request>,
    restarts: Restarts,
    world: Arc<dyn World>,
}

/// The end of a process's life.
enum End {
    /// The site comes down.
    Down,
    /// The guest has shut itself down.
    Off,
    /// A client has asked for another start.
    Asked,
    /// It failed, and may be started again.
    Failed(String),
}

impl System {
    fn new(setup: SystemSetup, events: Arc<EventLog>, requests: Receiver<Request>) -> Self {
        let world = events.world();
        let path = setup.state_folder.join(CONSOLE);
        let published = Arc::new(Published {
            state: Mutex::new(initial_state(&setup, &path)),
            absence: Mutex::new(Absence::new(Duration::ZERO)),
            world: Arc::clone(&world),
        });
        let log = LogFile::new(world.storage(), path, CONSOLE_BYTES_MAX);
        let console = Console { log, rate: None, left_out: 0 };
        let restarts = Restarts::default();
        Self { setup, console, events, published, requests, restarts, world }
    }

    fn keep(mut self) {
        loop {
            self.publish(Activity::Starting);
            let end = match (self.setup.launch)() {
                Ok(process) => self.live(process),
                Err(error) => End::Failed(Causes(&error).to_string()),
            };
            let goes_on = match end {
                End::Down => {
                    self.publish(Activity::Stopped { why: "told to".to_owned() });
                    false
                }
                End::Off => {
                    let why = "the guest has shut itself down";
                    self.note("shut-down", Severity::Information, why);
                    self.publish(Activity::Stopped { why: why.to_owned() });
                    self.wait_for_restart()
                }
                End::Asked => {
                    self.restarts.begin_anew();
                    true
                }
                End::Failed(why) => self.after_fault(&why),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Reports a fault and waits for the next start. Returns `false` if the site comes down.
    fn after_fault(&mut self, why: &str) -> bool {
        // A client that asks because of the event must not be told that it runs.
        self.publish(Activity::Waiting { restart_in: Nanos::ZERO, why: why.to_owned() });
        self.published.state().faults.add(why, None);
        self.note("process-lost", Severity::Fault, why);
        match self.restarts.next(&self.setup.partition.program.restart, self.world.now()) {
            Ok(wait) => self.wait(wait, why),
            Err(done) => {
                let (name, s) = (&self.setup.partition.name, plural(u64::from(done)));
                let text = format!(
                    "not restarted any more after {done} restart{s}; `quietcore restart {name}` \
                     starts it"
                );
                self.note("given-up", Severity::Fault, &text);
                self.publish(Activity::Stopped { why: why.to_owned() });
                self.wait_for_restart()
            }
        }
    }

    /// Looks after a process until it ends.
    fn live(&mut self, mut process: Box<dyn Process>) -> End {
        let mut reservation =
            ReservationWatch::begin(&*process, self.reserved(), &self.events, self.world.now());
        let exchange = process.exchange();
        let is_running =
            || exchange.region().tasks().all(|task| task.state() == TaskState::Running);
        let end = loop {
            match self.world.wait(&self.requests, LOOK) {
                Ok(Request { verb: Verb::Restart { .. }, caller, .. }) => {
                    caller.answer(Ok(Done {}));
                    break End::Asked;
                }
                Ok(request) => self.refuse(request),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break End::Down,
            }
            self.hear(&*process);
            reservation.look(&*process, &self.events, self.world.now());
            self.publish(if is_running() { Activity::Running } else { Activity::Starting });
            {
                let mut published = self.published.state();
                published.pid = Some(process.process_id());
                published.drift = reservation.drift();
            }
            match process.has_ended() {
                Ok(false) => {}
                Ok(true) => break End::Off,
                Err(error) => break End::Failed(Causes(&error).to_string()),
            }
        };
        process.stop();
        self.hear(&*process);
        self.tell_forced_end(&*process, &end);
        let mut published = self.published.state();
        published.pid = None;
        published.drift.clear();
        end
    }

    /// Reports a guest that was switched off, as it did not shut down in time.
    fn tell_forced_end(&self, process: &dyn Process, end: &End) {
        if !matches!(end, End::Down | End::Asked) {
            return;
        }
        let said = process.remarks();
        if let Some(text) = said.lines().find(|line| line.contains("was switched off")) {
            self.note("switched-off", Severity::Warning, text);
        }
    }

    /// Returns the settings that its processors ask of the kernel.
    fn reserved(&self) -> Reserved {
        let partition = &self.setup.partition;
        let policy = partition.program.scheduling;
        let asked = |(number, cpu): (usize, CpuId)| {
            (format!("vcpu{number}"), Asked { policy, cpu: Some(cpu.get()), is_emulated: false })
        };
        Reserved {
            partition: partition.name.clone(),
            tasks: partition.vcr.cpus.iter().enumerate().map(asked).collect(),
            memory: None,
            is_locked: self.setup.is_locked,
        }
    }

    /// Keeps what the guest has written to its console.
    fn hear(&mut self, process: &dyn Process) {
        let printed = process.take_printed();
        let (now, at) = (self.world.now(), self.world.time_of_day());
        self.console.left_out += printed.left_out;
        for line in &printed.lines {
            self.console.write(line, now, at);
        }
    }

    fn note(&self, kind: &str, severity: Severity, text: &str) {
        self.events.note(&self.setup.partition.name, kind, severity, text);
    }

    fn publish(&mut self, state: Activity) {
        if state != Activity::Starting {
            self.setup.locks = None;
        }
        let mut published = self.published.state();
        published.state = state;
        published.restarts = self.restarts.count;
    }

    /// Refuses what is meant for a program.
    fn refuse(&self, request: Request) {
        let partition = &self.setup.partition.name;
        let refusal = Refusal::NoProgram { partition: partition.clone() };
        request.caller.refuse(refusal.at(partition));
    }

    /// Waits before it is started again, which a client may cut short. Returns `false` if the site
    /// comes down meanwhile.
    fn wait(&mut self, wait: Duration, why: &str) -> bool {
        let end = self.world.now() + wait;
        loop {
            let left = end.saturating_duration_since(self.world.now());
            if left.is_zero() {
                return true;
            }
            let restart_in = Nanos::new(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
            self.publish(Activity::Waiting { restart_in, why: why.to_owned() });
            match self.next_start(left.min(LOOK)) {
                Some(Start::Asked) => {
                    self.restarts.withdraw();
                    self.restarts.begin_anew();
                    return true;
                }
                Some(Start::Never) => return false,
                None => {}
            }
        }
    }

    /// Waits for a client that starts it again; returns `false` if the site comes down instead.
    fn wait_for_restart(&mut self) -> bool {
        loop {
            match self.next_start(SECOND) {
                Some(Start::Asked) => {
                    self.restarts.begin_anew();
                    return true;
                }
                Some(Start::Never) => return false,
                None => {}
            }
        }
    }

    /// Serves a request while nothing runs, if one comes in time.
    fn next_start(&self, longest: Duration) -> Option<Start> {
        match self.world.wait(&self.requests, longest) {
            Ok(Request { verb: Verb::Restart { .. }, caller, .. }) => {
                caller.answer(Ok(Done {}));
                Some(Start::Asked)
            }
            Ok(request) => {
                self.refuse(request);
                None
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Start::Never),
        }
    }
}

/// The end of a wait for another start.
enum Start {
    /// A client has asked for it.
    Asked,
    /// The site comes down.
    Never,
}

/// The file of what a guest writes to its console.
#[derive(Debug)]
struct Console {
    log: LogFile,
    /// Start of the current second, and the number of lines that were written in it.
    rate: Option<(Instant, u32)>,
    left_out: u64,
}

impl Console {
    /// Writes a line, or counts it as left out. A line that can't be written is lost.
    fn write(&mut self, line: &str, now: Instant, at: jiff::Timestamp) {
        let (since, count) = self.rate.get_or_insert((now, 0));
        if now.saturating_duration_since(*since) >= SECOND {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        if *count > LINES_A_SECOND_MAX {
            self.left_out += 1;
            return;
        }
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            let text = format!("{at} ({left_out} line{} left out)", plural(left_out));
            let _ = self.log.add(&text);
        }
        let _ = self.log.add(&format!("{at} {line}"));
    }
}

fn initial_state(setup: &SystemSetup, console: &std::path::Path) -> PartitionState {
    let partition = &setup.partition;
    PartitionState {
        name: partition.name.clone(),
        backend: partition.backend.to_string(),
        state: Activity::Starting,
        class: partition.class.name.to_string(),
        period: Nanos::ZERO,
        cycles: 0,
        missed_cycles: 0,
        overruns: 0,
        release_max: Nanos::ZERO,
        forces: 0,
        generation: 0,
        restarts: 0,
        criticality: partition.criticality,
        times_shed: 0,
        reactions: None,
        cpu: partition.first_cpu().map(CpuId::get),
        pid: None,
        fieldbus: None,
        model_hash: String::new(),
        absent_cycles: 0,
        faults: Faults::default(),
        drift: Vec::new(),
        console: Some(console.to_owned()),
        vnc: setup.vnc.clone(),
    }
}
