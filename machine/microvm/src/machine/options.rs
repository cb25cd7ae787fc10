//! The options that are asked of KVM for a guest, and those that were granted.

use kvm_bindings::{
    KVM_CAP_SPLIT_IRQCHIP, KVM_CAP_X86_DISABLE_EXITS, KVM_PIT_SPEAKER_DUMMY,
    KVM_X86_DISABLE_EXITS_HLT, KVM_X86_DISABLE_EXITS_MWAIT, KVM_X86_DISABLE_EXITS_PAUSE,
    kvm_enable_cap, kvm_pit_config,
};
use kvm_ioctls::VmFd;

use crate::machine::MachineError;

/// The purpose that a guest is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// It polls, or may keep its processor for itself while it sleeps: HLT, PAUSE and MWAIT are
    /// not to leave the guest. The processor is busy then, whatever the guest does.
    pub polls: bool,
    /// It is a PC: it has the interrupt controllers and the timer of old ones, which Linux looks
    /// for. Without them a machine is made sooner: KVM waits for all processors of the host several
    /// times until they are there.
    pub is_pc: bool,
}

/// Instructions that stay in the guest. All `false` where the guest does not poll, or KVM offers
/// none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// HLT waits in the guest.
    pub halt_stays: bool,
    /// PAUSE is never taken for a sign to run somebody else.
    pub pause_stays: bool,
    /// MONITOR and MWAIT wait in the guest.
    pub mwait_stays: bool,
}

impl Granted {
    fn of_mask(mask: u32) -> Self {
        Self {
            halt_stays: mask & KVM_X86_DISABLE_EXITS_HLT != 0,
            pause_stays: mask & KVM_X86_DISABLE_EXITS_PAUSE != 0,
            mwait_stays: mask & KVM_X86_DISABLE_EXITS_MWAIT != 0,
        }
    }

    /// The instructions that stay in the guest, as a record says it: `HLT PAUSE`, or `none`.
    pub fn words(&self) -> String {
        let words: Vec<&str> =
            [(self.halt_stays, "HLT"), (self.pause_stays, "PAUSE"), (self.mwait_stays, "MWAIT")]
                .iter()
                .filter(|(stays, _)| *stays)
                .map(|(_, word)| *word)
                .collect();
        if words.is_empty() { "none".to_owned() } else { words.join(" ") }
    }
}

impl Options {
    /// Asks for all of it, before the machine has a processor.
    pub(crate) fn ask(&self, vm: &VmFd) -> Result<Granted, MachineError> {
        let refused = |what| move |because| MachineError::Refused { what, because };
        if self.is_pc {
            vm.create_irq_chip().map_err(refused("the interrupt controllers of a PC"))?;
            let configuration =
                kvm_pit_config { flags: KVM_PIT_SPEAKER_DUMMY, ..Default::default() };
            vm.create_pit2(configuration).map_err(refused("the timer of old PCs"))?;
        } else {
            // Each processor's own controller, and none beside it.
            let wish = kvm_enable_cap { cap: KVM_CAP_SPLIT_IRQCHIP, ..kvm_enable_cap::default() };
            vm.enable_cap(&wish).map_err(refused("an interrupt controller"))?;
        }
        if !self.polls {
            return Ok(Granted::default());
        }
        let known =
            KVM_X86_DISABLE_EXITS_HLT | KVM_X86_DISABLE_EXITS_PAUSE | KVM_X86_DISABLE_EXITS_MWAIT;
        let offered = vm.check_extension_raw(KVM_CAP_X86_DISABLE_EXITS.into());
        let wanted = u32::try_from(offered).unwrap_or(0) & known;
        if wanted == 0 {
            return Ok(Granted::default());
        }
        let wish = kvm_enable_cap {
            cap: KVM_CAP_X86_DISABLE_EXITS,
            args: [u64::from(wanted), 0, 0, 0],
            ..kvm_enable_cap::default()
        };
        // What is offered and then refused is not had; the guest runs nevertheless.
        let is_granted = vm.enable_cap(&wish).is_ok();
        Ok(Granted::of_mask(if is_granted { wanted } else { 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_granted_is_said_in_words() {
        assert_eq!(Granted::default().words(), "none");
        assert_eq!(Granted::of_mask(2 | 4).words(), "HLT PAUSE");
        assert_eq!(Granted::of_mask(7).words(), "HLT PAUSE MWAIT");
        assert_eq!(Granted::of_mask(8).words(), "none");
    }
}
