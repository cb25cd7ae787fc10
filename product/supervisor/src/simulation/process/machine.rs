//! The inside of a simulated process: the scan cycle of `engine/scan`, on simulated time, with a
//! program whose steps go wrong by chance.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quietcore_backend::process::PrintedLines;
use quietcore_clock::Clock;
use quietcore_exchange::{
    EventWriter, Happening, Recorder, Region, Release, ShortText, Slot, TaskState,
};
use quietcore_process::exchange::Exchange;
use quietcore_release::Margin;
use quietcore_scan::change::Builds;
use quietcore_scan::fault::Fault;
use quietcore_scan::leader::Leader;
use quietcore_scan::process::job::{self, ProgramJob};
use quietcore_scan::program::{Build, NoFieldbus, Program};
use quietcore_scan::release::{Rest, Waiting};
use quietcore_scan::running::{self, Plan, TaskHost};
use quietcore_scan::shared::Shared;
use quietcore_scan::stage::{Room, Stage};
use quietcore_scan::task::{Task, TaskSettings};
use quietcore_scan::watchdog::Watchdog;
use quietcore_units::Nanos;

use super::turn::Turn;
use crate::simulation::chance::Chance;
use crate::simulation::ground::{Ground, Plant};

/// Wait status of a process that a signal has ended.
const KILLED_STATUS: i32 = 9;

/// The state that a process shares with the keeper's side, beside its exchange.
#[derive(Debug)]
pub(in crate::simulation) struct Core {
    pub(in crate::simulation) turn: Turn,
    desk: Mutex<Desk>,
}

/// Orders that come, and everything that a process has said and done.
#[derive(Debug, Default)]
pub(in crate::simulation) struct Desk {
    /// Orders, each with the instant at which it is carried out.
    pub(in crate::simulation) orders: VecDeque<(Nanos, job::Build)>,
    pub(in crate::simulation) remarks: String,
    pub(in crate::simulation) printed: PrintedLines,
    pub(in crate::simulation) cycles: u64,
    pub(in crate::simulation) faults: Vec<&'static str>,
    /// Generation in whose next step it stands still, in a story.
    pub(in crate::simulation) stands_in: Option<u32>,
    /// Instant at which it is killed.
    pub(in crate::simulation) dies_at: Option<Nanos>,
}

impl Core {
    pub(in crate::simulation) fn new(dies_at: Option<Nanos>) -> Self {
        let desk = Desk { dies_at, ..Desk::default() };
        Self { turn: Turn::default(), desk: Mutex::new(desk) }
    }

    pub(in crate::simulation) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the process run until an instant, or until its death.
    pub(in crate::simulation) fn run_until(&self, instant: Nanos) {
        let dies_at = self.desk().dies_at;
        match dies_at {
            Some(dies_at) if dies_at <= instant => {
                self.turn.grant(dies_at);
                self.desk().dies_at = None;
                if self.turn.ended().is_none() {
                    self.desk().faults.push("process killed");
                    self.turn.kill();
                }
            }
            _ => self.turn.grant(instant),
        }
    }
}

/// Time and chance within a process.
#[derive(Debug)]
struct Machine<'a> {
    core: &'a Core,
    now: Cell<Nanos>,
    chance: RefCell<Chance>,
    /// Number of cycles in which something goes wrong once, on average.
    peril: u64,
}

impl Machine<'_> {
    fn wait_until(&self, instant: Nanos) {
        self.core.turn.wait_until(instant);
        self.now.set(self.now.get().max(instant));
    }

    /// Lets time pass within a step.
    fn pass(&self, time: Nanos) {
        self.wait_until(self.now.get() + time);
    }

    fn note(&self, fault: &'static str) {
        self.core.desk().faults.push(fault);
    }

    /// Ends the process here and now.
    fn die(&self) {
        self.core.desk().dies_at = Some(self.now.get());
        self.wait_until(Nanos::MAX);
    }
}

/// The program, whose step is that of [`crate::simulation::ground`].
#[derive(Debug)]
struct Model<'a> {
    machine: &'a Machine<'a>,
    region: Region<'a>,
    slot: Slot,
    plant: &'a Plant,
    generation: u32,
    has_error: Cell<bool>,
}

impl Model<'_> {
    fn stand_still(&self) {
        self.machine.note("process that stands still");
        self.machine.wait_until(Nanos::MAX);
    }

    fn go_wrong(&self) -> Result<(), Fault> {
        let machine = self.machine;
        let fate = machine.chance.borrow_mut().below(8);
        let pause = machine.chance.borrow_mut().micros(1, 60_000);
        match fate {
            0 => {
                machine.note("crash of a program");
                let (signal, address, instruction) = (11, 0x40, 7);
                let overflowed = None;
                return Err(Fault::Crash {
                    signal,
                    address,
                    instruction,
                    in_library: false,
                    overflowed,
                });
            }
            1 => {
                machine.note("loop of a program");
                machine.pass(Nanos::from_millis(40));
                return Err(Fault::Loop { instruction: 7, in_library: false });
            }
            2 => {
                machine.note("error of a program");
                self.has_error.set(true);
            }
            3 => {
                self.stand_still();
            }
            4 => {
                machine.note("death within a step");
                machine.die();
            }
            5 => {
                machine.note("program that prints");
                let mut desk = machine.core.desk();
                desk.printed.lines.push("here I am".to_owned());
                desk.printed.left_out += 1;
            }
            _ => {
                machine.note("late completion");
                machine.pass(pause);
            }
        }
        Ok(())
    }
}

impl Program for Model<'_> {
    fn step(&self, _: usize, _: u32) -> Result<(), Fault> {
        let Some(data) = self.region.writable_data(self.slot) else { return Ok(()) };
        let places = &self.plant.places;
        let read = |offset, bytes| data.read_value(offset, bytes).unwrap_or(0);
        let write = |offset, bytes, value| {
            // The offsets are those of its own build, so this can't fail.
            let _ = data.write_value(offset, bytes, u64::MAX, value);
        };
        let count = read(places.a, 8).wrapping_add(1);
        write(places.a, 8, count);
        write(places.d, places.d_bytes, read(places.d, places.d_bytes).wrapping_add(1));
        let product = f64::from_bits(read(places.gain, 8)) * f64::from_bits(read(places.input, 8));
        write(places.output, 8, product.to_bits());
        let stands_in = self.machine.core.desk().stands_in;
        if stands_in == Some(self.generation) {
            self.stand_still();
        }
        let one_in = if self.plant.fails_soon { 100 } else { self.machine.peril };
        if self.machine.chance.borrow_mut().one_in(one_in) {
            self.go_wrong()?;
        }
        write(places.b, 8, count.wrapping_mul(3));
        write(places.c, 8, !count);
        let length = self.machine.chance.borrow_mut().micros(10, 300);
        self.machine.pass(length);
        Ok(())
    }

    fn has_error(&self) -> bool {
        self.has_error.get()
    }

    fn error_status(&self) -> ShortText {
        ShortText::new(*b"told to fail")
    }
}

/// The host of the process's task.
struct Inside<'a> {
    machine: &'a Machine<'a>,
    ground: &'a Ground,
    region: Region<'a>,
    shared: Shared,
    slots: RefCell<[Option<Build<Model<'a>>>; 2]>,
    /// Events of the thread that carries out orders.
    events: RefCell<EventWriter<'a>>,
}

const fn slot_of(number: u8) -> Slot {
    if number == 0 { Slot::A } else { Slot::B }
}

impl<'a> Inside<'a> {
    /// Loads a build into its slot.
    fn load(&self, build: &job::Build) -> Result<(), String> {
        let stage = &build.stage;
        let shape = self.region.layout().shape;
        let room = Room {
            data: shape.data_bytes as usize,
            inputs: shape.input_bytes as usize,
            outputs: shape.output_bytes as usize,
            retain: shape.retain_bytes as usize,
            tasks: 1,
        };
        stage.check(&room).map_err(|error| error.to_string())?;
        let plant = self.ground.plant_of(&build.module).ok_or("there is no such module")?;
        let slot = slot_of(stage.slot);
        let data = self.region.writable_data(slot).ok_or("there are no data slots")?;
        data.write(0, &plant.initial).map_err(|error| error.to_string())?;
        for value in &build.values {
            data.write(value.place.offset, &value.bytes).map_err(|error| error.to_string())?;
        }
        let (machine, region, has_error) = (self.machine, self.region, Cell::new(false));
        let generation = stage.generation;
        let program = Model { machine, region, slot, plant, generation, has_error };
        self.slots.borrow_mut()[usize::from(stage.slot)] =
            Some(Build { stage: stage.clone(), program });
        Ok(())
    }

    /// Carries out the orders that are due.
    fn carry_out_until(&self, instant: Nanos) {
        loop {
            let due = self.machine.core.desk().orders.front().map(|(due, _)| *due);
            let Some(due) = due.filter(|due| *due <= instant) else { return };
            self.machine.wait_until(due);
            let order = self.machine.core.desk().orders.pop_front();
            let Some((_, build)) = order else { return };
            let stage = &build.stage;
            let free = stage.check_free(self.shared.active(), self.shared.is_on_probation());
            let is_refused = self.machine.chance.borrow_mut().one_in(12);
            let loaded = free.map_err(|why| why.to_string()).and_then(|()| {
                if is_refused {
                    self.machine.note("refused build");
                    let generation = stage.generation;
                    let (signal, address, instruction, in_library) = (11, 0x40, 7, false);
                    let overflowed = None;
                    let fault =
                        Fault::Crash { signal, address, instruction, in_library, overflowed };
                    let what = fault.in_initialize(generation, Nanos::ZERO);
                    self.events.borrow_mut().tell(0, self.machine.now.get(), 1, what);
                    return Err(what.to_string());
                }
                self.load(&build)
            });
            let generation = stage.generation;
            let what = match loaded {
                Ok(()) => Happening::Staged { generation },
                Err(why) => {
                    let line = format!("build {generation} is refused: {why}\n");
                    self.machine.core.desk().remarks.push_str(&line);
                    Happening::StageRefused { generation }
                }
            };
            self.events.borrow_mut().tell(0, self.machine.now.get(), 1, what);
        }
    }
}

impl Clock for Inside<'_> {
    fn now(&self) -> Nanos {
        self.machine.now.get()
    }

    fn sleep_until(&self, due: Nanos) {
        self.carry_out_until(due);
        let mut chance = self.machine.chance.borrow_mut();
        let late = match chance.below(self.machine.peril) {
            0 => {
                self.machine.note("late release");
                chance.micros(1_000, 90_000)
            }
            _ => chance.micros(0, 60),
        };
        drop(chance);
        self.machine.wait_until(due + late);
    }

    fn cpu(&self) -> u32 {
        0
    }
}

impl Rest for Inside<'_> {
    fn rest(&self, longest: Nanos) {
        self.sleep_until(self.machine.now.get() + longest);
    }
}

impl<'a> TaskHost for Inside<'a> {
    type Program = Model<'a>;

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn now(&self) -> Nanos {
        self.machine.now.get()
    }

    fn stops(&self) -> bool {
        self.region.stop_requested()
    }

    fn pauses(&self) -> bool {
        self.region.pause_requested()
    }

    fn with_builds<R>(&self, work: impl FnOnce(&Builds<'_, Model<'a>>) -> R) -> R {
        let slots = self.slots.borrow();
        work(&slots.each_ref().map(Option::as_ref))
    }

    fn wake(&self, _: u32) {}

    fn begin(&self, _: Nanos) {}

    fn begin_cycle(&self, _: &Release, _: u64) {
        self.machine.core.desk().cycles += 1;
    }

    fn measure(&self, _: Nanos) {}

    fn measures(&self) -> bool {
        true
    }

    fn forget(&self) {}

    fn end(&self, _: TaskState) {}

    fn yield_now(&self) {}
}

/// Everything that a process begins with.
pub(in crate::simulation) struct Beginning {
    pub(in crate::simulation) core: Arc<Core>,
    pub(in crate::simulation) exchange: Exchange,
    pub(in crate::simulation) job: ProgramJob,
    pub(in crate::simulation) ground: Arc<Ground>,
    pub(in crate::simulation) now: Nanos,
    pub(in crate::simulation) chance: Chance,
    pub(in crate::simulation) peril: u64,
}

/// Runs a process from its begin to its end. Returns its wait status.
pub(in crate::simulation) fn live(beginning: &Beginning) -> i32 {
    let Beginning { core, exchange, job, ground, now, chance, peril } = beginning;
    let (now, chance) = (Cell::new(*now), RefCell::new(chance.clone()));
    let machine = Machine { core, now, chance, peril: *peril };
    let region = exchange.region();
    let fate = machine.chance.borrow_mut().below(40);
    let delay = match fate {
        0 => {
            machine.note("process that does not begin");
            Nanos::from_secs(90)
        }
        _ => machine.chance.borrow_mut().micros(500, 200_000),
    };
    machine.pass(delay);
    if fate == 1 {
        machine.note("process that ends at once");
        core.desk().remarks.push_str("quietcore-runtime: the program can't be loaded\n");
        return 2 << 8;
    }
    run(&machine, ground, region, job).map_or(2 << 8, |()| 0)
}

/// Runs the tasks to their end.
fn run<'a>(
    machine: &'a Machine<'a>,
    ground: &'a Ground,
    region: Region<'a>,
    job: &ProgramJob,
) -> Option<()> {
    let own = job.tasks.first()?;
    let events = RefCell::new(region.event_writer(1)?);
    let (shared, slots) = (Shared::default(), RefCell::new([None, None]));
    let room = Inside { machine, ground, region, shared, slots, events };
    if let Err(why) = room.load(&job.build) {
        machine.core.desk().remarks.push_str(&format!("quietcore-runtime: {why}\n"));
        return None;
    }
    let settings = TaskSettings {
        index: 0,
        rate: 0,
        deadline: own.deadline,
        watchdog: Watchdog::new(own.watchdog, own.sensitivity),
        stop_beyond: None,
    };
    let recorder = Recorder::new(region.task(0)?, own.release.interval(), 1 << 32);
    let task = Task::new(settings, recorder, region.event_writer(0)?, region.trace_writer(0));
    let first: Stage = job.build.stage.clone();
    let (on_fault, probation) = (job.on_fault, job.probation_cycles);
    let mut leader =
        Leader::new(task, region, NoFieldbus, on_fault, probation, &first, &room.shared)?;
    let start = machine.now.get() + own.release.interval();
    let margin = Margin::new(own.wake, own.release.interval());
    let mut waiting = Waiting::new(&room, own.release, 0, margin, Some(0), start);
    let (release, overrun) = (own.release, own.overrun);
    let plan = Plan { release, overrun, warm_up_cycles: 0, cycles: None };
    running::lead(&room, &mut leader, &mut waiting, &plan, start);
    Some(())
}

/// Returns the wait status of a process that was killed.
pub(in crate::simulation) const fn killed() -> i32 {
    KILLED_STATUS
}
