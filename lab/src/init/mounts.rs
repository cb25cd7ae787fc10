//! The file systems of a machine.

use std::fs;
use std::io;
use std::path::Path;

use quietcore_lab::job::{OUT, OUT_TAG, PROJECT_TAG, ROOT_TAG};
use rustix::mount::{MountFlags, mount, mount_move};

const SHARE: &str = "trans=virtio,version=9p2000.L,msize=512000";

/// Mounts the shares and what the kernel offers, and makes the host's file system the root.
pub(crate) fn make(project: &Path) -> io::Result<()> {
    let root = Path::new("/host");
    fs::create_dir(root)?;
    // What does not change while the machine runs may be kept in its memory.
    let options = format!("{SHARE},cache=loose");
    attach(ROOT_TAG, root, "9p", MountFlags::RDONLY, &options)?;
    std::env::set_current_dir(root)?;
    mount_move(".", "/").map_err(|error| named(error, root))?;
    rustix::process::chroot(".").map_err(|error| named(error, root))?;
    std::env::set_current_dir("/")?;
    attach("proc", Path::new("/proc"), "proc", MountFlags::empty(), "")?;
    attach("sysfs", Path::new("/sys"), "sysfs", MountFlags::empty(), "")?;
    attach("devtmpfs", Path::new("/dev"), "devtmpfs", MountFlags::empty(), "")?;
    for (place, kind) in [("/dev/pts", "devpts"), ("/dev/shm", "tmpfs")] {
        fs::create_dir_all(place)?;
        attach(kind, Path::new(place), kind, MountFlags::empty(), "")?;
    }
    for place in ["/tmp", "/run", "/var/tmp"] {
        attach("tmpfs", Path::new(place), "tmpfs", MountFlags::empty(), "mode=1777")?;
    }
    attach("cgroup2", Path::new("/sys/fs/cgroup"), "cgroup2", MountFlags::empty(), "")?;
    attach("tracefs", Path::new("/sys/kernel/tracing"), "tracefs", MountFlags::empty(), "")?;
    // It may lie below what is memory now, or be seen through the root already.
    if !project.exists() {
        fs::create_dir_all(project)?;
    }
    attach(PROJECT_TAG, project, "9p", MountFlags::RDONLY, &options)?;
    fs::create_dir_all(OUT)?;
    attach(OUT_TAG, Path::new(OUT), "9p", MountFlags::empty(), SHARE)
}

fn attach(
    source: &str,
    target: &Path,
    kind: &str,
    flags: MountFlags,
    options: &str,
) -> io::Result<()> {
    let options = std::ffi::CString::new(options)?;
    mount(source, target, kind, flags, options.as_c_str()).map_err(|error| named(error, target))
}

fn named(error: rustix::io::Errno, place: &Path) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("mounting at {}: {error}", place.display()))
}
