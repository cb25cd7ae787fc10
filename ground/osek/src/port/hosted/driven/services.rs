//! Services that the loader of a module offers: `quietcore_services.h`, as far as the machine uses
//! it.
// UNSAFETY: reads a table that C has written, and calls its functions.
#![expect(unsafe_code, reason = "the table is the loader's, and its functions are C")]

use core::ffi::c_void;
use core::mem::{MaybeUninit, offset_of};

use quietcore_units::KernelJob;

use crate::configuration::Message;

/// The version from which on the table has the members below `now`.
const VERSION_WITH_TIMES: u32 = 2;

type Count = extern "C" fn(*const c_void, u16) -> u64;
type Instant = extern "C" fn(*const c_void) -> u64;

/// The table: `struct quietcore_services`, version 5. A null pointer is `None`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Services {
    /// Version of the table that the loader wrote.
    pub version: u32,
    /// Its bytes at the loader.
    pub bytes: u32,
    /// The first argument of each function.
    pub context: *const c_void,
    /// Functions that COM uses.
    pub com: [*const c_void; 8],
    /// The instant of this cycle.
    pub now: Option<Instant>,
    /// When this cycle was due.
    pub due: Option<Instant>,
    /// When the step has to be back.
    pub until: Option<Instant>,
    /// Asks for an interrupt at an instant; zero for never.
    pub interrupt_at: Option<extern "C" fn(*const c_void, u64)>,
    /// Takes note of a job.
    pub job: Option<extern "C" fn(*const c_void, *const KernelJob)>,
    /// Takes note of an error: task, status, service.
    pub error: Option<extern "C" fn(*const c_void, u32, u8, u8)>,
    /// The instant now; from version 3 on.
    pub clock: Option<Instant>,
    /// Functions of COM that wait, which no task of a kernel may call; from version 4 on.
    pub waiting: [*const c_void; 2],
    /// Counts the sendings of a received signal; from version 5 on.
    pub signal_count: Option<Count>,
    /// Counts the sendings of a received group; from version 5 on.
    pub group_count: Option<Count>,
}

/// A copy of the services that are used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    context: *const c_void,
    due: Option<Instant>,
    until: Option<Instant>,
    interrupt_at: Option<extern "C" fn(*const c_void, u64)>,
    job: Option<extern "C" fn(*const c_void, *const KernelJob)>,
    error: Option<extern "C" fn(*const c_void, u32, u8, u8)>,
    signal_count: Option<Count>,
    group_count: Option<Count>,
    #[cfg(target_os = "none")]
    clock: Option<Instant>,
}

impl Given {
    pub(super) const NOTHING: Self = Self {
        context: core::ptr::null(),
        due: None,
        until: None,
        interrupt_at: None,
        job: None,
        error: None,
        signal_count: None,
        group_count: None,
        #[cfg(target_os = "none")]
        clock: None,
    };

    /// Reads the table; of an older one what it has.
    ///
    /// # Safety
    /// Null, or a table of at least the bytes that it says it has.
    pub(super) unsafe fn read(table: *const Services) -> Self {
        if table.is_null() {
            return Self::NOTHING;
        }
        // SAFETY: every version begins with version and bytes.
        let (version, bytes) = unsafe { ((*table).version, (*table).bytes) };
        let bytes = (bytes as usize).min(size_of::<Services>());
        if version < VERSION_WITH_TIMES || bytes < offset_of!(Services, clock) {
            return Self::NOTHING;
        }
        let mut copy: MaybeUninit<Services> = MaybeUninit::zeroed();
        let place = copy.as_mut_ptr().cast::<u8>();
        // SAFETY: it has these bytes, as it says, and the copy has room for them.
        unsafe { place.copy_from_nonoverlapping(table.cast(), bytes) };
        // SAFETY: all of its members may be zero, which those are that an older table lacks.
        let given = unsafe { copy.assume_init() };
        Self {
            context: given.context,
            due: given.due,
            until: given.until,
            interrupt_at: given.interrupt_at,
            job: given.job,
            error: given.error,
            signal_count: given.signal_count,
            group_count: given.group_count,
            #[cfg(target_os = "none")]
            clock: given.clock,
        }
    }

    /// The instant now; zero where the loader does not tell it.
    #[cfg(target_os = "none")]
    pub(super) fn clock_ns(&self) -> u64 {
        self.clock.map_or(0, |clock| clock(self.context))
    }

    pub(super) fn due_ns(&self) -> Option<u64> {
        self.due.map(|due| due(self.context))
    }

    pub(super) fn until_ns(&self) -> Option<u64> {
        self.until.map(|until| until(self.context))
    }

    pub(super) fn interrupt_at(&self, at_ns: Option<u64>) {
        if let Some(interrupt_at) = self.interrupt_at {
            interrupt_at(self.context, at_ns.unwrap_or(0));
        }
    }

    /// Zero where the loader does not tell it.
    pub(super) fn message_count(&self, message: &Message) -> u64 {
        let count = if message.is_group { self.group_count } else { self.signal_count };
        count.map_or(0, |count| count(self.context, message.number))
    }

    pub(super) fn note_job(&self, job: &KernelJob) {
        if let Some(note) = self.job {
            note(self.context, job);
        }
    }

    pub(super) fn note_error(&self, task: Option<u8>, status: u8, service: u8) {
        if let Some(note) = self.error {
            note(self.context, task.map_or(u32::MAX, u32::from), status, service);
        }
    }
}
