//! A guest's MainDevice under KVM over our own network device, in each of the ways in which that
//! is served. Skipped where there is no KVM.

#![forbid(unsafe_code)]

use std::fs::File;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use quietcore_boot::places::NET;
use quietcore_boot::{AddressRange, HostPage, port};
use quietcore_clock::{Clock as _, INTERPRETED_BELOW, Monotonic};
use quietcore_fieldbus::BusJob;
use quietcore_host::attempts::{Attempts as _, Live};
use quietcore_maindevice::Expected;
use quietcore_microvm::bus::{After, Bus};
use quietcore_microvm::exits::{Exits, Reason};
use quietcore_microvm::image;
use quietcore_microvm::machine::{Machine, MachineError};
use quietcore_microvm::memory::Memory;
use quietcore_microvm::net::{Counts, Link, Net, REGISTER_BYTES, Service};
use quietcore_microvm::processor::runner::{Ended, Runner};
use quietcore_microvm::processor::{ProcessorError, Stopped, StuckBecause};
use quietcore_segment::{Options, Segment, SubDevice};
use quietcore_units::Nanos;
use quietcore_wire::{PacketWire, SegmentWire, Server, TapError, TapWire};
use vm_memory::{Bytes as _, GuestAddress};

/// Address of the job: behind all that the image takes.
const JOB: u64 = 12 << 20;
const CYCLES: u64 = 250;
/// The longest that a guest runs here. One takes some seconds, and an emulated one that shares its
/// processors with others a minute: 30 s to OP at most, and then its cycles.
const LIMIT: Duration = Duration::from_secs(120);
/// Time for a guest that has not ended to stand still.
const PAUSE_LIMIT: Duration = Duration::from_secs(10);
/// The SubDevices, with their bytes of inputs and outputs.
const LINE: [(&str, usize, usize); 3] =
    [("coupler", 0, 0), ("digital-input-8", 1, 0), ("digital-output-8", 0, 1)];

/// The devices of a guest with a network.
struct Devices {
    net: Net,
    exits: Arc<Exits>,
    said: Mutex<String>,
    /// Exits and bells when each line was said: OP, and the end of the cycles.
    at_line: [[AtomicU64; 3]; 2],
}

impl Devices {
    /// Exits to this process by writing an address, all exits, and bells, so far.
    fn now(&self) -> [u64; 3] {
        let writes = self.exits.of(Reason::AddressWrite).0 + self.exits.of(Reason::AddressRead).0;
        [writes, self.exits.total(), self.net.counts().bells]
    }

    fn said(&self) -> String {
        self.said.lock().expect("no test panics with it").clone()
    }

    /// Describes a guest that has not ended: what it was at, and how far it got.
    fn describe_hanging(&self) -> String {
        let said = self.said();
        let awaited = match said.lines().count() {
            0 => "its SubDevices in OP",
            1 => "the last of its cycles",
            _ => "its own end",
        };
        let [writes, exits, _] = self.now();
        format!(
            "after {LIMIT:?} the guest still waits for {awaited}; it said {said:?}; {:?}; {exits} \
             exits, {writes} of them for a device's address",
            self.net.counts()
        )
    }
}

impl Bus for Devices {
    fn write_port(&self, number: u16, data: &[u8]) -> After {
        if number == port::END {
            return After::End(u32::from(data[0]));
        }
        if number == port::CONSOLE {
            let mut said = self.said.lock().expect("no test panics with it");
            said.push_str(&String::from_utf8_lossy(data));
            // A line may come in pieces, of which the last ends it.
            let line = said.matches('\n').count().checked_sub(1);
            let line = line.filter(|_| said.ends_with('\n'));
            if let Some(places) = line.and_then(|line| self.at_line.get(line)) {
                for (place, value) in places.iter().zip(self.now()) {
                    place.store(value, Relaxed);
                }
            }
        }
        After::GoOn
    }

    fn read_port(&self, _: u16, _: &mut [u8]) {}

    fn write_address(&self, address: u64, data: &[u8]) -> After {
        if let Some(offset) = address.checked_sub(NET).filter(|offset| *offset < REGISTER_BYTES) {
            self.net.write(offset, data);
        }
        After::GoOn
    }

    fn read_address(&self, address: u64, data: &mut [u8]) {
        if let Some(offset) = address.checked_sub(NET).filter(|offset| *offset < REGISTER_BYTES) {
            self.net.read(offset, data);
        }
    }
}

/// The outcome of a guest.
#[derive(Debug)]
struct Outcome {
    stopped: Stopped,
    said: String,
    counts: Counts,
    /// From OP to the end of the cycles: exits for a device's address, all exits, bells.
    cyclic: [u64; 3],
}

impl Outcome {
    /// Returns `true` if the guest ran its cycles; frames may have been late for theirs, where an
    /// emulator shares its processors out.
    fn ran_on(&self) -> bool {
        let Counts { sent, received, malformed, broken, .. } = self.counts;
        self.said.contains("250 cycles, ")
            && received > CYCLES
            && sent >= received
            && (malformed, broken) == (0, 0)
    }

    fn is_complete(&self) -> bool {
        self.said.contains("250 cycles, 3 SubDevices, working counter 3 of 3, 0 incomplete, 0 lost")
    }
}

fn segment() -> Segment {
    let line = LINE.map(|(name, ..)| SubDevice::by_name(name).expect("it is built in"));
    Segment::new(line.into(), Options::default())
}

fn job(cycle: Nanos) -> Vec<u8> {
    let subdevices = LINE.map(|(name, inputs, outputs)| Expected {
        name: format!("the {name}"),
        process_data: Some((inputs, outputs)),
        ..Expected::default()
    });
    let job = BusJob { cycle, lost_after: 3, subdevices: subdevices.into() };
    job.to_bytes().expect("a job")
}

/// Runs the image with its network at the end of `link`; `None` where that can't be, which is said.
fn run(image: &Path, link: Box<dyn Link>, service: Service, cycle: Nanos) -> Option<Outcome> {
    // Not locked: in a network of its own a test has no right to.
    let memory = Memory::new("16 MiB".parse().expect("a size"), false).expect("memory");
    let entry = image::load(&memory, &mut File::open(image).expect("it was built"));
    let entry = entry.expect("an image");
    let machine = match Machine::new(memory) {
        Err(MachineError::Kvm(error)) => {
            quietcore_skip::skip!("no KVM: {error}");
            return None;
        }
        machine => machine.expect("a machine"),
    };
    let mapping = machine.memory().mapping();
    let job = job(cycle);
    mapping.write_slice(&job, GuestAddress(JOB)).expect("there is memory");
    let net = Net::new(mapping.clone(), link, [2, 0x51, 0x43, 0, 0, 1], service).expect("a device");
    let bell = match service {
        Service::Thread { .. } => Some(Net::bell(&machine).expect("a doorbell")),
        Service::AtBell { .. } => None,
    };
    let processor = machine.processor(0, entry).expect("a processor");
    let page = HostPage {
        memory_bytes: machine.memory().size().get(),
        host_then_ns: Monotonic.now().get(),
        job: AddressRange { address: JOB, bytes: job.len() as u64 },
        ..HostPage::of_counter(processor.counter().hertz())
    };
    image::write_host_page(machine.memory(), &page);
    let exits = Arc::new(Exits::default());
    let (said, at_line) = Default::default();
    let devices = Arc::new(Devices { net, exits: Arc::clone(&exits), said, at_line });
    let runner = Runner::spawn("guest", processor, Arc::clone(&devices), exits, || Ok(()));
    let runner = runner.expect("a thread");
    let ended = thread::scope(|scope| {
        scope.spawn(|| devices.net.serve(bell.as_ref()));
        let ended = run_to_end(runner, &devices);
        devices.net.stop();
        ended
    });
    let (said, counts) = (devices.said(), devices.net.counts());
    if is_too_slow(&said, &counts) {
        // Three threads for one guest: an emulator gives some of them no processor for so long.
        quietcore_skip::skip!("this machine stood still for longer than SubDevices are waited for");
        return None;
    }
    let stopped = match ended {
        Ended::Stuck(ProcessorError::Stuck { because: StuckBecause::InternalError, .. }) => {
            quietcore_skip::skip!("this KVM interprets its guests, and knows no SSE");
            return None;
        }
        Ended::Guest(stopped) => stopped,
        Ended::Told => panic!("{}", devices.describe_hanging()),
        other => panic!("{other}; it said {said:?}"),
    };
    let cyclic = [0, 1, 2].map(|index| {
        let [op, end] = [0, 1].map(|line: usize| devices.at_line[line][index].load(Relaxed));
        end.saturating_sub(op)
    });
    let outcome = Outcome { stopped, said, counts, cyclic };
    println!("{service:?}: {outcome:?}");
    Some(outcome)
}

/// Runs a guest to its end, and for [`LIMIT`] at most: then it is told to end, and where it was is
/// written to standard error.
fn run_to_end(runner: Runner, devices: &Devices) -> Ended {
    runner.resume().expect("it stands still");
    if runner.wait(LIMIT).is_none() {
        let place = runner
            .pause(PAUSE_LIMIT)
            .and_then(|()| runner.with_processor(PAUSE_LIMIT, |it| it.crash_record(0, 0)));
        eprintln!("{}; {place:x?}", devices.describe_hanging());
        if place.is_err() && !runner.has_ended() {
            // KVM does not leave the guest, so that its thread can't be waited for.
            process::exit(1);
        }
    }
    runner.stop().ended
}

/// Returns `true` if the guest gave its bring-up up on a machine that is only slow: SubDevices were
/// silent for too long, or all together took too long although each frame was answered, but for one
/// that may have been under way at the end.
fn is_too_slow(said: &str, counts: &Counts) -> bool {
    let is_answered = counts.sent.saturating_sub(counts.received) <= 1;
    let took_too_long = ["not in OP after", "it took too long"].iter().any(|it| said.contains(it));
    said.contains("failed: timeout") || took_too_long && is_answered
}

#[test]
fn a_simulated_segment_answers_at_the_bell_with_one_exit_a_frame() {
    let Some(image) = quietcore_images::image("net") else { return };
    let link = Box::new(SegmentWire::new(segment()));
    let service = Service::AtBell { wait: Nanos::ZERO };
    let Some(outcome) = run(&image, link, service, Nanos::from_millis(1)) else { return };
    assert_eq!(outcome.stopped, Stopped::Ended(0), "{outcome:?}");
    assert!(outcome.is_complete(), "{outcome:?}");
    let [writes, _, bells] = outcome.cyclic;
    assert_eq!((writes, bells), (CYCLES, CYCLES), "one exit a cycle: {outcome:?}");
}

#[test]
fn a_thread_that_is_woken_costs_no_exit_to_this_process() {
    if !is_fast() {
        return;
    }
    let Some(image) = quietcore_images::image("net") else { return };
    let link = Box::new(SegmentWire::new(segment()));
    let service = Service::Thread { spin: Nanos::ZERO };
    let Some(outcome) = run(&image, link, service, Nanos::from_millis(4)) else { return };
    assert!(outcome.ran_on(), "{outcome:?}");
    let [writes, _, bells] = outcome.cyclic;
    assert_eq!(writes, 0, "the bell is KVM's own: {outcome:?}");
    assert!(bells > 0, "{outcome:?}");
}

#[test]
fn a_thread_that_looks_all_the_time_need_not_be_rung() {
    if !is_fast() {
        return;
    }
    let Some(image) = quietcore_images::image("net") else { return };
    let link = Box::new(SegmentWire::new(segment()));
    let service = Service::Thread { spin: Nanos::MAX };
    let Some(outcome) = run(&image, link, service, Nanos::from_millis(4)) else { return };
    assert!(outcome.ran_on(), "{outcome:?}");
    let [writes, _, bells] = outcome.cyclic;
    assert_eq!((writes, bells), (0, 0), "no exit at all: {outcome:?}");
    assert!(outcome.said.contains(" 0 rings"), "{outcome:?}");
}

/// Returns `true` if guests here are as fast as threads beside them want; says so if they are not.
fn is_fast() -> bool {
    let speed = Live.calibrate_kvm();
    let rate = speed.get().map_or(0.0, |speed| speed.instructions_per_second);
    if rate < INTERPRETED_BELOW {
        quietcore_skip::skip!(
            "no KVM, or one that interprets its guests: {:.1} million instructions a second; a \
             fieldbus does not wait for threads beside them",
            rate / 1e6
        );
    }
    rate >= INTERPRETED_BELOW
}

/// Ends the segment's thread, whatever becomes of the guest.
struct StopAtEnd<'run>(&'run AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Goal: a guest's frames get to a segment that is somewhere else.
/// Method: a tap in a network of the test's own, and a segment that serves the interface.
#[test]
fn a_tap_carries_the_frames_to_a_segment_elsewhere() {
    if !is_fast() {
        return;
    }
    quietcore_skip::own_network!();
    let Some(image) = quietcore_images::image("net") else { return };
    for service in
        [Service::AtBell { wait: Nanos::from_millis(10) }, Service::Thread { spin: Nanos::ZERO }]
    {
        let tap = match TapWire::make("qc-axis") {
            Err(TapError::Device(error)) => {
                quietcore_skip::skip!("no /dev/net/tun: {error}; load the kernel's module `tun`");
                return;
            }
            tap => tap.expect("an interface"),
        };
        let wire = PacketWire::open("qc-axis").expect("the interface is there");
        let mut server = Server::new(wire.with_spin(Nanos::ZERO), segment());
        let stop = AtomicBool::new(false);
        let outcome = thread::scope(|scope| {
            scope.spawn(|| server.serve(|_| stop.load(Relaxed)).expect("the wire holds"));
            let _stopping = StopAtEnd(&stop);
            let tap = Box::new(tap.with_spin(Nanos::ZERO));
            run(&image, tap, service, Nanos::from_millis(4))
        });
        let Some(outcome) = outcome else { return };
        assert!(outcome.ran_on(), "{outcome:?}");
    }
}
