//! A guest with a program in C, in a machine of its own, and the questions that tests ask it.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quietcore_boot::places::{EXCHANGE, POST, PROGRAM_CODE, PROGRAM_DATA};
use quietcore_boot::post::{Poster, bytes_for};
use quietcore_boot::vector::ATTENTION;
use quietcore_boot::{AddressRange, HostPage, port};
use quietcore_exchange::{Happening, Region, Shape, Slot, TaskState};
use quietcore_microvm::bus::{After, Bus};
use quietcore_microvm::exits::Exits;
use quietcore_microvm::exits::statistics::{Sample, Statistics};
use quietcore_microvm::image;
use quietcore_microvm::machine::{Machine, MachineError};
use quietcore_microvm::memory::Memory;
use quietcore_microvm::options::Options;
use quietcore_microvm::processor::{Processor, ProcessorError, Stopped, StuckBecause};
use quietcore_microvm::slot::{Access, Shared};
use quietcore_process::exchange::Exchange;
use quietcore_program_image::ProgramImage;
use quietcore_scan::guest::job::{GuestBuild, GuestJob, GuestOrder, GuestTask};
use quietcore_scan::stage::{Carried, Stage};
use quietcore_units::{ByteSize, FaultReaction, Nanos, Overrun, ReleaseRule, Wake};

/// Longest wait for anything: the machine may be emulated.
const PATIENCE: Duration = Duration::from_secs(60);
const DATA_BYTES: u32 = 64 << 10;
const CODE_BYTES: u64 = 64 << 10;

/// The program that uses floating-point registers.
pub(crate) const ARITHMETIC: &str = "arithmetic.c";

/// Offsets of the program's variables, in bytes.
pub(crate) mod variable {
    pub(crate) const COUNT: u32 = 0;
    pub(crate) const WISH: u32 = 4;
    pub(crate) const INITIALIZED: u32 = 8;
    pub(crate) const BUILD: u32 = 12;
    pub(crate) const SLOW_COUNT: u32 = 16;
    pub(crate) const SLOW_WISH: u32 = 20;
    pub(crate) const TERMINATED: u32 = 24;
    /// For the program with arithmetic: number of wrong results, number of preemptions.
    pub(crate) const WRONG: u32 = 20;
    pub(crate) const PREEMPTIONS: u32 = 24;
    /// For the kernel: number of turns, number of steps.
    pub(crate) const TURNS: u32 = 0;
    pub(crate) const STEPS: u32 = 16;
}

/// Number of the build whose `initialize` does not return.
pub(crate) const NEVER_INITIALIZED: u32 = 99;
/// The build that crashes in `initialize`.
pub(crate) const CRASHES_AT_ONCE: u32 = 98;

/// Values of `WISH`, by which a step is asked to fail.
pub(crate) mod wish {
    pub(crate) const CRASH: u64 = 1;
    pub(crate) const LOOP: u64 = 2;
    pub(crate) const FLY: u64 = 3;
    pub(crate) const OVERFLOW: u64 = 4;
    pub(crate) const WRITE_CODE: u64 = 5;
    pub(crate) const RUN_DATA: u64 = 6;
    pub(crate) const RUN_OVER: u64 = 7;
    pub(crate) const WANDER: u64 = 8;
}

/// Makes a task of this period.
pub(crate) fn task(rate: u32, period: Nanos, wake: Wake) -> GuestTask {
    GuestTask {
        rate,
        release: ReleaseRule::Cyclic { period, offset: Nanos::ZERO },
        deadline: period,
        watchdog: Nanos::from_millis(200),
        sensitivity: 1,
        overrun: Overrun::Skip,
        wake,
    }
}

/// Makes a job of these tasks.
pub(crate) fn job(tasks: Vec<GuestTask>, cycles: Option<u64>) -> GuestJob {
    GuestJob {
        cpu: 0,
        thread_id: 1,
        is_watched: false,
        tasks,
        kernel_tasks: Vec::new(),
        on_fault: FaultReaction::Zero,
        channels: Vec::new(),
        probation_cycles: 5,
        warm_up_cycles: 0,
        cycles,
        late_beyond: None,
        fieldbus: None,
        build: GuestBuild {
            face: 0,
            code: AddressRange::default(),
            stage: Stage::default(),
            values: Vec::new(),
        },
    }
}

/// Compiles the usual program for a slot.
pub(crate) fn program(slot: usize, build: u32) -> ProgramImage {
    compile("program.c", slot, build)
}

/// Programs by their source, slot and build.
type Compiled = BTreeMap<(&'static str, usize, u32), Vec<u8>>;

/// Returns a program of this folder, compiled for a slot by the first test that asks for it: in an
/// emulated machine the compiler takes seconds.
pub(crate) fn compile(source: &'static str, slot: usize, build: u32) -> ProgramImage {
    static COMPILED: Mutex<Compiled> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let file =
        compiled.entry((source, slot, build)).or_insert_with(|| run_compiler(source, slot, build));
    ProgramImage::parse(file).expect("a program for a guest")
}

fn run_compiler(source: &str, slot: usize, build: u32) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest");
    let out = tempfile::NamedTempFile::new().expect("a file");
    let output = Command::new("gcc")
        .args(["-Os", "-std=c11", "-static", "-nostdlib", "-ffreestanding", "-fno-pic", "-no-pie"])
        .args((source != ARITHMETIC).then_some("-mgeneral-regs-only"))
        .args(["-fno-stack-protector", "-fno-optimize-sibling-calls"])
        .args(["-fcf-protection=none", "-Wl,--build-id=none", "-Wl,-z,noexecstack"])
        .args(
            ["../../../../engine/program/include", "../../../../ground/exchange/include"]
                .map(|headers| format!("-I{}", folder.join(headers).display())),
        )
        .args([format!("-DBUILD={build}"), format!("-DCODE_START={:#x}", PROGRAM_CODE[slot])])
        .arg(format!("-Wl,--defsym=CODE={:#x}", PROGRAM_CODE[slot]))
        .arg(format!("-Wl,--defsym=DATA={:#x}", PROGRAM_DATA[slot]))
        .arg(format!("-Wl,-T,{}", folder.join("program.ld").display()))
        .arg("-o")
        .arg(out.path())
        .arg(folder.join(source))
        .output()
        .expect("gcc is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(out.path()).expect("it was built")
}

/// The console and the end of a guest.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    said: Mutex<String>,
}

impl Bus for Ports {
    fn write_port(&self, number: u16, data: &[u8]) -> After {
        match number {
            port::CONSOLE => {
                self.said.lock().expect("whole").push_str(&String::from_utf8_lossy(data));
                After::GoOn
            }
            port::END => After::End(u32::from(data[0])),
            _ => After::GoOn,
        }
    }

    fn read_port(&self, _: u16, _: &mut [u8]) {}

    fn write_address(&self, _: u64, _: &[u8]) -> After {
        After::GoOn
    }

    fn read_address(&self, _: u64, _: &mut [u8]) {}
}

/// A running guest, as a test sees it.
pub(crate) struct Guest<'a> {
    pub(crate) region: Region<'a>,
    code: [Arc<Shared>; 2],
    poster: Poster<'a>,
    attention: vmm_sys_util::eventfd::EventFd,
    statistics: Mutex<Option<Statistics>>,
    is_over: &'a AtomicBool,
}

/// The end of a guest, and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) stopped: Stopped,
    pub(crate) said: String,
    /// Events of the partition itself, beside those of its tasks.
    pub(crate) told: Vec<Happening>,
    pub(crate) crash: Option<quietcore_boot::CrashRecord>,
}

/// Events in a writer's row so far.
fn told(region: Region<'_>, writer: u32) -> Vec<Happening> {
    let mut reader = region.events(writer).expect("there are events");
    std::iter::from_fn(|| reader.next_event()).map(|event| event.what).collect()
}

impl Guest<'_> {
    /// Reads a variable of the program in a slot.
    pub(crate) fn variable(&self, slot: Slot, offset: u32) -> u64 {
        self.region.data(slot).expect("there are data").read_value(offset, 4).expect("within")
    }

    /// Writes a variable, as a command would.
    pub(crate) fn set(&self, slot: Slot, offset: u32, value: u64) {
        let data = self.region.writable_data(slot).expect("there are data");
        data.write_value(offset, 4, u64::from(u32::MAX), value).expect("within");
    }

    /// Waits until `is_so` holds; panics if that takes too long or the guest ends before.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, is_so: impl Fn() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < end, "waited for long: {what}");
            assert!(!self.is_over.load(Ordering::Relaxed) || is_so(), "over before: {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns the events in a writer's row.
    pub(crate) fn happenings(&self, writer: u32) -> Vec<Happening> {
        told(self.region, writer)
    }

    /// Returns the cycles of a task so far.
    pub(crate) fn cycles(&self, task: u32) -> u64 {
        loop {
            if let Ok(counters) = self.region.view().task(task).expect("a task").counters() {
                return counters.cycles;
            }
        }
    }

    pub(crate) fn state(&self, task: u32) -> TaskState {
        self.region.view().task(task).expect("a task").state()
    }

    /// Returns `true` once the guest has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Returns KVM's counts so far; `None` where this kernel does not count.
    pub(crate) fn sample(&self) -> Option<Sample> {
        self.statistics.lock().expect("whole").as_mut()?.sample().ok()
    }

    /// Interrupts the guest, so that it looks at its post.
    pub(crate) fn call_attention(&self) {
        self.attention.write(1).expect("an event file takes it");
    }

    /// Returns the time at which the leading task's call is over its time; `None` if there is no
    /// call.
    pub(crate) fn call_until(&self) -> Option<u64> {
        self.poster.call_until()
    }

    /// Puts a program into the free slot and has the guest load it.
    pub(crate) fn order(&mut self, image: &ProgramImage, build: GuestBuild) {
        place(image, &self.code, self.region);
        let letter = GuestOrder::Stage(build).to_bytes().expect("short");
        self.poster.post(&letter).expect("the last one was taken");
    }

    /// Requests the guest's end through the exchange.
    pub(crate) fn stop(&self) {
        self.region.request_stop();
    }
}

/// Copies a program into its slot.
fn place(image: &ProgramImage, code: &[Arc<Shared>; 2], region: Region<'_>) {
    let slot = image.slot().index();
    for part in image.parts() {
        let offset = part.address - PROGRAM_CODE[slot];
        code[slot].write(offset, &part.bytes).expect("it has room");
    }
    let data = region.writable_data(if slot == 0 { Slot::A } else { Slot::B });
    data.expect("there are data").write(0, image.data()).expect("it has room");
}

/// Describes a build of a program for the guest.
pub(crate) fn build(image: &ProgramImage, generation: u32) -> GuestBuild {
    let slot = image.slot().index() as u8;
    let whole = Carried { from: 0, to: 0, bytes: 4 };
    GuestBuild {
        face: image.face(),
        code: AddressRange { address: PROGRAM_CODE[usize::from(slot)], bytes: CODE_BYTES },
        stage: Stage {
            generation,
            slot,
            data_bytes: DATA_BYTES,
            on_probation: true,
            carried: if generation > 1 { vec![whole] } else { Vec::new() },
            ..Stage::default()
        },
        values: Vec::new(),
    }
}

/// Skips a test and says why.
macro_rules! cannot {
    ($($why:tt)*) => {{
        quietcore_skip::skip!($($why)*);
        return None;
    }};
}

/// The parts of a guest before it runs.
struct Machinery<'a> {
    machine: Machine,
    processor: Processor,
    region: Region<'a>,
    code: [Arc<Shared>; 2],
}

/// Makes a machine with everything in it but the job.
fn machinery<'a>(
    exchange: &'a Exchange,
    post: &Arc<Shared>,
    options: &Options,
) -> Option<Machinery<'a>> {
    let Ok(bytes) = quietcore_guests::PARTITION.bytes() else {
        cannot!("no images of guests in this build")
    };
    quietcore_skip::need_locked_memory!(16 << 20);
    let memory = Memory::new("16 MiB".parse().expect("a size"), true).expect("memory");
    let entry = image::load(&memory, &mut Cursor::new(bytes)).expect("an image");
    let machine = match Machine::with(memory, options) {
        Err(MachineError::Kvm(error)) => cannot!("no KVM: {error}"),
        machine => machine.expect("a machine"),
    };
    let region = exchange.region();
    let file = exchange.file().expect("a file");
    let give = |name, place, shared: &Arc<Shared>, access| {
        machine.give(name, place, Arc::clone(shared), access).expect("a slot");
    };
    let whole = Shared::of_file(&file, 0, region.layout().bytes as u64).expect("memory");
    let exchange_place = AddressRange { address: EXCHANGE, bytes: whole.bytes() };
    give("exchange", EXCHANGE, &Arc::new(whole), Access::ReadWrite);
    give("post", POST, post, Access::ReadWrite);
    let code = [0, 1].map(|slot| {
        let code = Arc::new(Shared::create("code", ByteSize::new(CODE_BYTES)).expect("memory"));
        give("code", PROGRAM_CODE[slot], &code, Access::ReadOnly);
        let section = region.data([Slot::A, Slot::B][slot]).expect("data").section();
        let data = Shared::of_file(&file, section.offset as u64, section.bytes as u64);
        give("data", PROGRAM_DATA[slot], &Arc::new(data.expect("memory")), Access::ReadWrite);
        code
    });
    let processor = machine.processor(0, entry).expect("a processor");
    let (counter, now) = (processor.counter(), processor.counter().moment());
    let page = HostPage {
        memory_bytes: machine.memory().size().get(),
        counter_then: now.counter,
        host_then_ns: now.host_ns,
        exchange: exchange_place,
        job: AddressRange { address: POST, bytes: post.bytes() },
        ..HostPage::of_counter(counter.hertz())
    };
    image::write_host_page(machine.memory(), &page);
    Some(Machinery { machine, processor, region, code })
}

/// Makes an exchange for this number of tasks.
pub(crate) fn exchange(tasks: usize) -> Exchange {
    let shape = Shape {
        data_bytes: DATA_BYTES,
        event_slots: 64,
        command_slots: 64,
        ..Shape::of_tasks(tasks as u32)
    };
    Exchange::create(&shape).expect("an exchange")
}

/// Makes memory for the post, with nothing in it yet.
pub(crate) fn post() -> Arc<Shared> {
    let letters = ByteSize::new(bytes_for(64 << 10) as u64);
    Arc::new(Shared::create("post", letters).expect("memory"))
}

/// Runs a job in a guest, and beside it `ask`, which makes the guest end. Skips the test and
/// returns `None` where that can't be done here.
pub(crate) fn run(
    job: GuestJob,
    options: &Options,
    ask: impl FnOnce(&mut Guest<'_>) + Send,
) -> Option<Outcome> {
    let source = if job.kernel_tasks.is_empty() { "program.c" } else { "kernel.c" };
    run_program(source, job, options, ask)
}

/// Runs a job like [`run`], beginning with another build.
pub(crate) fn run_build(
    number: u32,
    job: GuestJob,
    options: &Options,
    ask: impl FnOnce(&mut Guest<'_>) + Send,
) -> Option<Outcome> {
    run_image(&compile("program.c", 0, number), job, options, ask)
}

/// Runs a job like [`run`], with another program of this folder.
pub(crate) fn run_program(
    source: &'static str,
    job: GuestJob,
    options: &Options,
    ask: impl FnOnce(&mut Guest<'_>) + Send,
) -> Option<Outcome> {
    run_image(&compile(source, 0, 1), job, options, ask)
}

fn run_image(
    first: &ProgramImage,
    mut job: GuestJob,
    options: &Options,
    ask: impl FnOnce(&mut Guest<'_>) + Send,
) -> Option<Outcome> {
    let (exchange, post) = (exchange(job.tasks.len() + job.kernel_tasks.len()), post());
    let Machinery { machine, mut processor, region, code } = machinery(&exchange, &post, options)?;
    place(first, &code, region);
    job.build = build(first, 1);
    let mut poster = Poster::new(post.words()).expect("room");
    poster.post(&job.to_bytes().expect("short")).expect("room");
    let attention = machine.line(ATTENTION).expect("a line");
    let statistics = Mutex::new(processor.statistics().ok());
    let (ports, exits) = (Ports::default(), Exits::create().expect("memory"));
    let is_over = AtomicBool::new(false);
    let (asked, stopped) = std::thread::scope(|scope| {
        let is_over = &is_over;
        let mut guest = Guest { region, code, poster, attention, statistics, is_over };
        let running = scope.spawn(|| {
            let stopped = processor.run(&ports, &exits);
            is_over.store(true, Ordering::Relaxed);
            stopped
        });
        // Where KVM interprets its guests, an instruction that it does not know shows at once or
        // never.
        std::thread::sleep(Duration::from_millis(300));
        let asked = scope.spawn(move || {
            let cannot = guest.cycles(0) == 0 && guest.is_over.load(Ordering::Relaxed);
            if !cannot {
                ask(&mut guest);
            }
        });
        let asked = asked.join();
        if asked.is_err() {
            region.request_stop();
        }
        (asked, running.join().expect("the processor's thread does not panic"))
    });
    let said = ports.said.into_inner().expect("whole");
    let crash = image::crash_record(machine.memory());
    // The lab looks for these words of a test that fails.
    if let Some(record) = &crash {
        eprintln!("the guest ended by a crash: {}", record.what());
    }
    match (asked, stopped) {
        (_, Err(ProcessorError::Stuck { because: StuckBecause::InternalError, .. })) => {
            cannot!("this KVM interprets its guests, and knows no SSE")
        }
        (Err(panic), stopped) => {
            eprintln!("{stopped:?} {said} {crash:x?}");
            std::panic::resume_unwind(panic)
        }
        (Ok(()), stopped) => {
            let told = told(region, region.layout().shape.task_count);
            Some(Outcome { stopped: stopped.expect("it runs"), said, told, crash })
        }
    }
}
