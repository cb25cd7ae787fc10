//! A partition that is late sheds a less critical one, which goes on as if nothing had happened.

#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use quietcore_skip::skip;
use quietcore_supervisor::control::{
    Activity, Applied, Change, ChangeKind, Done, PartitionState, Paused, Restart, Verb,
};
use quietcore_supervisor::monitor::Monitor;
use rustix::process::{Pid, Signal, kill_process};
use site::{PATIENCE, Site};

/// Returns a site file; `axis` and `vision` are the keys of the monitors of these partitions.
fn text(axis: &str, vision: &str) -> String {
    format!(
        r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "fast-control-loop"
criticality = "high"
[partition.vcr]
cpus = [0]
budget = 50
[partition.program]
model = "late"
period = "20 ms"
policy = "other"
watchdog = "2 s"
restart = {{ limit = 2, wait = "10 ms" }}
[partition.monitor]
{axis}

[[partition]]
name = "vision"
class = "fast-control-loop"
criticality = "low"
[partition.vcr]
cpus = [0]
budget = 50
[partition.program]
model = "late"
period = "20 ms"
policy = "other"
watchdog = "1 s"
[partition.monitor]
{vision}
"#
    )
}

/// Brings the site up, unless other partitions than processes are under test.
fn up(axis: &str, vision: &str) -> Option<Site> {
    if std::env::var_os("QUIETCORE_TEST_BACKEND").is_some() {
        skip!("its program reads the clock of a process to be late; run it with processes");
        return None;
    }
    Some(Site::up(&text(axis, vision), "late"))
}

fn state(site: &Site, name: &str) -> PartitionState {
    let all = site.client().list().expect("the site answers");
    all.into_iter().find(|one| one.name == name).expect("a partition")
}

fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < end, "not {what} in time");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn steps(site: &Site, partition: &str) -> u64 {
    Monitor::open(&mut site.client(), partition).expect("an exchange").steps()
}

/// Waits for so many cycles of a partition.
fn wait_for_steps(site: &Site, partition: &str, count: u64) {
    let before = steps(site, partition);
    wait_until("run on", || steps(site, partition) >= before + count);
}

/// Makes the next cycle of a partition spin for so many milliseconds.
fn be_late(site: &Site, partition: &str, millis: &str) {
    let (variable, value) = ("late_P.spin_ms".to_owned(), Some(millis.to_owned()));
    let change = Change { kind: ChangeKind::Set, variable, value, allow_nan: false };
    site.client()
        .ask::<Applied>(partition, Verb::write([change]))
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Waits until both run. On a busy machine `axis` may be late by itself, and `vision` shed.
fn both_run(site: &Site) {
    let runs = |state: &Activity| matches!(state, Activity::Running | Activity::Shed { .. });
    wait_until("both running", || {
        ["axis", "vision"].iter().all(|name| runs(&state(site, name).state))
    });
}

fn told(site: &Site, partition: &str, kind: &str) -> usize {
    let events = site.client().events(0).expect("the site answers");
    events.iter().filter(|it| it.partition == partition && it.kind == kind).count()
}

#[test]
fn an_overrun_freezes_the_less_critical_and_calm_gives_it_back() {
    // The calm outlasts the looks below, even if the machine stands still.
    let axis = "on_overrun = \"shed\"\ncalm = \"4 s\"";
    let Some(site) = up(axis, "when_shed = \"freeze\"") else { return };
    both_run(&site);
    wait_for_steps(&site, "vision", 5);
    be_late(&site, "axis", "60");
    let shed = Activity::Shed { by: "axis".to_owned() };
    wait_until("shed", || state(&site, "vision").state == shed);
    let before = steps(&site, "vision");
    wait_for_steps(&site, "axis", 10);
    // The steps are read before the state: it may be given back after any look.
    let within = steps(&site, "vision") - before;
    if state(&site, "vision").state == shed {
        // A guest and a loaded machine may finish the step that ran.
        assert!(within <= 1, "{within} cycles while it is shed");
    }
    let refusal = site.client().ask::<Paused>("vision", Verb::Pause).expect_err("it is shed");
    assert!(refusal.to_string().contains("shed for `axis`"), "{refusal}");
    wait_until("given back", || told(&site, "vision", "given-back") > 0);
    wait_for_steps(&site, "vision", 20);
    let (axis, vision) = (state(&site, "axis"), state(&site, "vision"));
    let reactions = axis.reactions.expect("it was measured");
    assert!(reactions.count >= 1 && reactions.min <= reactions.median);
    assert!(reactions.median <= reactions.max && reactions.min.get() > 0);
    assert!(vision.times_shed >= 1 && axis.times_shed == 0);
    assert_eq!((vision.restarts, vision.reactions), (0, None), "it was held, and not in fault");
    let events = site.client().events(0).expect("the site answers");
    let order: Vec<_> = events
        .iter()
        .filter(|it| it.partition == "vision" && (it.kind == "shed" || it.kind == "given-back"))
        .map(|it| it.kind.as_str())
        .collect();
    assert_eq!(order[..2], ["shed", "given-back"]);
}

/// Goal: a step in which a partition is stopped is not taken for one that does not return.
/// Method: it spins most of the time, and each stop takes longer than its watchdog allows a step.
#[test]
fn a_step_that_is_stopped_has_no_fault() {
    let axis = "on_overrun = \"shed\"\ncalm = \"1500 ms\"";
    let Some(site) = up(axis, "when_shed = \"freeze\"") else { return };
    both_run(&site);
    let (variable, value) = ("late_P.spin_ms".to_owned(), Some("12".to_owned()));
    let force = Change { kind: ChangeKind::Force, variable, value, allow_nan: false };
    site.client()
        .ask::<Applied>("vision", Verb::write([force]))
        .unwrap_or_else(|error| panic!("{error}"));
    for round in 1..=4 {
        be_late(&site, "axis", "60");
        wait_until("given back", || told(&site, "vision", "given-back") >= round);
        wait_for_steps(&site, "vision", 2);
    }
    assert_eq!(state(&site, "vision").restarts, 0);
    assert_eq!(told(&site, "vision", "watchdog"), 0);
    assert_eq!(told(&site, "vision", "hung"), 0);
}

#[test]
fn a_throttled_partition_runs_fewer_cycles_and_then_all_of_them() {
    let axis = "on_overrun = \"shed\"\ncalm = \"3 s\"";
    let throttled = "when_shed = \"throttle\"\nshare = 20";
    let Some(site) = up(axis, throttled) else { return };
    both_run(&site);
    be_late(&site, "axis", "60");
    wait_until("shed", || matches!(state(&site, "vision").state, Activity::Shed { .. }));
    let (axis, vision) = (steps(&site, "axis"), steps(&site, "vision"));
    wait_for_steps(&site, "axis", 100);
    let (axis, vision) = (steps(&site, "axis") - axis, steps(&site, "vision") - vision);
    // Once it is given back, it runs all of its cycles.
    if told(&site, "vision", "given-back") == 0 {
        assert!((1..axis / 2).contains(&vision), "{vision} cycles beside {axis}");
    }
    wait_until("given back", || told(&site, "vision", "given-back") > 0);
    wait_for_steps(&site, "vision", 20);
}

#[test]
fn who_is_late_too_often_is_restarted_within_its_limit() {
    let Some(site) = up("on_overrun = \"restart\"\nafter = 2", "") else { return };
    both_run(&site);
    for _ in 0..40 {
        if told(&site, "axis", "given-up") > 0 {
            break;
        }
        // It may be about to be restarted.
        let (variable, value) = ("late_P.spin_ms".to_owned(), Some("60".to_owned()));
        let change = Change { kind: ChangeKind::Set, variable, value, allow_nan: false };
        let _ = site.client().ask::<Applied>("axis", Verb::write([change]));
        std::thread::sleep(Duration::from_millis(50));
    }
    wait_until("given up", || told(&site, "axis", "given-up") > 0);
    let axis = state(&site, "axis");
    assert_eq!((axis.restarts, axis.state), (2, Activity::Running), "it runs on, and is reported");
    assert_eq!(told(&site, "vision", "shed"), 0);
    assert!(told(&site, "axis", "restart") >= 2);
}

/// Goal: a restart that is planned for a program which was late does not strike the one after it.
/// Method: a period that is not overrun by chance; the wait is over only after the process was
/// killed, or after a person has restarted the program.
#[test]
fn a_restart_that_is_planned_is_not_for_the_program_that_follows() {
    if std::env::var_os("QUIETCORE_TEST_BACKEND").is_some() {
        skip!("its program reads the clock of a process to be late; run it with processes");
        return;
    }
    for is_killed in [false, true] {
        let text = text("on_overrun = \"restart\"\nafter = 1", "")
            .replace("period = \"20 ms\"", "period = \"1 s\"")
            .replace("limit = 2, wait = \"10 ms\"", "limit = 9, wait = \"4 s\"");
        let text = text + "[campaign]\nduration = \"10 s\"\nexceedance = 0.1\n";
        let site = Site::up(&text, "late");
        be_late(&site, "axis", "1500");
        wait_until("late", || told(&site, "axis", "restart") > 0);
        let before = state(&site, "axis");
        if is_killed {
            let pid = before.pid.and_then(|pid| Pid::from_raw(pid.cast_signed()));
            kill_process(pid.expect("a process"), Signal::KILL).expect("it is ours");
            wait_until("another process", || {
                let now = state(&site, "axis");
                now.state == Activity::Running && now.pid.is_some() && now.pid != before.pid
            });
        } else {
            site.client()
                .ask::<Done>("axis", Verb::Restart { how: Restart::Warm })
                .expect("it runs");
        }
        // This is longer than the wait that was planned.
        wait_for_steps(&site, "axis", 6);
        let (after, restarts) = (state(&site, "axis"), u32::from(is_killed));
        assert_eq!((after.restarts, after.state), (restarts, Activity::Running));
        assert_eq!(told(&site, "axis", "restarted"), usize::from(!is_killed), "as asked");
    }
}

#[test]
fn a_site_comes_down_while_a_partition_stands() {
    let axis = "on_overrun = \"shed\"\ncalm = \"10 min\"";
    let Some(mut site) = up(axis, "") else { return };
    both_run(&site);
    be_late(&site, "axis", "60");
    wait_until("shed", || matches!(state(&site, "vision").state, Activity::Shed { .. }));
    let pid = state(&site, "vision").pid.expect("a process");
    site.running = None;
    assert!(!is_alive(pid), "it has ended and was waited for");
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z"))
}

const AS_SUPERVISOR: &str = "QUIETCORE_TEST_SUPERVISOR";

/// Goal: a partition that stands does not stand for ever when its supervisor is killed.
/// Method: this test starts itself as the supervisor, which says what stands, and is killed.
#[test]
fn a_partition_that_stands_ends_with_a_supervisor_that_is_killed() {
    if std::env::var_os(AS_SUPERVISOR).is_some() {
        let axis = "on_overrun = \"shed\"\ncalm = \"10 min\"";
        let Some(site) = up(axis, "") else { return };
        both_run(&site);
        be_late(&site, "axis", "60");
        wait_until("shed", || matches!(state(&site, "vision").state, Activity::Shed { .. }));
        let pid = |name| state(&site, name).pid.expect("a process");
        println!("\nstands {} {}", pid("vision"), pid("axis"));
        std::thread::sleep(PATIENCE);
        return;
    }
    if std::env::var_os("QUIETCORE_TEST_BACKEND").is_some() {
        skip!("its program reads the clock of a process to be late; run it with processes");
        return;
    }
    let own = std::env::current_exe().expect("a test has a path");
    let mut supervisor = Command::new(own)
        .args(["--exact", "a_partition_that_stands_ends_with_a_supervisor_that_is_killed"])
        .arg("--nocapture")
        .env(AS_SUPERVISOR, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let said = BufReader::new(supervisor.stdout.take().expect("a pipe")).lines();
    let mut said = said.map_while(Result::ok);
    let stands = said.find_map(|line| line.strip_prefix("stands ").map(str::to_owned));
    supervisor.kill().expect("it is killed");
    supervisor.wait().expect("it is waited for");
    let pids: Vec<u32> =
        stands.expect("it stands").split(' ').map(|pid| pid.parse().expect("a number")).collect();
    wait_until("ended", || !pids.iter().any(|pid| is_alive(*pid)));
}
