//! Which driver of the host has a device on the PCI bus.
//!
//! A value is the name of the driver, or `none`. To give a device to a guest it is [`PASSING`], by
//! which a program opens it. That driver takes any device, but only one that is marked for it
//! (`driver_override`); every other driver takes the devices that it knows, once the mark is gone.
//!
//! ```text
//! mark, or no mark ─► unbind from the driver that has it ─► drivers_probe ─► bound anew
//! ```

use std::fs::OpenOptions;
use std::io::Write as _;

use super::SettingError;
use quietcore_host::Source;

/// Driver by which a program opens a device.
pub(crate) const PASSING: &str = "vfio-pci";
/// The value of a device that no driver has.
const NONE: &str = "none";
const BUS: &str = "/sys/bus/pci";
/// Most characters of a driver's name that is taken from a journal.
const NAME_CHARS_MAX: usize = 64;
/// The flag of an interface that is up.
const IS_UP: u32 = 1;

/// Reads the driver of a device.
pub(super) fn read(source: &Source, device: &str) -> Result<String, SettingError> {
    check(device)?;
    let place = format!("{BUS}/devices/{device}");
    if !source.place(&place).exists() {
        return Err(SettingError::Gone);
    }
    let driver = source.link_name(&format!("{place}/driver"));
    if let Some(reason) = driver.unreadable() {
        return Err(SettingError::Refused(reason.to_owned()));
    }
    Ok(driver.get().map_or(NONE, String::as_str).to_owned())
}

/// Has another driver take a device, or none.
pub(super) fn write(source: &Source, device: &str, driver: &str) -> Result<(), SettingError> {
    let before = read(source, device)?;
    check_name(driver)?;
    if before == driver {
        return Ok(());
    }
    if let Some(interface) = interface_up(source, device).filter(|_| driver == PASSING) {
        let reason = format!("the host uses it as `{interface}`, which is up");
        return Err(SettingError::Refused(reason));
    }
    let mark = if driver == PASSING { PASSING } else { "" };
    put(source, &format!("{BUS}/devices/{device}/driver_override"), &format!("{mark}\n"))?;
    if before != NONE {
        put(source, &format!("{BUS}/drivers/{before}/unbind"), device)?;
    }
    if driver == NONE {
        return Ok(());
    }
    let probed = put(source, &format!("{BUS}/drivers_probe"), device);
    if read(source, device)? == driver {
        return Ok(());
    }
    // Two drivers may know a device, and the first one takes it.
    probed.and_then(|()| put(source, &format!("{BUS}/drivers/{driver}/bind"), device))
}

/// Returns the first network interface of a device that is up.
fn interface_up(source: &Source, device: &str) -> Option<String> {
    let interfaces = source.entries(&format!("{BUS}/devices/{device}/net"));
    let is_up = |name: &&String| {
        let flags = source.text(&format!("/sys/class/net/{name}/flags"));
        let flags = flags.get().and_then(|text| text.trim().strip_prefix("0x"));
        flags
            .and_then(|flags| u32::from_str_radix(flags, 16).ok())
            .is_some_and(|it| it & IS_UP != 0)
    };
    interfaces.get()?.iter().find(is_up).cloned()
}

/// Writes a file that is there.
fn put(source: &Source, path: &str, text: &str) -> Result<(), SettingError> {
    let mut file = OpenOptions::new().write(true).open(source.place(path))?;
    Ok(file.write_all(text.as_bytes())?)
}

/// Refuses what is no PCI address, since paths are made of it, and a journal is a file on disk.
fn check(device: &str) -> Result<(), SettingError> {
    let is_address = device.len() == "0000:00:00.0".len()
        && device.chars().all(|it| it.is_ascii_hexdigit() || matches!(it, ':' | '.'))
        && !device.contains("..");
    let nonsense =
        || SettingError::Refused(format!("`{}` is no PCI address", device.escape_debug()));
    if is_address { Ok(()) } else { Err(nonsense()) }
}

/// Refuses what is no name of a driver, for the same reason.
fn check_name(driver: &str) -> Result<(), SettingError> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    let is_name = (1..=NAME_CHARS_MAX).contains(&driver.len()) && driver.chars().all(is_part);
    let nonsense = || SettingError::Refused(format!("`{}` is no driver", driver.escape_debug()));
    if is_name { Ok(()) } else { Err(nonsense()) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    const CARD: &str = "0000:03:00.0";

    /// A bus whose files keep what is written to them, and whose kernel does nothing.
    struct Bus {
        root: tempfile::TempDir,
    }

    impl Bus {
        fn new(driver: Option<&str>) -> Self {
            let bus = Self { root: tempfile::tempdir().unwrap() };
            fs::create_dir_all(bus.place(&format!("devices/{CARD}/net/eth7"))).unwrap();
            for name in ["igb", PASSING] {
                fs::create_dir_all(bus.place(&format!("drivers/{name}"))).unwrap();
                for file in ["bind", "unbind"] {
                    fs::write(bus.place(&format!("drivers/{name}/{file}")), "").unwrap();
                }
            }
            fs::write(bus.place("drivers_probe"), "").unwrap();
            fs::write(bus.place(&format!("devices/{CARD}/driver_override")), "(null)\n").unwrap();
            if let Some(driver) = driver {
                let link = bus.place(&format!("devices/{CARD}/driver"));
                symlink(bus.place(&format!("drivers/{driver}")), link).unwrap();
            }
            bus
        }

        fn place(&self, path: &str) -> PathBuf {
            self.root.path().join("sys/bus/pci").join(path)
        }

        fn source(&self) -> Source {
            Source::below(self.root.path())
        }

        fn text(&self, path: &str) -> String {
            fs::read_to_string(self.place(path)).unwrap()
        }
    }

    #[test]
    fn a_card_is_marked_taken_away_and_offered_anew() {
        let bus = Bus::new(Some("igb"));
        assert_eq!(read(&bus.source(), CARD).as_deref(), Ok("igb"));
        write(&bus.source(), CARD, PASSING).unwrap();
        assert!(bus.text(&format!("devices/{CARD}/driver_override")).starts_with("vfio-pci\n"));
        assert_eq!(bus.text("drivers/igb/unbind"), CARD);
        assert_eq!(bus.text("drivers_probe"), CARD);
        assert_eq!(bus.text("drivers/vfio-pci/bind"), CARD, "the kernel here had not taken it");
    }

    #[test]
    fn a_card_goes_back_to_the_driver_that_it_had_or_to_none() {
        let bus = Bus::new(Some(PASSING));
        write(&bus.source(), CARD, "igb").unwrap();
        assert!(bus.text(&format!("devices/{CARD}/driver_override")).starts_with('\n'));
        assert_eq!(bus.text("drivers/vfio-pci/unbind"), CARD);
        assert_eq!(bus.text("drivers/igb/bind"), CARD);
        let bus = Bus::new(Some(PASSING));
        write(&bus.source(), CARD, NONE).unwrap();
        assert_eq!(
            (bus.text("drivers/vfio-pci/unbind"), bus.text("drivers_probe")),
            (CARD.into(), String::new())
        );
        let bus = Bus::new(None);
        assert_eq!(read(&bus.source(), CARD).as_deref(), Ok(NONE));
        write(&bus.source(), CARD, NONE).unwrap();
        assert_eq!(bus.text(&format!("devices/{CARD}/driver_override")), "(null)\n", "as it was");
    }

    #[test]
    fn a_card_that_the_host_uses_stays_and_what_is_none_is_refused() {
        let bus = Bus::new(Some("igb"));
        let interface = bus.root.path().join("sys/class/net/eth7");
        fs::create_dir_all(&interface).unwrap();
        fs::write(interface.join("flags"), "0x1003\n").unwrap();
        let error = write(&bus.source(), CARD, PASSING).unwrap_err();
        assert_eq!(error.to_string(), "the host uses it as `eth7`, which is up");
        assert_eq!(bus.text("drivers/igb/unbind"), "");
        assert_eq!(read(&bus.source(), "0000:04:00.0"), Err(SettingError::Gone));
        for nonsense in ["", "../../../etc", "0000:03:00.0/..", "0000:03:../.0"] {
            assert!(matches!(read(&bus.source(), nonsense), Err(SettingError::Refused(_))));
        }
        for nonsense in ["", "../igb", "igb\n", &"x".repeat(65)] {
            let refused = write(&bus.source(), CARD, nonsense);
            assert!(matches!(refused, Err(SettingError::Refused(_))), "{nonsense}");
        }
    }
}
