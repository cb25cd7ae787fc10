//! Images of disks, made with the compiler that is there anyway.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Bytes of an image.
const BYTES: u64 = 1 << 20;

/// The system in an image of one boot sector.
#[derive(Clone, Copy, Debug)]
pub(crate) enum System {
    /// It says hello and shuts down when the button is pressed.
    Usual,
    /// It does not look at the button.
    Deaf,
    /// It writes for ever.
    Flood,
    /// It switches the machine off at once.
    Off,
}

/// Makes the raw image of a disk with such a system.
pub(crate) fn boot_image(system: System, path: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/disk/boot.S");
    let mut command = Command::new("gcc");
    match system {
        System::Usual => {}
        System::Deaf => drop(command.arg("-DDEAF")),
        System::Flood => drop(command.arg("-DFLOOD")),
        System::Off => drop(command.arg("-DOFF")),
    }
    let linked = "-Wl,-Ttext=0x7c00,--oformat=binary,-e,start,--build-id=none";
    command.args(["-nostdlib", "-static", "-no-pie", linked, "-o"]).arg(path).arg(source);
    let made = command.output().expect("there is a compiler");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let file = fs::OpenOptions::new().write(true).open(path).expect("an image");
    file.set_len(BYTES).expect("an image has room");
}
