//! `write` and `unforce-all`: groups of changes, taken between two cycles.

use quietcore_exchange::{Command, Held, Outcome, Target};

use super::confirm::Confirming;
use super::{ANSWER_MAX, nanos, rejected};
use crate::control::{Applied, Asker, Change, ChangeKind, ControlError, Effect, Refusal, Severity};
use crate::keeper::Kept;
use crate::keeper::incarnation::Incarnation;
use crate::keeper::request::Caller;
use crate::keeper::saving::some_of;
use crate::variables::{Look, Resolved, resolve_all};

/// Limit of the groups of commands that are still waited for.
const LATE_MAX: usize = 64;

/// Limit of the variables of a group that an event names.
const TOLD_MAX: usize = 8;

/// Commands that no cycle took in time, and may still take.
pub(in crate::keeper) struct LateCommands {
    ticket: u32,
    commands: Vec<Command>,
    paths: Vec<String>,
    by: Option<Asker>,
}

impl Kept {
    /// Applies changes as one group between two cycles, and answers with the effect of each.
    pub(super) fn write(
        &mut self,
        life: &mut Incarnation<'_>,
        changes: Vec<Change>,
        confirm: bool,
        caller: Caller,
    ) {
        let resolved = match resolve_all(&self.current.build.symbols, changes) {
            Ok(resolved) => resolved,
            Err(refusal) => return caller.refuse(refusal),
        };
        let (applied, before) = match self.apply(life, &resolved, &caller.by) {
            Ok(done) => done,
            Err(refusal) => return caller.refuse(refusal),
        };
        let is_open = applied
            .effects
            .iter()
            .any(|effect| effect.change.kind == ChangeKind::Set && effect.without_effect.is_none());
        if confirm && is_open {
            let generation = self.current.stage.generation;
            let confirming =
                Confirming::new(caller, applied, resolved, before, generation, self.world.now());
            self.confirm(life, confirming);
        } else {
            caller.answer(Ok(applied));
        }
    }

    fn apply(
        &mut self,
        life: &mut Incarnation<'_>,
        resolved: &[Resolved],
        by: &Asker,
    ) -> Result<(Applied, Look), ControlError> {
        let generation = self.current.stage.generation;
        let before = Look::at(life.region.view(), resolved, generation);
        let commands = resolved.iter().map(Resolved::command).collect();
        let paths = resolved.iter().map(|one| one.change.variable.clone()).collect();
        let cycle = self.publish_group(life, commands, paths, generation, Some(by))?;
        let effects = before.effects(resolved, |target| self.is_input(target));
        Ok((Applied { cycle, effects }, before))
    }

    /// Releases all forced variables.
    pub(super) fn unforce_all(
        &mut self,
        life: &mut Incarnation<'_>,
        by: &Asker,
    ) -> Result<Applied, ControlError> {
        let release = |variable: String| Change {
            kind: ChangeKind::Unforce,
            variable,
            value: None,
            allow_nan: false,
        };
        // All are released, even those that the build has no name for.
        let symbols = &self.current.build.symbols;
        let named = |variable: String| resolve_all(symbols, vec![release(variable)]).ok();
        let mut unnamed = Vec::new();
        let mut resolved: Vec<Resolved> = Vec::new();
        for path in self.forces.paths() {
            match named(path.clone()) {
                Some(found) => resolved.extend(found),
                None => unnamed.push(path),
            }
        }
        let generation = self.current.stage.generation;
        let before = Look::at(life.region.view(), &resolved, generation);
        let cycle = self.publish_group(life, vec![Command::UnforceAll], Vec::new(), 0, Some(by))?;
        let mut effects = before.effects(&resolved, |_| false);
        effects.extend(unnamed.into_iter().map(|path| Effect {
            change: release(path),
            old: None,
            new: None,
            without_effect: None,
        }));
        Ok(Applied { cycle, effects })
    }

    /// Returns `true` if the fieldbus writes a variable before each step.
    fn is_input(&self, target: &Target) -> bool {
        let own = target.offset..target.offset + u32::from(target.bytes);
        let inputs = &self.current.stage.inputs;
        inputs.iter().any(|it| it.offset < own.end && own.start < it.offset + u32::from(it.bytes))
    }

    /// Publishes commands as one group and waits for their cycle, which it returns. `paths` are the
    /// names of their variables; `by` is the client that asks, if any.
    pub(in crate::keeper) fn publish_group(
        &mut self,
        life: &mut Incarnation<'_>,
        commands: Vec<Command>,
        paths: Vec<String>,
        generation: u32,
        by: Option<&Asker>,
    ) -> Result<u64, ControlError> {
        let place = &self.setup.partition.name.clone();
        self.refuse_shed()?;
        let is_force = |command: &Command| matches!(command, Command::Force(_));
        if life.pending.is_some() && commands.iter().any(is_force) {
            // The places of its forces were chosen when it was staged.
            return Err(Refusal::BuildEndsForce.at(place));
        }
        // Commands that no cycle took yet may change the forces at any time.
        let running = self.current.stage.generation;
        let is_known = life.late.is_empty();
        let held = is_known.then(|| self.forces.of_retained(life, running)).flatten();
        let ticket = life
            .commands
            .publish(&commands, generation)
            .map_err(|error| Refusal::NotPublished { why: error.to_string() }.at(place))?;
        let patience = ANSWER_MAX + self.period();
        let end = self.world.now() + patience;
        let outcomes = life.region.outcomes();
        // The process must be looked at before its outcome: its last cycle may have taken the
        // commands.
        while self.world.now() < end {
            let is_over = life.process.is_over();
            let outcome = outcomes.and_then(|outcomes| outcomes.outcome(ticket));
            match outcome {
                Some(Outcome { cycle, result: Ok(()) }) => {
                    self.note_applied(life, &commands, &paths, (cycle, held), by);
                    return Ok(cycle);
                }
                Some(Outcome { result: Err((_, why)), .. }) => return Err(rejected(place, why)),
                None if is_over => return Err(Refusal::ProcessEnded.at(place)),
                None => self.glance(life),
            }
        }
        if life.late.len() < LATE_MAX {
            life.late.push(LateCommands { ticket, commands, paths, by: by.cloned() });
        }
        Err(Refusal::NotTaken { within: nanos(patience) }.at(place))
    }

    /// Takes note of the variables that applied commands force and release in a cycle, with the
    /// forces before it where they are known.
    fn note_applied(
        &mut self,
        life: &mut Incarnation<'_>,
        commands: &[Command],
        paths: &[String],
        (cycle, held): (u64, Option<Vec<Held>>),
        by: Option<&Asker>,
    ) {
        self.forces.note(commands, paths, &self.current.build.symbols);
        self.tell_set(commands, paths, cycle, by);
        if let Some(by) = by {
            self.tell_forced(commands, paths, cycle, by);
        }
        if commands.iter().any(|it| matches!(it, Command::Unforce(_) | Command::UnforceAll)) {
            self.saving.note_release(cycle, held);
            if let Some(pending) = &mut life.pending {
                pending.forces.keep_those_of(&self.forces);
            }
        }
    }

    /// Reports variables that were set, with their values: one group a second, with the number of
    /// the others, since a client may set a variable in each cycle.
    fn tell_set(&mut self, commands: &[Command], paths: &[String], cycle: u64, by: Option<&Asker>) {
        const KIND: &str = "set";
        let symbols = &self.current.build.symbols;
        let told = commands.iter().zip(paths).filter_map(|(command, path)| match command {
            Command::Set(assignment) => {
                let place = symbols.resolve(path).ok()?;
                let value = place.decode(&assignment.value.to_le_bytes())?;
                Some((path, value))
            }
            _ => None,
        });
        let told: Vec<_> = told.collect();
        if told.is_empty() {
            return;
        }
        // The pause is that of warnings, since information has none.
        let pause_of = Severity::Warning;
        let Some(before) = self.quiet.admit(KIND, None, pause_of, self.world.now()) else { return };
        let named = told.iter().take(TOLD_MAX).enumerate().map(|(index, (path, value))| {
            let verb = if index == 0 { "is set to" } else { "to" };
            format!("`{path}` {verb} {value}")
        });
        let mut text = named.collect::<Vec<_>>().join(", ");
        if told.len() > TOLD_MAX {
            text.push_str(&format!(" and {} more", told.len() - TOLD_MAX));
        }
        if before > 0 {
            text.push_str(&format!(" ({before} more like it before)"));
        }
        self.events.add_asked(&self.setup.partition.name, KIND, &text, Some(cycle), by);
    }

    /// Reports who asked for variables to be forced or released; the partition itself reports that
    /// it happened. One group a second, as for variables that are set.
    fn tell_forced(&mut self, commands: &[Command], paths: &[String], cycle: u64, by: &Asker) {
        const KIND: &str = "asked";
        let of = |wanted: fn(&Command) -> bool| {
            let named = commands.iter().zip(paths).filter(move |(command, _)| wanted(command));
            some_of(named.map(|(_, path)| path.as_str()))
        };
        let held = of(|command| matches!(command, Command::Force(_)));
        let released = of(|command| matches!(command, Command::Unforce(_)));
        let mut parts = Vec::new();
        if !held.is_empty() {
            parts.push(format!("to hold by force: {held}"));
        }
        if !released.is_empty() {
            parts.push(format!("to let go: {released}"));
        }
        if commands.contains(&Command::UnforceAll) {
            parts.push("to let all forced variables go".to_owned());
        }
        if !parts.is_empty() {
            self.note_asked_quietly(KIND, &parts.join("; "), Some(cycle), by);
        }
    }

    /// Reads the outcomes of commands that were not taken in time.
    pub(in crate::keeper) fn hear_late(&mut self, life: &mut Incarnation<'_>) {
        let Some(outcomes) = life.region.outcomes() else { return };
        for late in std::mem::take(&mut life.late) {
            match outcomes.outcome(late.ticket) {
                Some(Outcome { cycle, result: Ok(()) }) => {
                    let by = late.by.as_ref();
                    self.note_applied(life, &late.commands, &late.paths, (cycle, None), by);
                }
                Some(Outcome { result: Err(_), .. }) => {}
                None => life.late.push(late),
            }
        }
    }
}
