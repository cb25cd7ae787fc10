//! The caller's side of the sandbox: a command that is changed before its program is started.
// UNSAFETY: a closure runs in the new process, between `fork` and `exec`.

use std::ffi::{CString, NulError};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Limits;
use crate::enter::{self, Entry};

/// The file in the sandbox that is copied to the caller when the program has ended.
pub const RESULT: &str = "/out/result";

/// The system's folders and files that a compiler needs; those that are not there are left out.
const SYSTEM: [&str; 9] = [
    "/usr",
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/dev/null",
];

/// The environment of the program, beside what its caller sets after [`Sandbox::confine`].
const ENVIRONMENT: [(&str, &str); 3] =
    [("PATH", "/usr/bin:/bin"), ("TMPDIR", "/tmp"), ("LC_ALL", "C")];

/// Deepest folder that is made readable.
const DEPTH_MAX: usize = 64;

/// A program that can't be run in a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A step on the way into the sandbox was refused.
    #[error("the sandbox can't be had: {step}: {why}; {remedy}")]
    Step {
        /// The step, as in "namespaces are taken".
        step: &'static str,
        /// The error of the kernel.
        why: io::Error,
        /// The change of the system that would allow it.
        remedy: &'static str,
    },
    /// The program is not there, or can't be started.
    #[error("the program can't be started in the sandbox: {0}")]
    Program(io::Error),
    /// A path can't be handed to the kernel.
    #[error("a path for the sandbox holds a zero byte")]
    Path(#[from] NulError),
    /// A file for the sandbox can't be prepared.
    #[error("`{}` can't be prepared for the sandbox", path.display())]
    Prepare {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}

/// Everything that one program sees beside the system's folders.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Folders that it may read, at their own paths.
    pub readable: &'a [&'a Path],
    /// The folder that it starts in.
    pub folder: &'a Path,
    /// The file that [`RESULT`] is copied to; `None` where nothing comes of it but text.
    pub result: Option<&'a Path>,
}

/// A sandbox for programs that are started with these limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Holds for each program that is started in it.
    pub limits: Limits,
}

impl Sandbox {
    /// Changes a command so that its program runs in the sandbox. Its environment is replaced, and
    /// its folder is that of the view.
    ///
    /// # Errors
    /// [`SandboxError::Prepare`], [`SandboxError::Path`].
    pub fn confine(&self, command: &mut Command, view: &View<'_>) -> Result<(), SandboxError> {
        let seen = SYSTEM.iter().map(Path::new).chain(view.readable.iter().copied());
        let mut entry = Entry::new(self.limits, &c_path(view.folder)?)?;
        for path in seen {
            // What a system does not have, a program that needs it will miss by name.
            let Ok(metadata) = fs::symlink_metadata(path) else { continue };
            let target = fs::read_link(path).ok();
            match target {
                Some(target) => entry.link(&c_path(&target)?, &c_path(path)?)?,
                None => entry.show(&c_path(path)?, metadata.is_dir())?,
            }
        }
        if let Some(result) = view.result {
            entry.take_result(open_result(result)?);
        }
        command.env_clear().envs(ENVIRONMENT).process_group(0);
        // SAFETY: `Entry::enter` makes system calls on what was prepared above, and allocates
        // nothing.
        unsafe { command.pre_exec(move || entry.enter()) };
        Ok(())
    }

    /// Says why a confined command could not be started.
    pub fn why_not(error: io::Error) -> SandboxError {
        match enter::refused(&error) {
            Some((step, why)) => {
                SandboxError::Step { step: step.told(), why, remedy: step.remedy() }
            }
            None => SandboxError::Program(error),
        }
    }
}

/// Lets everybody read a folder and all in it. In the sandbox of root the program is another user;
/// the folders above keep those out who are not in the sandbox.
///
/// # Errors
/// [`SandboxError::Prepare`].
pub fn make_readable(folder: &Path) -> Result<(), SandboxError> {
    let refused = |path: &Path| {
        let path = path.to_owned();
        move |source| SandboxError::Prepare { path, source }
    };
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((path, depth)) = open.pop() {
        let metadata = fs::symlink_metadata(&path).map_err(refused(&path))?;
        let wanted = match (metadata.is_dir(), metadata.is_file()) {
            (true, _) => 0o555,
            (_, true) => 0o444,
            _ => continue,
        };
        let mode = metadata.permissions().mode();
        if mode & wanted != wanted {
            let permissions = fs::Permissions::from_mode(mode | wanted);
            fs::set_permissions(&path, permissions).map_err(refused(&path))?;
        }
        if metadata.is_dir() && depth < DEPTH_MAX {
            for entry in fs::read_dir(&path).map_err(refused(&path))? {
                open.push((entry.map_err(refused(&path))?.path(), depth + 1));
            }
        }
    }
    Ok(())
}

fn open_result(path: &Path) -> Result<File, SandboxError> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o644);
    let opened = options.open(path);
    opened.map_err(|source| SandboxError::Prepare { path: path.to_owned(), source })
}

fn c_path(path: &Path) -> Result<CString, NulError> {
    CString::new(path.as_os_str().as_bytes())
}
