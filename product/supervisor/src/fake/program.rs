//! A program that a thread of the test runs: a real exchange, real symbols, no compiler.
//!
//! ```text
//! servo_P   Kp f64, Ki f64, limits f64[3]      servo_Y   torque f64, mode Mode (IDLE, RUN)
//! servo_U   enable bool, position f64          servo_DW  counter u32, two bit fields
//! ```
//!
//! In each cycle `counter` rises by one, `position` is half of it, `torque` is `Kp` times
//! `position`, and `mode` is `RUN` while `enable` is set.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quietcore_exchange::{
    Active, Assignment, Command, FORCE_LIMIT, ForceTable, Held, Recorder, Region, Release, Shape,
    Slot, TraceConfiguration, TracePlace, TraceWriter, WritableData,
};
use quietcore_process::exchange::Exchange;
use quietcore_program::place::{Access, Enumeration, Memory, Scalar, VariableLocation};
use quietcore_program::symbols::{Bits, Member, Root, Shape as Type};
use quietcore_program::{DataImage, Symbols};
use quietcore_units::{DataType, Nanos};

use crate::control::{
    Change, ChangeKind, ControlError, Effect, ErrorKind, Opened, TaskDescription, Trace,
};
use crate::variables::{Look, add_undone, overlap, resolve_all, target_of};

const PERIOD: Nanos = Nanos::from_millis(1);
const DATA_BYTES: u32 = 4096;
/// More variables than the program has.
const LEAVES_MAX: usize = 100;
/// Longest wait for two cycles.
const CYCLES_MAX: Duration = Duration::from_secs(1);

/// Orders that the thread carries out between two cycles.
enum Order {
    Step(u64),
    Give(VariableLocation, u64),
    Force(VariableLocation, u64),
    Unforce(VariableLocation),
    Swap,
    Run(Duration),
}

/// An order, and the way to report that it was carried out.
type AwaitedOrder = (Order, Sender<()>);

/// A program in a thread. Dropping it ends the thread.
#[derive(Debug)]
pub struct FakeProgram {
    exchange: Arc<Exchange>,
    orders: Mutex<Option<Sender<AwaitedOrder>>>,
    thread: Option<JoinHandle<()>>,
    symbols: Symbols,
    symbols_file: PathBuf,
    generation: Mutex<u32>,
    incarnation: u64,
}

impl FakeProgram {
    /// Starts the program and writes its symbols into `folder`.
    ///
    /// # Errors
    /// When there is no memory, no thread, or no room in the folder.
    pub fn start(folder: &Path) -> io::Result<Self> {
        Self::start_as(folder, 1)
    }

    /// Starts the program as a given incarnation of its partition.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn start_as(folder: &Path, incarnation: u64) -> io::Result<Self> {
        let symbols = symbols();
        let symbols_file = folder.join("symbols.json");
        std::fs::write(&symbols_file, symbols.to_json())?;
        let shape = Shape {
            data_bytes: DATA_BYTES,
            command_slots: 64,
            event_slots: 64,
            trace_bytes: 1 << 20,
            ..Shape::of_tasks(1)
        };
        let exchange = Arc::new(Exchange::create(&shape).map_err(io::Error::other)?);
        let (orders, taken) = channel();
        let thread = thread::Builder::new().name("fake-program".to_owned()).spawn({
            let exchange = Arc::clone(&exchange);
            move || run(exchange.region(), &taken)
        })?;
        let program = Self {
            exchange,
            orders: Mutex::new(Some(orders)),
            thread: Some(thread),
            symbols,
            symbols_file,
            generation: Mutex::new(1),
            incarnation,
        };
        program.give("servo_P.Kp", "2.0");
        program.give("servo_U.enable", "true");
        Ok(program)
    }

    fn order(&self, order: Order) {
        let (done, wait) = channel();
        if let Some(orders) = &*self.orders.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = orders.send((order, done));
        }
        let _ = wait.recv();
    }

    /// Runs this many cycles and waits for their end.
    pub fn step(&self, cycles: u64) {
        self.order(Order::Step(cycles));
    }

    /// From now on runs a cycle by itself each `period`.
    pub fn run_every(&self, period: Duration) {
        self.order(Order::Run(period));
    }

    /// Sets a variable to a value, between two cycles.
    pub fn give(&self, path: &str, value: &str) {
        let (place, value) = self.encode(path, value);
        self.order(Order::Give(place, value));
    }

    /// Forces a variable to a value, between two cycles.
    pub fn force(&self, path: &str, value: &str) {
        let (place, value) = self.encode(path, value);
        self.order(Order::Force(place, value));
    }

    /// Releases a forced variable, between two cycles.
    pub fn unforce(&self, path: &str) {
        let place = self.symbols.resolve(path).expect("the fake program has the variable");
        self.order(Order::Unforce(place));
    }

    /// Goes on as the next build, in the other data slot, with all values as they are.
    pub fn swap(&self) {
        self.order(Order::Swap);
        *self.generation.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    /// Makes a client's changes and returns their effects. With `confirm` it looks at the variables
    /// once more when the program has run on.
    ///
    /// # Errors
    /// When there is no such variable, or it can't have the value.
    pub fn change(&self, changes: Vec<Change>, confirm: bool) -> Result<Vec<Effect>, ControlError> {
        let resolved = resolve_all(&self.symbols, changes)?;
        let (view, generation) = (self.exchange.region().view(), self.generation());
        let before = Look::at(view, &resolved, generation);
        for one in &resolved {
            self.order(match one.command() {
                Command::Force(force) => Order::Force(one.place.clone(), force.value),
                Command::Set(set) => Order::Give(one.place.clone(), set.value),
                _ => Order::Unforce(one.place.clone()),
            });
        }
        let mut effects = before.effects(&resolved, |_| false);
        let is_as_before = || {
            let has_run = self.runs_on();
            let now = Look::at(view, &resolved, generation);
            before.undone(&resolved, &effects, &now).into_iter().map(move |one| one && has_run)
        };
        if confirm {
            let (first, second) = (is_as_before(), is_as_before());
            let twice: Vec<bool> = first.zip(second).map(|(one, other)| one && other).collect();
            add_undone(&mut effects, &twice);
        }
        Ok(effects)
    }

    /// Releases all forced variables, and returns the effects on them.
    ///
    /// # Errors
    /// Those of [`change`](Self::change).
    pub fn release_all(&self) -> Result<Vec<Effect>, ControlError> {
        let mut held = vec![Held::default(); FORCE_LIMIT];
        let forces = self.exchange.region().forces();
        let count = forces.and_then(|forces| forces.read_held(&mut held).ok()).unwrap_or(0);
        let is_held = |place: &VariableLocation| {
            held[..count].iter().any(|held| overlap(&held.force.target, &target_of(place)))
        };
        let leaves = self.symbols.leaves(None, LEAVES_MAX);
        let forced = leaves.filter(|(_, place)| is_held(place)).map(|(variable, _)| Change {
            kind: ChangeKind::Unforce,
            variable,
            value: None,
            allow_nan: false,
        });
        self.change(forced.collect(), false)
    }

    /// Waits until another cycle has begun and ended; returns `false` if that took too long.
    fn runs_on(&self) -> bool {
        let region = self.exchange.region();
        let cycle = || region.task(0).map_or(0, |task| task.scan_cycle());
        let (begin, end) = (cycle(), Instant::now() + CYCLES_MAX);
        while cycle() <= begin + 1 {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Asks for a trace of variables, or for its end if there are none. The next cycle sees it.
    ///
    /// # Errors
    /// When there is no such variable, or the trace has too many.
    pub fn trace(&self, trace: &Trace) -> Result<(), ControlError> {
        let place = |path: &String| {
            let place = self.symbols.resolve(path).map_err(|error| error.to_string())?;
            Ok(TracePlace { offset: place.offset, bytes: bytes_of(&place) })
        };
        let places = trace.variables.iter().map(place).collect::<Result<Vec<_>, String>>();
        let every = u64::from(trace.every);
        let configuration = places.and_then(|places| {
            TraceConfiguration::new(&places, every, self.generation()).map_err(|it| it.to_string())
        });
        let configuration = configuration
            .map_err(|what| ControlError::new(ErrorKind::NoVariable, "trace", what, ""))?;
        let requester = self.exchange.region().trace_requester(0);
        requester.expect("the shape of the fake program has a trace").ask(&configuration);
        Ok(())
    }

    fn encode(&self, path: &str, value: &str) -> (VariableLocation, u64) {
        let place = self.symbols.resolve(path).expect("the fake program has the variable");
        let value = place.encode_text(value).expect("the value fits the variable");
        (place, value)
    }

    /// Returns the exchange between the program and its host.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Returns the symbols of the program's variables.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Returns the number of the build that runs.
    pub fn generation(&self) -> u32 {
        *self.generation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer to `open`, with the exchange open for reading only.
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn opened(&self, site: &str, partition: &str) -> io::Result<(Opened, File)> {
        let opened = Opened {
            site: site.to_owned(),
            partition: partition.to_owned(),
            generation: self.generation(),
            incarnation: self.incarnation,
            symbols: self.symbols_file.clone(),
            tasks: vec![TaskDescription { name: "main".to_owned(), period: PERIOD }],
        };
        Ok((opened, self.exchange.read_only_file()?))
    }
}

impl Drop for FakeProgram {
    fn drop(&mut self) {
        *self.orders.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The writing ends of the exchange, as the scan cycle has them.
struct Sides<'map> {
    region: Region<'map>,
    recorder: Recorder<'map>,
    trace: TraceWriter<'map>,
    forces: ForceTable<'map>,
    active: Active,
    symbols: Symbols,
    cycle: u64,
}

fn run(region: Region<'_>, orders: &Receiver<AwaitedOrder>) {
    let missing = "the shape of the fake program has it";
    let active = Active { slot: Slot::A, generation: 1 };
    region.set_active(active);
    let mut sides = Sides {
        region,
        recorder: Recorder::new(region.task(0).expect(missing), PERIOD, 1),
        trace: region.trace_writer(0).expect(missing),
        forces: region.force_table().expect(missing),
        active,
        symbols: symbols(),
        cycle: 0,
    };
    let mut period: Option<Duration> = None;
    loop {
        let next = match period {
            None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(period) => orders.recv_timeout(period),
        };
        match next {
            Ok((order, done)) => {
                if let Order::Run(wanted) = order {
                    period = Some(wanted);
                } else {
                    sides.obey(order);
                }
                let _ = done.send(());
            }
            Err(RecvTimeoutError::Timeout) => sides.step(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl<'map> Sides<'map> {
    fn data(&self, slot: Slot) -> WritableData<'map> {
        self.region.writable_data(slot).expect("the shape of the fake program has data")
    }

    fn put(&self, path: &str, value: u64) {
        let place = self.symbols.resolve(path).expect("the fake program has the variable");
        put(&self.data(self.active.slot), &place, value);
    }

    fn get(&self, path: &str) -> u64 {
        let place = self.symbols.resolve(path).expect("the fake program has the variable");
        let data = self.data(self.active.slot);
        data.read_value(place.offset, bytes_of(&place)).expect("the variable lies in the data")
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Step(cycles) => (0..cycles).for_each(|_| self.step()),
            Order::Give(place, value) => put(&self.data(self.active.slot), &place, value),
            Order::Force(place, value) => {
                let data = self.data(self.active.slot);
                let force = Assignment { target: target_of(&place), value };
                self.forces.force(force, &data).expect("a test forces few variables");
                self.forces.apply(&data);
            }
            Order::Unforce(place) => {
                let data = self.data(self.active.slot);
                self.forces.release(&target_of(&place), &data);
            }
            Order::Swap => self.swap(),
            Order::Run(_) => {}
        }
    }

    fn swap(&mut self) {
        let (old, new) = (self.data(self.active.slot), self.data(self.active.slot.other()));
        for offset in (0..DATA_BYTES).step_by(8) {
            let value = old.read_value(offset, 8).expect("within the data");
            new.write_value(offset, 8, u64::MAX, value).expect("within the data");
        }
        let generation = self.active.generation + 1;
        self.active = Active { slot: self.active.slot.other(), generation };
        self.region.set_active(self.active);
    }

    fn step(&mut self) {
        let due = Nanos::from_millis(1000 + self.cycle);
        self.recorder.begin_scan(self.cycle);
        let counter = self.get("servo_DW.counter") + 1;
        self.put("servo_DW.counter", counter);
        let position = counter as f64 / 2.0;
        self.put("servo_U.position", position.to_bits());
        self.forces.apply(&self.data(self.active.slot));
        let position = f64::from_bits(self.get("servo_U.position"));
        let torque = f64::from_bits(self.get("servo_P.Kp")) * position;
        self.put("servo_Y.torque", torque.to_bits());
        self.put("servo_Y.mode", self.get("servo_U.enable"));
        self.forces.apply(&self.data(self.active.slot));
        let slot = self.region.data(self.active.slot).expect("the fake program has data");
        self.trace.sample(self.cycle, due, &slot, self.active.generation);
        self.recorder.end_scan();
        self.cycle += 1;
        // Latencies that a test can foresee: 2 µs, and 40 µs in every hundredth cycle.
        let late = Nanos::from_micros(if self.cycle.is_multiple_of(100) { 40 } else { 2 });
        let cycle = Release {
            due,
            started: due + late,
            wakeup_latency: late,
            margin: Nanos::ZERO,
            spin: Nanos::ZERO,
            cpu: 1,
        };
        let execution = Nanos::from_micros(110);
        self.recorder.record_scan(&cycle, execution, late + execution, false);
    }
}

fn bytes_of(place: &VariableLocation) -> u8 {
    u8::try_from(place.bytes()).expect("a scalar has at most 8 bytes")
}

fn put(data: &WritableData<'_>, place: &VariableLocation, value: u64) {
    let written = data.write_value(place.offset, bytes_of(place), place.mask(), value);
    written.expect("the variable lies in the data");
}

/// Returns the symbols of the program's variables.
fn symbols() -> Symbols {
    let mode = Enumeration {
        name: "Mode".to_owned(),
        bytes: 4,
        signed: false,
        values: vec![("IDLE".to_owned(), 0), ("RUN".to_owned(), 1)],
    };
    let member =
        |name: &str, shape, offset| Member { name: name.to_owned(), shape, offset, bits: None };
    let bit = |name: &str, first, width| Member {
        bits: Some(Bits { first, width }),
        ..member(name, 2, 0)
    };
    let structure = |name: &str, bytes, members| Type::Structure {
        name: name.to_owned(),
        bytes,
        union: false,
        members,
    };
    let types = vec![
        Type::Scalar(Scalar::Number(DataType::F64)),
        Type::Scalar(Scalar::Number(DataType::Bool)),
        Type::Scalar(Scalar::Number(DataType::U32)),
        Type::Scalar(Scalar::Enum(Arc::new(mode))),
        Type::Array { element: 0, length: 3, bytes: 24 },
        structure(
            "P_servo_T",
            40,
            vec![member("Kp", 0, 0), member("Ki", 0, 8), member("limits", 4, 16)],
        ),
        structure("ExtU_servo_T", 16, vec![member("enable", 1, 0), member("position", 0, 8)]),
        structure("ExtY_servo_T", 16, vec![member("torque", 0, 0), member("mode", 3, 8)]),
        structure(
            "DW_servo_T",
            8,
            vec![member("counter", 2, 0), bit("ready", 32, 1), bit("level", 33, 3)],
        ),
    ];
    let root = |name: &str, shape, offset, access| Root {
        name: name.to_owned(),
        shape,
        memory: Memory::Data,
        offset,
        access,
    };
    let roots = vec![
        root("servo_P", 5, 0, Access::Parameter),
        root("servo_U", 6, 512, Access::Input),
        root("servo_Y", 7, 1024, Access::Output),
        root("servo_DW", 8, 1056, Access::State),
    ];
    let data = DataImage { address: 0x4000, bytes: u64::from(DATA_BYTES) };
    Symbols::new("servo", data, roots, types).expect("the fake program is sound")
}
