//! A built control program, loaded into this process, its data moved into shared memory.
//!
//! ```text
//!  loaded module                     exchange's memory file
//!  ┌──────────────┐
//!  │ code         │
//!  │ read-only    │
//!  ├──────────────┤ image.address   ┌──────────────┐ slot.offset
//!  │ .data, .bss  │ ── copied to ──►│ data slot    │
//!  │              │ ◄─ mapped over ─│              │
//!  └──────────────┘ image.bytes     └──────────────┘
//! ```
//!
//! After that the program's variables *are* the slot: whoever maps the exchange reads them without
//! the program's help. The module is loaded from a copy in memory, so that one file can be loaded
//! twice and may be replaced on disk meanwhile.
//!
// UNSAFETY: loads foreign code and replaces pages of it by shared ones.
#![expect(unsafe_code, reason = "foreign code is loaded and called")]

use std::ffi::{CStr, c_char, c_void};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::ops::Range;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::Path;
use std::ptr::NonNull;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use quietcore_exchange::program_face::{FACE_VERSION, ProgramFace, RATE_LIMIT, UnderWay};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};

use crate::descriptors;
use crate::guard::{self, Fault, Guard};

/// The largest module that is loaded.
pub const MODULE_BYTES_MAX: u64 = 256 << 20;
/// The most tasks of a module that is a kernel.
pub const TASK_LIMIT: u32 = 255;
/// Bytes that are kept of a model's error status, and of a task's name.
const STATUS_BYTES_MAX: usize = 256;
const PAGE: usize = 4096;

/// Why a module can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// Its file can't be read.
    #[error("the module `{path}` can't be read")]
    Read {
        /// Path of the file.
        path: String,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The dynamic loader refuses it.
    #[error("the module `{path}` can't be loaded: {reason}")]
    Load {
        /// Path of the file.
        path: String,
        /// The message of the dynamic loader.
        reason: String,
    },
    /// It is not of the version that this program knows.
    #[error("the module has version {found}, this program knows {FACE_VERSION}; build it again")]
    Version {
        /// The version in the module.
        found: u32,
    },
    /// It has no step function or too many.
    #[error("the module has {found} step functions; 1 to {RATE_LIMIT} are possible")]
    Rates {
        /// The number in the module.
        found: u32,
    },
    /// It has more tasks of its own than are possible.
    #[error("the module has {found} tasks of its own; {TASK_LIMIT} are possible")]
    Tasks {
        /// The number in the module.
        found: u32,
    },
    /// Its data can't be moved.
    #[error("the data of the module ({image:?}) can't be moved into {slot} bytes: {reason}")]
    Data {
        /// The image that the module claims.
        image: DataImage,
        /// The room there is.
        slot: usize,
        /// The problem, as the rest of a sentence.
        reason: String,
    },
}

/// The writable data of a module, by their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DataImage {
    /// Address of the first page, as linked.
    pub address: u64,
    /// Size in bytes; a whole number of pages.
    pub bytes: u64,
}

/// A part of the exchange's memory file that takes a module's data.
#[derive(Clone, Copy, Debug)]
pub struct DataSlot<'a> {
    /// The memory file of the exchange.
    pub file: &'a File,
    /// Offset of the slot in the file; a whole number of pages.
    pub offset: u64,
    /// Size of the slot in bytes.
    pub bytes: usize,
}

/// A loaded module. Dropping it unloads its code; the data in the slot stay.
#[derive(Debug)]
pub struct Module {
    face: NonNull<ProgramFace>,
    /// The number to add to a linked address.
    base: u64,
    /// The end of its linked addresses.
    span: u64,
    /// The linked addresses of its code.
    code: Range<u64>,
    rate_count: u32,
    _library: Library,
    /// Open as long as the module is loaded: the dynamic loader knows a module by its name, and the
    /// number in it must not be another file's meanwhile.
    _copy: File,
}

// SAFETY: the face lies in the module's read-only memory and lives as long as `_library`; that its
// functions are called by one thread at a time for each rate is demanded where they are called.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads the module at `path` and moves its data into `slot`.
    ///
    /// # Errors
    /// [`ModuleError`]; then nothing of it stays loaded.
    ///
    /// # Safety
    /// The module was built by `engine/program`: loading it runs no code but its own constructors.
    /// Nothing else uses the slot.
    pub unsafe fn load(
        path: &Path,
        image: DataImage,
        slot: DataSlot<'_>,
    ) -> Result<Self, ModuleError> {
        let (copy, bytes) = copy_of(path)?;
        let name = format!("/proc/self/fd/{}", copy.as_raw_fd());
        let refused = |error: libloading::Error| ModuleError::Load {
            path: path.display().to_string(),
            reason: error.to_string(),
        };
        // SAFETY: our caller vouches for the module's constructors.
        let library = unsafe { Library::open(Some(&name), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(refused)?;
        // SAFETY: the symbol of this name is a `ProgramFace` in every module.
        let symbol = unsafe { library.get::<*const ProgramFace>(b"quietcore_module\0") };
        let face = symbol.map_err(refused)?.into_raw().cast::<ProgramFace>();
        let face = NonNull::new(face).ok_or_else(|| ModuleError::Load {
            path: path.display().to_string(),
            reason: "`quietcore_module` is null".to_owned(),
        })?;
        // SAFETY: the first member of every version of the face is its version.
        let version = unsafe { face.cast::<u32>().read() };
        if version != FACE_VERSION {
            return Err(ModuleError::Version { found: version });
        }
        // SAFETY: a face of this version is laid out as `ProgramFace`.
        let rate_count = unsafe { face.as_ref() }.rate_count;
        if rate_count == 0 || rate_count > RATE_LIMIT {
            return Err(ModuleError::Rates { found: rate_count });
        }
        // SAFETY: as above.
        let task_count = unsafe { face.as_ref() }.task_count;
        if task_count > TASK_LIMIT {
            return Err(ModuleError::Tasks { found: task_count });
        }
        let base = base_of(face);
        // SAFETY: the module has just been loaded, and no code of it runs.
        unsafe { share_data(base, image, slot) }?;
        let span = loaded(&bytes).map(|part| part.addresses.end).max().unwrap_or(0);
        let code = loaded(&bytes).find(|part| part.is_code).map_or(0..0, |part| part.addresses);
        Ok(Self { face, base, span, code, rate_count, _library: library, _copy: copy })
    }

    fn face(&self) -> &ProgramFace {
        // SAFETY: it was checked when it was loaded, and lives as long as `_library`.
        unsafe { self.face.as_ref() }
    }

    /// The number of step functions, at least 1.
    pub fn rate_count(&self) -> u32 {
        self.rate_count
    }

    /// The names of the tasks whose jobs it tells; none where it is no kernel.
    pub fn tasks(&self) -> Vec<String> {
        let ProgramFace { tasks, task_count, .. } = *self.face();
        if tasks.is_null() {
            return Vec::new();
        }
        let names = (0..task_count as usize).map(|index| {
            // SAFETY: the face's list has so many names.
            let place = unsafe { tasks.add(index) };
            // SAFETY: as above; the list lies in the module and is not written any more.
            let name = unsafe { place.read() };
            // SAFETY: a name is null or a string that lives as long as the module.
            unsafe { text(name) }.unwrap_or_default()
        });
        names.collect()
    }

    /// The task of its own whose stack ends at an address, which a fault accessed.
    pub fn overflowed_task(&self, address: u64) -> Option<u32> {
        let overflowed = self.face().overflowed?;
        let address = usize::try_from(address).ok()?;
        Some(overflowed(std::ptr::without_provenance(address))).filter(|task| *task != u32::MAX)
    }

    /// The task of its own that a step, or a fault in one, has left in the middle of a job.
    pub fn task_under_way(&self) -> Option<u32> {
        let under_way = self.face().under_way?;
        Some(under_way()).filter(|task| *task != u32::MAX)
    }

    /// The function that says so, for as long as the module is loaded.
    #[inline]
    pub fn under_way(&self) -> Option<UnderWay> {
        self.face().under_way
    }

    /// Turns an address in this process into one of the module as linked; `None` if it is none of
    /// the module's: that of a library that it calls, say.
    pub fn linked_address(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.base).filter(|address| *address < self.span)
    }

    /// Returns the place in the module's code, as linked, from which the call that was ended last
    /// in this thread had called into a library; see [`guard::called_from`] for when there is none.
    pub fn called_from(&self) -> Option<u64> {
        let code =
            self.code.start.saturating_add(self.base)..self.code.end.saturating_add(self.base);
        // SAFETY: the module's code is loaded as long as this is, and its program header lets it be
        // read.
        let behind = unsafe { guard::called_from(code) }?;
        // The call itself, and not what follows it, which may be another line.
        self.linked_address(behind.checked_sub(1)?)
    }

    /// Gives the module the table of services that its `Com_*` functions use.
    ///
    /// # Safety
    /// `table` is a `struct quietcore_services` that outlives the module, and no code of the module
    /// runs.
    pub unsafe fn connect(&self, table: *const c_void) {
        let place = self.face().services;
        if !place.is_null() {
            // SAFETY: the face's pointer leads to the glue's own variable.
            unsafe { place.write(table) };
        }
    }

    /// Runs `initialize`.
    ///
    /// # Errors
    /// [`Fault`] when it crashed or was cancelled.
    ///
    /// # Safety
    /// No other code of the module runs.
    pub unsafe fn initialize(&self, guard: &Guard) -> Result<(), Fault> {
        // SAFETY: loaded C code, which may be passed an argument that it has no parameter for
        // (`program_face::Entry`).
        unsafe { guard.call(self.face().initialize, 0, None) }
    }

    /// Runs `step(rate)`. That of rate 0 may be interrupted, where the module has a function for
    /// it.
    ///
    /// # Errors
    /// [`Fault`] when it crashed or was cancelled.
    ///
    /// # Safety
    /// No other call of this rate runs, nor `initialize` or `terminate`.
    #[inline]
    pub unsafe fn step(&self, guard: &Guard, rate: u32) -> Result<(), Fault> {
        let interrupt = if rate == 0 { self.face().interrupt } else { None };
        // SAFETY: loaded C code.
        unsafe { guard.call(self.face().step, rate, interrupt) }
    }

    /// Runs `terminate`.
    ///
    /// # Errors
    /// [`Fault`] when it crashed or was cancelled.
    ///
    /// # Safety
    /// No other code of the module runs.
    pub unsafe fn terminate(&self, guard: &Guard) -> Result<(), Fault> {
        // SAFETY: as for `initialize`.
        unsafe { guard.call(self.face().terminate, 0, None) }
    }

    /// Returns `true` if the model reports an error. Costs one call and one comparison.
    #[inline]
    pub fn has_error(&self) -> bool {
        !(self.face().error_status)().is_null()
    }

    /// The bytes of the model's error status; none where there is no error. Does not allocate.
    pub fn error_bytes(&self) -> impl Iterator<Item = u8> {
        let status = NonNull::new((self.face().error_status)().cast_mut());
        let read = move |index: usize| {
            let status = status?;
            // SAFETY: within the string, as none is asked for behind its end.
            let place = unsafe { status.as_ptr().add(index) };
            // SAFETY: as above; an error status lives as long as the module.
            Some(unsafe { place.read() }.cast_unsigned()).filter(|byte| *byte != 0)
        };
        (0..STATUS_BYTES_MAX).map_while(read)
    }

    /// The model's error status in its own words, at most 256 bytes of it.
    pub fn error_status(&self) -> Option<String> {
        // SAFETY: an error status is null or a string that lives as long as the module.
        unsafe { text((self.face().error_status)()) }
    }
}

/// A text of a module's, at most 256 bytes of it; `None` for null.
///
/// # Safety
/// `text` is null or a string that lives.
unsafe fn text(text: *const c_char) -> Option<String> {
    let text = NonNull::new(text.cast_mut())?;
    // SAFETY: as promised by our caller.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_bytes();
    Some(String::from_utf8_lossy(&text[..text.len().min(STATUS_BYTES_MAX)]).into_owned())
}

/// A copy of the file in memory, and the end of the addresses that it is linked to.
fn copy_of(path: &Path) -> Result<(File, Vec<u8>), ModuleError> {
    let refused = |source| ModuleError::Read { path: path.display().to_string(), source };
    let mut original = File::open(path).map_err(refused)?.take(MODULE_BYTES_MAX + 1);
    let mut bytes = Vec::new();
    original.read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > MODULE_BYTES_MAX {
        return Err(refused(io::ErrorKind::FileTooLarge.into()));
    }
    let made = memfd_create("quietcore-module", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let mut copy: File = made.map_err(|errno| refused(errno.into()))?.into();
    copy.write_all(&bytes).map_err(refused)?;
    // Nobody writes to it any more, whatever a program does with numbers.
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
    fcntl_add_seals(&copy, seals).map_err(|errno| refused(errno.into()))?;
    let raised = descriptors::raised(&copy).map_err(refused)?;
    Ok((raised.into(), bytes))
}

/// A part of a module that is loaded.
#[derive(Debug)]
struct LoadedPart {
    /// Its addresses, as linked.
    addresses: Range<u64>,
    /// `true` if it is executed and can be read.
    is_code: bool,
}

/// The parts that the program headers of an ELF file of 64 bits load (elf(5)); none where it is no
/// such file.
fn loaded(file: &[u8]) -> impl Iterator<Item = LoadedPart> {
    let bytes = |at: usize, count: usize| file.get(at..at.checked_add(count)?);
    let half = move |at: usize| Some(u16::from_le_bytes(bytes(at, 2)?.try_into().ok()?));
    let word = move |at: usize| Some(u32::from_le_bytes(bytes(at, 4)?.try_into().ok()?));
    let long = move |at: usize| Some(u64::from_le_bytes(bytes(at, 8)?.try_into().ok()?));
    let header = move |index: u16| {
        let first = usize::try_from(long(32)?).ok()?;
        let at = first.checked_add(usize::from(index) * usize::from(half(54)?))?;
        let begin = long(at + 16)?;
        let addresses = begin..begin.checked_add(long(at + 40)?)?;
        let executed_and_read = libc::PF_X | libc::PF_R;
        let is_code = word(at + 4)? & executed_and_read == executed_and_read;
        (word(at)? == libc::PT_LOAD).then_some(LoadedPart { addresses, is_code })
    };
    (0..half(56).unwrap_or(0)).filter_map(header)
}

/// The address at which the module that holds `face` was loaded.
fn base_of(face: NonNull<ProgramFace>) -> u64 {
    // SAFETY: all zero is a valid `Dl_info`.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for; `found` is live.
    let known = unsafe { libc::dladdr(face.as_ptr().cast(), &raw mut found) };
    assert!(known != 0, "the dynamic loader knows what it loaded");
    found.dli_fbase as u64
}

/// Moves the pages of `image` into `slot`.
///
/// # Safety
/// The module at `base` is loaded, and none of its code runs.
unsafe fn share_data(base: u64, image: DataImage, slot: DataSlot<'_>) -> Result<(), ModuleError> {
    let refused =
        |reason: &str| ModuleError::Data { image, slot: slot.bytes, reason: reason.to_owned() };
    if image.bytes == 0 {
        return Ok(());
    }
    let bytes = usize::try_from(image.bytes).map_err(|_| refused("it is too large"))?;
    let begin = base
        .checked_add(image.address)
        .and_then(|begin| usize::try_from(begin).ok())
        .ok_or_else(|| refused("its address is beyond memory"))?;
    if !begin.is_multiple_of(PAGE) || !bytes.is_multiple_of(PAGE) {
        return Err(refused("it does not lie on whole pages"));
    }
    if bytes > slot.bytes {
        return Err(refused("the slot is smaller; start the partition anew"));
    }
    if !is_written_here(begin, bytes) {
        return Err(refused("these pages are not the module's"));
    }
    let place = std::ptr::with_exposed_provenance_mut::<u8>(begin);
    // SAFETY: the pages were seen to be mapped readable and writable, and nothing writes them: no
    // code of the module runs.
    let content = unsafe { std::slice::from_raw_parts(place, bytes) };
    let content = content.to_vec();
    // SAFETY: replaces exactly the pages that were copied, and no code of the module runs before
    // they have the same contents again.
    let mapped = unsafe {
        mmap(
            place.cast(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED | MapFlags::FIXED | MapFlags::POPULATE,
            slot.file.as_fd(),
            slot.offset,
        )
    };
    mapped.map_err(|errno| refused(&io::Error::from(errno).to_string()))?;
    // SAFETY: the pages are mapped readable and writable, for as many bytes, and nobody else uses
    // them: the slot is free. A device's memory can be written through a mapping only.
    unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), place, bytes) };
    Ok(())
}

/// Returns `true` if all these pages are mapped readable and writable, as the kernel says. A wrong
/// image would otherwise replace memory of something else.
fn is_written_here(begin: usize, bytes: usize) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return false };
    let mut covered = begin;
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(rights)) = (words.next(), words.next()) else { continue };
        let Some((first, end)) = range.split_once('-') else { continue };
        let (Ok(first), Ok(end)) =
            (usize::from_str_radix(first, 16), usize::from_str_radix(end, 16))
        else {
            continue;
        };
        if covered < begin + bytes && first <= covered && covered < end {
            if !rights.starts_with("rw-p") {
                return false;
            }
            covered = end;
        }
    }
    covered >= begin + bytes
}

/// Makes [`Module::step`] and the others possible in this process.
///
/// # Errors
/// As for [`guard::install`].
pub fn prepare() -> io::Result<()> {
    guard::install()
}
