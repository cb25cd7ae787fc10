//! The partition, which carries out one command after the other.
//!
//! The thread is pinned before its memory is written, so that the memory lies near its CPU. The
//! memory is allocated before all memory of the process is locked, so that the kind of its pages
//! can be chosen.

use std::io::{self, BufRead};
use std::sync::atomic::AtomicU64;
use std::thread;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_process::field::{Field, FieldError};
use quietcore_process::setting;
use quietcore_process::thread::prepare;
use quietcore_record::reason::{NotInForce, ThreadSetting};
use quietcore_units::{CpuId, Nanos, ThreadRequest};
use rustix::thread::gettid;

use super::chase::{Chase, UNROLLED, sweep, walk};
use super::plan::STRIDES;
use super::{AccessPattern, Answer, Command, MemoryJob};
use crate::routines::series::{BURST, REST};

/// Stack of the thread in bytes: small, because all of it is locked.
const STACK_BYTES: usize = 256 << 10;
/// Accesses between two readings of the clock. Each reading costs some 20 ns, which is less than
/// 0.01 ns per access.
const SLICE: u64 = 4096;
/// The shortest time to run before a block: a pass through a small set takes almost no time.
const WARM_UP_MIN: Nanos = Nanos::from_micros(50);
/// The most bytes of a command.
const COMMAND_BYTES_MAX: u64 = 1 << 10;

/// The reasons why the partition ends before its commands do.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is no thread for it.
    #[error("the thread can't be started")]
    Thread(#[source] io::Error),
    /// The distance between two accesses is none of [`STRIDES`].
    #[error("a stride of {bytes} bytes can't be measured")]
    Stride {
        /// The distance that was asked for.
        bytes: u64,
    },
    /// There is no memory to access.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// The pipe of the commands can't be read.
    #[error("commands can't be read")]
    Unread(#[source] io::Error),
    /// A line is no command.
    #[error("this is no command")]
    NoCommand(#[source] serde_json::Error),
    /// The pipe of the answers can't be written.
    #[error("nobody hears the answer")]
    Unheard(#[source] io::Error),
}

/// Carries out commands in a thread of its own until there are no more. Must be called in a process
/// of its own, because it locks the process's memory.
///
/// # Errors
/// When the memory or the thread can't be had, or a command can't be read or answered.
pub fn serve(
    job: &MemoryJob,
    commands: impl BufRead + Send,
    answer: impl FnMut(&Answer) -> io::Result<()> + Send,
) -> Result<(), ServeError> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("memory".to_owned()).stack_size(STACK_BYTES);
        let spawned = builder.spawn_scoped(scope, || serve_here(job, commands, answer));
        let thread = spawned.map_err(ServeError::Thread)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn serve_here(
    job: &MemoryJob,
    mut commands: impl BufRead,
    mut answer: impl FnMut(&Answer) -> io::Result<()>,
) -> Result<(), ServeError> {
    if !STRIDES.contains(&job.stride_bytes) {
        return Err(ServeError::Stride { bytes: job.stride_bytes });
    }
    let request = ThreadRequest::measuring(job.policy, job.cpu.and_then(CpuId::new));
    if let Some(cpu) = request.cpu() {
        // A refusal shows below, where it is asked for again with all other settings.
        let _ = setting::pin(cpu);
    }
    let field = Field::new(job.field_bytes, job.pages)?;
    let mut degraded = prepare(&request).standing().degraded;
    if let Some(error) = field.lock_refused() {
        degraded.push(NotInForce::refused(ThreadSetting::WorkingSetLock, error));
    }
    let thread = gettid().as_raw_nonzero().get().unsigned_abs();
    let ready = Answer::Ready { thread, degraded, field: field.read_back().ok() };
    answer(&ready).map_err(ServeError::Unheard)?;
    let mut victim = Victim::new(job, field.words());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = io::Read::take(&mut commands, COMMAND_BYTES_MAX).read_until(b'\n', &mut line);
        match read.map_err(ServeError::Unread)? {
            0 => return Ok(()),
            _ => {
                let command = serde_json::from_slice(&line).map_err(ServeError::NoCommand)?;
                answer(&victim.carry_out(command)).map_err(ServeError::Unheard)?;
            }
        }
    }
}

/// The working set, and the place that each pattern has reached in it.
struct Victim<'a> {
    words: &'a [AtomicU64],
    /// Words from one place to the next.
    stride: usize,
    block: Nanos,
    warm_up_max: Nanos,
    chase: Chase<'a>,
    /// Place that the random walk has reached, as an index of words.
    walked_to: usize,
    /// Place that the sweep has reached, as a chunk.
    swept_to: usize,
}

impl<'a> Victim<'a> {
    fn new(job: &MemoryJob, words: &'a [AtomicU64]) -> Self {
        let stride = (job.stride_bytes / size_of::<u64>() as u64) as usize;
        Self {
            words,
            stride,
            block: job.block,
            warm_up_max: job.warm_up_max,
            chase: Chase::new(words, stride, 0),
            walked_to: 0,
            swept_to: 0,
        }
    }

    fn carry_out(&mut self, command: Command) -> Answer {
        match command {
            Command::Cycle { seed } => {
                self.chase = Chase::new(self.words, self.stride, seed);
                (self.walked_to, self.swept_to) = (0, 0);
                Answer::Done
            }
            Command::WorkingSet { bytes } => self.resize(bytes),
            Command::Measure { .. } if self.chase.lines() < UNROLLED => {
                Answer::Refused { because: "there is no working set yet".to_owned() }
            }
            Command::Measure { pattern } => self.measure(pattern),
        }
    }

    fn resize(&mut self, bytes: u64) -> Answer {
        let line = (self.stride * size_of::<u64>()) as u64;
        let lines = usize::try_from(bytes / line).unwrap_or(usize::MAX);
        let most = self.words.len() / self.stride;
        if !bytes.is_multiple_of(line * UNROLLED as u64) || bytes == 0 || lines > most {
            let because = format!(
                "a working set of {bytes} bytes is no multiple of {} up to {}",
                line * UNROLLED as u64,
                most as u64 * line
            );
            return Answer::Refused { because };
        }
        if lines < self.chase.lines() {
            let because = "a working set shrinks with a new cycle only".to_owned();
            return Answer::Refused { because };
        }
        let mut breath = Breath::new();
        self.chase.grow(lines, || breath.take());
        self.swept_to = 0;
        Answer::Done
    }

    /// Goes through the set once, and then measures a block.
    fn measure(&mut self, pattern: AccessPattern) -> Answer {
        let mut breath = Breath::new();
        let begin = Monotonic.now();
        let (mut warm_up, pass) = (0, self.chase.lines() as u64);
        let from = self.walked_to;
        loop {
            // A whole pass ends where it began.
            let left = pass.saturating_sub(warm_up);
            let slice = if left == 0 { SLICE } else { left.min(SLICE) };
            self.access(pattern, slice);
            warm_up += slice;
            if warm_up == pass && pattern == AccessPattern::Random && self.walked_to != from {
                return Answer::Refused { because: "the random cycle is broken".to_owned() };
            }
            let taken = Monotonic.now().saturating_sub(begin);
            if taken >= self.warm_up_max || (warm_up >= pass && taken >= WARM_UP_MIN) {
                break;
            }
            breath.take();
        }
        let begin = Monotonic.now();
        let (mut accesses, mut end) = (0, begin);
        while end.saturating_sub(begin) < self.block {
            self.access(pattern, SLICE);
            accesses += SLICE;
            end = Monotonic.now();
        }
        let time_ns = end.saturating_sub(begin).get().max(1);
        Answer::Block { accesses, time_ns, warm_up_accesses: warm_up }
    }

    /// Makes `accesses` accesses, which must be a multiple of [`UNROLLED`].
    fn access(&mut self, pattern: AccessPattern, accesses: u64) {
        let words = self.chase.words();
        match pattern {
            AccessPattern::Random => self.walked_to = walk(words, self.walked_to, accesses),
            AccessPattern::Sequential => {
                let chunks = accesses / UNROLLED as u64;
                self.swept_to = sweep(words, self.stride, self.swept_to, chunks);
            }
        }
    }
}

/// A thread's rests: the operating system stops a real-time thread that never sleeps.
struct Breath {
    until: Nanos,
}

impl Breath {
    fn new() -> Self {
        Self { until: Monotonic.now() + BURST }
    }

    fn take(&mut self) {
        let now = Monotonic.now();
        if now >= self.until {
            Monotonic.sleep_until(now + REST);
            self.until = Monotonic.now() + BURST;
        }
    }
}

#[cfg(test)]
mod tests;
