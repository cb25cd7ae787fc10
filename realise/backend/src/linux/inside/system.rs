//! The guest's own system: file systems, modules, and the end of the machine.

use std::ffi::CString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use quietcore_linux_guest::build::MODULES_FOLDER;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, finit_module, reboot};

/// Mounts what the kernel offers.
pub(super) fn mount_all() -> Result<(), String> {
    for (kind, place) in
        [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp")]
    {
        let mounted = fs::create_dir_all(place).and_then(|()| {
            let nothing = CString::default();
            mount(kind, place, kind, MountFlags::empty(), nothing.as_c_str()).map_err(Into::into)
        });
        mounted.map_err(|error| format!("mounting at {place}: {error}"))?;
    }
    // Only one look needs it, and goes without where the kernel has none.
    let debug = "/sys/kernel/debug";
    let _ = mount("debugfs", debug, "debugfs", MountFlags::empty(), CString::default().as_c_str());
    Ok(())
}

/// Loads the image's modules, in the order of their names.
pub(super) fn load_modules() -> Result<(), String> {
    let folder = Path::new(MODULES_FOLDER);
    // A kernel may have all of them built in.
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let mut modules: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    modules.sort();
    for module in modules {
        let file = File::open(&module);
        let file = file.map_err(|error| format!("module {}: {error}", module.display()))?;
        match finit_module(&file, c"", 0) {
            // A driver for what another hypervisor has.
            Ok(()) | Err(Errno::NODEV) => {}
            Err(error) => return Err(format!("module {}: {error}", module.display())),
        }
    }
    Ok(())
}

/// Switches the machine off.
pub(super) fn switch_off() -> ExitCode {
    // The first process can't end: the kernel would panic.
    if let Err(error) = reboot(RebootCommand::PowerOff) {
        eprintln!("quietcore: the machine can't be switched off: {error}");
    }
    ExitCode::FAILURE
}
