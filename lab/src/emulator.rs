//! QEMU, which is the machine.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::job::{ALIVE, OUT_TAG, PROJECT_TAG, ROOT_TAG, STATUS};
use crate::kernel::Kernel;
use crate::kind::Kind;
use crate::standstill::{Heart, STANDS_STILL};

/// Name of the emulator.
pub(crate) const PROGRAM: &str = "qemu-system-x86_64";
/// The kernel's text when it can't go on.
const PANIC: &str = "Kernel panic - not syncing";
/// QEMU's text for a guest that was interrupted while it held interrupts back.
const HELD_BACK: &str = "while it held interrupts back";
/// QEMU's text for a guest that can't go on at an address that only its host's kernel has.
const HOSTS_REGISTERS: &str = "with the guest at 0xffffffff";
/// Text of a guest of ours that ended in a triple fault, by what the host finds after it: registers
/// as after a reset.
const GUEST_FELL: &str = "it reset itself; the guest crashed: double fault at 0xfff0";
/// Texts of Xen, and of the kernel of a domain, when that kernel was interrupted where it can't be.
const DOMAIN_FELL: [&str; 2] =
    ["Triple fault - invoking HVM shutdown", "not syncing: Fatal exception in interrupt"];
/// QEMU's line for a processor that faults while it reports a fault in a fault.
const TRIPLE_FAULT: &str = "Triple fault";
/// Place on the bus of the network card that can be given to a guest: `0000:00:10.0`.
pub const CARD: u8 = 0x10;
/// Place of the card at the other end of its cable, which is a virtio device: `0000:00:11.0`.
const OTHER_CARD: u8 = 0x11;
/// Time between two looks at a running machine.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// A machine that can be started.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    /// The kind of machine.
    pub kind: &'a Kind,
    /// The kernel that it starts.
    pub kernel: &'a Kernel,
    /// Path of the initramfs.
    pub initramfs: &'a Path,
    /// Folder of the project.
    pub project: &'a Path,
    /// Folder in which results are left here.
    pub out: &'a Path,
    /// The file that gets what it writes to its console.
    pub console: &'a Path,
    /// The file in which QEMU logs each reset of a processor, with its registers.
    pub resets: &'a Path,
    /// Number of its processors.
    pub processors: u8,
    /// Size of its memory in MiB.
    pub memory_mib: u32,
    /// `true` if its time follows the number of instructions instead of this machine's clock; then
    /// it has one processor, and runs can be compared instruction by instruction.
    pub counts_instructions: bool,
    /// `true` if its processors take turns in one thread of the emulator: no processor runs code
    /// while another one replaces it.
    pub takes_turns: bool,
}

/// Why a machine came to no end of its own.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// QEMU can't be run.
    #[error("can't run {PROGRAM}: {0}; Debian's package is qemu-system-x86")]
    NoEmulator(io::Error),
    /// It took too long.
    #[error("the machine did not end within {} s; its console is in {console}", limit.as_secs())]
    TooLong {
        /// The time that it had.
        limit: Duration,
        /// Path of what it wrote so far.
        console: PathBuf,
    },
    /// Nothing happens in it any more.
    #[error(
        "the emulated machine stood still for {} s, or never began to run, which is no fault of \
         the scenario; its console is in {console}",
        STANDS_STILL.as_secs()
    )]
    StoodStill {
        /// Path of what it wrote so far.
        console: PathBuf,
    },
    /// The kernel of a machine that holds guests has panicked.
    #[error("the kernel of the emulated machine panicked; its console is in {console}")]
    Panicked {
        /// Path of what it wrote.
        console: PathBuf,
    },
    /// A processor of a machine that holds guests found no handler for a fault, of which there is
    /// one for each in the machine's kernel.
    #[error("the emulated machine ended in a triple fault; its console is in {console}")]
    TripleFault {
        /// Path of what it wrote.
        console: PathBuf,
    },
    /// An interrupt was delivered where a processor delivers none, and the scenario failed.
    #[error(
        "the emulator interrupted a guest while it held interrupts back, and the scenario failed; \
         the machine's console is in {console}"
    )]
    HeldBack {
        /// Path of what it wrote.
        console: PathBuf,
    },
    /// A guest of ours, whose addresses are all below 4 GiB, was found in its host's kernel, and
    /// the scenario failed.
    #[error(
        "the emulator gave a guest its host's registers, and the scenario failed; the machine's \
         console is in {console}"
    )]
    HostsRegisters {
        /// Path of what it wrote.
        console: PathBuf,
    },
    /// A guest of ours found no handler for a fault, of which it has one for each, and the scenario
    /// failed.
    #[error(
        "a guest ended in a triple fault in the emulated machine, and the scenario failed; the \
         machine's console is in {console}"
    )]
    GuestFell {
        /// Path of what it wrote.
        console: PathBuf,
    },
    /// The kernel of a domain ended in a triple fault or in an interrupt, and the scenario failed.
    #[error(
        "the kernel of a domain fell in the emulated machine, and the scenario failed; the \
         machine's console is in {console}"
    )]
    DomainFell {
        /// Path of what it wrote.
        console: PathBuf,
    },
    /// It was ended from outside.
    #[error("interrupted")]
    Interrupted,
    /// It ended before the scenario did.
    #[error("the machine ended before the scenario did ({status}); its console ends with\n{last}")]
    Early {
        /// Exit status of QEMU.
        status: ExitStatus,
        /// The last lines of the console.
        last: String,
    },
}

impl Machine<'_> {
    /// Runs the machine until it switches itself off. Returns the scenario's exit status.
    ///
    /// `look` is called some twenty times a second, and ends the machine by `false`.
    ///
    /// # Errors
    /// [`Broken`]; no machine runs any more then, either.
    pub fn run(&self, limit: Duration, mut look: impl FnMut() -> bool) -> Result<i32, Broken> {
        let console = File::create(self.console).map_err(Broken::NoEmulator)?;
        let errors = console.try_clone().map_err(Broken::NoEmulator)?;
        let child = self
            .command()
            .stdin(Stdio::null())
            .stdout(console)
            .stderr(errors)
            .spawn()
            .map_err(Broken::NoEmulator)?;
        let mut running = Running(child);
        let started = Instant::now();
        let mut heart = Heart::default();
        let status = loop {
            if let Some(status) = running.0.try_wait().map_err(Broken::NoEmulator)? {
                break status;
            }
            if started.elapsed() > limit {
                return Err(Broken::TooLong { limit, console: self.console.to_owned() });
            }
            let beat = fs::read(self.out.join(ALIVE)).ok();
            // Time that follows instructions may be slower than any limit.
            if !self.counts_instructions && heart.stands_still(beat, started.elapsed()) {
                return Err(Broken::StoodStill { console: self.console.to_owned() });
            }
            if !look() {
                return Err(Broken::Interrupted);
            }
            thread::sleep(LOOK);
        };
        let told = fs::read_to_string(self.out.join(STATUS)).ok();
        match told.and_then(|text| text.trim().parse().ok()) {
            Some(0) => Ok(0),
            Some(_) if self.has_told(self.console, HELD_BACK) => {
                Err(Broken::HeldBack { console: self.console.to_owned() })
            }
            Some(_) if self.has_told(self.console, HOSTS_REGISTERS) => {
                Err(Broken::HostsRegisters { console: self.console.to_owned() })
            }
            Some(_) if self.has_told(self.console, GUEST_FELL) => {
                Err(Broken::GuestFell { console: self.console.to_owned() })
            }
            Some(_) if DOMAIN_FELL.iter().any(|text| self.has_told(self.console, text)) => {
                Err(Broken::DomainFell { console: self.console.to_owned() })
            }
            Some(failure) => Ok(failure),
            None => Err(self.early(status)),
        }
    }

    /// Returns `true` if a machine that holds guests has written this to `file`.
    fn has_told(&self, file: &Path, text: &str) -> bool {
        let told = fs::read(file).unwrap_or_default();
        self.kind.holds_guests && String::from_utf8_lossy(&told).contains(text)
    }

    /// Why it ended before its scenario did.
    fn early(&self, status: ExitStatus) -> Broken {
        if self.has_told(self.console, PANIC) {
            return Broken::Panicked { console: self.console.to_owned() };
        }
        if self.has_told(self.resets, TRIPLE_FAULT) {
            return Broken::TripleFault { console: self.console.to_owned() };
        }
        Broken::Early { status, last: last_lines(self.console) }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
        command.args(["-nic", "none", "-serial", "stdio", "-machine", "q35"]);
        command.args(["-d", "cpu_reset", "-D"]).arg(self.resets);
        command.args(["-cpu", self.kind.processor, "-m", &self.memory_mib.to_string()]);
        if self.counts_instructions {
            command.args(["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"]);
            command.args(["-smp", "1"]);
        } else {
            let threads = if self.takes_turns { "tcg,thread=single" } else { "tcg,thread=multi" };
            command.args(["-accel", threads, "-smp", &self.processors.to_string()]);
        }
        self.starts(&mut command);
        if self.kind.has_card {
            add_card(&mut command);
        }
        self.device(&mut command, "virtio-rng-pci");
        self.share(&mut command, ROOT_TAG, Path::new("/"), true);
        self.share(&mut command, PROJECT_TAG, self.project, true);
        self.share(&mut command, OUT_TAG, self.out, false);
        for (tag, folder) in self.kernel.layers() {
            self.share(&mut command, &tag, folder, true);
        }
        command
    }

    /// Adds what the machine starts: the kernel, or the hypervisor, which gets kernel and initramfs
    /// as modules of the Multiboot protocol, the first with its command line.
    fn starts(&self, command: &mut Command) {
        let words = self.kind.command_line();
        let Some((hypervisor, files)) = self.kind.hypervisor.zip(self.kernel.under.as_ref()) else {
            command.arg("-kernel").arg(&self.kernel.image);
            command.arg("-initrd").arg(self.initramfs).arg("-append").arg(words);
            return;
        };
        let modules = format!("{} {words},{}", value(&self.kernel.image), value(self.initramfs));
        command.arg("-kernel").arg(&files.image).args(["-append", hypervisor.words]);
        command.arg("-initrd").arg(modules);
    }

    /// Adds a virtio device. Under a hypervisor the kernel's addresses are not the machine's: the
    /// device must be used through the kernel's layer for DMA, which QEMU calls `iommu_platform`,
    /// and offers only where the device is not a legacy one as well.
    fn device(&self, command: &mut Command, device: &str) {
        let platform = if self.kind.hypervisor.is_some() {
            ",disable-legacy=on,iommu_platform=on"
        } else {
            ""
        };
        command.arg("-device").arg(format!("{device}{platform}"));
    }

    fn share(&self, command: &mut Command, tag: &str, path: &Path, read_only: bool) {
        let access = if read_only { "on" } else { "off" };
        let options = "security_model=none,multidevs=remap";
        let path = value(path);
        command
            .arg("-fsdev")
            .arg(format!("local,id={tag},path={path},{options},readonly={access}"));
        self.device(command, &format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}"));
    }
}

/// Adds an IOMMU, which must come before what is behind it, and two network cards with a cable
/// between them.
fn add_card(command: &mut Command) {
    command.args(["-device", "intel-iommu"]);
    let cards = [("e1000e", CARD), ("virtio-net-pci", OTHER_CARD)];
    for (index, (card, place)) in cards.into_iter().enumerate() {
        command.arg("-netdev").arg(format!("hubport,id=end{index},hubid=0"));
        command.arg("-device").arg(format!("{card},netdev=end{index},addr={place:#x},romfile="));
    }
}

/// A path as a value in a list of QEMU's, where a comma is written twice.
fn value(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

/// A machine that is switched off when nobody waits for it any more.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn last_lines(console: &Path) -> String {
    let text = fs::read(console).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}
