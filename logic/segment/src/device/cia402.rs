//! The state machine of a drive (CiA 402 / IEC 61800-7-201): control word in, status word out.
//!
//! ```text
//! NotReady ─► SwitchOnDisabled ◄──────────────── disable voltage, from all below
//!                 │ shutdown
//!             ReadyToSwitchOn ◄─ shutdown ─┐
//!                 │ switch on              │
//!             SwitchedOn ◄─ disable ─┐     │       any ── fault ─► FaultReaction ─► Fault
//!                 │ enable           │     │
//!             OperationEnabled ──────┴─────┘       Fault ── reset, rising ─► SwitchOnDisabled
//!                 │ quick stop
//!             QuickStopActive
//! ```

/// A state of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DriveState {
    /// The drive starts up.
    NotReady,
    /// No power; waits for `shutdown`.
    SwitchOnDisabled,
    /// Power may be switched on.
    ReadyToSwitchOn,
    /// Power is on, no torque.
    SwitchedOn,
    /// The setpoints are followed.
    OperationEnabled,
    /// Stopping; holds still afterwards.
    QuickStopActive,
    /// Stopping because of a fault.
    FaultReaction,
    /// No torque until the fault is reset.
    Fault,
}

impl DriveState {
    /// The state bits of the status word.
    pub fn bits(self) -> u16 {
        match self {
            Self::NotReady => 0x00,
            Self::SwitchOnDisabled => 0x40,
            Self::ReadyToSwitchOn => 0x21,
            Self::SwitchedOn => 0x23,
            Self::OperationEnabled => 0x27,
            Self::QuickStopActive => 0x07,
            Self::FaultReaction => 0x0F,
            Self::Fault => 0x08,
        }
    }

    /// The state that a status word shows.
    pub fn from_status_word(status_word: u16) -> Option<Self> {
        const ALL: [DriveState; 8] = [
            DriveState::NotReady,
            DriveState::SwitchOnDisabled,
            DriveState::ReadyToSwitchOn,
            DriveState::SwitchedOn,
            DriveState::OperationEnabled,
            DriveState::QuickStopActive,
            DriveState::FaultReaction,
            DriveState::Fault,
        ];
        // Where bit 6 is set or a fault is shown the quick stop bit says nothing.
        let mask = if status_word & 0x48 == 0 { 0x6F } else { 0x4F };
        ALL.into_iter().find(|state| state.bits() & mask == status_word & mask)
    }

    /// Returns `true` if the voltage is on.
    pub fn has_power(self) -> bool {
        matches!(self, Self::SwitchedOn | Self::OperationEnabled | Self::QuickStopActive)
    }
}

/// Commands of the control word.
pub mod command {
    /// To ready to switch on.
    pub const SHUTDOWN: u16 = 0x06;
    /// Leads to the state switched on.
    pub const SWITCH_ON: u16 = 0x07;
    /// Leads to the state operation enabled.
    pub const ENABLE_OPERATION: u16 = 0x0F;
    /// To switch on disabled.
    pub const DISABLE_VOLTAGE: u16 = 0x00;
    /// Stops with the ramp of a quick stop.
    pub const QUICK_STOP: u16 = 0x02;
    /// Reset a fault, as it becomes set.
    pub const FAULT_RESET: u16 = 0x80;
}

/// The state machine of a drive (CiA 402).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DriveMachine {
    state: DriveState,
    last_control_word: u16,
}

impl DriveMachine {
    /// Starts in the state after power-up.
    pub(crate) fn new() -> Self {
        Self { state: DriveState::SwitchOnDisabled, last_control_word: 0 }
    }

    /// Returns the present state.
    pub(crate) fn state(self) -> DriveState {
        self.state
    }

    /// Takes a control word.
    pub(crate) fn control(&mut self, control_word: u16) {
        use DriveState as S;
        let resets = control_word & !self.last_control_word & command::FAULT_RESET != 0;
        self.last_control_word = control_word;
        if matches!(self.state, S::Fault | S::FaultReaction) {
            if resets && self.state == S::Fault {
                self.state = S::SwitchOnDisabled;
            }
            return;
        }
        let disable_voltage = control_word & 0x02 == 0;
        let quick_stop = control_word & 0x06 == command::QUICK_STOP;
        let shutdown = control_word & 0x07 == command::SHUTDOWN;
        let switch_on = control_word & 0x07 == command::SWITCH_ON;
        let enable = control_word & 0x0F == command::ENABLE_OPERATION;
        self.state = match self.state {
            S::NotReady => S::SwitchOnDisabled,
            _ if disable_voltage => S::SwitchOnDisabled,
            S::SwitchOnDisabled if shutdown => S::ReadyToSwitchOn,
            S::ReadyToSwitchOn | S::SwitchedOn if quick_stop => S::SwitchOnDisabled,
            S::OperationEnabled if quick_stop => S::QuickStopActive,
            // From ready the way to enabled is one step a control word, over switched on.
            S::ReadyToSwitchOn if switch_on => S::SwitchedOn,
            S::SwitchedOn | S::OperationEnabled if shutdown => S::ReadyToSwitchOn,
            S::SwitchedOn | S::QuickStopActive if enable => S::OperationEnabled,
            S::OperationEnabled if switch_on && !enable => S::SwitchedOn,
            same => same,
        };
    }

    /// A fault has occurred; the drive coasts at once, so the reaction is over at once.
    pub(crate) fn fail(&mut self) {
        self.state = DriveState::Fault;
    }

    /// The control word is no longer valid: an enabled drive loses its torque.
    pub(crate) fn release(&mut self) {
        if self.state.has_power() || self.state == DriveState::ReadyToSwitchOn {
            self.state = DriveState::SwitchOnDisabled;
        }
        self.last_control_word = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::DriveState as S;
    use super::*;

    fn after(words: &[u16]) -> S {
        let mut machine = DriveMachine::new();
        for word in words {
            machine.control(*word);
        }
        machine.state()
    }

    #[test]
    fn the_usual_way_up_takes_three_commands() {
        assert_eq!(after(&[]), S::SwitchOnDisabled);
        assert_eq!(after(&[0x06]), S::ReadyToSwitchOn);
        assert_eq!(after(&[0x06, 0x07]), S::SwitchedOn);
        assert_eq!(after(&[0x06, 0x07, 0x0F]), S::OperationEnabled);
        assert_eq!(after(&[0x06, 0x0F, 0x0F]), S::OperationEnabled, "automatic step");
        assert_eq!(after(&[0x0F]), S::SwitchOnDisabled, "not without shutdown");
    }

    #[test]
    fn every_command_leads_where_the_standard_says() {
        let up = [0x06, 0x07, 0x0F];
        for (word, state) in [
            (0x06, S::ReadyToSwitchOn),
            (0x07, S::SwitchedOn),
            (0x00, S::SwitchOnDisabled),
            (0x02, S::QuickStopActive),
            (0x0F, S::OperationEnabled),
        ] {
            assert_eq!(after(&[up[0], up[1], up[2], word]), state, "{word:#04x}");
        }
        assert_eq!(after(&[0x06, 0x02]), S::SwitchOnDisabled);
        assert_eq!(after(&[0x06, 0x07, 0x02]), S::SwitchOnDisabled);
        assert_eq!(after(&[0x06, 0x07, 0x0F, 0x02, 0x0F]), S::OperationEnabled);
    }

    #[test]
    fn a_fault_is_reset_by_a_rising_edge_only() {
        let mut machine = DriveMachine::new();
        machine.control(0x80);
        machine.fail();
        machine.control(0x80);
        assert_eq!(machine.state(), S::Fault, "the bit was set before");
        machine.control(0x0F);
        assert_eq!(machine.state(), S::Fault);
        machine.control(0x80);
        assert_eq!(machine.state(), S::SwitchOnDisabled);
    }

    #[test]
    fn a_status_word_names_its_state() {
        for state in [
            S::NotReady,
            S::SwitchOnDisabled,
            S::ReadyToSwitchOn,
            S::SwitchedOn,
            S::OperationEnabled,
            S::QuickStopActive,
            S::FaultReaction,
            S::Fault,
        ] {
            assert_eq!(S::from_status_word(state.bits() | 0x1610), Some(state));
        }
    }
}
