//! Texts of sites and their versions, in the words of the contract.

use quietcore_api::v1::{GetSiteResponse, PartitionProgram, SiteVersion, SiteVersionState};
use quietcore_programs::sites::{
    Application, ApplicationOutcome, ChosenProgram, SiteText, SiteVersion as KeptVersion,
};
use quietcore_supervisor::control::{ControlError, ErrorKind};
use serde_json::{Value, json};

use crate::applying::{Applying, Outcome, sum};
use crate::failure::CallError;

/// The most programs that are chosen beside a text: as many as there are partitions.
pub const CHOICES_MAX: usize = 256;

/// Reads a text with the programs that are chosen beside it.
///
/// # Errors
/// `INVALID_ARGUMENT` with all problems, as many as a status has room for.
pub(super) fn read_text(
    toml: &str,
    programs: Vec<PartitionProgram>,
) -> Result<SiteText, CallError> {
    if programs.len() > CHOICES_MAX {
        return Err(CallError::Argument(format!("programs: more than {CHOICES_MAX}")));
    }
    let chosen: Vec<ChosenProgram> = programs.into_iter().map(chosen).collect();
    SiteText::read(toml, &chosen).map_err(|problems| {
        let told = problems.to_string();
        ControlError::new(ErrorKind::BadRequest, "", told, "").into()
    })
}

fn chosen(PartitionProgram { partition, program, version }: PartitionProgram) -> ChosenProgram {
    ChosenProgram { partition, program, version }
}

/// Returns the details of an outcome for the audit trail.
pub(super) fn outcome_of(Outcome { version, old_sha256, .. }: &Outcome) -> Value {
    let version = version.as_ref();
    json!({
        "version": version.map(|it| it.number),
        "programs": version.map(|it| &it.programs),
        "sha256": { "old": old_sha256, "new": version.map(|it| &it.sha256) },
    })
}

/// Describes a version that runs.
pub(super) fn described_version(version: KeptVersion) -> SiteVersion {
    plain(version, SiteVersionState::Running)
}

fn plain(version: KeptVersion, state: SiteVersionState) -> SiteVersion {
    let programs = version.programs.into_iter().map(|it| PartitionProgram {
        partition: it.partition,
        program: it.program,
        version: it.version,
    });
    SiteVersion {
        site: version.site,
        number: version.number,
        sha256: version.sha256,
        received_at: version.received.at,
        received_by: version.received.by,
        programs: programs.collect(),
        state: state.into(),
        applied_at: String::new(),
        applied_by: String::new(),
    }
}

/// Lists the versions of a site, the newest first.
///
/// # Errors
/// Those of the store and of the folders.
pub(super) fn versions(applying: &Applying, site: &str) -> Result<Vec<SiteVersion>, CallError> {
    applying.settle(site)?;
    let store = applying.store()?;
    let history = store.history(site)?;
    let running = applying.find(site)?.and_then(|found| found.number);
    let describe = |version: KeptVersion| {
        let last = history.iter().rev().find(|it| it.number == version.number).cloned();
        let state = state(running == Some(version.number), last.as_ref());
        let applied = last.map(|it| it.applied);
        let (applied_at, applied_by) = applied.map(|it| (it.at, it.by)).unwrap_or_default();
        SiteVersion { applied_at, applied_by, ..plain(version, state) }
    };
    Ok(store.versions(site)?.into_iter().map(describe).collect())
}

fn state(is_running: bool, last: Option<&Application>) -> SiteVersionState {
    match last.map(|it| it.outcome) {
        // As long as the site is locked, it may still fail.
        Some(ApplicationOutcome::Begun) => SiteVersionState::Begun,
        _ if is_running => SiteVersionState::Running,
        Some(ApplicationOutcome::Up) => SiteVersionState::Ended,
        // A daemon that was killed before it has begun to apply it.
        Some(ApplicationOutcome::Failed) | None => SiteVersionState::Failed,
    }
}

/// Returns the text of a version, or of a site that runs.
///
/// # Errors
/// `NOT_FOUND` for a version that there is not; `FAILED_PRECONDITION` if nothing runs.
pub(super) fn get(
    applying: &Applying,
    site: String,
    version: u64,
) -> Result<GetSiteResponse, CallError> {
    let (toml, version) = if version == 0 {
        let found = applying.find(&site)?;
        let found = found.ok_or_else(|| {
            CallError::NotNow(format!("site `{site}` does not run; ask for a version of it"))
        })?;
        (applying.text(&found)?, found.number.unwrap_or_default())
    } else {
        let store = applying.store()?;
        (store.text(&store.version(&site, version)?)?, version)
    };
    Ok(GetSiteResponse { sha256: sum(&toml), toml, version, site })
}
