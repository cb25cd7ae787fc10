//! The application layer state of a SubDevice (ETG.1000.6, 6.4).

use core::fmt;

/// A state, by its number in the AL registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlState {
    /// Only registers can be used.
    Init,
    /// The mailbox can be used, too.
    PreOp,
    /// The device takes a firmware update.
    Boot,
    /// Mailbox and inputs; outputs are safe.
    SafeOp,
    /// Mailbox, inputs and outputs.
    Op,
    /// A number that the standard does not have; the low four bits of the register.
    Other(u8),
}

impl AlState {
    /// From the low bits of a register.
    pub(crate) fn of(register: u8) -> Self {
        match register & 0x0F {
            1 => Self::Init,
            2 => Self::PreOp,
            3 => Self::Boot,
            4 => Self::SafeOp,
            8 => Self::Op,
            other => Self::Other(other),
        }
    }

    /// The number in the AL registers.
    pub fn number(self) -> u8 {
        match self {
            Self::Init => 1,
            Self::PreOp => 2,
            Self::Boot => 3,
            Self::SafeOp => 4,
            Self::Op => 8,
            Self::Other(number) => number,
        }
    }
}

impl fmt::Display for AlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Init => f.write_str("INIT"),
            Self::PreOp => f.write_str("PRE-OP"),
            Self::Boot => f.write_str("BOOT"),
            Self::SafeOp => f.write_str("SAFE-OP"),
            Self::Op => f.write_str("OP"),
            Self::Other(number) => write!(f, "unknown state {number}"),
        }
    }
}

/// The AL status register and its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlStatus {
    /// The state in the register.
    pub state: AlState,
    /// The device left its state by itself, or refused a change; not yet acknowledged.
    pub error: bool,
    /// AL status code; valid with `error`.
    pub code: u16,
}

impl AlStatus {
    /// From the six bytes of the registers; `None` from fewer.
    pub(crate) fn parse(data: &[u8]) -> Option<Self> {
        let (status, code) = (*data.first()?, data.get(4..6)?);
        Some(Self {
            state: AlState::of(status),
            error: status & crate::frame::register::AL_ERROR != 0,
            code: u16::from_le_bytes([code[0], code[1]]),
        })
    }

    /// Returns `true` if the device exchanges all its process data.
    pub(crate) fn is_op(self) -> bool {
        self.state == AlState::Op && !self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registers_are_understood() {
        let status = AlStatus::parse(&[0x14, 0, 0, 0, 0x1B, 0]).unwrap();
        assert_eq!(status, AlStatus { state: AlState::SafeOp, error: true, code: 0x1B });
        assert!(!status.is_op());
        assert!(AlStatus::parse(&[8, 0, 0, 0, 0, 0]).unwrap().is_op());
        assert_eq!(AlStatus::parse(&[8, 0, 0, 0, 0]), None);
        for number in 0..16 {
            assert_eq!(AlState::of(number).number(), number);
        }
    }
}
