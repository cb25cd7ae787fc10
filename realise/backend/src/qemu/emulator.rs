//! QEMU's process: its command line, what its guest says, and its end.
//!
//! The machine has what the guest uses and no more: a bus for the shared memory and for the
//! network of a fieldbus, a serial line, a port to end it. QEMU may start no program and raise no
//! right (`-sandbox`), and is killed with the thread that started it.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use command_fds::CommandFdExt as _;
use quietcore_boot::devices::{
    CONTROL, DEVICES_MAX, EXCHANGE, FIRST_CHANNEL, NETWORK, function_of,
};
use quietcore_boot::port;
use quietcore_host::Source;
use quietcore_host::facts::Virtualization;
use quietcore_process::bound;
use quietcore_process::remark::remark;
use quietcore_process::setting as settings;
use quietcore_site::Accelerator;
use quietcore_units::{ByteSize, CpuSet, Scheduling};

use crate::guest::console::collect;
use crate::guest::network::address_in_words;

/// Longest line of QEMU's own words that is passed on whole.
const LINE_BYTES_MAX: u64 = 1 << 10;
/// Begin of a line by which QEMU explains the line before it.
const CONTINUED: &str = "Is another process using";
/// Stack of the thread that passes lines on.
const STACK_BYTES: usize = 256 << 10;

/// The parts of a guest's machine, as files.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) accelerator: Accelerator,
    /// The guest's own memory.
    pub(super) memory: ByteSize,
    /// `true` if QEMU's memory and the guest's are to be locked.
    pub(super) locks: bool,
    /// An ELF file that QEMU loads by the PVH protocol.
    pub(super) image: File,
    /// QEMU's end of the control memory's device.
    pub(super) doorbell: OwnedFd,
    /// QEMU's end of its monitor.
    pub(super) monitor: OwnedFd,
    /// QEMU's end of the guest's network, where it has one.
    pub(super) network: Option<OwnedFd>,
    /// PCI address of the host's network card that is the guest's, where it has one.
    pub(super) card: Option<String>,
    pub(super) exchange: File,
    pub(super) channels: Vec<File>,
}

/// A running QEMU. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Emulator {
    child: Child,
    readers: Vec<JoinHandle<()>>,
    /// The last line that QEMU itself has said.
    said: Arc<Mutex<String>>,
}

impl Emulator {
    /// Starts QEMU, which waits for its monitor before the guest's first instruction; its threads
    /// begin on the CPUs `elsewhere`. What the guest writes goes to `say`.
    ///
    /// # Errors
    /// When it can't be started; in words.
    pub(super) fn start(
        mut command: Command,
        elsewhere: Option<CpuSet>,
        say: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Self, String> {
        bound::end_with_this_thread(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = spawn(&mut command, elsewhere);
        let child = child.map_err(|error| format!("QEMU can't be started: {error}"))?;
        let said = Arc::<Mutex<String>>::default();
        let mut emulator = Self { child, readers: Vec::new(), said: Arc::clone(&said) };
        let console = emulator.child.stdout.take().map(|pipe| collect(say, pipe));
        let errors = emulator.child.stderr.take().map(|pipe| pass_on(pipe, said));
        for reader in [console, errors].into_iter().flatten() {
            let reader = reader.map_err(|error| format!("no thread can be started: {error}"))?;
            emulator.readers.push(reader);
        }
        Ok(emulator)
    }

    /// Returns the number of QEMU's main thread, which serves the guest's devices.
    pub(super) fn main_thread(&self) -> u32 {
        self.child.id()
    }

    /// Puts QEMU's main thread above a guest of this policy that leaves it no other CPU than its
    /// own ones, `cpus`: the thread carries the frames that the guest waits for without sleeping.
    pub(super) fn lift(&self, cpus: &CpuSet, policy: Scheduling) {
        if !matches!(policy, Scheduling::Fifo { .. }) || others(cpus).is_some() {
            return;
        }
        if let Err(error) = settings::schedule_other(self.main_thread(), policy.above()) {
            remark(format_args!("QEMU's main thread competes with the guest: {error}"));
        }
    }

    /// Returns the status with which QEMU has ended; `None` while it runs.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Returns the last line that QEMU itself has said; all of it once it was [ended](Self::end).
    pub(super) fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends QEMU, if it still runs, and waits until all that it has said is passed on.
    pub(super) fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        for reader in self.readers.drain(..) {
            // A reader that panicked has said so.
            let _ = reader.join();
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the status with which a guest ended by its port; `None` if QEMU ended otherwise.
pub(super) fn status_of_guest(status: ExitStatus) -> Option<u8> {
    let code = status.code().filter(|code| code % 2 == 1)?;
    u8::try_from(code / 2).ok()
}

/// Returns the CPUs of this thread without these; `None` if there are no others.
pub(super) fn others(cpus: &CpuSet) -> Option<CpuSet> {
    let others = settings::allowed().ok()?.without(cpus);
    (!others.is_empty()).then_some(others)
}

/// Starts a command on these CPUs, which its threads have until somebody gives them others.
fn spawn(command: &mut Command, cpus: Option<CpuSet>) -> io::Result<Child> {
    let own = settings::allowed();
    // Where it is refused, helpers of QEMU compete with the guest, which costs time only.
    let is_elsewhere = cpus.is_some_and(|cpus| settings::allow(cpus).is_ok());
    let child = command.spawn();
    if let (true, Ok(own)) = (is_elsewhere, own) {
        // It had them before.
        let _ = settings::allow(own);
    }
    child
}

/// The machine that all guests have.
#[derive(Debug)]
pub(super) struct Base<'a> {
    pub(super) accelerator: Accelerator,
    pub(super) processors: usize,
    /// The guest's own memory.
    pub(super) memory: ByteSize,
    /// `true` if QEMU's memory and the guest's are to be locked.
    pub(super) locks: bool,
    /// QEMU's end of its monitor.
    pub(super) monitor: &'a OwnedFd,
}

impl Base<'_> {
    /// Returns the command that starts QEMU with such a machine, which has no program yet, ends
    /// when it is reset, and can be ended through a port.
    ///
    /// # Errors
    /// When there is no QEMU; in words.
    pub(super) fn command(&self) -> Result<Command, String> {
        let mut command = self.machine()?;
        let end = format!("isa-debug-exit,iobase={:#x},iosize=1", port::END);
        command.args(["-no-reboot", "-device", &end]);
        Ok(command)
    }

    /// Returns the command that starts QEMU with such a machine, and nothing to start from.
    ///
    /// # Errors
    /// When there is no QEMU; in words.
    pub(super) fn machine(&self) -> Result<Command, String> {
        let memory = self.memory.get();
        let program = Virtualization::find_qemu(&Source::live()).get().cloned();
        let program = program.ok_or("QEMU is not installed; see `quietcore doctor`")?;
        let mut command = Command::new(program);
        command.args(["-nodefaults", "-no-user-config", "-display", "none", "-S"]);
        let sandbox = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";
        command.args(["-sandbox", sandbox]);
        let (accelerator, processor) = match (self.accelerator, self.processors) {
            (Accelerator::Kvm, _) => ("kvm", "host"),
            (Accelerator::Tcg, 1) => ("tcg,thread=single,tb-size=32", "max"),
            (Accelerator::Tcg, _) => ("tcg,thread=multi,tb-size=64", "max"),
        };
        let processors = self.processors.to_string();
        command.args(["-accel", accelerator, "-cpu", processor, "-smp", &processors]);
        let off = ["usb", "sata", "smbus", "smm", "vmport", "hpet"];
        let off: String = off.iter().map(|name| format!(",{name}=off")).collect();
        command.args(["-machine", &format!("q35,memory-backend=own,dump-guest-core=off{off}")]);
        command.args(["-m", &format!("{memory}B")]);
        let own = format!("memory-backend-ram,id=own,size={memory},prealloc=on");
        command.args(["-object", &own]);
        let locks = if self.locks { "mem-lock=on" } else { "mem-lock=off" };
        command.args(["-overcommit", locks]);
        command.args(["-chardev", "stdio,id=console,signal=off"]);
        command.args(["-device", "isa-serial,chardev=console"]);
        let monitor = format!("socket,id=monitor,fd={}", self.monitor.as_raw_fd());
        command.args(["-chardev", &monitor, "-mon", "chardev=monitor,mode=control"]);
        Ok(command)
    }
}

/// Returns the command that starts QEMU with the machine of a guest with our own kernel.
///
/// # Errors
/// When a file can't be a device; in words.
pub(super) fn command(parts: Parts) -> Result<Command, String> {
    let Parts { accelerator, memory, locks, .. } = parts;
    let base = Base { accelerator, processors: 1, memory, locks, monitor: &parts.monitor };
    let mut command = base.command()?;
    command.args(["-kernel", &path(&parts.image)]);
    add_memory(&mut command, &parts)?;
    if let Some(network) = &parts.network {
        // Without interrupts: the guest looks for its frames.
        add_network(&mut command, network, ",vectors=0");
    }
    if let Some(card) = &parts.card {
        // Its own firmware has nothing to start from here.
        let device = format!("vfio-pci,host={card},addr={NETWORK:#x},rombar=0");
        command.args(["-device", &device]);
    }
    let Parts { image, doorbell, monitor, network, exchange, channels, .. } = parts;
    let files = [image, exchange].into_iter().chain(channels).map(OwnedFd::from);
    command.preserved_fds(files.chain([doorbell, monitor]).chain(network).collect());
    Ok(command)
}

/// Adds the devices of the memory that host and guest share.
fn add_memory(command: &mut Command, parts: &Parts) -> Result<(), String> {
    let control = format!("socket,id=control,fd={}", parts.doorbell.as_raw_fd());
    command.args(["-chardev", &control]);
    let doorbell = format!("ivshmem-doorbell,chardev=control,vectors=1,{}", place(CONTROL)?);
    command.args(["-device", &doorbell]);
    let channels = parts.channels.iter().zip(FIRST_CHANNEL..);
    for (file, number) in [(&parts.exchange, EXCHANGE)].into_iter().chain(channels) {
        add_shared(command, file, number)?;
    }
    Ok(())
}

/// Adds the network's device, without firmware of its own. `more` are further words about it, each
/// behind a comma.
pub(super) fn add_network(command: &mut Command, network: &OwnedFd, more: &str) {
    let wire = format!("dgram,id=wire,local.type=fd,local.str={}", network.as_raw_fd());
    let address = address_in_words();
    let device = format!(
        "virtio-net-pci,netdev=wire,mac={address},addr={NETWORK:#x},disable-legacy=on,\
         romfile={more}"
    );
    command.args(["-netdev", &wire, "-device", &device]);
}

/// Adds the device of a memory file, which has this number ([`quietcore_boot::devices`]).
///
/// # Errors
/// When the file can't be a device; in words.
pub(super) fn add_shared(command: &mut Command, file: &File, number: usize) -> Result<(), String> {
    let size = file.metadata().map_err(|error| format!("shared memory: {error}"))?.len();
    if !size.is_power_of_two() {
        return Err(format!("shared memory of {size} bytes can't be a device's"));
    }
    let file = path(file);
    let object = format!("memory-backend-file,id=m{number},mem-path={file},size={size},share=on");
    let device = format!("ivshmem-plain,memdev=m{number},{}", place(number)?);
    command.args(["-object", &object, "-device", &device]);
    Ok(())
}

/// Returns where a device of shared memory is on the bus.
fn place(number: usize) -> Result<String, String> {
    let most = DEVICES_MAX - FIRST_CHANNEL;
    let place = function_of(number);
    let (device, function) =
        place.ok_or_else(|| format!("a guest under QEMU can have {most} channels at most"))?;
    Ok(format!("addr={device:#x}.{function},multifunction=on"))
}

fn path(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Passes on what QEMU itself says, line by line, until it has ended. The last line is in `said`.
fn pass_on(
    pipe: impl Read + Send + 'static,
    said: Arc<Mutex<String>>,
) -> io::Result<JoinHandle<()>> {
    let thread = thread::Builder::new().name("errors".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut pipe).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                    remark(format_args!("QEMU: {text}"));
                    if !text.starts_with(CONTINUED) {
                        *said.lock().unwrap_or_else(PoisonError::into_inner) = text;
                    }
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn what_is_started_is_elsewhere_than_the_guest() {
        let allowed = settings::allowed().unwrap();
        let cpu = allowed.iter().next().unwrap();
        let Some(others) = others(&CpuSet::from_iter([cpu])) else {
            assert_eq!(allowed.len(), 1, "there is no other");
            return;
        };
        let mut command = Command::new("sleep");
        let mut child = spawn(command.arg("60"), Some(others)).unwrap();
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        assert_eq!(list.map(str::trim), Some(others.to_string().as_str()));
        assert_eq!(settings::allowed().unwrap(), allowed, "this thread has its own again");
    }

    #[test]
    fn only_an_end_by_the_port_is_the_guests() {
        let status = |code: i32| status_of_guest(ExitStatus::from_raw(code << 8));
        assert_eq!((status(1), status(3), status(5)), (Some(0), Some(1), Some(2)));
        assert_eq!(status(0), None, "QEMU was told to end");
        assert_eq!(status_of_guest(ExitStatus::from_raw(9)), None, "it was killed");
    }
}
