//! Runs a group's steps, as many at a time as it says.

pub(crate) mod machine;
pub(crate) mod process;
pub(crate) mod programs;
pub(crate) mod skips;
pub(crate) mod standstill;
pub(crate) mod tests;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::need::Needs;
use crate::outcome::{Attempt, Outcome};
use crate::places::Places;
use crate::progress::Progress;
use crate::steps::step::{Action, CommandLine, Group, Lane, Program, Step};
use process::Running;
use skips::Skips;

/// No step takes nearly as long, not on a machine three times slower either; one that does hangs,
/// and is ended.
const STEP_LIMIT: Duration = Duration::from_secs(45 * 60);
/// Bytes of a file's name that a step's name is cut to.
const SLUG_MAX: usize = 120;
/// Prefixes of variables by which cargo tells a program which crate it is of; they are not for
/// programs that this one runs.
const OF_CARGO: [&str; 3] = ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_BIN_"];

/// All that steps are run with.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) places: Places,
    pub(crate) needs: Needs,
    pub(crate) skips: Skips,
    pub(crate) running: Arc<Running>,
    /// Variables of each command.
    pub(crate) variables: Vec<(String, String)>,
}

impl Runner {
    /// Runs all steps of a group to their ends; returns the outcomes of those that could run.
    pub(crate) fn run(&self, group: &Group, progress: &mut Progress) -> Vec<Outcome> {
        let mut waiting: Vec<&Step> = group.steps.iter().collect();
        let mut active: Vec<&Step> = Vec::new();
        let mut outcomes = Vec::new();
        let (sender, ended) = mpsc::channel();
        thread::scope(|scope| {
            while !waiting.is_empty() || !active.is_empty() {
                while let Some(position) = next(&waiting, &active, group.at_once) {
                    let step = waiting.remove(position);
                    active.push(step);
                    progress.begins(step);
                    let sender = sender.clone();
                    scope.spawn(move || {
                        let outcome = catch_unwind(AssertUnwindSafe(|| self.step(step)));
                        let panicked = |_| Ok(Outcome::broken(&step.name, "the gate panicked"));
                        // The receiver outlives all of them.
                        sender.send((step, outcome.unwrap_or_else(panicked))).ok();
                    });
                }
                match ended.recv_timeout(progress.silence_max()) {
                    Ok((step, outcome)) => {
                        active.retain(|other| other.name != step.name);
                        progress.ended(step, &outcome);
                        outcomes.extend(outcome);
                    }
                    Err(RecvTimeoutError::Timeout) => progress.goes_on(&active, &self.places),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        outcomes
    }

    /// Runs a step; the error is why it is skipped.
    fn step(&self, step: &Step) -> Result<Outcome, String> {
        for need in &step.needs {
            let Err(reason) = self.needs.get(*need) else { continue };
            if need.is_required() {
                return Ok(Outcome::broken(&step.name, &reason));
            }
            self.skips.add(need.name(), &reason);
            return Err(reason);
        }
        let outcome = match &step.action {
            Action::Command(command) => self.run_command(&step.name, command),
            Action::Tests(tests) => self.tests(&step.name, tests),
            Action::Machine(machine) => self.machine(&step.name, machine),
        };
        Ok(outcome.unwrap_or_else(|error| Outcome::broken(&step.name, &error)))
    }

    /// Runs a command that passes with status 0.
    fn run_command(&self, name: &str, command: &CommandLine) -> Result<Outcome, String> {
        let file = self.skips.file(&slug(name));
        let attempt = self.command(name, &command.clone().variable(skips::VARIABLE, file))?;
        let mut outcome = Outcome::of_command(name, attempt);
        let skipped = self.skips.of(&slug(name));
        outcome.leave_out_skipped(&skipped);
        self.skips.take(&skipped, |_| false);
        Ok(outcome)
    }

    /// Runs a command to its end.
    fn command(&self, name: &str, line: &CommandLine) -> Result<Attempt, String> {
        let Program::Named(program) = &line.program else {
            return Err(format!("{line} is run in a virtual test machine alone"));
        };
        // A shell's background processes ignore Ctrl-C, which tests of Ctrl-C must not inherit.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,QUIT", program]);
        command.args(&line.arguments).current_dir(line.folder);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text == "CARGO" || OF_CARGO.iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command
            .envs(self.variables.iter().chain(&line.variables).map(|(name, value)| (name, value)));
        let log = log_of(&self.places, name);
        let began = Instant::now();
        let ended = self.running.run(&mut command, Path::new(&log), STEP_LIMIT);
        let ended = ended.map_err(|error| format!("{program} can't be started: {error}"))?;
        let text = fs::read(&log).map_err(|error| format!("{log}: {error}"))?;
        Ok(Attempt {
            status: ended.status,
            // The console of a machine ends its lines with CR LF.
            log: String::from_utf8_lossy(&text).replace('\r', ""),
            began,
            took: began.elapsed(),
            processor: ended.processor,
        })
    }
}

/// The position of the step that may start now. The order is kept, but that one whose lane is taken
/// lets others pass.
fn next(waiting: &[&Step], active: &[&Step], at_once: usize) -> Option<usize> {
    let is_active = |lane| active.iter().any(|step| step.lane == lane);
    if active.len() >= at_once || is_active(Lane::Alone) {
        return None;
    }
    let position =
        waiting.iter().position(|step| step.lane != Lane::Cargo || !is_active(Lane::Cargo))?;
    (waiting[position].lane != Lane::Alone || active.is_empty()).then_some(position)
}

/// The file with all that a step has printed.
pub(crate) fn log_of(places: &Places, name: &str) -> String {
    places.own(&format!("logs/{}.log", slug(name)))
}

/// A name as a file's.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut slug = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    slug.truncate(SLUG_MAX);
    slug
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    fn step(lane: Lane) -> Step {
        Step::new("a step", CommandLine::words("true")).lane(lane)
    }

    #[test]
    fn steps_start_in_order_as_their_lanes_allow() {
        let [beside, cargo, alone] = [Lane::Beside, Lane::Cargo, Lane::Alone].map(step);
        assert_eq!(next(&[&beside], &[], 1), Some(0));
        assert_eq!(next(&[&beside], &[&beside], 1), None, "as many as may run do");
        assert_eq!(next(&[&cargo, &beside], &[&cargo], 3), Some(1), "cargo locks its folder");
        assert_eq!(next(&[&cargo, &cargo], &[&cargo], 3), None);
        assert_eq!(next(&[&alone, &beside], &[&beside], 3), None, "none passes one that is alone");
        assert_eq!(next(&[&alone], &[], 3), Some(0));
        assert_eq!(next(&[&beside], &[&alone], 3), None);
        assert_eq!(next(&[], &[], 3), None);
    }

    #[test]
    fn a_name_makes_a_file_name() {
        assert_eq!(
            slug("guests under KVM (lab), the second time"),
            "guests-under-KVM-lab-the-second-time"
        );
    }
}
