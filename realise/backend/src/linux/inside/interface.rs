//! The network interfaces of a guest: that of its fieldbus, and its loopback.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::guest::network::address_in_words;

/// Folder in which the kernel describes network interfaces.
const INTERFACES: &str = "/sys/class/net";
/// The flag of an interface that is up (`netdevice(7)`).
const UP: u64 = 1;
/// Longest wait for the interface and its carrier.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// Brings the interface up that the host has given the guest, waits for its carrier, without which
/// the kernel sends nothing, and returns its name.
pub(super) fn bring_up() -> Result<String, String> {
    let end = Instant::now() + PATIENCE;
    let address = address_in_words();
    let missing = "there is no interface for the fieldbus; build the image again with `quietcore \
                   guest build`, which gives it the driver";
    let folder = wait(end, || find(Path::new(INTERFACES), &address)).ok_or(missing)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    set_up(&folder).map_err(|error| format!("interface `{name}` can't be brought up: {error}"))?;
    let carrier = || fs::read_to_string(folder.join("carrier")).ok().filter(|it| it.trim() == "1");
    wait(end, carrier).ok_or_else(|| format!("interface `{name}` has no carrier"))?;
    Ok(name)
}

/// Brings the loopback interface up, over which a load of a neighbour sends.
pub(super) fn bring_up_loopback() -> Result<(), String> {
    let up = set_up(&Path::new(INTERFACES).join("lo"));
    up.map_err(|error| format!("the loopback interface can't be brought up: {error}"))
}

fn wait<T>(end: Instant, look: impl Fn() -> Option<T>) -> Option<T> {
    loop {
        let found = look();
        if found.is_some() || Instant::now() > end {
            return found;
        }
        thread::sleep(LOOK);
    }
}

/// Returns the folder of the interface with this address.
fn find(interfaces: &Path, address: &str) -> Option<PathBuf> {
    let is_its = |folder: &PathBuf| {
        let found = fs::read_to_string(folder.join("address"));
        found.is_ok_and(|found| found.trim() == address)
    };
    fs::read_dir(interfaces).ok()?.flatten().map(|entry| entry.path()).find(is_its)
}

fn set_up(folder: &Path) -> std::io::Result<()> {
    let path = folder.join("flags");
    let text = fs::read_to_string(&path)?;
    let digits = text.trim().trim_start_matches("0x");
    let flags = u64::from_str_radix(digits, 16).map_err(std::io::Error::other)?;
    fs::write(&path, format!("{:#x}\n", flags | UP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_with_the_address_is_brought_up_and_no_other() {
        let scratch = tempfile::tempdir().unwrap();
        for (name, address) in [("lo", "00:00:00:00:00:00"), ("eth0", "02:51:43:00:00:01")] {
            let folder = scratch.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("address"), format!("{address}\n")).unwrap();
            fs::write(folder.join("flags"), "0x1002\n").unwrap();
        }
        let found = find(scratch.path(), &address_in_words()).unwrap();
        assert_eq!(found, scratch.path().join("eth0"));
        set_up(&found).unwrap();
        let flags =
            |name: &str| fs::read_to_string(scratch.path().join(name).join("flags")).unwrap();
        assert_eq!((&*flags("eth0"), &*flags("lo")), ("0x1003\n", "0x1002\n"));
        assert_eq!(find(scratch.path(), "02:51:43:00:00:02"), None);
    }
}
