//! One processor: its state at the start, and running it.

pub(crate) mod begin;
pub mod counter;
pub mod runner;
mod state;

use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use kvm_bindings::{CpuId, KVM_MAX_CPUID_ENTRIES};
use kvm_ioctls::{Cap, Kvm, VcpuExit, VcpuFd};
use quietcore_boot::CrashRecord;

use crate::bus::{After, Bus};
use crate::exits::statistics::Statistics;
use crate::exits::{Exits, Reason};
use crate::machine::Parts;
use crate::processor::begin::Begin;
use crate::processor::counter::Counter;
use crate::processor::state::{ProcessorState, SharedState};

/// The leaf of CPUID with the features, among them (in ECX) the timer that goes by the counter,
/// and that there is somebody beneath.
const FEATURES_LEAF: u32 = 1;
const HAS_DEADLINE_TIMER: u32 = 1 << 24;
const IS_GUEST: u32 = 1 << 31;
/// The leaf of CPUID with the place of the processor among others.
const TOPOLOGY_LEAF: u32 = 0xB;

/// Why a processor can't be made, or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum ProcessorError {
    /// KVM refuses a step.
    #[error("KVM refuses {what}: {because}")]
    Refused {
        /// The step that failed.
        what: &'static str,
        /// The error of the operating system.
        because: kvm_ioctls::Error,
    },
    /// KVM can't go on with the guest.
    #[error("KVM can't go on with the guest at {address:#x}: {because}")]
    Stuck {
        /// The address of the instruction.
        address: u64,
        /// The reason, such as an instruction that KVM can't emulate.
        because: StuckBecause,
    },
}

/// The reason for which KVM can't go on with a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StuckBecause {
    /// KVM could not carry out an instruction, as one that does not run guests but interprets them
    /// (`KVM_EXIT_INTERNAL_ERROR`).
    #[error("KVM could not carry out an instruction (internal error)")]
    InternalError,
    /// The processor does not enter the guest, for this reason (Intel SDM volume 3, appendix C).
    #[error("the processor does not enter it (reason {0:#x})")]
    NotEntered(u64),
    /// The guest was left for a reason that has no answer here (`KVM_EXIT_…` in Linux,
    /// `include/uapi/linux/kvm.h`).
    #[error("it was left for a reason that has no answer here (KVM exit {0})")]
    Unanswered(u32),
    /// It used an address where there is no memory and no device.
    #[error("it used an address between its memory, where there is nothing")]
    NoMemory,
    /// The operating system refused to run it.
    #[error("{0}")]
    System(kvm_ioctls::Error),
}

/// Why a processor stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The guest ended with this status.
    Ended(u32),
    /// A triple fault, or a reset.
    Shutdown,
    /// A signal interrupted it; it can go on.
    Interrupted,
    /// The guest wrote to memory that it may only read.
    WroteReadOnly {
        /// The address of that memory.
        address: u64,
        /// The address of the instruction, or of the one behind it.
        instruction: u64,
    },
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(status) => write!(f, "it ended with status {status}"),
            Self::Shutdown => f.write_str("it reset itself"),
            Self::Interrupted => f.write_str("a signal interrupted it"),
            Self::WroteReadOnly { address, instruction } => {
                write!(f, "it wrote to {address:#x}, which it may only read, at {instruction:#x}")
            }
        }
    }
}

/// A processor of a machine, to be run by one thread.
#[derive(Debug)]
pub struct Processor {
    file: VcpuFd,
    counter: Counter,
    /// After the file: it goes last.
    parts: Arc<Parts>,
}

impl AsRawFd for Processor {
    /// KVM's file of it, for a filter that lets its thread run it.
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// The state that a processor is reset to.
#[derive(Debug)]
pub struct Checkpoint {
    own: ProcessorState,
    shared: SharedState,
}

/// An exit that was answered.
struct Left {
    reason: Reason,
    /// The port or the address.
    detail: u64,
    /// The guest's counter when it was seen.
    begin: u64,
    /// The end of the guest; `None` if it goes on.
    stopped: Option<Stopped>,
}

fn refused(what: &'static str) -> impl Fn(kvm_ioctls::Error) -> ProcessorError {
    move |because| ProcessorError::Refused { what, because }
}

impl Processor {
    pub(crate) fn new(parts: Arc<Parts>, index: u8, begin: Begin) -> Result<Self, ProcessorError> {
        let file = parts.vm.create_vcpu(u64::from(index)).map_err(refused("a processor"))?;
        let features = features(&parts.kvm, index).map_err(refused("a list of features"))?;
        file.set_cpuid2(&features).map_err(refused("these features"))?;
        let khz = file.get_tsc_khz().map_err(refused("to tell the counter's frequency"))?;
        let counter =
            Counter::align(&file, u64::from(khz) * 1000).map_err(refused("to tell the counter"))?;
        let processor = Self { file, counter, parts };
        begin.put(&processor.file).map_err(refused("the state in which it begins"))?;
        Ok(processor)
    }

    /// The guest's time stamp counter.
    pub fn counter(&self) -> Counter {
        self.counter
    }

    /// Opens KVM's counts for this processor, as a file that any thread may read.
    ///
    /// # Errors
    /// Kernels before 5.14 have none.
    pub fn statistics(&self) -> io::Result<Statistics> {
        Statistics::of(&self.file)
    }

    /// Copies its state and that of the machine's interrupt controllers: to be taken before the
    /// guest runs, and given to [`reset`](Self::reset).
    ///
    /// # Errors
    /// [`ProcessorError`].
    pub fn checkpoint(&self) -> Result<Checkpoint, ProcessorError> {
        let told = |(what, because)| ProcessorError::Refused { what, because };
        Ok(Checkpoint {
            own: ProcessorState::of(&self.parts.kvm, &self.file).map_err(told)?,
            shared: SharedState::of(&self.parts.vm, self.parts.options.is_pc).map_err(told)?,
        })
    }

    /// Makes it what it was, but for the counter, which goes on. The memory is the caller's to make
    /// anew.
    ///
    /// # Errors
    /// [`ProcessorError`]; then it is to be thrown away.
    pub fn reset(&mut self, to: &Checkpoint) -> Result<(), ProcessorError> {
        let told = |(what, because)| ProcessorError::Refused { what, because };
        to.shared.put_back(&self.parts.vm).map_err(told)?;
        to.own.put_back(&self.file).map_err(told)
    }

    /// Returns its state as a crash is recorded: with this exception, about this address. After a
    /// shutdown on AMD's processors the registers are those of a reset; others keep them.
    pub fn crash_record(&self, vector: u64, address: u64) -> CrashRecord {
        let is = self.file.get_regs().unwrap_or_default();
        CrashRecord {
            vector,
            error_code: 0,
            instruction: is.rip,
            stack: is.rsp,
            flags: is.rflags,
            address,
            registers: [
                is.r15, is.r14, is.r13, is.r12, is.r11, is.r10, is.r9, is.r8, is.rbp, is.rdi,
                is.rsi, is.rdx, is.rcx, is.rbx, is.rax,
            ],
        }
    }

    /// KVM's file of its machine.
    pub(crate) fn machine_file(&self) -> RawFd {
        self.parts.vm.as_raw_fd()
    }

    /// Says whether it shall leave its guest as soon as it has entered it.
    pub(crate) fn leave_at_once(&mut self, does: bool) {
        self.file.set_kvm_immediate_exit(u8::from(does));
    }

    /// The word that says so, in the page that KVM shares with this process; mapped as long as the
    /// processor is.
    pub(crate) fn at_once_word(&mut self) -> *mut u8 {
        &raw mut self.file.get_kvm_run().immediate_exit
    }

    /// Runs the guest until it ends or a signal comes. Each exit is counted.
    ///
    /// # Errors
    /// [`ProcessorError`]: the guest can't go on.
    pub fn run(&mut self, bus: &impl Bus, exits: &Exits) -> Result<Stopped, ProcessorError> {
        exits.date(self.counter.hertz(), self.counter.ahead());
        loop {
            let left = match self.leave(bus) {
                Ok(left) => left,
                Err(error) => {
                    exits.count(Reason::Other, 0, self.counter.read(), 0);
                    return Err(error);
                }
            };
            let Left { reason, detail, begin, stopped } = left;
            let counts = self.counter.read().wrapping_sub(begin);
            exits.count(reason, detail, begin, self.counter.nanoseconds(counts));
            if let Some(stopped) = stopped {
                return Ok(stopped);
            }
        }
    }

    /// Runs the guest until it leaves once, and answers it.
    fn leave(&mut self, bus: &impl Bus) -> Result<Left, ProcessorError> {
        let ran = self.file.run();
        let begin = self.counter.read();
        let (reason, detail, after) = match ran {
            Ok(VcpuExit::IoOut(port, data)) => {
                (Reason::PortWrite, u64::from(port), bus.write_port(port, data))
            }
            Ok(VcpuExit::IoIn(port, data)) => {
                data.fill(0xFF);
                bus.read_port(port, data);
                (Reason::PortRead, u64::from(port), After::GoOn)
            }
            Ok(VcpuExit::MmioWrite(address, _)) if self.parts.read_only.contains(address) => {
                let stopped = Stopped::WroteReadOnly { address, instruction: self.instruction() };
                let (reason, stopped) = (Reason::AddressWrite, Some(stopped));
                return Ok(Left { reason, detail: address, begin, stopped });
            }
            Ok(VcpuExit::MmioWrite(address, data)) => {
                (Reason::AddressWrite, address, bus.write_address(address, data))
            }
            Ok(VcpuExit::MmioRead(address, data)) => {
                data.fill(0xFF);
                bus.read_address(address, data);
                (Reason::AddressRead, address, After::GoOn)
            }
            Ok(VcpuExit::Hlt) => (Reason::Halt, 0, After::GoOn),
            Ok(VcpuExit::Shutdown) => {
                let (reason, stopped) = (Reason::Shutdown, Some(Stopped::Shutdown));
                return Ok(Left { reason, detail: 0, begin, stopped });
            }
            Ok(VcpuExit::InternalError) => return Err(self.stuck(StuckBecause::InternalError)),
            Ok(VcpuExit::FailEntry(reason, _)) => {
                return Err(self.stuck(StuckBecause::NotEntered(reason)));
            }
            Ok(_) => {
                let exit = self.file.get_kvm_run().exit_reason;
                return Err(self.stuck(StuckBecause::Unanswered(exit)));
            }
            Err(error) if is_interruption(&error) => {
                let (reason, stopped) = (Reason::Signal, Some(Stopped::Interrupted));
                return Ok(Left { reason, detail: 0, begin, stopped });
            }
            Err(error) if error.errno() == libc::EFAULT => {
                return Err(self.stuck(StuckBecause::NoMemory));
            }
            Err(error) => return Err(self.stuck(StuckBecause::System(error))),
        };
        let stopped = match after {
            After::GoOn => None,
            After::End(status) => Some(Stopped::Ended(status)),
        };
        Ok(Left { reason, detail, begin, stopped })
    }

    fn stuck(&self, because: StuckBecause) -> ProcessorError {
        ProcessorError::Stuck { address: self.instruction(), because }
    }

    /// The address of the next instruction; 0 where KVM does not say.
    fn instruction(&self) -> u64 {
        self.file.get_regs().map_or(0, |registers| registers.rip)
    }
}

/// Returns the features of the processor: all that KVM can do for it.
fn features(kvm: &Kvm, index: u8) -> Result<CpuId, kvm_ioctls::Error> {
    let mut features = kvm.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES)?;
    for leaf in features.as_mut_slice() {
        match leaf.function {
            FEATURES_LEAF => {
                leaf.ebx = leaf.ebx & 0x00FF_FFFF | u32::from(index) << 24;
                // Without it, Linux does not look for KVM's clock.
                leaf.ecx |= IS_GUEST;
                // KVM leaves it to us to say so, because it depends on who has the controller.
                if kvm.check_extension(Cap::TscDeadlineTimer) {
                    leaf.ecx |= HAS_DEADLINE_TIMER;
                }
            }
            TOPOLOGY_LEAF => leaf.edx = u32::from(index),
            _ => {}
        }
    }
    Ok(features)
}

fn is_interruption(error: &kvm_ioctls::Error) -> bool {
    let kind = io::Error::from_raw_os_error(error.errno()).kind();
    matches!(kind, io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the words by which the lab knows an emulator that mixes up host and guest.
    #[test]
    fn a_guest_that_can_not_go_on_is_told_with_its_address() {
        let because = StuckBecause::Unanswered(9);
        let stuck = ProcessorError::Stuck { address: 0xFFFF_FFFF_8000_0000, because };
        assert_eq!(
            stuck.to_string(),
            "KVM can't go on with the guest at 0xffffffff80000000: it was left for a reason that \
             has no answer here (KVM exit 9)"
        );
    }
}
