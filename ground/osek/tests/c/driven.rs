//! A module's kernel, driven by a loader in small that is C itself.

use std::fs;
use std::process::Command;

use crate::library::{has, link, root, run};

/// Goal: whatever a program does in a step, its loader comes back in time and can go on.
/// Method: a loader with a timer and a handler of faults plays a sequence of cycles.
#[test]
fn a_loader_drives_the_kernel_step_by_step() {
    if !has("gcc") {
        quietcore_skip::skip!("no C compiler; install Debian's `gcc` (Miri runs none)");
        return;
    }
    let program = link("driven", &["gcc", "-std=gnu99"], &["-DACCOUNTING=1u"]);
    let (output, said, complained) = run(&mut Command::new(program));
    let expected = fs::read_to_string(root().join("tests/c/programs/driven.txt")).unwrap();
    assert_eq!(said, expected, "{complained}");
    assert!(output.status.success() && complained.is_empty(), "{:?} {complained}", output.status);
}

/// Goal: each message leads to its notification in the step that follows it, and to no other one.
/// Method: a loader whose counts change between steps, through the table of services.
#[test]
fn a_module_is_notified_of_messages_step_by_step() {
    if !has("gcc") {
        quietcore_skip::skip!("no C compiler; install Debian's `gcc` (Miri runs none)");
        return;
    }
    let program = link("messages", &["gcc", "-std=gnu99"], &["-DMESSAGES"]);
    let (output, said, complained) = run(&mut Command::new(program));
    let expected = fs::read_to_string(root().join("tests/c/programs/messages.txt")).unwrap();
    assert_eq!(said, expected, "{complained}");
    assert!(output.status.success() && complained.is_empty(), "{:?} {complained}", output.status);
}
