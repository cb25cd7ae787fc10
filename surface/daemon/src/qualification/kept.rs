//! The runs that are kept, and the state of each, which follows from its files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_api::v1;
use quietcore_campaign::RunProgress;
use quietcore_evidence::{read_manifest, write_whole};
use quietcore_supervisor::places::Places;
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, getsid, kill_process};
use serde::{Deserialize, Serialize};

use super::asked::{CheckedRun, RunKind, SiteText, kept_site};
use super::evidence;
use super::starting::start;
use crate::caller::Caller;
use crate::failure::CallError;

/// The most runs that are kept.
pub const RUNS_MAX: usize = 100;
/// The longest wait for a run that was just started to tell the number of its process.
const START_MAX: Duration = Duration::from_secs(10);
/// Time between two looks for it.
const LOOK: Duration = Duration::from_millis(50);
/// The most bytes of a small file of a run that are read.
const SMALL_BYTES_MAX: u64 = 64 << 10;

/// The reason why runs can't be used so.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// No such run is kept.
    #[error("there is no run {number}; see which are kept with `ListRuns`")]
    NoRun { number: u64 },
    /// Another run goes on.
    #[error(
        "run {number} goes on, `{kind}` of site `{site}`, started by {by}; wait for its end, or \
         cancel it"
    )]
    Goes { number: u64, kind: &'static str, site: String, by: String },
    /// The run does not go on any more.
    #[error("run {number} has ended already")]
    Ended { number: u64 },
    /// There is no file of this name.
    #[error("run {number} has no file `{name}`; `GetRun` lists its files")]
    NoFile { number: u64, name: String },
    /// A file is too large to be sent.
    #[error("`{name}` has {bytes} bytes; {} are sent at most", evidence::RUN_FILE_BYTES_MAX)]
    FileSize { name: String, bytes: u64 },
    /// The program that measures can't be started.
    #[error("`{}` can't be started; install it beside `quietcored`", program.display())]
    Start { program: PathBuf, source: io::Error },
    /// Something of the folder can't be used.
    #[error("`{}` can't be used", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl RunError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// A run as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    pub(crate) number: u64,
    pub(crate) kind: RunKind,
    pub(crate) site: String,
    pub(crate) started_at: String,
    pub(crate) started_by: String,
}

/// The author of a cancellation.
#[derive(Debug, Serialize, Deserialize)]
struct Cancelled {
    by: String,
}

/// The runs of the daemon, as services share them.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    places: Places,
    programs: PathBuf,
    /// Held for each look at the lock of runs, which would look as if it were taken.
    looking: Arc<Mutex<()>>,
}

impl Runs {
    /// Takes the runs in the state of these places; programs of the product are in `programs`.
    pub(crate) fn new(places: &Places, programs: PathBuf) -> Self {
        Self { places: places.clone(), programs, looking: Arc::default() }
    }

    /// Returns the path of the command line's program.
    pub(super) fn program(&self) -> PathBuf {
        self.programs.join("quietcore")
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    fn root(&self) -> Result<PathBuf, CallError> {
        let root = self.places.daemon_state()?.join("runs");
        match fs::create_dir(&root) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(RunError::at(&root)(error).into())
            }
            _ => Ok(root),
        }
    }

    /// Starts a run, unless one goes on.
    ///
    /// # Errors
    /// [`RunError::Goes`]; others when the folder or the program can't be used.
    pub(crate) fn start(&self, run: &CheckedRun, by: &Caller) -> Result<RunRecord, CallError> {
        let root = self.root()?;
        let _looking = self.look();
        let mut lock = open_lock(&root)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(self.goes(&root).into());
        }
        let numbers = numbers(&root)?;
        let record = RunRecord {
            number: numbers.last().map_or(1, |last| last + 1),
            kind: run.kind,
            site: run.site.clone(),
            started_at: jiff::Timestamp::now().to_string(),
            started_by: by.name().to_owned(),
        };
        let folder = root.join(record.number.to_string());
        make(&root, &folder, run, &record).map_err(RunError::at(&folder))?;
        let surplus = (numbers.len() + 1).saturating_sub(RUNS_MAX);
        for oldest in &numbers[..surplus] {
            // What can't be removed is tried again with the next run.
            let _ = fs::remove_dir_all(root.join(oldest.to_string()));
        }
        let written = lock.set_len(0).and_then(|()| lock.rewind());
        let written = written.and_then(|()| lock.write_all(record.number.to_string().as_bytes()));
        written.map_err(RunError::at(&root))?;
        let file = match &run.text {
            SiteText::Standing(file) => file.clone(),
            SiteText::Received(_) => kept_site(&folder),
        };
        start(self, run, &file, &folder, lock)?;
        Ok(record)
    }

    fn look(&self) -> MutexGuard<'_, ()> {
        self.looking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Describes the run that has the lock.
    fn goes(&self, root: &Path) -> RunError {
        let number = fs::read_to_string(root.join("lock")).ok().and_then(|it| it.parse().ok());
        let number: u64 = number.unwrap_or_default();
        let record = read_small::<RunRecord>(&root.join(number.to_string()).join("run.json"));
        let kind = record.as_ref().map_or("unknown", |it| it.kind.verb());
        let (site, by) = record.map(|it| (it.site, it.started_by)).unwrap_or_default();
        RunError::Goes { number, kind, site, by }
    }

    /// Returns the number of the run that goes on.
    fn going(&self, root: &Path) -> Result<Option<u64>, CallError> {
        let _looking = self.look();
        let mut lock = open_lock(root)?;
        if flock(&lock, FlockOperation::NonBlockingLockShared).is_ok() {
            return Ok(None);
        }
        let mut number = String::new();
        lock.read_to_string(&mut number).map_err(RunError::at(root))?;
        Ok(number.parse().ok())
    }

    /// Returns a run as it was asked for.
    ///
    /// # Errors
    /// [`RunError::NoRun`]; those of the folder.
    pub(crate) fn record(&self, number: u64) -> Result<RunRecord, CallError> {
        let path = self.folder(number)?.join("run.json");
        Ok(read_small(&path).ok_or(RunError::NoRun { number })?)
    }

    pub(super) fn folder(&self, number: u64) -> Result<PathBuf, CallError> {
        Ok(self.root()?.join(number.to_string()))
    }

    /// Returns the folder of a run's evidence, which may not be there.
    pub(super) fn evidence(&self, number: u64) -> Result<PathBuf, CallError> {
        Ok(self.folder(number)?.join("evidence"))
    }

    /// Lists the runs that are kept, the newest first.
    ///
    /// # Errors
    /// Those of the folder.
    pub(crate) fn all(&self) -> Result<Vec<RunRecord>, CallError> {
        let numbers = numbers(&self.root()?)?;
        Ok(numbers.into_iter().rev().filter_map(|number| self.record(number).ok()).collect())
    }

    /// Describes a run; `whole` with its verdicts and files.
    ///
    /// # Errors
    /// Those of the folder.
    pub(crate) fn describe(&self, record: RunRecord, whole: bool) -> Result<v1::Run, CallError> {
        let goes = self.going(&self.root()?)? == Some(record.number);
        let folder = self.folder(record.number)?;
        let cancelled: Option<Cancelled> = read_small(&folder.join("cancelled.json"));
        let evidence = folder.join("evidence");
        let manifest = read_manifest(&evidence).ok();
        let state = match &manifest {
            _ if goes => v1::RunState::Running,
            None if cancelled.is_some() => v1::RunState::Interrupted,
            None => v1::RunState::Failed,
            Some(manifest) if manifest.complete && cancelled.is_none() => v1::RunState::Complete,
            Some(_) => v1::RunState::Interrupted,
        };
        let why = match state {
            v1::RunState::Failed => evidence::last_line(&folder.join("log")),
            _ => String::new(),
        };
        let mut run = v1::Run {
            number: record.number,
            kind: v1::RunKind::from(record.kind).into(),
            state: state.into(),
            site: record.site,
            started_at: record.started_at,
            started_by: record.started_by,
            cancelled_by: cancelled.map(|it| it.by).unwrap_or_default(),
            why,
            ..v1::Run::default()
        };
        if !goes && manifest.is_some() {
            evidence::add(&mut run, &evidence, record.kind, whole);
        }
        Ok(run)
    }

    /// Returns the latest progress of a run; `None` before the first.
    ///
    /// # Errors
    /// Those of the folder.
    pub(crate) fn progress(&self, number: u64) -> Result<Option<RunProgress>, CallError> {
        Ok(read_small(&self.folder(number)?.join("progress.json")))
    }

    /// Returns `true` while a run goes on.
    ///
    /// # Errors
    /// Those of the folder.
    pub(crate) fn goes_on(&self, number: u64) -> Result<bool, CallError> {
        Ok(self.going(&self.root()?)? == Some(number))
    }

    /// Ends a run as Ctrl-C does. It may take a moment to be gone.
    ///
    /// # Errors
    /// [`RunError::Ended`]; [`CallError::NotNow`] if its process can't be told.
    pub(crate) fn cancel(&self, number: u64, by: &Caller) -> Result<(), CallError> {
        let end = Instant::now() + START_MAX;
        let process = loop {
            if !self.goes_on(number)? {
                return Err(RunError::Ended { number }.into());
            }
            // It leads a session of its own, which nobody does who has its number by chance.
            let told = self.progress(number)?.and_then(|it| Pid::from_raw(it.pid.cast_signed()));
            match told.filter(|pid| getsid(Some(*pid)) == Ok(*pid)) {
                Some(pid) => break pid,
                None if Instant::now() > end => {
                    let told = format!("run {number} has not told its process yet; try again");
                    return Err(CallError::NotNow(told));
                }
                None => thread::sleep(LOOK),
            }
        };
        let path = self.folder(number)?.join("cancelled.json");
        let cancelled = serde_json::json!({ "by": by.name() }).to_string();
        write_whole(&path, cancelled.as_bytes())
            .map_err(|error| RunError::at(&path)(error.source))?;
        kill_process(process, Signal::INT).map_err(|error| RunError::at(&path)(error.into()))?;
        Ok(())
    }
}

fn open_lock(root: &Path) -> Result<File, RunError> {
    let path = root.join("lock");
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create(true).truncate(false).open(&path);
    opened.map_err(RunError::at(&path))
}

/// Makes the folder of a run, which appears whole.
fn make(root: &Path, folder: &Path, run: &CheckedRun, record: &RunRecord) -> io::Result<()> {
    let part = tempfile::Builder::new().prefix(".new-").tempdir_in(root)?;
    if let SiteText::Received(text) = &run.text {
        write_whole(&kept_site(part.path()), text.as_bytes()).map_err(|error| error.source)?;
    }
    let text = serde_json::to_string_pretty(record)?;
    let path = part.path().join("run.json");
    write_whole(&path, text.as_bytes()).map_err(|error| error.source)?;
    fs::rename(part.path(), folder)?;
    // The folder has another name now, and there is nothing to be removed.
    let _ = part.keep();
    File::open(root)?.sync_all()
}

/// Returns the numbers of the runs that are kept, the oldest first.
fn numbers(root: &Path) -> Result<Vec<u64>, RunError> {
    let entries = fs::read_dir(root).map_err(RunError::at(root))?.flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let mut numbers: Vec<u64> = entries.filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Reads a small file of JSON; `None` where it is not there, or not so.
fn read_small<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(SMALL_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}
