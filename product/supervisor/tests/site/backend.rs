//! The backend under test: the same tests hold for each.
//!
//! Partitions are processes, or what `QUIETCORE_TEST_BACKEND` names: one word for all partitions of
//! a site, or a word for each, with commas between them. `QUIETCORE_TEST_CONTAINERS` names what
//! runs containers.

use std::time::Duration;

/// Longest wait of a test: long enough for the busiest machine, and an emulated one.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The machine of a guest under QEMU where there is no KVM.
const EMULATED: &str = "guest = { accelerator = \"tcg\" }";

/// Returns a site file whose partitions are of the backend under test.
pub(crate) fn realised(text: &str) -> String {
    let Ok(backends) = std::env::var("QUIETCORE_TEST_BACKEND") else { return text.to_owned() };
    let text = text.replace("backend = \"process\"", "");
    // A KVM that interprets its guests is none for QEMU.
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_kvm = processor.contains(" svm") || processor.contains(" vmx");
    let mut pieces = text.split("[[partition]]");
    let mut realised = pieces.next().unwrap_or_default().to_owned();
    for (piece, backend) in pieces.zip(backends.split(',').cycle()) {
        let machine = if backend == "qemu" && !has_kvm { EMULATED } else { "" };
        realised += &format!("[[partition]]\nbackend = \"{backend}\"\n{machine}{piece}");
    }
    match std::env::var("QUIETCORE_TEST_CONTAINERS") {
        Ok(runtime) => format!("[host]\ncontainer_runtime = \"{runtime}\"\n{realised}"),
        Err(_) => realised,
    }
}
