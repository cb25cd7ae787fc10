//! Ports and addresses that are no memory.

/// The answers to a guest. Nothing that it asks or tells can be trusted.
pub trait Bus: Sync {
    /// The guest wrote `data`, of 1, 2 or 4 bytes, to a port; a string of writes comes as one.
    fn write_port(&self, port: u16, data: &[u8]) -> After;

    /// The guest reads a port. What is not filled in reads as ones.
    fn read_port(&self, port: u16, data: &mut [u8]);

    /// The guest wrote to an address that is no memory.
    fn write_address(&self, address: u64, data: &[u8]) -> After;

    /// The guest reads from one. What is not filled in reads as ones.
    fn read_address(&self, address: u64, data: &mut [u8]);
}

/// The fate of the guest after an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The guest goes on.
    GoOn,
    /// It has ended, and this is its status.
    End(u32),
}
