//! The face of a program, as it lies in its code: `quietcore_module.h`, version 3.
// UNSAFETY: reads memory in which a program lies.
#![expect(unsafe_code, reason = "a program is foreign code at an address")]

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::ffi::c_void;
use core::ptr;
use quietcore_exchange::program_face::{FACE_VERSION, ProgramFace, RATE_LIMIT};

use quietcore_boot::AddressRange;
use quietcore_scan::job::KERNEL_TASK_LIMIT;

use crate::pages::PAGE_BYTES;

/// Bytes of a text that are kept.
pub(crate) const TEXT_BYTES_MAX: usize = 256;

/// Stacks of a kernel beside those of its tasks, at most.
const STACKS_BESIDE: u32 = 2;

/// The face of a program whose addresses were found to lie in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Face(pub(crate) ProgramFace);

/// The functions as numbers, to be looked at before they are taken for functions.
type Words = [u64; 12];

const _: () = assert!(size_of::<ProgramFace>() == size_of::<Words>());

/// Memory in which a program may have what it refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramMemory {
    /// Range of code and constants.
    pub(crate) code: AddressRange,
    /// Range of its data.
    pub(crate) data: AddressRange,
}

impl ProgramMemory {
    fn has_code(&self, address: u64) -> bool {
        lies_within(self.code, address, 1)
    }

    fn has_data(&self, address: u64, bytes: u64) -> bool {
        lies_within(self.data, address, bytes)
    }

    fn has(&self, address: u64, bytes: u64) -> bool {
        lies_within(self.code, address, bytes) || self.has_data(address, bytes)
    }
}

fn lies_within(place: AddressRange, address: u64, bytes: u64) -> bool {
    let end = place.address + place.bytes;
    address >= place.address && address.checked_add(bytes).is_some_and(|last| last <= end)
}

impl Face {
    /// Reads and checks the face at an address.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    ///
    /// # Safety
    /// Code and data of the memory are mapped.
    pub(crate) unsafe fn read(address: u64, memory: &ProgramMemory) -> Result<Self, String> {
        if !lies_within(memory.code, address, size_of::<Words>() as u64) {
            return Err("its face does not lie in its code".to_string());
        }
        let place: *const Words = ptr::with_exposed_provenance(address as usize);
        // SAFETY: in its code, and a job's face is aligned.
        let words = unsafe { place.read_volatile() };
        let version = words[0] as u32;
        if version != FACE_VERSION {
            return Err(format!("it has version {version}; this guest knows {FACE_VERSION}"));
        }
        let rate_count = (words[0] >> 32) as u32;
        if rate_count == 0 || rate_count > RATE_LIMIT {
            return Err(format!("it has {rate_count} step functions; 1 to {RATE_LIMIT} can be"));
        }
        let [_, initialize, step, terminate, status, services, others @ ..] = words;
        let [interrupt, tasks, task_count, overflowed, under_way, guard] = others;
        let needed = [initialize, step, terminate, status];
        let optional = [interrupt, overflowed, under_way, guard];
        let is_good = needed.iter().all(|address| memory.has_code(*address))
            && optional.iter().all(|address| *address == 0 || memory.has_code(*address))
            && (services == 0 || memory.has_data(services, 8) && services.is_multiple_of(8));
        if !is_good {
            return Err("a function of its face does not lie in its code".to_string());
        }
        let task_count = task_count as u32;
        if task_count as usize > KERNEL_TASK_LIMIT {
            return Err(format!("it has {task_count} tasks; {KERNEL_TASK_LIMIT} can be"));
        }
        let list_bytes = u64::from(task_count) * 8;
        if task_count > 0 && !(tasks.is_multiple_of(8) && memory.has(tasks, list_bytes)) {
            return Err("its list of tasks does not lie in it".to_string());
        }
        // SAFETY: the same bytes, whose functions are addresses of its code and not null.
        Ok(Self(unsafe { place.cast::<ProgramFace>().read_volatile() }))
    }

    /// The names of the tasks whose jobs it tells.
    ///
    /// # Safety
    /// As for [`read`](Self::read), which made it, of the same memory.
    pub(crate) unsafe fn tasks(&self, memory: &ProgramMemory) -> Vec<String> {
        let name = |index: usize| {
            // SAFETY: the list lies in the program, as was checked.
            let place = unsafe { self.0.tasks.add(index) };
            // SAFETY: as above.
            let name = unsafe { place.read_volatile() };
            let start = name.expose_provenance() as u64;
            let bytes = (0..TEXT_BYTES_MAX as u64).map_while(|offset| {
                let address =
                    start.checked_add(offset).filter(|address| memory.has(*address, 1))?;
                let place: *const u8 = ptr::with_exposed_provenance(address as usize);
                // SAFETY: in the program.
                Some(unsafe { place.read_volatile() }).filter(|byte| *byte != 0)
            });
            String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
        };
        (0..self.0.task_count as usize).map(name).collect()
    }

    /// Gives the program the table of services.
    ///
    /// # Safety
    /// `table` is a `struct quietcore_services` that outlives the program, and no code of it runs.
    pub(crate) unsafe fn connect(&self, table: *const c_void) {
        if !self.0.services.is_null() {
            // SAFETY: it lies in the program's data, as was checked.
            unsafe { self.0.services.write_volatile(table) };
        }
    }

    /// Returns `true` if the model says that it has an error. One call and one comparison.
    #[inline]
    pub(crate) fn has_error(&self) -> bool {
        !(self.0.error_status)().is_null()
    }

    /// That error in the model's own words; none where there is none, or they lie elsewhere.
    pub(crate) fn error_bytes(&self, memory: &ProgramMemory) -> impl Iterator<Item = u8> {
        let start = (self.0.error_status)().expose_provenance() as u64;
        let memory = *memory;
        (0..TEXT_BYTES_MAX as u64).map_while(move |offset| {
            let address = start.checked_add(offset).filter(|address| memory.has(*address, 1))?;
            let place: *const u8 = ptr::with_exposed_provenance(address as usize);
            // SAFETY: in the program, which is mapped.
            Some(unsafe { place.read_volatile() }).filter(|byte| *byte != 0)
        })
    }

    /// The task of its own that a step, or a fault in one, has left in the middle of a job.
    #[inline]
    pub(crate) fn task_under_way(&self) -> Option<u32> {
        Some(self.0.under_way?()).filter(|task| *task != u32::MAX)
    }

    /// The guards of its stacks, which nothing touches: whole pages of its data. Asked after
    /// `initialize`, and to be looked at no further than the first that is none.
    pub(crate) fn guards(&self, memory: &ProgramMemory) -> impl Iterator<Item = AddressRange> {
        let (guard, memory) = (self.0.guard, *memory);
        let pages = PAGE_BYTES as u64;
        (0..KERNEL_TASK_LIMIT as u32 + STACKS_BESIDE).map_while(move |index| {
            let mut bytes = 0;
            let address = guard?(index, &mut bytes).expose_provenance() as u64;
            let place = AddressRange { address, bytes: bytes as u64 };
            let is_good = address.is_multiple_of(pages)
                && place.bytes.is_multiple_of(pages)
                && memory.has_data(address, place.bytes);
            is_good.then_some(place)
        })
    }

    /// The task of its own whose stack ends at an address, which a fault accessed.
    pub(crate) fn overflowed_task(&self, address: u64) -> Option<u32> {
        let address = ptr::without_provenance(address as usize);
        Some(self.0.overflowed?(address)).filter(|task| *task != u32::MAX)
    }
}
