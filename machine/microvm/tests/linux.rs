//! A Linux kernel as a guest: it says what its first process says, and restarts, which is its
//! end. Skipped where `QUIETCORE_KERNEL` names no bzImage: it takes a KVM that runs guests at full
//! speed.

#![deny(unsafe_code)]

#[expect(dead_code, reason = "of the small guests it uses the first process only")]
mod bare;

use std::env;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpio::newc;
use quietcore_microvm::devices::Devices;
use quietcore_microvm::devices::console::Console;
use quietcore_microvm::devices::serial::{PIN, PORT, PORTS, SerialLine};
use quietcore_microvm::exits::{Exits, REASONS};
use quietcore_microvm::linux;
use quietcore_microvm::machine::{Machine, MachineError};
use quietcore_microvm::memory::Memory;
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::Stopped;
use quietcore_microvm::runner::{Ended, Runner};

/// Longer than a kernel takes to start in emulated time.
const LONG: Duration = Duration::from_secs(240);

/// The address at which the first process is loaded.
const PROCESS: u64 = 0x40_0000;

/// A static program for Linux with this code and nothing else.
fn program(code: &[u8]) -> Vec<u8> {
    let mut file = b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let headers = 64 + 56;
    // Kind, machine, version; entry, first program header, no sections, flags; sizes and counts.
    file.extend([2, 0, 0x3E, 0, 1, 0, 0, 0]);
    for word in [PROCESS + headers, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    // One segment: loaded, read and executed.
    file.extend([1, 0, 0, 0, 5, 0, 0, 0]);
    let bytes = headers + code.len() as u64;
    for word in [0, PROCESS, PROCESS, bytes, bytes, 0x1000] {
        file.extend(word.to_le_bytes());
    }
    assert_eq!(file.len() as u64, headers);
    file.extend(code);
    file
}

fn initramfs() -> Vec<u8> {
    let program = program(bare::first_process());
    let entry = |name| newc::Builder::new(name).nlink(1);
    // The kernel opens the console for the first process.
    let console = entry("dev/console").ino(2).mode(0o020_600).rdev_major(5).rdev_minor(1);
    let parts = [
        (entry("dev").ino(1).mode(0o040_755), &[][..]),
        (console, &[][..]),
        (entry("init").ino(3).mode(0o100_755), &program[..]),
    ];
    let archive = parts.into_iter().fold(Vec::new(), |archive, (entry, bytes)| {
        let mut writer = entry.write(archive, bytes.len() as u32);
        writer.write_all(bytes).expect("memory");
        writer.finish().expect("memory")
    });
    newc::trailer(archive).expect("memory")
}

#[test]
fn a_kernel_starts_its_first_process_and_ends() {
    let Some(kernel) = env::var_os("QUIETCORE_KERNEL") else {
        return quietcore_skip::skip!("QUIETCORE_KERNEL names no kernel");
    };
    let memory = Memory::new("256 MiB".parse().expect("a size"), true).expect("memory");
    let mut kernel = File::open(kernel).expect("the kernel is there");
    let linux = linux::load(&memory, &mut kernel, &initramfs(), linux::COMMAND_LINE);
    let linux = linux.expect("it fits");
    let options = Options { is_pc: true, ..Options::default() };
    let machine = match Machine::with(memory, &options) {
        Err(MachineError::Kvm(error)) => return quietcore_skip::skip!("no KVM: {error}"),
        machine => machine.expect("a machine"),
    };
    let (console, mut reader) = Console::new().expect("a console");
    let line = SerialLine::new(console, machine.interrupt_pin(PIN).expect("a pin"));
    let devices = Devices::default().at_ports("serial line", PORT, PORTS, Arc::new(line));
    let (devices, exits) = (Arc::new(devices.expect("they fit")), Arc::new(Exits::default()));
    let processor = machine.linux_processor(linux).expect("a processor");
    let runner = Runner::spawn("linux", processor, devices.clone(), exits.clone(), || Ok(()));
    let runner = runner.expect("a thread");
    let started = Instant::now();
    runner.resume().expect("it stands still");
    let mut said = Vec::new();
    while runner.wait(Duration::from_millis(200)).is_none() && started.elapsed() < LONG {
        said.extend(reader.lines());
    }
    said.extend(reader.lines());
    said.extend(reader.rest());
    let outcome = runner.stop();
    for reason in REASONS {
        let (count, time_ns) = exits.of(reason);
        println!("{}: {count} exits, {time_ns} ns", reason.name());
    }
    println!("{} strays, after {:.1?}", devices.strays(), started.elapsed());
    let said = said.join("\n");
    assert!(said.contains("hello from the first process"), "{outcome:?}: {said}");
    assert!(matches!(outcome.ended, Ended::Guest(Stopped::Shutdown)), "{outcome:?}: {said}");
}
