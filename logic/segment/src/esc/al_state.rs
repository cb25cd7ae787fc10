//! The AL state machine: what a request leads to (ETG.1000.6, 6.4.1; ETG.1020 for the codes).
//!
//! ```text
//!            ┌───────► BOOT (from INIT only, back to INIT only)
//!            │
//! INIT ◄──► PRE-OP ◄──► SAFE-OP ◄──► OP        any state ──► INIT
//!                 ◄───────────────────┘        OP ──► PRE-OP
//! ```
//!
//! A device without a processor of its own (device emulation) copies the request to its status,
//! error bit included, whatever was asked for.

/// The application layer state (ETG.1000.6, 6.4.1), as the low bits of register 0x0130.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AlState {
    /// No communication but registers.
    Init = 1,
    /// The mailbox works, but no process data.
    PreOp = 2,
    /// The device takes a firmware update.
    Boot = 3,
    /// Mailbox and inputs; outputs stay safe.
    SafeOp = 4,
    /// Mailbox, inputs and outputs.
    Op = 8,
}

impl AlState {
    /// All five states, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Init, Self::PreOp, Self::Boot, Self::SafeOp, Self::Op];

    /// The state with this number in registers 0x0120 and 0x0130.
    pub fn from_bits(bits: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| *state as u8 == bits & 0x0F)
    }

    /// Returns `true` if the mailbox works.
    pub fn has_mailbox(self) -> bool {
        self != Self::Init
    }

    /// Returns `true` if inputs are produced.
    pub fn has_inputs(self) -> bool {
        matches!(self, Self::SafeOp | Self::Op)
    }

    /// Returns `true` if the state diagram allows a change from this state to `next`.
    pub fn may_become(self, next: Self) -> bool {
        match next {
            Self::Init => true,
            Self::PreOp => self != Self::Boot,
            Self::Boot => matches!(self, Self::Init | Self::Boot),
            Self::SafeOp => matches!(self, Self::PreOp | Self::SafeOp | Self::Op),
            Self::Op => matches!(self, Self::SafeOp | Self::Op),
        }
    }
}

impl std::fmt::Display for AlState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Init => "INIT",
            Self::PreOp => "PRE-OP",
            Self::Boot => "BOOT",
            Self::SafeOp => "SAFE-OP",
            Self::Op => "OP",
        })
    }
}

/// Why a device refuses a state or has left it: the content of register 0x0134 (ETG.1020, 24).
pub mod code {
    /// There is no error.
    pub const NONE: u16 = 0x0000;
    /// The state diagram has no such change.
    pub const INVALID_CHANGE: u16 = 0x0011;
    /// There is no such state.
    pub const UNKNOWN_STATE: u16 = 0x0012;
    /// BOOT is not offered.
    pub const NO_BOOT: u16 = 0x0013;
    /// The SyncManagers of the mailbox are not set up as the device needs them.
    pub const INVALID_MAILBOX: u16 = 0x0016;
    /// No outputs came for longer than the watchdog time.
    pub const WATCHDOG: u16 = 0x001B;
    /// The SyncManager of the outputs does not fit the mapped process data.
    pub const INVALID_OUTPUTS: u16 = 0x001D;
    /// The SyncManager of the inputs does not fit the mapped process data.
    pub const INVALID_INPUTS: u16 = 0x001E;
    /// SYNC pulses were asked for, and do not come.
    pub const NO_SYNC: u16 = 0x002D;
    /// The settings of the SYNC unit are not possible.
    pub const INVALID_CLOCK: u16 = 0x0030;
}

/// AL status: state, error and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlStatus {
    /// The state that the device is in.
    pub(crate) state: AlState,
    /// The last change was refused, or the state was left by the device itself.
    pub(crate) error: bool,
    /// Why; see [`code`].
    pub(crate) code: u16,
}

/// A request written to register 0x0120.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlRequest {
    /// The low four bits.
    pub(crate) bits: u8,
    /// Bit 4: the error is acknowledged.
    pub(crate) acknowledge: bool,
}

impl AlRequest {
    /// Decodes the low byte of the register.
    pub(crate) fn decode(low: u8) -> Self {
        Self { bits: low & 0x0F, acknowledge: low & 0x10 != 0 }
    }
}

/// Decides on a request. `gate` is asked before a state is entered from below, and answers with the
/// code of what is missing, or [`code::NONE`].
pub(crate) fn decide(
    status: AlStatus,
    request: AlRequest,
    mut gate: impl FnMut(AlState) -> u16,
) -> AlStatus {
    let Some(next) = AlState::from_bits(request.bits) else {
        return refused(status, code::UNKNOWN_STATE);
    };
    let upwards = next as u8 > status.state as u8;
    if status.error && !request.acknowledge && upwards {
        // An error stays until it is acknowledged; without that nothing higher is entered.
        return status;
    }
    if !status.state.may_become(next) {
        return refused(status, code::INVALID_CHANGE);
    }
    // A state that is entered again is checked again only where it is entered from below; going
    // down needs nothing.
    let missing = if upwards { gate(next) } else { code::NONE };
    if missing != code::NONE {
        return refused(status, missing);
    }
    let keeps_error = status.error && !request.acknowledge && next == status.state;
    AlStatus {
        state: next,
        error: keeps_error,
        code: if keeps_error { status.code } else { code::NONE },
    }
}

fn refused(status: AlStatus, code: u16) -> AlStatus {
    AlStatus { error: true, code, ..status }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AlState::{Boot, Init, Op, PreOp, SafeOp};

    fn at(state: AlState) -> AlStatus {
        AlStatus { state, error: false, code: code::NONE }
    }

    fn ask(status: AlStatus, low: u8) -> AlStatus {
        decide(status, AlRequest::decode(low), |_| code::NONE)
    }

    #[test]
    fn the_state_diagram_is_that_of_the_standard() {
        // Rows from, columns to INIT, PRE-OP, BOOT, SAFE-OP, OP (ETG.1000.6, table of transitions).
        let table = [
            (Init, [true, true, true, false, false]),
            (PreOp, [true, true, false, true, false]),
            (Boot, [true, false, true, false, false]),
            (SafeOp, [true, true, false, true, true]),
            (Op, [true, true, false, true, true]),
        ];
        for (from, row) in table {
            for (to, allowed) in AlState::ALL.into_iter().zip(row) {
                let status = ask(at(from), to as u8);
                let expected = if allowed {
                    at(to)
                } else {
                    AlStatus { state: from, error: true, code: code::INVALID_CHANGE }
                };
                assert_eq!(status, expected, "{from} to {to}");
            }
        }
    }

    #[test]
    fn numbers_that_are_no_state_are_refused() {
        for low in [0_u8, 5, 6, 7, 9, 15] {
            assert_eq!(ask(at(PreOp), low).code, code::UNKNOWN_STATE, "{low}");
        }
    }

    #[test]
    fn an_error_blocks_the_way_up_until_it_is_acknowledged() {
        let failed = AlStatus { state: SafeOp, error: true, code: code::WATCHDOG };
        assert_eq!(ask(failed, 8), failed);
        assert_eq!(ask(failed, 0x14), at(SafeOp));
        assert_eq!(ask(failed, 0x18), at(Op));
        assert_eq!(ask(failed, 2), at(PreOp), "the way down is open");
    }

    #[test]
    fn an_acknowledgement_without_an_error_is_accepted() {
        assert_eq!(ask(at(Init), 0x12), at(PreOp));
    }

    #[test]
    fn the_gate_is_asked_on_the_way_up_only() {
        let gate = |_| code::INVALID_OUTPUTS;
        let up = decide(at(PreOp), AlRequest::decode(4), gate);
        assert_eq!((up.state, up.error, up.code), (PreOp, true, code::INVALID_OUTPUTS));
        assert_eq!(decide(at(Op), AlRequest::decode(4), gate), at(SafeOp));
    }
}
