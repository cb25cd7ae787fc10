//! The guest's own system: file systems, modules, ports, and the end of the machine.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_boot::port;
use quietcore_linux_guest::build::MODULES_FOLDER;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, finit_module, reboot};

/// Longest wait for a port after its driver was loaded.
const PORT_PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two looks for it.
const PORT_LOOK: Duration = Duration::from_millis(5);

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
        let loaded =
            File::open(&module).and_then(|file| finit_module(&file, c"", 0).map_err(Into::into));
        loaded.map_err(|error| format!("module {}: {error}", module.display()))?;
    }
    Ok(())
}

/// Lets devices' memory be cached: firmware says of all addresses of devices that they can't be, by
/// the processor's memory type ranges, while the memory behind ours is the host's. A driver asks
/// for what it needs by the page tables, which still hold.
pub(super) fn allow_caching() {
    const FILE: &str = "/proc/mtrr";
    // A processor may have none of these ranges.
    let ranges = fs::read_to_string(FILE).unwrap_or_default();
    for number in uncachable(&ranges) {
        if let Err(error) = fs::write(FILE, format!("disable={number}\n")) {
            eprintln!("quietcore: shared memory is not cached: {error}");
        }
    }
}

/// Returns the numbers of the ranges that can't be cached.
fn uncachable(ranges: &str) -> Vec<u32> {
    let number = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        rest.trim_end().ends_with("uncachable").then(|| name.strip_prefix("reg")?.parse().ok())?
    };
    ranges.lines().filter_map(number).collect()
}

/// Opens the port of this name, once its driver has found it.
pub(super) fn port(name: &str) -> Result<File, String> {
    let end = Instant::now() + PORT_PATIENCE;
    loop {
        if let Some(path) = place_of_port(name) {
            let opened = OpenOptions::new().read(true).write(true).open(&path);
            return opened.map_err(|error| format!("port `{name}`: {error}"));
        }
        if Instant::now() > end {
            return Err(format!("there is no port `{name}`"));
        }
        thread::sleep(PORT_LOOK);
    }
}

fn place_of_port(name: &str) -> Option<PathBuf> {
    let ports = fs::read_dir("/sys/class/virtio-ports").ok()?;
    let found = ports.flatten().find(|port| {
        fs::read_to_string(port.path().join("name")).is_ok_and(|found| found.trim() == name)
    })?;
    let place = Path::new("/dev").join(found.file_name());
    place.exists().then_some(place)
}

/// Ends the machine with this status.
pub(super) fn end(status: u8) -> ExitCode {
    if let Ok(ports) = OpenOptions::new().write(true).open("/dev/port") {
        // Nothing comes after it where it is understood.
        let _ = ports.write_all_at(&[status], port::END.into());
    }
    // The first process can't end: the kernel would panic.
    if let Err(error) = reboot(RebootCommand::PowerOff) {
        eprintln!("quietcore: the machine can't be switched off: {error}");
    }
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ranges_that_cannot_be_cached_are_found() {
        let ranges = "reg00: base=0x0c0000000 ( 3072MB), size= 1024MB, count=1: uncachable\n\
                      reg01: base=0x000000000 (    0MB), size= 1024MB, count=1: write-back\n\
                      reg12: base=0x0fe000000 ( 4064MB), size=    1MB, count=1: uncachable\n";
        assert_eq!(uncachable(ranges), [0, 12]);
        assert_eq!(uncachable("nonsense\nregx: uncachable\n"), [0; 0]);
    }
}
