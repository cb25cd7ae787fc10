//! Handles a program that misuses its process: one that prints, or is cut off inside of a library.
//!
//! A real-time program should not print, and is not ended for it. What it prints is told as an
//! event, one a second, and kept in a file of the partition's state.
//!
//! A program that was cut off inside of a library may have left that half done, or locked for ever.
//! Its tasks go on without, outputs set and fieldbus served; where the program is to be started
//! anew the process is replaced.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quietcore_backend::process::Partition as Process;
use quietcore_wording::plural;

use super::incarnation::Incarnation;
use super::{End, Kept};
use crate::control::{ControlError, ErrorKind, Restart, Severity};
use crate::log_file::LogFile;

/// The file of what the program printed, in the folder of the partition's state.
pub(crate) const PRINTED: &str = "printed.log";
/// The most bytes of it, and of the older one beside it.
const PRINTED_BYTES_MAX: u64 = 1 << 20;
/// The most lines of it that are written in a second.
const LINES_A_SECOND_MAX: u32 = 100;
const SECOND: Duration = Duration::from_secs(1);
/// The longest time that a process may take to find that no lock is held.
const EXAMINATION_MAX: Duration = Duration::from_millis(500);
const CUT_OFF: &str = "the program was cut off inside of a library";

/// Where the lines go that a program prints.
#[derive(Debug)]
pub(super) struct Printing {
    path: PathBuf,
    log: LogFile,
    /// Since when lines are counted, and how many were written since.
    rate: Option<(Instant, u32)>,
    left_out: u64,
    is_told: bool,
}

impl Printing {
    /// Lines that go into this folder.
    pub(super) fn new(folder: &Path) -> Self {
        let path = folder.join(PRINTED);
        let log = LogFile::new(path.clone(), PRINTED_BYTES_MAX);
        Self { path, log, rate: None, left_out: 0, is_told: false }
    }

    /// Returns whether another line may be written now.
    fn admits(&mut self, now: Instant) -> bool {
        let (since, count) = self.rate.get_or_insert((now, 0));
        if now.saturating_duration_since(*since) >= SECOND {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        *count <= LINES_A_SECOND_MAX
    }

    /// Writes a line, or counts it. What can't be written is lost: it was told as an event.
    fn write(&mut self, line: &str, now: Instant) {
        if !self.admits(now) {
            self.left_out += 1;
            return;
        }
        let at = jiff::Timestamp::now();
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            let text = format!("{at} ({left_out} line{} left out)", plural(left_out));
            let _ = self.log.add(&text);
        }
        let _ = self.log.add(&format!("{at} {line}"));
    }
}

impl Kept {
    /// Hears what the program has printed.
    pub(super) fn hear_printed(&mut self, process: &Process) {
        const KIND: &str = "printed";
        let printed = process.take_printed();
        let now = Instant::now();
        for line in &printed.lines {
            self.printing.write(line, now);
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
    /// The instant from which on a lock may be held.
    held_since: Option<Instant>,
    is_told: bool,
    /// The restart that is due, which takes another process.
    pub(super) replacement: Option<Replacement>,
}

/// A restart that takes another process.
#[derive(Clone, Copy, Debug)]
pub(super) enum Replacement {
    /// It was planned, counted and waited for.
    Planned,
    /// A person has asked for it.
    Asked(Restart),
}

impl Kept {
    /// Looks for a program that was cut off inside of a library. Returns the end of its process,
    /// when it is to be started anew.
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

    /// Tells that a process whose program runs on can load no build any more.
    fn tell_held(&self, life: &mut Incarnation<'_>) {
        if !life.region.is_library_held() {
            life.cut_off.held_since = None;
            return;
        }
        let since = *life.cut_off.held_since.get_or_insert_with(Instant::now);
        let is_certain = since.elapsed() >= EXAMINATION_MAX && life.fault.is_none();
        if is_certain && !std::mem::replace(&mut life.cut_off.is_told, true) {
            let text = format!("{CUT_OFF}, which is left locked: its process can load no build");
            let name = &self.setup.partition.name;
            self.events.note(name, "library-held", Severity::Warning, &text);
        }
    }

    /// Returns the refusal of a deploy where the process can load no build.
    pub(super) fn refuse_held(&self, life: &Incarnation<'_>) -> Option<ControlError> {
        let name = &self.setup.partition.name;
        let what = format!("{CUT_OFF}, which is left locked");
        let remedy = format!("start its process anew first: `quietcore restart {name}`");
        let is_held = life.region.is_library_held();
        is_held.then(|| ControlError::new(ErrorKind::NotNow, name, what, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_prints_in_every_cycle_fills_no_disk() {
        let folder = tempfile::tempdir().unwrap();
        let mut printing = Printing::new(folder.path());
        let now = Instant::now();
        (0..1000).for_each(|number| printing.write(&format!("step {number}"), now));
        printing.write("later", now + SECOND);
        let text = std::fs::read_to_string(folder.path().join(PRINTED)).unwrap();
        assert_eq!(text.lines().count(), LINES_A_SECOND_MAX as usize + 2);
        let last: Vec<&str> = text.lines().rev().take(2).collect();
        assert!(last[0].ends_with("Z later") && last[1].ends_with("Z (900 lines left out)"));
    }
}
