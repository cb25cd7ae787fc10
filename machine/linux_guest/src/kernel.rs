//! Kernels of Debian's, fetched once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::packages::{self, NoPackage, run};

/// A kernel and its modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Name of its package.
    pub package: String,
    /// Path of the bzImage.
    pub image: PathBuf,
    /// The folder `/lib/modules/VERSION`.
    pub modules: PathBuf,
}

/// The folder in which kernels are kept: `$XDG_CACHE_HOME/quietcore/lab`, else in `~/.cache`. The
/// lab has its machines from there, too.
pub fn cache() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("quietcore/lab")
}

/// Returns the newest kernel that `package` depends on: from the cache, or else from Debian. `tell`
/// is told what takes a while.
///
/// # Errors
/// [`NoPackage`]; what was begun in the cache is removed.
pub fn fetch(package: &str, cache: &Path, tell: impl Fn(&str)) -> Result<Kernel, NoPackage> {
    let package = newest(package)?;
    let folder = packages::fetch(&package, &[], cache, &tell)?;
    look_into(&folder).ok_or(NoPackage::Empty(package))
}

/// The package with the kernel itself, on which the one that follows the newest depends.
fn newest(package: &str) -> Result<String, NoPackage> {
    let output = run(Command::new("apt-cache").args(["depends", "--important", package]))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|name| name.starts_with("linux-image-"))
        .map(str::to_owned)
        .ok_or_else(|| NoPackage::Empty(package.to_owned()))
}

fn look_into(folder: &Path) -> Option<Kernel> {
    let first = |path: PathBuf, prefix: &str| {
        let mut found: Vec<PathBuf> = fs::read_dir(path)
            .ok()?
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .map(|entry| entry.path())
            .collect();
        found.sort();
        found.into_iter().next()
    };
    Some(Kernel {
        package: folder.file_name()?.to_string_lossy().into_owned(),
        image: first(folder.join("boot"), "vmlinuz-")?,
        modules: first(folder.join("lib/modules"), "")?,
    })
}
