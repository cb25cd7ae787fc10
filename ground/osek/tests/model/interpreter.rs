//! Runs a program on the kernel and on the reference, one call at a time, and compares.
//!
//! It is their machine: it knows where each task stands in its script, and brings interrupts when
//! the interrupt level allows, the most urgent first. A step at which both differ, or at which an
//! invariant does not hold, ends the run with everything that led to it.

use std::fmt::Write as _;

use quietcore_osek::check::check;
use quietcore_osek::configuration::Configuration;
use quietcore_osek::status::Status;

use crate::invariants::Books;
use crate::observation::{Budget, Effect, Entered, Left, Observation, State, Subject};
use crate::program::{Happening, Program, Script, Step};
use crate::reference::Reference;
use crate::subject::Driven;
use crate::tally::Tally;

/// The interrupt level of the machine's own tick.
const TICK_LEVEL: u8 = 1;

/// Runs a program to its end.
///
/// # Errors
/// What went wrong, at which step, after what.
pub(crate) fn run(program: &Program) -> Result<Tally, String> {
    let mut quiet = Tally::default();
    if let Err(difference) = run_on(program, &mut quiet, None) {
        // Once more, with notes: they cost more than the run itself.
        let mut trace = String::new();
        let _ = run_on(program, &mut Tally::default(), Some(&mut trace));
        return Err(format!("{difference}\nwhat led to it:\n{trace}"));
    }
    Ok(quiet)
}

fn run_on(program: &Program, tally: &mut Tally, trace: Option<&mut String>) -> Result<(), String> {
    let configuration = program.configuration();
    check(&configuration).map_err(|refusal| refusal.to_string())?;
    let mut run = Run::start(program, &configuration, tally, trace)?;
    for happening in &program.happenings {
        run.now += 1;
        match *happening {
            Happening::Step => run.step()?,
            Happening::Interrupt(isr) => run.ask(isr),
            Happening::Ticks(ticks) => {
                run.now += u64::from(ticks);
                run.pending_ticks += ticks;
            }
        }
        run.deliver()?;
    }
    run.finish()
}

struct Run<'p, 'c, 't> {
    program: &'p Program,
    kernel: Driven<'c>,
    reference: Reference<'c>,
    books: Books<'c>,
    tally: &'t mut Tally,
    trace: Option<&'t mut String>,
    now: u64,
    /// The next step of each task's job.
    positions: Vec<usize>,
    /// The ISRs that run with their next steps, the innermost last.
    isrs: Vec<(usize, usize)>,
    pending: Vec<bool>,
    pending_ticks: u32,
    seen: Observation,
}

impl<'p, 'c, 't> Run<'p, 'c, 't> {
    fn start(
        program: &'p Program,
        configuration: &'c Configuration<'c>,
        tally: &'t mut Tally,
        trace: Option<&'t mut String>,
    ) -> Result<Self, String> {
        let now = 1000;
        let kernel = Driven::start(configuration, now);
        let seen = kernel.observe(now);
        let mut run = Self {
            program,
            kernel,
            reference: Reference::start(configuration, now),
            books: Books::open(configuration),
            tally,
            trace,
            now,
            positions: vec![0; program.tasks.len()],
            isrs: Vec::new(),
            pending: vec![false; program.isrs.len()],
            pending_ticks: 0,
            seen,
        };
        run.compare("the start")?;
        Ok(run)
    }

    /// Makes the next call of what runs, or ends it if its script is over.
    fn step(&mut self) -> Result<(), String> {
        if let Some((isr, position)) = self.isrs.last_mut() {
            let script = &self.program.isr_scripts[*isr];
            let step = script.steps.get(*position).copied();
            *position += 1;
            return match step.or_else(|| self.release_at_end(script)) {
                Some(step) => self.call(&step).map(drop),
                None => self.end_isr(),
            };
        }
        let Some(task) = self.seen.running else { return Ok(()) };
        if let Some(Budget::Exhausted(task)) = self.kernel.observe(self.now).budget {
            return self.abandon(task, "budget used up");
        }
        let script = &self.program.task_scripts[task];
        let step = script.steps.get(self.positions[task]).copied();
        self.positions[task] += 1;
        match step.or_else(|| self.release_at_end(script)) {
            Some(step) => self.call(&step).map(drop),
            None => self.end_task(task),
        }
    }

    /// An interrupt is asked for.
    fn ask(&mut self, isr: u8) {
        let level = self.program.isrs[usize::from(isr)].level;
        let by_isr = !self.isrs.is_empty() && level <= self.seen.interrupt_level;
        let by_task = self.isrs.is_empty() && level <= self.seen.interrupt_level;
        self.tally.note_if(by_isr, "interrupt held back by an ISR");
        self.tally.note_if(by_task, "interrupt held back by a resource");
        self.pending[usize::from(isr)] = true;
    }

    fn release_at_end(&self, script: &Script) -> Option<Step> {
        let holds = !self.books.held(self.seen.running).is_empty();
        (holds && !script.is_careless).then_some(Step::ReleaseLast)
    }

    fn end_task(&mut self, task: usize) -> Result<(), String> {
        match self.call(&Step::Terminate)? {
            Ok(()) => Ok(()),
            Err(_) => self.abandon(task, "returned without an end"),
        }
    }

    fn call(&mut self, step: &Step) -> Result<Result<(), Status>, String> {
        let running = self.seen.running;
        let step = match (*step, self.books.held(running).last()) {
            (Step::ReleaseLast, None) => return Ok(Ok(())),
            (Step::ReleaseLast, Some(last)) => Step::Release(*last),
            (step, _) => step,
        };
        let result = self.kernel.perform(&step, self.now);
        let expected = self.reference.perform(&step, self.now);
        let who = match (self.isrs.last(), running) {
            (Some((isr, _)), _) => format!("isr {isr}"),
            (None, Some(task)) => format!("task {task}"),
            (None, None) => "idle".into(),
        };
        let what = format!("{who}: {step} -> {result:?}");
        if result != expected {
            return Err(format!("{what} instead of {expected:?}"));
        }
        self.books.note_call(running, &step, result)?;
        self.note_call(&step, result);
        self.compare(&what)?;
        Ok(result)
    }

    fn abandon(&mut self, task: usize, why: &'static str) -> Result<(), String> {
        self.tally.note(why);
        self.books.end(task);
        self.kernel.abandon(self.now);
        self.reference.abandon(self.now);
        self.compare(&format!("task {task} {why}"))
    }

    fn end_isr(&mut self) -> Result<(), String> {
        self.isrs.pop();
        let keeps = self.books.end_isr();
        let kept = self.kernel.end_isr(self.now);
        if kept != keeps || kept != self.reference.end_isr(self.now) {
            return Err(format!("an ISR that keeps something ({keeps}): {kept}"));
        }
        self.tally.note_if(keeps, "ISR kept a resource");
        self.compare("the end of an ISR")
    }

    /// Brings the interrupts that the level lets pass, the most urgent first.
    fn deliver(&mut self) -> Result<(), String> {
        loop {
            let level = self.seen.interrupt_level;
            let isrs = &self.program.isrs;
            let pending = (0..isrs.len()).filter(|isr| self.pending[*isr]);
            let next = pending.max_by_key(|isr| isrs[*isr].level);
            if let Some(isr) = next.filter(|isr| isrs[*isr].level > level) {
                self.pending[isr] = false;
                self.isrs.push((isr, 0));
                self.books.begin_isr();
                self.kernel.begin_isr(isr, self.now);
                self.reference.begin_isr(isr, self.now);
                self.note_isr();
                self.compare(&format!("isr {isr} begins"))?;
            } else if self.pending_ticks > 0 && level < TICK_LEVEL {
                let ticks = std::mem::take(&mut self.pending_ticks);
                self.kernel.tick(ticks, self.now);
                self.reference.tick(ticks, self.now);
                self.compare(&format!("{ticks} ticks"))?;
            } else {
                return Ok(());
            }
        }
    }

    /// Lets everything end that has begun or is asked for. No activation may be left over.
    fn finish(mut self) -> Result<(), String> {
        const ROUNDS_MAX: usize = 1000;
        for _ in 0..ROUNDS_MAX {
            self.now += 1;
            self.deliver()?;
            if !self.isrs.is_empty() {
                self.end_isr()?;
            } else if let Some(task) = self.seen.running {
                match self.books.held(Some(task)).last().copied() {
                    Some(held) => drop(self.call(&Step::Release(held))?),
                    None => self.end_task(task)?,
                }
            } else {
                let left = self
                    .seen
                    .states
                    .iter()
                    .position(|state| !matches!(state, State::Suspended | State::Waiting));
                return match left {
                    Some(task) => Err(format!("task {task} is left over")),
                    None => self.books.check_end(),
                };
            }
        }
        Err("the program does not come to its end".into())
    }

    /// Compares everything that can be seen, after something happened.
    fn compare(&mut self, what: &str) -> Result<(), String> {
        let effects = self.kernel.take_effects();
        let seen = self.kernel.observe(self.now);
        if let Some(trace) = &mut self.trace {
            let _ = writeln!(trace, "{:>6} {what}", self.now);
            for effect in &effects {
                let _ = writeln!(trace, "       {effect:?}");
            }
        }
        let expected = self.reference.take_effects();
        if effects != expected {
            return Err(format!("after {what}: {effects:?}\n  instead of {expected:?}"));
        }
        let expected = self.reference.observe(self.now);
        if seen != expected {
            return Err(format!("after {what}: {seen:?}\n  instead of {expected:?}"));
        }
        for effect in &effects {
            self.books.note_effect(effect);
            if let Effect::Switch(_, Entered::Begin(task)) = effect {
                self.positions[*task] = 0;
            }
            self.note_effect(effect, &seen);
        }
        self.note_state(&seen);
        self.seen = seen;
        self.books.check(&self.seen).map_err(|breach| format!("after {what}: {breach}"))
    }
}

/// Notes for the tally.
impl Run<'_, '_, '_> {
    fn note_call(&mut self, step: &Step, result: Result<(), Status>) {
        let in_isr = !self.isrs.is_empty();
        match result {
            Err(status) => return self.tally.note(name_of(status)),
            Ok(()) if in_isr => self.tally.note("call from an ISR"),
            Ok(()) => self.tally.note("call from a task"),
        }
        let state_of = |task: &u8| self.seen.states[usize::from(*task)];
        let what = match step {
            Step::Activate(task) if state_of(task) != State::Suspended => "activation of an active",
            Step::Activate(_) => "activation of a suspended",
            Step::Terminate => "termination",
            Step::Chain(task) if self.seen.running == Some(usize::from(*task)) => "chain to itself",
            Step::Chain(_) => "chain to another",
            Step::Get(_) => match (in_isr, self.books.held(self.seen.running).len()) {
                (false, 1) => "resource",
                (false, _) => "resources nested",
                (true, 1) => "resource in an ISR",
                (true, _) => "resources nested in an ISR",
            },
            Step::SetEvent(task, _) => match state_of(task) {
                State::Waiting => "event of a waiting",
                State::Ready if self.books.is_to_begin(usize::from(*task)) => {
                    "event before a begin"
                }
                _ => "event of another",
            },
            Step::WaitEvent(_) => "wait",
            Step::SetRelative(_, _, 0) | Step::SetAbsolute(_, _, 0) => "single alarm",
            Step::SetRelative(..) | Step::SetAbsolute(..) => "cyclic alarm",
            Step::Next(..) => "table to follow",
            Step::StartRelative(..) | Step::StartAbsolute(..) => "table started",
            Step::Stop(_) => "table stopped",
            Step::Cancel(_) => "alarm cancelled",
            Step::Release(_) | Step::ReleaseLast => "release",
            Step::Schedule | Step::ClearEvent(_) | Step::Increment(_) => return,
        };
        self.tally.note(what);
    }

    fn note_isr(&mut self) {
        let holds = self.seen.interrupt_level > 0 && self.isrs.len() == 1;
        self.tally.note_if(holds, "interrupt above a resource");
        self.tally.note(match self.isrs.len() {
            1 => "interrupt",
            2 => "interrupts nested",
            _ => "interrupts nested in nested ones",
        });
    }

    fn note_effect(&mut self, effect: &Effect, seen: &Observation) {
        let ready = |priority| {
            (0..seen.states.len()).any(|task| {
                seen.states[task] == State::Ready && self.program.tasks[task].priority == priority
            })
        };
        let equal = ready(seen.level);
        let what = match effect {
            Effect::Job { .. } => "job",
            Effect::Switch(Left::Task(task), _) if seen.states[*task] == State::Ready => {
                self.tally.note_if(self.program.tasks[*task].running_level == 255, "gave way");
                "preemption"
            }
            Effect::Switch(_, Entered::Resume(_)) if equal => "resumed before an equal",
            Effect::Switch(_, Entered::Begin(_)) if equal => "began before an equal",
            Effect::Switch(_, Entered::Idle) => "idle",
            Effect::Switch(..) => "another switch",
            Effect::Activated(_) => "activation by time",
            Effect::EventSet(_) => "event by time",
            Effect::Callback(_) => "callback",
            Effect::Incremented(_) => "increment by time",
            Effect::Failed(..) => "failure by time",
        };
        self.tally.note(what);
    }

    fn note_state(&mut self, seen: &Observation) {
        let wraps = seen.counters.iter().zip(&self.seen.counters).any(|(now, then)| now < then);
        self.tally.note_if(wraps, "counter wrapped");
        let mut tables = seen.tables.iter().zip(&self.seen.tables);
        use crate::observation::Table::{Next, Running};
        let follows = tables.any(|(now, then)| (now, then) == (&Running, &Next));
        self.tally.note_if(follows, "table followed another");
    }
}

fn name_of(status: Status) -> &'static str {
    match status {
        Status::Access => "E_OS_ACCESS",
        Status::CallLevel => "E_OS_CALLEVEL",
        Status::Id => "E_OS_ID",
        Status::Limit => "E_OS_LIMIT",
        Status::NoFunction => "E_OS_NOFUNC",
        Status::Resource => "E_OS_RESOURCE",
        Status::State => "E_OS_STATE",
        Status::Value => "E_OS_VALUE",
        Status::Service => "E_OS_SERVICEID",
        Status::ProtectionArrival => "E_OS_PROTECTION_ARRIVAL",
        _ => "another error",
    }
}
