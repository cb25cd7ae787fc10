//! Loads the begin of a guest: an ELF image that is entered by PVH, and the start information that
//! it is handed.
//!
//! | address | what |
//! |---|---|
//! | 0x6000 | `hvm_start_info` |
//! | 0x6800 | the memory map |
//! | 0x6C00 | late releases, as the guest tells them |
//! | 0x7000 | the host page and the crash record; see `quietcore-boot` |
//! | 1 MiB and up | the image |

pub mod linux;

use std::io::{Read, Seek};
use std::sync::atomic::AtomicU64;

use linux_loader::configurator::pvh::PvhBootConfigurator;
use linux_loader::configurator::{BootConfigurator as _, BootParams};
use linux_loader::loader::elf::PvhBootCapability;
use linux_loader::loader::elf::start_info::{hvm_memmap_table_entry, hvm_start_info};
use linux_loader::loader::{Elf, KernelLoader as _};
use quietcore_boot::{
    CRASH_RECORD, CrashRecord, HOST_PAGE, HOST_TIME, HOST_TIME_WORDS, HostPage, HostTime,
    LATE_BYTES, LATE_RELEASES, LateReleases, RECORD_BYTES,
};
pub use vm_memory::GuestAddress;
use vm_memory::{Address as _, Bytes as _, GuestMemoryBackend as _, VolatileMemory as _};

use crate::memory::Memory;
use crate::processor::counter::Moment;

/// Address of the start information.
pub const START_INFORMATION: GuestAddress = GuestAddress(0x6000);
/// Address of the memory map.
const MEMORY_MAP: GuestAddress = GuestAddress(0x6800);
/// The lowest address of images.
pub const IMAGE_START: GuestAddress = GuestAddress(1 << 20);

const START_MAGIC: u32 = 0x336e_c578;
const MEMORY_KIND_RAM: u32 = 1;

/// Why an image can't be started.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It is no image for this machine. The loader's errors repeat their cause, so the text has
    /// them, and the chain does not.
    #[error(
        "the image can't be loaded: {0}; a guest is a static ELF program for x86-64, linked from \
         1 MiB, that fits in its memory"
    )]
    Load(linux_loader::loader::Error),
    /// It says nothing of how it is entered.
    #[error("the image has no PVH entry (an ELF note `Xen` of type 18)")]
    NoEntry,
    /// The start information has no room.
    #[error("the start information can't be written")]
    Start(#[from] linux_loader::configurator::Error),
}

/// Copies an image into memory and writes the start information. Returns where it is entered.
///
/// # Errors
/// [`ImageError`].
pub fn load<F: Read + Seek + vm_memory::ReadVolatile>(
    memory: &Memory,
    image: &mut F,
) -> Result<GuestAddress, ImageError> {
    let loaded =
        Elf::load(memory.mapping(), None, image, Some(IMAGE_START)).map_err(ImageError::Load)?;
    let PvhBootCapability::PvhEntryPresent(entry) = loaded.pvh_boot_cap else {
        return Err(ImageError::NoEntry);
    };
    let map = [hvm_memmap_table_entry {
        addr: 0,
        size: memory.size().get(),
        type_: MEMORY_KIND_RAM,
        reserved: 0,
    }];
    let start = hvm_start_info {
        magic: START_MAGIC,
        version: 1,
        memmap_paddr: MEMORY_MAP.raw_value(),
        memmap_entries: map.len() as u32,
        ..hvm_start_info::default()
    };
    let mut parameters = BootParams::new(&start, START_INFORMATION);
    parameters.set_sections(&map, MEMORY_MAP);
    PvhBootConfigurator::write_bootparams(&parameters, memory.mapping())?;
    Ok(entry)
}

/// Writes what the guest needs to know of its host.
///
/// # Panics
/// Never: the smallest memory has room for it.
pub fn write_host_page(memory: &Memory, page: &HostPage) {
    let written = memory.mapping().write_slice(&page.to_bytes(), GuestAddress(HOST_PAGE));
    written.expect("the smallest memory has room for it");
}

/// Tells the guest what the time is, in its host page, as often as this is called. For one thread.
///
/// # Panics
/// Never: the smallest memory has the page.
pub fn tell_time(memory: &Memory, now: Moment) {
    let bytes = HOST_TIME_WORDS * size_of::<AtomicU64>();
    let page = memory.mapping().get_slice(GuestAddress(HOST_TIME), bytes);
    let page = page.expect("the smallest memory has the page");
    let word = |index: usize| -> &AtomicU64 {
        let word = page.get_atomic_ref(index * size_of::<AtomicU64>());
        word.expect("the words are aligned, and as many")
    };
    let told = quietcore_boot::Moment { counter: now.counter, host_ns: now.host_ns };
    HostTime::new([word(0), word(1), word(2)]).tell(told);
}

/// Reads the guest's record of its late releases.
pub fn late_releases(memory: &Memory) -> Option<LateReleases> {
    let mut bytes = [0; LATE_BYTES];
    memory.mapping().read_slice(&mut bytes, GuestAddress(LATE_RELEASES)).ok()?;
    Some(LateReleases::from_bytes(&bytes))
}

/// Reads the record of a guest that crashed; returns `None` if it left nothing that can be read.
pub fn crash_record(memory: &Memory) -> Option<CrashRecord> {
    let mut bytes = [0; RECORD_BYTES];
    memory.mapping().read_slice(&mut bytes, GuestAddress(CRASH_RECORD)).ok()?;
    CrashRecord::from_bytes(&bytes)
}
