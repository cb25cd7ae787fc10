//! What a program and its fieldbus tell of themselves while they are measured.
//!
//! A program at fault runs no step any more, so its run ends there, and its records fail. A
//! fieldbus that lost a SubDevice gave the program other inputs than it should have, so what was
//! measured is no evidence of the site.

use quietcore_assembly::{KernelErrorWords, Staged, is_shut_down, kernel_error_words, tell};
use quietcore_exchange::{Event, EventReader, Happening, Region, TaskState};
use quietcore_record::record::KernelErrors;

use crate::work::Work;

/// The most different troubles of one kind that are kept in words; all are counted.
const KEPT_MAX: usize = 8;

/// Troubles of one kind: what, and how often.
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

    /// Whether there were none.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// A sentence for each.
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

/// Reads the events of one partition.
pub(crate) struct Listener<'a> {
    region: Region<'a>,
    readers: Vec<EventReader<'a>>,
    /// The program that tells them, and the names of its tasks.
    program: Option<(&'a Staged, Vec<&'a str>)>,
}

/// What was heard of a partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// Why the program stopped.
    pub(crate) faults: Troubles,
    /// What was wrong with its fieldbus.
    pub(crate) fieldbus: Troubles,
    /// What the program's own kernel found wrong, but for the warm-up.
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
    pub(crate) fn new(work: &'a Work, region: Region<'a>) -> Self {
        match work {
            Work::Latency(_) => Self { region, readers: Vec::new(), program: None },
            Work::Program(run) => {
                let names = run.assembly.task_names().collect();
                Self {
                    region,
                    readers: (0..=region.task_count()).filter_map(|by| region.events(by)).collect(),
                    program: Some((&run.assembly.first, names)),
                }
            }
        }
    }

    /// Notes what has been told since the last time.
    pub(crate) fn hear(&mut self, heard: &mut Heard) {
        let Some((staged, names)) = &self.program else { return };
        heard.lost = 0;
        for reader in &mut self.readers {
            for event in reader.drain() {
                let task = names.get(event.task as usize).copied();
                let troubles = match event.what {
                    Happening::KernelError { task: by, status, service } => {
                        if is_measured(self.region, &event) && !is_shut_down(service) {
                            let by = by.and(task);
                            heard.note_kernel_error(kernel_errors(by, status, service));
                        }
                        continue;
                    }
                    Happening::Fault { .. }
                    | Happening::Looped { .. }
                    | Happening::ModelError { .. }
                    | Happening::WatchdogExpired { .. }
                    | Happening::StoppedByOverrun { .. } => &mut heard.faults,
                    Happening::FieldbusLost { .. }
                    | Happening::WorkingCounter { .. }
                    | Happening::AlState { .. }
                    | Happening::SubDeviceAbsent { .. }
                    | Happening::SubDeviceForeign { .. }
                    | Happening::SubDeviceNotRecovered { .. }
                    | Happening::Emergency { .. } => &mut heard.fieldbus,
                    _ => continue,
                };
                troubles.add(tell(&event.what, task.unwrap_or("host"), staged).text);
            }
            heard.lost += reader.lost();
        }
    }
}

/// Whether an event is of the cycles that count, and not of the warm-up before them.
fn is_measured(region: Region<'_>, event: &Event) -> bool {
    // The state is set before anything is told of the cycles that count.
    let lead = region.task(0).filter(|task| has_begun(task.state()));
    lead.is_some_and(|lead| event.time.get() >= lead.first_release_ns())
}

fn has_begun(state: TaskState) -> bool {
    state == TaskState::Running || state.has_ended()
}

/// An error of a kernel, as the record has it.
fn kernel_errors(task: Option<&str>, status: u8, service: u8) -> KernelErrors {
    let KernelErrorWords { status, service, is_lost_work } = kernel_error_words(status, service);
    KernelErrors { task: task.map(str::to_owned), status, service, is_lost_work, count: 1 }
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
}
