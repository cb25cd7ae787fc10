//! The versions of the peers, as they say them themselves.

use std::path::Path;
use std::process::Command;

/// The crates that this program is linked with.
const LOCK: &str = include_str!("../../../Cargo.lock");
/// Text for a peer that does not say its version.
const UNKNOWN: &str = "of unknown version";

/// The version of a crate, from the lock file.
pub(crate) fn of_crate(name: &str) -> String {
    locked(LOCK, name).unwrap_or(UNKNOWN).to_owned()
}

fn locked<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let line = format!("name = \"{name}\"");
    let mut lines = lock.lines().skip_while(|found| *found != line).skip(1);
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

/// The version of `cyclictest`, from the first line of its help.
pub(crate) fn of_cyclictest() -> String {
    let output = Command::new("cyclictest").arg("--help").output();
    let said = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let version = said.lines().find_map(|line| line.trim().strip_prefix("cyclictest V "));
    version.map_or(UNKNOWN, str::trim).to_owned()
}

/// The version of FreeRTOS, from its source tree.
pub(crate) fn of_freertos(sources: &Path) -> String {
    let text = std::fs::read_to_string(sources.join("include/task.h")).unwrap_or_default();
    kernel_version(&text).unwrap_or(UNKNOWN).to_owned()
}

fn kernel_version(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.contains("tskKERNEL_VERSION_NUMBER"))?;
    line.split('"').nth(1)
}

/// The version of a package of this Python.
pub(crate) fn of_python_package(python: &std::ffi::OsStr, package: &str) -> String {
    let script = format!("import importlib.metadata as m; print(m.version('{package}'))");
    let output = Command::new(python).args(["-c", &script]).output();
    let said = output.map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    if said.is_empty() { UNKNOWN.to_owned() } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_is_linked_has_the_version_of_the_lock_file() {
        let lock = "[[package]]\nname = \"rtrb-more\"\nversion = \"9.0.0\"\n\n[[package]]\nname = \
                    \"rtrb\"\nversion = \"0.4.1\"\n";
        assert_eq!(locked(lock, "rtrb"), Some("0.4.1"));
        assert_eq!(locked(lock, "iceoryx2"), None);
        assert_ne!(of_crate("hdrhistogram"), UNKNOWN);
    }

    #[test]
    fn the_version_of_a_source_tree_is_read() {
        let text = "/* a */\n#define tskKERNEL_VERSION_NUMBER       \"V11.1.0+\"\n";
        assert_eq!(kernel_version(text), Some("V11.1.0+"));
        assert_eq!(kernel_version("#define other \"1\""), None);
    }
}
