//! Other programs are kept off the partitions' CPUs, under either version of control groups.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use super::*;

/// Cpusets of version 1, which the lab's kernel has, too, while nobody uses those of version 2.
pub(super) struct VersionOne {
    place: tempfile::TempDir,
}

impl VersionOne {
    pub(super) fn mount() -> Self {
        let place = tempfile::tempdir().unwrap();
        mount("cpuset", place.path(), "cgroup", MountFlags::empty(), c"cpuset").unwrap();
        Self { place }
    }

    fn of(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }
}

impl Drop for VersionOne {
    fn drop(&mut self) {
        // A group that was removed is there for a while, and keeps all from version 2.
        within_ten_seconds("one cpuset", || groups().is_some_and(|count| count == "1"));
        unmount(self.place.path(), UnmountFlags::empty()).unwrap();
        within_ten_seconds("cpusets of version 2", || {
            fs::read_to_string("/sys/fs/cgroup/cgroup.controllers").unwrap().contains("cpuset")
        });
    }
}

/// The number of cpusets, as the kernel counts them.
fn groups() -> Option<String> {
    let table = fs::read_to_string("/proc/cgroups").unwrap();
    let row = table.lines().find(|row| row.starts_with("cpuset\t"))?;
    row.split_whitespace().nth(2).map(str::to_owned)
}

fn within_ten_seconds(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(10), "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A program that sleeps until it is killed.
struct Sleeper(Child);

impl Sleeper {
    fn begin() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn cpus(&self) -> String {
        allowed(self.0.id())
    }

    /// Waits until it may run on these CPUs.
    fn comes_to(&self, cpus: &str) {
        within_ten_seconds(cpus, || self.cpus() == cpus);
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn allowed(process: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap().trim().to_owned()
}

/// Goal: a program that has nothing to do with a site is off its CPUs, whenever it began, and
/// comes back when the site is down and when its holder was killed; who enters the site's group is
/// on them.
fn programs_leave_and_come_back(controls: &[Control], entrance: &dyn Fn(u32) -> PathBuf) {
    let (before, all) = (state(), online().to_string());
    assert_eq!(all, "0,1");
    let cpu: CpuSet = CpuId::new(1).into_iter().collect();
    let (_folder, journal) = journal();
    for is_killed in [false, true] {
        let old = Sleeper::begin();
        assert_eq!(old.cpus(), "0-1");
        let mut child = hold(&journal, &cpu, controls);
        let said = said(&mut child);
        let words = said.iter().find(|line| line.starts_with("programs")).unwrap();
        assert!(words.ends_with("changed"), "{said:?}");
        old.comes_to("0");
        let young = Sleeper::begin();
        young.comes_to("0");
        fs::write(entrance(child.id()), young.0.id().to_string()).unwrap();
        young.comes_to("1");
        if is_killed {
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(old.cpus(), "0");
            let controls = Controls::new(LiveSettings::default(), Store::new(&journal));
            assert_eq!(controls.recover().unwrap().left, []);
        } else {
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success());
        }
        old.comes_to("0-1");
        young.comes_to("0-1");
        assert_eq!(changes_that_stay(&before), Vec::<String>::new());
        assert!(!Store::new(&journal).exists());
    }
}

#[test]
fn programs_leave_the_cpus_and_come_back() {
    need_own_machine!();
    let group = |holder| format!("/sys/fs/cgroup/quietcore-hold-{holder}");
    let entrance = |holder| PathBuf::from(group(holder)).join("processes/cgroup.procs");
    programs_leave_and_come_back(&[Control::Programs], &|holder| {
        let partition = fs::read_to_string(group(holder) + "/cpuset.cpus.partition").unwrap();
        assert_eq!(partition.trim(), "root");
        entrance(holder)
    });
    // The stronger of two has it.
    programs_leave_and_come_back(&[Control::LoadBalance, Control::Programs], &|holder| {
        let partition = fs::read_to_string(group(holder) + "/cpuset.cpus.partition").unwrap();
        assert_eq!(partition.trim(), "isolated");
        entrance(holder)
    });
}

#[test]
fn programs_leave_the_cpus_and_come_back_under_version_1() {
    need_own_machine!();
    let one = VersionOne::mount();
    let entrance = |holder| one.of(&format!("quietcore-of-hold-{holder}/cgroup.procs"));
    programs_leave_and_come_back(&[Control::Programs], &entrance);
    programs_leave_and_come_back(&[Control::LoadBalance, Control::Programs], &entrance);
}

/// Goal: programs that others keep on the CPUs are counted, and stay where they are.
#[test]
fn programs_in_a_group_of_others_are_told_and_left() {
    need_own_machine!();
    let one = VersionOne::mount();
    let theirs = one.of("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("cpuset.mems"), "0").unwrap();
    fs::write(theirs.join("cpuset.cpus"), "0-1").unwrap();
    let sleeper = Sleeper::begin();
    fs::write(theirs.join("tasks"), sleeper.0.id().to_string()).unwrap();
    thread::sleep(Duration::from_secs(2));
    let (_folder, journal) = journal();
    let cpu: CpuSet = CpuId::new(1).into_iter().collect();
    let mut child = hold(&journal, &cpu, &[Control::Programs]);
    let said = said(&mut child);
    let line = said.iter().find(|line| line.starts_with("programs")).unwrap();
    assert!(line.ends_with("1 ignored"), "{line}");
    assert_eq!(sleeper.cpus(), "0-1");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(!Store::new(&journal).exists());
    drop(sleeper);
    fs::remove_dir(theirs).unwrap();
}

#[test]
fn after_random_plans_under_version_1_the_machine_is_what_it_was() {
    need_own_machine!();
    let _one = VersionOne::mount();
    after_random_plans_the_machine_is_what_it_was(PLANS / 4);
}
