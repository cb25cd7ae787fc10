//! Records variables of a running program: starts the trace, reads its ring from outside, waits
//! for the trigger, and hands on what is to be kept.
//!
//! ```text
//! program ─ each k-th cycle ─► trace ring ─► samples ─► Detector ─► Window ─► Output
//!                                  └─ overwritten before it was read: counted as lost
//! ```
//!
//! The ring is a broadcast: reading costs the program nothing, and a reader that is too slow loses
//! samples, which is told with the next one. A recording belongs to one build; a deploy ends it,
//! and what was kept until then stays.

mod output;
mod parquet;
mod silence;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_exchange::{TRACE_VARIABLES_MAX, TracePlace, TraceReader, TraceStep};
use quietcore_program::Value;
use quietcore_program::place::{Place, Scalar};
use quietcore_record::trace::{Moment, Number};
use quietcore_units::Nanos;

use crate::client::{Client, ClientError};
use crate::control::{Trace, TraceStarted};
use crate::monitor::{Monitor, MonitorError};
use crate::trigger::{Detector, Stage, Trigger, Window};

pub use output::{FileFormat, Output, TableFile};
use silence::Silence;

/// Time between two looks at the ring, which holds far more than comes meanwhile.
const POLL: Duration = Duration::from_millis(2);
/// Time between two signs of life.
const TELL: Duration = Duration::from_millis(100);
/// Why a recording ends whose build was replaced.
const REPLACED: &str = "the program was replaced or started anew";

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// This many samples.
    Samples(u64),
    /// As many as there are in this time.
    Duration(Nanos),
}

/// What is to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Paths or patterns of the variables.
    pub variables: Vec<String>,
    /// Every which cycle, from 1.
    pub every: u32,
    /// Number of the task whose cycles are meant.
    pub task: u32,
    /// When it begins; at once without.
    pub trigger: Option<Trigger>,
    /// How many of 100 samples are from before the trigger.
    pub pre_percent: u8,
    /// How much is kept.
    pub length: Length,
}

/// A column of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Path of the variable.
    pub path: String,
    /// Its type.
    pub scalar: Scalar,
}

/// How far a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it does with samples.
    pub stage: Stage,
    /// Samples kept.
    pub kept: u64,
    /// Samples that will be kept in all.
    pub total: u64,
    /// Samples held from before the trigger.
    pub held: u64,
    /// Samples lost.
    pub lost: u64,
}

/// What became of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Samples kept.
    pub kept: u64,
    /// Samples that were wanted.
    pub total: u64,
    /// Samples lost since the trace began, those before the window included.
    pub lost: u64,
    /// Samples kept from before the trigger.
    pub pre: u64,
    /// The cycle of the trigger, or of the first sample without one; `None` when it never came.
    pub began_at: Option<u64>,
    /// Time between two samples; zero where the task has no period.
    pub sample_period: Nanos,
    /// Why it ended before its time.
    pub ended_early: Option<String>,
}

/// A recording could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The variables can't be had.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// The supervisor refused.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// More variables than the trace takes.
    #[error(
        "{count} variables are too many; {TRACE_VARIABLES_MAX} can be recorded at once, the \
        trigger's included"
    )]
    TooMany {
        /// How many.
        count: usize,
    },
    /// There is no such task.
    #[error("there is no task {task}; this partition has {known}")]
    NoTask {
        /// The task asked for.
        task: u32,
        /// Those there are.
        known: String,
    },
    /// A length in time of a task that has no period.
    #[error("task `{task}` has no period, so a duration says nothing; give the number of samples")]
    NoPeriod {
        /// The task.
        task: String,
    },
    /// Nothing at all would be kept.
    #[error("no sample would be kept; one comes every {period}")]
    Nothing {
        /// Time between two samples.
        period: Nanos,
    },
    /// The value that the trigger compares with is none of its variable.
    #[error("the trigger compares `{variable}` with `{value}`, which is no {kind}")]
    Limit {
        /// The variable.
        variable: String,
        /// The value.
        value: String,
        /// The variable's type.
        kind: String,
    },
    /// The program was replaced before it began.
    #[error("the program was replaced meanwhile; try again")]
    Replaced,
    /// No sample comes.
    #[error("no sample came for {} s; does the partition run? see `quietcore ps`", .0.as_secs())]
    Silent(Duration),
    /// What was recorded can't be written.
    #[error("the recording can't be written")]
    Output(#[from] io::Error),
}

/// What a recording is made of, once the names are resolved.
struct Plan {
    columns: Vec<Column>,
    places: Vec<Place>,
    /// Column of the trigger's variable, and what is looked for in it.
    detector: Option<(usize, Detector)>,
    total: u64,
    pre: usize,
    sample_period: Nanos,
}

/// Records. Ends when all is kept, `stop` is set, or the program is replaced; the trace is stopped
/// in each case.
///
/// # Errors
/// [`RecordingError`]; what was written into `output` until then is of no use.
pub fn record(
    client: &mut Client,
    partition: &str,
    wanted: &Wanted,
    output: &mut dyn Output,
    tell: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
) -> Result<Summary, RecordingError> {
    let monitor = Monitor::open(client, partition)?;
    let plan = Plan::make(&monitor, wanted)?;
    output.begin(&plan.columns)?;
    let reader = monitor.trace(wanted.task).ok_or_else(|| no_task(&monitor, wanted.task))?;
    let variables = plan.columns.iter().map(|column| column.path.clone()).collect();
    let trace = Trace { variables, every: wanted.every, task: wanted.task };
    let started = client.trace_start(partition, &trace)?;
    let mut run = Run::new(plan, reader, started, wanted.every);
    let ran = if started.generation == monitor.opened().generation {
        run.keep(&monitor, output, tell, stop)
    } else {
        Err(RecordingError::Replaced)
    };
    // However it ended; the connection would end it, too.
    let stopped = client.trace_stop(partition);
    let ended_early = ran?;
    stopped?;
    Ok(run.summary(ended_early))
}

fn no_task(monitor: &Monitor, task: u32) -> RecordingError {
    let tasks = monitor.opened().tasks.iter().enumerate();
    let known: Vec<String> = tasks.map(|(index, it)| format!("{index} `{}`", it.name)).collect();
    RecordingError::NoTask { task, known: known.join(", ") }
}

impl Plan {
    fn make(monitor: &Monitor, wanted: &Wanted) -> Result<Self, RecordingError> {
        let task = monitor.opened().tasks.get(wanted.task as usize);
        let task = task.ok_or_else(|| no_task(monitor, wanted.task))?;
        let selection = monitor.select(&wanted.variables)?;
        let mut variables: Vec<(String, Place)> = selection
            .variables()
            .iter()
            .map(|variable| (variable.path.to_string(), variable.place.clone()))
            .collect();
        let detector = match &wanted.trigger {
            None => None,
            Some(trigger) => {
                let place = monitor.symbols().resolve(&trigger.variable);
                let place = place.map_err(MonitorError::from)?;
                let detector = Detector::new(trigger, limit_of(trigger, &place.scalar)?);
                let found = variables.iter().position(|(path, _)| *path == trigger.variable);
                let column = found.unwrap_or_else(|| {
                    variables.push((trigger.variable.clone(), place));
                    variables.len() - 1
                });
                Some((column, detector))
            }
        };
        if variables.len() > TRACE_VARIABLES_MAX {
            return Err(RecordingError::TooMany { count: variables.len() });
        }
        let sample_period = Nanos::new(task.period.get().saturating_mul(u64::from(wanted.every)));
        let total = match wanted.length {
            Length::Samples(samples) => samples,
            Length::Duration(_) if sample_period == Nanos::ZERO => {
                return Err(RecordingError::NoPeriod { task: task.name.clone() });
            }
            Length::Duration(duration) => duration.whole_times(sample_period),
        };
        if total == 0 {
            return Err(RecordingError::Nothing { period: sample_period });
        }
        let pre = u128::from(total) * u128::from(wanted.pre_percent.min(100)) / 100;
        let pre = if detector.is_some() { usize::try_from(pre).unwrap_or(usize::MAX) } else { 0 };
        let (columns, places) = variables
            .into_iter()
            .map(|(path, place)| (Column { path, scalar: place.scalar.clone() }, place))
            .unzip();
        Ok(Self { columns, places, detector, total, pre, sample_period })
    }
}

/// The trigger's limit as a number: a fraction is compared with whole numbers, too.
fn limit_of(trigger: &Trigger, scalar: &Scalar) -> Result<f64, RecordingError> {
    let Some((_, text)) = &trigger.limit else { return Ok(0.0) };
    let named = || Value::parse(text, scalar).ok()?.as_f64();
    let number = text.parse::<f64>().ok();
    let limit = match scalar {
        Scalar::Bool | Scalar::Enum(_) => named().or(number),
        _ => number.or_else(named),
    };
    limit.ok_or_else(|| RecordingError::Limit {
        variable: trigger.variable.clone(),
        value: text.clone(),
        kind: scalar.to_string(),
    })
}

/// A sample as it waits in the window.
struct Sample {
    cycle: u64,
    time: Nanos,
    lost_before: u64,
    values: Vec<u64>,
}

struct Run<'map> {
    plan: Plan,
    reader: TraceReader<'map>,
    /// What the samples must be of to be ours.
    expected: (Vec<TracePlace>, u64, u32),
    window: Window<Sample>,
    is_ours: bool,
    kept: u64,
    lost: u64,
    pre: u64,
    /// Cycle and time of the trigger.
    began: Option<(u64, Nanos)>,
}

impl<'map> Run<'map> {
    fn new(plan: Plan, reader: TraceReader<'map>, started: TraceStarted, every: u32) -> Self {
        let place = |place: &Place| TracePlace {
            offset: place.offset,
            bytes: u8::try_from(place.bytes()).expect("a scalar has at most 8 bytes"),
        };
        let places = plan.places.iter().map(place).collect();
        Self {
            window: Window::new(plan.pre, plan.total),
            expected: (places, u64::from(every), started.generation),
            plan,
            reader,
            is_ours: false,
            kept: 0,
            lost: 0,
            pre: 0,
            began: None,
        }
    }

    /// Takes samples until all is kept; returns why it ended before.
    fn keep(
        &mut self,
        monitor: &Monitor,
        output: &mut dyn Output,
        tell: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Option<String>, RecordingError> {
        let mut told = Instant::now();
        let mut silence = Silence::new(self.plan.sample_period, told);
        while self.window.stage() != Stage::Full {
            if stop.load(Ordering::Relaxed) {
                return Ok(Some("interrupted".to_owned()));
            }
            if told.elapsed() >= TELL {
                told = Instant::now();
                tell(self.progress());
            }
            let mut words = [0; TRACE_VARIABLES_MAX];
            match self.reader.step(&mut words) {
                TraceStep::Sample { cycle, time } if self.is_ours => {
                    silence.end(Instant::now());
                    self.take(cycle, time, &words, output)?;
                }
                TraceStep::Sample { .. } => {}
                TraceStep::Configured => {
                    let is_ours = self.is_configured_so();
                    if std::mem::replace(&mut self.is_ours, is_ours) && !is_ours {
                        return Ok(Some(REPLACED.to_owned()));
                    }
                }
                TraceStep::Nothing if silence.may_rest() && monitor.is_replaced() => {
                    // A task that rests does not say so itself.
                    return Ok(Some(REPLACED.to_owned()));
                }
                TraceStep::Nothing => match silence.lasts(Instant::now(), monitor.steps()) {
                    Some(time) if self.kept > 0 => {
                        return Ok(Some(format!("no sample came for {} s", time.as_secs())));
                    }
                    Some(time) => return Err(RecordingError::Silent(time)),
                    None => thread::sleep(POLL),
                },
            }
        }
        tell(self.progress());
        Ok(None)
    }

    fn is_configured_so(&self) -> bool {
        let found = self.reader.configuration();
        let (places, every, generation) = &self.expected;
        found.places() == places && (found.every(), found.generation()) == (*every, *generation)
    }

    fn take(
        &mut self,
        cycle: u64,
        time: Nanos,
        words: &[u64; TRACE_VARIABLES_MAX],
        output: &mut dyn Output,
    ) -> Result<(), RecordingError> {
        let lost_before = self.reader.lost().saturating_sub(self.lost);
        self.lost = self.reader.lost();
        let values = words[..self.plan.columns.len()].to_vec();
        let triggered = match &mut self.plan.detector {
            None => true,
            Some((column, detector)) => {
                let value = number(&self.plan.places[*column], values[*column]);
                detector.sees(value.as_f64())
            }
        };
        let waiting = self.window.stage() == Stage::Waiting;
        if waiting && triggered {
            self.began = Some((cycle, time));
            self.pre = self.window.held() as u64;
        }
        let sample = Sample { cycle, time, lost_before, values };
        for sample in self.window.take(sample, triggered) {
            self.kept += 1;
            let (_, zero) = self.began.expect("nothing is kept before the trigger");
            let moment = Moment {
                cycle: sample.cycle,
                monotonic_ns: sample.time.get(),
                seconds: seconds_from(zero, sample.time),
                lost_before: sample.lost_before,
            };
            let numbers = self.plan.places.iter().zip(&sample.values);
            let numbers: Vec<Number> = numbers.map(|(place, word)| number(place, *word)).collect();
            output.row(&moment, &numbers)?;
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        Progress {
            stage: self.window.stage(),
            kept: self.kept,
            total: self.plan.total,
            held: self.window.held() as u64,
            lost: self.lost,
        }
    }

    fn summary(&self, ended_early: Option<String>) -> Summary {
        Summary {
            kept: self.kept,
            total: self.plan.total,
            lost: self.lost,
            pre: self.pre,
            began_at: self.began.map(|(cycle, _)| cycle),
            sample_period: self.plan.sample_period,
            ended_early,
        }
    }
}

fn seconds_from(zero: Nanos, time: Nanos) -> f64 {
    match time.checked_sub(zero) {
        Some(after) => after.as_secs_f64(),
        None => -zero.saturating_sub(time).as_secs_f64(),
    }
}

/// The number in the word that the ring holds for a place.
fn number(place: &Place, word: u64) -> Number {
    let value = place.decode(&word.to_le_bytes()).expect("a word has the bytes of any scalar");
    match value {
        Value::Bool(value) => Number::Bool(value),
        Value::Signed(value) | Value::Named { value, .. } => Number::Signed(value),
        Value::Unsigned(value) | Value::Address(value) => Number::Unsigned(value),
        Value::Single(value) => Number::Single(value),
        Value::Double(value) => Number::Double(value),
    }
}

#[cfg(test)]
mod tests;
