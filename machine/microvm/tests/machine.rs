//! Tests of the means of a guest: shared memory, doorbells, one counter; and of what is counted.
//! Skipped if there is no KVM.

#![deny(unsafe_code)]

#[expect(dead_code, reason = "other tests use what this one does not")]
mod bare;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bare::{Everything, machine, processor};
use quietcore_microvm::colour::{ColouredMemory, Colouring, PageMap, PoolError};
use quietcore_microvm::exits::{Exits, Reason};
use quietcore_microvm::machine::{Machine, MachineError};
use quietcore_microvm::memory::{Memory, Pages};
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::Stopped;
use quietcore_microvm::resident;
use quietcore_microvm::slot::{Access, Shared};
use quietcore_units::ByteSize;
use vm_memory::{Bytes as _, GuestAddress};

/// Address of the shared memory.
const ABOVE: u64 = 64 << 20;
const PAGE: u64 = 4096;

fn shared(pages: u64) -> Arc<Shared> {
    Arc::new(Shared::create("test", ByteSize::new(pages * PAGE)).expect("memory"))
}

#[test]
fn a_guest_writes_to_a_stretch_of_a_file_and_to_nothing_beside_it() {
    let Some(machine) = machine(bare::writing_above(), &Options::default()) else { return };
    let whole = shared(3);
    whole.words().iter().for_each(|word| word.store(0xAAAA_AAAA_AAAA_AAAA, Relaxed));
    let stretch = Shared::of_file(whole.file(), PAGE, PAGE).expect("a stretch");
    machine.give("stretch", ABOVE, Arc::new(stretch), Access::ReadWrite).expect("room");
    let (bus, exits) = (Everything::default(), Exits::default());
    let stopped = processor(&machine).run(&bus, &exits).expect("it runs");
    assert_eq!(stopped, Stopped::Ended(9));
    let word = |at: u64| whole.words()[(at / 8) as usize].load(Relaxed);
    assert_eq!(word(PAGE), 0xAAAA_AAAA_1122_3344);
    let others = (0..3 * PAGE).step_by(8).filter(|at| *at != PAGE);
    assert!(others.into_iter().all(|at| word(at) == 0xAAAA_AAAA_AAAA_AAAA));
    assert_eq!(bus.asked.load(Relaxed), 1, "writing to memory is no exit");
}

#[test]
fn a_write_to_memory_that_may_only_be_read_ends_the_guest_with_the_address() {
    let Some(machine) = machine(bare::writing_above(), &Options::default()) else { return };
    let code = shared(1);
    machine.give("code", ABOVE, code.clone(), Access::ReadOnly).expect("room");
    let (bus, exits) = (Everything::default(), Exits::default());
    let stopped = processor(&machine).run(&bus, &exits).expect("it runs");
    let Stopped::WroteReadOnly { address, instruction } = stopped else { panic!("{stopped:?}") };
    assert_eq!(address, ABOVE);
    assert!((bare::ENTRY..bare::ENTRY + 64).contains(&instruction), "{instruction:#x}");
    assert!(code.words().iter().all(|word| word.load(Relaxed) == 0));
    assert_eq!(bus.asked.load(Relaxed), 0, "no device is told");
}

#[test]
fn what_the_host_writes_to_read_only_memory_is_read_by_the_guest() {
    let Some(machine) = machine(bare::reading_above(), &Options::default()) else { return };
    let code = shared(1);
    machine.give("code", ABOVE, code.clone(), Access::ReadOnly).expect("room");
    code.write(0, &[77]).expect("room");
    let stopped = processor(&machine).run(&Everything::default(), &Exits::default());
    assert_eq!(stopped.expect("it runs"), Stopped::Ended(77));
}

#[test]
fn memory_is_given_at_addresses_that_are_free() {
    let Some(machine) = machine(bare::ending(), &Options::default()) else { return };
    machine.give("code", ABOVE, shared(2), Access::ReadOnly).expect("room");
    let refused = machine.give("post", ABOVE + PAGE, shared(1), Access::ReadWrite).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`post` at 0x4001000 overlaps `code`, which is at 0x4000000 to 0x4002000"
    );
    let refused = machine.give("post", PAGE, shared(1), Access::ReadWrite).unwrap_err();
    assert!(refused.to_string().contains("overlaps `guest memory`"), "{refused}");
    let names: Vec<_> = machine.slots().iter().map(|slot| slot.name).collect();
    assert_eq!(names, ["guest memory", "code"]);
}

/// Goal: memory of chosen pages is the guest's memory, in its order.
/// Method: a guest writes to each page its address; they are read from outside, and the pages are
/// still of their colours. What these bits mean to a cache is no matter here.
#[test]
fn a_guest_runs_in_memory_of_its_colours() {
    quietcore_skip::need_locked_memory!(64 << 20);
    let size: ByteSize = "4 MiB".parse().expect("a size");
    let colouring = Colouring::of_mask(0x7000).expect("bits of pages");
    let made = PageMap::open().map_err(PoolError::from);
    let made = made.and_then(|knows| ColouredMemory::create(size, colouring, &[1, 6], knows));
    let (memory, coloured) = match made {
        Err(PoolError::NoColours(why)) => return quietcore_skip::skip!("{why}"),
        made => made.expect("memory"),
    };
    memory.mapping().write_slice(bare::numbering(), GuestAddress(bare::ENTRY)).expect("room");
    let machine = match Machine::new(memory) {
        Err(MachineError::Kvm(error)) => return quietcore_skip::skip!("no KVM: {error}"),
        machine => machine.expect("a machine"),
    };
    let stopped = processor(&machine).run(&Everything::default(), &Exits::default());
    assert_eq!(stopped.expect("it runs"), Stopped::Ended(3));
    let memory = machine.memory().mapping();
    for place in (2 << 20..4 << 20).step_by(PAGE as usize) {
        let written: u32 = memory.read_obj(GuestAddress(place)).expect("it is memory");
        assert_eq!(u64::from(written), place);
    }
    assert_eq!(coloured.misplaced(), Ok(0));
}

#[test]
fn a_doorbell_rings_without_an_exit_to_this_process() {
    let Some(machine) = machine(bare::ringing(), &Options::default()) else { return };
    let bell = machine.doorbell(0xD000_2000, None).expect("a doorbell");
    let (bus, exits) = (Everything::default(), Exits::default());
    assert_eq!(processor(&machine).run(&bus, &exits).expect("it runs"), Stopped::Ended(0));
    assert_eq!(bell.read().expect("it rang"), 5);
    assert_eq!((exits.total(), exits.of(Reason::PortWrite).0), (1, 1), "the end alone");
}

#[test]
fn a_doorbell_for_one_value_is_rung_by_that_value_alone() {
    let Some(machine) = machine(bare::ringing(), &Options::default()) else { return };
    let bell = machine.doorbell(0xD000_2000, Some(3)).expect("a doorbell");
    let (bus, exits) = (Everything::default(), Exits::default());
    processor(&machine).run(&bus, &exits).expect("it runs");
    assert_eq!((bell.read().expect("it rang"), exits.of(Reason::AddressWrite).0), (1, 4));
}

#[test]
fn the_guest_reads_the_counter_of_the_host() {
    let Some(machine) = machine(bare::telling_time(), &Options::default()) else { return };
    let mut processor = processor(&machine);
    let counter = processor.counter();
    let before = counter.read();
    let exits = Exits::default();
    processor.run(&Everything::default(), &exits).expect("it runs");
    let after = counter.read();
    let told: u64 = machine.memory().mapping().read_obj(GuestAddress(bare::COUNT)).expect("memory");
    assert!(before < told && told < after, "{before} {told} {after}, {counter:?}");
    let [end] = exits.read().recent()[..] else { panic!("one exit") };
    assert!(told < end.begin && end.begin < after, "{told} {end:?} {after}");
    assert_eq!((end.reason, end.detail), (Reason::PortWrite, u64::from(bare::END)));
    assert_eq!(exits.read().hertz(), counter.hertz());
}

#[test]
fn kvm_counts_the_exits_that_it_answers_itself() {
    let Some(machine) = machine(bare::ringing(), &Options::default()) else { return };
    let _bell = machine.doorbell(0xD000_2000, None).expect("a doorbell");
    let mut processor = processor(&machine);
    let mut statistics = match processor.statistics() {
        Ok(statistics) => statistics,
        Err(error) => return quietcore_skip::skip!("this KVM has no statistics: {error}"),
    };
    let before = statistics.sample().expect("a sample");
    let exits = Exits::default();
    processor.run(&Everything::default(), &exits).expect("it runs");
    drop(processor);
    let counted = statistics.sample().expect("a sample").since(&before);
    assert_eq!(exits.total(), 1);
    let emulated = counted.named().find(|(name, _)| *name == "insn_emulation");
    if emulated.is_some_and(|(_, count)| count > 15) {
        return quietcore_skip::skip!("this KVM interprets its guests, which never exit");
    }
    println!("{:?}", counted.named().filter(|(_, count)| *count > 0).collect::<Vec<_>>());
    assert!(counted.exits() >= 6, "five rings and the end: {counted:?}");
    exits.publish(&counted);
    assert_eq!(exits.read().sample(), Some(counted));
}

#[test]
fn what_polls_keeps_what_kvm_grants() {
    let options = Options { polls: true, ..Options::default() };
    let Some(machine) = machine(bare::ending(), &options) else { return };
    println!("instructions that stay in the guest: {}", machine.granted().words());
    let stopped = processor(&machine).run(&Everything::default(), &Exits::default());
    assert_eq!(stopped.expect("it runs"), Stopped::Ended(7));
}

/// Counts the pages of 2 MiB that are set aside and free.
fn huge_pages() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").expect("it is there");
    let line = text.lines().find_map(|line| line.strip_prefix("HugePages_Free:"));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

#[test]
fn memory_is_in_the_largest_pages_that_there_are() {
    quietcore_skip::need_locked_memory!(16 << 20);
    let free = huge_pages();
    let memory = Memory::new("8 MiB".parse().expect("a size"), true).expect("memory");
    println!("{free} large pages were free: {}", memory.pages());
    match memory.pages() {
        Pages::Huge => assert!(free >= 4),
        Pages::Small { .. } => assert!(free < 4),
        Pages::Unknown => panic!("/proc tells"),
    }
    let own = resident::mappings().expect("/proc is there");
    let own: u64 = own
        .iter()
        .filter(|it| it.name.starts_with("/memfd:quietcore-guest"))
        .map(|it| it.resident_bytes)
        .sum();
    assert!(own >= 8 << 20, "all of it is present: {own}");
    // One that is no whole number of large pages.
    let memory = Memory::new(ByteSize::new((2 << 20) + 4096), true).expect("memory");
    assert!(matches!(memory.pages(), Pages::Small { .. }));
}

#[test]
fn the_monitor_itself_is_small() {
    let Some(machine) = machine(bare::ending(), &Options::default()) else { return };
    let _processor = processor(&machine);
    let own = resident::own_bytes().expect("/proc is there");
    println!("the monitor without its guest's memory: {} KiB", own >> 10);
    assert!(own <= 8 << 20, "{own}");
}
