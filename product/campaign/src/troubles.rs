//! Reports of a program and its fieldbus about themselves while they are measured.
//!
//! A program in fault runs no step any more, so its run ends there, and its records fail. A
//! fieldbus that lost a SubDevice gave the program other inputs than it should have, so the
//! measurement is no evidence about the site.

use quietcore_assembly::{Staged, is_shut_down, kernel_errors, tell};
use quietcore_exchange::{Event, EventReader, Happening, Region, TaskState};
use quietcore_record::record::{KernelErrors, ProgramStop, StopCause};

use crate::work::PartitionWork;

/// The most distinct troubles of one kind that are kept in words; all are counted.
const KEPT_MAX: usize = 8;

/// Troubles of one kind, each with its count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Troubles {
    kept: Vec<(String, u64)>,
    others: u64,
}

impl Troubles {
    fn add(&mut self, text: String) {
        if let Some((_, count)) = self.kept.iter_mut().find(|(known, _)| *known == text) {
            *count += 1;
        } else if self.kept.len() < KEPT_MAX {
            self.kept.push((text, 1));
        } else {
            self.others += 1;
        }
    }

    /// Returns `true` where there were none.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns a sentence for each trouble.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self
            .kept
            .iter()
            .map(|(text, count)| match count {
                1 => text.clone(),
                _ => format!("{text} ({count} times)"),
            })
            .collect();
        if self.others > 0 {
            words.push(format!("and {} more", self.others));
        }
        words
    }
}

/// Stops of a program: the first distinct ones with their counts, and the number of others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stops {
    kept: Vec<ProgramStop>,
    others: u64,
}

impl Stops {
    fn add(&mut self, stop: StopCause, task: Option<&str>, elapsed_ns: Option<u64>, text: String) {
        let like = |known: &&mut ProgramStop| match known {
            ProgramStop::Told { cause, told, .. } => *cause == stop && *told == text,
            ProgramStop::Others { .. } | ProgramStop::Stated(_) => false,
        };
        if let Some(ProgramStop::Told { count, .. }) = self.kept.iter_mut().find(like) {
            *count += 1;
        } else if self.kept.len() < KEPT_MAX {
            let task = task.map(str::to_owned);
            self.kept.push(ProgramStop::Told {
                cause: stop,
                task,
                elapsed_ns,
                told: text,
                count: 1,
            });
        } else {
            self.others += 1;
        }
    }

    /// Returns `true` where there were none.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Lists them, with those that were not kept as one number.
    pub(crate) fn listed(&self) -> Vec<ProgramStop> {
        let others = (self.others > 0).then_some(ProgramStop::Others { more: self.others });
        self.kept.iter().cloned().chain(others).collect()
    }
}

/// Reader of the events of one partition.
pub(crate) struct Listener<'a> {
    region: Region<'a>,
    readers: Vec<EventReader<'a>>,
    /// The program that reports them, and the names of its tasks; `None` for the probe.
    program: Option<(&'a Staged, Vec<&'a str>)>,
}

/// The events heard of a partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// Reasons why the program stopped.
    pub(crate) faults: Stops,
    /// Failure of the program's `initialize`, after which nothing of it runs.
    pub(crate) not_started: Option<String>,
    /// Problems with its fieldbus, which make the run no evidence.
    pub(crate) fieldbus: Troubles,
    /// Errors that the program's own kernel found, without those of the warm-up.
    pub(crate) kernel: Vec<KernelErrors>,
    /// Events that were overwritten before they were read.
    pub(crate) lost: u64,
}

impl Heard {
    fn note_kernel_error(&mut self, found: KernelErrors) {
        let like = |known: &&mut KernelErrors| {
            (&known.task, &known.status, &known.service)
                == (&found.task, &found.status, &found.service)
        };
        match self.kernel.iter_mut().find(like) {
            Some(known) => known.count += found.count,
            None => self.kernel.push(found),
        }
    }
}

impl<'a> Listener<'a> {
    /// Listens to the partition behind `region` from its first event on.
    pub(crate) fn new(work: &'a PartitionWork, region: Region<'a>) -> Self {
        match work {
            PartitionWork::Latency(_) => Self { region, readers: Vec::new(), program: None },
            PartitionWork::Program(run) => {
                let names = run.assembly.task_names().collect();
                Self {
                    region,
                    readers: (0..=region.task_count()).filter_map(|by| region.events(by)).collect(),
                    program: Some((&run.assembly.first, names)),
                }
            }
        }
    }

    /// Notes what has been reported since the last call.
    pub(crate) fn hear(&mut self, heard: &mut Heard) {
        let Some((staged, names)) = &self.program else { return };
        heard.lost = 0;
        for reader in &mut self.readers {
            for event in reader.drain() {
                let task = names.get(event.task as usize).copied();
                let text = || tell(&event.what, task.unwrap_or("host"), staged).text;
                match event.what {
                    Happening::KernelError { task: by, status, service }
                        if is_measured(self.region, &event) && !is_shut_down(service) =>
                    {
                        let by = by.and(task);
                        heard.note_kernel_error(kernel_errors(by, status, service));
                    }
                    Happening::Fault { .. } => {
                        heard.faults.add(StopCause::Crash, task, None, text());
                    }
                    Happening::Looped { .. } => {
                        heard.faults.add(StopCause::Loop, task, None, text());
                    }
                    Happening::InitializeCrashed { .. } | Happening::InitializeLooped { .. } => {
                        heard.not_started = Some(text());
                    }
                    Happening::ModelError { .. } => {
                        heard.faults.add(StopCause::ModelError, task, None, text());
                    }
                    Happening::WatchdogExpired { elapsed_ns, .. } => {
                        heard.faults.add(StopCause::Watchdog, task, Some(elapsed_ns), text());
                    }
                    Happening::StoppedByOverrun { response_ns } => {
                        heard.faults.add(StopCause::Overrun, task, Some(response_ns), text());
                    }
                    Happening::FieldbusLost { .. }
                    | Happening::WorkingCounter { .. }
                    | Happening::AlState { .. }
                    | Happening::SubDeviceAbsent { .. }
                    | Happening::SubDeviceForeign { .. }
                    | Happening::SubDeviceNotRecovered { .. }
                    | Happening::Emergency { .. } => heard.fieldbus.add(text()),
                    _ => {}
                }
            }
            heard.lost += reader.lost();
        }
    }
}

/// Returns `true` if an event is of the cycles that count, and not of the warm-up before them.
fn is_measured(region: Region<'_>, event: &Event) -> bool {
    // The task's state is set before any event of the cycles that count.
    let lead = region.task(0).filter(|task| has_begun(task.state()));
    lead.is_some_and(|lead| event.time.get() >= lead.first_release_ns())
}

fn has_begun(state: TaskState) -> bool {
    state == TaskState::Running || state.has_ended()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_is_counted_and_not_repeated() {
        let mut troubles = Troubles::default();
        assert!(troubles.is_empty());
        for _ in 0..3 {
            troubles.add("the lamp is out".to_owned());
        }
        for number in 0..20 {
            troubles.add(format!("fuse {number}"));
        }
        let words = troubles.words();
        assert_eq!(words.len(), KEPT_MAX + 1);
        assert_eq!(words[0], "the lamp is out (3 times)");
        assert_eq!(words[KEPT_MAX], "and 13 more");
    }

    #[test]
    fn the_same_stop_is_counted_with_its_cause() {
        let mut stops = Stops::default();
        assert!(stops.is_empty());
        for number in 0..KEPT_MAX as u64 + 2 {
            let text = format!("too long at {}", number.max(1));
            stops.add(StopCause::Watchdog, Some("fast"), Some(number), text);
        }
        let listed = stops.listed();
        let words: Vec<String> = listed.iter().map(ToString::to_string).collect();
        assert_eq!(words[0], "too long at 1 (2 times)");
        assert_eq!(words[KEPT_MAX], "and 1 more");
        let ProgramStop::Told { cause, task, elapsed_ns, .. } = &listed[1] else { panic!() };
        assert_eq!(
            (*cause, task.as_deref(), *elapsed_ns),
            (StopCause::Watchdog, Some("fast"), Some(2))
        );
    }
}
