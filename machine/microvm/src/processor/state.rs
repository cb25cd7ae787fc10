//! The state of a processor that stands still: kept at its begin, put back at a reset.
//!
//! KVM has no request for a reset. So all that it can hand out of a processor is kept before the
//! guest runs for the first time, and given back. The time stamp counter is left alone: it goes on,
//! as the host's does.
// UNSAFETY: the state of the floating-point unit is as long as KVM says.
#![expect(unsafe_code, reason = "the library leaves it to us how long that state is")]

use kvm_bindings::{
    Msrs, kvm_debugregs, kvm_irqchip, kvm_lapic_state, kvm_mp_state, kvm_msr_entry, kvm_pit_state2,
    kvm_regs, kvm_sregs, kvm_vcpu_events, kvm_xcrs, kvm_xsave,
};
use kvm_ioctls::{Kvm, VcpuFd, VmFd};

use crate::processor::counter::COUNTER_REGISTER;

/// Registers that go on: the counter and its adjustment (Intel SDM volume 4, table 2-2).
const NOT_KEPT: [u32; 2] = [COUNTER_REGISTER, 0x3B];

/// The interrupt controllers of a machine: both of old PCs, and the IOAPIC (`linux/kvm.h`).
const CHIPS: [u32; 3] = [0, 1, 2];

/// The state of a processor.
#[derive(Debug)]
pub(crate) struct ProcessorState {
    general: kvm_regs,
    special: kvm_sregs,
    events: kvm_vcpu_events,
    controller: kvm_lapic_state,
    running: kvm_mp_state,
    debug: kvm_debugregs,
    extended: Box<kvm_xsave>,
    extended_control: kvm_xcrs,
    model_specific: Vec<kvm_msr_entry>,
}

type Refused = (&'static str, kvm_ioctls::Error);

fn refused(what: &'static str) -> impl Fn(kvm_ioctls::Error) -> Refused {
    move |because| (what, because)
}

impl ProcessorState {
    /// Copies the present state of the processor.
    pub(crate) fn of(kvm: &Kvm, file: &VcpuFd) -> Result<Self, Refused> {
        let told = refused("a look at the state of a processor");
        Ok(Self {
            general: file.get_regs().map_err(&told)?,
            special: file.get_sregs().map_err(&told)?,
            events: file.get_vcpu_events().map_err(&told)?,
            controller: file.get_lapic().map_err(&told)?,
            running: file.get_mp_state().map_err(&told)?,
            debug: file.get_debug_regs().map_err(&told)?,
            extended: Box::new(file.get_xsave().map_err(&told)?),
            extended_control: file.get_xcrs().map_err(&told)?,
            model_specific: model_specific(kvm, file).map_err(&told)?,
        })
    }

    /// Makes it that again.
    pub(crate) fn put_back(&self, file: &VcpuFd) -> Result<(), Refused> {
        // The special registers first: what the controller and its timer are depends on them.
        file.set_sregs(&self.special).map_err(refused("the special registers"))?;
        file.set_xcrs(&self.extended_control).map_err(refused("the extended control registers"))?;
        // SAFETY: no feature was asked for that would make the state longer than this.
        unsafe { file.set_xsave(&self.extended) }.map_err(refused("the floating-point state"))?;
        file.set_debug_regs(&self.debug).map_err(refused("the debug registers"))?;
        file.set_lapic(&self.controller).map_err(refused("the interrupt controller's state"))?;
        // One by one: some can be read and not be written, which KVM tells by doing fewer.
        for entry in &self.model_specific {
            let one = Msrs::from_entries(&[*entry]).expect("one is fewer than the most");
            let _ = file.set_msrs(&one);
        }
        file.set_mp_state(self.running).map_err(refused("whether it runs"))?;
        file.set_vcpu_events(&self.events).map_err(refused("its pending events"))?;
        file.set_regs(&self.general).map_err(refused("its registers"))
    }
}

fn model_specific(kvm: &Kvm, file: &VcpuFd) -> Result<Vec<kvm_msr_entry>, kvm_ioctls::Error> {
    let mut kept = Vec::new();
    let known = kvm.get_msr_index_list()?;
    let mut rest: Vec<kvm_msr_entry> = known
        .as_slice()
        .iter()
        .filter(|index| !NOT_KEPT.contains(index))
        .map(|index| kvm_msr_entry { index: *index, ..kvm_msr_entry::default() })
        .collect();
    while !rest.is_empty() {
        let mut asked =
            Msrs::from_entries(&rest).map_err(|_| kvm_ioctls::Error::new(libc::E2BIG))?;
        let read = file.get_msrs(&mut asked)?;
        kept.extend_from_slice(&asked.as_slice()[..read.min(rest.len())]);
        // It stops at the first that this processor does not have.
        rest.drain(..(read + 1).min(rest.len()));
    }
    Ok(kept)
}

/// The state of what all processors share: the interrupt controllers and the timer of old PCs.
#[derive(Debug)]
pub(crate) struct SharedState {
    chips: Vec<kvm_irqchip>,
    timer: Option<kvm_pit_state2>,
}

impl SharedState {
    /// Copies the present state of the machine; nothing if the machine is no PC.
    pub(crate) fn of(vm: &VmFd, is_pc: bool) -> Result<Self, Refused> {
        let mut chips = Vec::new();
        for chip_id in CHIPS.iter().copied().filter(|_| is_pc) {
            let mut chip = kvm_irqchip { chip_id, ..kvm_irqchip::default() };
            vm.get_irqchip(&mut chip).map_err(refused("a look at an interrupt controller"))?;
            chips.push(chip);
        }
        Ok(Self { chips, timer: vm.get_pit2().ok() })
    }

    pub(crate) fn put_back(&self, vm: &VmFd) -> Result<(), Refused> {
        for chip in &self.chips {
            vm.set_irqchip(chip).map_err(refused("an interrupt controller's state"))?;
        }
        match &self.timer {
            Some(timer) => vm.set_pit2(timer).map_err(refused("the state of the timer of old PCs")),
            None => Ok(()),
        }
    }
}
