//! Takes what a stranger sent, and checks what is left of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quietcore_programs::sites::SiteText;
use quietcore_programs::{Authorship, Programs};

/// Sends bytes as an archive. A version that is kept is files below its folder, a refusal leaves
/// nothing, and neither is anywhere else.
pub(crate) fn send_archive(bytes: &[u8]) {
    let ground = tempfile::tempdir().expect("a folder");
    let state = ground.path().join("state");
    fs::create_dir(&state).expect("a folder");
    let programs = Programs::open(&state).expect("an empty store");
    let mut upload = programs.receive("servo").expect("the name is good");
    let by = Authorship { by: "anna".to_owned(), at: "2026-11-28T12:00:00Z".to_owned() };
    let sent = bytes.chunks(1000).try_for_each(|chunk| upload.chunk(chunk));
    let kept = sent.and_then(|()| programs.keep(upload, &by));

    let store = state.join("programs");
    assert_eq!(below(&store.join("incoming")), BTreeSet::new());
    let versions = below(&store.join("versions"));
    match kept {
        Ok(version) => {
            let folder = programs.folder(&version);
            let of_version = |path: &PathBuf| *path == folder || path.starts_with(&folder);
            assert!(versions.iter().all(of_version), "{versions:?}");
            let files = versions.iter().filter(|path| path.is_file());
            // One of them is the mark of a program that was received.
            assert_eq!(files.count() as u64, version.files + 1);
        }
        Err(error) => {
            assert_eq!(versions, BTreeSet::new(), "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
    assert_eq!(names(ground.path()), ["state"]);
}

/// Reads a text as that of a site. In one that is accepted each program gets its folder, and no
/// text that names a folder is accepted.
pub(crate) fn send_site(text: &str) {
    let Ok(site) = SiteText::read(text, &[]) else { return };
    assert_eq!(site.text(), text);
    let replaced = site.with_folders(|program| format!("/received/{}", program.program));
    let again = SiteText::read(&replaced, &[]);
    let named = site.programs().len();
    assert_eq!(replaced.matches("/received/").count(), named + text.matches("/received/").count());
    // A path is no name of a program that was sent: the text of one that runs can't be sent again.
    assert!(again.is_err() || named == 0, "{replaced}");
}

/// All that lies below a folder, none of it a link or a device.
fn below(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let kind = fs::symlink_metadata(&path).expect("it is there").file_type();
            assert!(kind.is_dir() || kind.is_file(), "{path:?}: {kind:?}");
            if kind.is_dir() {
                open.push(path.clone());
            }
            found.insert(path);
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|it| it.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}
