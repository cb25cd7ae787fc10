//! The machine: KVM, the memory slots, the interrupt lines, the doorbells.
//!
//! The order is that of the functions: the machine with its memory and what never leaves the guest,
//! then what it shares with others, then its processors. Memory given later is there at once too.
// UNSAFETY: tells KVM which memory of this process is the guest's.
#![expect(unsafe_code, reason = "KVM is given addresses of this process")]

pub mod lines;
pub mod options;
pub(crate) mod request;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kvm_bindings::{KVM_API_VERSION, KVM_MEM_READONLY, kvm_userspace_memory_region};
use kvm_ioctls::{Cap, IoEventAddress, Kvm, NoDatamatch, VmFd};
use vm_memory::{GuestAddress, GuestMemoryBackend as _, GuestMemoryRegion as _};
use vmm_sys_util::eventfd::{EFD_CLOEXEC, EFD_NONBLOCK, EventFd};

use crate::linux::Linux;
use crate::machine::lines::{Interrupt, Lines};
use crate::machine::options::{Granted, Options};
use crate::memory::Memory;
use crate::memory::read_only::ReadOnly;
use crate::memory::row::Row;
use crate::processor::begin::Begin;
use crate::processor::{Processor, ProcessorError};
use crate::slot::{Access, Shared, Slot, SlotError, Slots};

/// Address of the three pages that KVM keeps for Intel's processors, above all memory.
const TASK_STATE: usize = 0xFFFB_D000;

/// Why there is no machine, or it lacks something.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// KVM can't be used.
    #[error("/dev/kvm can't be used: {0}; is the module loaded, and may this user open it?")]
    Kvm(kvm_ioctls::Error),
    /// It is another KVM than the one that this was made for.
    #[error("KVM has version {0} of its interface; {KVM_API_VERSION} is needed")]
    Version(i32),
    /// KVM lacks a capability that guests need.
    #[error("KVM lacks {0}")]
    Lacks(&'static str),
    /// A step failed in the kernel.
    #[error("KVM refuses {what}: {because}")]
    Refused {
        /// The step that failed.
        what: &'static str,
        /// The error of the operating system.
        because: kvm_ioctls::Error,
    },
    /// An address can't be memory.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// There is no event file.
    #[error("no file for events can be had: {0}")]
    Event(io::Error),
}

/// A machine with its memory.
#[derive(Debug)]
pub struct Machine {
    parts: Arc<Parts>,
}

/// The parts of a machine. Its processors keep them too, so that memory stays mapped as long as one
/// of them may run.
#[derive(Debug)]
pub(crate) struct Parts {
    // Before the memory: it is unmapped last.
    pub(crate) vm: VmFd,
    pub(crate) kvm: Kvm,
    pub(crate) read_only: ReadOnly,
    pub(crate) options: Options,
    granted: Granted,
    lines: Lines,
    memory: Arc<Memory>,
    given: Mutex<Given>,
}

/// The slots, and the shared memory in them.
#[derive(Debug, Default)]
struct Given {
    slots: Slots,
    shared: Vec<Arc<Shared>>,
    rows: Vec<Arc<Row>>,
}

impl Machine {
    /// Makes a machine with this memory and no processor, for a guest that sleeps.
    ///
    /// # Errors
    /// [`MachineError`].
    pub fn new(memory: Memory) -> Result<Self, MachineError> {
        Self::with(memory, &Options::default())
    }

    /// Makes a machine with this memory and no processor.
    ///
    /// # Errors
    /// [`MachineError`].
    pub fn with(memory: impl Into<Arc<Memory>>, options: &Options) -> Result<Self, MachineError> {
        let kvm = Kvm::new().map_err(MachineError::Kvm)?;
        if kvm.get_api_version() != KVM_API_VERSION as i32 {
            return Err(MachineError::Version(kvm.get_api_version()));
        }
        for (capability, name) in [
            (Cap::UserMemory, "memory slots"),
            (Cap::ReadonlyMem, "memory slots that a guest can't write"),
            (Cap::ImmediateExit, "a way to have a processor leave its guest at once"),
            (Cap::Irqchip, "an interrupt controller"),
            (Cap::SplitIrqchip, "an interrupt controller without those of a PC"),
            (Cap::Irqfd, "interrupts by event files"),
            (Cap::Ioeventfd, "doorbells by event files"),
            (Cap::SignalMsi, "interrupts by messages"),
        ] {
            if !kvm.check_extension(capability) {
                return Err(MachineError::Lacks(name));
            }
        }
        let vm = kvm.create_vm().map_err(refused("a machine"))?;
        vm.set_tss_address(TASK_STATE).map_err(refused("a place for a task state"))?;
        let granted = options.ask(&vm)?;
        let (read_only, given) = (ReadOnly::default(), Mutex::default());
        let (options, lines, memory) = (*options, Lines::of(options), memory.into());
        let parts = Parts { vm, kvm, read_only, options, granted, lines, memory, given };
        parts.give_own_memory()?;
        Ok(Self { parts: Arc::new(parts) })
    }

    /// Gives the guest shared memory, all of it, from the address `place` on. `name` is what the
    /// place is called in errors. The machine keeps the memory as long as it lives.
    ///
    /// # Errors
    /// [`MachineError`]; then nothing has changed.
    pub fn give(
        &self,
        name: &'static str,
        place: u64,
        shared: Arc<Shared>,
        access: Access,
    ) -> Result<(), MachineError> {
        self.parts.give(name, place, shared, access)
    }

    /// Gives the guest all that is or will be in a row of memory. The machine keeps the row as long
    /// as it lives.
    ///
    /// # Errors
    /// [`MachineError`]; then nothing has changed.
    pub fn give_row(
        &self,
        name: &'static str,
        row: &Arc<Row>,
        access: Access,
    ) -> Result<(), MachineError> {
        self.parts.give_row(name, row, access)
    }

    /// An event file that is written when the guest writes to this address of a device, without an
    /// exit to this process; with `value` only when it writes this one, of 32 bits.
    ///
    /// # Errors
    /// [`MachineError`].
    pub fn doorbell(&self, address: u64, value: Option<u32>) -> Result<EventFd, MachineError> {
        let event = event()?;
        let address = IoEventAddress::Mmio(address);
        match value {
            Some(value) => self.parts.vm.register_ioevent(&event, &address, value),
            None => self.parts.vm.register_ioevent(&event, &address, NoDatamatch),
        }
        .map_err(refused("a doorbell"))?;
        Ok(event)
    }

    /// An event file whose writing raises an interrupt at this pin of the guest's interrupt
    /// controller, without this process. Only a [PC](Options::is_pc) has pins.
    ///
    /// # Errors
    /// [`MachineError`].
    pub fn interrupt_pin(&self, pin: u32) -> Result<EventFd, MachineError> {
        let event = event()?;
        self.parts
            .vm
            .register_irqfd(&event, pin)
            .map_err(refused("an interrupt by an event file"))?;
        Ok(event)
    }

    /// An event file whose writing raises an interrupt with this vector at the guest's first
    /// processor, without this process, and without anything that the guest has to set up.
    ///
    /// # Errors
    /// [`MachineError`].
    pub fn line(&self, vector: u8) -> Result<EventFd, MachineError> {
        let event = event()?;
        self.parts.lines.add(&self.parts.vm, &event, vector)?;
        Ok(event)
    }

    /// As [`line`](Self::line), written by the guest itself: a write to this address of a device
    /// raises the interrupt.
    ///
    /// # Errors
    /// [`MachineError`].
    pub fn line_of_doorbell(&self, vector: u8, address: u64) -> Result<(), MachineError> {
        let event = self.line(vector)?;
        self.parts
            .vm
            .register_ioevent(&event, &IoEventAddress::Mmio(address), NoDatamatch)
            .map_err(refused("a doorbell"))?;
        self.parts.lines.keep(event);
        Ok(())
    }

    /// An interrupt with this vector at the guest's first processor, which this process raises by a
    /// request to KVM, without anything that the guest has to set up. Unlike a
    /// [`line`](Self::line), KVM has nothing to do for it beforehand.
    pub fn interrupt(&self, vector: u8) -> Interrupt {
        Interrupt::of(Arc::clone(&self.parts), vector)
    }

    /// Returns the guest's own memory.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.parts.memory
    }

    /// Returns the guest's memory with its addresses; its own first.
    pub fn slots(&self) -> Vec<Slot> {
        self.parts.given().slots.all().to_vec()
    }

    /// Returns the part of the options that KVM does.
    pub fn granted(&self) -> &Granted {
        &self.parts.granted
    }

    /// A processor that begins at `entry`, as PVH says. The first one has index 0.
    ///
    /// # Errors
    /// [`ProcessorError`].
    pub fn processor(&self, index: u8, entry: GuestAddress) -> Result<Processor, ProcessorError> {
        Processor::new(self.parts.clone(), index, Begin::Pvh(entry))
    }

    /// The first processor, which begins with this kernel.
    ///
    /// # Errors
    /// [`ProcessorError`].
    pub fn linux_processor(&self, linux: Linux) -> Result<Processor, ProcessorError> {
        Processor::new(self.parts.clone(), 0, Begin::Linux(linux))
    }
}

impl Parts {
    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_own_memory(&self) -> Result<(), MachineError> {
        if let Some(row) = self.memory.row() {
            return self.give_row("guest memory", row, Access::ReadWrite);
        }
        let mapping = self.memory.mapping();
        for region in mapping.iter() {
            let (place, bytes) = (region.start_addr(), region.len());
            let host = mapping.get_host_address(place).expect("a region's own start");
            let (mut given, addresses) = (self.given(), (place.0, bytes));
            // SAFETY: the mapping lives as long as the machine and its processors, which let go of
            // it after KVM has, and others reach it through copies and atomics.
            unsafe { self.map(&mut given, "guest memory", addresses, host, Access::ReadWrite) }?;
        }
        Ok(())
    }

    fn give(
        &self,
        name: &'static str,
        place: u64,
        shared: Arc<Shared>,
        access: Access,
    ) -> Result<(), MachineError> {
        let bytes = shared.bytes();
        let mut given = self.given();
        // SAFETY: the mapping is kept until KVM has let go of it, and nobody has a reference to its
        // bytes: `Shared` gives out copies and atomics.
        unsafe { self.map(&mut given, name, (place, bytes), shared.base(), access) }?;
        given.shared.push(shared);
        Ok(())
    }

    fn give_row(
        &self,
        name: &'static str,
        row: &Arc<Row>,
        access: Access,
    ) -> Result<(), MachineError> {
        let addresses = (row.place(), row.bytes());
        let mut given = self.given();
        // SAFETY: the row is kept until KVM has let go of it, and keeps what is mapped in it; all
        // reach that as `Shared`, as above.
        unsafe { self.map(&mut given, name, addresses, row.base(), access) }?;
        given.rows.push(Arc::clone(row));
        Ok(())
    }

    /// Takes a slot for addresses of the guest, and gives KVM the memory behind them.
    ///
    /// # Safety
    /// As of [`map`].
    unsafe fn map(
        &self,
        given: &mut Given,
        name: &'static str,
        (place, bytes): (u64, u64),
        memory: *mut u8,
        access: Access,
    ) -> Result<(), MachineError> {
        let number = given.slots.take(name, place, bytes, access)?;
        // SAFETY: as our caller promises.
        let mapped = unsafe { map(&self.vm, number, place, memory, bytes, access) };
        match (&mapped, access) {
            (Err(_), _) => given.slots.undo(),
            (Ok(()), Access::ReadOnly) => self.read_only.add(place, place + bytes),
            (Ok(()), Access::ReadWrite) => {}
        }
        mapped
    }
}

fn refused(what: &'static str) -> impl Fn(kvm_ioctls::Error) -> MachineError {
    move |because| MachineError::Refused { what, because }
}

fn event() -> Result<EventFd, MachineError> {
    EventFd::new(EFD_CLOEXEC | EFD_NONBLOCK).map_err(MachineError::Event)
}

/// Gives KVM memory of this process for a slot.
///
/// # Safety
/// The memory stays mapped as long as the machine lives, and all others access it as memory that
/// changes at any time.
unsafe fn map(
    vm: &VmFd,
    slot: u32,
    place: u64,
    memory: *mut u8,
    bytes: u64,
    access: Access,
) -> Result<(), MachineError> {
    let region = kvm_userspace_memory_region {
        slot,
        flags: if access == Access::ReadOnly { KVM_MEM_READONLY } else { 0 },
        guest_phys_addr: place,
        memory_size: bytes,
        userspace_addr: memory.addr() as u64,
    };
    // SAFETY: as our caller promises.
    unsafe { vm.set_user_memory_region(region) }.map_err(refused("a memory slot"))
}
