//! Tests of late releases with a known cause, which the ledger must name.
//!
//! Method: each test makes releases late in one way, far beyond what else happens, has the probe
//! explain them by the kernel's trace, and looks for that cause and no other. In emulated time the
//! figures are not times, but where the time went is just as valid.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests look closer at a site")]
mod bench;
#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bench::Bench;
use command::{call, quietcore};
use quietcore_backend::container::{ContainerError, Containers};
use quietcore_process::setting;
use quietcore_record::document::Document;
use quietcore_record::ledger::{Cause, Ledger, Ledgers, Means, PIECES_MAX};
use quietcore_skip::skip;
use quietcore_trace::tracefs::Tracefs;
use quietcore_units::{CpuId, Scheduling};

/// The delay of a release by a thread: longer than most unintended ones, also in an emulator.
const HELD_UP: Duration = Duration::from_millis(8);
/// The limit above which a release is explained.
const LIMIT: &str = "4ms";
/// A probe that holds up one release itself, far longer than any unintended delay: no other one is
/// above its limit, whose trace would be read while the next release is under way.
const HOLDS_UP_ONE: &[&str] = &[
    "--period",
    "150ms",
    "--explain",
    "40ms",
    "--cycles",
    "30",
    "--inject",
    "80ms@15",
    "--warm-up",
    "300ms",
];
/// The longest wait, long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes the tests run one at a time: they share a CPU.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns the CPU that is measured, the last one.
fn cpu() -> u32 {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    online.trim().rsplit([',', '-']).next().unwrap().parse().unwrap()
}

/// Returns the kernel's tracing files; skips the test with the reason if they can't be used.
macro_rules! tracefs_or_skip {
    () => {
        match Tracefs::open() {
            Ok(tracefs) => Arc::new(tracefs),
            Err(error) => {
                skip!("{error}");
                return;
            }
        }
    };
}

/// Returns the ledgers of a probe that is run with these options.
fn ledgers(options: &[&str]) -> Ledgers {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [&["probe", "latency", "--json"], options].concat();
    let said = call(folder.path(), &arguments);
    assert_eq!(said.status, Some(0), "{}", said.err);
    of_document(&said.out)
}

/// Returns the ledgers of the first record of a document.
#[track_caller]
fn of_document(json: &str) -> Ledgers {
    let document: Document = serde_json::from_str(json).unwrap();
    let record = document.records.into_iter().next().unwrap();
    assert!(record.conditions.activity["tracing"].contains("adds to every latency"));
    let ledgers = record.ledgers.unwrap();
    assert_eq!(ledgers.means, Means::Trace, "{:?}", ledgers.not_observed);
    assert!(ledgers.kept.iter().all(Ledger::adds_up));
    for ledger in ledgers.kept.iter().filter(|ledger| ledger.course.len() < PIECES_MAX) {
        let in_time: u64 = ledger.course.iter().map(|piece| piece.ns).sum();
        assert_eq!(in_time, ledger.latency_ns, "{ledger:?}");
    }
    assert!(ledgers.ledgered > 0 && ledgers.ledgered <= ledgers.above, "{ledgers:?}");
    ledgers
}

/// Returns the part of the latency that went to a cause whose name begins with `what`.
fn part(ledger: &Ledger, cause: Cause, what: &str) -> f64 {
    let shares = ledger.shares.iter();
    let of = shares.filter(|share| share.cause == cause && share.what.starts_with(what));
    of.map(|share| share.ns).sum::<u64>() as f64 / ledger.latency_ns as f64
}

/// Returns the tracer instances that processes of Quietcore have made, whichever they are.
fn instances(tracefs: &Tracefs) -> Vec<String> {
    let entries = fs::read_dir(tracefs.root().join("instances")).unwrap();
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with("quietcore-")).collect()
}

/// Does some work while a thread of higher priority takes the CPU now and then. Returns `None` if
/// no such thread can be made.
fn beside_a_spinner<R>(work: impl FnOnce() -> R) -> Option<R> {
    let end = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&end);
    let spinner = thread::Builder::new().name("spinner".to_owned()).spawn(move || {
        let placed = setting::pin(CpuId::new(cpu()).unwrap())
            .and_then(|()| setting::schedule(Scheduling::Fifo { priority: 95 }));
        while placed.is_ok() && !ended.load(Ordering::Relaxed) {
            // No multiple of the period: some of the stretches begin before a release.
            thread::sleep(Duration::from_millis(53));
            let begin = Instant::now();
            while begin.elapsed() < HELD_UP {}
        }
        placed
    });
    let spinner = spinner.unwrap();
    let found = (!spinner.is_finished()).then(work);
    end.store(true, Ordering::Relaxed);
    if let Err(error) = spinner.join().unwrap() {
        skip!("SCHED_FIFO is refused ({error}); run as root");
        return None;
    }
    found
}

/// Returns the ledger of a release that the spinner made late.
#[track_caller]
fn by_the_spinner(found: &Ledgers) -> Ledger {
    let whose = "spinner (";
    let by_it = |ledger: &&Ledger| {
        part(ledger, Cause::Thread, whose) + part(ledger, Cause::TimerLate, whose) > 0.7
            && !ledger.stack.is_empty()
    };
    // What else keeps the CPU of a busy machine is not meant, and may be worse.
    let ledger = found.kept.iter().find(by_it);
    ledger.unwrap_or_else(|| panic!("{found:?}")).clone()
}

/// Goal: a thread of higher priority that keeps the CPU is named, with its priority.
/// Method: such a thread spins now and then on the CPU that is measured.
#[test]
fn a_thread_of_higher_priority_is_named() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let tracefs = tracefs_or_skip!();
    let Some(found) =
        beside_a_spinner(|| ledgers(&["--period", "20ms", "--explain", LIMIT, "--duration", "6s"]))
    else {
        return;
    };
    let ledger = by_the_spinner(&found);
    let told = "real-time priority 95";
    assert!(ledger.shares.iter().any(|share| share.what.contains(told)), "{ledger:?}");
    drop(tracefs);
}

/// Goal: late releases of a program are explained as those of the probe are.
/// Method: the same thread beside a partition with a program.
#[test]
fn a_late_release_of_a_program_is_explained() {
    a_program_made_late("process");
}

/// Goal: those of a guest, whose releases are its own kernel's, are explained by what its processor
/// did, exits of the guest among it.
#[test]
fn a_late_release_of_a_guest_is_explained() {
    if fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_err() {
        return skip!("/dev/kvm can't be opened");
    }
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap();
    if !processor.contains(" svm") && !processor.contains(" vmx") {
        return skip!("this KVM interprets its guests: the processor has no virtualisation");
    }
    let Some(found) = a_program_made_late("kvm") else { return };
    assert!(found.observed[0].contains("exits of the guest"), "{:?}", found.observed);
    let of_exits = |ledger: &Ledger| part(ledger, Cause::Exit, "") > 0.0;
    assert!(found.kept.iter().any(of_exits), "{found:?}");
}

/// Returns `None` if no thread can be made that delays it.
fn a_program_made_late(backend: &str) -> Option<Ledgers> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let _tracefs = match Tracefs::open() {
        Ok(tracefs) => tracefs,
        Err(error) => {
            skip!("{error}");
            return None;
        }
    };
    let bench = Bench::new(&format!(
        "[site]\nname = \"press\"\n[host]\nhousekeeping = []\n[[partition]]\nname = \
         \"axis\"\nclass = \"process-control\"\nbackend = \"{backend}\"\n\
         [partition.vcr]\ncpus = [{}]\n\
         [partition.program]\nmodel = \"counter\"\nperiod = \"20 ms\"\npriority = 50\n\
         watchdog = \"2 s\"\n",
        cpu()
    ));
    let arguments =
        ["probe", "exec", "press.toml", "--duration", "6s", "--explain", LIMIT, "--json"];
    let said = beside_a_spinner(|| bench.call(&arguments))?;
    assert_eq!(said.status, Some(0), "{}", said.err);
    let found = of_document(&said.out);
    by_the_spinner(&found);
    Some(found)
}

/// Goal: what the task does itself is blamed on nobody else.
/// Method: the probe holds up one release, between waking and starting.
#[test]
fn what_the_task_does_itself_is_its_own() {
    what_it_does_is_its_own("process");
}

/// The same of one in a container, whose threads have other numbers there than in the trace.
#[test]
fn what_a_task_in_a_container_does_itself_is_its_own() {
    match Containers::prepare(PathBuf::new(), "test", 1, None, None) {
        Err(error @ ContainerError::Runtime(_)) => skip!("{error}"),
        _ => what_it_does_is_its_own("container"),
    }
}

fn what_it_does_is_its_own(backend: &str) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let _tracefs = tracefs_or_skip!();
    // A machine that stood still for that long before may have had another late release, whose
    // trace was still being read: then there is no ledger, or one of a part of the trace.
    let is_whole = |ledger: &Ledger| ledger.release == 15 && ledger.remarks.is_empty();
    let mut runs = Vec::new();
    let own = (0..5).find_map(|_| {
        let found = ledgers(&[&["--backend", backend], HOLDS_UP_ONE].concat());
        let own = found.kept.iter().find(|ledger| is_whole(ledger)).cloned();
        runs.push(found.kept);
        own
    });
    let own = &own.unwrap_or_else(|| panic!("no whole trace of the release: {runs:?}"));
    // The 80 ms that were injected, and what interrupts took of them: in an emulator that is much.
    // A busy machine may have woken it late besides.
    let ns = |cause| part(own, cause, "") * own.latency_ns as f64;
    let interrupts = [Cause::TimerInterrupt, Cause::Interrupt, Cause::Softirq].map(ns);
    let itself = ns(Cause::Own);
    assert!(itself > 40e6 && itself + interrupts.iter().sum::<f64>() > 70e6, "{own:?}");
    assert!(part(own, Cause::Thread, "") < 0.3, "{own:?}");
}

/// Goal: of a trace nothing is left, whether its program ends in order or is killed.
/// Method: the program is killed while it traces; the next one removes what it left, and its own.
#[test]
fn no_trace_is_left_behind() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let tracefs = tracefs_or_skip!();
    let folder = tempfile::tempdir().unwrap();
    let mut killed = quietcore(folder.path())
        .args(["probe", "latency", "--explain", LIMIT, "--duration", "60s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let own = format!("quietcore-{}-", killed.id());
    let has_own = || instances(&tracefs).iter().any(|name| name.starts_with(&own));
    let until = Instant::now() + PATIENCE;
    while !has_own() {
        assert!(Instant::now() < until && killed.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(20));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(has_own(), "nobody could remove it");
    // Its partition has the trace open until it has noticed.
    while has_own() {
        assert!(Instant::now() < until, "{:?}", instances(&tracefs));
        let said = call(
            folder.path(),
            &["probe", "latency", "--explain", LIMIT, "--cycles", "5", "--warm-up", "0s"],
        );
        assert_eq!(said.status, Some(0), "{}", said.err);
    }
}
