//! Tests of the time that a step may take, of the rows of the kernel's tasks, and of a kernel in C
//! whose task never ends.

use std::boxed::Box;
use std::sync::Arc;
use std::vec::Vec;

use quietcore_exchange::com::{KernelHost as _, Provision, Services};
use quietcore_exchange::{Event, Happening, Release, Shape};
use quietcore_process::exchange::Exchange;
use quietcore_process::module::DataImage;
use quietcore_units::{KernelJob, ThreadSetting};

use super::*;
use crate::fault::Fault;
use crate::process::channels::Channels;
use crate::process::compiled::compiled;
use crate::process::job::Build;
use crate::process::loading::{self, Loader};
use crate::program::Program as _;
use crate::stage::{Room, Stage};

const MILLI: Nanos = Nanos::from_millis(1);

fn micros(micros: u64) -> Nanos {
    Nanos::from_micros(micros)
}

#[test]
fn a_step_is_back_before_the_next_wake_and_the_deadline() {
    let until = |margin, deadline, late| {
        let allowance = Allowance { period: MILLI, deadline, margin };
        allowance.until(Nanos::from_secs(1), Nanos::from_secs(1) + late) - Nanos::from_secs(1)
    };
    assert_eq!(until(Nanos::ZERO, MILLI, micros(3)), micros(900), "a tenth is left");
    assert_eq!(until(micros(250), MILLI, micros(3)), micros(650), "it wakes 250 us early");
    assert_eq!(until(micros(250), micros(500), micros(3)), micros(450), "the deadline is earlier");
    assert_eq!(until(Nanos::ZERO, micros(100), micros(3)), micros(103), "a tenth is its least");
    assert_eq!(until(Nanos::ZERO, MILLI, micros(940)), micros(1_040), "however late it began");
    assert_eq!(until(Nanos::ZERO, Nanos::MAX, Nanos::ZERO), micros(900), "without a deadline");
}

fn exchange() -> Exchange {
    let shape = Shape { data_bytes: 1 << 20, event_slots: 64, ..Shape::of_tasks(3) };
    Exchange::create(&shape).unwrap()
}

fn tasks() -> [KernelTask; 2] {
    let task = |name: &str, deadline| KernelTask { name: name.into(), deadline };
    [task("fast", Some(micros(20))), task("slow", None)]
}

fn events(exchange: &Exchange, task: u32) -> Vec<Event> {
    let mut reader = exchange.region().view().events(task).unwrap();
    std::iter::from_fn(|| reader.next_event()).collect()
}

fn release(due: Nanos) -> Release {
    let none = Nanos::ZERO;
    let (wakeup_latency, margin, spin) = (none, none, none);
    Release { due, started: due, wakeup_latency, margin, spin, cpu: 0 }
}

const ALLOWANCE: Allowance =
    Allowance { period: Nanos::from_millis(20), deadline: Nanos::MAX, margin: Nanos::ZERO };

#[test]
fn what_the_leading_thread_was_refused_stands_in_the_rows_of_all_tasks() {
    let exchange = exchange();
    let region = exchange.region();
    let mut leader = Recorder::new(region.task(0).unwrap(), MILLI, 10);
    leader.refuse(ThreadSetting::Policy, 13);
    assert_eq!(lead(&KernelCycle::new(Threads), region, &tasks(), 1, 10, 77).unwrap(), Some(()));
    for row in [1, 2] {
        let task = region.task(row).unwrap();
        assert!(task.refused(ThreadSetting::Policy) && !task.refused(ThreadSetting::MemoryLock));
        assert_eq!(task.error_number(), 13);
    }
    put(None);
}

#[test]
fn jobs_and_errors_stand_in_the_rows_of_their_tasks() {
    quietcore_process::guard::install().unwrap();
    let exchange = exchange();
    let region = exchange.region();
    let kernel = KernelCycle::new(Threads);
    let job = |task, response| KernelJob {
        task,
        waits: 0,
        released_ns: 1_000_000,
        started_ns: 1_004_000,
        finished_ns: 1_000_000_u64 + response,
        execution_ns: 3_000,
    };
    kernel.note_job(&job(0, 9_000));
    kernel.note_error(None, 8, 21);
    assert_eq!(lead(&kernel, region, &tasks(), 1, 10, 77).unwrap(), Some(()));
    kernel.measure(MILLI);
    kernel.begin_cycle(&release(MILLI), 41, &ALLOWANCE);
    enter(Inside { slot: 0, generation: 1 });
    assert_eq!((kernel.due(), kernel.until()), (MILLI, MILLI + micros(18_000)));
    for response in [9_000, 21_000, 22_000, 20_000] {
        kernel.note_job(&job(0, response));
    }
    kernel.note_job(&job(1, 900_000));
    kernel.note_job(&job(2, 1));
    kernel.note_error(Some(1), 4, 1);
    kernel.note_error(Some(2), 3, 1);

    let fast = region.task(1).unwrap();
    assert_eq!((fast.state(), fast.thread_id()), (TaskState::Running, 77));
    let scan = fast.scan_counters().unwrap();
    assert_eq!(fast.counters().unwrap().cycles, 4, "what was told before it led is not its");
    assert_eq!((scan.overruns, scan.longest_overrun_run), (2, 2));
    assert_eq!((scan.worst_execution.value_ns, scan.worst_response.value_ns), (3_000, 22_000));
    assert_eq!(fast.release().totals().max_ns, 4_000, "from its release to its start");
    assert_eq!(region.task(2).unwrap().counters().unwrap().cycles, 1);

    let told = events(&exchange, 1).into_iter().map(|event| (event.cycle, event.task, event.what));
    let error = |task, status, service| Happening::KernelError { task, status, service };
    let overrun = |response_ns, in_a_row| Happening::Overrun { response_ns, in_a_row };
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (41, 0, error(None, 8, 21)),
            (41, 1, overrun(21_000, 1)),
            (41, 1, overrun(22_000, 2)),
            (41, 0, error(Some(2), 3, 1)),
        ]
    );
    let told = events(&exchange, 2);
    assert_eq!((told.len(), told[0].task, told[0].what), (1, 2, error(Some(1), 4, 1)));

    // It started by itself, long before the first cycle.
    kernel.note_job(&KernelJob { released_ns: 0, ..job(1, 5_000) });
    let slow = region.task(2).unwrap().scan_counters().unwrap();
    assert_eq!(slow.worst_response.value_ns, 900_000);

    kernel.measure(MILLI * 2);
    kernel.note_job(&KernelJob { started_ns: 2_000_500, finished_ns: 2_001_000, ..job(1, 0) });
    let spikes: Vec<_> = region.task(2).unwrap().spikes().collect();
    let last = spikes.iter().find(|spike| spike.release == 2).unwrap();
    assert_eq!((last.due_ns, last.latency_ns), (2_000_000, 500), "what is measured begins there");

    kernel.forget();
    assert_eq!(fast.counters().unwrap().cycles, 0);
    end(&kernel, TaskState::Finished);
    assert_eq!(fast.state(), TaskState::Finished);
    assert_eq!(kernel.until(), Nanos::ZERO, "nobody leads any more");
}

/// Compiles the kernel and loads it.
fn load(
    exchange: &Exchange,
    kernel: &'static KernelCycle<'static>,
    tasks: &[KernelTask],
) -> Result<Arc<crate::program::Build<loading::Loaded>>, std::string::String> {
    loading::prepare().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let module = compiled(folder.path(), "kernel.c", "-O1");
    let channels = Channels::open(&[], true).unwrap();
    let provision = Box::leak(Box::new(Provision { table: channels.table(), kernel }));
    let services = Box::leak(Box::new(Services::new(provision)));
    let loader = Loader {
        memory: &exchange.file().unwrap().into(),
        region: exchange.region(),
        room: Room { data: 1 << 20, inputs: 0, outputs: 0, retain: 0, tasks: 1 },
        rates: &[0],
        watched: [0, 1].map(|_| loading::watched_loader(Nanos::from_secs(10))).into(),
        kernel_tasks: tasks,
        services,
    };
    let stage = Stage { generation: 1, ..Stage::default() };
    let image = DataImage { address: 0, bytes: 0 };
    let region = exchange.region();
    let mut events = region.event_writer(region.layout().shape.task_count).unwrap();
    let loaded = loader.load(&Build { module, image, stage, values: Vec::new() }, &mut events);
    loaded.map_err(|refusal| refusal.to_string())
}

/// Goal: a task that never ends leaves the cycle its time, and goes on in the next one; a fault in
/// it is one of the program.
/// Method: the least kernel there is, in C, with one such task.
#[test]
fn a_task_that_never_ends_is_left_at_its_instant_and_goes_on_in_the_next_cycle() {
    let exchange: &'static Exchange = Box::leak(Box::new(exchange()));
    let kernel: &'static KernelCycle<'static> = Box::leak(Box::new(KernelCycle::new(Threads)));
    let refused = load(exchange, kernel, &tasks()[..1]).unwrap_err();
    assert!(refused.contains("(fast, slow)") && refused.contains("(fast);"), "{refused}");
    let build = load(exchange, kernel, &tasks()).unwrap();
    lead(kernel, exchange.region(), &tasks(), 1, 10, 1).unwrap().unwrap();
    for cycle in 0..5 {
        let due = Nanos::new(Monotonic.now().get() & !1);
        kernel.begin_cycle(&release(due), cycle, &ALLOWANCE);
        build.program.step(0, 0).unwrap();
        assert_eq!(build.program.task_under_way(), Some(2), "its row, behind that of the cycle");
        let back = Monotonic.now();
        assert!(back >= kernel.until(), "the task did not have its time");
        assert!(back < due + Nanos::from_secs(5));
    }
    let slow = exchange.region().task(2).unwrap();
    let executions = slow.execution();
    assert_eq!(slow.counters().unwrap().cycles, 5);
    assert_eq!(executions.totals().sum_ns, 5, "it went on in each of them");
    let early = events(exchange, 1);
    let what = Happening::KernelError { task: None, status: 8, service: 21 };
    assert_eq!(early.iter().map(|event| event.what).collect::<Vec<_>>(), [what]);
    let due = Nanos::new(Monotonic.now().get() | 1);
    kernel.begin_cycle(&release(due), 5, &ALLOWANCE);
    let crash = build.program.step(0, 0).unwrap_err();
    assert!(
        matches!(crash, Fault::Crash { signal: 11, address: 64, overflowed: Some(1), .. }),
        "{crash:?}"
    );
    assert_eq!(leading(|_, timer| timer.is_set_for()), Some(None));
    // The shot may have been on its way.
    Monotonic.sleep_until(kernel.until() + MILLI);
    end(kernel, TaskState::Stopped);
}
