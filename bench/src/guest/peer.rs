//! The peer: QEMU's machine `microvm` with the image, the program and the job of our monitor.
//!
//! Everything that our monitor would give the guest is put into QEMU's memory, at the same
//! addresses: only pages that are not zero, since its memory is. It has no devices beside the one
//! by which the guest ends it. So it is run in two ways: with the firmware and the parts that the
//! machine has by itself, and with as little as QEMU's documentation of `microvm` says is possible
//! (qboot; no timers, serial line and firmware tables).

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;

use quietcore_backend::guest::translate::guest_job;
use quietcore_boot::places::{
    EXCHANGE, HOST_PAGE, PAGE_BYTES, POST, PROGRAM_CODE, PROGRAM_DATA, port,
};
use quietcore_boot::post::{Poster, bytes_for};
use quietcore_boot::{AddressRange, HostPage};
use quietcore_exchange::Slot;
use quietcore_microvm::image;
use quietcore_microvm::machine::Machine;
use quietcore_microvm::memory::Memory;
use quietcore_microvm::slot::Shared;
use quietcore_process::exchange::Exchange;
use quietcore_program_image::ProgramImage;
use quietcore_scan::guest::job::{GuestBuild, GuestJob};
use quietcore_scan::process::job::ProgramJob;
use quietcore_units::{ByteSize, Causes};

use super::program::Program;

/// The program of the peer.
const QEMU: &str = "qemu-system-x86_64";
/// The code of programs is above 1920 MiB, and below this.
const MEMORY_MIB: u32 = 2048;
/// For an image that is only looked at.
const GUEST_MEMORY: ByteSize = ByteSize::new(16 << 20);
/// Room for a job.
const LETTER_BYTES: usize = 1 << 20;
/// QEMU's exit status when the guest ended well.
const ENDED_WELL: i32 = port::ENDED as i32 * 2 + 1;
/// A run that takes longer hangs.
const RUN_SECONDS_MAX: u32 = 120;

/// The parts of QEMU's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// The parts that it has by itself.
    Usual,
    /// As little as is possible.
    Fewest,
}

/// The guest's image, and what is to be put beside it.
#[derive(Debug)]
pub(super) struct Peer {
    image: PathBuf,
    /// Files with the addresses that they go to.
    pieces: Vec<(u64, PathBuf)>,
    folder: PathBuf,
    /// Address at which the guest is entered.
    pub(super) entry: u64,
    /// The program's image for a guest.
    pub(super) program: ProgramImage,
    /// The bytes of the program's file.
    pub(super) program_file: Vec<u8>,
}

impl Peer {
    /// Puts down all that a guest gets, in `folder`. The guest's counter counts so often in a
    /// second. Nobody looks after a guest that is not `is_watched`, which so looks for its end
    /// itself.
    pub(super) fn lay_out(
        folder: &Path,
        program: &Program,
        job: &ProgramJob,
        counter_hz: u64,
        is_watched: bool,
    ) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let bytes = quietcore_guests::PARTITION.bytes().map_err(|missing| missing.to_string())?;
        let file = fs::read(&job.build.module).map_err(|error| error.to_string())?;
        let parsed = ProgramImage::parse(&file).map_err(|error| error.to_string())?;
        let mut peer = Self {
            image: folder.join("image"),
            pieces: Vec::new(),
            folder: folder.to_owned(),
            entry: entry(bytes)?,
            program: parsed,
            program_file: file,
        };
        fs::write(&peer.image, bytes).map_err(|error| error.to_string())?;
        let exchange = Exchange::create(&program.shape).map_err(|error| error.to_string())?;
        let data = exchange.region().writable_data(Slot::A).ok_or("no data slot")?;
        data.write(0, peer.program.data()).map_err(|error| format!("{error:?}"))?;
        let memory = exchange.file().map_err(|error| error.to_string())?;
        let exchange_bytes = exchange.region().layout().bytes as u64;
        let shared = Shared::of_file(&memory, 0, exchange_bytes);
        let whole = content(&shared.map_err(|error| Causes(&error).to_string())?)?;
        peer.put("exchange", EXCHANGE, &whole)?;
        let data = peer.program.data().to_owned();
        peer.put("data", PROGRAM_DATA[0], &data)?;
        let mut code = Vec::new();
        for part in peer.program.parts() {
            let offset = (part.address - PROGRAM_CODE[0]) as usize;
            code.resize(code.len().max(offset + part.bytes.len()), 0);
            code[offset..offset + part.bytes.len()].copy_from_slice(&part.bytes);
        }
        peer.put("code", PROGRAM_CODE[0], &code)?;
        let letters = ByteSize::new(bytes_for(LETTER_BYTES) as u64);
        let post = Shared::create("quietcore-post", letters)
            .map_err(|error| Causes(&error).to_string())?;
        let letter = letter(job, &peer.program, code.len() as u64);
        let letter = GuestJob { is_watched, ..letter }.to_bytes();
        let letter = letter.map_err(|error| error.to_string())?;
        let mut poster = Poster::new(post.words()).ok_or("the post is too small")?;
        poster.post(&letter).map_err(|error| error.to_string())?;
        peer.put("post", POST, &content(&post)?)?;
        let page = HostPage {
            memory_bytes: program.memory_bytes(),
            exchange: AddressRange { address: EXCHANGE, bytes: exchange_bytes },
            job: AddressRange { address: POST, bytes: post.bytes() },
            ..HostPage::of_counter(counter_hz)
        };
        peer.put("page", HOST_PAGE, &page.to_bytes())?;
        Ok(peer)
    }

    /// Puts down the pages of some memory that are not zero, each stretch of them in a file.
    fn put(&mut self, name: &str, address: u64, bytes: &[u8]) -> Result<(), String> {
        for (offset, stretch) in stretches(bytes) {
            let file = self.folder.join(format!("{name}-{offset:x}"));
            fs::write(&file, stretch).map_err(|error| error.to_string())?;
            self.pieces.push((address + offset as u64, file));
        }
        Ok(())
    }

    /// QEMU with the guest in it, on this machine's KVM.
    pub(super) fn under_kvm(&self, parts: Parts) -> Command {
        let mut command = Command::new(QEMU);
        command.args(["-accel", "kvm", "-cpu", "host"]);
        self.add_machine(&mut command, parts);
        command
    }

    /// QEMU with the guest in it, which runs one instruction after the other and writes down the
    /// address of each.
    pub(super) fn written_down(&self, log: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args([&*RUN_SECONDS_MAX.to_string(), QEMU]);
        command.args(["-accel", "tcg", "-singlestep", "-cpu", "max", "-d", "exec,nochain", "-D"]);
        command.arg(log);
        self.add_machine(&mut command, Parts::Fewest);
        command
    }

    fn add_machine(&self, command: &mut Command, parts: Parts) {
        match parts {
            Parts::Usual => command.args(["-machine", "microvm,memory-backend=all"]),
            Parts::Fewest => {
                let off = ["x-option-roms", "pit", "pic", "rtc", "isa-serial", "acpi"];
                let off: String = off.iter().map(|name| format!(",{name}=off")).collect();
                let machine = format!("microvm,memory-backend=all{off}");
                command.args(["-machine", &machine, "-bios", "qboot.rom"])
            }
        };
        command.args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]);
        // Nearly all of it is never touched, and more than a small host has to give.
        let memory = format!("memory-backend-ram,id=all,size={MEMORY_MIB}M,reserve=off");
        command.args(["-object", &memory, "-m", &MEMORY_MIB.to_string()]);
        command.arg("-kernel").arg(&self.image);
        command.args(["-device", &format!("isa-debug-exit,iobase={:#x},iosize=1", port::END)]);
        for (address, file) in &self.pieces {
            let file = file.display();
            let device = format!("loader,file={file},addr={address:#x},force-raw=on");
            command.args(["-device", &device]);
        }
    }
}

/// Runs a command of [`Peer`] to the guest's end.
///
/// # Errors
/// When it did not end well, or there is no QEMU; in words.
pub(super) fn run(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{QEMU}: {error}"))?;
    match output.status.code() {
        Some(ENDED_WELL) => Ok(()),
        Some(127) => Err(format!("no `{QEMU}`; install Debian's package qemu-system-x86")),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{QEMU} ended with {}: {}", output.status, said.trim()))
        }
    }
}

/// Returns the answer of `QEMU --version`.
pub(super) fn version() -> Result<String, String> {
    let output = Command::new(QEMU).arg("--version").output();
    let output = output
        .map_err(|error| format!("{QEMU}: {error}; install Debian's package qemu-system-x86"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Returns the frequency of a guest's counter in Hz, under this machine's KVM.
pub(super) fn counter_hz() -> Result<u64, String> {
    let bytes = quietcore_guests::PARTITION.bytes().map_err(|missing| missing.to_string())?;
    let memory = Memory::new(GUEST_MEMORY, false).map_err(|error| Causes(&error).to_string())?;
    let entry = image::load(&memory, &mut Cursor::new(bytes))
        .map_err(|error| Causes(&error).to_string())?;
    let machine = Machine::new(memory).map_err(|error| Causes(&error).to_string())?;
    let processor = machine.processor(0, entry).map_err(|error| error.to_string())?;
    Ok(processor.counter().hertz())
}

/// Returns the address at which an image is entered.
fn entry(bytes: &[u8]) -> Result<u64, String> {
    let memory = Memory::new(GUEST_MEMORY, false).map_err(|error| Causes(&error).to_string())?;
    let entry = image::load(&memory, &mut Cursor::new(bytes));
    Ok(entry.map_err(|error| Causes(&error).to_string())?.0)
}

/// A job of a process as that of a guest, without channels and fieldbus.
fn letter(job: &ProgramJob, program: &ProgramImage, code_bytes: u64) -> GuestJob {
    let build = GuestBuild {
        face: program.face(),
        code: AddressRange {
            address: PROGRAM_CODE[0],
            bytes: code_bytes.next_multiple_of(PAGE_BYTES),
        },
        stage: job.build.stage.clone(),
        values: Vec::new(),
    };
    guest_job(job, 1, &[], build, None)
}

fn content(shared: &Shared) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; shared.bytes() as usize];
    shared.read(0, &mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Stretches of pages that are not zero, with their offsets.
fn stretches(bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let page = PAGE_BYTES as usize;
    let is_used: Vec<bool> =
        bytes.chunks(page).map(|chunk| chunk.iter().any(|byte| *byte != 0)).collect();
    let mut found = Vec::new();
    let mut index = 0;
    while index < is_used.len() {
        let length = is_used[index..].iter().take_while(|used| **used).count();
        if length > 0 {
            let end = ((index + length) * page).min(bytes.len());
            found.push((index * page, &bytes[index * page..end]));
        }
        index += length.max(1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_that_are_not_zero_are_put_down() {
        let mut bytes = vec![0; 5 * 4096 + 7];
        assert_eq!(stretches(&bytes), []);
        bytes[4096] = 1;
        bytes[3 * 4096 - 1] = 1;
        bytes[5 * 4096 + 6] = 1;
        let found = stretches(&bytes);
        let places: Vec<(usize, usize)> =
            found.iter().map(|(offset, stretch)| (*offset, stretch.len())).collect();
        assert_eq!(places, [(4096, 2 * 4096), (5 * 4096, 7)]);
    }
}
