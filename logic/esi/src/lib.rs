//! ESI files: XML in which the vendor of an EtherCAT SubDevice describes it (ETG.2000).
//!
//! ```text
//! bytes ── encoding ──► text ── XML ──► Esi: devices ── choice of PDOs ──► ProcessData: entries
//!                                                                          with their places
//! ```
//!
//! Files of many vendors are read as they lie, so everything that decides nothing here may be
//! missing or odd. A device whose process data can't be known for sure is left out and told
//! ([`Esi::left_out`]); the others of its file are there. The crate does no input or output, and
//! what a file may cost is bounded: [`FILE_BYTES_MAX`], no document type, no entities.

#![forbid(unsafe_code)]

mod data_type;
mod device;
mod hardware;
mod process_data;
mod read;
mod text;

pub use device::{
    Device, Entry, Identity, InitCommand, NumberKind, OperationMode, Pdo, SyncManager,
    SyncManagerUse,
};
pub use hardware::{Canopen, FmmuUse, Hardware, Registers};
pub use process_data::{Assignment, ChoiceError, PROCESS_DATA_BYTES_MAX, PlacedEntry, ProcessData};
pub use read::{Esi, EsiError, LeftOut, read};
pub use text::FILE_BYTES_MAX;
