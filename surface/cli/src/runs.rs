//! A folder of runs: its page, which is made anew after each campaign.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use quietcore_evidence::{read, read_manifest, write_whole};
use quietcore_report::index::{self, Entry, GENERATOR};
use quietcore_units::Causes;

use crate::status::Failure;

/// The name of the page in the folder.
pub(crate) const INDEX: &str = "index.html";

/// The folder of runs whose folder nobody chose.
pub(crate) const RUNS: &str = "runs";

/// The largest number of runs that the page shows, the newest ones.
const RUNS_MAX: usize = 200;

/// The largest number of folders that are examined.
const FOLDERS_MAX: usize = 10_000;

/// The number of first bytes of a page that name its generator.
const HEAD_BYTES: u64 = 512;

/// Returns the names of the evidence folders in `root`; none if it is no folder of runs.
pub(crate) fn folders(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let is_evidence = |path: &PathBuf| {
        // The target of a link is shown in its own folder.
        fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
            && path.join("manifest.json").is_file()
    };
    let paths = entries.take(FOLDERS_MAX).filter_map(|entry| Some(entry.ok()?.path()));
    let names =
        paths.filter(is_evidence).filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Returns the newest of these folders, at most [`RUNS_MAX`], the oldest of them first; and why
/// each other one can't be read.
pub(crate) fn newest<'n>(root: &Path, folders: &'n [String]) -> (Vec<&'n String>, Vec<String>) {
    let (found, unread) = by_start(root, folders);
    let left_out = found.len().saturating_sub(RUNS_MAX);
    (found.into_iter().skip(left_out).collect(), unread.into_iter().map(|(_, why)| why).collect())
}

/// Orders folders by their start, the newest last; those without a manifest that can be read are
/// returned with the reason.
fn by_start<'n>(root: &Path, folders: &'n [String]) -> (Vec<&'n String>, Vec<(String, String)>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for folder in folders {
        match read_manifest(&root.join(folder)) {
            Ok(manifest) => found.push((manifest.started_at, folder)),
            Err(error) => unread.push((folder.clone(), Causes(&error).to_string())),
        }
    }
    found.sort();
    (found.into_iter().map(|(_, folder)| folder).collect(), unread)
}

/// Returns the page of the runs in `root`.
pub(crate) fn page(root: &Path, folders: &[String]) -> String {
    let (mut found, mut unread) = by_start(root, folders);
    let left_out = found.len().saturating_sub(RUNS_MAX);
    let mut entries = Vec::new();
    for folder in found.split_off(left_out) {
        match read(&root.join(folder)) {
            Ok(evidence) => entries.push(Entry::of(folder, &evidence)),
            Err(error) => unread.push((folder.clone(), Causes(&error).to_string())),
        }
    }
    // `.` has no name of its own.
    let whole = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let title = whole.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
    index::render(&title, &entries, &unread, left_out)
}

/// Writes the page beside a run again: in the folder for runs, and in another one that already has
/// such a page. Files of others are never replaced.
///
/// # Errors
///
/// Returns an error if the page can't be written.
pub(crate) fn refresh(run: &Path, is_chosen: bool) -> Result<Option<PathBuf>, Failure> {
    let root = &beside(run);
    let page_file = root.join(INDEX);
    let may = match standing(&page_file) {
        Standing::Ours => true,
        Standing::None => !is_chosen,
        Standing::Others => false,
    };
    if !may {
        return Ok(None);
    }
    write_whole(&page_file, page(root, &folders(root)).as_bytes())?;
    Ok(Some(page_file))
}

/// Returns the folder that a run lies in.
fn beside(run: &Path) -> PathBuf {
    match (run.file_name(), run.parent()) {
        // `.` and `..` have no name; what they lie in is above them all the same.
        (None, _) => run.join(".."),
        (Some(_), Some(parent)) if !parent.as_os_str().is_empty() => parent.to_owned(),
        (Some(_), _) => PathBuf::from("."),
    }
}

/// The kind of file at the place of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// There is no file.
    None,
    /// A page that this program has written.
    Ours,
    /// A file that somebody else has written.
    Others,
}

/// Examines the file there, without following a link.
pub(crate) fn standing(path: &Path) -> Standing {
    match fs::symlink_metadata(path) {
        Err(_) => return Standing::None,
        Ok(found) if !found.is_file() => return Standing::Others,
        Ok(_) => {}
    }
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let is_ours = read.is_ok() && String::from_utf8_lossy(&head).contains(GENERATOR);
    if is_ours { Standing::Ours } else { Standing::Others }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_has_written_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let page_file = root.path().join(INDEX);
        let run = root.path().join("a-run");
        assert_eq!(standing(&page_file), Standing::None);
        // In a folder that somebody has chosen, only an existing page is written again.
        assert_eq!(refresh(&run, true).unwrap(), None);
        assert_eq!(refresh(&run, false).unwrap(), Some(page_file.clone()));
        assert_eq!(standing(&page_file), Standing::Ours);
        assert_eq!(refresh(&run, true).unwrap(), Some(page_file.clone()));
        fs::write(&page_file, "<html>mine</html>").unwrap();
        assert_eq!(refresh(&run, false).unwrap(), None);
        assert_eq!(fs::read_to_string(&page_file).unwrap(), "<html>mine</html>");
    }

    #[test]
    fn a_run_lies_in_the_folder_above_it() {
        for (run, folder) in [("runs/a", "runs"), ("a", "."), (".", "./.."), ("/x/a", "/x")] {
            assert_eq!(beside(Path::new(run)), Path::new(folder), "{run}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("broken")).unwrap();
        fs::write(root.path().join("broken/manifest.json"), "{").unwrap();
        fs::create_dir(root.path().join("no-evidence")).unwrap();
        let folders = folders(root.path());
        assert_eq!(folders, ["broken"]);
        let page = page(root.path(), &folders);
        assert!(page.contains("Not in this page") && page.contains("is damaged"), "{page}");
    }
}
