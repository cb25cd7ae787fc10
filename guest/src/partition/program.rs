//! A program at its places: loaded, called, ended.
// UNSAFETY: calls into the program. What that asks for is given by the order of things here: a
// build is initialised before any task knows it, each rate belongs to one task, and a build is
// ended when no task has it any more.
#![expect(unsafe_code, reason = "a program is foreign code")]

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::{mem, ptr};
use quietcore_exchange::program_face::{Entry, Interrupt};

use quietcore_boot::AddressRange;
use quietcore_boot::places::PROGRAM_DATA;
use quietcore_exchange::com::Services;
use quietcore_exchange::{EventWriter, Region, ShortText, Slot};
use quietcore_scan::fault::Fault;
use quietcore_scan::guest::job::GuestBuild;
use quietcore_scan::job::KernelTask;
use quietcore_scan::kernel::Inside;
use quietcore_scan::program::{Build, Program};
use quietcore_scan::shared::TASK_LIMIT;
use quietcore_scan::stage::Room;
use quietcore_units::Nanos;

use crate::devices;
use crate::pages::{PAGE_BYTES, Window, cut_out, touch};
use crate::partition::LOADER;
use crate::partition::board;
use crate::partition::calls::{Called, Failure, guard};
use crate::partition::face::{Face, ProgramMemory};
use crate::partition::kernel;
use crate::partition::start::{take_pages, take_table};

/// The longest that `initialize` or `terminate` of a program may take.
const CALL_MAX: Nanos = Nanos::from_secs(10);

/// Signals of POSIX, in whose words faults are told.
const SIGNAL_ILLEGAL: u32 = 4;
const SIGNAL_TRAP: u32 = 5;
const SIGNAL_BUS: u32 = 7;
const SIGNAL_ARITHMETIC: u32 = 8;
const SIGNAL_ADDRESS: u32 = 11;

/// The signal by which a process is told what an exception tells.
fn signal_of(vector: u8) -> u32 {
    match vector {
        0 | 16 | 19 => SIGNAL_ARITHMETIC,
        1 | 3 => SIGNAL_TRAP,
        6 | 7 => SIGNAL_ILLEGAL,
        17 => SIGNAL_BUS,
        _ => SIGNAL_ADDRESS,
    }
}

/// A program at its places.
#[derive(Debug)]
pub(crate) struct Loaded {
    face: Face,
    memory: ProgramMemory,
    /// The longest that a step of each task may take, in ns.
    limits: [u64; TASK_LIMIT],
    /// The row of the first task of its own, where it is a kernel.
    first_row: u32,
    slot: u8,
    /// Knowledge of a kernel that its services need.
    kernel: Option<Inside>,
}

impl Program for Loaded {
    #[inline]
    fn step(&self, task: usize, rate: u32) -> Result<(), Fault> {
        let Some(limit_ns) = self.limits.get(task) else {
            return Err(Fault::Model { status: ShortText::default() });
        };
        let interrupt = match self.kernel {
            Some(build) if rate == 0 => {
                kernel::enter(build);
                self.face.0.interrupt
            }
            _ => None,
        };
        let call = Call { context: task, slot: self.slot, limit_ns: *limit_ns, interrupt };
        call.make(self.face.0.step, rate).map_err(|failure| self.fault(&failure))
    }

    fn task_under_way(&self) -> Option<u32> {
        self.first_row.checked_add(self.face.task_under_way()?)
    }

    #[inline]
    fn has_error(&self) -> bool {
        self.face.has_error()
    }

    fn error_status(&self) -> ShortText {
        ShortText::new(self.face.error_bytes(&self.memory))
    }
}

impl Loaded {
    #[cold]
    fn fault(&self, failure: &Failure) -> Fault {
        if self.kernel.is_some() {
            kernel::stop_timer();
        }
        fault_of(&self.face, failure)
    }
}

/// Returns the fault that ended a call of a program. Its libraries are a part of it.
fn fault_of(face: &Face, failure: &Failure) -> Fault {
    let Failure { vector, address, instruction } = *failure;
    match vector {
        None => Fault::Loop { instruction, in_library: false },
        Some(vector) => Fault::Crash {
            signal: signal_of(vector),
            address,
            instruction,
            in_library: false,
            overflowed: face.overflowed_task(address),
        },
    }
}

/// Leaves a build whose code and data have been replaced: it can't be called any more.
pub(crate) fn leave(build: Build<Loaded>) {
    let Build { stage, program } = build;
    drop(stage);
    mem::forget(program);
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // Its fault ends it too.
        let _ = Call::of_loader(self.slot).make(self.face.0.terminate, 0);
    }
}

/// A call into a program.
struct Call {
    context: usize,
    slot: u8,
    limit_ns: u64,
    interrupt: Option<Interrupt>,
}

impl Call {
    /// One that the loader makes.
    fn of_loader(slot: u8) -> Self {
        Self { context: LOADER, slot, limit_ns: CALL_MAX.get(), interrupt: None }
    }

    #[inline]
    fn make(&self, entry: Entry, argument: u32) -> Result<(), Failure> {
        let until_ns = board::now().saturating_add(self.limit_ns);
        let called = Called { slot: self.slot, until_ns, interrupt: self.interrupt };
        board::begin_call(self.context, until_ns);
        // SAFETY: the face's functions lie in the program's code. Each rate belongs to one task,
        // which `load` checks, and the others are called by the loader, while no task has the
        // build.
        let result = unsafe { guard(self.context).call(entry, argument, &called) };
        board::end_call(self.context);
        result
    }
}

/// The memory that builds are loaded into.
#[derive(Debug)]
pub(crate) struct Loader {
    /// The exchange of the partition.
    pub(crate) region: Region<'static>,
    /// The room that all stages must fit.
    pub(crate) room: Room,
    /// The step function of each task, and the longest that it may take in ns.
    pub(crate) rates: Vec<(u32, u64)>,
    /// The tasks of its kernel, where it is one.
    pub(crate) kernel_tasks: Vec<KernelTask>,
    /// The services that a build calls.
    pub(crate) services: &'static Services<'static>,
}

impl Loader {
    /// Makes a build that was copied to its places a program: runs its `initialize` and gives it
    /// its values. Called in the loader's context. Tells a crash in `initialize`, and one that does
    /// not return, as an event of the partition.
    ///
    /// # Errors
    /// Why it can't be, in words.
    pub(crate) fn load(
        &self,
        build: &GuestBuild,
        events: &mut EventWriter<'_>,
    ) -> Result<Box<Build<Loaded>>, String> {
        let stage = &build.stage;
        stage.check(&self.room).map_err(|error| error.to_string())?;
        build.check().map_err(|error| error.to_string())?;
        let address = PROGRAM_DATA[usize::from(stage.slot)];
        let data = AddressRange { address, bytes: u64::from(stage.data_bytes) };
        let memory = ProgramMemory { code: build.code, data };
        self.map(build)?;
        for place in [build.code, data] {
            touch(place.address, place.bytes);
        }
        // SAFETY: both places were just mapped, and the host gives both as memory.
        let face = unsafe { Face::read(build.face, &memory) }?;
        for (rate, _) in &self.rates {
            if *rate >= face.0.rate_count {
                let count = face.0.rate_count;
                return Err(format!(
                    "a task runs step function {rate}, but the program has {count}"
                ));
            }
        }
        // SAFETY: this face of this memory.
        let tasks = unsafe { face.tasks(&memory) };
        if !tasks.iter().eq(self.kernel_tasks.iter().map(|task| &task.name)) {
            return Err("it has other tasks of its own than those that the partition was started \
                        with; bring the site down and up again"
                .to_string());
        }
        let services = ptr::from_ref(self.services).cast();
        // SAFETY: the services are laid out as their header in C says and live for ever; no task
        // knows the program yet.
        unsafe { face.connect(services) };
        if let Err(failure) = Call::of_loader(stage.slot).make(face.0.initialize, 0) {
            let what = fault_of(&face, &failure).in_initialize(stage.generation, CALL_MAX);
            let (now, task) = (Nanos::new(board::now()), self.region.layout().shape.task_count);
            events.tell(0, now, task, what);
            return Err(what.to_string());
        }
        if face.has_error() {
            let status: Vec<u8> = face.error_bytes(&memory).collect();
            let status = String::from_utf8_lossy(&status);
            return Err(format!("the model reports an error after `initialize`: {status}"));
        }
        for guard in face.guards(&memory) {
            let pages = guard.address..guard.address + guard.bytes;
            for page in pages.step_by(PAGE_BYTES) {
                // SAFETY: a page of the program's data, which it says that it does not touch.
                let cut = unsafe { cut_out(page as usize, || take_pages(PAGE_BYTES)) };
                cut.ok_or("the guest has not memory enough for guards of stacks")?;
            }
        }
        self.give_values(build)?;
        let mut limits = [0; TASK_LIMIT];
        for (limit, (_, limit_ns)) in limits.iter_mut().zip(&self.rates) {
            *limit = *limit_ns;
        }
        let first_row = self.rates.len() as u32;
        let inside = Inside { slot: stage.slot, generation: stage.generation };
        let kernel = (!self.kernel_tasks.is_empty()).then_some(inside);
        let program = Loaded { face, memory, limits, first_row, slot: stage.slot, kernel };
        Ok(Box::new(Build { stage: stage.clone(), program }))
    }

    /// Maps the places of a build: all of its data slot, and what it has of code.
    fn map(&self, build: &GuestBuild) -> Result<(), String> {
        let slot = build.stage.slot;
        let room = self.region.data(slot_of(slot)).ok_or("the exchange has no data slots")?;
        let section = room.section();
        devices::show_data(slot, section.offset as u64);
        let none = || "the guest has not memory enough for its program".to_string();
        devices::take_code(slot, build.code.bytes, take_pages).ok_or_else(none)?;
        // SAFETY: the slot's memory, which the build before has left; the host gives so much.
        let mapped = unsafe {
            Window::Data(slot)
                .map(section.bytes as u64, take_table)
                .and_then(|()| Window::Code(slot).map(build.code.bytes, take_table))
        };
        mapped.ok_or_else(|| "the guest has not memory enough to map its program".to_string())?;
        devices::renew_code(slot, build.code.bytes);
        Ok(())
    }

    fn give_values(&self, build: &GuestBuild) -> Result<(), String> {
        let data = self
            .region
            .writable_data(slot_of(build.stage.slot))
            .ok_or("the exchange has no data slots")?;
        for value in &build.values {
            if value.bytes.len() != value.place.bytes as usize {
                return Err("a retained value has not the size of its place".to_string());
            }
            data.write(value.place.offset, &value.bytes).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

fn slot_of(number: u8) -> Slot {
    if number == 0 { Slot::A } else { Slot::B }
}
