//! A program in front of QEMU: it lies where QEMU is, and becomes QEMU.
//!
//! So a partition of the backend `qemu` can be looked at as it always is: neither the backend nor
//! its arguments know of it. It lies there for one process and those that this one starts, in a
//! mount namespace of their own, which needs root.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use quietcore_host::Source;
use quietcore_host::facts::Virtualization;

/// Puts a program in front of QEMU, for what is run by the program that is returned: that runs its
/// arguments as a command. The one in front runs the line `before`, and hands on its arguments with
/// `behind` after them. All files are in `folder`.
///
/// # Errors
/// There is no QEMU, or a file can't be written; in words.
pub(super) fn place_in_front_of_qemu(
    folder: &Path,
    before: &str,
    behind: &str,
) -> Result<PathBuf, String> {
    let qemu = Virtualization::find_qemu(&Source::live()).get().cloned();
    let qemu = qemu.ok_or("QEMU is not installed; Debian's package is qemu-system-x86")?;
    // It looks for its firmware and modules from the place that it lies at.
    let bin = folder.join("usr/bin");
    fs::create_dir_all(&bin).map_err(|error| format!("{}: {error}", bin.display()))?;
    for name in ["lib", "share"] {
        let link = folder.join("usr").join(name);
        symlink(Path::new("/usr").join(name), &link)
            .map_err(|error| format!("{}: {error}", link.display()))?;
    }
    let moved = bin.join("qemu");
    let [front, inside, enter] = ["front", "inside", "enter"].map(|name| folder.join(name));
    script(&moved, "")?;
    let text = format!("{before}\nexec {} \"$@\" {behind}\n", quoted(&moved));
    script(&front, &text)?;
    let (qemu, moved) = (quoted(Path::new(&qemu)), quoted(&moved));
    let text = format!(
        "mount --bind {qemu} {moved} && mount --bind {} {qemu} && exec \"$@\"\n",
        quoted(&front)
    );
    script(&inside, &text)?;
    script(&enter, &format!("exec unshare --mount {} \"$@\"\n", quoted(&inside)))?;
    Ok(enter)
}

/// Writes a program for a shell.
///
/// # Errors
/// Those of the file, in words.
pub(super) fn script(path: &Path, text: &str) -> Result<(), String> {
    let written = fs::write(path, format!("#!/bin/sh\n{text}"))
        .and_then(|()| fs::set_permissions(path, Permissions::from_mode(0o755)));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns a path as one word of a shell.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
