//! Pages to choose from, and the memory that is made of the chosen ones.
//!
//! ```text
//! a memory file grows ─► its pages are locked, and asked where they are ─► enough of each colour
//!   ─► chosen pages are mapped one by one, in the guest's order, into one stretch of addresses
//!   ─► held in place; all others go back to the kernel; asked once more where they are
//! ```
//!
//! The guest's memory at an address is somewhere else in the file: others can't map it by offset.
// UNSAFETY: maps pages at addresses of its own choice.
#![expect(unsafe_code, reason = "pages of a file are mapped one by one, at fixed addresses")]

use std::fs::{self, File};
use std::io;

use quietcore_units::ByteSize;
use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap};
use vm_memory::mmap::{MmapRegionBuilder, MmapRegionError};
use vm_memory::{FileOffset, MmapRegion};

use crate::colour::choice::{Colouring, Shortage};
use crate::colour::frames::{Frames, PageMap};
use crate::colour::geometry::{Ground, NoColours};
use crate::colour::measure::{Measured, measure};
use crate::colour::pin::Pin;
use crate::colour::timing::PoolTimer;
use crate::memory::{Memory, MemoryError, PAGE_BYTES};

const PAGE: usize = PAGE_BYTES as usize;
/// The pool is at most so many times as large as it would be if all colours were equally frequent.
const POOL_MOST: usize = 8;
/// The part of what is available that stays so.
const RESERVE_PART: u64 = 4;

/// Why there is no coloured memory.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// There are no colours.
    #[error(transparent)]
    NoColours(#[from] NoColours),
    /// The kernel has too few pages of some colours, or too few to look at more.
    #[error("among {looked_at} pages of 4 KiB there are too few of the colours asked for: {short}")]
    Short {
        /// Number of pages that were looked at.
        looked_at: usize,
        /// The colours of which there are too few.
        short: Shortage,
    },
    /// The operating system refused a step.
    #[error("coloured memory can't be had ({what})")]
    System {
        /// The step that failed.
        what: &'static str,
        /// The error of the system.
        #[source]
        because: io::Error,
    },
    /// It can't be mapped.
    #[error("coloured memory can't be mapped")]
    Map(#[from] MmapRegionError),
    /// It is no memory of a guest.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Pages were moved while they were chosen.
    #[error("{pages} pages were moved to other colours while memory was made of them")]
    Moved {
        /// Number of pages that were moved.
        pages: usize,
    },
}

/// Pages of a memory file, all of them present and locked.
#[derive(Debug)]
pub struct Pool {
    file: File,
    chunks: Vec<MmapRegion>,
    /// The physical pages, in the order of the file.
    frames: Vec<u64>,
}

impl Pool {
    /// A pool of so many pages.
    ///
    /// # Errors
    /// [`PoolError`]; then nothing is left.
    pub fn new(pages: usize, knows: &impl Frames) -> Result<Self, PoolError> {
        let mut pool = Self::empty()?;
        pool.grow(pages, knows)?;
        Ok(pool)
    }

    fn empty() -> Result<Self, PoolError> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("quietcore-guest", flags).map_err(system("making a file"))?;
        Ok(Self { file: File::from(file), chunks: Vec::new(), frames: Vec::new() })
    }

    /// Returns the numbers of the physical pages.
    pub fn frames(&self) -> &[u64] {
        &self.frames
    }

    fn grow(&mut self, pages: usize, knows: &impl Frames) -> Result<(), PoolError> {
        let (first, more) = (self.frames.len() * PAGE, pages * PAGE);
        ftruncate(&self.file, (first + more) as u64).map_err(system("sizing it"))?;
        let file = self.file.try_clone();
        let file =
            file.map_err(|because| PoolError::System { what: "opening it again", because })?;
        let chunk: MmapRegion = MmapRegionBuilder::new(more)
            .with_file_offset(FileOffset::new(file, first as u64))
            .with_mmap_prot(libc::PROT_READ | libc::PROT_WRITE)
            .with_mmap_flags(libc::MAP_SHARED)
            .build()?;
        // SAFETY: the mapping lives; locking it makes its pages present, and changes nothing else.
        unsafe { mlock(chunk.as_ptr().cast(), more) }.map_err(system("locking it"))?;
        let frames = knows.of(chunk.as_ptr().addr() as u64, pages)?;
        let all: Option<Vec<u64>> = frames.into_iter().collect();
        let because = || io::Error::other("a locked page is not there");
        self.frames.extend(
            all.ok_or_else(|| PoolError::System { what: "looking at it", because: because() })?,
        );
        self.chunks.push(chunk);
        Ok(())
    }

    /// A byte of a page, to be read.
    ///
    /// # Panics
    /// Where there is no such page.
    pub(crate) fn byte(&self, page: usize, offset: usize) -> *const u8 {
        assert!(offset < PAGE, "within the page");
        let mut place = page * PAGE;
        for chunk in &self.chunks {
            if place < chunk.size() {
                return chunk.as_ptr().wrapping_add(place + offset);
            }
            place -= chunk.size();
        }
        panic!("page {page} of {}", self.frames.len());
    }

    /// Gives the pool up for the chosen pages, in this order, as one mapping.
    fn into_mapping(self, chosen: &[usize]) -> Result<(File, MmapRegion), PoolError> {
        // A mapping of nothing, which ends as a whole whatever is mapped into it.
        let mapping: MmapRegion = MmapRegionBuilder::new(chosen.len() * PAGE)
            .with_mmap_prot(libc::PROT_NONE)
            .with_mmap_flags(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE)
            .build()?;
        for (place, page, pages) in runs(chosen) {
            let at = mapping.as_ptr().wrapping_add(place * PAGE);
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::POPULATE;
            let (bytes, offset) = (pages * PAGE, (page * PAGE) as u64);
            // SAFETY: the addresses are within the mapping made above, which has no other user.
            unsafe { mmap(at.cast(), bytes, rights, flags, &self.file, offset) }
                .map_err(system("mapping it page by page; vm.max_map_count limits how many"))?;
        }
        // SAFETY: the mapping lives; locking changes nothing of what is in it.
        unsafe { mlock(mapping.as_ptr().cast(), mapping.size()) }
            .map_err(system("locking what was chosen"))?;
        for (page, pages) in gaps(chosen, self.frames.len()) {
            let (offset, bytes) = ((page * PAGE) as u64, (pages * PAGE) as u64);
            let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(&self.file, how, offset, bytes).map_err(system("giving the rest back"))?;
        }
        let seals = SealFlags::SHRINK | SealFlags::GROW;
        fcntl_add_seals(&self.file, seals).map_err(system("sealing it"))?;
        Ok((self.file, mapping))
    }
}

/// Chosen pages as runs of neighbours: the place in the list, the first page, how many.
fn runs(chosen: &[usize]) -> Vec<(usize, usize, usize)> {
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    for (place, &page) in chosen.iter().enumerate() {
        match runs.last_mut() {
            Some((_, first, pages)) if *first + *pages == page => *pages += 1,
            _ => runs.push((place, page, 1)),
        }
    }
    runs
}

/// The pages that were not chosen, of so many: the first page of each stretch, and how many.
fn gaps(chosen: &[usize], pages: usize) -> Vec<(usize, usize)> {
    let mut is_chosen = vec![false; pages];
    chosen.iter().for_each(|page| is_chosen[*page] = true);
    let left: Vec<usize> = (0..pages).filter(|page| !is_chosen[*page]).collect();
    runs(&left).into_iter().map(|(_, first, count)| (first, count)).collect()
}

/// Measures the colours of this machine, on the CPU that the thread is pinned to. Takes four times
/// as much memory as the last-level cache has, and gives it back.
///
/// # Errors
/// [`PoolError`]: there are no colours, or no memory.
pub fn measure_here(ground: &Ground) -> Result<Measured, PoolError> {
    let pages = ground.pages_to_measure()?;
    let line_bytes = ground.shape()?.line_bytes;
    let pool = Pool::new(pages, &PageMap::open()?)?;
    let mut timer = PoolTimer::new(&pool, line_bytes);
    Ok(measure(ground, pool.frames(), &mut timer)?)
}

/// Looks after the colours of a guest's memory.
#[derive(Debug)]
pub struct ColouredMemory<F> {
    colouring: Colouring,
    colours: Vec<u32>,
    address: u64,
    pages: usize,
    knows: F,
    pin: Result<Pin, io::Error>,
}

impl<F: Frames> ColouredMemory<F> {
    /// Makes memory of a guest from pages of these colours. It looks after them as long as it
    /// lives, and the memory does. Others keep a quarter of the memory that they could have.
    ///
    /// # Errors
    /// [`PoolError`]; then nothing is left.
    pub fn create(
        size: ByteSize,
        colouring: Colouring,
        colours: &[u32],
        knows: F,
    ) -> Result<(Memory, Self), PoolError> {
        Self::create_within(size, colouring, colours, knows, has_room)
    }

    /// As [`create`](Self::create), of no more pages than `has_room` says that there is room for.
    fn create_within(
        size: ByteSize,
        colouring: Colouring,
        colours: &[u32],
        knows: F,
        has_room: impl Fn(usize) -> bool,
    ) -> Result<(Memory, Self), PoolError> {
        Memory::check(size)?;
        let pages = usize::try_from(size.get()).unwrap_or(usize::MAX) / PAGE;
        // As many as it takes where every colour is equally frequent, and some more.
        let share = (pages * colouring.count() as usize).div_ceil(colours.len().max(1));
        let step = share.div_ceil(8).max(1);
        let mut pool = Pool::empty()?;
        let chosen = loop {
            let looked_at = pool.frames.len();
            let more = if looked_at == 0 { share + step } else { step };
            match colouring.choose(pool.frames(), colours, pages) {
                Ok(chosen) => break chosen,
                Err(_) if looked_at + more <= share * POOL_MOST && has_room(more) => {
                    pool.grow(more, &knows)?;
                }
                Err(short) => return Err(PoolError::Short { looked_at, short }),
            }
        };
        let (file, mapping) = pool.into_mapping(&chosen)?;
        let address = mapping.as_ptr().addr() as u64;
        let pin = Pin::hold(address, size.get());
        let colours = colours.to_vec();
        let memory = Memory::of(size, file, mapping)?;
        let coloured = Self { colouring, colours, address, pages, knows, pin };
        match coloured.misplaced()? {
            0 => Ok((memory, coloured)),
            pages => Err(PoolError::Moved { pages }),
        }
    }

    /// Counts pages that are of other colours now, or not there. Zero, unless the kernel moved
    /// some.
    ///
    /// # Errors
    /// [`NoColours::NoAddresses`].
    pub fn misplaced(&self) -> Result<usize, NoColours> {
        let frames = self.knows.of(self.address, self.pages)?;
        let is_right = |frame: u64| self.colours.contains(&self.colouring.of_frame(frame));
        Ok(frames.into_iter().filter(|frame| !frame.is_some_and(is_right)).count())
    }

    /// Returns the lock of the pages alone: for a process that shall not see their physical
    /// addresses any more.
    ///
    /// # Errors
    /// Why the kernel may move pages.
    pub fn into_pin(self) -> io::Result<Pin> {
        self.pin
    }

    /// Why the kernel may move pages; `None` where it can't.
    pub fn may_move(&self) -> Option<&io::Error> {
        self.pin.as_ref().err()
    }
}

/// Returns `true` if there is room for so many pages more, or if the kernel does not tell.
fn has_room(pages: usize) -> bool {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let bytes = (pages as u64).saturating_mul(PAGE_BYTES);
    available(&text).is_none_or(|available| bytes <= available - available / RESERVE_PART)
}

/// Returns the bytes that may be had without harm to others, by `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn system(what: &'static str) -> impl Fn(rustix::io::Errno) -> PoolError {
    move |because| PoolError::System { what, because: because.into() }
}

#[cfg(test)]
mod tests;
