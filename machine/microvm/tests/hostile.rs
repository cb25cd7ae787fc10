//! Guests that mean ill: whatever they do, this process goes on, what is beside their memory stays
//! as it was, and they are stopped when they are told to. Skipped in part where there is no KVM.

#![deny(unsafe_code)]

#[path = "hostile/accesses.rs"]
mod accesses;
#[expect(dead_code, reason = "other tests use what this one does not")]
mod bare;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bare::Everything;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use quietcore_microvm::exits::Exits;
use quietcore_microvm::memory::Memory;
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::Stopped;
use quietcore_microvm::runner::{Ended, Runner};
use quietcore_microvm::slot::{Access, Shared};
use quietcore_units::ByteSize;
use vm_memory::{Bytes as _, GuestAddress};

const PAGE: u64 = 4096;
/// A value beside the guest's shared memory, which must stay.
const CANARY: u64 = 0x5AFE_5AFE_5AFE_5AFE;
/// Address of the shared memory: read-only, and behind it one that may be written.
const CODE: u64 = 64 << 20;
const DATA: u64 = CODE + PAGE;
/// Time for which a guest may do anything.
const WHILE: Duration = Duration::from_millis(15);
/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(30);

proptest! {
    // Where this file is, no list of failures is found.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_guest_asks_of_its_devices_is_answered(bytes in vec(any::<u8>(), 0..2000)) {
        accesses::access_devices(&bytes);
    }

    #[test]
    fn whatever_is_in_a_ledger_is_read(bytes in vec(any::<u8>(), 0..400)) {
        accesses::read_ledger(&bytes);
    }
}

/// A guest with its memory between canaries.
struct Prisoner {
    runner: Runner,
    whole: Arc<Shared>,
    code: Arc<Shared>,
}

impl Prisoner {
    /// Starts this code; `None` where there is no KVM, which is said.
    #[track_caller]
    fn start(code: &[u8]) -> Option<Self> {
        let machine = bare::machine(code, &Options::default())?;
        let whole = Arc::new(Shared::create("test", ByteSize::new(3 * PAGE)).expect("memory"));
        whole.words().iter().for_each(|word| word.store(CANARY, Relaxed));
        let data = Shared::of_file(whole.file(), PAGE, PAGE).expect("a stretch");
        let constants = Arc::new(Shared::create("test", ByteSize::new(PAGE)).expect("memory"));
        constants.words().iter().for_each(|word| word.store(CANARY, Relaxed));
        machine.give("code", CODE, constants.clone(), Access::ReadOnly).expect("room");
        machine.give("data", DATA, Arc::new(data), Access::ReadWrite).expect("room");
        let (bus, exits) = (Arc::new(Everything::default()), Arc::new(Exits::default()));
        let runner = Runner::spawn("prisoner", bare::processor(&machine), bus, exits, || Ok(()));
        let runner = runner.expect("a thread");
        runner.resume().expect("it stands still");
        Some(Self { runner, whole, code: constants })
    }

    /// Lets it do what it wants for a while, stops it, and looks at the canaries.
    fn end(self) -> Ended {
        self.runner.wait(WHILE);
        let told = Instant::now();
        let outcome = self.runner.stop();
        assert!(told.elapsed() < LONG, "it was stopped in time");
        let words = (PAGE / 8) as usize;
        let (before, rest) = self.whole.words().split_at(words);
        let beside = before.iter().chain(&rest[words..]).chain(self.code.words());
        assert!(beside.into_iter().all(|word| word.load(Relaxed) == CANARY), "{outcome:?}");
        outcome.ended
    }
}

#[test]
fn a_guest_that_writes_what_it_may_only_read_is_ended() {
    let Some(prisoner) = Prisoner::start(bare::writing_above()) else { return };
    prisoner.runner.wait(LONG).expect("it ends");
    let ended = prisoner.end();
    let Ended::Guest(Stopped::WroteReadOnly { address, .. }) = ended else { panic!("{ended:?}") };
    assert_eq!(address, CODE);
}

#[test]
fn a_guest_that_changes_its_own_code_does_what_the_code_says() {
    let Some(prisoner) = Prisoner::start(bare::changing_itself()) else { return };
    prisoner.runner.wait(LONG).expect("it ends");
    let ended = prisoner.end();
    assert!(matches!(ended, Ended::Guest(Stopped::Ended(5))), "{ended:?}");
}

#[test]
fn guests_that_write_and_read_everywhere_are_kept_in() {
    for code in [bare::writing_everywhere(), bare::asking_every_port(), bare::stringing()] {
        let Some(prisoner) = Prisoner::start(code) else { return };
        match prisoner.end() {
            Ended::Panicked => panic!("a device panicked"),
            ended => println!("{ended:?}"),
        }
    }
}

/// Goal: no sequence of instructions does harm.
/// Method: random bytes run as code, with every port and address a device; the seeds are fixed, so
/// that what fails fails again.
#[test]
fn random_code_does_no_harm() {
    let mut random = TestRunner::deterministic();
    let (mut told, mut all) = (0, 0);
    for _ in 0..40 {
        let code = vec(any::<u8>(), 64..512);
        let code = code.new_tree(&mut random).expect("a value").current();
        let Some(prisoner) = Prisoner::start(&code) else { return };
        match prisoner.end() {
            Ended::Panicked => panic!("a device panicked"),
            Ended::Told => told += 1,
            Ended::Guest(_) | Ended::Stuck(_) => {}
        }
        all += 1;
    }
    println!("{all} guests of random code, {told} of them were stopped");
}

#[test]
fn an_image_of_random_bytes_is_refused_or_loaded() {
    let mut random = TestRunner::deterministic();
    for round in 0..200 {
        let bytes = vec(any::<u8>(), 0..2000).new_tree(&mut random).expect("a value");
        let mut bytes = bytes.current();
        // Half of them begin as an ELF file for this machine does.
        let start = *b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3E\0\x01\0\0\0";
        if round % 2 == 0 && bytes.len() > start.len() {
            bytes[..start.len()].copy_from_slice(&start);
        }
        let memory = Memory::new("2 MiB".parse().expect("a size"), false).expect("memory");
        let _ = quietcore_microvm::image::load(&memory, &mut std::io::Cursor::new(bytes));
        let mut last = [0; 8];
        memory.mapping().read_slice(&mut last, GuestAddress((2 << 20) - 8)).expect("memory");
    }
}
