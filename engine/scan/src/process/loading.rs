//! A build from its module file to a program in a data slot.
//!
// UNSAFETY: calls into the module. What it asks for is given by the order of things here: a build
// is initialised before any task knows it, each rate belongs to one task, and a build is dropped
// only when no task holds it any more.
#![expect(unsafe_code, reason = "a program is foreign code")]

use std::fs::File;
use std::io;
use std::ptr;
use std::string::{String, ToString as _};
use std::sync::Arc;
use std::vec::Vec;

use arc_swap::ArcSwapOption;
use quietcore_exchange::com::Services;
use quietcore_exchange::{DataSlot as Slot, Region, ShortText};
use quietcore_process::guard::{self, Guard};
use quietcore_process::module::{DataSlot, Module};
use quietcore_units::{Causes, Nanos};
use rustix::thread::gettid;

use crate::change::slot_of;
use crate::fault::Fault;
use crate::kernel::Inside;
use crate::process::departure;
use crate::process::job::{self, KernelTask};
use crate::process::kernel;
use crate::process::watchman::Watched;
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
    module: Module,
    /// What the services of a kernel have to know of it.
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
            let instruction = self.module.linked_address(fault.instruction);
            let instruction = instruction.unwrap_or(fault.instruction);
            if fault.is_cancelled() {
                Fault::Loop { instruction }
            } else {
                let guard::Fault { signal, address, overflow_address, .. } = fault;
                let overflowed = self.module.overflowed_task(overflow_address);
                Fault::Crash { signal, address, instruction, overflowed }
            }
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
        let _ = unsafe { self.module.terminate(&loader.guard) };
    }
}

/// Loads builds.
#[derive(Debug)]
pub(crate) struct Loader<'a> {
    /// The exchange's memory file.
    pub(crate) file: &'a File,
    /// The exchange.
    pub(crate) region: Region<'a>,
    /// What all stages must fit.
    pub(crate) room: Room,
    /// The step function of each task.
    pub(crate) rates: &'a [u32],
    /// The guards of the tasks, and that of the thread that loads.
    pub(crate) watched: Arc<[Watched]>,
    /// The tasks of its kernel, where it is one.
    pub(crate) kernel_tasks: &'a [KernelTask],
    /// What it calls. They live longer than every build: who runs the tasks has them.
    pub(crate) services: &'a Services<'a>,
}

impl Loader<'_> {
    /// Loads a build into its slot, runs its `initialize` and gives it its values.
    ///
    /// # Errors
    /// Why it can't be loaded, in words; nothing of it stays loaded.
    pub(crate) fn load(&self, build: &job::Build) -> Result<Arc<Build<Loaded>>, String> {
        let stage = &build.stage;
        stage.check(&self.room).map_err(|error| error.to_string())?;
        let slot = self.region.data(slot_of(stage.slot)).ok_or("the exchange has no data slots")?;
        let module = self.load_module(build, &slot)?;
        for rate in self.rates {
            if *rate >= module.rate_count() {
                return Err(std::format!(
                    "a task runs step function {rate}, but the program has {}",
                    module.rate_count()
                ));
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
        initialized.map_err(|fault| {
            let instruction = module.linked_address(fault.instruction).unwrap_or(0);
            if fault.is_cancelled() {
                let limit = own.limit;
                return std::format!(
                    "`initialize` did not return within {limit}: it was at {instruction:#x}"
                );
            }
            std::format!("`initialize` crashed: signal {} at {instruction:#x}", fault.signal)
        })?;
        if let Some(status) = module.error_status() {
            return Err(std::format!("the model reports an error after `initialize`: {status}"));
        }
        self.give_values(build)?;
        let Stage { slot, generation, .. } = *stage;
        let kernel = Inside { slot, generation };
        let kernel = (!self.kernel_tasks.is_empty()).then_some(kernel);
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
        let place =
            DataSlot { file: self.file, offset: section.offset as u64, bytes: section.bytes };
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

/// Makes programs callable in this process.
///
/// # Errors
/// When the kernel refuses a signal handler.
pub(crate) fn prepare() -> io::Result<()> {
    quietcore_process::module::prepare()
}

#[cfg(test)]
mod tests;
