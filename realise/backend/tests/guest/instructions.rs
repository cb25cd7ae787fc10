//! Counts the instructions from the loader's jump to the first step of the program.

use std::fs;
use std::process::Command;

use quietcore_boot::places::{EXCHANGE, HOST_PAGE, IMAGE, POST, PROGRAM_CODE, PROGRAM_DATA};
use quietcore_boot::post::Poster;
use quietcore_boot::{AddressRange, HostPage};
use quietcore_exchange::Slot;
use quietcore_microvm::slot::Shared;
use quietcore_program_image::ProgramImage;
use quietcore_units::{Nanos, Wake};

use crate::harness::{build, exchange, job, post, program, task};

/// Most instructions that are allowed.
const MOST: usize = 200_000;
const MEMORY: u64 = 16 << 20;

/// Goal: the way to the first cycle stays short.
/// Method: QEMU runs the guest alone, one instruction after the other, with everything that a host
/// would give it in its memory, and logs each of them.
#[test]
fn the_first_cycle_is_a_few_instructions_away() {
    let Ok(image) = quietcore_guests::PARTITION.bytes() else {
        quietcore_skip::skip!("no images of guests in this build");
        return;
    };
    let program = program(0, 1);
    let code = code_of(&program);
    let Some(log) = run(image, &program, &code) else { return };
    let instructions: Vec<u64> = log.lines().filter_map(address_of).collect();
    let begin = instructions.iter().position(|address| *address >= IMAGE).expect("it began");
    // The face holds version and rates, then the addresses of `initialize` and `step`.
    let face = (program.face() - PROGRAM_CODE[0]) as usize;
    let function = |place: usize| {
        let bytes = code[face + place..].first_chunk().expect("a whole face");
        let address = u64::from_le_bytes(*bytes);
        instructions[begin..].iter().position(|it| *it == address).expect("it was called")
    };
    let (own, step) = (function(8), function(16));
    eprintln!("{own} instructions to `initialize`, {step} to the first step");
    assert!(step <= MOST, "{step}");
}

/// Returns the content of the code slot.
fn code_of(program: &ProgramImage) -> Vec<u8> {
    let mut code = vec![0; 64 << 10];
    for part in program.parts() {
        let offset = (part.address - PROGRAM_CODE[0]) as usize;
        code[offset..offset + part.bytes.len()].copy_from_slice(&part.bytes);
    }
    code
}

/// Returns QEMU's log of a guest that runs one cycle. Skips the test and returns `None` where there
/// is no QEMU.
fn run(image: &[u8], program: &ProgramImage, code: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut qemu = Command::new("timeout");
    qemu.args(["120", "qemu-system-x86_64", "-accel", "tcg", "-singlestep"]);
    // The memory reaches up to the code of programs; nearly all of it is never touched.
    qemu.args(["-object", "memory-backend-ram,id=all,size=2048M,reserve=off"]);
    qemu.args(["-M", "microvm,memory-backend=all", "-m", "2048"]);
    qemu.args(["-cpu", "max", "-nodefaults", "-no-user-config", "-no-reboot"]);
    qemu.args(["-display", "none", "-serial", "stdio", "-d", "exec,nochain", "-D"]);
    qemu.arg(folder.path().join("log"));
    qemu.args(["-device", "isa-debug-exit,iobase=0x501,iosize=1"]);
    let mut give = |name: &str, address: u64, bytes: &[u8]| {
        let file = folder.path().join(name);
        fs::write(&file, bytes).expect("room");
        let device = format!("loader,file={},addr={address:#x},force-raw=on", file.display());
        qemu.args(["-device", &device]);
    };
    let exchange = exchange(1);
    let data = exchange.region().writable_data(Slot::A).expect("data");
    data.write(0, program.data()).expect("room");
    let file = exchange.file().expect("a file");
    let bytes = exchange.region().layout().bytes as u64;
    give("exchange", EXCHANGE, &content(&Shared::of_file(&file, 0, bytes).expect("memory")));
    give("data", PROGRAM_DATA[0], program.data());
    give("code", PROGRAM_CODE[0], code);
    let mut job = job(vec![task(0, Nanos::from_millis(1), Wake::Sleep)], Some(1));
    job.build = build(program, 1);
    let post = post();
    let mut poster = Poster::new(post.words()).expect("room");
    poster.post(&job.to_bytes().expect("short")).expect("room");
    give("post", POST, &content(&post));
    let page = HostPage {
        memory_bytes: MEMORY,
        exchange: AddressRange { address: EXCHANGE, bytes },
        job: AddressRange { address: POST, bytes: post.bytes() },
        ..HostPage::of_counter(1_000_000_000)
    };
    give("page", HOST_PAGE, &page.to_bytes());
    let kernel = folder.path().join("image");
    fs::write(&kernel, image).expect("room");
    let output = qemu.arg("-kernel").arg(&kernel).output().expect("coreutils are there");
    if output.status.code() == Some(127) {
        quietcore_skip::skip!("no QEMU; install Debian's qemu-system-x86");
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // QEMU turns a guest's status of 0 into 1.
    assert_eq!(output.status.code(), Some(1), "{said}");
    // QEMU also ends so when it can't begin, for example with too little memory.
    let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    if log.is_empty() {
        quietcore_skip::skip!("QEMU does not begin: {said}");
        return None;
    }
    Some(log)
}

fn content(shared: &Shared) -> Vec<u8> {
    let mut bytes = vec![0; shared.bytes() as usize];
    shared.read(0, &mut bytes).expect("all of it");
    bytes
}

/// Returns the second number of a line `Trace 0: 0x7f… [00000000/0000000000100000/…] …`.
fn address_of(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once('[')?;
    u64::from_str_radix(rest.split('/').nth(1)?, 16).ok()
}
