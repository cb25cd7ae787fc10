//! The file systems of a machine.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use quietcore_lab::job::{OUT, OUT_TAG, PROJECT_TAG, ROOT_TAG};
use rustix::mount::{MountFlags, mount, mount_move};

const SHARE: &str = "trans=virtio,version=9p2000.L,msize=512000";
/// Folders of the root that packages may hold files for. `/lib` is one of `/usr`.
const LAID_OVER: [&str; 4] = ["boot", "etc", "usr", "var"];
/// State of the product. The host's is not that of this machine, and need not be readable.
const STATE: &str = "/var/lib/quietcore";

/// Mounts the shares and what the kernel offers, and makes the host's file system the root.
/// The host's file system gets `layers` on top, which are shares with packages.
pub(crate) fn make(project: &Path, layers: &[String]) -> io::Result<()> {
    let root = Path::new("/host");
    fs::create_dir(root)?;
    // What does not change while the machine runs may be kept in its memory.
    let options = format!("{SHARE},cache=loose");
    attach(ROOT_TAG, root, "9p", MountFlags::RDONLY, &options)?;
    lay_over(root, layers, &options)?;
    std::env::set_current_dir(root)?;
    mount_move(".", "/").map_err(|error| named(error, root))?;
    rustix::process::chroot(".").map_err(|error| named(error, root))?;
    std::env::set_current_dir("/")?;
    attach_kernels()?;
    for place in ["/tmp", "/run", "/var/tmp"] {
        attach("tmpfs", Path::new(place), "tmpfs", MountFlags::empty(), "mode=1777")?;
    }
    let state = Path::new(STATE);
    if state.is_dir() {
        attach("tmpfs", state, "tmpfs", MountFlags::empty(), "mode=755")?;
    }
    // It may lie below what is memory now, or be seen through the root already.
    if !project.exists() {
        fs::create_dir_all(project)?;
    }
    attach(PROJECT_TAG, project, "9p", MountFlags::RDONLY, &options)?;
    fs::create_dir_all(OUT)?;
    attach(OUT_TAG, Path::new(OUT), "9p", MountFlags::empty(), SHARE)
}

/// Mounts what a machine without shares has: its root remains what it has started from, which is
/// memory. Nothing is mounted where programs write, since files of the machine may lie below.
pub(crate) fn make_alone(directory: &Path) -> io::Result<()> {
    for place in ["/proc", "/sys", "/dev", "/run"] {
        fs::create_dir_all(place)?;
    }
    for place in ["/tmp", "/var/tmp"] {
        fs::create_dir_all(place)?;
        fs::set_permissions(place, Permissions::from_mode(0o1777))?;
    }
    attach_kernels()?;
    fs::create_dir_all(directory)?;
    fs::create_dir_all(OUT)
}

/// Mounts what the kernel offers.
fn attach_kernels() -> io::Result<()> {
    attach("proc", Path::new("/proc"), "proc", MountFlags::empty(), "")?;
    attach("sysfs", Path::new("/sys"), "sysfs", MountFlags::empty(), "")?;
    attach("devtmpfs", Path::new("/dev"), "devtmpfs", MountFlags::empty(), "")?;
    for (place, kind) in [("/dev/pts", "devpts"), ("/dev/shm", "tmpfs")] {
        fs::create_dir_all(place)?;
        attach(kind, Path::new(place), kind, MountFlags::empty(), "")?;
    }
    attach("cgroup2", Path::new("/sys/fs/cgroup"), "cgroup2", MountFlags::empty(), "")?;
    attach("tracefs", Path::new("/sys/kernel/tracing"), "tracefs", MountFlags::empty(), "")
}

/// Mounts what Xen offers its first domain.
pub(crate) fn attach_xen() -> io::Result<()> {
    attach("xenfs", Path::new("/proc/xen"), "xenfs", MountFlags::empty(), "")
}

/// Lays the contents of packages over folders of the root, which programs may write to then, as
/// those of an installed system may: Xen's keep what they know of a domain in `/var/lib`.
fn lay_over(root: &Path, layers: &[String], options: &str) -> io::Result<()> {
    if layers.is_empty() {
        return Ok(());
    }
    let written = Path::new("/written");
    fs::create_dir(written)?;
    attach("tmpfs", written, "tmpfs", MountFlags::empty(), "mode=755")?;
    for layer in layers {
        let place = Path::new("/").join(layer);
        fs::create_dir(&place)?;
        attach(layer, &place, "9p", MountFlags::RDONLY, options)?;
    }
    for folder in LAID_OVER {
        let [upper, work] = ["upper", "work"].map(|it| written.join(format!("{it}-{folder}")));
        fs::create_dir(&upper)?;
        fs::create_dir(&work)?;
        let target = root.join(folder);
        let lower: Vec<String> = layers
            .iter()
            .map(|layer| Path::new("/").join(layer).join(folder))
            .chain([target.clone()])
            .filter(|path| path.is_dir())
            .map(|path| path.display().to_string())
            .collect();
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.join(":"),
            upper.display(),
            work.display()
        );
        attach("overlay", &target, "overlay", MountFlags::empty(), &options)?;
    }
    Ok(())
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
