//! The folder of a campaign that was interrupted.

use std::path::Path;

use quietcore_evidence::{
    FolderLock, Manifest, NotMeasured, Origin, changed_since_sealed, is_finished, read_manifest,
};
use quietcore_site::Length;

use crate::files::{self, SiteFile};
use crate::status::Failure;
use crate::terminal::say;

/// An interrupted campaign that goes on.
pub(super) struct Begun {
    /// The lock on its folder, taken before anything was read there.
    pub(super) lock: FolderLock,
    pub(super) manifest: Manifest,
}

/// The part of a campaign that is left.
pub(super) enum Resumed {
    /// Something is left to be measured, with the choices of the command line before.
    Begun(Box<Begun>, Box<SiteFile>),
    /// All was measured, and it ended before its folder was finished.
    Measured(FolderLock),
}

/// Opens a folder, and looks at what is left; refuses one that was changed or has nothing left.
pub(super) fn open(folder: &Path) -> Result<Resumed, Failure> {
    let refused =
        |why: &str| Err(Failure::new(format_args!("quietcore: `{}` {why}", folder.display())));
    // Read again once the lock is there, since another process may just have ended.
    read_manifest(folder)?;
    let lock = FolderLock::take(folder)?;
    let manifest = read_manifest(folder)?;
    match manifest.origin {
        Origin::Campaign => {}
        Origin::Probe => return refused("was measured by a probe; run that anew"),
        Origin::Import => return refused("was imported; nothing of it can be measured here"),
    }
    let changed = changed_since_sealed(folder);
    if !changed.is_empty() {
        let changed = changed.join("; ");
        return refused(&format!("is not as it was left: {changed}; begin a new campaign"));
    }
    if is_measured(&manifest) {
        if is_finished(folder) {
            return refused("is complete; nothing is left to be measured");
        }
        say("nothing is left to be measured; the folder is finished now");
        return Ok(Resumed::Measured(lock));
    }
    let mut file = files::read_site(&folder.join("site.toml"))?;
    set_as_before(&mut file, &manifest)?;
    Ok(Resumed::Begun(Box::new(Begun { lock, manifest }), Box::new(file)))
}

fn is_measured(manifest: &Manifest) -> bool {
    let asked = |missing: &NotMeasured| {
        manifest.profiles.iter().any(|(profile, _)| *profile == missing.profile)
    };
    let is_left = manifest.probes.iter().any(|entry| entry.not_measured.is_some());
    manifest.complete && !is_left && !manifest.not_measured.iter().any(asked)
}

/// Gives a site file the choices of the command line by which a folder was begun.
pub(super) fn set_as_before(file: &mut SiteFile, manifest: &Manifest) -> Result<(), Failure> {
    let profiles: Vec<String> = manifest.profiles.iter().map(|(name, _)| name.clone()).collect();
    file.site.select_profiles(&profiles)?;
    if let Some(length) = manifest.length {
        file.site.set_length(match length {
            quietcore_evidence::Length::Duration(duration) => Length::Duration(duration),
            quietcore_evidence::Length::Cycles(cycles) => Length::Cycles(cycles),
        })?;
    }
    Ok(())
}
