//! SDO abort codes in words (ETG.1000.6, table 41).

/// The codes, and the reason that each one gives.
const CODES: [(u32, &str); 31] = [
    (0x0503_0000, "the toggle bit did not change"),
    (0x0504_0000, "the SDO protocol timed out"),
    (0x0504_0001, "the command is unknown"),
    (0x0504_0005, "out of memory"),
    (0x0601_0000, "the access is not supported"),
    (0x0601_0001, "the object can only be written"),
    (0x0601_0002, "the object can only be read"),
    (0x0601_0003, "subindex 0 must be 0 before another one is written"),
    (0x0601_0004, "the object has a variable length and no complete access"),
    (0x0601_0005, "the object is too long for the mailbox"),
    (0x0601_0006, "the object is mapped into a PDO, and so can't be written"),
    (0x0602_0000, "there is no such object"),
    (0x0604_0041, "the object can't be mapped into a PDO"),
    (0x0604_0042, "more is mapped than fits into the PDO"),
    (0x0604_0043, "the parameters don't fit each other"),
    (0x0604_0047, "the device has an internal conflict"),
    (0x0606_0000, "the hardware failed"),
    (0x0607_0010, "the value has a wrong type or length"),
    (0x0607_0012, "the value is too long for the object"),
    (0x0607_0013, "the value is too short for the object"),
    (0x0609_0011, "there is no such subindex"),
    (0x0609_0030, "the value is out of range"),
    (0x0609_0031, "the value is too large"),
    (0x0609_0032, "the value is too small"),
    (0x0609_0033, "the module list does not fit the modules that are there"),
    (0x0609_0036, "the largest value is smaller than the smallest"),
    (0x0800_0000, "a general error"),
    (0x0800_0020, "the value can't be stored"),
    (0x0800_0021, "the device is controlled locally"),
    (0x0800_0022, "the device refuses it in its present state"),
    (0x0800_0023, "there is no object dictionary"),
];

/// The reason that a code gives; `None` for one that the standard does not have.
pub(super) fn words(code: u32) -> Option<&'static str> {
    CODES.iter().find(|(known, _)| *known == code).map(|(_, words)| *words)
}
