//! Interrupt lines: an event file of this process that KVM makes an interrupt of, by itself.
//!
//! A line has a number behind those of the controllers of a PC, where the machine is one; their
//! routes stay as they were. It goes to the guest's first processor as a message with a vector. So
//! nothing has to be set up in the guest, and no end of the interrupt is told to anybody but its
//! local controller. KVM waits until no processor of the host uses the table of routes before.
//!
//! An [`Interrupt`] goes the same way without a line: whoever raises it makes a request to KVM.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

use kvm_bindings::{
    KVM_IRQ_ROUTING_IRQCHIP, KVM_IRQ_ROUTING_MSI, KVM_IRQCHIP_IOAPIC, KvmIrqRouting,
    kvm_irq_routing_entry, kvm_msi,
};
use kvm_ioctls::VmFd;
use vmm_sys_util::eventfd::EventFd;

use crate::machine::options::Options;
use crate::machine::{MachineError, Parts};

/// KVM's numbers of the two controllers of old PCs (Linux, `asm/kvm.h`).
const OLD_CONTROLLERS: [u32; 2] = [0, 1];
/// Pins of the two controllers of old PCs, and how many of them are a controller's.
const OLD_PINS: u32 = 16;
const PINS_OF_ONE: u32 = 8;
/// Pins of the controller behind them.
const PINS: u32 = 24;
/// Address to which messages to the first processor are written.
const MESSAGE_ADDRESS: u32 = 0xFEE0_0000;
/// The most lines of a machine.
const LINES_MAX: usize = 32;

/// The lines of a machine.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Behind the controllers of a PC.
    is_pc: bool,
    /// The vectors, in the order of their lines.
    vectors: Mutex<Vec<u8>>,
    /// Files that nobody else holds: a line whose file is closed is none any more.
    kept: Mutex<Vec<EventFd>>,
}

impl Lines {
    /// None yet, of a machine that was made so.
    pub(crate) fn of(options: &Options) -> Self {
        Self { is_pc: options.is_pc, vectors: Mutex::default(), kept: Mutex::default() }
    }

    /// Has what is written to `file` raise `vector`.
    pub(crate) fn add(&self, vm: &VmFd, file: &EventFd, vector: u8) -> Result<(), MachineError> {
        let refused = |what| move |because| MachineError::Refused { what, because };
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        if vectors.len() == LINES_MAX {
            return Err(MachineError::Lacks("more interrupt lines"));
        }
        vectors.push(vector);
        let line = first_line(self.is_pc) + vectors.len() as u32 - 1;
        let made = routing(self.is_pc, &vectors)
            .and_then(|table| vm.set_gsi_routing(&table).map_err(refused("an interrupt's route")))
            .and_then(|()| vm.register_irqfd(file, line).map_err(refused("an interrupt line")));
        if made.is_err() {
            vectors.pop();
        }
        made
    }

    /// Keeps the file of a line as long as the machine lives.
    pub(crate) fn keep(&self, file: EventFd) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }
}

/// An interrupt with some vector at the guest's first processor, raised by a request to KVM.
#[derive(Debug)]
pub struct Interrupt {
    parts: Arc<Parts>,
    vector: u8,
}

impl Interrupt {
    pub(crate) fn of(parts: Arc<Parts>, vector: u8) -> Self {
        Self { parts, vector }
    }

    /// Raises it. It is raised once however often that is asked for before the guest takes it.
    ///
    /// # Errors
    /// KVM's: its controller takes none.
    pub fn raise(&self) -> io::Result<()> {
        let message = kvm_msi {
            address_lo: MESSAGE_ADDRESS,
            data: u32::from(self.vector),
            ..kvm_msi::default()
        };
        self.parts.vm.signal_msi(message).map(drop).map_err(io::Error::from)
    }
}

impl AsRawFd for Interrupt {
    /// The file of KVM's machine, of which it is requested.
    fn as_raw_fd(&self) -> RawFd {
        self.parts.vm.as_raw_fd()
    }
}

/// The number of the first line.
fn first_line(is_pc: bool) -> u32 {
    if is_pc { PINS } else { 0 }
}

/// The whole table, as KVM takes it: a PC's controllers, then the lines.
fn routing(is_pc: bool, vectors: &[u8]) -> Result<KvmIrqRouting, MachineError> {
    let lines = (first_line(is_pc)..).zip(vectors).map(|(line, vector)| message(line, *vector));
    let entries: Vec<_> = pins().filter(|_| is_pc).chain(lines).collect();
    KvmIrqRouting::from_entries(&entries).map_err(|_| MachineError::Lacks("room for routes"))
}

/// The controllers of a PC.
fn pins() -> impl Iterator<Item = kvm_irq_routing_entry> {
    let old = (0..OLD_PINS).map(|line| {
        let (chip, first) = if line < PINS_OF_ONE {
            (OLD_CONTROLLERS[0], 0)
        } else {
            (OLD_CONTROLLERS[1], PINS_OF_ONE)
        };
        pin(line, chip, line - first)
    });
    // The timer of old PCs is at pin 2 there.
    let new = (0..PINS).map(|line| pin(line, KVM_IRQCHIP_IOAPIC, if line == 0 { 2 } else { line }));
    old.chain(new)
}

fn pin(line: u32, chip: u32, pin: u32) -> kvm_irq_routing_entry {
    let mut entry = kvm_irq_routing_entry {
        gsi: line,
        type_: KVM_IRQ_ROUTING_IRQCHIP,
        ..kvm_irq_routing_entry::default()
    };
    entry.u.irqchip.irqchip = chip;
    entry.u.irqchip.pin = pin;
    entry
}

fn message(line: u32, vector: u8) -> kvm_irq_routing_entry {
    let mut entry = kvm_irq_routing_entry {
        gsi: line,
        type_: KVM_IRQ_ROUTING_MSI,
        ..kvm_irq_routing_entry::default()
    };
    entry.u.msi.address_lo = MESSAGE_ADDRESS;
    entry.u.msi.address_hi = 0;
    // Fixed delivery of this vector, once for each message.
    entry.u.msi.data = u32::from(vector);
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_behind_those_of_a_pc() {
        let kinds = kinds(true);
        assert_eq!(kinds.len(), 16 + 24 + 2);
        assert_eq!(kinds[40..], [(24, KVM_IRQ_ROUTING_MSI), (25, KVM_IRQ_ROUTING_MSI)]);
        assert!(kinds[..40].iter().all(|(_, kind)| *kind == KVM_IRQ_ROUTING_IRQCHIP));
    }

    #[test]
    fn a_machine_that_is_no_pc_has_lines_only() {
        assert_eq!(kinds(false), [(0, KVM_IRQ_ROUTING_MSI), (1, KVM_IRQ_ROUTING_MSI)]);
    }

    fn kinds(is_pc: bool) -> Vec<(u32, u32)> {
        let table = routing(is_pc, &[0x30, 0x41]).unwrap();
        table.as_slice().iter().map(|entry| (entry.gsi, entry.type_)).collect()
    }
}
