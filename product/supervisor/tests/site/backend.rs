//! The backend under test: the same tests hold for each.
//!
//! Partitions are processes, or what `QUIETCORE_TEST_BACKEND` names: one word for all partitions of
//! a site, or a word for each, with commas between them; `linux` stands for a Linux guest of QEMU,
//! `xen-linux` for one of Xen, whose image is the folder `QUIETCORE_TEST_IMAGE`.
//! `QUIETCORE_TEST_CONTAINERS` names what runs containers.

use std::time::Duration;

/// Longest wait of a test: long enough for the busiest machine, and an emulated one.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// Returns a site file whose partitions are of the backend under test.
pub(crate) fn realised(text: &str) -> String {
    let Ok(backends) = std::env::var("QUIETCORE_TEST_BACKEND") else { return text.to_owned() };
    let text = text.replace("backend = \"process\"", "");
    let text = if backends.starts_with("xen") { with_cpu_0_last(&text) } else { text };
    // A KVM that interprets its guests is none for QEMU.
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_kvm = processor.contains(" svm") || processor.contains(" vmx");
    let mut pieces = text.split("[[partition]]");
    let mut realised = pieces.next().unwrap_or_default().to_owned();
    for (piece, backend) in pieces.zip(backends.split(',').cycle()) {
        let accelerator = if has_kvm { "kvm" } else { "tcg" };
        let linux = || {
            let image = std::env::var("QUIETCORE_TEST_IMAGE").expect("the image of a guest");
            format!("system = \"linux\", image = \"{image}\"")
        };
        let accelerator = format!("accelerator = \"{accelerator}\"");
        let (backend, guest) = match backend {
            "linux" => ("qemu", format!("guest = {{ {accelerator}, {} }}\n", linux())),
            "qemu" => ("qemu", format!("guest = {{ {accelerator} }}\n")),
            "xen-linux" => ("xen", format!("guest = {{ {} }}\n", linux())),
            other => (other, String::new()),
        };
        realised += &format!("[[partition]]\nbackend = \"{backend}\"\n{guest}{piece}");
    }
    match std::env::var("QUIETCORE_TEST_CONTAINERS") {
        Ok(runtime) => format!("[host]\ncontainer_runtime = \"{runtime}\"\n{realised}"),
        Err(_) => realised,
    }
}

/// Exchanges the CPUs 0 and 1 of a site file, whose first partition then has a pool of Xen's for
/// itself. CPU 0 remains dom0's: in the emulator a kernel of Linux seldom survives to share it (see
/// the lab's README).
fn with_cpu_0_last(text: &str) -> String {
    let pieces = text.split("cpus = [0]").map(|piece| piece.replace("cpus = [1]", "cpus = [0]"));
    pieces.collect::<Vec<_>>().join("cpus = [1]")
}
