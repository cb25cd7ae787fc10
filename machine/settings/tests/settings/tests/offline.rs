//! A CPU that goes offline while settings are changed for it.

use std::fs;

use super::programs::VersionOne;
use super::*;

/// CPU 1 while it is offline; it comes back when this is dropped, whatever fails.
struct Offline;

impl Offline {
    const STATE: &str = "/sys/devices/system/cpu/cpu1/online";

    fn take() -> Self {
        let offline = Self;
        fs::write(Self::STATE, "0").unwrap();
        offline
    }
}

impl Drop for Offline {
    fn drop(&mut self) {
        fs::write(Self::STATE, "1").unwrap();
    }
}

/// Goal: whether its holder ends or is killed while the CPU is away, what can't be put back then
/// is put back when it is there again, and the machine is what it was.
fn what_was_changed_for_it_is_put_back() {
    let before = state();
    let cpu: CpuSet = CpuId::new(1).into_iter().collect();
    let (_folder, journal) = journal();
    let controls = Controls::new(LiveSettings::default(), Store::new(&journal));
    for is_killed in [false, true] {
        let mut child = hold(&journal, &cpu, &Control::ALL);
        drop(said(&mut child));
        let offline = Offline::take();
        if is_killed {
            child.kill().unwrap();
            child.wait().unwrap();
            controls.recover().unwrap();
        } else {
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success());
        }
        drop(offline);
        assert_eq!(controls.recover().unwrap().left, []);
        assert_eq!(changes_that_stay(&before), Vec::<String>::new());
        assert!(!Store::new(&journal).exists());
    }
}

#[test]
fn what_was_changed_for_a_cpu_that_went_offline_is_put_back() {
    need_own_machine!();
    what_was_changed_for_it_is_put_back();
}

#[test]
fn what_was_changed_for_a_cpu_that_went_offline_is_put_back_under_version_1() {
    need_own_machine!();
    let _one = VersionOne::mount();
    what_was_changed_for_it_is_put_back();
}
