//! Programs that are cut off inside of the C library, a thousand times.
//!
//! Goal: whatever lock that leaves held, the fault is told, the outputs are set and the fieldbus
//! goes on, and it is found out whether the process can go on.
//! Method: this test runs once more, in processes of their own, whose leading task runs a step that
//! calls one part of the library for ever. Each such process is cut off again and again until a
//! lock stays held, says so and ends; one in which anything waits for that lock says nothing.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::string::{String, ToString as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use std::vec::Vec;

use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::com::{NoKernel, Provision, Services};
use quietcore_exchange::{EventWriter, Happening, Recorder, Release, Shape};
use quietcore_process::exchange::Exchange;
use quietcore_process::module::DataImage;
use quietcore_process::remark::remark;
use quietcore_units::{FaultReaction, Nanos};
use rustix::thread::gettid;

use super::*;
use crate::leader::Leader;
use crate::mapping::{Kind, Mapping};
use crate::process::channels::Channels;
use crate::process::compiled::compiled;
use crate::process::job::Build;
use crate::process::loading::{Loader, prepare, watched_loader};
use crate::process::watchman;
use crate::program::Fieldbus;
use crate::shared::Shared;
use crate::stage::{Room, Stage};
use crate::task::{Task, TaskSettings};
use crate::watchdog::Watchdog;

const PARTS: [&str; 3] = ["call_malloc", "call_stdio", "call_loader"];
/// Cuts in each part.
const CUTS: u32 = 334;
/// Cuts in one process at most, and processes at most: the test ends.
const CUTS_OF_PROCESS: u32 = 60;
const PROCESSES_MAX: usize = 1000;
/// A lock that is not known to be free after this time counts as held.
const EXAMINATION_MAX: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(60);

const MODULE: &str = "QUIETCORE_TEST_CUT_MODULE";
const NAME: &str = "process::library::tests::a_program_is_cut_off_in_a_library_a_thousand_times";

/// Counts its frames, and says what it sent last; after that the program would send something else.
struct Bus<'a> {
    frames: &'a AtomicU64,
    sent: &'a AtomicU64,
    outputs: [u8; 1],
}

impl Fieldbus for Bus<'_> {
    fn exchange(&mut self, _: u64, _: Nanos, _: &mut EventWriter<'_>) {
        self.frames.fetch_add(1, Ordering::Relaxed);
        self.sent.store(u64::from(self.outputs[0]), Ordering::Relaxed);
        self.outputs = [7];
    }

    fn inputs(&self) -> &[u8] {
        &[]
    }

    fn outputs(&mut self) -> &mut [u8] {
        &mut self.outputs
    }
}

#[test]
fn a_program_is_cut_off_in_a_library_a_thousand_times() {
    if let Some(module) = std::env::var_os(MODULE) {
        be_cut_off(module.into());
    }
    let folder = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for part in PARTS {
            let module = compiled(folder.path(), "cut.c", &std::format!("-DPART={part}"));
            scope.spawn(move || cut_off_often(part, &module));
        }
    });
}

fn cut_off_often(part: &str, module: &Path) {
    let (mut cuts, mut held) = (0, 0);
    for _ in 0..PROCESSES_MAX {
        let said = say_of_process(module);
        let last = said.lines().last().unwrap_or_default();
        let mut words = last.split_ascii_whitespace();
        let (Some("cuts"), Some(count), Some(state)) = (words.next(), words.next(), words.next())
        else {
            panic!("{part}: after {cuts} cuts: {said:?}");
        };
        cuts += count.parse::<u32>().unwrap();
        held += u32::from(state == "held");
        if cuts >= CUTS {
            break;
        }
    }
    assert!(cuts >= CUTS, "{part}: {cuts} cuts");
    assert!(held > 0, "{part}: no lock was ever held, so that nothing was tried");
}

/// Runs a process with this module and returns what it says.
fn say_of_process(module: &Path) -> String {
    let mut own = Command::new(std::env::current_exe().unwrap());
    own.args(["--exact", NAME, "--nocapture"]).env(MODULE, OsString::from(module));
    // As in a partition: one heap for all threads.
    own.env("MALLOC_ARENA_MAX", "1");
    let mut child = own.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(1));
    }
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

const SHAPE: Shape = Shape {
    data_bytes: 4096,
    command_slots: 128,
    event_slots: 64,
    output_bytes: 1,
    ..Shape::of_tasks(1)
};

const OUTPUT: Mapping = Mapping {
    bit: 0,
    bits: 8,
    kind: Kind::Unsigned,
    offset: 0,
    bytes: 1,
    variable: Kind::Unsigned,
    scale: 1.0,
    shift: 0.0,
};

const SETTINGS: TaskSettings = TaskSettings {
    index: 0,
    rate: 0,
    deadline: Nanos::MAX,
    watchdog: Watchdog::new(Nanos::from_secs(60), 1),
    stop_beyond: None,
};

fn release(now: Nanos) -> Release {
    let none = Nanos::ZERO;
    let (wakeup_latency, margin, spin) = (none, none, none);
    Release { due: now, started: now, wakeup_latency, margin, spin, cpu: 0 }
}

/// Loads the module and runs its step until a lock is held, as the leading task does.
fn be_cut_off(module: PathBuf) -> ! {
    prepare().unwrap();
    let exchange: &'static Exchange =
        std::boxed::Box::leak(Exchange::create(&SHAPE).unwrap().into());
    let region = exchange.region();
    begin(region).unwrap();
    let watched: Arc<[_]> = [(); 2].map(|()| watched_loader(Nanos::from_millis(1))).into();
    let channels = Channels::open(&[], true).unwrap();
    let services = Provision { table: channels.table(), kernel: &NoKernel };
    let services = Services::new(&services);
    let loader = Loader {
        memory: &exchange.file().unwrap().into(),
        region,
        room: Room { data: 4096, inputs: 0, outputs: 1, retain: 0, tasks: 1 },
        rates: &[0],
        watched: Arc::clone(&watched),
        kernel_tasks: &[],
        services: &services,
    };
    let outputs = [OUTPUT].into();
    let stage = Stage { generation: 1, data_bytes: 8, outputs, ..Stage::default() };
    let image = DataImage { address: 0, bytes: 0 };
    let build = Build { module, image, stage, values: Vec::new() };
    let mut own = region.event_writer(1).unwrap();
    let build = loader.load(&build, &mut own).unwrap_or_else(|why| panic!("{}", why.to_string()));
    let (done, shared) = (AtomicBool::new(false), Shared::default());
    let [frames, sent] = [0, 7].map(AtomicU64::new);
    watched[0].thread_id.store(gettid().as_raw_nonzero().get().unsigned_abs(), Ordering::Relaxed);
    let recorder = Recorder::new(region.task(0).unwrap(), Nanos::from_millis(1), 1);
    let task = Task::new(SETTINGS, recorder, region.event_writer(0).unwrap(), None);
    let bus = Bus { frames: &frames, sent: &sent, outputs: [7] };
    let leader = Leader::new(task, region, bus, FaultReaction::Zero, 0, &build.stage, &shared);
    let mut leader = leader.unwrap();
    let mut events = region.events(0).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| watchman::watch(&Monotonic, &watched, &done));
        let mut cuts = 0;
        while cuts < CUTS_OF_PROCESS {
            let before = frames.load(Ordering::Relaxed);
            // In the second no step is run, and the outputs are sent.
            for _ in 0..2 {
                leader.cycle(&release(Monotonic.now()), &[Some(&build), None], &shared, || {
                    Monotonic.now()
                });
            }
            cuts += 1;
            let passed = frames.load(Ordering::Relaxed) - before;
            let outputs = sent.load(Ordering::Relaxed);
            // The library may notice what it was cut off in, and end the program: a fault as well.
            let is_fault =
                |what| matches!(what, Happening::Looped { .. } | Happening::Fault { .. });
            // It allocates nothing.
            let told = events.drain().any(|event| is_fault(event.what));
            if !told || passed != 2 || outputs != 0 || region.fault() != Some(1) {
                say(format_args!("{told} told, {passed} frames, {outputs} sent after {cuts} cuts"));
            }
            if wait_until_known(EXAMINATION_MAX) {
                say(format_args!("cuts {cuts} held"));
            }
            shared.leave_fault();
        }
        say(format_args!("cuts {cuts} free"))
    })
}

/// Says it and ends the process, with nothing of its libraries.
fn say(text: core::fmt::Arguments<'_>) -> ! {
    remark(text);
    guard::end_process(0)
}
