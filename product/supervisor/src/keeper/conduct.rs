//! Handles a program that misuses its process: one that prints, or one that was cut off inside of a
//! library.
//!
//! A real-time program should not print, but it is not ended for that. Its lines are reported as
//! events, one a second, and kept in a file of the partition's state.
//!
//! A program that was cut off inside of a library may have left the library's data half changed, or
//! locked for ever. Its tasks go on without it, with outputs set and the fieldbus served; where the
//! program is to be started anew, the process is replaced.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quietcore_wording::plural;

use super::incarnation::Incarnation;
use super::{End, Kept};
use crate::control::{ControlError, Refusal, Restart, Severity};
use crate::log_file::LogFile;
use crate::world::{Process, Storage};

/// Name of the file of printed lines, in the folder of the partition's state.
pub(crate) const PRINTED: &str = "printed.log";
/// Limit of its size in bytes, and of the older file beside it.
const PRINTED_BYTES_MAX: u64 = 1 << 20;
/// Limit of the lines that are written to it in a second.
const LINES_A_SECOND_MAX: u32 = 100;
const SECOND: Duration = Duration::from_secs(1);
/// Longest time in which a process finds out that no lock is held after all.
const EXAMINATION_MAX: Duration = Duration::from_millis(500);
const CUT_OFF: &str = "the program was cut off inside of a library";

/// The file of the lines that a program prints.
#[derive(Debug)]
pub(super) struct Printing {
    path: PathBuf,
    log: LogFile,
    /// Start of the current second, and the number of lines that were written in it.
    rate: Option<(Instant, u32)>,
    left_out: u64,
    is_told: bool,
}

impl Printing {
    /// Writes lines into a file in this folder.
    pub(super) fn new(folder: &Path, storage: Arc<dyn Storage>) -> Self {
        let path = folder.join(PRINTED);
        let log = LogFile::new(storage, path.clone(), PRINTED_BYTES_MAX);
        Self { path, log, rate: None, left_out: 0, is_told: false }
    }

    /// Counts a line; returns `true` if it may be written now.
    fn admits(&mut self, now: Instant) -> bool {
        let (since, count) = self.rate.get_or_insert((now, 0));
        if now.saturating_duration_since(*since) >= SECOND {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        *count <= LINES_A_SECOND_MAX
    }

    /// Writes a line, or counts it as left out. A line that can't be written is lost; an event has
    /// told it.
    fn write(&mut self, line: &str, now: Instant, at: jiff::Timestamp) {
        if !self.admits(now) {
            self.left_out += 1;
            return;
        }
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            let text = format!("{at} ({left_out} line{} left out)", plural(left_out));
            let _ = self.log.add(&text);
        }
        let _ = self.log.add(&format!("{at} {line}"));
    }
}

impl Kept {
    /// Reports and keeps the lines that the program has printed.
    pub(super) fn hear_printed(&mut self, process: &dyn Process) {
        const KIND: &str = "printed";
        let printed = process.take_printed();
        let now = self.world.now();
        for line in &printed.lines {
            self.printing.write(line, now, self.world.time_of_day());
            let Some(more) = self.quiet.admit(KIND, None, Severity::Warning, now) else {
                continue;
            };
            let mut text = format!("the program printed: {line}");
            if more > 0 {
                text.push_str(&format!(" ({more} more line{} before)", plural(more)));
            }
            if !std::mem::replace(&mut self.printing.is_told, true) {
                let path = self.printing.path.display();
                text.push_str(&format!(
                    "; a real-time program should not, each line is a system call within its \
                     cycle. All is kept in `{path}`"
                ));
            }
            self.events.note(&self.setup.partition.name, KIND, Severity::Warning, &text);
        }
        self.printing.left_out += printed.left_out;
    }
}

/// Calls that were cut off inside of a library of a process, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CutOff {
    /// Instant since which a lock may be held.
    held_since: Option<Instant>,
    is_told: bool,
    /// The restart that is due and takes another process.
    pub(super) replacement: Option<Replacement>,
}

/// A restart that takes another process.
#[derive(Clone, Copy, Debug)]
pub(super) enum Replacement {
    /// It was planned and counted, and its wait is over.
    Planned,
    /// A client has asked for it.
    Asked(Restart),
}

impl Kept {
    /// Looks for a program that was cut off inside of a library. Returns the end of its process if
    /// that is to be replaced.
    pub(super) fn note_cut_off(&mut self, life: &mut Incarnation<'_>) -> Option<End> {
        if life.region.library_troubles() == 0 {
            return None;
        }
        let Some(restart) = life.cut_off.replacement else {
            self.tell_held(life);
            return None;
        };
        if let (Replacement::Asked(_), Some((_, Some(_)))) = (restart, &life.fault) {
            self.withdraw_restart();
        }
        Some(End::Replaced { why: format!("{CUT_OFF}, so its process is replaced"), restart })
    }

    /// Reports that a process can load no build any more, though its program runs on.
    fn tell_held(&self, life: &mut Incarnation<'_>) {
        if !life.region.is_library_held() {
            life.cut_off.held_since = None;
            return;
        }
        let since = *life.cut_off.held_since.get_or_insert_with(|| self.world.now());
        let is_certain = self.world.now().saturating_duration_since(since) >= EXAMINATION_MAX
            && life.fault.is_none();
        if is_certain && !std::mem::replace(&mut life.cut_off.is_told, true) {
            let text = format!("{CUT_OFF}, which is left locked: its process can load no build");
            let name = &self.setup.partition.name;
            self.events.note(name, "library-held", Severity::Warning, &text);
        }
    }

    /// Returns the refusal of a deploy if the process can load no build.
    pub(super) fn refuse_held(&self, life: &Incarnation<'_>) -> Option<ControlError> {
        let name = &self.setup.partition.name;
        let refusal = || Refusal::LibraryHeld { partition: name.clone() }.at(name);
        life.region.is_library_held().then(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::storage::Disk;

    #[test]
    fn a_program_that_prints_in_every_cycle_fills_no_disk() {
        let folder = tempfile::tempdir().unwrap();
        let mut printing = Printing::new(folder.path(), Arc::new(Disk));
        let (now, at) = (Instant::now(), jiff::Timestamp::now());
        (0..1000).for_each(|number| printing.write(&format!("step {number}"), now, at));
        printing.write("later", now + SECOND, at);
        let text = std::fs::read_to_string(folder.path().join(PRINTED)).unwrap();
        assert_eq!(text.lines().count(), LINES_A_SECOND_MAX as usize + 2);
        let last: Vec<&str> = text.lines().rev().take(2).collect();
        assert!(last[0].ends_with("Z later") && last[1].ends_with("Z (900 lines left out)"));
    }
}
