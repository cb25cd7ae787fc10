//! What changes a running partition: writes, recordings, deploys, restarts.
//!
//! ```text
//! deploy   build ─ stage ─► process loads it ─ event staged ─► command swap ─► event swapped
//! restart  the same, of the build that runs, without carrying state over
//! ```

use std::time::{Duration, Instant};

use quietcore_assembly::{Staged, stage};
use quietcore_exchange::{Command, Outcome, TraceConfiguration, TracePlace, WhyRejected};
use quietcore_program::carry::OldData;
use quietcore_program::{CarryPlan, carry_over};
use quietcore_scan::process::job::Order;
use quietcore_scan::stage::{Carried, Moved};
use quietcore_units::Causes;
use quietcore_wording::plural;

use super::incarnation::{Incarnation, answer};
use super::pending::{Answering, Pending, Swap, SwapTiming};
use super::{Kept, Prepared};
use crate::control::{
    Applied, ControlError, Deployed, ErrorKind, NOT_CARRIED_MAX, NotCarried, Restart, Severity,
    Trace, TraceStarted,
};
use crate::keeper::request::{Progress, Reply};

/// How long a group of commands may wait for its cycle, beside a period.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(2);
/// How long it takes at most that what a partition says gets here: a guest's process passes on what
/// its guest says every 20 ms.
const REMARK_MAX: Duration = Duration::from_millis(200);
/// How often it is looked for.
const REMARK_GLANCE: Duration = Duration::from_millis(5);
/// How often an answer is looked for.
const GLANCE: Duration = Duration::from_micros(200);

impl Kept {
    /// Publishes commands as one group and waits for their cycle.
    pub(super) fn write(
        &mut self,
        life: &mut Incarnation<'_>,
        commands: &[Command],
        generation: u32,
    ) -> Result<Applied, ControlError> {
        let place = &self.setup.partition.name;
        self.refuse_paused(life)?;
        let is_force = |command: &Command| matches!(command, Command::Force(_));
        if life.pending.is_some() && commands.iter().any(is_force) {
            // The places of its forces were chosen when it was staged.
            let what = "another build is on its way, and its swap would end the force";
            return Err(ControlError::new(ErrorKind::Busy, place, what, "wait for it"));
        }
        let ticket = life.commands.publish(commands, generation).map_err(|error| {
            ControlError::new(ErrorKind::NotNow, place, error.to_string(), "try again")
        })?;
        let patience = ANSWER_MAX + self.period();
        let end = Instant::now() + patience;
        let outcomes = life.region.outcomes();
        while Instant::now() < end {
            let outcome = outcomes.and_then(|outcomes| outcomes.outcome(ticket));
            match outcome {
                Some(Outcome { cycle, result: Ok(()) }) => return Ok(Applied { cycle }),
                Some(Outcome { result: Err((_, why)), .. }) => return Err(rejected(place, why)),
                None => std::thread::sleep(GLANCE),
            }
        }
        let what = format!(
            "no cycle took the change within {:.1} s; it may still be applied",
            patience.as_secs_f64()
        );
        Err(ControlError::new(ErrorKind::NotNow, place, what, "look with `quietcore ps`"))
    }

    /// Holds the program between two cycles, or lets it go on, and waits for that.
    pub(super) fn pause(
        &mut self,
        life: &mut Incarnation<'_>,
        pause: bool,
    ) -> Result<(), ControlError> {
        let place = &self.setup.partition.name;
        self.refuse_shed()?;
        if pause && life.pending.is_some() {
            let what = "another build is on its way, and comes with a cycle";
            return Err(ControlError::new(ErrorKind::Busy, place, what, "wait for it"));
        }
        life.region.request_pause(pause);
        let patience = ANSWER_MAX + self.period();
        let end = Instant::now() + patience;
        while life.region.is_paused() != pause {
            if Instant::now() >= end {
                // What was refused must not come later.
                life.region.request_pause(!pause);
                let what =
                    format!("no cycle took note of it within {:.1} s", patience.as_secs_f64());
                return Err(ControlError::new(ErrorKind::NotNow, place, what, "try again"));
            }
            std::thread::sleep(GLANCE);
        }
        Ok(())
    }

    /// Why nothing can be changed now: the partition is held for another one.
    fn refuse_shed(&self) -> Result<(), ControlError> {
        let Some(by) = self.shed_by() else { return Ok(()) };
        let what = format!("the partition is shed for `{by}`");
        let remedy = "it is given back when that one is on time again; try again then";
        Err(ControlError::new(ErrorKind::NotNow, &self.setup.partition.name, what, remedy))
    }

    /// Why a change that needs a cycle can't be made now: the program is held.
    fn refuse_paused(&self, life: &Incarnation<'_>) -> Result<(), ControlError> {
        self.refuse_shed()?;
        if !life.region.is_paused() {
            return Ok(());
        }
        let place = &self.setup.partition.name;
        let remedy = format!("let it go on with `quietcore resume {place}`");
        Err(ControlError::new(ErrorKind::NotNow, place, "the partition is paused", remedy))
    }

    pub(super) fn trace_start(
        &mut self,
        life: &mut Incarnation<'_>,
        trace: &Trace,
    ) -> Result<TraceStarted, ControlError> {
        self.refuse_paused(life)?;
        let place = &self.setup.partition.name;
        let bad = |what: String| ControlError::new(ErrorKind::BadValue, place, what, "");
        let mut places = Vec::new();
        for path in &trace.variables {
            let found = self.current.build.symbols.resolve(path).map_err(|error| {
                ControlError::new(ErrorKind::NoVariable, path, error.to_string(), "")
            })?;
            places.push(TracePlace { offset: found.offset, bytes: found.bytes() as u8 });
        }
        let generation = self.current.stage.generation;
        let configuration = TraceConfiguration::new(&places, u64::from(trace.every), generation)
            .map_err(|error| bad(error.to_string()))?;
        let task = trace.task;
        let cycle = life.region.task(task).and_then(|task| task.counters().ok());
        let requester = life
            .traces
            .get_mut(task as usize)
            .ok_or_else(|| bad(format!("there is no task {task}")))?;
        requester.ask(&configuration);
        let cycle = cycle.map_or(0, |counters| counters.cycles);
        let started = TraceStarted { generation, cycle };
        let period = self.setup.tasks.get(task as usize).map_or(0, |task| task.period.get());
        if period == 0 {
            // Nobody knows when its next job comes; the request stands until then.
            return Ok(started);
        }
        let end = Instant::now() + ANSWER_MAX + Duration::from_nanos(period);
        let refusal = loop {
            match requester.answer() {
                Some(Ok(())) => return Ok(started),
                Some(Err(why)) => break rejected(place, why),
                None if Instant::now() < end => std::thread::sleep(GLANCE),
                None => {
                    let what = "the task runs no cycles";
                    break ControlError::new(ErrorKind::NotNow, place, what, "");
                }
            }
        };
        // What was refused must not begin later.
        requester.ask(&TraceConfiguration::OFF);
        Err(refusal)
    }

    /// Stages a changed program beside the one that runs.
    pub(super) fn deploy(
        &mut self,
        life: &mut Incarnation<'_>,
        prepared: Prepared,
        progress: Progress,
        reply: Reply<Deployed>,
    ) {
        match self.prepare_deploy(life, prepared) {
            Ok((staged, carry)) => {
                self.order(life, staged, carry, Answering::Deploy(reply, progress));
            }
            Err(error) => answer(&reply, Err(error)),
        }
    }

    fn prepare_deploy(
        &self,
        life: &Incarnation<'_>,
        prepared: Prepared,
    ) -> Result<(Staged, CarryPlan), ControlError> {
        let place = &self.setup.partition.name;
        let refuse =
            |kind, what: String, remedy: &str| Err(ControlError::new(kind, place, what, remedy));
        if life.pending.is_some() {
            return refuse(ErrorKind::Busy, "another build is on its way".into(), "wait for it");
        }
        self.refuse_paused(life)?;
        let setup = &self.setup;
        let slot = 1 - self.current.stage.slot;
        let generation = self.generations + 1;
        // What is wrong is told of the folder that was given, not of the one in the site file.
        let mut partition = setup.partition.clone();
        partition.program.model = Some(prepared.folder);
        let staged = stage(&setup.site, &partition, &setup.bus, prepared.build, generation, slot);
        let mut staged = match staged {
            Ok(staged) => staged,
            Err(error) => return refuse(ErrorKind::Build, error.to_string(), ""),
        };
        if staged.build.data.bytes > u64::from(setup.shape.data_bytes) {
            let what = format!(
                "its data have {} bytes, and there is room for {}",
                staged.build.data.bytes, setup.shape.data_bytes
            );
            return refuse(ErrorKind::NotNow, what, "bring the site down and up again");
        }
        let (rates, tasks) = (staged.build.interface.rates.len(), setup.job.tasks.len());
        if rates < tasks {
            let what = format!(
                "it has {rates} step function{} for {tasks} task{}",
                plural(rates as u64),
                plural(tasks as u64)
            );
            return refuse(ErrorKind::Build, what, "give it a step function for each task");
        }
        let kernel = staged.build.interface.kernel.as_ref();
        let own: &[String] = kernel.map_or(&[], |kernel| &kernel.tasks);
        if !own.iter().eq(setup.job.kernel_tasks.iter().map(|task| &task.name)) {
            let what = "its OIL file has other tasks than the program that runs".to_owned();
            return refuse(ErrorKind::NotNow, what, "bring the site down and up again");
        }
        let carry = self.carry(life, &staged)?;
        for remark in &staged.remarks {
            self.events.note(place, "site", Severity::Warning, &remark.to_string());
        }
        staged.stage.on_probation = true;
        staged.stage.carried = carried(&carry);
        staged.stage.forces = moved(&carry, life);
        Ok((staged, carry))
    }

    fn carry(&self, life: &Incarnation<'_>, staged: &Staged) -> Result<CarryPlan, ControlError> {
        let place = &self.setup.partition.name;
        let failed = |what: String| ControlError::new(ErrorKind::Failed, place, what, "");
        let initial = self.current.build.initial_data();
        let initial = initial.map_err(|error| failed(Causes(&error).to_string()))?;
        let mut current = vec![0; initial.len()];
        let slot = life.region.active().slot;
        let read = life.region.data(slot).map(|data| data.read(0, &mut current));
        if !matches!(read, Some(Ok(()))) {
            return Err(failed("the data of the running program can't be read".to_owned()));
        }
        let data = OldData { initial: &initial, current: &current };
        Ok(carry_over(&self.current.build.symbols, &staged.build.symbols, data, None))
    }

    /// Starts the program anew in the free slot of the same process.
    pub(super) fn restart_program(
        &mut self,
        life: &mut Incarnation<'_>,
        how: Restart,
        reply: Option<Reply<()>>,
    ) {
        if life.pending.is_some() {
            if let Some(reply) = reply {
                let what = "another build is on its way";
                let error = ControlError::new(ErrorKind::Busy, "", what, "wait for it");
                answer(&reply, Err(error));
            }
            return;
        }
        if let (Err(error), Some(reply)) = (self.refuse_paused(life), &reply) {
            answer(reply, Err(error));
            return;
        }
        self.save(life, true);
        self.saving.begin(how);
        let mut staged = self.current.clone();
        staged.stage.generation = self.generations + 1;
        staged.stage.slot = 1 - staged.stage.slot;
        staged.stage.on_probation = false;
        staged.stage.carried.clear();
        staged.stage.forces.clear();
        if how != Restart::Origin
            && let Some(forces) = life.region.forces()
        {
            let mut held =
                [quietcore_exchange::Assignment::default(); quietcore_exchange::FORCE_LIMIT];
            let count = forces.read(&mut held).unwrap_or(0);
            let stay = |force: &quietcore_exchange::Assignment| Moved {
                from: force.target.offset,
                to: force.target.offset,
            };
            staged.stage.forces = held[..count].iter().map(stay).collect();
        }
        self.order(life, staged, CarryPlan::default(), Answering::Restart(reply));
    }

    /// Orders the process to load a build.
    fn order(
        &mut self,
        life: &mut Incarnation<'_>,
        staged: Staged,
        carry: CarryPlan,
        reply: Answering,
    ) {
        // A deploy carries its state from the running program; a restart takes what was retained.
        let values = match reply {
            Answering::Deploy(..) => Vec::new(),
            Answering::Restart(_) => self.retained(&staged),
        };
        // Never given twice: a build that was given up may come late.
        self.generations = staged.stage.generation;
        let order = Order::Stage(staged.to_job(values));
        let began = Instant::now();
        let pending = Pending { staged, carry, reply, began, swap_ticket: None, waits_for: None };
        match life.process.order(&order) {
            Ok(()) => life.pending = Some(pending),
            Err(error) => self.refuse(life, pending, &Causes(&error).to_string()),
        }
    }

    /// The build is loaded: swap it in.
    pub(super) fn swap_staged(&mut self, life: &mut Incarnation<'_>, generation: u32) {
        let Some(pending) = &mut life.pending else { return };
        if pending.staged.stage.generation != generation {
            return;
        }
        match life.commands.publish(&[Command::Swap { generation }], generation) {
            Ok(ticket) => pending.swap_ticket = Some(ticket),
            Err(error) => {
                if let Some(pending) = life.pending.take() {
                    self.refuse(life, pending, &error.to_string());
                }
            }
        }
    }

    /// The build can't be loaded.
    pub(super) fn stage_refused(&mut self, life: &mut Incarnation<'_>, generation: u32) {
        let is_it = |pending: &mut Pending| pending.staged.stage.generation == generation;
        let Some(pending) = life.pending.take_if(is_it) else { return };
        let why = reason(generation, REMARK_MAX, || life.process.remarks());
        let why = why.as_deref().unwrap_or("the partition can't load the build");
        self.events.note(&self.setup.partition.name, "stage-refused", Severity::Warning, why);
        self.refuse(life, pending, why);
    }

    /// The build runs.
    pub(super) fn swapped(&mut self, life: &mut Incarnation<'_>, generation: u32, swap: Swap) {
        let is_it = |pending: &mut Pending| pending.staged.stage.generation == generation;
        let Some(pending) = life.pending.take_if(is_it) else { return };
        let before = std::mem::replace(&mut self.current, pending.staged.clone());
        self.probation_end = if pending.staged.stage.on_probation {
            swap.cycle.saturating_add(self.setup.job.probation_cycles)
        } else {
            0
        };
        match pending.reply {
            Answering::Deploy(ref reply, _) => {
                let deployed = deployed(&pending.carry, generation, swap);
                let lost = match swap.timing {
                    Some(timing) => {
                        let lost = timing.gap_cycles;
                        format!(", {lost} cycle{} lost", plural(lost))
                    }
                    None => "; how many cycles were lost is not known".to_owned(),
                };
                let carried = pending.carry.carried;
                let anew = not_carried_count(&pending.carry);
                let text = format!(
                    "build {generation} was deployed: {carried} variables carried over, {anew} \
                     begin anew{lost}"
                );
                self.note_change("deployed", &text, swap.cycle);
                answer(reply, deployed);
                // It may be taken back within its probation.
                self.before = Some(before);
            }
            Answering::Restart(Some(reply)) => {
                self.note_change("restarted", "the program was started anew, as asked", swap.cycle);
                answer(&reply, Ok(()));
            }
            Answering::Restart(None) => {
                let text = "the program was started anew after its fault";
                self.note_change("restarted", text, swap.cycle);
            }
        }
    }

    fn note_change(&self, kind: &str, text: &str, cycle: u64) {
        let (name, now) = (&self.setup.partition.name, jiff::Timestamp::now());
        self.events.add(name, kind, Severity::Information, text, Some(cycle), now);
    }

    /// The build before runs again.
    pub(super) fn reverted(&mut self) {
        if let Some(before) = self.before.take() {
            self.current = before;
        }
    }
}

/// Why a build was refused, as the partition said beside the event. The two come by different ways,
/// so that what was said is waited for, at most for so long.
fn reason(generation: u32, longest: Duration, remarks: impl Fn() -> String) -> Option<String> {
    let start = format!("build {generation} is refused: ");
    let end = Instant::now() + longest;
    let mut before = None;
    loop {
        let remarks = remarks();
        let found = remarks.lines().rev().find_map(|line| line.strip_prefix(&start));
        let found = found.map(str::trim).filter(|why| !why.is_empty()).map(str::to_owned);
        // A line may come in parts: it is whole where it does not grow any more.
        if (found.is_some() && found == before) || Instant::now() >= end {
            return found;
        }
        before = found;
        std::thread::sleep(REMARK_GLANCE);
    }
}

fn rejected(place: &str, why: WhyRejected) -> ControlError {
    let kind = match why {
        WhyRejected::OutOfData | WhyRejected::BadSize | WhyRejected::NoBits => ErrorKind::BadValue,
        _ => ErrorKind::NotNow,
    };
    ControlError::new(kind, place, why.to_string(), "")
}

fn carried(plan: &CarryPlan) -> Vec<Carried> {
    let of = |copy: &quietcore_program::Copy| Carried {
        from: copy.from,
        to: copy.to,
        bytes: copy.bytes,
    };
    plan.copies.iter().map(of).collect()
}

/// Where the forced variables go: along with the stretch that they lie in.
fn moved(plan: &CarryPlan, life: &Incarnation<'_>) -> Vec<Moved> {
    let Some(forces) = life.region.forces() else { return Vec::new() };
    let mut held = [quietcore_exchange::Assignment::default(); quietcore_exchange::FORCE_LIMIT];
    let count = forces.read(&mut held).unwrap_or(0);
    let follow = |force: &quietcore_exchange::Assignment| {
        let from = force.target.offset;
        let copy =
            plan.copies.iter().find(|copy| (copy.from..copy.from + copy.bytes).contains(&from))?;
        Some(Moved { from, to: copy.to + (from - copy.from) })
    };
    held[..count].iter().filter_map(follow).collect()
}

fn not_carried_count(carry: &CarryPlan) -> u64 {
    carry.not_carried.len() as u64 + carry.not_carried_beyond
}

fn deployed(carry: &CarryPlan, generation: u32, swap: Swap) -> Result<Deployed, ControlError> {
    let Some(SwapTiming { gap_cycles, release }) = swap.timing else {
        let what = format!(
            "build {generation} runs, but what its swap cost is not known: the event was \
             overwritten before it was read"
        );
        return Err(ControlError::new(ErrorKind::Failed, "", what, "look with `quietcore ps`"));
    };
    let listed = carry.not_carried.iter().take(NOT_CARRIED_MAX);
    Ok(Deployed {
        generation,
        cycle: swap.cycle,
        gap_cycles,
        release,
        carried: carry.carried,
        tuned: carry.tuned.iter().take(NOT_CARRIED_MAX).cloned().collect(),
        not_carried_count: not_carried_count(carry),
        not_carried: listed
            .map(|left| NotCarried { variable: left.path.clone(), why: left.why.clone() })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_reason_of_a_refusal_is_waited_for_until_it_is_whole() {
        let looks = Cell::new(0);
        let remarks = || {
            looks.set(looks.get() + 1);
            let said = match looks.get() {
                1 => "build 7 is refused: old",
                2 | 3 => "build 8 is refused: ",
                4 => "build 8 is refused: it is",
                _ => "build 8 is refused: it is meant for slot 1\nsomething else",
            };
            said.to_owned()
        };
        let why = reason(8, Duration::from_secs(60), remarks);
        assert_eq!(why.as_deref(), Some("it is meant for slot 1"));
    }

    #[test]
    fn a_reason_that_nobody_says_is_not_waited_for_for_ever() {
        assert_eq!(reason(8, Duration::ZERO, String::new), None);
        // What is there counts, whole or not.
        let why = reason(8, Duration::ZERO, || "build 8 is refused: it is".to_owned());
        assert_eq!(why.as_deref(), Some("it is"));
    }
}
