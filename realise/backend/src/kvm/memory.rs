//! The memory that a guest shares with its host: addresses are kept first, then pages are put
//! there.
//!
//! ```text
//! Kept           the guest's own memory, rows of addresses                  no pages yet
//!   ├ present    the guest's image, zeros
//!   └ SharedMemory   post, exchange, data slots, code slots, channels         with pages
//! ```
//!
//! A row is one memory slot of KVM, however many files it holds.

use std::fs::File;
use std::sync::Arc;

use quietcore_boot::post::bytes_for;
use quietcore_boot::{AddressRange, places};
use quietcore_exchange::{Region, Slot};
use quietcore_microvm::colour::Pin;
use quietcore_microvm::machine::Machine;
use quietcore_microvm::memory::Memory;
use quietcore_microvm::row::Row;
use quietcore_microvm::slot::{Access, Shared, SharedError};
use quietcore_scan::process::job::ProgramJob;
use quietcore_units::{ByteSize, Causes};

use super::{GuestSetting, colours};
use crate::guest::channels::Channels;
use crate::guest::programs::{self, Program, Programs};
use crate::guest::{POST_BYTES, in_words};

/// Addresses kept for a guest. None of them has pages yet, except memory in colours.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) memory: Arc<Memory>,
    /// Keeps pages in place where the guest's memory has colours.
    pub(super) pin: Option<Pin>,
    pub(super) rows: Rows,
}

/// Rows of addresses for the memory that a guest shares.
#[derive(Debug)]
pub(super) struct Rows {
    /// Addresses from the guest's own memory to the exchange, or from the post on where that memory
    /// has colours.
    shared: Arc<Row>,
    /// Both code slots, which the guest can't write.
    code: Arc<Row>,
    channels: Option<Arc<Row>>,
    channel_files: Vec<File>,
    /// Addresses of each channel, in the order of the job.
    pub(super) channel_places: Vec<AddressRange>,
}

impl Kept {
    /// Keeps all addresses that this job asks for. With `locks`, the memory that is put there is
    /// locked.
    ///
    /// # Errors
    /// When they can't be had, or a channel's file can't be opened; in words.
    pub(super) fn new(
        job: &ProgramJob,
        setting: &GuestSetting,
        region: Region<'_>,
        locks: bool,
    ) -> Result<Self, String> {
        let rows = Rows::keep(job, setting, region, locks)?;
        let (memory, pin) = colours::memory(setting, &rows.shared)?;
        Ok(Self { memory: Arc::new(memory), pin, rows })
    }
}

impl Rows {
    fn keep(
        job: &ProgramJob,
        setting: &GuestSetting,
        region: Region<'_>,
        locks: bool,
    ) -> Result<Self, String> {
        let row = |start: u64, end: u64| {
            Row::keep(start, end - start, locks)
                .map_err(|error| format!("no addresses: {}", Causes(&error)))
        };
        let bytes = whole_pages(region.layout().bytes as u64);
        if bytes > places::EXCHANGE_BYTES_MAX {
            let most = ByteSize::new(places::EXCHANGE_BYTES_MAX);
            let bytes = ByteSize::new(bytes);
            return Err(format!("the exchange has {bytes}; a guest can have {most} at most"));
        }
        let end = places::EXCHANGE + bytes;
        let start = if setting.colours.is_some() { places::POST } else { 0 };
        let code_end = places::PROGRAM_CODE[1] + places::PROGRAM_CODE_BYTES_MAX;
        let given = Channels::open(job)?;
        let channels = match given.places.last() {
            Some(last) => Some(row(places::CHANNELS, last.address + last.bytes)?),
            None => None,
        };
        Ok(Self {
            shared: row(start, end)?,
            code: row(places::PROGRAM_CODE[0], code_end)?,
            channels,
            channel_files: given.files,
            channel_places: given.places,
        })
    }

    /// Gives all rows to a machine.
    ///
    /// # Errors
    /// When KVM refuses one; in words.
    pub(super) fn give(&self, machine: &Machine) -> Result<(), String> {
        let give = |name, row, access| machine.give_row(name, row, access).map_err(in_words);
        if self.shared.place() != 0 {
            give("shared memory", &self.shared, Access::ReadWrite)?;
        }
        give("programs", &self.code, Access::ReadOnly)?;
        match &self.channels {
            Some(channels) => give("channels", channels, Access::ReadWrite),
            None => Ok(()),
        }
    }
}

/// The memory that a guest shares with its host, at its addresses.
#[derive(Debug)]
pub(super) struct SharedMemory {
    /// Addresses of the exchange in the guest.
    pub(super) exchange: AddressRange,
    pub(super) post: &'static Shared,
    pub(super) programs: Programs,
    /// The first program, which is yet to be placed.
    pub(super) program: Program,
}

impl SharedMemory {
    /// Maps all of it and reads the program. `file` is the exchange's memory file.
    ///
    /// # Errors
    /// When memory can't be had, or the program can't be read; in words.
    pub(super) fn map(
        rows: &Rows,
        job: &ProgramJob,
        region: Region<'_>,
        file: &File,
    ) -> Result<Self, String> {
        let row = &rows.shared;
        let size = ByteSize::new(bytes_for(POST_BYTES) as u64);
        let post = Shared::create_in(row, "quietcore-post", places::POST, size);
        let post = post.map_err(|error| format!("no memory for orders: {}", Causes(&error)))?;
        let bytes = whole_pages(region.layout().bytes as u64);
        let exchange = AddressRange { address: places::EXCHANGE, bytes };
        of_file(row, "exchange", exchange, (file, 0))?;
        let data = |slot: Slot| {
            let section = region.data(slot).ok_or("the exchange has no data slots")?.section();
            let bytes = whole_pages(section.bytes as u64);
            let place = AddressRange { address: places::PROGRAM_DATA[slot as usize], bytes };
            of_file(row, "program data", place, (file, section.offset as u64)).map(Arc::new)
        };
        let data = [data(Slot::A)?, data(Slot::B)?];
        let program = programs::read(&job.build.module, data[0].bytes())?;
        let programs = Programs::new(&program.image, data, |slot, size| {
            let place = places::PROGRAM_CODE[slot];
            Shared::create_in(&rows.code, "quietcore-program", place, size)
        })?;
        if let Some(channels) = &rows.channels {
            for (place, file) in rows.channel_places.iter().zip(&rows.channel_files) {
                of_file(channels, "channel", *place, (file, 0))?;
            }
        }
        Ok(Self { exchange, post: Box::leak(Box::new(post)), programs, program })
    }
}

fn of_file(
    row: &Arc<Row>,
    name: &'static str,
    place: AddressRange,
    (file, offset): (&File, u64),
) -> Result<Shared, String> {
    let made = Shared::of_file_in(row, name, place.address, (file, offset, place.bytes));
    made.map_err(|error: SharedError| {
        format!("{name} can't be given to the guest: {}", Causes(&error))
    })
}

fn whole_pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(places::PAGE_BYTES)
}
