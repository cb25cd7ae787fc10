//! Is this machine's time real? Found out by calibration, never by a name.
//!
//! An emulator can hide its name and can make the clock say anything, but it can't make all
//! instructions equally dear. Short sequences are timed, each as the smallest cost of several
//! repeats, so that neighbours, interrupts and steal time fall out:
//!
//! | sequence | one cycle holds, natively | a translating emulator (QEMU's TCG) |
//! |----------|---------------------------|--------------------------------------|
//! | integer  | 2 to 6 additions          | about the same: plain translation    |
//! | scalar   | 1 or 2 multiplications    | a call into software floating point  |
//! | x87      | 1 multiplication          | 80-bit software floating point       |
//! | packed   | 1 to 4 `pmaddwd`          | a helper that loops over the lanes   |
//! | convert  | 1 or 2 `cvttsd2si`        | software floating point              |
//! | division | a thirteenth of a division | software floating point             |
//!
//! Three kinds of emulation follow from the costs:
//! - *Interpreted*: fewer than [`INTERPRETED_BELOW`] simple instructions a second.
//! - *Translated*: at least [`SUSPICIONS_NEEDED`] sequences cost, in additions, more than the
//!   limit in [`Sequence::limit`]. Seen natively (Zen 4): scalar 2.1, x87 4.2, packed 2.1, convert
//!   4.2. Seen under QEMU 7.2 on the same machine: as user emulation 50, 113, 47, 116; as a whole
//!   machine the same or, depending on where its code came to lie, 21, 48, 20, 50.
//! - *Counted*: a division costs about as much as an addition. Then the clock is computed from the
//!   number of instructions (QEMU's `-icount`), not from time.
//!
//! The calibration takes some 10 ms natively and at most about [`BUDGET`].

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use quietcore_record::record::TimeReality;
use serde::{Deserialize, Serialize};

#[cfg(target_arch = "x86_64")]
mod sequences;

/// Simple instructions a second below which the processor is an interpreter: real ones execute
/// more than 1e9, interpreters about 1e6 to 2e7.
pub const INTERPRETED_BELOW: f64 = 5e7;

/// Sequences beyond their limit that make a translator. One alone is not enough: a microcode fix
/// or a translator of another processor's floating point can make a single kind slow.
pub const SUSPICIONS_NEEDED: usize = 2;

/// A division that costs fewer additions than this is counted, not timed. Natively it is 20 to 80,
/// under `-icount` it was 2.2.
pub const COUNTED_BELOW: f64 = 5.0;

/// The time after which no further repeat begins.
pub const BUDGET: Duration = Duration::from_millis(60);

/// A repeat takes at least this.
const REPEAT_LENGTH: Duration = Duration::from_micros(20);
/// A repeat takes at least this many readings of the clock, which are part of it. Reading is dear
/// where the kernel has no counter to trust.
const REPEAT_READINGS: u32 = 100;
/// But never longer, so that several fit into the budget.
const REPEAT_LENGTH_MOST: Duration = Duration::from_millis(1);
const REPEATS: usize = 40;
const REPEATS_LEAST: usize = 3;
const ITERATIONS_FIRST: u64 = 16;
const ITERATIONS_MOST: u64 = 1 << 20;

/// A kind of instructions whose cost is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sequence {
    /// Independent 64-bit additions; the unit of the other costs.
    Integer,
    /// Independent double-precision multiplications (SSE2).
    Scalar,
    /// Independent 80-bit multiplications.
    X87,
    /// Independent packed multiply-adds (SSE2).
    Packed,
    /// Independent conversions of a double to an integer (SSE2).
    Convert,
    /// A chain of double-precision divisions (SSE2).
    Division,
}

impl Sequence {
    /// All of them, the unit first.
    pub const ALL: [Self; 6] =
        [Self::Integer, Self::Scalar, Self::X87, Self::Packed, Self::Convert, Self::Division];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Scalar => "scalar",
            Self::X87 => "x87",
            Self::Packed => "packed",
            Self::Convert => "convert",
            Self::Division => "division",
        }
    }

    /// The cost in additions above which the sequence speaks of a translator, or `None` where the
    /// cost does not tell the two apart.
    pub const fn limit(self) -> Option<f64> {
        match self {
            Self::Integer | Self::Division => None,
            Self::Scalar => Some(8.0),
            Self::X87 => Some(16.0),
            Self::Packed => Some(8.0),
            Self::Convert => Some(16.0),
        }
    }
}

/// The result of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeCalibration {
    /// Independent additions a second; 0 where nothing could be measured.
    pub instructions_per_second: f64,
    /// Cost of one instruction of each sequence, in additions of [`Sequence::Integer`].
    pub costs: BTreeMap<String, f64>,
    /// The conclusion from the costs; `Unknown` where the processor has no sequences yet.
    pub time: TimeReality,
}

impl TimeCalibration {
    /// Measures on the calling thread, wherever it runs. Takes at most about 100 ms, also on an
    /// interpreter.
    pub fn measure() -> Self {
        let length = repeat_length();
        let started = Instant::now();
        let mut nanoseconds = Vec::with_capacity(Sequence::ALL.len());
        for (index, sequence) in Sequence::ALL.into_iter().enumerate() {
            // Each sequence may use its share of what is left, so that a dear one starves none.
            let left = BUDGET.saturating_sub(started.elapsed());
            let share = left / (Sequence::ALL.len() - index) as u32;
            match cheapest(sequence, length, share) {
                Some(cost) => nanoseconds.push((sequence, cost)),
                None => return Self::unknown(),
            }
        }
        Self::judge(&nanoseconds)
    }

    /// Judges costs in nanoseconds an instruction. Pure; [`Sequence::Integer`] must be the first.
    pub fn judge(nanoseconds: &[(Sequence, f64)]) -> Self {
        let Some(&(Sequence::Integer, addition)) = nanoseconds.first() else {
            return Self::unknown();
        };
        let addition = addition.max(f64::MIN_POSITIVE);
        let costs: Vec<(Sequence, f64)> =
            nanoseconds.iter().map(|(sequence, cost)| (*sequence, cost / addition)).collect();
        Self {
            instructions_per_second: 1e9 / addition,
            time: time_of(1e9 / addition, &costs),
            costs: costs.iter().map(|(of, cost)| (of.name().to_owned(), *cost)).collect(),
        }
    }

    fn unknown() -> Self {
        Self::without(format!(
            "there are no calibration sequences for `{}`",
            std::env::consts::ARCH
        ))
    }

    /// A calibration that measured nothing, for this reason.
    pub fn without(because: String) -> Self {
        let time = TimeReality::Unknown(because);
        Self { instructions_per_second: 0.0, costs: BTreeMap::new(), time }
    }

    /// Returns `true` if durations measured here are evidence.
    pub fn is_native(&self) -> bool {
        self.time == TimeReality::Native
    }
}

/// Judges costs in additions.
fn time_of(instructions_per_second: f64, costs: &[(Sequence, f64)]) -> TimeReality {
    if instructions_per_second < INTERPRETED_BELOW {
        return TimeReality::Emulated(format!(
            "{:.1} million simple instructions a second are an interpreter's",
            instructions_per_second / 1e6
        ));
    }
    let division = costs.iter().find(|(sequence, _)| *sequence == Sequence::Division);
    if let Some((_, cost)) = division
        && *cost < COUNTED_BELOW
    {
        return TimeReality::Emulated(format!(
            "a division costs {cost:.1} additions, so time is counted in instructions"
        ));
    }
    let suspicious: Vec<String> = costs
        .iter()
        .filter_map(|(sequence, cost)| {
            let limit = sequence.limit()?;
            (*cost > limit).then(|| format!("{} {cost:.0} (limit {limit})", sequence.name()))
        })
        .collect();
    if suspicious.len() >= SUSPICIONS_NEEDED {
        return TimeReality::Emulated(format!(
            "instructions are translated by a program; their costs in additions: {}",
            suspicious.join(", ")
        ));
    }
    TimeReality::Native
}

/// Returns the length of a repeat at which the readings around it don't count.
fn repeat_length() -> Duration {
    let reading = (0..8).map(|_| Instant::now().elapsed()).min();
    let needed = reading.unwrap_or_default() * REPEAT_READINGS;
    needed.clamp(REPEAT_LENGTH, REPEAT_LENGTH_MOST)
}

/// The smallest cost of one instruction in nanoseconds, or `None` without such a sequence here.
fn cheapest(sequence: Sequence, length: Duration, share: Duration) -> Option<f64> {
    let started = Instant::now();
    let mut iterations = ITERATIONS_FIRST;
    let mut smallest = f64::INFINITY;
    let mut repeats = 0;
    while repeats < REPEATS && (repeats < REPEATS_LEAST || started.elapsed() < share) {
        let before = Instant::now();
        let instructions = execute(sequence, iterations)?;
        let elapsed = before.elapsed();
        if elapsed < length && iterations < ITERATIONS_MOST {
            iterations *= 4;
            continue;
        }
        smallest = smallest.min(elapsed.as_secs_f64() * 1e9 / instructions as f64);
        repeats += 1;
    }
    Some(smallest)
}

#[cfg(not(target_arch = "x86_64"))]
fn execute(_sequence: Sequence, _iterations: u64) -> Option<u64> {
    None
}

/// Runs a sequence `iterations` times and says how many instructions that were.
#[cfg(target_arch = "x86_64")]
fn execute(sequence: Sequence, iterations: u64) -> Option<u64> {
    use sequences::{convert, divide, integer_add, packed_multiply, scalar_multiply};
    let per_iteration = match sequence {
        Sequence::Integer => integer_add(iterations),
        Sequence::Scalar => scalar_multiply(iterations),
        Sequence::X87 => sequences::x87_multiply(iterations),
        Sequence::Packed => packed_multiply(iterations),
        Sequence::Convert => convert(iterations),
        Sequence::Division => divide(iterations),
    };
    Some(iterations * per_iteration)
}

#[cfg(test)]
mod tests;
