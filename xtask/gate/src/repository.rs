//! The project as git knows it: its tree, its crates, and its changes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// A crate of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Crate {
    /// The path of its folder, from the project's root.
    pub(crate) folder: String,
    pub(crate) package: String,
    pub(crate) has_library: bool,
}

#[derive(Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

/// The hash of the tree that is checked out; none if files differ from it, or without git.
pub(crate) fn clean_tree() -> Option<String> {
    let changes = git(&["status", "--porcelain"]).ok()?;
    let tree = git(&["rev-parse", "HEAD^{tree}"]).ok()?;
    changes.trim().is_empty().then(|| tree.trim().to_owned())
}

/// The workspace's crates. `fuzz` is a workspace of its own.
///
/// # Errors
/// Git fails, or a manifest can't be read.
pub(crate) fn crates() -> Result<Vec<Crate>, String> {
    let known = ["ls-files", "--cached", "--others", "--exclude-standard", "*Cargo.toml"];
    let manifests = git(&known)?;
    let manifests = manifests.lines().filter(|path| Path::new(path).is_file());
    let folders = manifests.filter_map(|path| path.strip_suffix("/Cargo.toml"));
    folders.filter(|folder| *folder != "fuzz").map(read_crate).collect()
}

fn read_crate(folder: &str) -> Result<Crate, String> {
    let path = Path::new(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| error.to_string());
    let manifest =
        text.and_then(|text| toml::from_str::<Manifest>(&text).map_err(|error| error.to_string()));
    let manifest = manifest.map_err(|error| format!("{}: {error}", path.display()))?;
    let has_library = Path::new(folder).join("src/lib.rs").is_file();
    Ok(Crate { folder: folder.to_owned(), package: manifest.package.name, has_library })
}

/// The crates with files that differ from where this branch left the main one, those included that
/// git does not know yet: each file belongs to the innermost.
///
/// # Errors
/// Git fails.
pub(crate) fn changed<'a>(crates: &'a [Crate]) -> Result<BTreeSet<&'a Crate>, String> {
    let base = ["main", "origin/main"].into_iter();
    let base = base.filter_map(|main| git(&["merge-base", "HEAD", main]).ok()).next();
    let base = base.unwrap_or_else(|| "HEAD".to_owned());
    let mut files = git(&["diff", "--name-only", base.trim()])?;
    files.push_str(&git(&["ls-files", "--others", "--exclude-standard"])?);
    let owner = |file: &str| -> Option<&'a Crate> {
        let file = PathBuf::from(file);
        let mut folders =
            file.ancestors().skip(1).filter(|folder| folder.join("Cargo.toml").is_file());
        let folder = folders.next()?;
        crates.iter().find(|krate| Path::new(&krate.folder) == folder)
    };
    Ok(files.lines().filter_map(owner).collect())
}

fn git(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).output();
    let output = output.map_err(|error| format!("git can't be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
}
