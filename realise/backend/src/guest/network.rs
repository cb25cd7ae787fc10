//! The network of a guest, as all backends have it: the wire of its fieldbus, and the thread that
//! carries frames between that and the guest.
//!
//! That thread runs above the guest's tasks, which may wait for an answer without sleeping. It runs
//! on the guest's own CPU, so that the guest itself pays for what it asks for. The exception is a
//! guest of real-time priority with a virtual interface: such an interface hands frames to the soft
//! interrupts of the CPU that sends, and the kernel may leave those to `ksoftirqd` or to a thread
//! of the interface, which have ordinary priority. Below a guest that waits they get no time, and
//! its answer never comes. There the thread runs on the other CPUs of the process, if there are
//! any, and never for longer than it rests.
//!
//! Frames that are not EtherCAT do not leave: the interface may be part of a plant's network.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use quietcore_exchange::TaskState;
use quietcore_fieldbus::JobError;
use quietcore_microvm::net::{ADDRESS, Link, Readiness};
use quietcore_microvm::sandbox::{self, Calls, Violation};
use quietcore_probe::ethercat::process::Line;
use quietcore_process::exchange::Exchange;
use quietcore_process::remark::remark;
use quietcore_process::setting;
use quietcore_process::thread::{Prepared, prepare};
use quietcore_site::Fault;
use quietcore_units::{Causes, CpuId, CpuSet, Nanos, Scheduling, ThreadRequest};
use quietcore_wire::{ETHERCAT_TYPE, Wire, WireError};
use rustix::io::Errno;
use rustix::thread::CapabilitySet;

use crate::fieldbus::wire::AnyWire;
use crate::fieldbus::{FieldbusJob, InterfaceJob};
use crate::guest::in_words;

/// Returns the MAC address of the guest's interface as it is written.
pub(crate) fn address_in_words() -> String {
    ADDRESS.map(|byte| format!("{byte:02x}")).join(":")
}

/// Folder in which the kernel describes network interfaces.
const INTERFACES: &str = "/sys/class/net";

/// The needs of a thread that serves a guest's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServingNeeds {
    /// `true` if the kernel's soft interrupts carry its frames, rather than hardware.
    is_virtual: bool,
    /// `true` if it takes memory while it serves, as a simulated segment does.
    takes_memory: bool,
}

impl ServingNeeds {
    const SIMULATED: Self = Self { is_virtual: false, takes_memory: true };

    /// Returns the needs of the thread behind which this interface is.
    pub(crate) fn of(interface: &InterfaceJob) -> Self {
        match interface {
            InterfaceJob::Simulated { .. } => Self::SIMULATED,
            InterfaceJob::Card { .. } => Self { is_virtual: false, takes_memory: false },
            InterfaceJob::Network { name, .. } => Self::of_network(name),
        }
    }

    /// Returns the needs of the thread behind which the line of a probe is.
    pub(crate) fn of_line(line: &Line) -> Self {
        match line {
            Line::Simulated(_) => Self::SIMULATED,
            Line::Interface { name, .. } => Self::of_network(name),
        }
    }

    fn of_network(name: &str) -> Self {
        Self { is_virtual: is_virtual(Path::new(INTERFACES), name), takes_memory: false }
    }
}

/// Starts the thread that serves a guest's network. `cpu` is the guest's CPU, `policy` that of its
/// tasks. The thread has given up most system calls before it serves, and all rights but the one
/// to take memory, if it needs that.
///
/// # Errors
/// When the thread can't be started; in words.
pub(crate) fn start(
    needs: ServingNeeds,
    cpu: Option<u32>,
    policy: Scheduling,
    serve: impl FnOnce() + Send + 'static,
) -> Result<(), String> {
    let cpus = cpu.and_then(CpuId::new).map(|cpu| {
        let starves_others = needs.is_virtual && matches!(policy, Scheduling::Fifo { .. });
        place(cpu, starves_others, setting::allowed())
    });
    let serving = thread::Builder::new().name("network".to_owned()).spawn(move || {
        if let Some((_, error)) = settle(cpus, policy).refused().first() {
            // That costs time and nothing else.
            remark(format_args!("the thread of the guest's network competes with others: {error}"));
        }
        // The memory of the process is locked, and so is what it takes.
        let kept =
            if needs.takes_memory { CapabilitySet::IPC_LOCK } else { CapabilitySet::empty() };
        let sealed = sandbox::give_up_but(kept)
            .and_then(|()| sandbox::seal(&Calls::of_waiting_thread(), Violation::End));
        match sealed {
            Ok(()) => serve(),
            Err(error) => {
                let why = Causes(&error);
                remark(format_args!("the guest's network is not served: {why}"));
            }
        }
    });
    serving.map(drop).map_err(|error: io::Error| format!("no thread for the network: {error}"))
}

/// Returns `true` if an interface has no hardware behind it, or can't be looked at.
fn is_virtual(interfaces: &Path, name: &str) -> bool {
    !interfaces.join(name).join("device").exists()
}

/// Returns the CPUs of the thread that serves the guest on CPU `guest`. `starves_others` says that
/// the guest may starve what carries its frames; `allowed` are the CPUs of the process.
fn place(guest: CpuId, starves_others: bool, allowed: io::Result<CpuSet>) -> CpuSet {
    let own: CpuSet = [guest].into_iter().collect();
    let others = allowed.unwrap_or_default().without(&own);
    if starves_others && !others.is_empty() { others } else { own }
}

/// Puts the calling thread on these CPUs and above the guest's tasks: a guest that waits for an
/// answer without sleeping would not let it run beside them.
fn settle(cpus: Option<CpuSet>, policy: Scheduling) -> Prepared {
    // The kernel pins no thread of the deadline policy, and nothing is above that.
    let is_pinned = !matches!(policy, Scheduling::Deadline { .. });
    let cpus = cpus.filter(|_| is_pinned);
    let request = ThreadRequest { cpus, exact_timers: false, ..ThreadRequest::new(policy.above()) };
    prepare(&request)
}

/// Maps the exchange once more.
///
/// # Errors
/// When it can't be mapped; in words.
pub(crate) fn mapped(file: &File) -> Result<Exchange, String> {
    let file = file.try_clone().map_err(|error| format!("the exchange: {error}"))?;
    Exchange::open(file).map_err(in_words)
}

/// Encodes a fieldbus for the guest that drives it.
///
/// # Errors
/// [`JobError`] when it can't be encoded.
pub(crate) fn words(job: &FieldbusJob) -> Result<Vec<u8>, JobError> {
    job.bus.to_bytes()
}

/// The wire of a fieldbus, with the faults of a simulated segment.
pub(crate) struct FieldbusLink {
    wire: AnyWire,
    /// Faults that wait for the first cycle, from which their times count.
    faults: Vec<Fault>,
    exchange: Arc<Exchange>,
}

impl FieldbusLink {
    /// Opens the wire. `exchange` says when the leading task begins.
    ///
    /// # Errors
    /// When it can't be had; in words.
    pub(crate) fn open(job: &FieldbusJob, exchange: Arc<Exchange>) -> Result<Self, String> {
        let wire = AnyWire::open(job).map_err(in_words)?;
        let faults = match &job.interface {
            InterfaceJob::Simulated { faults, .. } => faults.clone(),
            InterfaceJob::Network { .. } | InterfaceJob::Card { .. } => Vec::new(),
        };
        Ok(Self { wire, faults, exchange })
    }

    /// Adds the waiting faults once the leading task runs.
    #[cold]
    fn look_for_start(&mut self) {
        let leading = self.exchange.region().task(0);
        if leading.is_some_and(|task| task.state() == TaskState::Running) {
            let faults = std::mem::take(&mut self.faults);
            let now = self.wire.now();
            self.wire.add_faults(&faults, now);
        }
    }
}

/// Returns `true` if a frame is EtherCAT: its type follows both addresses (IEEE 802.3, 3.2.6).
fn is_ethercat(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&ETHERCAT_TYPE.to_be_bytes())
}

impl Wire for FieldbusLink {
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        if !is_ethercat(frame) {
            return Err(WireError::Refused(Errno::PROTONOSUPPORT.raw_os_error()));
        }
        if !self.faults.is_empty() {
            self.look_for_start();
        }
        self.wire.send(frame)
    }

    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        self.wire.receive(buffer, until)
    }

    fn now(&self) -> Nanos {
        self.wire.now()
    }
}

impl Link for FieldbusLink {
    fn readiness(&self) -> Readiness<'_> {
        match &self.wire {
            AnyWire::Simulated(wire) => wire.readiness(),
            AnyWire::Packet(wire) => wire.readiness(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_other_protocols_do_not_leave_the_guest() {
        let mut frame = [0; 60];
        frame[12..14].copy_from_slice(&[0x88, 0xA4]);
        assert!(is_ethercat(&frame));
        // IP, ARP, a VLAN tag before EtherCAT, the bytes the other way round.
        for other in [[0x08, 0x00], [0x08, 0x06], [0x81, 0x00], [0xA4, 0x88]] {
            frame[12..14].copy_from_slice(&other);
            assert!(!is_ethercat(&frame), "{other:x?}");
        }
        assert!(!is_ethercat(&[0x88; 13]));
    }

    #[test]
    fn the_thread_runs_on_the_cpus_it_was_given() {
        let settled = thread::spawn(|| {
            let cpu = setting::allowed().unwrap().iter().last().unwrap();
            let cpus: CpuSet = [cpu].into_iter().collect();
            assert_eq!(settle(Some(cpus), Scheduling::Other).refused().len(), 0);
            (setting::allowed().unwrap(), cpus)
        });
        let (allowed, cpus) = settled.join().unwrap();
        assert_eq!(allowed, cpus);
    }

    /// Goal: the soft interrupts that carry a virtual interface's frames are not those of a CPU
    /// that a waiting guest keeps to itself.
    #[test]
    fn frames_of_a_virtual_interface_are_sent_from_another_cpu_than_the_guests() {
        let set = |cpus: &[u32]| cpus.iter().filter_map(|cpu| CpuId::new(*cpu)).collect::<CpuSet>();
        let guest = CpuId::new(1).unwrap();
        assert_eq!(place(guest, true, Ok(set(&[0, 1, 2]))), set(&[0, 2]));
        assert_eq!(place(guest, false, Ok(set(&[0, 1, 2]))), set(&[1]));
        assert_eq!(place(guest, true, Ok(set(&[1]))), set(&[1]), "there is no other");
        let unknown = Err(io::ErrorKind::PermissionDenied.into());
        assert_eq!(place(guest, true, unknown), set(&[1]));
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("eth0/device")).unwrap();
        std::fs::create_dir_all(folder.path().join("left")).unwrap();
        assert!(!is_virtual(folder.path(), "eth0"));
        assert!(is_virtual(folder.path(), "left"));
    }
}
