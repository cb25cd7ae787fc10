//! A servo axis in a guest, from the start of its site to the end: driven over its network device,
//! watched, tuned, deployed to, paused, crashed on purpose, and gone. Under our own monitor it is
//! skipped where there is no KVM, or one that interprets its guests; QEMU emulates it there.
//!
//! The tests for partitions of all backends are in `running`.

#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use quietcore_supervisor::control::{
    Activity, ChangeKind, DeployPatience, Deployed, FieldbusState, Paused, Verb,
};
use site::{PATIENCE, Site, copy_model};

/// A site file with a cycle that is slow enough for a virtual machine in an emulated one.
const SITE: &str = r#"
[site]
name = "servo"

[[partition]]
name = "axis"
class = "process-control"
backend = "kvm"

[partition.vcr]
cpus = [0]

[partition.program]
model = "servo"
period = "20 ms"
policy = "other"
watchdog = "2 s"
on_fault = "zero"
restart = { limit = 3, wait = "10 ms" }

[fieldbus.ec0]
partition = "axis"
interface = "sim"
cycle = "20 ms"
lost = 50

[[fieldbus.ec0.subdevice]]
name = "head"
device = "coupler"

[[fieldbus.ec0.subdevice]]
name = "drive"
device = "servo-drive"
plant = "servo-axis"

[[fieldbus.ec0.map]]
variable = "servo_U.position"
entry = "drive.position_actual_value"
scale = 5.992112452678286e-6

[[fieldbus.ec0.map]]
variable = "servo_U.velocity"
entry = "drive.velocity_actual_value"
scale = 5.992112452678286e-6

[[fieldbus.ec0.map]]
variable = "servo_U.statusword"
entry = "drive.statusword"

[[fieldbus.ec0.map]]
variable = "servo_U.mode_display"
entry = "drive.modes_of_operation_display"

[[fieldbus.ec0.map]]
variable = "servo_Y.torque"
entry = "drive.target_torque"
scale = 0.0024

[[fieldbus.ec0.map]]
variable = "servo_Y.velocity"
entry = "drive.target_velocity"
scale = 5.992112452678286e-6

[[fieldbus.ec0.map]]
variable = "servo_Y.controlword"
entry = "drive.controlword"

[[fieldbus.ec0.map]]
variable = "servo_Y.mode"
entry = "drive.modes_of_operation"
"#;

const MODEL: &str = "../../../models/servo";

/// Traces that a partition could leave behind on a machine.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    interfaces: BTreeSet<String>,
    huge_pages: String,
    mounts: usize,
    groups: BTreeSet<String>,
}

impl Left {
    fn now() -> Self {
        let names = |folder: &str| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        };
        let memory = fs::read_to_string("/proc/meminfo").expect("every Linux has it");
        let free = memory.lines().find(|line| line.starts_with("HugePages_Free"));
        Self {
            interfaces: names("/sys/class/net"),
            huge_pages: free.unwrap_or_default().to_owned(),
            mounts: fs::read_to_string("/proc/self/mounts").expect("as above").lines().count(),
            groups: names("/sys/fs/cgroup"),
        }
    }
}

/// Waits until the fieldbus is in OP and every SubDevice works: where a machine stands still for a
/// moment, the segment is brought up again.
fn in_op(site: &Site) -> FieldbusState {
    let end = Instant::now() + PATIENCE;
    loop {
        let state = site.client().list().expect("the supervisor answers").remove(0);
        let fieldbus = state.fieldbus.expect("it has one");
        if fieldbus.state == "OP" && fieldbus.working_counter == fieldbus.working_counter_expected {
            return fieldbus;
        }
        assert!(Instant::now() < end, "not in OP in time: {fieldbus:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the name of a process; `None` if there is none of this number.
fn process(number: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{number}/comm")).ok()
}

/// Returns why guests that compute can't run here under KVM; `None` if they can.
fn no_kvm() -> Option<&'static str> {
    if fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_err() {
        return Some("/dev/kvm can't be opened");
    }
    let is_interpreted = fs::read_to_string("/proc/cpuinfo")
        .is_ok_and(|it| !it.contains(" svm") && !it.contains(" vmx"));
    is_interpreted.then_some("this KVM interprets its guests: the processor has no virtualisation")
}

#[test]
fn a_servo_in_a_guest_is_driven_tuned_deployed_to_and_crashed_and_leaves_nothing() {
    match no_kvm() {
        Some(why) => quietcore_skip::skip!("{why}"),
        None => a_servo_lives(SITE, "kvm"),
    }
}

#[test]
fn a_servo_in_a_guest_of_qemu_is_driven_tuned_deployed_to_and_crashed_and_leaves_nothing() {
    if Command::new("qemu-system-x86_64").arg("--version").output().is_err() {
        return quietcore_skip::skip!("there is no `qemu-system-x86_64`");
    }
    let machine = if no_kvm().is_some() { "\nguest = { accelerator = \"tcg\" }" } else { "" };
    let site = SITE.replace("backend = \"kvm\"", &format!("backend = \"qemu\"{machine}"));
    a_servo_lives(&site, "qemu");
}

/// Runs the whole life of a servo axis in a guest of this backend.
fn a_servo_lives(text: &str, backend: &str) {
    let before = Left::now();
    let site = Site::up(text, MODEL);
    let state = site.client().list().expect("the supervisor answers").remove(0);
    assert_eq!(state.backend, backend);
    let first = state.pid.expect("the guest's process");

    // The drive is switched on over the fieldbus: all of CiA 402 takes part.
    site.wait_for_value("servo_U.statusword", |word| word as u32 & 0x6F == 0x27);
    assert_eq!(in_op(&site).subdevices, 2);

    // Now it is tuned: a slow controller, and a place to go to.
    site.change(ChangeKind::Set, "servo_P.Kv", Some("2"));
    site.change(ChangeKind::Force, "servo_U.target", Some("0.5"));
    site.wait_for_value("servo_U.position", |position| position > 0.05);

    site.client().ask::<Paused>("axis", Verb::Pause).expect("the supervisor answers");
    site.wait_for("paused", |state| *state == Activity::Paused);
    let held = site.value("servo_U.position");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(site.value("servo_U.position"), held);
    site.client().ask::<Paused>("axis", Verb::Resume).expect("the supervisor answers");
    site.wait_for("running", |state| *state == Activity::Running);

    // A program that crashes after a while is deployed to the running guest.
    let changed = site.folder.path().join("changed");
    let crash = "static int32_t left = 60;\n  if (--left == 0) *(volatile int32_t *)0x40 = 1;";
    let begin = "void servo_step(void)\n{";
    copy_model(MODEL, &changed, &[(begin, &format!("{begin}\n  {crash}"))]);
    let deployed = site
        .client()
        .ask::<Deployed>("axis", Verb::deploy(&changed, DeployPatience::UntilItRuns))
        .expect("the supervisor answers");
    assert_eq!(deployed.generation, 2);
    assert!(deployed.tuned.contains(&"servo_P.Kv".to_owned()), "{deployed:?}");
    let text = site.wait_for_event("crash");
    assert!(text.contains("SIGSEGV") && text.contains("servo_step"), "{text}");
    assert!(text.contains("servo.c:"), "with file and line: {text}");
    // The guest itself goes on, on probation or restarted.
    site.wait_for("running", |state| *state == Activity::Running);
    assert_eq!(site.client().list().expect("the supervisor answers")[0].pid, Some(first));

    drop(site);
    assert_eq!(process(first), None, "the guest's process and its threads are gone");
    assert_eq!(Left::now(), before);
}
