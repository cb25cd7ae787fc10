//! Kernels of Debian's, fetched once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Why there is no kernel.
#[derive(Debug, thiserror::Error)]
pub enum NoKernel {
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
    #[error("package `{0}` holds no kernel")]
    Empty(String),
    /// The cache can't be used.
    #[error("can't keep the kernel in {path}: {because}")]
    Cache {
        /// Path of the folder.
        path: PathBuf,
        /// The error of the operating system.
        because: io::Error,
    },
}

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
/// [`NoKernel`]; what was begun in the cache is removed.
pub fn fetch(package: &str, cache: &Path, tell: impl Fn(&str)) -> Result<Kernel, NoKernel> {
    let package = newest(package)?;
    let folder = cache.join(&package);
    if !folder.exists() {
        tell(&format!("fetching {package} (once)"));
        keep(&package, cache, &folder)?;
    }
    look_into(&folder).ok_or(NoKernel::Empty(package))
}

/// The package with the kernel itself, on which the one that follows the newest depends.
fn newest(package: &str) -> Result<String, NoKernel> {
    let output = run(Command::new("apt-cache").args(["depends", "--important", package]))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|name| name.starts_with("linux-image-"))
        .map(str::to_owned)
        .ok_or_else(|| NoKernel::Empty(package.to_owned()))
}

fn keep(package: &str, cache: &Path, folder: &Path) -> Result<(), NoKernel> {
    let failed = |because| NoKernel::Cache { path: cache.to_owned(), because };
    fs::create_dir_all(cache).map_err(failed)?;
    let scratch = tempfile::tempdir_in(cache).map_err(failed)?;
    run(Command::new("apt-get").args(["download", "--quiet", package]).current_dir(&scratch))?;
    let archive = fs::read_dir(&scratch)
        .map_err(failed)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .ok_or_else(|| NoKernel::Empty(package.to_owned()))?;
    let contents = scratch.path().join("contents");
    run(Command::new("dpkg-deb").arg("--extract").arg(archive).arg(&contents))?;
    match fs::rename(&contents, folder) {
        // Somebody else has put it there meanwhile.
        Err(_) if folder.exists() => Ok(()),
        result => result.map_err(failed),
    }
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

fn run(command: &mut Command) -> Result<Output, NoKernel> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|because| NoKernel::Program { program, because })?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(NoKernel::Failed {
        command: format!("{command:?}"),
        said: said.lines().last().unwrap_or("it did not say why").to_owned(),
    })
}
