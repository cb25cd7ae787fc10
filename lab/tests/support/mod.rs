//! Finds out for tests whether a machine can run here, and calls the lab as a person does.

use std::path::Path;
use std::process::{Command, Output};

use quietcore_lab::{kernel, kind};

/// Returns `true` if machines of this kind can run here; says why not.
pub(crate) fn can_run(kind: &str) -> bool {
    if Command::new("qemu-system-x86_64").arg("--version").output().is_err() {
        quietcore_skip::skip!("no QEMU; install Debian's qemu-system-x86");
        return false;
    }
    let kind = kind::find(kind).expect("a kind of the lab");
    if let Err(error) = kernel::fetch(kind, &kernel::cache(), |_| {}) {
        quietcore_skip::skip!("{error}");
        return false;
    }
    true
}

/// Calls the lab, and waits for its end.
pub(crate) fn lab(arguments: &[&str]) -> Output {
    lab_of(Path::new("."), arguments)
}

/// Calls the lab in the folder of another project, and waits for its end.
pub(crate) fn lab_of(project: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quietcore-lab"))
        .args(arguments)
        .current_dir(project)
        .output()
        .expect("it was built for this test")
}

/// Returns what was printed, as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
