//! The versions of sites, and which of them was applied when.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use quietcore_program::build::RECEIVED_MARK;
use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::{ChosenProgram, SiteText, SitesError};
use crate::unpacked::sync_folder;
use crate::{Authorship, Programs, ProgramsError};

/// The most sites that have a folder.
pub const SITE_COUNT_MAX: usize = 100;
/// The most versions of a site; the oldest goes, but never one that runs or ran before it.
pub const SITE_VERSION_COUNT_MAX: usize = 20;
/// The most entries of a site's history; the oldest goes.
pub const HISTORY_MAX: usize = 200;

const INCOMING: &str = ".incoming";
const LOCK: &str = "lock";
const HISTORY: &str = "history.json";
const VERSION: &str = "version.json";
const RECEIVED: &str = "received.toml";
const SITE: &str = "site.toml";
const PROGRAMS: &str = "programs";

/// A version of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteVersion {
    /// Name of the site.
    pub site: String,
    /// Its number, from 1.
    pub number: u64,
    /// SHA-256 of the text as it was sent, in hexadecimal digits.
    pub sha256: String,
    /// The sender and the time.
    pub received: Authorship,
    /// The programs of its partitions, with the versions that were chosen.
    pub programs: Vec<ChosenProgram>,
}

/// The state of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApplicationOutcome {
    /// It has begun, and its end is not known yet.
    Begun,
    /// The site came up.
    Up,
    /// The site did not come up.
    Failed,
}

/// A version that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Application {
    /// Number of the version.
    pub number: u64,
    /// The user who asked for it, and the time.
    pub applied: Authorship,
    /// Its state as far as it was told: an application that has no end has only begun.
    pub outcome: ApplicationOutcome,
}

/// A text with its programs in a folder that is removed with this value.
#[derive(Debug)]
pub struct Staged(TempDir);

impl Staged {
    /// Returns the folder, in which more may be put.
    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Returns the site file, whose paths are those of the folder.
    pub fn site_file(&self) -> PathBuf {
        self.0.path().join(SITE)
    }
}

/// The sites whose texts were received by one daemon.
#[derive(Clone, Debug)]
pub struct SiteStore {
    folder: PathBuf,
}

impl SiteStore {
    /// Opens what is kept in a folder, and removes what was not finished. One process has it open.
    ///
    /// # Errors
    /// A full disk, refusals of the system.
    pub fn open(folder: &Path) -> Result<Self, SitesError> {
        let incoming = folder.join(INCOMING);
        if incoming.exists() {
            fs::remove_dir_all(&incoming).map_err(ProgramsError::io(&incoming, "emptied"))?;
        }
        fs::create_dir_all(&incoming).map_err(ProgramsError::io(&incoming, "made"))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Puts a text with its programs into a folder for a while.
    ///
    /// # Errors
    /// A program that was not sent, a full disk.
    pub fn stage(&self, text: &SiteText, programs: &Programs) -> Result<Staged, SitesError> {
        Ok(self.lay_out(text, programs)?.0)
    }

    /// Keeps a text as a version of its site; the newest one, if that is the same with the same
    /// programs.
    ///
    /// # Errors
    /// A program that was not sent, a limit that is passed, a full disk. Then nothing is left.
    pub fn keep(
        &self,
        text: &SiteText,
        programs: &Programs,
        by: &Authorship,
    ) -> Result<SiteVersion, SitesError> {
        let (staged, chosen) = self.lay_out(text, programs)?;
        let site = text.site();
        let sha256 = sum(text.text());
        let newest = self.versions(site)?.into_iter().next();
        let number = newest.as_ref().map_or(1, |newest| newest.number + 1);
        if let Some(newest) = newest.filter(|it| it.sha256 == sha256 && it.programs == chosen) {
            return Ok(newest);
        }
        let of_site = self.made(site)?;
        let received = by.clone();
        let version =
            SiteVersion { site: site.to_owned(), number, sha256, received, programs: chosen };
        write(&staged.folder().join(VERSION), &json(&version))?;
        sync_folder(staged.folder())?;
        let place = of_site.join(number.to_string());
        fs::rename(staged.folder(), &place).map_err(ProgramsError::io(&place, "made"))?;
        sync_folder(&of_site)?;
        self.remove_oldest(site)?;
        Ok(version)
    }

    /// Lays a text out with its programs, and returns these with the numbers of their versions.
    fn lay_out(
        &self,
        text: &SiteText,
        programs: &Programs,
    ) -> Result<(Staged, Vec<ChosenProgram>), SitesError> {
        let incoming = self.folder.join(INCOMING);
        let folder = TempDir::new_in(&incoming).map_err(ProgramsError::io(&incoming, "written"))?;
        let mut chosen = Vec::new();
        for choice in text.programs() {
            let version = programs.version(&choice.program, choice.version)?;
            let place = folder.path().join(PROGRAMS).join(&choice.partition);
            link(&programs.folder(&version), &place)?;
            chosen.push(ChosenProgram { version: version.number, ..choice.clone() });
        }
        let placed = text.with_folders(|choice| format!("{PROGRAMS}/{}", choice.partition));
        write(&folder.path().join(RECEIVED), text.text().as_bytes())?;
        write(&folder.path().join(SITE), placed.as_bytes())?;
        write(&folder.path().join(RECEIVED_MARK), b"")?;
        Ok((Staged(folder), chosen))
    }

    /// Makes and returns the folder of a site, whose name may be from anybody.
    fn made(&self, site: &str) -> Result<PathBuf, SitesError> {
        if !is_plain(site) {
            return Err(SitesError::NoSite { site: site.to_owned() });
        }
        let folder = self.folder.join(site);
        if !folder.is_dir() {
            let listed = fs::read_dir(&self.folder);
            let count = listed.map_err(ProgramsError::io(&self.folder, "listed"))?.count();
            if count > SITE_COUNT_MAX {
                return Err(SitesError::TooMany { most: SITE_COUNT_MAX });
            }
            fs::create_dir_all(&folder).map_err(ProgramsError::io(&folder, "made"))?;
            sync_folder(&self.folder)?;
        }
        Ok(folder)
    }

    /// Lists the versions of a site, the newest first; none of a site that is not known.
    ///
    /// # Errors
    /// [`SitesError::Damaged`], refusals of the system.
    pub fn versions(&self, site: &str) -> Result<Vec<SiteVersion>, SitesError> {
        let folder = self.folder.join(site);
        if !is_plain(site) || !folder.is_dir() {
            return Ok(Vec::new());
        }
        let listed = fs::read_dir(&folder).map_err(ProgramsError::io(&folder, "listed"))?;
        let names = listed.flatten().map(|entry| entry.file_name());
        let mut numbers: Vec<u64> =
            names.filter_map(|name| name.to_str().and_then(|name| name.parse().ok())).collect();
        numbers.sort_unstable_by_key(|number| std::cmp::Reverse(*number));
        let read = |number: u64| read(&folder.join(number.to_string()).join(VERSION));
        numbers.into_iter().map(read).collect()
    }

    /// Finds a version by its number.
    ///
    /// # Errors
    /// [`SitesError::NoVersion`], and those of [`Self::versions`].
    pub fn version(&self, site: &str, number: u64) -> Result<SiteVersion, SitesError> {
        let found = self.versions(site)?.into_iter().find(|version| version.number == number);
        found.ok_or_else(|| SitesError::NoVersion { site: site.to_owned(), number })
    }

    /// Returns the site file of a version.
    pub fn site_file(&self, version: &SiteVersion) -> PathBuf {
        self.folder.join(&version.site).join(version.number.to_string()).join(SITE)
    }

    /// Returns the text of a version as it was sent.
    ///
    /// # Errors
    /// Refusals of the system.
    pub fn text(&self, version: &SiteVersion) -> Result<String, SitesError> {
        let path = self.site_file(version).with_file_name(RECEIVED);
        Ok(fs::read_to_string(&path).map_err(ProgramsError::io(&path, "read"))?)
    }

    /// Returns the number of the version that a site file is of; `None` for any other file.
    pub fn number_of(&self, site: &str, site_file: &Path) -> Option<u64> {
        let folder = self.folder.join(site).canonicalize().ok()?;
        let below = site_file.strip_prefix(folder).ok()?;
        let number = below.parent()?.to_str()?.parse().ok()?;
        below.ends_with(SITE).then_some(number)
    }

    /// Locks a site until the file and all copies of it are closed, in children as well.
    ///
    /// # Errors
    /// [`SitesError::Busy`] while somebody else has it, and those of [`Self::keep`].
    pub fn lock(&self, site: &str) -> Result<File, SitesError> {
        let path = self.made(site)?.join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).read(true).open(&path);
        let file = file.map_err(ProgramsError::io(&path, "opened"))?;
        let busy = |_| SitesError::Busy { site: site.to_owned() };
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(busy)?;
        Ok(file)
    }

    /// Returns what was applied, the newest last.
    ///
    /// # Errors
    /// [`SitesError::Damaged`].
    pub fn history(&self, site: &str) -> Result<Vec<Application>, SitesError> {
        let path = self.folder.join(site).join(HISTORY);
        if is_plain(site) && path.exists() { read(&path) } else { Ok(Vec::new()) }
    }

    /// Takes note that a version is being applied.
    ///
    /// # Errors
    /// Those of [`Self::history`], a full disk.
    pub fn begin(&self, version: &SiteVersion, by: &Authorship) -> Result<(), SitesError> {
        let mut history = self.history(&version.site)?;
        let outcome = ApplicationOutcome::Begun;
        history.push(Application { number: version.number, applied: by.clone(), outcome });
        let beyond = history.len().saturating_sub(HISTORY_MAX);
        history.drain(..beyond);
        self.write_history(&version.site, &history)
    }

    /// Takes note of what came of the applications that have begun: the version that runs is up,
    /// and others are not.
    ///
    /// # Errors
    /// Those of [`Self::begin`].
    pub fn settle(&self, site: &str, running: Option<u64>) -> Result<(), SitesError> {
        let mut history = self.history(site)?;
        let begun = history.iter_mut().filter(|it| it.outcome == ApplicationOutcome::Begun);
        let mut is_changed = false;
        for application in begun {
            let is_up = running == Some(application.number);
            application.outcome =
                if is_up { ApplicationOutcome::Up } else { ApplicationOutcome::Failed };
            is_changed = true;
        }
        if is_changed { self.write_history(site, &history) } else { Ok(()) }
    }

    /// Returns the version that was up before the one that runs, or last if none does.
    ///
    /// # Errors
    /// [`SitesError::NothingBefore`], [`SitesError::NoVersion`] if that one is gone.
    pub fn before(&self, site: &str, running: Option<u64>) -> Result<SiteVersion, SitesError> {
        let history = self.history(site)?;
        let up = |it: &&Application| it.outcome == ApplicationOutcome::Up;
        let other = |it: &&Application| Some(it.number) != running;
        let before = history.iter().rev().filter(up).find(other);
        let before = before.ok_or_else(|| SitesError::NothingBefore { site: site.to_owned() })?;
        self.version(site, before.number)
    }

    fn write_history(&self, site: &str, history: &[Application]) -> Result<(), SitesError> {
        let folder = self.made(site)?;
        let incoming = self.folder.join(INCOMING);
        let staged = TempDir::new_in(&incoming).map_err(ProgramsError::io(&incoming, "written"))?;
        let (from, to) = (staged.path().join(HISTORY), folder.join(HISTORY));
        write(&from, &json(&history))?;
        fs::rename(&from, &to).map_err(ProgramsError::io(&to, "written"))?;
        Ok(sync_folder(&folder)?)
    }

    /// Removes the oldest versions beyond the limit, but for the last two that came up.
    fn remove_oldest(&self, site: &str) -> Result<(), SitesError> {
        let versions = self.versions(site)?;
        let history = self.history(site)?;
        let up = |it: &&Application| it.outcome != ApplicationOutcome::Failed;
        let mut held: Vec<u64> = Vec::new();
        for application in history.iter().rev().filter(up) {
            if held.len() < 2 && !held.contains(&application.number) {
                held.push(application.number);
            }
        }
        let mut beyond = versions.len().saturating_sub(SITE_VERSION_COUNT_MAX);
        // The newest has just come.
        for version in versions.iter().skip(1).rev() {
            if beyond > 0 && !held.contains(&version.number) {
                let place = self.folder.join(site).join(version.number.to_string());
                let trash = TempDir::new_in(self.folder.join(INCOMING));
                let trash = trash.map_err(ProgramsError::io(&place, "removed"))?;
                fs::rename(&place, trash.path().join("removed"))
                    .map_err(ProgramsError::io(&place, "removed"))?;
                beyond -= 1;
            }
        }
        Ok(())
    }
}

/// Returns `true` for what a site may be called, so that it is no path.
fn is_plain(site: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !site.is_empty() && site.bytes().all(is_plain)
}

/// Links the files of a version of a program, which never change, into another folder.
fn link(from: &Path, to: &Path) -> Result<(), ProgramsError> {
    fs::create_dir_all(to).map_err(ProgramsError::io(to, "made"))?;
    let listed = fs::read_dir(from).map_err(ProgramsError::io(from, "listed"))?;
    for entry in listed {
        let entry = entry.map_err(ProgramsError::io(from, "listed"))?;
        let place = to.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            link(&entry.path(), &place)?;
        } else {
            fs::hard_link(entry.path(), &place).map_err(ProgramsError::io(&place, "made"))?;
        }
    }
    sync_folder(to)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ProgramsError> {
    let written = File::create_new(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(ProgramsError::io(path, "written"))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, SitesError> {
    let text = fs::read(path).map_err(ProgramsError::io(path, "read"))?;
    let damaged = |_| SitesError::Damaged { path: path.to_owned() };
    serde_json::from_slice(&text).map_err(damaged)
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(value).expect("records can be written as JSON")
}

fn sum(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_no_other_folder() {
        let folder = tempfile::tempdir().unwrap();
        let store = SiteStore::open(&folder.path().join("sites")).unwrap();
        let beside = folder.path().join("beside");
        for name in [beside.to_str().unwrap(), "../beside", "..", "", "a/b", "incoming/."] {
            assert!(matches!(store.lock(name), Err(SitesError::NoSite { .. })), "{name}");
        }
        assert!(!beside.exists());
        store.lock("line-1").unwrap();
    }
}
