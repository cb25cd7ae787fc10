//! The progress of a run in a file, for programs that follow it.
//!
//! ```text
//! Observer ─► Beside ─┬─► the observer that a person sees
//!                     └─► FILE, replaced whole: RunProgress as JSON
//! ```
//!
//! The file has the latest state alone, so that its size has a bound however long a run is. It is
//! written twice a second at most and not synced: it is worth nothing after a crash, and the disk
//! may be what is measured. A run goes on where the file can't be written any more.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quietcore_record::record::Record;
use quietcore_units::Nanos;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::observer::{Advance, Observer, Progress};
use crate::run::Run;

/// The schema name of the file.
pub const PROGRESS_SCHEMA: &str = "quietcore.progress/1";
/// The shortest time between two states that differ in their figures alone.
const WRITE_EVERY: Duration = Duration::from_millis(500);

/// The latest state of a run, as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunProgress {
    /// Name of this form: [`PROGRESS_SCHEMA`].
    pub schema: String,
    /// Number of the process that measures.
    pub pid: u32,
    /// The step under way, such as `warming up`, or the part of a probe; may be empty.
    pub step: String,
    /// The profile, or the variant of an experiment, that is measured; empty before the first.
    pub profile: String,
    /// Names of the partitions that are measured.
    pub partitions: Vec<String>,
    /// The number of measurements that have begun.
    pub begun: u64,
    /// The part of the whole time that has passed, from 0 to 1.
    pub fraction: f64,
    /// The time that is left by the plan, in ns.
    pub left_ns: u64,
    /// The largest release latency of this measurement so far, in ns.
    pub worst_ns: Option<u64>,
}

/// The file into which progress is written.
#[derive(Debug)]
pub struct ProgressFile {
    path: PathBuf,
    state: RunProgress,
    /// Time that all measurements take by the plan.
    whole: Nanos,
    /// Time of the measurements that are over.
    over: Nanos,
    /// Time of the one that is under way.
    current: Nanos,
    written: Instant,
}

impl ProgressFile {
    /// Writes the first state, which has the number of this process.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let schema = PROGRESS_SCHEMA.to_owned();
        let state = RunProgress { schema, pid: std::process::id(), ..RunProgress::default() };
        let (path, written) = (path.to_owned(), Instant::now());
        let none = Nanos::ZERO;
        let mut file = Self { path, state, whole: none, over: none, current: none, written };
        file.write()?;
        Ok(file)
    }

    /// Sets the time that all measurements take by the plan.
    pub fn set_whole(&mut self, whole: Nanos) {
        self.whole = whole;
        self.tell();
    }

    /// Counts `done` of `all` of the measurement under way.
    fn count(&mut self, done: u64, all: u64) {
        let part = (done as f64 / all.max(1) as f64).min(1.0);
        let passed = self.over.get() as f64 + self.current.get() as f64 * part;
        let whole = self.whole.get() as f64;
        self.state.fraction = if whole > 0.0 { (passed / whole).min(1.0) } else { 0.0 };
        self.state.left_ns = (whole - passed).max(0.0) as u64;
    }

    fn finish_one(&mut self) {
        self.over = Nanos::new(self.over.get().saturating_add(self.current.get()));
        self.current = Nanos::ZERO;
        self.count(0, 1);
        self.tell();
    }

    fn tell(&mut self) {
        // Whoever follows sees an old state; the measurement is worth more.
        let _ = self.write();
    }

    /// Writes unless that was done just now.
    fn tell_at_times(&mut self) {
        if self.written.elapsed() >= WRITE_EVERY {
            self.tell();
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.written = Instant::now();
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut part = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        serde_json::to_writer(part.as_file_mut(), &self.state)?;
        part.as_file_mut().write_all(b"\n")?;
        part.persist(&self.path).map(|_| ()).map_err(|error| error.error)
    }
}

/// An observer, and beside it the file where there is one.
#[derive(Debug)]
pub struct Beside<'a, O> {
    shown: O,
    file: Option<&'a mut ProgressFile>,
}

impl<'a, O> Beside<'a, O> {
    /// Tells `shown` and the file the same.
    pub fn new(shown: O, file: Option<&'a mut ProgressFile>) -> Self {
        Self { shown, file }
    }

    fn with_file(&mut self, tell: impl FnOnce(&mut ProgressFile)) {
        if let Some(file) = &mut self.file {
            tell(file);
        }
    }
}

impl<O: Observer> Observer for Beside<'_, O> {
    fn step(&mut self, text: &str) {
        self.shown.step(text);
        self.with_file(|file| {
            text.clone_into(&mut file.state.step);
            file.tell_at_times();
        });
    }

    fn tell(&mut self, text: &str) {
        self.shown.tell(text);
    }

    fn begin(&mut self, run: &Run) {
        self.shown.begin(run);
        self.with_file(|file| {
            file.current = run.duration();
            file.state.begun += 1;
            file.state.profile.clone_from(&run.profile);
            file.state.partitions = run.partitions.iter().map(|it| it.name.clone()).collect();
            "warming up".clone_into(&mut file.state.step);
            file.state.worst_ns = None;
            file.count(0, 1);
            file.tell();
        });
    }

    fn progress(&mut self, progress: Progress) {
        self.shown.progress(progress);
        self.with_file(|file| {
            "measuring".clone_into(&mut file.state.step);
            file.state.worst_ns = Some(progress.worst.get());
            file.count(progress.cycles, progress.planned_cycles);
            file.tell_at_times();
        });
    }

    fn fault(&mut self, run: &Run, partition: &str, because: &str) {
        self.shown.fault(run, partition, because);
    }

    fn advance(&mut self, advance: &Advance<'_>) {
        self.shown.advance(advance);
        self.with_file(|file| {
            advance.part.clone_into(&mut file.state.step);
            file.state.worst_ns = advance.worst.map(Nanos::get);
            file.tell_at_times();
        });
    }

    fn end(&mut self, run: &Run, records: &[Record]) {
        self.shown.end(run, records);
        self.with_file(ProgressFile::finish_one);
    }

    fn failed(&mut self, run: &Run, because: &str) {
        self.shown.failed(run, because);
        self.with_file(ProgressFile::finish_one);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::world::simulated::{Told, runs};

    /// An observer whose runs may fail, as those of [`Told`] may not.
    struct Deaf;

    impl Observer for Deaf {
        fn step(&mut self, _: &str) {}
        fn tell(&mut self, _: &str) {}
        fn begin(&mut self, _: &Run) {}
        fn progress(&mut self, _: Progress) {}
        fn fault(&mut self, _: &Run, _: &str, _: &str) {}
        fn advance(&mut self, _: &Advance<'_>) {}
        fn end(&mut self, _: &Run, _: &[Record]) {}
        fn failed(&mut self, _: &Run, _: &str) {}
    }

    fn read(path: &Path) -> RunProgress {
        serde_json::from_slice(&fs::read(path).expect("a file")).expect("whole")
    }

    #[test]
    fn the_file_has_the_latest_state_and_what_is_left_by_the_plan() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("progress.json");
        let mut file = ProgressFile::begin(&path).unwrap();
        assert_eq!((read(&path).pid, &*read(&path).schema), (std::process::id(), PROGRESS_SCHEMA));
        let runs = runs();
        let whole: Nanos = runs.iter().map(Run::duration).sum();
        file.set_whole(whole);
        let mut told = Beside::new(Deaf, Some(&mut file));
        told.begin(&runs[0]);
        let begun = read(&path);
        assert_eq!((&*begun.profile, begun.begun, begun.fraction), ("tp1", 1, 0.0));
        assert_eq!((begun.partitions, begun.left_ns), (vec!["axis".to_owned()], whole.get()));
        let planned_cycles = 1000;
        told.progress(Progress { cycles: 500, planned_cycles, ..Progress::default() });
        told.end(&runs[0], &[]);
        let half = read(&path);
        assert!((half.fraction - 0.5).abs() < 1e-9, "{half:?}");
        assert_eq!(half.left_ns, whole.get() / 2);
        told.failed(&runs[1], "no memory");
        assert!((read(&path).fraction - 0.5).abs() < 1e-9, "it had not begun");
        told.begin(&runs[1]);
        told.end(&runs[1], &[]);
        assert!((read(&path).fraction - 1.0).abs() < 1e-9);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_measurement_goes_on_where_the_file_cannot_be_written_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in/progress.json");
        assert!(ProgressFile::begin(&path).is_err(), "there is no folder");
        fs::create_dir(folder.path().join("in")).unwrap();
        let mut file = ProgressFile::begin(&path).unwrap();
        fs::remove_dir_all(folder.path().join("in")).unwrap();
        let mut told = Beside::new(Told::default(), Some(&mut file));
        told.begin(&runs()[0]);
        assert!(!path.exists());
    }
}
