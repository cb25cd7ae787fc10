//! Everything that is kept, and every change of it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ProgramsError;
use crate::error::LimitedQuantity;
use crate::index::Index;
use crate::name;
use crate::record::{
    Authorship, BuildRecord, DeployPlace, Deployment, DeploymentOutcome, ProgramEntry, Version,
};
use crate::unpacked::sync_folder;
use crate::upload::{Upload, Whole};

/// The most programs that have a name here, deleted versions or not.
pub const PROGRAM_COUNT_MAX: u64 = 1000;
/// The most versions of a program.
pub const VERSION_COUNT_MAX: usize = 50;
/// The most bytes of all versions, and 4 KiB for each of their files.
pub const KEPT_BYTES_MAX: u64 = 4 << 30;

const DATABASE: &str = "programs.db";
const FOLDER: &str = "programs";
const INCOMING: &str = "incoming";
const VERSIONS: &str = "versions";

/// The programs that were received by one daemon.
#[derive(Debug)]
pub struct Programs {
    incoming: PathBuf,
    versions: PathBuf,
    index: Mutex<Index>,
}

impl Programs {
    /// Opens what is kept in a folder, and removes what was not finished. One process has it open.
    ///
    /// # Errors
    /// [`ProgramsError::Damaged`], a full disk, refusals of the system.
    pub fn open(folder: &Path) -> Result<Self, ProgramsError> {
        let programs = folder.join(FOLDER);
        let (incoming, versions) = (programs.join(INCOMING), programs.join(VERSIONS));
        let index = Index::open(&folder.join(DATABASE))?;
        if incoming.exists() {
            fs::remove_dir_all(&incoming).map_err(ProgramsError::io(&incoming, "emptied"))?;
        }
        for folder in [&incoming, &versions] {
            fs::create_dir_all(folder).map_err(ProgramsError::io(folder, "made"))?;
        }
        sync_folder(&programs)?;
        sync_folder(folder)?;
        let opened = Self { incoming, versions, index: Mutex::new(index) };
        opened.sweep()?;
        Ok(opened)
    }

    /// Removes versions of which the index knows nothing.
    fn sweep(&self) -> Result<(), ProgramsError> {
        let known: HashSet<String> = self.index().sums()?.into_iter().collect();
        let unread = ProgramsError::io(&self.versions, "listed");
        for entry in fs::read_dir(&self.versions).map_err(&unread)? {
            let name = entry.map_err(&unread)?.file_name();
            if name.to_str().is_none_or(|name| !known.contains(name)) {
                self.remove_folder(&self.versions.join(name))?;
            }
        }
        Ok(())
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        // A change is a transaction, so a thread that panicked has left no half of one.
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to receive a version of a program.
    ///
    /// # Errors
    /// A name that no program may have, a limit that is reached, a full disk.
    pub fn receive(&self, program: &str) -> Result<Upload, ProgramsError> {
        if !name::is_program(program) {
            let name = program.chars().take(2 * name::PROGRAM_BYTES_MAX).collect();
            return Err(ProgramsError::ProgramName { name });
        }
        self.check_room(program, 0)?;
        Upload::begin(program, &self.incoming)
    }

    /// Keeps what has come as a version; the newest one, if that has the same files.
    ///
    /// # Errors
    /// An archive that is refused, a limit that is passed, a full disk. Then nothing is left.
    pub fn keep(&self, upload: Upload, by: &Authorship) -> Result<Version, ProgramsError> {
        let whole = upload.finish()?;
        let Whole { program, contents, files, _folder } = &whole;
        // From here to the end of the change no other one may remove the same files.
        let mut index = self.index();
        let newest = index.versions(program)?.into_iter().next();
        if let Some(newest) = newest.filter(|newest| newest.sha256 == contents.sha256) {
            return Ok(newest);
        }
        check_room(&index, program, contents.room_bytes())?;
        let place = self.versions.join(&contents.sha256);
        if !place.exists() {
            fs::rename(files, &place).map_err(ProgramsError::io(&place, "made"))?;
            sync_folder(&self.versions)?;
        }
        let number = match index.add_version(program, contents, by) {
            Ok(number) => number,
            Err(error) => {
                self.remove_unused(&index, &contents.sha256)?;
                return Err(error);
            }
        };
        self.remove_oldest(&index, program)?;
        let kept = index.versions(program)?.into_iter().find(|version| version.number == number);
        kept.ok_or_else(|| no_version(program, number, &[]))
    }

    fn check_room(&self, program: &str, bytes: u64) -> Result<(), ProgramsError> {
        check_room(&self.index(), program, bytes)
    }

    /// Removes the oldest versions beyond the limit, but none that is or was just deployed.
    fn remove_oldest(&self, index: &Index, program: &str) -> Result<(), ProgramsError> {
        let versions = index.versions(program)?;
        let held = held(&index.deployments()?);
        let mut beyond = versions.len().saturating_sub(VERSION_COUNT_MAX);
        // The newest has just come.
        for version in versions.iter().skip(1).rev() {
            if beyond > 0 && !held.contains(&(version.program.clone(), version.number)) {
                self.remove(index, version)?;
                beyond -= 1;
            }
        }
        Ok(())
    }

    fn remove(&self, index: &Index, version: &Version) -> Result<(), ProgramsError> {
        index.remove_version(&version.program, version.number)?;
        self.remove_unused(index, &version.sha256)
    }

    fn remove_unused(&self, index: &Index, sha256: &str) -> Result<(), ProgramsError> {
        if index.sums()?.iter().any(|used| used == sha256) {
            return Ok(());
        }
        self.remove_folder(&self.versions.join(sha256))
    }

    /// Removes a folder of versions, which is there whole or not at all.
    fn remove_folder(&self, folder: &Path) -> Result<(), ProgramsError> {
        let trash = tempfile::TempDir::new_in(&self.incoming);
        let trash = trash.map_err(ProgramsError::io(&self.incoming, "written"))?;
        match fs::rename(folder, trash.path().join("removed")) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            moved => moved.map_err(ProgramsError::io(folder, "removed")),
        }
    }

    /// Lists the programs, by name.
    ///
    /// # Errors
    /// Those of the index.
    pub fn programs(&self) -> Result<Vec<ProgramEntry>, ProgramsError> {
        self.index().programs()
    }

    /// Lists the versions of a program, the newest first.
    ///
    /// # Errors
    /// [`ProgramsError::NoProgram`], and those of the index.
    pub fn versions(&self, program: &str) -> Result<Vec<Version>, ProgramsError> {
        let index = self.index();
        let versions = index.versions(program)?;
        if versions.is_empty() && !index.has_program(program)? {
            return Err(ProgramsError::NoProgram { program: program.chars().take(80).collect() });
        }
        Ok(versions)
    }

    /// Finds a version by its number; 0 stands for the newest.
    ///
    /// # Errors
    /// [`ProgramsError::NoProgram`], [`ProgramsError::NoVersion`], and those of the index.
    pub fn version(&self, program: &str, number: u64) -> Result<Version, ProgramsError> {
        let versions = self.versions(program)?;
        let is_meant = |version: &&Version| number == 0 || version.number == number;
        let found = versions.iter().find(is_meant).cloned();
        found.ok_or_else(|| no_version(program, number, &versions))
    }

    /// Returns the folder of a version's files; it never changes.
    pub fn folder(&self, version: &Version) -> PathBuf {
        self.versions.join(&version.sha256)
    }

    /// Deletes a version, unless it is being deployed or `runs` finds that it does where it was
    /// deployed last.
    ///
    /// # Errors
    /// [`ProgramsError::InUse`], those of [`Self::version`].
    pub fn delete(
        &self,
        program: &str,
        number: u64,
        runs: impl Fn(&Deployment) -> bool,
    ) -> Result<(), ProgramsError> {
        let version = self.version(program, number)?;
        let is_it = |it: &&Deployment| (it.program.as_str(), it.number) == (program, number);
        let found = current(&self.index().deployments()?);
        // Sites are asked without holding up others.
        let running: Vec<_> = found.iter().filter(is_it).filter(|it| runs(it)).collect();
        let index = self.index();
        let deployments = index.deployments()?;
        let begun = |it: &&Deployment| it.outcome == DeploymentOutcome::Begun;
        let used = deployments.iter().filter(is_it).find(begun).or(running.first().copied());
        if let Some(Deployment { place: DeployPlace { site, partition }, .. }) = used {
            let (site, partition) = (site.clone(), partition.clone());
            return Err(ProgramsError::InUse { program: version.program, number, site, partition });
        }
        self.remove(&index, &version)
    }

    /// Remembers a build of a version.
    ///
    /// # Errors
    /// Those of the index.
    pub fn note_build(&self, version: &Version, build: &BuildRecord) -> Result<(), ProgramsError> {
        self.index().add_build(&version.program, version.number, build)
    }

    /// Returns the last build of a version.
    ///
    /// # Errors
    /// Those of the index.
    pub fn last_build(&self, version: &Version) -> Result<Option<BuildRecord>, ProgramsError> {
        self.index().last_build(&version.program, version.number)
    }

    /// Takes note that a site is asked to run a version; until the end it is not deleted.
    ///
    /// # Errors
    /// Those of the index, and [`ProgramsError::NoVersion`] if it was deleted meanwhile.
    pub fn begin_deployment(
        &self,
        version: &Version,
        place: &DeployPlace,
        by: &Authorship,
    ) -> Result<i64, ProgramsError> {
        let index = self.index();
        let Version { program, number, .. } = version;
        let versions = index.versions(program)?;
        if !versions.iter().any(|it| it == version) {
            return Err(no_version(program, *number, &versions));
        }
        index.begin_deployment(place, (program, *number), by)
    }

    /// Takes note of what came of a deployment, and of the hash by which the site knows the build.
    ///
    /// # Errors
    /// Those of the index.
    pub fn end_deployment(
        &self,
        id: i64,
        outcome: DeploymentOutcome,
        hash: Option<&str>,
    ) -> Result<(), ProgramsError> {
        self.index().end_deployment(id, outcome, hash)
    }

    /// Lists what was deployed last to each partition.
    ///
    /// # Errors
    /// Those of the index.
    pub fn deployed(&self) -> Result<Vec<Deployment>, ProgramsError> {
        Ok(current(&self.index().deployments()?))
    }

    /// Returns the deployment that a partition runs, and the version that ran there before.
    ///
    /// # Errors
    /// [`ProgramsError::NothingBefore`], [`ProgramsError::NoVersion`] if that one is deleted.
    pub fn before(&self, place: &DeployPlace) -> Result<(Deployment, Version), ProgramsError> {
        let deployments = self.index().deployments()?;
        let mut of_place = deployments.into_iter().filter(|it| is_at(it, place));
        let nothing = || {
            let DeployPlace { site, partition } = place.clone();
            ProgramsError::NothingBefore { site, partition }
        };
        let last = of_place.next().ok_or_else(nothing)?;
        let version = |it: &Deployment| (it.program.clone(), it.number);
        let before = of_place.find(|it| version(it) != version(&last)).ok_or_else(nothing)?;
        let before = self.version(&before.program, before.number)?;
        Ok((last, before))
    }
}

fn is_at(deployment: &Deployment, place: &DeployPlace) -> bool {
    deployment.outcome == DeploymentOutcome::Ran && deployment.place == *place
}

/// Returns the newest deployment of each place.
fn current(deployments: &[Deployment]) -> Vec<Deployment> {
    let mut current: Vec<Deployment> = Vec::new();
    for deployment in deployments.iter().filter(|it| it.outcome == DeploymentOutcome::Ran) {
        if !current.iter().any(|it| it.place == deployment.place) {
            current.push(deployment.clone());
        }
    }
    current
}

/// Returns the versions that are deployed, were deployed before those, or are on their way.
fn held(deployments: &[Deployment]) -> HashSet<(String, u64)> {
    let version = |it: &Deployment| (it.program.clone(), it.number);
    let begun = deployments.iter().filter(|it| it.outcome == DeploymentOutcome::Begun);
    let mut held: HashSet<_> = begun.map(version).collect();
    for last in current(deployments) {
        let at_place = |it: &&Deployment| is_at(it, &last.place) && version(it) != version(&last);
        held.extend(deployments.iter().find(at_place).map(version));
        held.insert(version(&last));
    }
    held
}

fn check_room(index: &Index, program: &str, bytes: u64) -> Result<(), ProgramsError> {
    let limit = |what, most| Err(ProgramsError::Limit { what, most });
    if !index.has_program(program)? && index.programs()?.len() as u64 >= PROGRAM_COUNT_MAX {
        return limit(LimitedQuantity::Programs, PROGRAM_COUNT_MAX);
    }
    if index.kept_bytes()?.saturating_add(bytes) > KEPT_BYTES_MAX {
        return limit(LimitedQuantity::Kept, KEPT_BYTES_MAX);
    }
    Ok(())
}

fn no_version(program: &str, number: u64, versions: &[Version]) -> ProgramsError {
    let numbers = versions.iter().rev().map(|version| version.number).collect();
    ProgramsError::NoVersion { program: program.to_owned(), number, numbers }
}
