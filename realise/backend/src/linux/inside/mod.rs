//! The first process of a Linux guest: it makes the guest ready, starts the partition's process,
//! passes on what comes from the host, and ends the machine with that process.
//!
//! ```text
//! file systems ─ modules ─ ports ─ memory ─ clock ─ parcels: threads, files, job ─► the process
//!                                                               files, orders ────►
//!                                          its end ─► status to the host ─ the machine off
//! ```

mod clock;
mod interface;
mod platform;
mod qemu;
mod system;
mod xen;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;

use command_fds::{CommandFdExt as _, FdMapping};
use quietcore_boot::devices::{CONTROL, EXCHANGE, FIRST_CHANNEL};
use quietcore_boot::port;
use quietcore_process::in_guest::clock::shift;
use quietcore_process::memory::{DeviceMemory, MemorySource};
use quietcore_units::Causes;

use self::platform::{Platform, Ports, Pump};
use self::qemu::Qemu;
use super::parcel::Parcel;
use crate::fieldbus::InterfaceJob;
use crate::job::Job;
use crate::process::ExchangeName;

/// The first descriptor number after the standard streams.
const FIRST_FILE: i32 = 3;

/// Runs the guest, as its first process. Returns only where it isn't one.
pub fn main() -> ExitCode {
    if std::process::id() != 1 {
        eprintln!("this is the first process of a Linux guest of quietcore");
        return ExitCode::from(2);
    }
    let ready = system::mount_all().and_then(|()| system::load_modules());
    let mut platform = match ready.and_then(|()| platform::find()) {
        Ok(platform) => platform,
        Err(why) => {
            say(&why);
            // Without its own way to say it, a guest of Xen ends without a status.
            Qemu.tell_end(port::REFUSED);
            return system::switch_off();
        }
    };
    let status = work(&mut *platform).unwrap_or_else(|why| {
        say(&why);
        port::REFUSED
    });
    platform.tell_end(status);
    system::switch_off()
}

fn say(why: &str) {
    eprintln!("quietcore: the guest can't be made ready: {why}");
}

fn work(platform: &mut dyn Platform) -> Result<u8, String> {
    let Ports { orders, printed, remarks, pumps } = platform.ports()?;
    let mut parcels = BufReader::new(orders);
    let (file, control) = platform.shared(CONTROL)?;
    let clock = clock::HostClock::begin(&MemorySource::new(file, Some(control.clone())))?;
    if let Some(mode) = platform.slowness(&control) {
        eprintln!("quietcore: shared memory is slow: this kernel has mapped it {mode}");
    }
    let ahead_ns = clock.ahead_ns();
    clock.follow()?;
    let (mut job, threads) = first(&mut parcels)?;
    let (file, exchange) = platform.shared(EXCHANGE)?;
    let mut files = vec![file];
    if let Job::Program { program, fieldbus, .. } = &mut job {
        if let Some(InterfaceJob::Network { name, .. }) =
            fieldbus.as_mut().map(|it| &mut it.interface)
        {
            *name = interface::bring_up()?;
        }
        for (channel, number) in program.channels.iter_mut().zip(FIRST_CHANNEL..) {
            channel.descriptor = FIRST_FILE + files.len() as i32;
            let (file, memory) = platform.shared(number)?;
            channel.device = Some(memory);
            files.push(file);
        }
    }
    if let Job::Neighbour(_) = &job {
        interface::bring_up_loopback()?;
    }
    let (give_input, take_input) = mpsc::channel();
    thread::spawn(move || {
        if let Ok(input) = take_input.recv() {
            pass_on(&mut parcels, input);
        }
    });
    // The kernel starts no further thread after this.
    shift(ahead_ns).map_err(|error| format!("the clock can't be shifted: {error}"))?;
    let mut process = start(exchange, &threads, files, printed, remarks)?;
    let mut line = serde_json::to_vec(&job).map_err(|error| error.to_string())?;
    line.push(b'\n');
    let mut input = process.stdin.take().ok_or("the process has no input")?;
    input.write_all(&line).map_err(|error| format!("the job can't be handed over: {error}"))?;
    // The thread waits for it.
    let _ = give_input.send(input);
    let status = process.wait().map_err(|error| format!("the process is lost: {error}"))?;
    pumps.into_iter().for_each(Pump::finish);
    if status.success() {
        return Ok(port::ENDED);
    }
    eprintln!("quietcore: the partition's process in the guest ended ({status})");
    Ok(port::CRASHED)
}

/// Takes the parcels up to the job.
fn first(parcels: &mut impl BufRead) -> Result<(Job, Vec<u32>), String> {
    let mut threads = Vec::new();
    loop {
        let parcel = Parcel::read(parcels).map_err(|error| format!("no parcel: {error}"))?;
        match parcel.ok_or("the host has gone")? {
            Parcel::Begin { threads: of_processors } => threads = of_processors,
            Parcel::File { path, content } => store(&path, &content)?,
            Parcel::Line(line) => {
                let job = serde_json::from_slice(&line);
                return Ok((job.map_err(|error| format!("this is no job: {error}"))?, threads));
            }
        }
    }
}

/// Passes on what comes after the job, for as long as somebody takes it.
fn pass_on(parcels: &mut impl BufRead, mut input: ChildStdin) {
    while let Ok(Some(parcel)) = Parcel::read(parcels) {
        let done = match parcel {
            Parcel::Begin { .. } => Ok(()),
            Parcel::File { path, content } => store(&path, &content),
            Parcel::Line(line) => input.write_all(&line).map_err(|error| error.to_string()),
        };
        if let Err(why) = done {
            eprintln!("quietcore: what came from the host is lost: {why}");
        }
    }
}

fn store(path: &Path, content: &[u8]) -> Result<(), String> {
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    let stored = fs::create_dir_all(folder).and_then(|()| fs::write(path, content));
    stored.map_err(|error| format!("`{}` can't be stored: {error}", path.display()))
}

/// Starts the partition's process. It gets `files` as the descriptors from [`FIRST_FILE`] on, the
/// exchange's first.
fn start(
    exchange: DeviceMemory,
    threads: &[u32],
    files: Vec<File>,
    printed: OwnedFd,
    remarks: OwnedFd,
) -> Result<Child, String> {
    let own = std::env::current_exe().map_err(|error| format!("no program: {error}"))?;
    let name = ExchangeName { descriptor: FIRST_FILE, device: Some(exchange) };
    let threads: Vec<String> = threads.iter().map(u32::to_string).collect();
    let mut command = Command::new(own);
    command.arg("partition").arg(name.to_string());
    command.arg(format!("{}{}", crate::process::HOST_THREADS, threads.join(",")));
    // As on the host: one arena for all threads.
    command.env_clear().env("MALLOC_ARENA_MAX", "1").current_dir("/");
    command.stdin(Stdio::piped()).stdout(printed).stderr(remarks);
    let numbered = (FIRST_FILE..).zip(files.into_iter().map(OwnedFd::from));
    let mappings = numbered.map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd });
    let mapped = command.fd_mappings(mappings.collect());
    mapped.map_err(|_| "two files have one number".to_owned())?;
    command.spawn().map_err(|error| format!("the process can't be started: {}", Causes(&error)))
}
