//! Images under QEMU, whose processor is another one than KVM's: without x2APIC, and without a
//! timer that goes by the counter. Skipped where there is no QEMU.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::{Command, Output};

/// Returns QEMU's exit status for a guest that ends with a status.
fn status_of(guest: i32) -> Option<i32> {
    Some(guest * 2 + 1)
}

fn run(image: &Path, machine: &str) -> Option<Output> {
    let output = Command::new("timeout")
        .args([
            "60",
            "qemu-system-x86_64",
            "-M",
            machine,
            "-accel",
            "tcg",
            "-cpu",
            "max",
            "-m",
            "64",
        ])
        .args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"])
        .args(["-serial", "stdio", "-device", "isa-debug-exit,iobase=0x501,iosize=1", "-kernel"])
        .arg(image)
        .output()
        .expect("coreutils are there");
    if output.status.code() == Some(127) {
        quietcore_skip::skip!("no QEMU; install Debian's qemu-system-x86");
        return None;
    }
    Some(output)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_timer_that_counts_down_goes_off_as_often_as_it_is_set() {
    let Some(image) = quietcore_images::image("timer") else { return };
    // The one has no devices of a PC, the other has all of them.
    for machine in ["microvm", "q35"] {
        let Some(output) = run(&image, machine) else { return };
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), status_of(0), "{machine}: {said}");
        assert!(said.contains("100 times, "), "{machine}: {said}");
    }
}

#[test]
fn the_kernel_runs_its_tasks_by_the_timer_and_preempts_an_endless_one() {
    let Some(image) = quietcore_images::image("kernel") else { return };
    let Some(output) = run(&image, "microvm") else { return };
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), status_of(7), "{said}");
    assert_eq!(said, "fifty jobs; the endless task went on: true\n");
}

#[test]
fn a_guest_without_a_host_page_says_so_and_ends_with_its_status() {
    let Some(image) = quietcore_images::image("crash") else { return };
    let Some(output) = run(&image, "microvm") else { return };
    let said = text(&output.stdout);
    assert_eq!((output.status.code(), &*said), (status_of(42), "crashing in way 0"));
}
