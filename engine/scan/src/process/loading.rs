//! A build from its module file to a program in a data slot.
//!
// UNSAFETY: calls into the module. What it asks for is given by the order of things here: a build
// is initialised before any task knows it, each rate belongs to one task, and a build is dropped
// only when no task holds it any more.
#![expect(unsafe_code, reason = "a program is foreign code")]

use std::fmt;
use std::io;
use std::mem::ManuallyDrop;
use std::ptr;
use std::string::{String, ToString as _};
use std::sync::Arc;
use std::vec::Vec;

use arc_swap::ArcSwapOption;
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::com::Services;
use quietcore_exchange::{DataSlot as Slot, EventWriter, Happening, Region, ShortText};
use quietcore_process::guard::{self, Guard};
use quietcore_process::memory::MemorySource;
use quietcore_process::module::{DataSlot, Module};
use quietcore_units::{Causes, Nanos};
use rustix::thread::gettid;

use crate::change::slot_of;
use crate::fault::Fault;
use crate::kernel::Inside;
use crate::process::departure;
use crate::process::job::{self, KernelTask};
use crate::process::watchman::Watched;
use crate::process::{kernel, library};
use crate::program::{Build, Program};
use crate::stage::{Room, Stage};

/// The longest that `initialize` or `terminate` of a program may take.
pub(crate) const CALL_MAX: Nanos = Nanos::from_secs(10);

/// The calling thread, which loads builds, as the watchman sees it: the last of the watched.
pub(crate) fn watched_loader(limit: Nanos) -> Watched {
    let thread_id = gettid().as_raw_nonzero().get().unsigned_abs();
    Watched { guard: Guard::default(), limit, thread_id: thread_id.into() }
}

/// A program loaded into this process.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Stays loaded for ever where its `terminate` has left a lock of a library held.
    module: ManuallyDrop<Module>,
    /// Slot and generation, which the services of a kernel ask for; `None` for a program that is no
    /// kernel.
    kernel: Option<Inside>,
    watched: Arc<[Watched]>,
}

/// The builds in the two data slots.
pub(crate) type Slots = [ArcSwapOption<Build<Loaded>>; 2];

impl Program for Loaded {
    #[inline]
    fn step(&self, task: usize, rate: u32) -> Result<(), Fault> {
        let Some(watched) = self.watched.get(task) else {
            return Err(Fault::Model { status: ShortText::default() });
        };
        if let Some(build) = self.kernel {
            kernel::enter(build);
            departure::enter(self.module.under_way());
        }
        // SAFETY: each rate is given to one task only, which `Loader::load` checks; initialised
        // before any task got it.
        let stepped = unsafe { self.module.step(&watched.guard, rate) };
        stepped.map_err(|fault| {
            kernel::stop_timer();
            fault_of(&self.module, &fault)
        })
    }

    fn task_under_way(&self) -> Option<u32> {
        // Its tasks stand behind those of the partition; the last of the watched is none of them.
        let first = u32::try_from(self.watched.len()).ok()?.checked_sub(1)?;
        first.checked_add(self.module.task_under_way()?)
    }

    fn error_status(&self) -> ShortText {
        ShortText::new(self.module.error_bytes())
    }

    #[inline]
    fn has_error(&self) -> bool {
        self.module.has_error()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let Some(loader) = self.watched.last() else { return };
        // SAFETY: dropped by the last holder, so no other code of it runs. Its fault ends it too.
        let terminated = unsafe { self.module.terminate(&loader.guard) };
        if terminated.is_err_and(|fault| is_held_after(&self.module, &fault)) {
            return;
        }
        // SAFETY: dropped once, and not used after this.
        unsafe { ManuallyDrop::drop(&mut self.module) };
    }
}

/// The position in the code of a module at which a call of it was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CodePosition {
    /// The instruction, as linked; `in_library` that of the call into the library, 0 where it is
    /// not known.
    instruction: u64,
    /// `true` if it was in a library.
    in_library: bool,
}

/// Finds out where a call was ended, in the thread that made it. Where it was in a library, the
/// libraries are examined.
fn position_of(module: &Module, fault: &guard::Fault) -> CodePosition {
    if let Some(instruction) = module.linked_address(fault.instruction) {
        return CodePosition { instruction, in_library: false };
    }
    library::examine();
    CodePosition { instruction: module.called_from().unwrap_or(0), in_library: true }
}

/// Returns the fault that ended a call of a module, placed as [`position_of`] does. It allocates
/// nothing.
fn fault_of(module: &Module, fault: &guard::Fault) -> Fault {
    let CodePosition { instruction, in_library } = position_of(module, fault);
    if fault.is_cancelled() {
        return Fault::Loop { instruction, in_library };
    }
    let guard::Fault { signal, address, overflow_address, .. } = *fault;
    let overflowed = module.overflowed_task(overflow_address);
    Fault::Crash { signal, address, instruction, in_library, overflowed }
}

/// Waits until it is known whether a fault of the calling thread has left a lock of a library held.
/// Returns whether it has; one that is not known to be free counts as held.
fn is_held_after(module: &Module, fault: &guard::Fault) -> bool {
    position_of(module, fault);
    library::wait_until_known(library::EXAMINATION_MAX)
}

/// The reason why a build is not loaded.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A reason in words.
    Words(String),
    /// Its `initialize` was ended, as the event says, and a library has a lock left held: this
    /// process can neither allocate nor load from now on.
    Held(Happening),
    /// A call was cut off inside of a library before, and a lock may still be held.
    HeldBefore,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Held(what) => {
                write!(f, "{what}; a library is left locked, and the process has to be replaced")
            }
            Self::HeldBefore => f.write_str(
                "the program was cut off inside of a library, which is left locked; the process \
                 has to be replaced",
            ),
        }
    }
}

impl From<String> for Refusal {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

impl From<&str> for Refusal {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

/// The loader of builds, with what every build needs.
#[derive(Debug)]
pub(crate) struct Loader<'a> {
    /// The exchange's memory, as this process was given it.
    pub(crate) memory: &'a MemorySource,
    /// The exchange as mapped by this process.
    pub(crate) region: Region<'a>,
    /// The sizes that all stages must fit.
    pub(crate) room: Room,
    /// The step function of each task.
    pub(crate) rates: &'a [u32],
    /// The guards of the tasks, and that of the thread that loads.
    pub(crate) watched: Arc<[Watched]>,
    /// The tasks of its kernel, where it is one.
    pub(crate) kernel_tasks: &'a [KernelTask],
    /// The services that programs call. They outlive every build, because whoever runs the tasks
    /// has them.
    pub(crate) services: &'a Services<'a>,
}

impl Loader<'_> {
    /// Loads a build into its slot, runs its `initialize` and gives it its values. Tells a crash in
    /// `initialize`, and one that does not return, as an event of the partition.
    ///
    /// # Errors
    /// Why it can't be loaded. Nothing of it stays loaded, unless it has left a library locked.
    pub(crate) fn load(
        &self,
        build: &job::Build,
        events: &mut EventWriter<'_>,
    ) -> Result<Arc<Build<Loaded>>, Refusal> {
        if library::is_held() {
            return Err(Refusal::HeldBefore);
        }
        let stage = &build.stage;
        stage.check(&self.room).map_err(|error| error.to_string())?;
        let slot = self.region.data(slot_of(stage.slot)).ok_or("the exchange has no data slots")?;
        let module = self.load_module(build, &slot)?;
        for rate in self.rates {
            if *rate >= module.rate_count() {
                let words = std::format!(
                    "a task runs step function {rate}, but the program has {}",
                    module.rate_count()
                );
                return Err(words.into());
            }
        }
        self.check_tasks(&module.tasks())?;
        let services = ptr::from_ref(self.services).cast();
        // SAFETY: the services are laid out as their header in C says and live longer than the
        // builds; nobody else knows the module yet.
        unsafe { module.connect(services) };
        let own = self.watched.last().ok_or("nobody looks after `initialize`")?;
        // SAFETY: nobody else knows the module yet.
        let initialized = unsafe { module.initialize(&own.guard) };
        if let Err(fault) = initialized {
            let fault = fault_of(&module, &fault);
            let what = fault.in_initialize(stage.generation, own.limit);
            events.tell(0, Monotonic.now(), self.region.layout().shape.task_count, what);
            return Err(refused(module, what));
        }
        if let Some(status) = module.error_status() {
            let words = std::format!("the model reports an error after `initialize`: {status}");
            return Err(words.into());
        }
        self.give_values(build)?;
        let Stage { slot, generation, .. } = *stage;
        let kernel = Inside { slot, generation };
        let kernel = (!self.kernel_tasks.is_empty()).then_some(kernel);
        let module = ManuallyDrop::new(module);
        let program = Loaded { module, kernel, watched: Arc::clone(&self.watched) };
        Ok(Arc::new(Build { stage: stage.clone(), program }))
    }

    /// The exchange has a row for each task of a kernel, by its place in the list of names.
    fn check_tasks(&self, found: &[String]) -> Result<(), String> {
        if found.iter().eq(self.kernel_tasks.iter().map(|task| &task.name)) {
            return Ok(());
        }
        let list = |names: &mut dyn Iterator<Item = &String>| {
            let names: Vec<&str> = names.map(String::as_str).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        Err(std::format!(
            "it has tasks of its own ({}) other than those that the partition was started with \
             ({}); bring the site down and up again",
            list(&mut found.iter()),
            list(&mut self.kernel_tasks.iter().map(|task| &task.name))
        ))
    }

    fn load_module(&self, build: &job::Build, slot: &Slot<'_>) -> Result<Module, String> {
        let section = slot.section();
        let bytes = build.image.bytes.min(section.bytes as u64);
        let part = self.memory.part(section.offset as u64, bytes);
        let part = part.map_err(|error| std::format!("the slot can't be mapped: {error}"))?;
        let place = DataSlot { file: part.file(), offset: part.offset(), bytes: section.bytes };
        // SAFETY: the host built the module; the slot is free, which whoever orders it made sure.
        let module = unsafe { Module::load(&build.module, build.image, place) };
        module.map_err(|error| Causes(&error).to_string())
    }

    fn give_values(&self, build: &job::Build) -> Result<(), String> {
        let data = self.region.writable_data(slot_of(build.stage.slot));
        let data = data.ok_or("the exchange has no data slots")?;
        for value in &build.values {
            if value.bytes.len() != value.place.bytes as usize {
                return Err("a retained value has not the size of its place".to_owned());
            }
            data.write(value.place.offset, &value.bytes).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Returns the reason to refuse a build whose `initialize` ended with a fault, told as `what`.
fn refused(module: Module, what: Happening) -> Refusal {
    if library::wait_until_known(library::EXAMINATION_MAX) {
        // Nothing of it can be given back.
        std::mem::forget(module);
        return Refusal::Held(what);
    }
    what.to_string().into()
}

/// Makes programs callable in this process.
///
/// # Errors
/// When the kernel refuses a signal handler.
pub(crate) fn prepare() -> io::Result<()> {
    quietcore_process::module::prepare()
}

#[cfg(test)]
mod tests;
