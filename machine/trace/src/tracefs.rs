//! The kernel's tracing files.
//!
//! Most systems mount them at `/sys/kernel/tracing`. Where nobody has, they are opened as a mount
//! that is attached nowhere: no one else sees it, and it is gone with this process. Both need root.
//!
// UNSAFETY: the three system calls that open a file system without mounting it have no safe face
// among our libraries as they are built.
#![expect(unsafe_code, reason = "a file system is opened by system calls")]

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

/// Folders in which systems mount them.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// `FSOPEN_CLOEXEC` and `FSMOUNT_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_long = 1;
/// `FSCONFIG_CMD_CREATE`.
const CREATE: libc::c_long = 6;

/// Why the files can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TracefsError {
    /// This user may not.
    #[error("the kernel's tracing files need root; run as root, or grant CAP_SYS_ADMIN")]
    Permission,
    /// The kernel has none.
    #[error(
        "this kernel has no tracing files (CONFIG_TRACING); use one that has, such as any of \
         Debian's"
    )]
    Absent,
    /// Another failure of the kernel.
    #[error("the kernel's tracing files can't be opened")]
    Other(#[source] io::Error),
}

/// The kernel's tracing files.
#[derive(Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// Keeps a mount of our own, if they are mounted nowhere.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds the mounted files, or mounts them for this process alone.
    ///
    /// # Errors
    /// [`TracefsError`].
    pub fn open() -> Result<Self, TracefsError> {
        for place in PLACES {
            match fs::metadata(Path::new(place).join("instances")) {
                Ok(_) => return Ok(Self::below(place)),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(TracefsError::Permission);
                }
                Err(_) => {}
            }
        }
        let mount = detached(c"tracefs").map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => TracefsError::Permission,
            Some(libc::ENODEV | libc::ENOSYS) => TracefsError::Absent,
            _ => TracefsError::Other(error),
        })?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Self { root, _mount: Some(mount) })
    }

    /// A folder that is laid out as they are.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), _mount: None }
    }

    /// Returns their folder, for this process.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// A new mount of a file system that is attached nowhere.
fn detached(kind: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: `kind` is a text that ends in zero and outlives the call, which keeps nothing of it.
    let context = unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), CLOSE_ON_EXEC) };
    let context = owned(context)?;
    let nothing = std::ptr::null::<libc::c_char>();
    // SAFETY: the descriptor is open; this command takes neither key nor value.
    let created = unsafe {
        libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), CREATE, nothing, nothing, 0)
    };
    if created < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open; the other arguments are flags.
    owned(unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), CLOSE_ON_EXEC, 0) })
}

fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    let descriptor = i32::try_from(result).ok().filter(|descriptor| *descriptor >= 0);
    let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the kernel has just opened it for this call, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
