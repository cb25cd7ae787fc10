//! States of a SubDevice and its reasons in words: the AL status register and the AL status code.

use std::fmt::Write as _;

/// In the AL status: the device has left its state by itself, or refuses another one.
const ERROR_BIT: u32 = 0x10;

/// The AL status codes of ETG.1000.6, table 11, and ETG.1020, and what each one says.
const CODES: [(u32, &str); 50] = [
    (0x0001, "unspecified error"),
    (0x0002, "no memory"),
    (0x0003, "invalid device setup"),
    (0x0006, "firmware and EEPROM do not fit each other"),
    (0x0007, "firmware update failed"),
    (0x0011, "invalid requested state change"),
    (0x0012, "unknown requested state"),
    (0x0013, "BOOT is not supported"),
    (0x0014, "no valid firmware"),
    (0x0015, "invalid mailbox configuration for BOOT"),
    (0x0016, "invalid mailbox configuration for PRE-OP"),
    (0x0017, "invalid SyncManager configuration"),
    (0x0018, "no valid inputs available"),
    (0x0019, "no valid outputs"),
    (0x001a, "synchronization error"),
    (0x001b, "SyncManager watchdog, no outputs came in time"),
    (0x001c, "invalid SyncManager types"),
    (0x001d, "invalid output configuration"),
    (0x001e, "invalid input configuration"),
    (0x001f, "invalid watchdog configuration"),
    (0x0020, "needs a cold start"),
    (0x0021, "needs INIT"),
    (0x0022, "needs PRE-OP"),
    (0x0023, "needs SAFE-OP"),
    (0x0024, "invalid input mapping"),
    (0x0025, "invalid output mapping"),
    (0x0026, "inconsistent settings"),
    (0x0027, "free run is not supported"),
    (0x0028, "synchronization is not supported"),
    (0x0029, "free run needs three buffers"),
    (0x002a, "background watchdog"),
    (0x002b, "no valid inputs and outputs"),
    (0x002c, "fatal SYNC error"),
    (0x002d, "no SYNC pulses"),
    (0x002e, "invalid input FMMU configuration"),
    (0x0030, "invalid DC SYNC configuration"),
    (0x0031, "invalid DC latch configuration"),
    (0x0032, "PLL error"),
    (0x0033, "DC SYNC IO error"),
    (0x0034, "DC SYNC timeout"),
    (0x0035, "invalid DC SYNC cycle time"),
    (0x0036, "DC SYNC0 cycle time does not fit"),
    (0x0037, "DC SYNC1 cycle time does not fit"),
    (0x0042, "error of the mailbox protocol EoE"),
    (0x0043, "error of the mailbox protocol CoE"),
    (0x0044, "error of the mailbox protocol FoE"),
    (0x0045, "error of the mailbox protocol SoE"),
    (0x0050, "no access to the EEPROM"),
    (0x0051, "EEPROM error"),
    (0x0060, "it was restarted locally"),
];

/// Tells that a SubDevice is in a state, and why where it says so.
pub(crate) fn state(subdevice: u32, status: u32, code: u32) -> String {
    format!("SubDevice {subdevice} is in {}{}", name(status), reason(status, code))
}

/// Tells that a SubDevice did not reach a state, and why where it says so.
pub(crate) fn not_reached(subdevice: u32, wanted: u32, code: u32) -> String {
    let (wanted, reason) = (name(wanted), reason(ERROR_BIT, code));
    format!("SubDevice {subdevice} did not reach {wanted}{reason}; it is tried again")
}

fn name(status: u32) -> String {
    match status & !ERROR_BIT {
        1 => "INIT".to_owned(),
        2 => "PRE-OP".to_owned(),
        3 => "BOOT".to_owned(),
        4 => "SAFE-OP".to_owned(),
        8 => "OP".to_owned(),
        other => format!("unknown state {other:#04x}"),
    }
}

/// The reason behind a state; the code counts with the error bit, and is told where it is set.
fn reason(status: u32, code: u32) -> String {
    if code == 0 {
        let is_refused = status & ERROR_BIT != 0;
        return if is_refused { ", with an error".to_owned() } else { String::new() };
    }
    let mut text = String::new();
    let known = CODES.iter().find(|(known, _)| *known == code);
    match known {
        Some((_, meaning)) => write!(text, ": {meaning} (AL status code {code:#06x})"),
        None => write!(text, ", AL status code {code:#06x}"),
    }
    .expect("writing to a string cannot fail");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_and_its_reason_are_told_in_words() {
        assert_eq!(
            state(1, 0x14, 0x1b),
            "SubDevice 1 is in SAFE-OP: SyncManager watchdog, no outputs came in time (AL status \
             code 0x001b)"
        );
        assert_eq!(state(0, 0x02, 0), "SubDevice 0 is in PRE-OP");
        assert_eq!(state(0, 0x12, 0), "SubDevice 0 is in PRE-OP, with an error");
        assert_eq!(
            state(2, 0x07, 0xfe),
            "SubDevice 2 is in unknown state 0x07, AL status code 0x00fe"
        );
        assert_eq!(
            not_reached(3, 0x08, 0x18),
            "SubDevice 3 did not reach OP: no valid inputs available (AL status code 0x0018); it \
             is tried again"
        );
        assert!(CODES.is_sorted_by_key(|(code, _)| *code));
    }
}
