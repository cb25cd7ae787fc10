//! Why an SDO transfer was aborted (ETG.1000.6, table of SDO abort codes).

/// An SDO abort code (ETG.1000.6, 5.6.2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abort(pub u32);

impl Abort {
    /// The toggle bit did not change.
    pub const TOGGLE: Self = Self(0x0503_0000);
    /// The command is not known.
    pub const COMMAND: Self = Self(0x0504_0001);
    /// Out of memory: the transfer is longer than anything here.
    pub const MEMORY: Self = Self(0x0504_0005);
    /// The access is not supported.
    pub const ACCESS: Self = Self(0x0601_0000);
    /// The object can only be written.
    pub const WRITE_ONLY: Self = Self(0x0601_0001);
    /// The object can only be read.
    pub const READ_ONLY: Self = Self(0x0601_0002);
    /// Subindex 0 must be zero before the others are written.
    pub const COUNT_NOT_ZERO: Self = Self(0x0601_0003);
    /// Complete access is not possible here.
    pub const COMPLETE_ACCESS: Self = Self(0x0601_0004);
    /// There is no such object.
    pub const NO_OBJECT: Self = Self(0x0602_0000);
    /// The object cannot be mapped.
    pub const NOT_MAPPABLE: Self = Self(0x0604_0041);
    /// More objects or bytes than can be mapped.
    pub const TOO_MUCH_MAPPED: Self = Self(0x0604_0042);
    /// The length does not fit the type.
    pub const LENGTH: Self = Self(0x0607_0010);
    /// More bytes than the type has.
    pub const TOO_LONG: Self = Self(0x0607_0012);
    /// Fewer bytes than the type has.
    pub const TOO_SHORT: Self = Self(0x0607_0013);
    /// There is no such subindex.
    pub const NO_SUBINDEX: Self = Self(0x0609_0011);
    /// The value is out of range.
    pub const RANGE: Self = Self(0x0609_0030);
    /// Not in this state.
    pub const STATE: Self = Self(0x0800_0022);
}
