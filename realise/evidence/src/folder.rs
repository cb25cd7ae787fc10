//! Names and limits of the folder.

use sha2::{Digest as _, Sha256};

/// The largest file that is read back; a record takes far less than 1 MiB.
pub const FILE_BYTES_MAX: u64 = 64 << 20;

/// The most records that are read back.
pub const RECORD_COUNT_MAX: usize = 10_000;

/// The most recordings of variables that a folder keeps.
pub const TRACE_COUNT_MAX: usize = 64;

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const SITE: &str = "site.toml";
pub(crate) const DOCTOR: &str = "doctor.json";
pub(crate) const RECORDS: &str = "records";
pub(crate) const RECORDS_PREFIX: &str = "records/";
pub(crate) const TRACES: &str = "traces";
pub(crate) const EVIDENCE: &str = "evidence.json";
pub(crate) const SUMS: &str = "SHA256SUMS";
pub(crate) const SIGNATURE: &str = "evidence.intoto.json";

/// Files that are made from the others and never read as evidence. They may be made anew.
pub(crate) const DERIVED: [&str; 3] = [EVIDENCE, "report.html", "junit.xml"];

/// The longest name taken over into the name of a file or folder.
const NAME_LENGTH_MAX: usize = 64;

/// Bytes of a sum that tell two names apart.
const MARK_BYTES: usize = 8;

/// The folder's name: the time, made fit for file names, and the name of the site.
pub fn folder_name(started_at: &str, name: &str) -> String {
    let time: String =
        started_at.chars().take(19).map(|c| if c == ':' { '-' } else { c }).collect();
    format!("{time}-{}", file_name(name))
}

/// `name` with everything but letters, digits, `.`, `_` and `-` replaced.
pub(crate) fn file_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .take(NAME_LENGTH_MAX)
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .collect();
    // A name of dots alone, or a hidden file, isn't what anyone means.
    let safe = safe.trim_start_matches('.');
    if safe.is_empty() { "unnamed".to_owned() } else { safe.to_owned() }
}

/// The file of the record of this name. Two names never share a file: one that had to be changed
/// or cut carries the beginning of its sum.
pub(crate) fn record_file(name: &str) -> String {
    let safe = file_name(name);
    if safe == name {
        return format!("{RECORDS}/{safe}.json");
    }
    let sum = Sha256::digest(name.as_bytes());
    let mark: String = sum.iter().take(MARK_BYTES).map(|byte| format!("{byte:02x}")).collect();
    format!("{RECORDS}/{safe}.{mark}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_different_names_have_different_files() {
        assert_eq!(record_file("axis.tp2.cpu1"), "records/axis.tp2.cpu1.json");
        let long = "x".repeat(NAME_LENGTH_MAX);
        let names =
            ["a b", "a-b", "a/b", "", ".", &long, &format!("{long}.tp2"), &format!("{long}.tp4")];
        let files: std::collections::BTreeSet<_> =
            names.iter().map(|name| record_file(name)).collect();
        assert_eq!(files.len(), names.len(), "{files:?}");
    }

    /// Goal: the stranger's script and `quietcore verify` mean the same pages.
    #[test]
    fn the_script_of_the_documents_knows_the_same_pages() {
        let script = include_str!("../../../docs/verify_evidence.py");
        let line = script.lines().find_map(|line| line.strip_prefix("PAGES = {")).unwrap();
        let mut pages: Vec<_> = line.split('"').skip(1).step_by(2).collect();
        let mut derived = DERIVED.to_vec();
        pages.sort_unstable();
        derived.sort_unstable();
        assert_eq!(pages, derived);
    }

    #[test]
    fn folder_names_are_safe() {
        assert_eq!(
            folder_name("2026-11-21T20:15:03.5Z", "press-line"),
            "2026-11-21T20-15-03-press-line"
        );
        assert_eq!(file_name("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(file_name(".."), "unnamed");
    }
}
