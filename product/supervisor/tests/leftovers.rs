//! A site leaves nothing behind when it is down.

#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use quietcore_supervisor::control::{DeployPatience, Deployed, Verb};
use site::{PATIENCE, SITE, Site, copy_model};

/// Goal: what a program forks does not outlive its partition, also where it left the group.
#[test]
fn a_process_that_a_program_has_forked_ends_with_the_partition() {
    for before in ["", "if (child == 0) setsid(); "] {
        a_forked_process_ends(before);
    }
}

/// Forks a process that does something `before` it waits for ever; checks that it ends.
fn a_forked_process_ends(before: &str) {
    let mut site = Site::up(SITE, "counter");
    let changed = site.folder.path().join("changed");
    let include = "#include \"counter.h\"";
    // The data lie in shared memory, which the child has, too.
    let forks = format!(
        "counter_DW.total = 0; int child = fork(); {before}while (child == 0) pause(); \
         counter_child = child;"
    );
    copy_model(
        "counter",
        &changed,
        &[
            (include, &format!("{include}\n#include <unistd.h>\nint counter_child;")),
            ("counter_DW.total = 0;", &forks),
        ],
    );
    site.client()
        .ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns))
        .expect("it is deployed");
    let child = site.wait_for_value("counter_child", |value| value > 1.0);
    let place = format!("/proc/{child}/stat");
    let lives = || std::fs::read_to_string(&place).is_ok_and(|stat| !stat.contains(") Z"));
    assert!(lives(), "it was forked");
    site.running = None;
    let end = Instant::now() + PATIENCE;
    while lives() {
        assert!(Instant::now() < end, "process {child} is left behind");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A site with a guest under QEMU, with a cycle that is slow enough for an emulated processor.
const QEMU_SITE: &str = r#"
[site]
name = "press"

[[partition]]
name = "axis"
class = "process-control"
backend = "qemu"
guest = { accelerator = "tcg" }

[partition.vcr]
cpus = [0]

[partition.program]
model = "counter"
period = "20 ms"
policy = "other"
watchdog = "2 s"
restart = { limit = 5, wait = "10 ms" }
"#;

/// Returns the processes that one has started.
fn children(of: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn has_ended(process: u32) -> bool {
    !fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
}

fn wait_for_end(process: u32, what: &str) {
    let end = Instant::now() + PATIENCE;
    while !has_ended(process) {
        assert!(Instant::now() < end, "{what} is left behind");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the numbers of the partition's process and of QEMU's, once both run.
fn processes(site: &Site) -> (u32, u32) {
    let end = Instant::now() + PATIENCE;
    loop {
        let own = site.client().list().expect("the site answers")[0].pid;
        match own.map(|own| (own, children(own))) {
            Some((own, started)) if started.len() == 1 => return (own, started[0]),
            other => assert!(Instant::now() < end, "no process that has started QEMU: {other:?}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Goal: whichever process of a guest under QEMU is killed, the guest is started again, and nothing
/// is left of it when the site is down.
#[test]
fn a_guest_under_qemu_leaves_no_process_behind_whichever_is_killed() {
    if Command::new("qemu-system-x86_64").arg("--version").output().is_err() {
        quietcore_skip::skip!("no QEMU; install Debian's qemu-system-x86");
        return;
    }
    let mut site = Site::up(QEMU_SITE, "counter");
    for kills_qemu in [true, false] {
        let (own, qemu) = processes(&site);
        site.wait_for_value("counter_DW.total", |total| total > 3.0);
        let killed = if kills_qemu { qemu } else { own };
        let number = rustix::process::Pid::from_raw(killed.cast_signed()).unwrap();
        rustix::process::kill_process(number, rustix::process::Signal::KILL).unwrap();
        wait_for_end(qemu, "QEMU");
        wait_for_end(own, "the partition's process");
        let text = site.wait_for_event("process-lost");
        assert!(text.contains("QEMU ended unexpectedly: signal: 9"), "{text}");
    }
    let (own, qemu) = processes(&site);
    site.running = None;
    assert!(has_ended(own) && has_ended(qemu), "down means that nothing runs");
}
