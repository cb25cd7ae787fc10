//! Guests from their start to their end. Skipped where there is no KVM.

#![forbid(unsafe_code)]

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;

use quietcore_boot::{AddressRange, CrashRecord, HostPage, port};
use quietcore_microvm::bus::{After, Bus};
use quietcore_microvm::exits::{Exits, Reason};
use quietcore_microvm::image;
use quietcore_microvm::machine::{Machine, MachineError};
use quietcore_microvm::memory::Memory;
use quietcore_microvm::processor::{ProcessorError, Stopped, StuckBecause};
use quietcore_units::Causes;

/// A console and an end, and nothing else.
#[derive(Default)]
struct Ports {
    said: Mutex<String>,
}

impl Bus for Ports {
    fn write_port(&self, number: u16, data: &[u8]) -> After {
        match number {
            port::CONSOLE => {
                self.said
                    .lock()
                    .expect("no test panics with it")
                    .push_str(&String::from_utf8_lossy(data));
                After::GoOn
            }
            port::END => After::End(u32::from(data[0])),
            _ => After::GoOn,
        }
    }

    fn read_port(&self, _: u16, _: &mut [u8]) {}

    fn write_address(&self, _: u64, _: &[u8]) -> After {
        After::GoOn
    }

    fn read_address(&self, _: u64, _: &mut [u8]) {}
}

/// The outcome of a guest.
struct Outcome {
    stopped: Stopped,
    said: String,
    exits: Exits,
    crash: Option<CrashRecord>,
}

/// Runs an image, with `job` bytes of a job; `None` where there is no KVM, which is said.
fn run(image: &Path, job: u64) -> Option<Outcome> {
    quietcore_skip::need_locked_memory!(16 << 20);
    let memory = Memory::new("16 MiB".parse().expect("a size"), true).expect("memory");
    let mut file = File::open(image).expect("it was built");
    let entry = image::load(&memory, &mut file).expect("an image");
    let machine = match Machine::new(memory) {
        Err(MachineError::Kvm(error)) => {
            quietcore_skip::skip!("no KVM: {error}");
            return None;
        }
        machine => machine.expect("a machine"),
    };
    let mut processor = machine.processor(0, entry).expect("a processor");
    let counter_hz = processor.counter().hertz();
    let job = AddressRange { address: 0, bytes: job };
    let memory_bytes = machine.memory().size().get();
    let page = HostPage { job, memory_bytes, ..HostPage::of_counter(counter_hz) };
    image::write_host_page(machine.memory(), &page);
    let (ports, exits) = (Ports::default(), Exits::default());
    let stopped = match processor.run(&ports, &exits) {
        Err(ProcessorError::Stuck { because: StuckBecause::InternalError, .. }) => {
            quietcore_skip::skip!("this KVM interprets its guests, and knows no SSE");
            return None;
        }
        stopped => stopped.expect("the guest runs"),
    };
    let said = ports.said.into_inner().expect("no test panics with it");
    let crash = image::crash_record(machine.memory());
    // The lab looks for these words of a test that fails.
    if let Some(record) = &crash {
        eprintln!("the guest ended by a crash: {}", record.what());
    }
    Some(Outcome { stopped, said, exits, crash })
}

#[test]
fn a_guest_ends_with_its_status_and_every_exit_is_counted() {
    let Some(image) = quietcore_images::image("crash") else { return };
    let Some(outcome) = run(&image, 0) else { return };
    assert_eq!(outcome.stopped, Stopped::Ended(42));
    assert_eq!(outcome.said, "crashing in way 0");
    assert_eq!(outcome.crash, None);
    assert_eq!(outcome.exits.of(Reason::PortWrite).0, outcome.exits.total());
}

#[test]
fn a_crash_leaves_a_record_of_where_and_how() {
    let Some(image) = quietcore_images::image("crash") else { return };
    for (way, what, address) in [
        (1, "page fault", 0x70_0000_0000),
        (2, "invalid instruction", 0),
        (3, "panic", 0),
        (4, "page fault", 0x6F_FFFF_FFF8),
    ] {
        let Some(outcome) = run(&image, way) else { return };
        assert_eq!(outcome.stopped, Stopped::Ended(u32::from(port::CRASHED)), "{way}");
        let crash = outcome.crash.unwrap_or_else(|| panic!("no record in way {way}"));
        assert_eq!(crash.what(), what, "{way}: {crash:x?}");
        if what == "page fault" {
            assert_eq!(crash.address, address, "{crash:x?}");
        }
        if what != "panic" {
            assert!((1 << 20..16 << 20).contains(&crash.instruction), "in the image: {crash:x?}");
        }
        assert_eq!(outcome.said.contains("on purpose"), way == 3, "{}", outcome.said);
    }
}

#[test]
fn a_timer_goes_off_when_it_is_due_and_costs_no_exit_to_this_process() {
    let Some(image) = quietcore_images::image("timer") else { return };
    let Some(outcome) = run(&image, 0) else { return };
    assert_eq!(outcome.stopped, Stopped::Ended(0), "{}", outcome.said);
    assert!(outcome.said.starts_with("100 times, 0 early, "), "{}", outcome.said);
    let (writes, _) = outcome.exits.of(Reason::PortWrite);
    assert_eq!(outcome.exits.total(), writes, "halts and timers are KVM's own");
}

#[test]
fn the_kernel_runs_in_a_guest() {
    let Some(image) = quietcore_images::image("kernel") else { return };
    let Some(outcome) = run(&image, 0) else { return };
    assert_eq!(outcome.stopped, Stopped::Ended(7), "{} {:x?}", outcome.said, outcome.crash);
    assert_eq!(outcome.said, "fifty jobs; the endless task went on: true\n");
}

#[test]
fn a_guest_without_an_image_is_refused() {
    let memory = Memory::new("2 MiB".parse().expect("a size"), false).expect("memory");
    let text = &b"no image"[..];
    let file = tempfile(text);
    let refused = image::load(&memory, &mut File::open(file.path()).expect("a file"));
    // What the loader says of the file holds its own cause, and stands once.
    let refused = Causes(&refused.expect_err("it is no ELF file")).to_string();
    assert_eq!(refused.matches("Kernel Loader: failed").count(), 1, "{refused}");
    assert_eq!(refused.matches("Unable to read elf header").count(), 1, "{refused}");
    assert!(refused.contains("a guest is a static ELF program for x86-64"), "{refused}");
}

fn tempfile(text: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("room");
    file
}

#[test]
fn memory_of_an_impossible_size_is_refused() {
    for size in ["1 MiB", "3 GiB", "2097153 B"] {
        let refused = Memory::new(size.parse().expect("a size"), false).expect_err("refused");
        assert!(
            refused.to_string().contains("2 MiB to 2 GiB of memory, in whole pages"),
            "{refused}"
        );
    }
}
