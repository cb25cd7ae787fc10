//! Registers of an EtherCAT SubDevice controller (ETG.1000.4) that the MainDevice uses itself.

/// Type of the controller; what every controller implements, so it counts them.
pub(crate) const TYPE: u16 = 0x0000;
/// Numbers of FMMUs (one byte) and, after it, of SyncManagers.
pub(crate) const FMMU_COUNT: u16 = 0x0004;
/// Features that the controller supports, 16 bits.
pub(crate) const FEATURES: u16 = 0x0008;
/// Bit of the features: distributed clocks.
pub(crate) const FEATURE_CLOCK: u16 = 1 << 2;
/// Bit of the features: no LRW.
pub(crate) const FEATURE_NO_LRW: u16 = 1 << 9;
/// Configured station address, 16 bits.
pub(crate) const STATION_ADDRESS: u16 = 0x0010;
/// Links and loops of the ports, 16 bits.
pub(crate) const DL_STATUS: u16 = 0x0110;
/// Requested AL state, 16 bits.
pub(crate) const AL_CONTROL: u16 = 0x0120;
/// Actual AL state; its code is 4 bytes further on.
pub(crate) const AL_STATUS: u16 = 0x0130;
/// Bytes from the AL status to the end of its code.
pub(crate) const AL_STATUS_BYTES: u16 = 6;
/// In AL control: acknowledge an error. In AL status: there was one.
pub(crate) const AL_ERROR: u8 = 0x10;
/// Error counters, 20 bytes.
pub(crate) const ERROR_COUNTERS: u16 = 0x0300;
/// Bytes of the error counters.
pub(crate) const ERROR_COUNTER_BYTES: u16 = 20;
/// Process data watchdog, 16 bits, in steps of 100 µs with the divider of power-up; 1000 then.
pub(crate) const PROCESS_DATA_WATCHDOG: u16 = 0x0420;
/// The owner of the SII: 0 the MainDevice, 1 the device itself.
pub(crate) const SII_OWNER: u16 = 0x0500;
/// SII command and status, then the word address.
pub(crate) const SII_CONTROL: u16 = 0x0502;
/// Command to read the SII.
pub(crate) const SII_READ: u16 = 0x0100;
/// Status bit of an SII that is busy.
pub(crate) const SII_BUSY: u16 = 0x8000;
/// Data read from the SII.
pub(crate) const SII_DATA: u16 = 0x0508;
/// Registers of the first FMMU.
pub(crate) const FMMU: u16 = 0x0600;
/// Size of an FMMU's registers.
pub(crate) const FMMU_BYTES: u16 = 16;
/// Registers of the first SyncManager.
pub(crate) const SYNC_MANAGER: u16 = 0x0800;
/// Size of a SyncManager's registers.
pub(crate) const SYNC_MANAGER_BYTES: u16 = 8;
/// Place of the status within a SyncManager's registers.
pub(crate) const SYNC_MANAGER_STATUS: u16 = 5;
/// Distance from a SyncManager's first register to that which switches it on.
pub(crate) const SYNC_MANAGER_ACTIVATE: u16 = 6;
/// In a SyncManager's status: the mailbox is full.
pub(crate) const MAILBOX_FULL: u8 = 1 << 3;
/// System time of the distributed clocks, 64 bits; writing it steers the clock.
pub(crate) const SYSTEM_TIME: u16 = 0x0910;
/// Lead of the system time over the local clock, 64 bits.
pub(crate) const SYSTEM_TIME_OFFSET: u16 = 0x0920;
/// Delay from the reference clock, 32 bits.
pub(crate) const SYSTEM_TIME_DELAY: u16 = 0x0928;
/// Activation of the SYNC signals.
pub(crate) const SYNC_ACTIVATION: u16 = 0x0981;
/// First SYNC0, 64 bits.
pub(crate) const SYNC_START: u16 = 0x0990;
/// Periods of SYNC0 and SYNC1, 32 bits each.
pub(crate) const SYNC_PERIODS: u16 = 0x09A0;
