//! One processor: its state at the start, and running it.

use std::io;
use std::time::Instant;

use kvm_bindings::{KVM_MAX_CPUID_ENTRIES, kvm_regs, kvm_segment};
use kvm_ioctls::{Kvm, VcpuExit, VcpuFd, VmFd};
use vm_memory::{Address as _, GuestAddress};

use crate::bus::{After, Bus};
use crate::exits::{Exits, Reason};
use crate::image::START_INFORMATION;

/// Protection on, and the bit that is always set.
const CR0_AT_START: u64 = 0x11;
/// The bit of the flags that is always set.
const FLAGS_AT_START: u64 = 0x2;

/// Why a processor can't be made, or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum ProcessorError {
    /// KVM refuses a step.
    #[error("KVM refuses {what}: {because}")]
    Refused {
        /// Which step.
        what: &'static str,
        /// What the operating system says.
        because: kvm_ioctls::Error,
    },
    /// KVM can't go on with the guest.
    #[error("KVM can't go on with the guest at {address:#x}: {because}")]
    Stuck {
        /// The address of the instruction.
        address: u64,
        /// Why.
        because: String,
    },
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
}

/// A processor of a machine, to be run by one thread.
#[derive(Debug)]
pub struct Processor {
    file: VcpuFd,
}

fn refused(what: &'static str) -> impl Fn(kvm_ioctls::Error) -> ProcessorError {
    move |because| ProcessorError::Refused { what, because }
}

impl Processor {
    pub(crate) fn new(
        kvm: &Kvm,
        vm: &VmFd,
        index: u8,
        entry: GuestAddress,
    ) -> Result<Self, ProcessorError> {
        let file = vm.create_vcpu(u64::from(index)).map_err(refused("a processor"))?;
        let features = kvm
            .get_supported_cpuid(KVM_MAX_CPUID_ENTRIES)
            .map_err(refused("a list of features"))?;
        file.set_cpuid2(&features).map_err(refused("these features"))?;
        let processor = Self { file };
        processor.begin_at(entry)?;
        Ok(processor)
    }

    /// Protected mode with flat segments and without paging, as PVH says.
    fn begin_at(&self, entry: GuestAddress) -> Result<(), ProcessorError> {
        let mut special = self.file.get_sregs().map_err(refused("a look at its state"))?;
        let flat = kvm_segment {
            limit: u32::MAX,
            present: 1,
            s: 1,
            db: 1,
            g: 1,
            ..kvm_segment::default()
        };
        special.cs = kvm_segment { type_: 0xB, selector: 8, ..flat };
        let data = kvm_segment { type_: 3, selector: 16, ..flat };
        (special.ds, special.es, special.fs, special.gs, special.ss) =
            (data, data, data, data, data);
        special.tr = kvm_segment {
            limit: 0x67,
            type_: 0xB,
            present: 1,
            selector: 24,
            ..kvm_segment::default()
        };
        special.cr0 = CR0_AT_START;
        special.cr4 = 0;
        special.efer = 0;
        self.file.set_sregs(&special).map_err(refused("its state"))?;
        let registers = kvm_regs {
            rip: entry.raw_value(),
            rbx: START_INFORMATION.raw_value(),
            rflags: FLAGS_AT_START,
            ..kvm_regs::default()
        };
        self.file.set_regs(&registers).map_err(refused("its registers"))
    }

    /// How often the guest's time stamp counter counts in a second.
    ///
    /// # Errors
    /// [`ProcessorError`]: KVM does not say.
    pub fn counter_hz(&self) -> Result<u64, ProcessorError> {
        let khz = self.file.get_tsc_khz().map_err(refused("to tell the counter's frequency"))?;
        Ok(u64::from(khz) * 1000)
    }

    /// Runs the guest until it ends or a signal comes. Each exit is counted.
    ///
    /// # Errors
    /// [`ProcessorError`]: the guest can't go on.
    pub fn run(&mut self, bus: &impl Bus, exits: &Exits) -> Result<Stopped, ProcessorError> {
        loop {
            let ran = self.file.run();
            let left = Instant::now();
            let (reason, after) = match ran {
                Ok(VcpuExit::IoOut(port, data)) => (Reason::PortWrite, bus.write_port(port, data)),
                Ok(VcpuExit::IoIn(port, data)) => {
                    data.fill(0xFF);
                    bus.read_port(port, data);
                    (Reason::PortRead, After::GoOn)
                }
                Ok(VcpuExit::MmioWrite(address, data)) => {
                    (Reason::AddressWrite, bus.write_address(address, data))
                }
                Ok(VcpuExit::MmioRead(address, data)) => {
                    data.fill(0xFF);
                    bus.read_address(address, data);
                    (Reason::AddressRead, After::GoOn)
                }
                Ok(VcpuExit::Hlt) => (Reason::Halt, After::GoOn),
                Ok(VcpuExit::Shutdown) => {
                    exits.count(Reason::Shutdown, 0);
                    return Ok(Stopped::Shutdown);
                }
                Ok(exit) => {
                    let because = format!("{exit:?}");
                    exits.count(Reason::Other, 0);
                    return Err(self.stuck(because));
                }
                Err(error) if is_interruption(&error) => {
                    exits.count(Reason::Signal, 0);
                    return Ok(Stopped::Interrupted);
                }
                Err(error) => {
                    exits.count(Reason::Other, 0);
                    return Err(self.stuck(error.to_string()));
                }
            };
            exits.count(reason, left.elapsed().as_nanos() as u64);
            if let After::End(status) = after {
                return Ok(Stopped::Ended(status));
            }
        }
    }

    fn stuck(&self, because: String) -> ProcessorError {
        let address = self.file.get_regs().map_or(0, |registers| registers.rip);
        ProcessorError::Stuck { address, because }
    }
}

fn is_interruption(error: &kvm_ioctls::Error) -> bool {
    let kind = io::Error::from_raw_os_error(error.errno()).kind();
    matches!(kind, io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}
