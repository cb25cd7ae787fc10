//! What a program and its fieldbus tell of themselves while they are measured.
//!
//! A program at fault runs no step any more, so its run ends there, and its records fail. A
//! fieldbus that lost a SubDevice gave the program other inputs than it should have, so what was
//! measured is no evidence of the site.

use quietcore_assembly::{Staged, tell};
use quietcore_exchange::{EventReader, Happening, Region};

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
    /// Events that were overwritten before they were read.
    pub(crate) lost: u64,
}

impl<'a> Listener<'a> {
    /// Listens to the partition behind `region` from its first event on.
    pub(crate) fn new(work: &'a Work, region: Region<'a>) -> Self {
        match work {
            Work::Latency(_) => Self { readers: Vec::new(), program: None },
            Work::Program(run) => {
                let names = run.assembly.task_names().collect();
                Self {
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
            while let Some(event) = reader.next_event() {
                let troubles = match event.what {
                    Happening::Fault { .. }
                    | Happening::Looped { .. }
                    | Happening::ModelError
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
                let task = names.get(event.task as usize).copied().unwrap_or("host");
                troubles.add(tell(&event.what, task, staged).text);
            }
            heard.lost += reader.lost();
        }
    }
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
