//! Programs that earlier tests have compiled, so that each of them is compiled once.
//!
//! A site keeps its builds by the hash of what went into them, and compiles what it does not find.
//! Compiling takes a guest's program ten seconds in an emulated machine. Builds of a test are kept
//! beside those of others, and a site begins with all those of its group; in the lab it finds those
//! that tests outside have left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Copies the builds of a group to a site's builds. Those that can't be copied are compiled.
pub(crate) fn lend(group: &str, site_builds: &Path) {
    let _ = copy_missing(&kept(group), site_builds);
}

/// Keeps the builds of a site for others of its group, where that folder can be written.
pub(crate) fn keep(group: &str, site_builds: &Path) {
    let _ = copy_missing(site_builds, &kept(group));
}

fn kept(group: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds").join(group)
}

/// Copies whole builds, each of which appears at once.
fn copy_missing(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for build in fs::read_dir(from)?.flatten() {
        let place = to.join(build.file_name());
        // What is being built has a name with a dot.
        if place.exists() || build.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let copy = tempfile::Builder::new().prefix(".copy-").tempdir_in(to)?;
        let whole = copy.path().join("whole");
        fs::create_dir(&whole)?;
        for file in fs::read_dir(build.path())?.flatten() {
            fs::copy(file.path(), whole.join(file.file_name()))?;
        }
        // Another test may have been faster.
        let _ = fs::rename(&whole, &place);
    }
    Ok(())
}
