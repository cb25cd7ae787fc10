//! An OSEK program in a partition: its tasks preempt each other, are counted, go wrong, and are
//! swapped for others.
//!
//! Method: a kernel of three tasks at a tick of 5 ms runs in a real process. One task takes several
//! cycles, so many of them are ended by the signal in the middle of it.

#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quietcore_record::trace::Recording;
use quietcore_supervisor::control::{
    Activity, ChangeKind, DeployPatience, Deployed, Done, Restart, Verb,
};
use quietcore_supervisor::monitor::{FigureBuffers, Monitor, TaskFigures};
use quietcore_supervisor::recording::{Length, RecordingRequest, record};
use site::{PATIENCE, Site, copy_model};

/// A site file whose watchdog lets a task run in all cycles, even where the machine has others to
/// serve.
const SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "fast-control-loop"

[partition.vcr]
cpus = [0]

[partition.program]
model = "osek_kernel"
period = "5 ms"
policy = "other"
watchdog = "50 ms"
sensitivity = 100
retain = ["osek_DW.fast"]
restart = { limit = 3, wait = "10 ms" }
deadlines = { Fast = "5 s" }
"#;

/// A site, one at a time: several of them on one CPU would take each other's time.
struct Alone {
    site: Site,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Alone {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

fn up() -> Alone {
    up_with(SITE)
}

/// Makes a site whose watchdog takes a task that runs in a hundred cycles in a row for one that
/// loops.
fn up_strict() -> Alone {
    up_with(&SITE.replace("watchdog = \"50 ms\"", "watchdog = \"5 ms\""))
}

fn up_with(text: &str) -> Alone {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Alone { site: Site::up(text, "osek_kernel"), _turn: turn }
}

fn figures(site: &Site) -> Vec<TaskFigures> {
    let monitor = Monitor::open(&mut site.client(), "axis").expect("an exchange");
    let figures = monitor.figures(&mut FigureBuffers::default());
    figures.into_iter().map(|task| task.expect("a whole reading")).collect()
}

fn process(site: &Site) -> String {
    let list = site.client().list().expect("the site answers");
    let pid = list[0].pid.expect("a process");
    format!("/proc/{pid}")
}

/// Counts the things that a kernel reserves in the process: POSIX timers, and stacks between guard
/// pages.
fn held(site: &Site) -> (usize, usize) {
    let own = process(site);
    let read = |file| std::fs::read_to_string(format!("{own}/{file}")).expect("it runs");
    let timers = read("timers").lines().filter(|line| line.starts_with("ID:")).count();
    (timers, read("maps").lines().filter(|line| line.contains(" ---p ")).count())
}

/// Returns `true` if the partition is a guest. Nothing separates a guest's stacks, so one that
/// grows without end is stopped only where all of its memory ends.
fn is_guest(site: &Site) -> bool {
    ["kvm", "qemu"].contains(&&*site.client().list().expect("the site answers")[0].backend)
}

/// Returns the number of timers that a kernel needs to end its cycles: one in a process, none in a
/// guest, which has its processor's.
fn timers(site: &Site) -> usize {
    usize::from(!is_guest(site))
}

/// Goal: the tasks run at their rates beside one that takes several cycles, and each has its row.
#[test]
fn tasks_preempt_a_long_one_and_have_rows_of_their_own() {
    let site = up();
    site.wait_for_value("osek_DW.waiter", |count| count >= 25.0);
    let tasks = figures(&site);
    let names: Vec<_> = tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["cycle", "Fast", "Waiter", "Background"]);
    let jobs: Vec<_> = tasks.iter().map(|task| task.snapshot.counters.cycles).collect();
    let [cycles, fast, waiter, background] = jobs[..] else { panic!("{jobs:?}") };
    // The rows are read one after another, and jobs end meanwhile: a second look bounds their
    // number from above.
    let later = figures(&site).swap_remove(0).snapshot;
    // Cycles that are left out are ticks, too; but several ticks at once activate Fast once.
    let run = cycles - tasks[0].snapshot.scan.skipped_releases;
    let run_later = later.counters.cycles - later.scan.skipped_releases;
    assert!(fast + 2 >= run * 3 / 4 && fast <= run_later + 1, "{run}..{run_later}: {jobs:?}");
    let cycles = later.counters.cycles;
    assert!(waiter >= 25 && waiter <= cycles / 4 + 2, "{cycles} cycles: {jobs:?}");
    assert!(background >= 2 && background <= cycles / 20 + 2, "{cycles} cycles: {jobs:?}");
    let [cycle, fast, _, background] = &tasks[..] else { panic!("{names:?}") };
    // A job of Background lasts for more than a cycle; Fast preempts it, and the kernel comes back
    // to it.
    assert!(background.execution.max.get() > 5_000_000, "{:?}", background.execution);
    assert!(background.execution.max <= background.response.max);
    assert!(fast.execution.median.get() < 1_000_000, "{:?}", fast.execution);
    assert!(fast.response.median < background.execution.max, "{:?}", fast.response);
    assert!(cycle.execution.median < background.execution.max, "{:?}", cycle.execution);
    assert!(site.value("osek_DW.fast") >= fast.snapshot.counters.cycles as f64);
}

#[test]
fn an_error_of_the_kernel_is_told_with_task_status_and_service() {
    let site = up();
    site.wait_for_value("osek_DW.fast", |count| count > 5.0);
    site.change(ChangeKind::Set, "osek_P.misbehave", Some("1"));
    site.wait_for_value("osek_DW.errors", |count| count > 5.0);
    let end = Instant::now() + PATIENCE;
    let expected = "task `Fast`: E_OS_LIMIT in ActivateTask: too many activations";
    loop {
        let events = site.client().events(0).unwrap();
        let told: Vec<_> = events.iter().filter(|event| event.kind == "kernel-error").collect();
        if told.iter().any(|event| event.text.starts_with(expected)) {
            assert!(told.len() < 30, "a warning of each cycle is told once a second");
            break;
        }
        assert!(Instant::now() < end, "{told:?}");
    }
    assert!(site.value("osek_DW.hooked") >= 1.0, "the error hook, too");
    assert_eq!(site.client().list().unwrap()[0].state, Activity::Running, "it is no fault");
}

/// Goal: whatever ends a kernel in the middle, the next one starts in the same process, and nothing
/// of the one before is left.
#[test]
fn a_kernel_that_fails_is_started_anew_and_leaves_nothing_behind() {
    for (misbehave, kind, says) in [
        ("2", "crash", "in `TASK(Background)` (osek.c:"),
        ("3", "crash", "the stack of task `Fast` overflowed, SIGSEGV in `deeper` (osek.c:"),
        ("4", "loop", "in `TASK(Fast)` (osek.c:"),
        ("5", "model-error", "the model `osek` has set its error status: ShutdownOS with status 7"),
    ] {
        let site = if kind == "loop" { up_strict() } else { up() };
        let fast = site.wait_for_value("osek_DW.fast", |count| count > 10.0);
        let (before, process_before) = (held(&site), process(&site));
        assert_eq!(before.0, timers(&site), "one timer, which ends the cycles");
        site.change(ChangeKind::Set, "osek_P.misbehave", Some(misbehave));
        let text = site.wait_for_event(kind);
        assert!(text.contains(says), "{misbehave}: {text}");
        site.wait_for_event("restarted");
        site.wait_for("running", |state| *state == Activity::Running);
        site.wait_for_value("osek_DW.fast", |count| count > fast + 20.0);
        assert_eq!(process(&site), process_before, "{misbehave}");
        assert_eq!(site.value("osek_P.misbehave"), 0.0);
        let waiter = site.value("osek_DW.waiter");
        site.wait_for_value("osek_DW.waiter", |count| count > waiter + 3.0);
        // The previous build, with its stacks, stays in its slot until that is needed.
        let after = held(&site);
        assert_eq!(after.0, timers(&site), "{misbehave}");
        assert!(after.1 <= 2 * before.1 + 2, "{misbehave}: {before:?} became {after:?}");
    }
}

/// Goal: whatever ends a program in the C library, the task that was under way is named.
#[test]
fn a_task_that_ends_the_program_in_the_c_library_is_named() {
    for (misbehave, kind, says) in [
        ("7", "crash", "the program crashed in task `Background`: SIGSEGV"),
        ("8", "process-lost", "`exit` or `pthread_exit` in task `Background`"),
        ("9", "process-lost", "`exit` or `pthread_exit` in task `Background`"),
    ] {
        let site = up();
        site.wait_for_value("osek_DW.fast", |count| count > 5.0);
        site.change(ChangeKind::Set, "osek_P.misbehave", Some(misbehave));
        let text = site.wait_for_event(kind);
        assert!(text.contains(says), "{misbehave}: {text}");
    }
}

/// Deploys as soon as the previous build is no longer on probation and no job is under way: on a
/// slow machine, a job of `Background` may last for as long as the swap waits.
fn deploy_when_possible(site: &Site, folder: &Path) {
    let end = Instant::now() + PATIENCE;
    loop {
        match site
            .client()
            .ask::<Deployed>("axis", Verb::deploy(folder, DeployPatience::UntilItRuns))
        {
            Ok(_) => return,
            Err(error) => {
                let text = error.to_string();
                let events = site.client().events(0);
                let passes = text.contains("probation") || text.contains("under way");
                assert!(passes && Instant::now() < end, "{text}: {events:#?}");
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

#[test]
fn a_changed_program_takes_over_with_the_values_of_the_one_before() {
    let site = up();
    let fast = site.wait_for_value("osek_DW.fast", |count| count > 20.0);
    let changed = site.folder.path().join("changed");
    for round in 1..=3 {
        let step = format!("osek_DW.fast += 1000u * {round}u;");
        let _ = std::fs::remove_dir_all(&changed);
        copy_model("osek_kernel", &changed, &[("osek_DW.fast++;", &step)]);
        deploy_when_possible(&site, &changed);
        let first = site.wait_for_value("osek_DW.fast", |count| count > fast + 3000.0);
        site.wait_for_value("osek_DW.fast", |count| count > first + 5000.0);
        let rounds = site.value("osek_DW.rounds");
        site.wait_for_value("osek_DW.rounds", |seen| seen > rounds);
    }
    assert_eq!(held(&site).0, timers(&site), "one timer");
    let tasks = figures(&site);
    assert!(tasks[1].snapshot.counters.cycles > 20, "the rows go on");

    let other = site.folder.path().join("other");
    copy_model("osek_kernel", &other, &[("Background", "Idle")]);
    let refused = site
        .client()
        .ask::<Deployed>("axis", Verb::deploy(&other, DeployPatience::UntilItRuns))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("its OIL file has other tasks"), "{refused}");
    let slower = site.folder.path().join("slower");
    copy_model("osek_kernel", &slower, &[("5000000", "1000000")]);
    let refused = site
        .client()
        .ask::<Deployed>("axis", Verb::deploy(&slower, DeployPatience::UntilItRuns))
        .unwrap_err()
        .to_string();
    let file = slower.join("osek.oil");
    let says = format!("is not the tick of counter `Tick` in `{}`", file.display());
    assert!(refused.contains(&says), "{refused}");
    site.wait_for("running", |state| *state == Activity::Running);
}

/// Goal: the site file says in which of its modes a program starts.
#[test]
fn a_program_starts_in_the_application_mode_that_is_asked_for() {
    let site = up_with(&SITE.replace("period =", "mode = \"Service\"\nperiod ="));
    site.wait_for_value("osek_DW.waiter", |count| count >= 3.0);
    assert_eq!(site.value("osek_DW.fast"), 0.0, "its alarm starts in the other mode only");
}

/// Goal: a build takes over between two jobs, not in the middle of one.
/// Method: a task that holds a resource for several cycles, most of the time; what it counts at its
/// begin and at its end may differ by the job that runs, and by no more.
#[test]
fn a_job_in_its_critical_section_is_not_cut_by_a_deploy() {
    let site = up();
    site.change(ChangeKind::Set, "osek_P.length", Some("60000000"));
    let changed = site.folder.path().join("changed");
    for round in 1..=3 {
        let step = format!("osek_DW.fast += {round}u;");
        let _ = std::fs::remove_dir_all(&changed);
        copy_model("osek_kernel", &changed, &[("osek_DW.fast++;", &step)]);
        let begun = site.value("osek_DW.begun");
        site.wait_for_value("osek_DW.begun", |count| count > begun);
        deploy_when_possible(&site, &changed);
        // Jobs may end between the two readings: what has begun is read first.
        let (begun, ended) = (site.value("osek_DW.begun"), site.value("osek_DW.ended"));
        assert!(begun - ended <= 1.0, "deploy {round}: {begun} begun, {ended} ended");
    }
    assert!(site.told("swap-waits").is_some(), "none of the three came in the middle of a job");
}

/// Goal: a deploy beside a job that does not end is refused, says whose it is, and nobody waits for
/// it but who asked.
#[test]
fn a_deploy_beside_a_job_that_does_not_end_is_refused_with_its_task() {
    let site = up();
    site.change(ChangeKind::Set, "osek_P.misbehave", Some("6"));
    let changed = site.folder.path().join("changed");
    copy_model("osek_kernel", &changed, &[("osek_DW.fast++;", "osek_DW.fast += 2u;")]);
    let ended = site.value("osek_DW.ended");
    site.wait_for_value("osek_DW.begun", |begun| begun > ended);
    let (sender, lines) = std::sync::mpsc::channel();
    let refused = std::thread::scope(|scope| {
        let mut client = site.client();
        let deploy = scope.spawn(move || {
            let deploy = Verb::deploy(&changed, DeployPatience::UntilItRuns);
            client.ask_hearing::<Deployed>("axis", deploy, &mut |line| {
                drop(sender.send(line.to_owned()));
            })
        });
        let waits = "waiting for a job of task `Background` to end";
        assert!(lines.iter().any(|line| line == waits), "nothing is said");
        let said = Instant::now();
        let fast = site.value("osek_DW.fast");
        site.change(ChangeKind::Set, "osek_P.length", Some("1000"));
        site.wait_for_value("osek_DW.fast", |count| count > fast);
        // Less than a second, for the machine may stand still before the line is heard.
        let has_waited = said.elapsed() > Duration::from_millis(400);
        assert!(has_waited || !deploy.is_finished(), "it waits for a second");
        deploy.join().expect("no panic").unwrap_err().to_string()
    });
    let why = "a job of task `Background` was under way at the end of each cycle";
    assert!(refused.contains(why) && refused.contains("`quietcore restart`"), "{refused}");
    let fast = site.value("osek_DW.fast");
    site.wait_for_value("osek_DW.fast", |count| count > fast + 3.0);
    assert_eq!(site.client().list().unwrap()[0].state, Activity::Running);
    site.client()
        .ask::<Done>("axis", Verb::Restart { how: Restart::Cold })
        .expect("it needs no end of a job");
    let changed = site.folder.path().join("changed");
    deploy_when_possible(&site, &changed);
}

#[test]
fn a_task_is_recorded_job_by_job() {
    let site = up();
    let wanted = RecordingRequest {
        variables: vec!["osek_DW.fast".to_owned(), "osek_DW.waiter".to_owned()],
        every: 1,
        task: 2,
        trigger: None,
        pre_percent: 0,
        length: Length::Samples(10),
    };
    let mut recording = Recording::new(Vec::new());
    let stop = AtomicBool::new(false);
    let summary =
        record(&mut site.client(), "axis", &wanted, &mut recording, &mut |_| {}, &stop).unwrap();
    assert_eq!((summary.kept, summary.ended_early), (10, None));
}

#[test]
fn nothing_of_it_is_left_when_the_site_goes_down() {
    let mut site = up();
    site.wait_for_value("osek_DW.fast", |count| count > 5.0);
    let process = process(&site);
    drop(site.site.running.take());
    let status = std::fs::read_to_string(format!("{process}/status"));
    assert!(status.is_err(), "{process} is still there");
}
