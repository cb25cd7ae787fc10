//! The machine: KVM, the memory slots, the interrupt lines.
// UNSAFETY: tells KVM which memory of this process is the guest's.
#![expect(unsafe_code, reason = "KVM is given addresses of this process")]

use std::os::fd::AsRawFd as _;

use kvm_bindings::{KVM_API_VERSION, KVM_MEM_READONLY, kvm_userspace_memory_region};
use kvm_ioctls::{Cap, Kvm, VmFd};
use vm_memory::{GuestAddress, GuestMemoryBackend as _, GuestMemoryRegion as _};

use crate::memory::Memory;
use crate::processor::{Processor, ProcessorError};

/// Why there is no machine.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// KVM can't be used.
    #[error("/dev/kvm can't be used: {0}; is the module loaded, and may this user open it?")]
    Kvm(kvm_ioctls::Error),
    /// It is another KVM than the one that this was made for.
    #[error("KVM has version {0} of its interface; {KVM_API_VERSION} is needed")]
    Version(i32),
    /// KVM lacks something.
    #[error("KVM lacks {0}")]
    Lacks(&'static str),
    /// A step failed.
    #[error("KVM refuses {what}: {because}")]
    Refused {
        /// Which step.
        what: &'static str,
        /// What the operating system says.
        because: kvm_ioctls::Error,
    },
}

/// A machine with its memory.
#[derive(Debug)]
pub struct Machine {
    // Before the memory: it is unmapped last.
    vm: VmFd,
    kvm: Kvm,
    memory: Memory,
}

impl Machine {
    /// Makes a machine with this memory and no processor.
    ///
    /// # Errors
    /// [`MachineError`].
    pub fn new(memory: Memory) -> Result<Self, MachineError> {
        let kvm = Kvm::new().map_err(MachineError::Kvm)?;
        if kvm.get_api_version() != KVM_API_VERSION as i32 {
            return Err(MachineError::Version(kvm.get_api_version()));
        }
        for (capability, name) in [
            (Cap::UserMemory, "memory slots"),
            (Cap::Irqchip, "an interrupt controller"),
            (Cap::Irqfd, "interrupts by event files"),
            (Cap::Ioeventfd, "doorbells by event files"),
        ] {
            if !kvm.check_extension(capability) {
                return Err(MachineError::Lacks(name));
            }
        }
        let refused = |what| move |because| MachineError::Refused { what, because };
        let vm = kvm.create_vm().map_err(refused("a machine"))?;
        vm.set_tss_address(0xFFFB_D000).map_err(refused("a place for a task state"))?;
        vm.create_irq_chip().map_err(refused("an interrupt controller"))?;
        let machine = Self { vm, kvm, memory };
        for (slot, region) in (0..).zip(machine.memory.mapping().iter()) {
            let place = region.start_addr();
            let host =
                machine.memory.mapping().get_host_address(place).expect("a region's own start");
            // SAFETY: the mapping lives as long as the machine, which unmaps it after KVM has let
            // go of it.
            unsafe { machine.map(slot, place, host, region.len(), false) }?;
        }
        Ok(machine)
    }

    /// Gives the guest memory of this process at an address.
    ///
    /// # Safety
    /// The memory stays mapped as long as the machine lives, and all others access it as memory
    /// that changes at any time.
    ///
    /// # Errors
    /// [`MachineError::Refused`].
    pub unsafe fn map(
        &self,
        slot: u32,
        place: GuestAddress,
        memory: *mut u8,
        bytes: u64,
        is_read_only: bool,
    ) -> Result<(), MachineError> {
        let region = kvm_userspace_memory_region {
            slot,
            flags: if is_read_only { KVM_MEM_READONLY } else { 0 },
            guest_phys_addr: place.0,
            memory_size: bytes,
            userspace_addr: memory.addr() as u64,
        };
        // SAFETY: as our caller promises.
        unsafe { self.vm.set_user_memory_region(region) }
            .map_err(|because| MachineError::Refused { what: "a memory slot", because })
    }

    /// The memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A processor that begins at `entry`, as PVH says. The first one has index 0.
    ///
    /// # Errors
    /// [`ProcessorError`].
    pub fn processor(&self, index: u8, entry: GuestAddress) -> Result<Processor, ProcessorError> {
        Processor::new(&self.kvm, &self.vm, index, entry)
    }

    /// The number of the file that is the machine.
    pub fn descriptor(&self) -> i32 {
        self.vm.as_raw_fd()
    }
}
