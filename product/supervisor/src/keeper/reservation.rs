//! What a partition has reserved: whether the kernel gave it, told, and watched while it runs.

use std::time::{Duration, Instant};

use quietcore_backend::process::asked::{Asked, not_locked};
use quietcore_backend::process::{OWN_REMARK, Partition as Process};
use quietcore_exchange::{TaskState, TaskStatistics};
use quietcore_record::reason::NotInForce;

use super::Setup;
use super::log::EventLog;
use crate::control::Severity;

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(5);

/// What is known of a partition's reservation.
#[derive(Debug)]
pub(super) struct ReservationWatch {
    /// What is asked for its tasks; empty for a guest, whose tasks are its own kernel's.
    tasks: Vec<Watched>,
    /// When its share of cache and bandwidth was looked at last.
    looked: Instant,
    /// What was wrong with that then.
    drift: Option<String>,
}

/// A task.
#[derive(Debug)]
struct Watched {
    asked: Asked,
    /// When it was looked at last; `None` before it ran.
    looked: Option<Instant>,
    /// Reasons that were told at the last look.
    told: Vec<NotInForce>,
}

impl ReservationWatch {
    /// Tells what a process has that has just begun.
    pub(super) fn begin(process: &Process, setup: &Setup, events: &EventLog) -> Self {
        if let Some(share) = process.share() {
            let text = format!("it has {share}");
            events.note(&setup.partition.name, "memory-share", Severity::Information, &text);
        }
        let job = &setup.job;
        let asked = |policy| Asked { policy, cpu: job.cpu };
        let tasks = job.tasks.iter().filter(|_| process.guest().is_none());
        let tasks =
            tasks.map(|task| Watched { asked: asked(task.policy), looked: None, told: Vec::new() });
        Self { tasks: tasks.collect(), looked: Instant::now(), drift: None }
    }

    /// Looks whether it still has it, where it is time, and tells what is new.
    pub(super) fn look(&mut self, process: &Process, setup: &Setup, events: &EventLog) {
        let (job, partition) = (&setup.job, &setup.partition.name);
        for (index, (watched, task)) in
            self.tasks.iter_mut().zip(process.region().tasks()).enumerate()
        {
            let is_due = watched.looked.is_none_or(|looked| looked.elapsed() >= LOOK);
            if !is_due || task.state() != TaskState::Running {
                continue;
            }
            let is_first = watched.looked.replace(Instant::now()).is_none();
            let memory = job.memory.filter(|_| is_first && index == 0);
            let mut reasons = watched.look(process, task, is_first);
            if let (Some(memory), Ok(state)) = (memory, process.read_back(task)) {
                reasons.extend(not_locked(Some(memory), &state));
            }
            for reason in reasons {
                let text = format!("task `{}`: {reason}", job.tasks[index].name);
                events.note(partition, "reservation", Severity::Warning, &text);
            }
            if is_first && index == 0 {
                let said = process.remarks();
                for text in said.lines().filter_map(|line| line.strip_prefix(OWN_REMARK)) {
                    events.note(partition, "reservation", Severity::Warning, text);
                }
            }
        }
        self.look_at_share(process, partition, events);
    }

    fn look_at_share(&mut self, process: &Process, partition: &str, events: &EventLog) {
        let Some(share) = process.share() else { return };
        if self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        let drift = share.check().err().map(|error| error.to_string());
        if let Some(drift) = drift.iter().find(|drift| self.drift.as_ref() != Some(drift)) {
            events.note(partition, "drift", Severity::Warning, drift);
        }
        self.drift = drift;
    }
}

impl Watched {
    /// Lists what is not as it was asked for and was not told yet.
    fn look(
        &mut self,
        process: &Process,
        task: &TaskStatistics,
        is_first: bool,
    ) -> Vec<NotInForce> {
        let mut found = if is_first { self.asked.refused(task) } else { Vec::new() };
        // Between two looks it may have ended.
        if let Ok(state) = process.read_back(task)
            && task.state() == TaskState::Running
        {
            found.extend(self.asked.not_in_force(task, &state));
        }
        let news = found.iter().filter(|reason| !self.told.contains(reason)).cloned().collect();
        self.told = found;
        news
    }
}
