//! The keeper's part of the running monitor: events, restarts, figures.

use std::time::Instant;

use quietcore_wording::plural;

use super::incarnation::Incarnation;
use super::{EventLog, Kept};
use crate::control::Severity;
use crate::running_monitor::figures::ReactionFigures;
use crate::running_monitor::post::MonitorNotice;

/// Kind of the events about shedding, in the partition that sheds and in those that are shed.
const SHED: &str = "shed";

/// The monitor's findings about a partition, as its keeper has them.
#[derive(Debug, Default)]
pub(super) struct Watched {
    reactions: ReactionFigures,
    times_shed: u64,
    /// Instant at which it is restarted because it was late too often.
    restart_at: Option<Instant>,
}

impl Kept {
    /// Lets the monitor watch the process, and hold it.
    pub(super) fn meet_monitor(&self, life: &Incarnation<'_>) {
        let Some(post) = &self.setup.post else { return };
        // The kernel of an OSEK program measures its tasks by itself, so they are never stopped.
        match life.process.holder(self.setup.job.kernel_tasks.is_empty()) {
            Ok(holder) => post.put(holder),
            Err(error) => {
                let text = format!("the partition is not watched: {error}");
                self.note_monitor("monitor", Severity::Warning, &text);
            }
        }
    }

    /// Takes the process away from the monitor, which no longer holds it.
    pub(super) fn leave_monitor(&self) {
        if let Some(post) = &self.setup.post {
            post.take();
        }
    }

    /// Returns the name of the partition for which this one is shed now.
    pub(super) fn shed_by(&self) -> Option<String> {
        Some(self.setup.post.as_ref()?.shed_by()?.to_owned())
    }

    /// Acts on what the monitor has reported.
    pub(super) fn hear_monitor(&mut self, life: &mut Incarnation<'_>) {
        self.look_after_late(life);
        self.hear_told(life);
    }

    fn hear_told(&mut self, life: &Incarnation<'_>) {
        let Some(post) = self.setup.post.clone() else { return };
        while let Some(told) = post.hear() {
            match told {
                MonitorNotice::Late(verdict) => {
                    let (count, kind) = (verdict.count, verdict.kind);
                    let text = format!("{count} × {kind} seen by the monitor");
                    self.note_often(kind.word(), &text);
                }
                MonitorNotice::Restart(verdict) => {
                    let why = format!("{} × {} seen by the monitor", verdict.count, verdict.kind);
                    self.restart_late(life, &why);
                }
                MonitorNotice::Sheds { verdict, victims, reaction } => {
                    self.watched.reactions.note(reaction);
                    let text = format!(
                        "{victims} less critical partition{} shed for it after {} × {}: {reaction} \
                         after the last was done",
                        plural(u64::from(victims)),
                        verdict.count,
                        verdict.kind
                    );
                    self.note_monitor(SHED, Severity::Warning, &text);
                }
                MonitorNotice::Shed { by, kind, throttled } => {
                    self.watched.times_shed += 1;
                    let how = if throttled { "throttled" } else { "frozen" };
                    let text = format!("{how} for `{}` ({kind})", post.name(by));
                    self.note_monitor(SHED, Severity::Warning, &text);
                }
                MonitorNotice::Back { after } => {
                    let text = format!("given back after {after}");
                    self.note_monitor("given-back", Severity::Information, &text);
                }
                MonitorNotice::Refused { error } => {
                    let error = std::io::Error::from_raw_os_error(error);
                    self.note_often(SHED, &format!("the kernel refused to hold it: {error}"));
                }
            }
        }
    }

    /// Restarts a program that was late too often when its wait is over.
    fn look_after_late(&mut self, life: &mut Incarnation<'_>) {
        let Some(at) = self.watched.restart_at else { return };
        if life.fault.is_some() {
            // The fault restarts it already.
            self.forget_late();
        } else if self.world.now() >= at && life.pending.is_none() && self.shed_by().is_none() {
            self.watched.restart_at = None;
            self.restart_as_planned(life);
        }
    }

    /// Withdraws a restart that is planned for a program that ends, and drops any that the monitor
    /// has reported and nobody has read yet: neither is meant for the program that follows.
    pub(super) fn leave_late(&mut self, life: &Incarnation<'_>) {
        self.hear_told(life);
        self.forget_late();
    }

    /// Withdraws a restart that is planned.
    fn forget_late(&mut self) {
        if self.watched.restart_at.take().is_some() {
            self.withdraw_restart();
        }
    }

    /// Plans a restart of a program that is late, with the same waits and limit as for one in
    /// fault.
    fn restart_late(&mut self, life: &Incarnation<'_>, why: &str) {
        // A program that is being restarted gets no second restart for the same reason.
        let is_restarting = life.fault.is_some() || self.watched.restart_at.is_some();
        if is_restarting || life.pending.is_some() {
            return;
        }
        self.note_monitor("restart", Severity::Fault, why);
        if let Some(wait) = self.next_restart() {
            self.watched.restart_at = Some(self.world.now() + wait);
        }
    }

    /// Publishes the monitor's figures, where others look.
    pub(super) fn publish_watched(&self) {
        let mut published = self.published.state();
        published.reactions = self.watched.reactions.figures();
        published.times_shed = self.watched.times_shed;
    }

    fn note_often(&mut self, kind: &'static str, text: &str) {
        if let Some(more) = self.quiet.admit(kind, None, Severity::Warning, self.world.now()) {
            let more =
                if more > 0 { format!(" ({more} more like it before)") } else { String::new() };
            self.note_monitor(kind, Severity::Warning, &format!("{text}{more}"));
        }
    }

    fn note_monitor(&self, kind: &str, severity: Severity, text: &str) {
        let events: &EventLog = &self.events;
        events.note(&self.setup.partition.name, kind, severity, text);
    }
}
