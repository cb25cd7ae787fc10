//! CANopen over EtherCAT: objects, SDO server, SDO information, emergencies (ETG.1000.6, 5.6).

pub mod abort;
pub mod dictionary;
pub(crate) mod information;
pub(crate) mod objects;
pub(crate) mod server;

/// The services of CoE, in the upper four bits of its header.
pub(crate) mod service {
    /// Service number of an emergency.
    pub(crate) const EMERGENCY: u16 = 1;
    /// SDO request; an abort is one too, in both directions.
    pub(crate) const SDO_REQUEST: u16 = 2;
    /// Service number of an SDO response.
    pub(crate) const SDO_RESPONSE: u16 = 3;
    /// Service number of SDO information.
    pub(crate) const SDO_INFORMATION: u16 = 8;
}

/// The CoE header for a service.
pub(crate) fn header(service: u16) -> [u8; 2] {
    (service << 12).to_le_bytes()
}

/// An emergency (ETG.1000.6, 5.6.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emergency {
    /// Error code, such as 0x8611 for a following error.
    pub code: u16,
    /// Error register, object 0x1001.
    pub register: u8,
    /// The vendor's own data.
    pub data: [u8; 5],
}
