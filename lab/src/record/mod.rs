//! Runs that are recorded, and replayed instruction by instruction.
//!
//! ```text
//! record   kernel, initramfs ─► QEMU, counts instructions ─► console, results
//!                                  └─ writes down what comes from outside: clock, random numbers
//! replay   the same ────────────► QEMU ─► console, results: byte by byte the same
//!                                  ▲─ reads it, each at the instruction at which it came
//! ```
//!
//! A recorded machine has one processor, whose time follows the number of its instructions, and no
//! shares: QEMU can't record what a folder of this machine holds. What its command needs is in the
//! initramfs, and its results leave by a second serial line. It has no hypervisor for the same
//! reason. The folder of a record holds all files of the machine, and a [`Manifest`].

pub mod contents;
pub mod manifest;
pub mod results;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::emulator::{Broken, LOOK, PROGRAM, Running};
use crate::job::STATUS;
use crate::kind::{self, Kind};
pub use manifest::{Difference, Ended, Manifest, NoManifest};
use manifest::{Emulator, MANIFEST};

/// The kernel, as a file of the record.
pub const KERNEL: &str = "kernel";
/// The file system that the machine starts from.
pub const INITRAMFS: &str = "initramfs";
/// The events that came from outside, each with its instruction, as QEMU writes them down.
pub const EVENTS: &str = "events";
/// The bytes that the machine wrote to its console.
pub const CONSOLE: &str = "console.txt";
/// The archive of its results, which the machine sent by its second serial line.
pub const ARCHIVE: &str = "results.cpio";
/// The folder that the archive is unpacked to.
pub const RESULTS: &str = "results";
/// The file with what QEMU itself had to say.
const REMARKS: &str = "emulator.txt";
/// The device of the second serial line in the machine.
pub const RESULTS_LINE: &str = "/dev/ttyS1";
/// Words for the kernel: no device gives it random numbers, and testing its ciphers would take it
/// longer than all else of its start.
const WORDS: &str = "random.trust_cpu=on cryptomgr.notests";
/// Nanoseconds of a recorded machine's time that an instruction takes, as a power of two: at 8 a
/// second of the machine takes less than one here, and its record has some 2 MB.
const SHIFT: u32 = 3;
/// Time within which QEMU ends when it is asked to.
const GRACE: Duration = Duration::from_secs(10);

/// Why there is no record, or no replay.
#[derive(Debug, thiserror::Error)]
pub enum NoReplay {
    /// The record is none, or can't be written.
    #[error(transparent)]
    Manifest(#[from] NoManifest),
    /// A machine of this kind can't be recorded.
    #[error("a machine of kind {0} uses folders of this machine, which can't be recorded")]
    Kind(String),
    /// Something is not as it was.
    #[error("{} can't be replayed:{}", folder.display(), listed(differences))]
    Differs {
        /// Folder of the record.
        folder: PathBuf,
        /// Everything that is not as it was.
        differences: Vec<Difference>,
    },
    /// A file can't be read or written.
    #[error("{path}: {because}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        because: io::Error,
    },
    /// The machine came to no end.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// It was replayed, and came out differently.
    #[error(
        "the replay differs from its record: {name} from byte {at} on; it has the replay's in {}",
        replayed.display()
    )]
    Diverged {
        /// Name of the file that differs.
        name: &'static str,
        /// The first byte that does.
        at: usize,
        /// The folder with the replay's file.
        replayed: PathBuf,
    },
    /// QEMU ended otherwise than when it recorded, or did not end.
    #[error("the replay came to no end of its own: {0}")]
    NoEnd(String),
}

fn listed(differences: &[Difference]) -> String {
    differences.iter().map(|difference| format!("\n  {difference}")).collect()
}

fn failed(path: &Path) -> impl Fn(io::Error) -> NoReplay {
    move |because| NoReplay::File { path: path.to_owned(), because }
}

/// The two ways in which QEMU runs a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Record,
    Replay,
}

/// A machine that is to be recorded. Its kernel and its initramfs are in its folder.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// The kind of machine.
    pub kind: &'a Kind,
    /// Size of its memory in MiB.
    pub memory_mib: u32,
    /// The command that it runs.
    pub command: &'a [String],
    /// Folder of the record.
    pub folder: &'a Path,
}

impl Recording<'_> {
    /// Records the machine until it switches itself off, or until its time is over. A record that
    /// was in the folder before is gone in any case; the new one is whole when its manifest is
    /// there. `look` is called some twenty times a second, and ends the machine by `false`.
    ///
    /// # Errors
    /// [`NoReplay`].
    pub fn record(
        &self,
        limit: Duration,
        look: impl FnMut() -> bool,
    ) -> Result<Manifest, NoReplay> {
        if self.kind.hypervisor.is_some() {
            return Err(NoReplay::Kind(self.kind.name.to_owned()));
        }
        clear(self.folder)?;
        let arguments = arguments(self.kind, self.memory_mib, Mode::Record);
        let emulator = Emulator::here(arguments)?;
        let ended = run(self.folder, &emulator.arguments, limit, look)?;
        let results = self.folder.join(RESULTS);
        results::unpack(&self.folder.join(ARCHIVE), &results).map_err(failed(&results))?;
        let status = fs::read_to_string(results.join(STATUS)).ok();
        let ended = match status.and_then(|text| text.trim().parse().ok()) {
            Some(status) => Ended::Status(status),
            None if ended.is_none() => Ended::CutOff,
            None => Ended::Early,
        };
        let manifest = Manifest {
            schema: String::new(),
            kind: self.kind.name.to_owned(),
            memory_mib: self.memory_mib,
            command: self.command.to_vec(),
            package: self.kind.package.to_owned(),
            ended,
            emulator,
            files: BTreeMap::new(),
        };
        Ok(manifest.write(self.folder)?)
    }
}

/// Takes away what another record has left in this folder, the manifest first.
fn clear(folder: &Path) -> Result<(), NoReplay> {
    for name in [MANIFEST, EVENTS, CONSOLE, ARCHIVE, RESULTS] {
        let path = folder.join(name);
        let gone = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match gone {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed(&path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Replays the record in `folder`, in a folder `scratch` of its own, and compares what comes out.
/// Returns what was recorded.
///
/// # Errors
/// [`NoReplay`]; among them all that is not as it was when it was recorded, before anything runs.
pub fn replay(
    folder: &Path,
    scratch: &Path,
    limit: Duration,
    look: impl FnMut() -> bool,
) -> Result<Manifest, NoReplay> {
    let manifest = Manifest::read(folder)?;
    let kind = kind::find(&manifest.kind).filter(|kind| kind.hypervisor.is_none());
    let kind = kind.ok_or_else(|| NoReplay::Kind(manifest.kind.clone()))?;
    let recorded = arguments(kind, manifest.memory_mib, Mode::Record);
    let differences = manifest.differences(folder, &Emulator::here(recorded)?);
    if !differences.is_empty() {
        return Err(NoReplay::Differs { folder: folder.to_owned(), differences });
    }
    let folder = folder.canonicalize().map_err(failed(folder))?;
    for name in [KERNEL, INITRAMFS, EVENTS] {
        let path = scratch.join(name);
        symlink(folder.join(name), &path).map_err(failed(&path))?;
    }
    let arguments = arguments(kind, manifest.memory_mib, Mode::Replay);
    let status = run(scratch, &arguments, limit, look)?;
    for name in [CONSOLE, ARCHIVE] {
        let [recorded, replayed] = [folder.join(name), scratch.join(name)];
        let [recorded, replayed] =
            [&recorded, &replayed].map(|path| fs::read(path).map_err(failed(path)));
        if let Some(at) = first_difference(&recorded?, &replayed?) {
            return Err(NoReplay::Diverged { name, at, replayed: scratch.to_owned() });
        }
    }
    match status {
        Some(status) if status.success() => Ok(manifest),
        Some(status) => {
            let said = fs::read(scratch.join(REMARKS)).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            Err(NoReplay::NoEnd(format!("{PROGRAM} ended with {status}: {}", said.trim())))
        }
        None => Err(NoReplay::NoEnd(format!("it did not end within {} s", limit.as_secs()))),
    }
}

/// The offset of the first byte in which two texts differ; `None` where they are the same.
fn first_difference(one: &[u8], other: &[u8]) -> Option<usize> {
    let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    (common < one.len().max(other.len())).then_some(common)
}

/// The arguments of QEMU, which runs in the folder that holds the files. The two modes differ in
/// one word.
fn arguments(kind: &Kind, memory_mib: u32, mode: Mode) -> Vec<String> {
    let mode = match mode {
        Mode::Record => "record",
        Mode::Replay => "replay",
    };
    let count = format!("shift={SHIFT},rr={mode},rrfile={EVENTS}");
    let words = format!("{} {WORDS}", kind.command_line());
    let mut arguments = vec!["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"];
    arguments.extend(["-nic", "none", "-machine", "q35", "-cpu", kind.processor, "-smp", "1"]);
    let memory = memory_mib.to_string();
    arguments.extend(["-m", &memory, "-accel", "tcg,thread=single", "-icount", &count]);
    arguments.extend(["-kernel", KERNEL, "-initrd", INITRAMFS, "-append", &words]);
    let lines = [CONSOLE, ARCHIVE].map(|name| format!("file:{name}"));
    lines.iter().for_each(|line| arguments.extend(["-serial", line]));
    arguments.into_iter().map(str::to_owned).collect()
}

/// Runs QEMU in a folder. Returns `None` if its time was over and it was asked to end, which leaves
/// a record that can be replayed up to there.
fn run(
    folder: &Path,
    arguments: &[String],
    limit: Duration,
    mut look: impl FnMut() -> bool,
) -> Result<Option<ExitStatus>, NoReplay> {
    let path = folder.join(REMARKS);
    let remarks = File::create(&path).map_err(failed(&path))?;
    let child = Command::new(PROGRAM)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(remarks)
        .spawn()
        .map_err(Broken::NoEmulator)?;
    let mut running = Running(child);
    let started = Instant::now();
    let mut is_asked = false;
    loop {
        if let Some(status) = running.0.try_wait().map_err(Broken::NoEmulator)? {
            return Ok((!is_asked).then_some(status));
        }
        if started.elapsed() > limit + GRACE {
            return Ok(None);
        }
        if started.elapsed() > limit && !is_asked {
            is_asked = true;
            if let Some(process) = Pid::from_raw(running.0.id().cast_signed()) {
                // It may have ended by itself.
                let _ = kill_process(process, Signal::TERM);
            }
        }
        if !look() {
            return Err(Broken::Interrupted.into());
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_differs_from_its_record_in_one_word() {
        let kind = kind::find("stock").expect("a kind");
        let [recorded, replayed] =
            [Mode::Record, Mode::Replay].map(|mode| arguments(kind, 512, mode));
        let pairs = recorded.iter().zip(&replayed).filter(|(one, other)| one != other);
        let pairs: Vec<_> = pairs.collect();
        assert_eq!(recorded.len(), replayed.len());
        assert_eq!(pairs.len(), 1, "{pairs:?}");
        assert_eq!(pairs[0].0.replace("rr=record", "rr=replay"), *pairs[0].1);
    }

    #[test]
    fn the_first_byte_that_differs_is_found() {
        assert_eq!(first_difference(b"same", b"same"), None);
        assert_eq!(first_difference(b"same", b"sane"), Some(2));
        assert_eq!(first_difference(b"same", b"same and more"), Some(4));
        assert_eq!(first_difference(b"", b"more"), Some(0));
    }
}
