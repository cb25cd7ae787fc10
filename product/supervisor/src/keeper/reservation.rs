//! The reservation of a partition: reports if the kernel did not give it, and watches it while the
//! partition runs.

use std::time::{Duration, Instant};

use quietcore_backend::process::OWN_REMARK;
use quietcore_backend::process::asked::{Asked, not_locked};
use quietcore_exchange::{TaskState, TaskStatistics};
use quietcore_record::reason::NotInForce;
use quietcore_units::{ByteSize, CpuId};

use super::Setup;
use super::log::EventLog;
use crate::control::Severity;
use crate::world::Process;

/// Time between two looks at it.
const LOOK: Duration = Duration::from_secs(5);

/// The reservation of a partition, as last seen.
#[derive(Debug)]
pub(super) struct ReservationWatch {
    partition: String,
    /// Its tasks; empty for a guest whose tasks are its own kernel's.
    tasks: Vec<Watched>,
    memory: Option<ByteSize>,
    is_locked: bool,
    /// Instant of the last look at its share of cache and bandwidth, and at what its backend keeps
    /// around it.
    looked: Instant,
    /// Messages about those, if something was wrong with them then.
    drift: Vec<String>,
}

/// The settings that a partition asks of the kernel.
#[derive(Debug)]
pub(super) struct Reserved {
    /// Name of the partition.
    pub(super) partition: String,
    /// Its tasks by name, in the order of the exchange.
    pub(super) tasks: Vec<(String, Asked)>,
    /// Memory that is locked for it.
    pub(super) memory: Option<ByteSize>,
    /// `true` if any of its memory is locked.
    pub(super) is_locked: bool,
}

impl Reserved {
    /// Returns what the program of a partition asks for.
    pub(super) fn of(setup: &Setup) -> Self {
        let job = &setup.job;
        let asked = |policy| Asked { policy, cpu: job.cpu, is_emulated: false };
        Self {
            partition: setup.partition.name.clone(),
            tasks: job.tasks.iter().map(|it| (it.name.clone(), asked(it.policy))).collect(),
            memory: job.memory,
            is_locked: true,
        }
    }
}

/// A task whose settings are watched.
#[derive(Debug)]
struct Watched {
    name: String,
    asked: Asked,
    /// Instant of the last look at it; `None` before it ran.
    looked: Option<Instant>,
    /// Reasons that held at the last look.
    told: Vec<NotInForce>,
}

impl ReservationWatch {
    /// Begins to watch a process that has just started, and reports its share of cache and
    /// bandwidth.
    pub(super) fn begin(
        process: &dyn Process,
        reserved: Reserved,
        events: &EventLog,
        now: Instant,
    ) -> Self {
        let Reserved { partition, tasks, memory, is_locked } = reserved;
        if let Some(share) = process.share() {
            let text = format!("it has {share}");
            events.note(&partition, "memory-share", Severity::Information, &text);
        }
        let tasks = tasks.into_iter().filter(|_| process.tasks_are_threads());
        let tasks =
            tasks.map(|(name, asked)| Watched { name, asked, looked: None, told: Vec::new() });
        Self {
            partition,
            tasks: tasks.collect(),
            memory,
            is_locked,
            looked: now,
            drift: Vec::new(),
        }
    }

    /// Compares the reservation with what is in force, where it is time, and reports what is new.
    pub(super) fn look(&mut self, process: &dyn Process, events: &EventLog, now: Instant) {
        let exchange = process.exchange();
        let partition = &self.partition;
        for (index, (watched, task)) in
            self.tasks.iter_mut().zip(exchange.region().tasks()).enumerate()
        {
            let is_due =
                watched.looked.is_none_or(|looked| now.saturating_duration_since(looked) >= LOOK);
            if !is_due || task.state() != TaskState::Running {
                continue;
            }
            let is_first = watched.looked.replace(now).is_none();
            let memory = self.memory.filter(|_| is_first && index == 0);
            let mut reasons = watched.look(process, task, is_first, self.is_locked);
            if let (Some(memory), Ok(state)) = (memory, process.read_back(task)) {
                reasons.extend(not_locked(Some(memory), &state));
            }
            for reason in reasons {
                let text = format!("task `{}`: {reason}", watched.name);
                events.note(partition, "reservation", Severity::Warning, &text);
            }
            if let Some(cpu) = watched.pin_again(process, task) {
                let name = &watched.name;
                let text = format!("task `{name}` is pinned to CPU {cpu} again");
                events.note(partition, "pinned-again", Severity::Information, &text);
            }
            if is_first && index == 0 {
                let said = process.remarks();
                for text in said.lines().filter_map(|line| line.strip_prefix(OWN_REMARK)) {
                    events.note(partition, "reservation", Severity::Warning, text);
                }
            }
        }
        self.look_around(process, events, now);
    }

    /// Lists every difference from the reservation that the last look has found.
    pub(super) fn drift(&self) -> Vec<String> {
        let mut drift = Vec::new();
        for watched in &self.tasks {
            let name = &watched.name;
            drift.extend(watched.told.iter().map(|reason| format!("task `{name}`: {reason}")));
        }
        drift.extend_from_slice(&self.drift);
        drift
    }

    /// Looks at its share and at what its backend keeps around it, where it is time.
    fn look_around(&mut self, process: &dyn Process, events: &EventLog, now: Instant) {
        if now.saturating_duration_since(self.looked) < LOOK {
            return;
        }
        self.looked = now;
        let of_share = process.share().and_then(|share| share.check().err());
        let of_share = of_share.map(|error| error.to_string());
        let drift: Vec<String> = of_share.into_iter().chain(process.drift()).collect();
        for drift in drift.iter().filter(|drift| !self.drift.contains(drift)) {
            events.note(&self.partition, "drift", Severity::Warning, drift);
        }
        self.drift = drift;
    }
}

impl Watched {
    /// Pins the task again if the last look has found that it may run elsewhere. Returns its CPU if
    /// that succeeds; while the CPU is offline, a later look tries again.
    fn pin_again(&mut self, process: &dyn Process, task: &TaskStatistics) -> Option<CpuId> {
        let is_moved = |reason: &NotInForce| matches!(reason, NotInForce::OtherCpus { .. });
        if !self.told.iter().any(is_moved) {
            return None;
        }
        let cpu = self.asked.cpu.and_then(CpuId::new)?;
        process.pin_again(task, cpu).ok()?;
        self.told.retain(|reason| !is_moved(reason));
        Some(cpu)
    }

    /// Lists the settings that are not in force and were not reported yet.
    fn look(
        &mut self,
        process: &dyn Process,
        task: &TaskStatistics,
        is_first: bool,
        is_locked: bool,
    ) -> Vec<NotInForce> {
        let mut found = if is_first { self.asked.refused(task) } else { Vec::new() };
        // The task may have ended between two looks.
        if let Ok(state) = process.read_back(task)
            && task.state() == TaskState::Running
        {
            found.extend(self.asked.not_in_force(task, &state));
        }
        found.retain(|reason| is_locked || !matches!(reason, NotInForce::Unlocked));
        let news = found.iter().filter(|reason| !self.told.contains(reason)).cloned().collect();
        self.told = found;
        news
    }
}
