//! A guest's MainDevice over QEMU's own network device, and over a network card that the guest
//! drives itself, with a simulated segment at the other end. Skipped where there is no QEMU.

#![forbid(unsafe_code)]

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_segment::{Delivery, Options, Segment, SubDevice};
use quietcore_units::Nanos;

/// QEMU ends with twice a guest's status and one.
const STATUS_OF_ZERO: i32 = 1;

/// Answers frames until told to stop; returns how many there were.
fn serve(socket: &UnixDatagram, peer: &Path, stop: &AtomicBool) -> u64 {
    let line = ["coupler", "digital-input-8", "digital-output-8"];
    let line = line.map(|name| SubDevice::by_name(name).expect("it is built in"));
    let mut segment = Segment::new(line.into(), Options::default());
    let start = Instant::now();
    let mut frame = [0; 1514];
    let mut answered = 0;
    while !stop.load(Relaxed) {
        let Ok(bytes) = socket.recv(&mut frame) else { continue };
        let now = Nanos::new(start.elapsed().as_nanos() as u64);
        if segment.process(&mut frame[..bytes], now) == Delivery::Deliver {
            socket.send_to(&frame[..bytes], peer).expect("QEMU listens");
            answered += 1;
        }
    }
    answered
}

static TURN: Mutex<()> = Mutex::new(());

/// A machine without a bus, with a virtio device at an address.
const WITH_DEVICE: &[&str] = &[
    "-M",
    "microvm",
    "-global",
    "virtio-mmio.force-legacy=false",
    "-device",
    "virtio-net-device,netdev=net",
];

/// A machine with a bus, and an emulated card on it: Intel's 82574L.
const WITH_CARD: &[&str] = &["-M", "q35", "-device", "e1000e,netdev=net,romfile="];

fn qemu(machine: &[&str], image: &Path, network: &str) -> Child {
    let mut command = Command::new("timeout");
    command.args(["60", "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max"]);
    command.args(["-m", "64", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]);
    command.args(["-serial", "stdio", "-device", "isa-debug-exit,iobase=0x501,iosize=1"]);
    command.args(["-netdev", network]).args(machine).arg("-kernel").arg(image);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("coreutils are there")
}

/// The number that stands before a word.
fn number_before(text: &str, word: &str) -> Option<u64> {
    text.split_once(word)?.0.rsplit(' ').next()?.parse().ok()
}

#[test]
fn a_guest_brings_its_fieldbus_to_op_and_loses_no_frame() {
    brings_to_op(WITH_DEVICE);
}

/// Goal: the driver of Intel's cards works with something that is not its own fake.
#[test]
fn a_guest_brings_its_fieldbus_to_op_over_a_network_card_that_it_drives_itself() {
    brings_to_op(WITH_CARD);
}

fn brings_to_op(machine: &[&str]) {
    // One after the other: each wants a processor for the guest and one for the segment.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(image) = quietcore_images::image("net") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (ours, theirs) = (folder.path().join("segment"), folder.path().join("guest"));
    let socket = UnixDatagram::bind(&ours).expect("a socket");
    socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a time");
    let network = format!(
        "dgram,id=net,local.type=unix,local.path={},remote.type=unix,remote.path={}",
        theirs.display(),
        ours.display()
    );
    let stop = AtomicBool::new(false);
    let (output, answered) = thread::scope(|scope| {
        let serving = scope.spawn(|| serve(&socket, &theirs, &stop));
        let output = qemu(machine, &image, &network).wait_with_output().expect("it was started");
        stop.store(true, Relaxed);
        (output, serving.join().expect("the segment answers"))
    });
    if output.status.code() == Some(127) {
        quietcore_skip::skip!("no QEMU; install Debian's qemu-system-x86");
        return;
    }
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    eprintln!("{said}");
    assert!(said.contains("250 cycles, 3 SubDevices, working counter 3 of 3"), "{said}");
    assert!(answered > 250, "{answered} frames; {said}");
    // Frames may be late for their cycle where this machine is busy: the segment and the guest
    // share its processors. Most are not.
    let count = |word| number_before(&said, word).expect("the guest counts them");
    let (incomplete, lost) = (count(" incomplete"), count(" lost,"));
    assert!(incomplete < 500, "{said}");
    assert_eq!(output.status.code() == Some(STATUS_OF_ZERO), incomplete + lost == 0, "{said}");
}
