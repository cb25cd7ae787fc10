//! An image that brings a fieldbus to OP over its network device, and runs a thousand cycles.
//!
//! The host page's job is a [`BusJob`]; without one, whatever is found is brought up at 4 ms. The
//! last line says what came of it; the status is 0 where no frame was lost and all were complete.
// UNSAFETY: begins without a heap and with a small stack, and makes both.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "memory is made here, and the boot calls this image by a name")]

extern crate alloc;

use alloc::vec::Vec;
use core::alloc::Layout;
use core::arch::asm;
use core::arch::x86_64::_rdtsc;
use core::fmt::Write as _;
use core::ptr::{self, NonNull};

use quietcore_boot::HostPage;
use quietcore_boot::places::NET;
use quietcore_exchange::{Region, Shape};
use quietcore_fieldbus::{Bus, BusJob};
use quietcore_guest::clock::Clock;
use quietcore_guest::heap;
use quietcore_guest::host::{self, Console};
use quietcore_guest::net::Network;
use quietcore_guest::pages::Pages;
use quietcore_scan::program::Fieldbus as _;
use quietcore_units::Nanos;
use quietcore_wire::{FRAME_BYTES_MAX, Wire as _};

/// Used in place of the host's page if there is none: QEMU's own processor counts so.
const GUESS: HostPage = HostPage { memory_bytes: 16 << 20, ..HostPage::of_counter(1_000_000_000) };
/// Address of the virtio devices of QEMU's machine `microvm`.
const QEMU_FIRST: u64 = 0xFEB0_0000;
const QEMU_COUNT: u64 = 24;
const QEMU_BYTES: u64 = 0x200;

const HEAP_BYTES: usize = 4 << 20;
const STACK_BYTES: usize = 1 << 20;
const CYCLES: u64 = 250;
/// Frames that are looked at one by one, and the time that each takes to come back.
const FRAMES: usize = 20;
const PAUSE: Nanos = Nanos::from_millis(5);
/// The status of an image that can't bring the fieldbus up.
const FAILED: u8 = 3;

#[unsafe(no_mangle)]
extern "C" fn quietcore_guest_main() -> u8 {
    let page = host::page().unwrap_or(GUESS);
    // SAFETY: once, of memory that this guest has.
    let mut pages = unsafe { Pages::behind_image(page.memory_bytes) };
    let start = pages.take(HEAP_BYTES).expect("a guest has that much");
    // SAFETY: once, with memory that was just taken.
    unsafe { heap::give(start, HEAP_BYTES) };
    pages.take_guard().expect("a guest has that much");
    let stack = pages.take(STACK_BYTES).expect("a guest has that much");
    let status: u64;
    // SAFETY: goes on with a larger stack, which is nobody's, and comes back with this one.
    unsafe {
        asm!(
            "mov r12, rsp",
            "mov rsp, {stack}",
            "call {run}",
            "mov rsp, r12",
            stack = in(reg) stack + STACK_BYTES,
            run = sym run,
            out("rax") status,
            out("r12") _,
            clobber_abi("C"),
        );
    }
    say(format_args!("{} KiB of stack", used(stack) >> 10));
    status as u8
}

/// Counts the bytes of the stack, which was zero, that are not any more.
fn used(stack: usize) -> usize {
    let word = |index: &usize| {
        let place: *const u64 = ptr::with_exposed_provenance(stack + index * 8);
        // SAFETY: memory of the stack, which nobody uses now.
        unsafe { place.read_volatile() }
    };
    let untouched = (0..STACK_BYTES / 8).take_while(|index| word(index) == 0).count();
    STACK_BYTES - untouched * 8
}

extern "C" fn run() -> u64 {
    let page = host::page().unwrap_or(GUESS);
    match cycles(&page) {
        Ok(status) => u64::from(status),
        Err(()) => u64::from(FAILED),
    }
}

fn cycles(page: &HostPage) -> Result<u8, ()> {
    let clock = Clock::new(page);
    let job = job(page)?;
    let region = exchange(&job);
    let places = [NET].into_iter().chain((0..QEMU_COUNT).map(|it| QEMU_FIRST + it * QEMU_BYTES));
    // SAFETY: reading from these is what they are for, in either machine.
    let net = unsafe { Network::find(places, clock) };
    let net = net.map_err(|error| say(format_args!("{error}")))?;
    let start = net.now();
    let mut bus = Bus::bring_up(net, &job, region).map_err(|error| say(format_args!("{error}")))?;
    let (op, rung) = (bus.wire_mut().now(), bus.wire_mut().counts().rung);
    say(format_args!("OP after {} us, {rung} rings", op.saturating_sub(start).get() / 1_000));

    let mut events = region.event_writer(0).expect("the shape has it");
    let (mut incomplete, mut shortest, mut longest) = (0, u64::MAX, 0);
    // The most that any cycle found: the last one's frame may be late where the host is busy.
    let (mut subdevices, mut working_counter) = (0, 0);
    let mut due = op;
    for cycle in 0..CYCLES {
        due += job.cycle;
        while bus.wire_mut().now() < due {}
        if let Some(output) = bus.outputs().first_mut() {
            *output = cycle as u8;
        }
        let before = counter();
        bus.exchange(cycle, due, &mut events);
        let taken = counter() - before;
        (shortest, longest) = (shortest.min(taken), longest.max(taken));
        let status = region.fieldbus();
        incomplete += u64::from(status.working_counter != status.expected);
        subdevices = subdevices.max(status.subdevices);
        working_counter = working_counter.max(status.working_counter);
    }
    let (status, counts) = (region.fieldbus(), bus.wire_mut().counts());
    say(format_args!(
        "{CYCLES} cycles, {subdevices} SubDevices, working counter {working_counter} of {}, \
         {incomplete} incomplete, {} lost, {} rings, {} frames, {shortest} to {longest} counts a \
         cycle",
        status.expected,
        status.lost_frames,
        counts.rung - rung,
        counts.received,
    ));
    let (sending, receiving) = one_frame(bus.wire_mut());
    say(format_args!("{sending} counts to send, {receiving} to receive what is there"));
    Ok(u8::from(incomplete > 0 || status.lost_frames > 0))
}

/// The fewest counts that handing a frame over and taking one that is there take; where the
/// counter counts instructions, these.
fn one_frame(net: &mut Network) -> (u64, u64) {
    // A datagram that reads one register of all SubDevices.
    let mut frame = [0; 60];
    frame[..12].fill(0xFF);
    frame[12..17].copy_from_slice(&[0x88, 0xA4, 0x0D, 0x10, 0x07]);
    frame[22] = 1;
    let mut answer = [0; FRAME_BYTES_MAX];
    let (mut sending, mut receiving) = (u64::MAX, u64::MAX);
    for _ in 0..FRAMES {
        let before = counter();
        let sent = net.send(&frame).is_ok();
        sending = sending.min(counter() - before);
        let until = net.now() + PAUSE;
        while net.now() < until {}
        let before = counter();
        let received = net.receive(&mut answer, Nanos::ZERO);
        if sent && matches!(received, Ok(Some(_))) {
            receiving = receiving.min(counter() - before);
        }
    }
    (sending, receiving)
}

/// Takes the job that the host posted.
fn job(page: &HostPage) -> Result<BusJob, ()> {
    if page.job.bytes == 0 {
        let cycle = Nanos::from_millis(4);
        let subdevices = Vec::new();
        // Answers may be late where the segment shares a busy machine's processors with QEMU; the
        // line stays in OP nevertheless.
        let lost_after = CYCLES as u32;
        return Ok(BusJob { cycle, lost_after, subdevices });
    }
    let place = ptr::with_exposed_provenance(page.job.address as usize);
    // SAFETY: the host page was checked, and the host put it there before the guest began.
    let bytes = unsafe { core::slice::from_raw_parts(place, page.job.bytes as usize) };
    BusJob::from_bytes(bytes).map_err(|error| say(format_args!("{error}")))
}

/// An exchange of this guest's own, with room for the job's process data.
fn exchange(job: &BusJob) -> Region<'static> {
    let sum = |of: fn(&(usize, usize)) -> usize| {
        let sizes = job.subdevices.iter().filter_map(|one| one.process_data.as_ref());
        sizes.map(|sizes| of(sizes) as u32).sum()
    };
    let shape = Shape {
        event_slots: 64,
        input_bytes: sum(|sizes| sizes.0),
        output_bytes: sum(|sizes| sizes.1),
        ..Shape::of_tasks(1)
    };
    let bytes = shape.layout().expect("a small shape").bytes;
    let layout = Layout::from_size_align(bytes, 4096).expect("pages");
    // SAFETY: of more than no bytes; the heap's memory was never used, and is zero.
    let place = unsafe { alloc::alloc::alloc(layout) };
    let place = NonNull::new(place).expect("the heap has that much");
    // SAFETY: mapped for good, and nobody else's.
    unsafe { Region::initialise(place, bytes, &shape) }.expect("as large as its layout")
}

fn counter() -> u64 {
    // SAFETY: every processor with 64 bits has it.
    unsafe { _rdtsc() }
}

fn say(what: core::fmt::Arguments<'_>) {
    let _ = writeln!(Console, "{what}");
}
