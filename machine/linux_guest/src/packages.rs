//! Packages of Debian's, fetched once and kept in a cache. They are extracted there, and never
//! installed.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Why a package, or what it should hold, is not there.
#[derive(Debug, thiserror::Error)]
pub enum NoPackage {
    /// A program is missing, or can't be run.
    #[error("can't run `{program}`, which Debian has: {because}")]
    Program {
        /// Name of the program.
        program: String,
        /// The error of the operating system.
        because: io::Error,
    },
    /// A program ended with a failure.
    #[error("`{command}` failed: {said}; is a package source reachable?")]
    Failed {
        /// The command line that was run.
        command: String,
        /// The last line that it said.
        said: String,
    },
    /// The package is not what it should be.
    #[error("package `{0}` does not hold what it should")]
    Empty(String),
    /// The cache can't be used.
    #[error("can't keep packages in {path}: {because}")]
    Cache {
        /// Path of the folder.
        path: PathBuf,
        /// The error of the operating system.
        because: io::Error,
    },
}

/// Returns the folder of the cache that holds the contents of a package and of those `beside` it,
/// which is called as the package; fetches all of them where it is not there. `tell` is told what
/// takes a while.
///
/// # Errors
/// [`NoPackage`]; what was begun in the cache is removed.
pub fn fetch(
    package: &str,
    beside: &[&str],
    cache: &Path,
    tell: impl Fn(&str),
) -> Result<PathBuf, NoPackage> {
    let folder = cache.join(package);
    if !folder.exists() {
        tell(&format!("fetching {package} (once)"));
        keep(package, beside, cache, &folder)?;
    }
    Ok(folder)
}

fn keep(package: &str, beside: &[&str], cache: &Path, folder: &Path) -> Result<(), NoPackage> {
    let failed = |because| NoPackage::Cache { path: cache.to_owned(), because };
    fs::create_dir_all(cache).map_err(failed)?;
    let scratch = tempfile::tempdir_in(cache).map_err(failed)?;
    let mut download = Command::new("apt-get");
    download.args(["download", "--quiet", package]).args(beside).current_dir(&scratch);
    run(&mut download)?;
    let archives: Vec<PathBuf> = fs::read_dir(&scratch)
        .map_err(failed)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .collect();
    if archives.len() != 1 + beside.len() {
        return Err(NoPackage::Empty(package.to_owned()));
    }
    let contents = scratch.path().join("contents");
    for archive in archives {
        run(Command::new("dpkg-deb").arg("--extract").arg(archive).arg(&contents))?;
    }
    match fs::rename(&contents, folder) {
        // Somebody else has put it there meanwhile.
        Err(_) if folder.exists() => Ok(()),
        result => result.map_err(failed),
    }
}

/// Writes a file of the cache whole or not at all: another machine may just be starting from it.
///
/// # Errors
/// [`NoPackage::Cache`].
pub fn put(path: &Path, bytes: &[u8]) -> Result<(), NoPackage> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let failed = |because| NoPackage::Cache { path: folder.to_owned(), because };
    let mut scratch = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    scratch.write_all(bytes).map_err(failed)?;
    scratch.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Runs a program to its end, and fails where it does.
///
/// # Errors
/// [`NoPackage`] when it can't be run, or fails.
pub fn run(command: &mut Command) -> Result<Output, NoPackage> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|because| NoPackage::Program { program, because })?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(NoPackage::Failed {
        command: format!("{command:?}"),
        said: said.lines().last().unwrap_or("it did not say why").to_owned(),
    })
}
