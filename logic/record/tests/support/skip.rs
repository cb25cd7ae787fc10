//! Skips that are seen: a test that can't run here says so, and a skip is never a pass.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

/// The folder that the environment variable `QUIETCORE_SHARED_DATA` names, or `shared/data` beside
/// the workspace; `None`, said loudly, where there is none.
pub(crate) fn shared_data(test: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("QUIETCORE_SHARED_DATA").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    skip(test, "no folder with the published data; set QUIETCORE_SHARED_DATA");
    None
}

/// Says that a test was skipped.
pub(crate) fn skip(test: &str, reason: &str) {
    let line = format!("SKIPPED: {test}: {reason}");
    println!("{line}");
    if let Some(path) = std::env::var_os("QUIETCORE_SKIP_FILE") {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .expect("the file for skips can be written");
        writeln!(file, "{line}").expect("the file for skips can be written");
    }
}
