//! A campaign over a real program: a good one, one that crashes, one that is late.
//!
//! Method: a small C program in the generator's style runs at 5 ms in a process of its own, without
//! real-time priority. The tests look at the report on the program, never at the speed of the
//! machine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use quietcore_assembly::Workshop;
use quietcore_campaign::{
    Advance, Asked, Campaign, CampaignError, Live, Machine, Observer, Programs, Progress, Run,
    measure, runs,
};
use quietcore_evidence::{Writer, read_manifest};
use quietcore_record::class::catalogue;
use quietcore_record::histogram::Histogram;
use quietcore_record::record::{Platform, Record, ScanCounters, TimeReality};
use quietcore_record::verdict::{Judgement, Verdict, judge};
use quietcore_site::Site;
use quietcore_units::CpuSet;

const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "process-control"

[partition.vcr]
cpus = [0, 1]

[partition.program]
model = "counter"
period = "5 ms"
policy = "other"
watchdog = "4 ms"
sensitivity = 50

[campaign]
profiles = ["tp2"]
cycles = 300
warm_up = "50 ms"
exceedance = 1e-1
"#;

/// Number of cycles that the site above asks for. A standstill of the machine counts as the cycles
/// that it cost, so there are some hundred more than the program needs to misbehave at step 40.
const CYCLES: u64 = 300;

#[derive(Debug, Default)]
struct Observed {
    faults: Vec<String>,
    steps: Vec<String>,
}

impl Observer for Observed {
    fn step(&mut self, step: &str) {
        self.steps.push(step.to_owned());
    }
    fn tell(&mut self, text: &str) {
        self.steps.push(text.to_owned());
    }
    fn begin(&mut self, _: &Run) {}
    fn progress(&mut self, _: Progress) {}
    fn advance(&mut self, _: &Advance<'_>) {}
    fn fault(&mut self, _: &Run, partition: &str, because: &str) {
        self.faults.push(format!("{partition}: {because}"));
    }
    fn end(&mut self, _: &Run, _: &[Record]) {}
    fn failed(&mut self, _: &Run, because: &str) {
        panic!("{because}");
    }
}

fn runtime() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(Path::parent).unwrap().join("examples/partition")
}

static PLATFORM: OnceLock<Platform> = OnceLock::new();

fn machine<'a>(runtime: &'a Path, conditions: &'a BTreeMap<String, String>) -> Machine<'a> {
    Machine {
        world: &Live,
        runtime,
        conditions,
        platform: PLATFORM.get_or_init(Platform::default),
        time: &TimeReality::Native,
        emulated: None,
        guests_interpreted: None,
        dma_latency_held: false,
        container_folder: None,
        controls: None,
        time_of_day: || "2026-01-02T03:04:05Z".to_owned(),
    }
}

fn site() -> Site {
    quietcore_site::read("press.toml", SITE.as_bytes(), &catalogue()).unwrap()
}

/// Makes the runs of the site with a program that misbehaves in this way.
fn runs_of(folder: &Path, misbehave: u32) -> Vec<Run> {
    runs_of_site(&site(), folder, misbehave)
}

fn runs_of_site(site: &Site, folder: &Path, misbehave: u32) -> Vec<Run> {
    let model = folder.join("counter");
    std::fs::create_dir_all(&model).unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/counter");
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let text = text.replace("counter_P = {0}", &format!("counter_P = {{{misbehave}}}"));
        std::fs::write(model.join(entry.file_name()), text).unwrap();
    }
    let workshop = Workshop { site_folder: folder.to_owned(), build_folder: folder.join("builds") };
    let mut said = Vec::new();
    let programs = Programs::build(site, &workshop, &mut |line| said.push(line.to_owned()));
    assert_eq!(said, ["building program `counter` of partition `axis`"]);
    let online = "0".parse::<CpuSet>().unwrap();
    runs(site, "", online, &programs.unwrap_or_else(|error| panic!("{error}")))
}

/// Measures the one run; returns its record, its judgement, and the calls of its observer.
fn measured(misbehave: u32) -> (Record, Judgement, Observed) {
    measured_of_site(&site(), misbehave)
}

fn measured_of_site(site: &Site, misbehave: u32) -> (Record, Judgement, Observed) {
    let folder = tempfile::tempdir().unwrap();
    let runs = runs_of_site(site, folder.path(), misbehave);
    let (runtime, conditions) = (runtime(), BTreeMap::new());
    let mut told = Observed::default();
    let stop = AtomicBool::new(false);
    let measured = measure(&runs[0], &machine(&runtime, &conditions), &mut told, &stop).unwrap();
    assert!(!measured.interrupted);
    let [record] = <[Record; 1]>::try_from(measured.records).unwrap();
    let class = site.partitions()[0].class.clone();
    let judgement = judge(&record, &class, 1e-1);
    (record, judgement, told)
}

#[test]
fn a_good_program_leaves_a_record_of_each_task_with_its_build() {
    let (record, _, told) = measured(0);
    assert_eq!(record.name, "axis.tp2.main");
    assert_eq!((&record.probe[..], record.period_ns), ("exec", Some(5_000_000)));
    assert_eq!(record.invalid_because, []);
    // A release that was left out at the very end counts as well.
    let count = record.release.count();
    assert!(count >= CYCLES, "{count}");
    assert!(!record.interrupted);
    assert_eq!(told.faults, Vec::<String>::new());
    let scan = record.scan().unwrap();
    assert_eq!(scan.faults, []);
    assert_eq!(scan.terms.deadline_ns, Some(5_000_000));
    assert_eq!(scan.terms.watchdog_ns, Some(4_000_000));
    assert_eq!(scan.execution.count() + scan.counters.skipped_releases, count);
    let facts = &record.conditions.machine;
    assert_eq!(facts["program"], "counter");
    assert_eq!(facts["program_build"].len(), 64);
    assert!(facts["compiler"].contains("gcc"), "{}", facts["compiler"]);
    assert_eq!(facts["cpus_unused"], "1");
}

#[test]
fn a_program_that_crashes_fails_with_signal_function_and_line() {
    let (record, judgement, told) = measured(1);
    assert_eq!(judgement.verdict, Verdict::Fail, "{}", judgement.because);
    for part in ["SIGSEGV", "misbehave", "counter.c:", "0x40"] {
        assert!(judgement.because.contains(part), "`{part}` in {}", judgement.because);
    }
    assert_eq!(told.faults.len(), 1, "{:?}", told.faults);
    // The run ends with the program, and is not taken for one that somebody interrupted.
    assert!(record.release.count() < CYCLES, "{}", record.release.count());
    assert!(!record.interrupted);
}

/// Goal: a program that fails before the cycles that count is a FAIL, and no run that somebody cut
/// short.
#[test]
fn a_program_that_crashes_in_the_warm_up_fails_as_any_other() {
    let text = SITE.replace("warm_up = \"50 ms\"", "warm_up = \"2 s\"");
    let site = quietcore_site::read("press.toml", text.as_bytes(), &catalogue()).unwrap();
    let (record, judgement, told) = measured_of_site(&site, 1);
    assert_eq!(record.release.count(), 0, "step 40 is one of the warm-up");
    assert_eq!(judgement.verdict, Verdict::Fail, "{}", judgement.because);
    for part in ["SIGSEGV", "misbehave", "counter.c:"] {
        assert!(judgement.because.contains(part), "`{part}` in {}", judgement.because);
    }
    assert_eq!(told.faults.len(), 1, "{:?}", told.faults);
    assert!(!record.interrupted);
}

/// Goal: a program that can't even start is named with the place; there is no record of it.
#[test]
fn a_program_that_crashes_in_initialize_is_not_measured_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let runs = runs_of(folder.path(), 8);
    let (runtime, conditions, stop) = (runtime(), BTreeMap::new(), AtomicBool::new(false));
    let machine = machine(&runtime, &conditions);
    let measured = measure(&runs[0], &machine, &mut Observed::default(), &stop);
    assert_eq!(
        measured.unwrap_err().to_string(),
        "the program of partition `axis` did not start: `initialize` of build 1 crashed: SIGSEGV \
         in `counter_initialize` (counter.c:65), at address 0x40"
    );
}

#[test]
fn a_program_that_gives_up_fails_in_words() {
    let (_, judgement, _) = measured(3);
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert!(judgement.because.contains("error status"), "{}", judgement.because);
}

/// Goal: a program that is cut off while it allocates fails like any other that does not return,
/// and nobody waits for what it has left locked.
#[test]
fn a_program_that_is_cut_off_while_it_allocates_fails_at_once() {
    let began = Instant::now();
    // Long enough that the fault is heard before the run ends, even if the listener is woken late.
    let text = SITE.replace("cycles = 300", "cycles = 1000");
    let site = quietcore_site::read("press.toml", text.as_bytes(), &catalogue()).unwrap();
    let (record, judgement, told) = measured_of_site(&site, 4);
    assert_eq!(judgement.verdict, Verdict::Fail, "{}", judgement.because);
    assert!(judgement.because.contains("did not return"), "{}", judgement.because);
    assert_eq!(told.faults.len(), 1, "{:?}", told.faults);
    assert!(record.release.count() < 1000, "{}", record.release.count());
    // The time beyond its end after which a run counts as hung.
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn a_program_that_prints_is_measured_and_what_it_printed_is_counted() {
    let (record, _, told) = measured(5);
    assert_eq!(record.invalid_because, []);
    assert!(record.release.count() >= CYCLES, "{}", record.release.count());
    assert_eq!(record.conditions.activity["printed"], "1 line, 8 bytes");
    assert!(told.steps.iter().any(|step| step.ends_with("; the first: step 40")), "{told:?}");
}

#[test]
fn a_cycle_after_its_deadline_is_counted_and_fails() {
    // Where a page fault may be part of a value, nothing is proven.
    quietcore_skip::need_locked_memory!(64 << 20);
    let (record, judgement, _) = measured(2);
    assert_eq!(judgement.verdict, Verdict::Fail, "{}", judgement.because);
    assert_eq!(record.invalid_because, []);
    let scan = record.scan().unwrap();
    assert!(scan.counters.overruns >= 1 && scan.counters.watchdog_hits >= 1, "{:?}", scan.counters);
    assert!(scan.response.max_ns() >= 29_000_000, "{}", scan.response.max_ns());
    assert!(scan.counters.skipped_releases >= 4, "{:?}", scan.counters);
}

/// Goal: a job that a kernel never ran is not less than one that ended too late.
/// Method: a task without a deadline that is activated while it still runs.
#[test]
fn activations_that_a_kernel_refused_are_counted_and_fail() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel");
    let text = SITE.replace("\"counter\"", &format!("{kernel:?}"));
    let text = text.replace("watchdog = \"4 ms\"", "watchdog = \"50 ms\"");
    let site = quietcore_site::read("press.toml", text.as_bytes(), &catalogue()).unwrap();
    let site_folder = folder.path().to_owned();
    let workshop = Workshop { build_folder: site_folder.join("builds"), site_folder };
    let programs = Programs::build(&site, &workshop, &mut |_| {}).unwrap();
    let runs = runs(&site, "", "0".parse::<CpuSet>().unwrap(), &programs);
    let (runtime, conditions) = (runtime(), BTreeMap::new());
    let machine = machine(&runtime, &conditions);
    let stop = AtomicBool::new(false);
    let measured = measure(&runs[0], &machine, &mut Observed::default(), &stop).unwrap();
    let names: Vec<_> = measured.records.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names, ["axis.tp2.cycle", "axis.tp2.Slow"]);
    for record in &measured.records {
        let errors = &record.scan().unwrap().kernel_errors;
        let [errors] = &errors[..] else { panic!("{errors:?}") };
        assert_eq!((errors.task.as_deref(), &errors.status[..]), (Some("Slow"), "E_OS_LIMIT"));
        assert!(errors.is_lost_work && errors.count > 10, "{errors:?}");
    }
    // Reasons that depend on this machine are taken out.
    let mut lead = measured.records[0].clone();
    (lead.degraded, lead.invalid_because) = (Vec::new(), Vec::new());
    lead.release = Histogram::new();
    lead.release.record_many(1_000, CYCLES);
    lead.scan_mut().unwrap().counters = ScanCounters::default();
    let judgement = judge(&lead, &site.partitions()[0].class, 1e-1);
    assert_eq!(judgement.verdict, Verdict::Fail);
    let lost = "work of the program was lost: task `Slow`: E_OS_LIMIT in ActivateTask (";
    assert!(judgement.because.starts_with(lost), "{}", judgement.because);
}

/// Goal: one folder never holds records of two programs or two kernels as if they were one.
#[test]
fn a_campaign_does_not_go_on_with_another_program_or_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let evidence = folder.path().join("evidence");
    let asked = Asked {
        site: &site(),
        site_bytes: SITE.as_bytes(),
        site_folder: None,
        started_at: "2026-01-02T03:04:05Z",
        length: None,
        limits: Vec::new(),
        left_out: Vec::new(),
    };
    let first = runs_of(folder.path(), 0);
    let writer = Writer::create(&evidence).unwrap();
    let facts = br#"{ "facts": { "kernel": { "release": { "read": "6.1.0" } } } }"#;
    writer.file("doctor.json", facts).unwrap();
    let mut campaign = Campaign::begin(writer, asked, first, Vec::new()).unwrap();
    let (runtime, conditions) = (runtime(), BTreeMap::new());
    let stop = AtomicBool::new(false);
    let machine = machine(&runtime, &conditions);
    campaign.measure_all(&machine, &mut Observed::default(), &stop).unwrap();
    drop(campaign);
    let resume = |misbehave: u32, kernel: &str| {
        let manifest = read_manifest(&evidence).unwrap();
        let runs = runs_of(folder.path(), misbehave);
        Campaign::resume(Writer::open(&evidence).unwrap(), manifest, "", kernel, runs, Vec::new())
    };
    assert!(matches!(
        resume(3, "6.1.0"),
        Err(CampaignError::OtherProgram { partition, .. }) if partition == "axis"
    ));
    assert!(matches!(
        resume(0, "6.2.0"),
        Err(CampaignError::OtherKernel { theirs, ours }) if theirs == "6.1.0" && ours == "6.2.0"
    ));
    assert!(resume(0, "6.1.0").is_ok());
}
