//! The thread of a processor: it runs its guest until it is told otherwise.
//!
//! ```text
//! spawn ─► preparing ─► standing ◄─► running ─► ended
//!          (pin, policy,   │  ▲ pause, resume     ▲
//!           filter)        └──┼── reset           │ the guest ended, or stop
//! ```
//!
//! **Kicks.** Whoever wants something writes what into the state, says in the page that KVM shares
//! with this process that the processor shall leave its guest at once, and sends the thread a
//! signal. KVM looks at that page whenever it enters the guest, and at signals while it is in it;
//! the thread takes the word back under the lock, and looks at the state then. So no kick is lost,
//! and a guest that leaves without an end can't keep anybody waiting.
//!
//! **Policy.** The thread begins with the ordinary policy, and is refused where it would inherit
//! another one; `prepare`, which runs in it, gives it CPU, policy and seccomp filter.
// UNSAFETY: a signal handler, and a word in a page that KVM shares.
#![expect(unsafe_code, reason = "a thread is interrupted by a signal")]

mod kick;

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quietcore_boot::CrashRecord;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;

use crate::bus::Bus;
use crate::exits::{Exits, Reason};
use crate::processor::{Processor, ProcessorError, Stopped};
use kick::Kick;

pub use kick::kick_signal;

/// The stack of the thread, in bytes: what devices need.
const STACK_BYTES: usize = 256 << 10;

/// Time after which a thread that is to end is told again.
const AGAIN: Duration = Duration::from_millis(100);

/// The exceptions that ends by this process are told as (Intel SDM volume 3, table 6-1).
const INVALID_INSTRUCTION: u64 = 6;
const DOUBLE_FAULT: u64 = 8;
const PAGE_FAULT: u64 = CrashRecord::PAGE_FAULT;

/// Why a guest does not run any more.
#[derive(Debug)]
pub enum Ended {
    /// It ended itself, or did what ends it.
    Guest(Stopped),
    /// KVM can't go on with it.
    Stuck(ProcessorError),
    /// It was told to.
    Told,
    /// The code of a device panicked.
    Panicked,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Guest(stopped) => stopped.fmt(f),
            Self::Stuck(error) => error.fmt(f),
            Self::Told => f.write_str("it was told to end"),
            Self::Panicked => f.write_str("a device of the guest panicked"),
        }
    }
}

/// The end of a guest.
#[derive(Debug)]
pub struct Outcome {
    /// Why it does not run any more.
    pub ended: Ended,
    /// State of its processor, if KVM or this process ended it: with the exception that comes
    /// closest. A guest that crashes in its own eyes leaves a record of its own, which says more.
    pub crash: Option<CrashRecord>,
    /// Time that it stood still on the way, all pauses together.
    pub stood: Duration,
}

/// Why a thread does not do what it is asked to.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// There is no thread.
    #[error("no thread for a processor can be had")]
    Thread(#[source] io::Error),
    /// The preparation of the thread failed.
    #[error("the thread of a processor can't be prepared")]
    Prepare(#[source] io::Error),
    /// It would have a policy by accident.
    #[error("the thread of a processor would inherit scheduling policy {0}; start it from another")]
    Inherited(i32),
    /// It did not do so in time.
    #[error("the processor's thread did not answer within {0:?}")]
    Late(Duration),
    /// The guest has ended.
    #[error("the guest has ended")]
    Over,
    /// The guest is running.
    #[error("the processor runs; pause it first")]
    Runs,
}

/// The order to the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Stand,
    Run,
    End,
}

/// The phase that the thread is in.
#[derive(Debug)]
enum Phase {
    Preparing,
    Standing { since: Instant },
    Running,
    Ended(Ended),
}

/// Work for a standing processor, done once.
type Errand = Box<dyn FnOnce(&mut Processor) + Send>;

struct State {
    order: Order,
    phase: Phase,
    /// Time that it stood, all pauses together.
    stood: Duration,
    crash: Option<CrashRecord>,
    errand: Option<Errand>,
    /// There as long as the processor is.
    kick: Option<Kick>,
    /// Why `prepare` failed.
    refused: Option<RunnerError>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Readable from the end on.
    ended: OwnedFd,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, mut state: MutexGuard<'_, State>, phase: Phase) {
        state.phase = phase;
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until `is_so`, at most as long as `limit`.
    fn wait(
        &self,
        limit: Duration,
        is_so: impl Fn(&State) -> bool,
    ) -> Result<MutexGuard<'_, State>, RunnerError> {
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |state| !is_so(state));
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() && !is_so(&state) {
            Err(RunnerError::Late(limit))
        } else {
            Ok(state)
        }
    }
}

/// A processor's thread. Dropped, it ends.
pub struct Runner {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    thread_id: i32,
}

impl Runner {
    /// Starts a thread for the processor, which runs `prepare` first and then stands still until
    /// [`resume`](Self::resume). What `prepare` fails with is returned. `name` is the thread's.
    ///
    /// # Errors
    /// [`RunnerError`]; then there is no thread.
    pub fn spawn<B: Bus + Send + 'static>(
        name: &str,
        processor: Processor,
        bus: Arc<B>,
        exits: Arc<Exits>,
        prepare: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> Result<Self, RunnerError> {
        kick::listen().map_err(RunnerError::Thread)?;
        let ended = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| RunnerError::Thread(errno.into()))?;
        let state = State {
            order: Order::Stand,
            phase: Phase::Preparing,
            stood: Duration::ZERO,
            crash: None,
            errand: None,
            kick: None,
            refused: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), ended });
        let (told, thread_id) = std::sync::mpsc::sync_channel(1);
        let body = {
            let shared = shared.clone();
            move || {
                let _ = told.send(rustix::thread::gettid().as_raw_nonzero().get());
                drop(told);
                work(&shared, processor, &*bus, &exits, prepare);
            }
        };
        let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
        let thread = Some(thread.spawn(body).map_err(RunnerError::Thread)?);
        let thread_id = thread_id.recv().unwrap_or(0);
        let runner = Self { shared, thread, thread_id };
        let is_prepared = |state: &State| !matches!(state.phase, Phase::Preparing);
        let state = runner.shared.changed.wait_while(runner.shared.lock(), |it| !is_prepared(it));
        let refused = state.unwrap_or_else(PoisonError::into_inner).refused.take();
        match refused {
            Some(refused) => Err(refused),
            None => Ok(runner),
        }
    }

    /// The thread's number, by which the kernel tells of it.
    pub fn thread_id(&self) -> i32 {
        self.thread_id
    }

    /// Lets the guest run (on). Returns how long it stood still since it was paused, or made.
    ///
    /// # Errors
    /// [`RunnerError::Over`].
    pub fn resume(&self) -> Result<Duration, RunnerError> {
        let mut state = self.shared.lock();
        let since = match state.phase {
            Phase::Ended(_) => return Err(RunnerError::Over),
            Phase::Standing { since } => Some(since),
            _ => None,
        };
        state.order = Order::Run;
        drop(state);
        self.shared.changed.notify_all();
        Ok(since.map_or(Duration::ZERO, |since| since.elapsed()))
    }

    /// Has the guest stand still; when this returns, it does. Its devices and its timers go on, and
    /// so does its counter.
    ///
    /// # Errors
    /// [`RunnerError`].
    pub fn pause(&self, limit: Duration) -> Result<(), RunnerError> {
        self.order(Order::Stand);
        let is_so = |state: &State| matches!(state.phase, Phase::Standing { .. } | Phase::Ended(_));
        match self.shared.wait(limit, is_so)?.phase {
            Phase::Ended(_) => Err(RunnerError::Over),
            _ => Ok(()),
        }
    }

    /// Returns the time that it stood still so far, all pauses together that are over.
    pub fn stood(&self) -> Duration {
        self.shared.lock().stood
    }

    /// Has the thread do something with the processor of a guest that stands still: reset it, look
    /// at it.
    ///
    /// # Errors
    /// [`RunnerError`].
    pub fn with_processor<T: Send + 'static>(
        &self,
        limit: Duration,
        errand: impl FnOnce(&mut Processor) -> T + Send + 'static,
    ) -> Result<T, RunnerError> {
        let (answer, answered) = std::sync::mpsc::sync_channel(1);
        let mut state = self.shared.lock();
        match state.phase {
            Phase::Standing { .. } if state.order == Order::Stand => {}
            Phase::Ended(_) => return Err(RunnerError::Over),
            _ => return Err(RunnerError::Runs),
        }
        state.errand = Some(Box::new(move |processor| {
            // Whoever asked may have given up.
            let _ = answer.send(errand(processor));
        }));
        drop(state);
        self.shared.changed.notify_all();
        answered.recv_timeout(limit).map_err(|_| RunnerError::Late(limit))
    }

    /// Waits for the guest's end; `None` where it has not ended by then.
    pub fn wait(&self, limit: Duration) -> Option<()> {
        self.shared.wait(limit, |state| matches!(state.phase, Phase::Ended(_))).ok().map(drop)
    }

    /// Returns `true` if the guest has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.shared.lock().phase, Phase::Ended(_))
    }

    /// Ends the thread, if the guest has not ended before, and says why it does not run any more.
    pub fn stop(mut self) -> Outcome {
        self.join();
        let mut state = self.shared.lock();
        let phase = std::mem::replace(&mut state.phase, Phase::Ended(Ended::Told));
        let ended = if let Phase::Ended(ended) = phase { ended } else { Ended::Panicked };
        Outcome { ended, crash: state.crash.take(), stood: state.stood }
    }

    fn order(&self, order: Order) {
        let mut state = self.shared.lock();
        state.order = order;
        if let Some(kick) = &state.kick {
            kick.kick();
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    fn join(&mut self) {
        // One order is enough. That a thread can't be ended must not depend on it.
        self.order(Order::End);
        let is_over = |state: &State| matches!(state.phase, Phase::Ended(_));
        while self.thread.is_some() && self.shared.wait(AGAIN, is_over).is_err() {
            self.order(Order::End);
        }
        // A panic of a device was caught, and is told as the end.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl AsFd for Runner {
    /// A file that is readable once the guest has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.ended.as_fd()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.join();
    }
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let phase = &self.shared.lock().phase;
        f.debug_struct("Runner").field("thread_id", &self.thread_id).field("phase", phase).finish()
    }
}

/// The thread, from its begin to its end.
fn work<B: Bus>(
    shared: &Shared,
    mut processor: Processor,
    bus: &B,
    exits: &Exits,
    prepare: impl FnOnce() -> io::Result<()>,
) {
    let mut state;
    match begin_safely(prepare) {
        Ok(()) => {
            state = shared.lock();
            state.kick = Some(Kick::of(&mut processor));
            shared.enter(state, Phase::Standing { since: Instant::now() });
        }
        Err(refused) => {
            state = shared.lock();
            state.refused = Some(refused);
            shared.enter(state, Phase::Ended(Ended::Told));
            return;
        }
    }
    let ended = catch_unwind(AssertUnwindSafe(|| obey(shared, &mut processor, bus, exits)));
    let ended = ended.unwrap_or(Ended::Panicked);
    state = shared.lock();
    // Nobody kicks what is gone.
    state.kick = None;
    state.crash = crash_of(&ended, &processor);
    shared.enter(state, Phase::Ended(ended));
    // Its counter can't overflow from one.
    let _ = rustix::io::write(&shared.ended, &1_u64.to_ne_bytes());
}

/// As [`begin`]; a panic is a refusal, for whoever started the thread waits for its answer.
fn begin_safely(prepare: impl FnOnce() -> io::Result<()>) -> Result<(), RunnerError> {
    catch_unwind(AssertUnwindSafe(|| begin(prepare)))
        .unwrap_or_else(|_| Err(RunnerError::Prepare(io::Error::other("it panicked"))))
}

/// Returns the state of the processor, if the guest did not end as it should.
fn crash_of(ended: &Ended, processor: &Processor) -> Option<CrashRecord> {
    match ended {
        Ended::Guest(Stopped::WroteReadOnly { address, .. }) => Some(CrashRecord {
            error_code: CrashRecord::PRESENT | CrashRecord::WRITE,
            ..processor.crash_record(PAGE_FAULT, *address)
        }),
        Ended::Guest(Stopped::Shutdown) => Some(processor.crash_record(DOUBLE_FAULT, 0)),
        Ended::Stuck(_) => Some(processor.crash_record(INVALID_INSTRUCTION, 0)),
        Ended::Guest(Stopped::Ended(_) | Stopped::Interrupted) | Ended::Told | Ended::Panicked => {
            None
        }
    }
}

fn begin(prepare: impl FnOnce() -> io::Result<()>) -> Result<(), RunnerError> {
    kick::unblock().map_err(RunnerError::Thread)?;
    // SAFETY: asks for the policy of the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) };
    let policy = policy & !libc::SCHED_RESET_ON_FORK;
    if policy != libc::SCHED_OTHER {
        return Err(RunnerError::Inherited(policy));
    }
    prepare().map_err(RunnerError::Prepare)
}

fn obey<B: Bus>(shared: &Shared, processor: &mut Processor, bus: &B, exits: &Exits) -> Ended {
    loop {
        if !stand(shared, processor, exits) {
            return Ended::Told;
        }
        match processor.run(bus, exits) {
            // Told, or a signal that is none of ours.
            Ok(Stopped::Interrupted) => {}
            Ok(stopped) => return Ended::Guest(stopped),
            Err(error) => return Ended::Stuck(error),
        }
    }
}

/// Stands still as long as it is told to. Returns whether to run.
fn stand(shared: &Shared, processor: &mut Processor, exits: &Exits) -> bool {
    // The lock first: whoever kicks holds it too, so that nobody else writes the word now.
    let mut state = shared.lock();
    // A kick before this left its order in the state, which is looked at below; one that comes
    // after is seen by KVM.
    processor.leave_at_once(false);
    if state.order == Order::Run && matches!(state.phase, Phase::Running) {
        return true;
    }
    let (since, begin) = (Instant::now(), processor.counter().read());
    let has_run = matches!(state.phase, Phase::Running);
    shared.enter(state, Phase::Standing { since });
    state = shared.lock();
    loop {
        if let Some(errand) = state.errand.take() {
            drop(state);
            errand(processor);
            state = shared.lock();
        } else if state.order == Order::Stand {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        } else {
            break;
        }
    }
    let (order, stood) = (state.order, since.elapsed());
    if has_run && order == Order::Run {
        state.stood += stood;
        let counts = processor.counter().read().wrapping_sub(begin);
        exits.count(Reason::Pause, 0, begin, processor.counter().nanoseconds(counts));
    }
    if order == Order::Run {
        shared.enter(state, Phase::Running);
    }
    order == Order::Run
}
