//! Records variables of a running program: starts the trace, reads its ring from outside, waits for
//! the trigger, and passes on the samples that are to be kept.
//!
//! ```text
//! program ─ each k-th cycle ─► trace ring ─► samples ─► Detector ─► Window ─► Output
//!                                  └─ overwritten before it was read: counted as lost
//! ```
//!
//! The ring is a broadcast: reading it costs the program nothing, and a reader that is too slow
//! loses samples, whose number comes with the next one. A recording belongs to one build; a deploy
//! ends it, and what was kept until then stays.

mod output;
mod parquet;
mod silence;
mod steps;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_exchange::{TRACE_VARIABLES_MAX, TracePlace, TraceReader, TraceStep};
use quietcore_program::Value;
use quietcore_program::place::{Scalar, VariableLocation};
use quietcore_record::trace::{Moment, Number};
use quietcore_units::{DataType, Nanos};

use crate::client::{Client, ClientError};
use crate::control::TraceStarted;
use crate::monitor::{Monitor, MonitorError};
use crate::trigger::{Detector, Stage, Trigger, Window};

pub use output::{FileFormat, Output, TableFile};
pub use steps::{Prepared, Started};

use silence::Silence;

/// Time between two looks at the ring, which has room for far more than comes meanwhile.
const POLL: Duration = Duration::from_millis(2);
/// Time between two reports of progress.
const TELL: Duration = Duration::from_millis(100);
/// Reason for the early end of a recording whose build was replaced.
const REPLACED: &str = "the program was replaced or started anew";

/// The length of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Number of samples, from 1.
    Samples(u64),
    /// Time that the samples span.
    Duration(Nanos),
    /// Number of samples from before the trigger, and from the trigger's own on; the percentage
    /// says nothing then.
    Around {
        /// The most samples from before the trigger; none without one.
        before: u64,
        /// Samples from that of the trigger on, from 1.
        after: u64,
    },
}

/// The settings of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingRequest {
    /// Paths or patterns of the variables.
    pub variables: Vec<String>,
    /// Number of cycles from one sample to the next, from 1.
    pub every: u32,
    /// Number of the task whose cycles are meant.
    pub task: u32,
    /// Condition for its begin; `None` begins at once.
    pub trigger: Option<Trigger>,
    /// Part of the samples that are from before the trigger, in percent.
    pub pre_percent: u8,
    /// Number of samples that are kept, or the time that they span.
    pub length: Length,
}

/// A column of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Path of the variable.
    pub path: String,
    /// Type of the variable.
    pub scalar: Scalar,
}

/// The progress of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Stage that it is in: waiting for its trigger, or keeping samples.
    pub stage: Stage,
    /// Samples that were kept so far.
    pub kept: u64,
    /// Samples that will be kept in all.
    pub total: u64,
    /// Samples held from before the trigger.
    pub held: u64,
    /// Samples that were lost so far.
    pub lost: u64,
}

/// The outcome of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Samples that were kept.
    pub kept: u64,
    /// Samples that were wanted.
    pub total: u64,
    /// Samples lost since the trace began, those before the window included.
    pub lost: u64,
    /// Samples kept from before the trigger.
    pub pre: u64,
    /// Cycle of the trigger, or of the first sample without one; `None` if it never came.
    pub began_at: Option<u64>,
    /// Time between two samples; zero if the task has no period.
    pub sample_period: Nanos,
    /// Reason for its early end; `None` if it was completed.
    pub ended_early: Option<String>,
}

/// The error of a recording that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The variables can't be had.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// The supervisor refused the trace.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// There are more variables than a trace takes.
    #[error(
        "{count} variables are too many; {TRACE_VARIABLES_MAX} can be recorded at once, the \
        trigger's included"
    )]
    TooMany {
        /// Number of variables, the trigger's included.
        count: usize,
    },
    /// There is no such task.
    #[error("there is no task {task}; this partition has {known}")]
    NoTask {
        /// Number of the task that was asked for.
        task: u32,
        /// Numbers and names of the tasks that there are.
        known: String,
    },
    /// The length is a time, but the task has no period.
    #[error("task `{task}` has no period, so a duration says nothing; give the number of samples")]
    NoPeriod {
        /// Name of the task.
        task: String,
    },
    /// Not even one sample would be kept.
    #[error("no sample would be kept; one comes every {period}")]
    Nothing {
        /// Time between two samples.
        period: Nanos,
    },
    /// The value that the trigger compares with does not fit the type of its variable.
    #[error("the trigger compares `{variable}` with `{value}`, which is no {kind}")]
    Limit {
        /// Path of the variable.
        variable: String,
        /// Value that was given.
        value: String,
        /// Type of the variable.
        kind: String,
    },
    /// The program was replaced before the recording began.
    #[error("the program was replaced meanwhile; try again")]
    Replaced,
    /// No sample has come for this time.
    #[error("no sample came for {} s; does the partition run? see `quietcore ps`", .0.as_secs())]
    Silent(Duration),
    /// The recording can't be written.
    #[error("the recording can't be written")]
    Output(#[from] io::Error),
}

/// The settings of a recording, once the names are resolved.
struct Plan {
    columns: Vec<Column>,
    places: Vec<VariableLocation>,
    /// Column of the trigger's variable, and the condition on it.
    detector: Option<(usize, Detector)>,
    total: u64,
    pre: usize,
    sample_period: Nanos,
}

/// Makes a recording. It ends when all samples are kept, `stop` is set, or the program is replaced;
/// the trace is stopped in each case.
///
/// # Errors
/// [`RecordingError`]; what was written into `output` until then is of no use.
pub fn record(
    client: &mut Client,
    partition: &str,
    wanted: &RecordingRequest,
    output: &mut dyn Output,
    tell: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
) -> Result<Summary, RecordingError> {
    let prepared = Prepared::new(client, partition, wanted)?;
    output.begin(prepared.columns())?;
    prepared.start(client)?.keep(client, 1, output, tell, stop)
}

fn no_task(monitor: &Monitor, task: u32) -> RecordingError {
    let tasks = monitor.opened().tasks.iter().enumerate();
    let known: Vec<String> = tasks.map(|(index, it)| format!("{index} `{}`", it.name)).collect();
    RecordingError::NoTask { task, known: known.join(", ") }
}

impl Plan {
    fn make(monitor: &Monitor, wanted: &RecordingRequest) -> Result<Self, RecordingError> {
        let task = monitor.opened().tasks.get(wanted.task as usize);
        let task = task.ok_or_else(|| no_task(monitor, wanted.task))?;
        let selection = monitor.select(&wanted.variables)?;
        let mut variables: Vec<(String, VariableLocation)> = selection
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
            Length::Around { before, after } => before.saturating_add(after),
        };
        if total == 0 {
            return Err(RecordingError::Nothing { period: sample_period });
        }
        let pre = match wanted.length {
            Length::Around { before, .. } => u128::from(before),
            _ => u128::from(total) * u128::from(wanted.pre_percent.min(100)) / 100,
        };
        let pre = if detector.is_some() { usize::try_from(pre).unwrap_or(usize::MAX) } else { 0 };
        let (columns, places) = variables
            .into_iter()
            .map(|(path, place)| (Column { path, scalar: place.scalar.clone() }, place))
            .unzip();
        Ok(Self { columns, places, detector, total, pre, sample_period })
    }
}

/// Returns the trigger's limit as a number: whole numbers may be compared with a fraction, too.
fn limit_of(trigger: &Trigger, scalar: &Scalar) -> Result<f64, RecordingError> {
    let Some((_, text)) = &trigger.limit else { return Ok(0.0) };
    let named = || Value::parse(text, scalar).ok()?.as_f64();
    let number = text.parse::<f64>().ok();
    let limit = match scalar {
        Scalar::Number(DataType::Bool) | Scalar::Enum(_) => named().or(number),
        _ => number.or_else(named),
    };
    limit.ok_or_else(|| RecordingError::Limit {
        variable: trigger.variable.clone(),
        value: text.clone(),
        kind: scalar.to_string(),
    })
}

/// A sample that waits in the window.
struct Sample {
    cycle: u64,
    time: Nanos,
    lost_before: u64,
    values: Vec<u64>,
}

struct Run<'map> {
    plan: Plan,
    reader: TraceReader<'map>,
    /// Places, distance and generation by which our own samples are known.
    expected: (Vec<TracePlace>, u64, u32),
    window: Window<Sample>,
    /// Windows that are still to be filled, the one that is being filled included.
    windows_left: u32,
    is_ours: bool,
    kept: u64,
    lost: u64,
    pre: u64,
    /// Cycle and time of the trigger.
    began: Option<(u64, Nanos)>,
}

impl<'map> Run<'map> {
    fn new(
        plan: Plan,
        reader: TraceReader<'map>,
        started: TraceStarted,
        every: u32,
        windows: u32,
    ) -> Self {
        let place = |place: &VariableLocation| TracePlace {
            offset: place.offset,
            bytes: u8::try_from(place.bytes()).expect("a scalar has at most 8 bytes"),
        };
        let places = plan.places.iter().map(place).collect();
        Self {
            window: Window::new(plan.pre, plan.total),
            windows_left: windows,
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

    /// Takes samples until all are kept; otherwise returns the reason for the early end.
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
                    // A task that rests does not report the change itself.
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
            output.window(cycle, self.pre);
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
        if self.window.stage() == Stage::Full && self.windows_left > 1 {
            self.windows_left -= 1;
            self.window = Window::new(self.plan.pre, self.plan.total);
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

/// Decodes the word that the ring holds for a variable.
fn number(place: &VariableLocation, word: u64) -> Number {
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
