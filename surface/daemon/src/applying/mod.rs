//! Sites that are planned, applied and undone.
//!
//! ```text
//! text ─► rules ─► version on the disk ─► history: begun ─► quietcore up ─► history: up, or failed
//! ```
//!
//! The command line brings sites up and down, and replaces one by another; the daemon keeps what it
//! is to bring up and looks at what runs. If the daemon is killed meanwhile, the command goes on,
//! and the next daemon finds by what runs how it ended. A site stays locked until then.

mod command;
mod plan;

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use quietcore_programs::sites::{ApplicationOutcome, SiteStore, SiteText, SiteVersion, SitesError};
use quietcore_programs::{DeployPlace, DeploymentOutcome};
use quietcore_site::SITE_BYTES_MAX;
use quietcore_supervisor::control::{ControlError, ErrorKind};
use quietcore_supervisor::places::RunningSite;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use crate::caller::Caller;
use crate::failure::CallError;
use crate::programs::{Received, authorship};
use crate::sites::connect;

pub use command::{APPLY_TIME_MAX, LINES_MAX, OUTPUT_BYTES_MAX, PLAN_TIME_MAX};
use command::{Ended, Request};

/// The sites of the daemon that were received, as calls share them.
#[derive(Clone, Debug)]
pub(crate) struct Applying {
    received: Received,
    store: Arc<OnceLock<SiteStore>>,
    opening: Arc<Mutex<()>>,
    /// Its one place is taken while something is planned.
    planning: Arc<Semaphore>,
}

/// A site that runs.
#[derive(Debug)]
pub(crate) struct Found {
    running: RunningSite,
    /// Number of the version; `None` if it was started otherwise.
    pub(crate) number: Option<u64>,
}

/// The outcome of an application that has succeeded.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The version that runs; `None` if the site is down.
    pub(crate) version: Option<SiteVersion>,
    pub(crate) lines: Vec<String>,
    /// SHA-256 of the text that ran before.
    pub(crate) old_sha256: Option<String>,
}

impl Applying {
    pub(crate) fn new(received: &Received) -> Self {
        let received = received.clone();
        let planning = Arc::new(Semaphore::new(1));
        Self { received, store: <_>::default(), opening: <_>::default(), planning }
    }

    /// Returns what is kept, which is opened if it is not.
    ///
    /// # Errors
    /// Those of the folder.
    pub(crate) fn store(&self) -> Result<&SiteStore, CallError> {
        let _alone = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if self.store.get().is_none() {
            let opened = SiteStore::open(&self.received.places().received_sites()?)?;
            let _ = self.store.set(opened);
        }
        Ok(self.store.get().expect("it was opened just now"))
    }

    /// Finds a site that runs.
    ///
    /// # Errors
    /// Those of the folders.
    pub(crate) fn find(&self, site: &str) -> Result<Option<Found>, CallError> {
        let mut running = self.received.places().running()?.into_iter();
        let Some(running) = running.find(|it| it.name == site) else { return Ok(None) };
        let file = running.description.as_ref().map(|it| it.site_file.as_path());
        let number = match file {
            Some(file) => self.store()?.number_of(site, file),
            None => None,
        };
        Ok(Some(Found { running, number }))
    }

    /// Returns the text of a site that runs, as it was sent or as its file has it.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` if the site does not tell its file or that can't be read.
    pub(crate) fn text(&self, found: &Found) -> Result<String, CallError> {
        let name = &found.running.name;
        if let Some(number) = found.number {
            let store = self.store()?;
            return Ok(store.text(&store.version(name, number)?)?);
        }
        let description = found.running.description.as_ref();
        let file = description.map(|it| it.site_file.as_path());
        let file = file.ok_or_else(|| {
            CallError::NotNow(format!("site `{name}` does not tell its file; ask for a version"))
        })?;
        read_text(file)
    }

    /// Takes note of how an application has ended that no daemon has seen to its end.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn settle(&self, site: &str) -> Result<(), CallError> {
        let store = self.store()?;
        let history = store.history(site)?;
        if history.iter().all(|it| it.outcome != ApplicationOutcome::Begun) {
            return Ok(());
        }
        // While it is locked, the end is not known yet.
        let Ok(_lock) = store.lock(site) else { return Ok(()) };
        let running = self.find(site)?.and_then(|found| found.number);
        Ok(store.settle(site, running)?)
    }

    /// Keeps a text and brings it up, in place of the site of its name that runs.
    ///
    /// # Errors
    /// `ABORTED` while the site is locked; `FAILED_PRECONDITION` if another site of that name runs
    /// and is not to be replaced, or if this one did not come up; those of the store.
    pub(crate) fn apply(
        &self,
        text: &SiteText,
        replace: bool,
        caller: &Caller,
    ) -> Result<Outcome, CallError> {
        let store = self.store()?;
        let lock = store.lock(text.site())?;
        let found = self.find(text.site())?;
        if let Some(other) = found.as_ref().filter(|it| it.number.is_none() && !replace) {
            return Err(not_ours(&other.running).into());
        }
        let by = authorship(caller);
        let version = store.keep(text, &*self.received.programs()?, &by)?;
        self.bring_up(version, found.as_ref(), &lock, caller)
    }

    /// Brings up the version that was up before the one that runs.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` if there is none, or it did not come up.
    pub(crate) fn bring_back(&self, site: &str, caller: &Caller) -> Result<Outcome, CallError> {
        let store = self.store()?;
        if store.versions(site)?.is_empty() {
            return Err(SitesError::NoSite { site: site.to_owned() }.into());
        }
        let lock = store.lock(site)?;
        let found = self.find(site)?;
        let running = found.as_ref().and_then(|found| found.number);
        store.settle(site, running)?;
        let version = store.before(site, running)?;
        self.bring_up(version, found.as_ref(), &lock, caller)
    }

    /// Brings a site down, as `quietcore down` does.
    ///
    /// # Errors
    /// `NOT_FOUND` if it does not run, `ABORTED` while it is locked.
    pub(crate) fn bring_down(&self, site: &str, caller: &Caller) -> Result<Outcome, CallError> {
        let store = self.store()?;
        let Some(found) = self.find(site)? else {
            // Connecting says best what runs instead.
            connect(self.received.places(), site, caller)?;
            return Err(CallError::NotNow(format!("site `{site}` has come down just now")));
        };
        let lock = store.lock(site)?;
        let old_sha256 = self.text(&found).ok().map(|text| sum(&text));
        let arguments = ["down", site];
        let ended = self.run(&arguments, None, Some(&lock))?;
        if !ended.is_success {
            return Err(refused(site, &ended.lines, "see what runs, and try again").into());
        }
        store.settle(site, None)?;
        Ok(Outcome { version: None, lines: ended.lines, old_sha256 })
    }

    /// Brings up a version, and takes note before and after.
    fn bring_up(
        &self,
        version: SiteVersion,
        found: Option<&Found>,
        lock: &File,
        caller: &Caller,
    ) -> Result<Outcome, CallError> {
        let (store, site) = (self.store()?, version.site.as_str());
        let old_sha256 = found.and_then(|found| self.text(found).ok()).map(|text| sum(&text));
        if found.is_some_and(|found| found.number == Some(version.number)) {
            return Ok(Outcome { version: Some(version), lines: Vec::new(), old_sha256 });
        }
        store.begin(&version, &authorship(caller))?;
        let file = store.site_file(&version);
        let arguments = ["up", "--detach", "--replace"];
        let ended = self.run(&arguments, Some(&file), Some(lock));
        let now = self.find(site)?;
        let number = now.as_ref().and_then(|now| now.number);
        store.settle(site, number)?;
        let ended = ended?;
        if number == Some(version.number) {
            self.note_programs(&version, caller)?;
            return Ok(Outcome { version: Some(version), lines: ended.lines, old_sha256 });
        }
        let remedy = match (found, &now) {
            (Some(before), Some(_)) => format!("{} runs again", called(before)),
            (Some(before), None) => format!("{} did not come up again", called(before)),
            (None, _) => "correct it and apply it again".to_owned(),
        };
        Err(refused(site, &ended.lines, &remedy).into())
    }

    /// Takes note of the versions of programs that partitions run now.
    fn note_programs(&self, version: &SiteVersion, caller: &Caller) -> Result<(), CallError> {
        let programs = self.received.programs()?;
        let mut client = connect(self.received.places(), &version.site, caller)?;
        let states = client.list()?;
        for choice in &version.programs {
            // It may be deleted meanwhile: the version of the site has its files.
            let Ok(program) = programs.version(&choice.program, choice.version) else { continue };
            let partition = choice.partition.clone();
            let state = states.iter().find(|state| state.name == partition);
            let hash = state.map(|state| state.model_hash.as_str());
            let place = DeployPlace { site: version.site.clone(), partition };
            let id = programs.begin_deployment(&program, &place, &authorship(caller))?;
            programs.end_deployment(id, DeploymentOutcome::Ran, hash)?;
        }
        Ok(())
    }

    fn run(
        &self,
        arguments: &[&str],
        site_file: Option<&Path>,
        held: Option<&File>,
    ) -> Result<Ended, CallError> {
        let folder = tempfile::tempdir()
            .map_err(|error| CallError::NotNow(format!("no folder for its output: {error}")))?;
        let time_max = APPLY_TIME_MAX;
        let request = Request { arguments, site_file, state: None, held, time_max };
        command::run(self.received.places(), folder.path(), &request)
    }
}

/// Returns the SHA-256 of a text in hexadecimal digits.
pub(crate) fn sum(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_text(file: &Path) -> Result<String, CallError> {
    use std::io::Read as _;
    let mut text = String::new();
    let read = File::open(file)
        .and_then(|opened| opened.take(SITE_BYTES_MAX as u64).read_to_string(&mut text));
    let unread = |error| CallError::NotNow(format!("`{}` can't be read: {error}", file.display()));
    read.map_err(unread)?;
    Ok(text)
}

fn called(found: &Found) -> String {
    match (found.number, &found.running.description) {
        (Some(number), _) => format!("version {number}"),
        (None, Some(description)) => format!("`{}`", description.site_file.display()),
        (None, None) => "the site before".to_owned(),
    }
}

fn not_ours(running: &RunningSite) -> ControlError {
    let description = running.description.as_ref();
    let file = description.map(|it| format!(" from `{}`", it.site_file.display()));
    let by = description.and_then(|it| it.started_by.as_ref());
    let by = by.map(|by| format!(", started by {by}"));
    let (file, by) = (file.unwrap_or_default(), by.unwrap_or_default());
    let what = format!("it runs{file}{by}, and did not come by a call");
    let remedy = "if it is meant, ask with `replace`";
    ControlError::new(ErrorKind::NotNow, running.name.clone(), what, remedy)
}

/// Returns what the command line has said as a refusal.
fn refused(site: &str, lines: &[String], remedy: &str) -> ControlError {
    let said: Vec<&str> = lines.iter().map(|line| line.trim_start_matches("quietcore: ")).collect();
    let what = match said.as_slice() {
        [] => "it did not come up".to_owned(),
        said => said.join("\n"),
    };
    ControlError::new(ErrorKind::NotNow, site, what, remedy)
}
