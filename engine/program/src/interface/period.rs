//! The period that generated code states, at each of the places where generators leave it.
//!
//! | place | text |
//! |---|---|
//! | before the body of a step function | `void servo_step(void) /* Sample time: [0.1s, 0.0s] */` |
//! | an assignment of the base rate | `servo_M->Timing.stepSize0 = 0.1;` |
//! | in the body of a step function | `{ /* Sample time: [0.1s, 0.0s] */` |
//! | an example `main`, on its timer | `period 0.1 seconds (the model's base sample time)` |
//!
//! The last three say the base rate only: a body in which the generator put several rates has a
//! remark for each, and the shortest of them is how often the function is called. None of them is
//! more than a remark: the site file decides.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::build::lexing;

/// Step sizes in seconds that are taken for one: a remark of `0.0s` stands for continuous time.
const SECONDS: std::ops::RangeInclusive<f64> = 1e-9..=1e6;

/// A text of the program with its file.
#[derive(Debug, Clone)]
pub(crate) struct SourceText {
    /// Relative to the folder.
    pub(crate) file: String,
    pub(crate) text: String,
}

/// A place at which generated code states a period, the most trustworthy first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeriodPlace {
    /// The remark between a function's parameters and its body.
    FunctionRemark,
    /// The assignment of `Timing.stepSize0`.
    StepSize,
    /// A remark in the body of a function.
    BodyRemark,
    /// The remark in an example `main` on its timer.
    MainRemark,
    /// The tick of an OSEK program's counter, in its OIL file.
    CounterTick,
}

/// A period that the code states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodStatement {
    /// The file, relative to the folder.
    pub file: String,
    /// The place in it.
    pub place: PeriodPlace,
    /// The period, in ns.
    pub period_ns: u64,
}

/// The place in words: "a remark in `servo.c`".
impl fmt::Display for PeriodStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.place {
            PeriodPlace::FunctionRemark | PeriodPlace::BodyRemark | PeriodPlace::MainRemark => {
                "a remark"
            }
            PeriodPlace::StepSize => "`Timing.stepSize0`",
            PeriodPlace::CounterTick => "a counter",
        };
        write!(f, "{what} in `{}`", self.file)
    }
}

/// Texts in which the period of a rate is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeriodSearch<'a> {
    pub(super) sources: &'a [SourceText],
    pub(super) mains: &'a [SourceText],
    /// The model's name, without the namespaces around it.
    pub(super) model: &'a str,
    /// The function that comes first, without the namespaces around it.
    pub(super) initialize: &'a str,
}

impl PeriodSearch<'_> {
    /// Returns what the code states of a rate with these functions, the most trustworthy first. The
    /// rate is that of the model's base where `is_base` is true.
    pub(super) fn of_rate(&self, functions: &[&str], is_base: bool) -> Vec<PeriodStatement> {
        let mut found = Vec::new();
        for SourceText { file, text } in self.sources {
            let mut add = |place, seconds: Option<f64>| {
                let period_ns = seconds.and_then(nanos);
                found.extend(period_ns.map(|period_ns| PeriodStatement {
                    file: file.clone(),
                    place,
                    period_ns,
                }));
            };
            for function in functions {
                add(PeriodPlace::FunctionRemark, lexing::sample_time(text, function));
            }
            let mut bodies = functions.iter().filter_map(|name| lexing::body_of(text, name));
            add(PeriodPlace::BodyRemark, bodies.find_map(shortest_remark));
            let is_here = |name: &&str| lexing::body_of(text, name).is_some();
            if is_base && (is_here(&self.initialize) || functions.iter().any(is_here)) {
                add(PeriodPlace::StepSize, lexing::assigned(text, "stepSize0"));
            }
        }
        for main in self.mains.iter().filter(|main| is_base && main.text.contains(self.model)) {
            found.extend(timer_remark(&main.text).and_then(nanos).map(|period_ns| {
                PeriodStatement {
                    file: main.file.clone(),
                    place: PeriodPlace::MainRemark,
                    period_ns,
                }
            }));
        }
        found.sort_by_key(|statement| statement.place);
        found
    }
}

/// The shortest period of the remarks in a body, in seconds.
fn shortest_remark(body: &str) -> Option<f64> {
    const REMARK: &str = "ample time: [";
    let numbers = body.match_indices(REMARK).filter_map(|(at, _)| {
        let number = &body[at + REMARK.len()..];
        number[..number.find('s')?].trim().parse::<f64>().ok()
    });
    numbers.filter(|seconds| SECONDS.contains(seconds)).min_by(f64::total_cmp)
}

/// The period of the timer that an example `main` asks for, in seconds: `with period 0.1 seconds
/// (the model's base sample time) here`. The comment may be broken into lines anywhere.
fn timer_remark(text: &str) -> Option<f64> {
    let is_word = |word: &&str| !matches!(*word, "*" | "//" | "/*");
    let words: Vec<&str> = text.split_whitespace().filter(is_word).collect();
    let mut windows = words.windows(6);
    windows.find_map(|six| match six {
        ["period", number, "seconds", "(the", "model's", "base"]
        | ["period", number, "seconds", "(base", "rate", _] => number.parse().ok(),
        _ => None,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "in the range that is checked before"
)]
fn nanos(seconds: f64) -> Option<u64> {
    SECONDS.contains(&seconds).then(|| (seconds * 1e9).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(file: &str, text: &str) -> SourceText {
        SourceText { file: file.to_owned(), text: text.to_owned() }
    }

    /// Finds the statements about the base rate of a model `pid`.
    fn found(function: &str, sources: &[SourceText], mains: &[SourceText]) -> Vec<PeriodStatement> {
        let initialize = function.replace("step", "initialize");
        let search = PeriodSearch { sources, mains, model: "pid", initialize: &initialize };
        search.of_rate(&[function], true)
    }

    fn short(found: &[PeriodStatement]) -> Vec<(&str, PeriodPlace, u64)> {
        found.iter().map(|it| (it.file.as_str(), it.place, it.period_ns)).collect()
    }

    /// Goal: the period is found at the places where GRT and C++ classes leave it.
    #[test]
    fn the_step_size_says_the_period() {
        let c = "void pid_step(void)\n{\n}\nvoid pid_initialize(void)\n{\n  \
                 pid_M->Timing.stepSize0 = 0.1;\n}\n";
        let of_c = found("pid_step", &[source("pid.c", c)], &[]);
        assert_eq!(short(&of_c), [("pid.c", PeriodPlace::StepSize, 100_000_000)]);
        let cpp = "void pid::step()\n{\n}\nvoid pid::initialize()\n{\n  \
                   (&pid_M)->Timing.stepSize0 = (1.0E-3);\n}\n";
        let of_class = found("pid::step", &[source("pid.cpp", cpp)], &[]);
        assert_eq!(short(&of_class), [("pid.cpp", PeriodPlace::StepSize, 1_000_000)]);
    }

    #[test]
    fn remarks_in_the_body_and_in_the_example_main_say_it_too() {
        let step = "void pid_step(void)\n{\n  { /* Sample time: [0.0s, 0.0s] */ }\n  \
                    {                    /* Sample time: [0.005s, 0.0s] */\n  }\n  if (t == 0) {  \
                    /* Sample time: [0.05s, 0.0s] */\n }\n}\n";
        let main = "#include \"pid.h\"\nint main(void)\n{\n  /* Attach rt_OneStep to a \
                    timer with\n   * period 0.005 seconds (the model's\n   * base sample \
                    time) here.  */\n}\n";
        let all = found("pid_step", &[source("pid.c", step)], &[source("ert_main.cpp", main)]);
        assert_eq!(
            short(&all),
            [
                ("pid.c", PeriodPlace::BodyRemark, 5_000_000),
                ("ert_main.cpp", PeriodPlace::MainRemark, 5_000_000)
            ]
        );
        let newer = "#include \"pid.h\"\n// with period 0.2 seconds (base rate of the model) here";
        assert_eq!(found("pid_step", &[], &[source("m.cpp", newer)])[0].period_ns, 200_000_000);
    }

    /// Goal: what belongs to another model, or is no period, is left alone.
    #[test]
    fn what_is_not_of_the_base_rate_is_not_taken() {
        let other = "void other_initialize(void)\n{\n  M->Timing.stepSize0 = 0.1;\n}\n";
        let compared = "void pid_step(void)\n{\n  if (M->Timing.stepSize0 == 0.1) { }\n  /* \
                        stepSize0 = 3; */\n  fresh(M->Timing.stepSize0, 2);\n}\n";
        let main = "// period 0.2 seconds (the model's base sample time)";
        let sources = [source("other.c", other), source("pid.c", compared)];
        assert_eq!(found("pid_step", &sources, &[source("main.c", main)]), []);
        let slow = "void pid_step1(void)\n{\n}\nvoid pid_initialize(void)\n{\n  \
                    M->stepSize0 = 0.1;\n}";
        let sources = [source("pid.c", slow)];
        let search = PeriodSearch {
            sources: &sources,
            mains: &[],
            model: "pid",
            initialize: "pid_initialize",
        };
        assert_eq!(search.of_rate(&["pid_step1"], false), []);
    }
}
