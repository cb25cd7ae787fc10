//! Tests of what a control changes, on a machine in a folder.

use std::fs;

use super::*;
use crate::group::CpusetKind;
use crate::setting::Form;

/// A machine with four CPUs, 1 and 3 on one core.
fn machine() -> (tempfile::TempDir, Source) {
    let folder = tempfile::tempdir().unwrap();
    let cpu = "sys/devices/system/cpu";
    let stat = |name: &str, flags: u64, began: u64| {
        let zeros = "0 ".repeat(12);
        format!("7 ({name}) S 2 0 0 0 -1 {flags} {zeros} {began} 0 0\n")
    };
    for (path, text) in [
        (format!("{cpu}/online"), "0-3\n".to_owned()),
        (format!("{cpu}/cpu1/cpufreq/scaling_governor"), "schedutil\n".into()),
        (format!("{cpu}/cpu1/cpuidle/state0/latency"), "0\n".into()),
        (format!("{cpu}/cpu1/cpuidle/state1/latency"), "10\n".into()),
        (format!("{cpu}/cpu1/cpuidle/state2/latency"), "133\n".into()),
        (format!("{cpu}/cpu1/cpuidle/state2/disable"), "0\n".into()),
        (format!("{cpu}/cpu1/topology/thread_siblings_list"), "1,3\n".into()),
        ("proc/irq/default_smp_affinity".into(), "f\n".into()),
        ("proc/irq/7/smp_affinity_list".into(), "0-3\n".into()),
        ("proc/irq/12/smp_affinity_list".into(), "1\n".into()),
        ("proc/sys/kernel/timer_migration".into(), "1\n".into()),
        ("proc/sys/kernel/sched_rt_runtime_us".into(), "950000\n".into()),
        ("proc/7/stat".into(), stat("rcu_preempt", 0x0020_8040, 11)),
        ("proc/8/stat".into(), stat("ksoftirqd/0", 0x0420_8040, 12)),
        ("proc/10/stat".into(), stat("irq/27-virtio1", 0x0020_8040, 14)),
        ("proc/9/stat".into(), stat("a (b) program", 0x0040_0100, 13)),
        ("sys/devices/virtual/workqueue/cpumask".into(), "f\n".into()),
        ("sys/devices/virtual/workqueue/writeback/cpumask".into(), "f\n".into()),
        ("sys/devices/virtual/workqueue/scsi_tmf_0/max_active".into(), "1\n".into()),
    ] {
        let place = folder.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
    let source = Source::below(folder.path());
    (folder, source)
}

fn wanted(controls: &[Control]) -> RequestedSettings {
    let cpus = "1".parse().unwrap();
    RequestedSettings {
        controls: controls.to_vec(),
        cpus,
        huge_pages: 8,
        ..RequestedSettings::default()
    }
}

/// The settings of one control, as text, each with what it would be given.
fn given(source: &Source, control: Control) -> Vec<(String, String)> {
    words(requests(source, "press", &wanted(&[control])))
}

fn words(requests: Vec<Request<Control>>) -> Vec<(String, String)> {
    let given = requests.into_iter().map(|Request { setting, want, .. }| {
        let value = match want {
            Want::Exactly(value) => value,
            Want::Without { cpus, of } => format!("{of} without {cpus}"),
            Want::With(word) => format!("with {word}"),
            Want::More(count) => format!("{count} more"),
        };
        (setting.to_string(), value)
    });
    given.collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
}

#[test]
fn what_the_kernel_does_anywhere_is_kept_off() {
    let (_folder, source) = machine();
    let without = "0-3 without 1";
    assert_eq!(
        given(&source, Control::Interrupts),
        pairs(&[
            ("/proc/irq/default_smp_affinity", without),
            ("/proc/irq/7/smp_affinity_list", without),
            ("/proc/irq/12/smp_affinity_list", without),
        ])
    );
    assert_eq!(
        given(&source, Control::KernelThreads),
        pairs(&[("affinity of `rcu_preempt` (7)", without)])
    );
    assert_eq!(
        given(&source, Control::Workqueues),
        pairs(&[
            ("/sys/devices/virtual/workqueue/cpumask", without),
            ("/sys/devices/virtual/workqueue/writeback/cpumask", without),
        ])
    );
    assert_eq!(given(&source, Control::Watchdog), []);
}

#[test]
fn frequency_idle_states_and_siblings_are_those_of_the_cpus() {
    let (_folder, source) = machine();
    let cpu = "/sys/devices/system/cpu";
    let one = |path: &str, value: &str| pairs(&[(&format!("{cpu}/{path}"), value)]);
    assert_eq!(
        given(&source, Control::Governor),
        one("cpu1/cpufreq/scaling_governor", "performance")
    );
    assert_eq!(given(&source, Control::IdleStates), one("cpu1/cpuidle/state2/disable", "1"));
    assert_eq!(given(&source, Control::Siblings), one("cpu3/online", "0"));
    let throttling = given(&source, Control::Throttling);
    assert_eq!(throttling, pairs(&[("/proc/sys/kernel/sched_rt_runtime_us", "-1")]));
    assert_eq!(given(&source, Control::NumaBalancing), []);
}

#[test]
fn the_pool_of_large_pages_grows_by_what_guests_need() {
    let (folder, source) = machine();
    assert_eq!(given(&source, Control::HugePages), [], "this kernel has none");
    let pool = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
    let place = folder.path().join(&pool[1..]);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, "4\n").unwrap();
    assert_eq!(given(&source, Control::HugePages), pairs(&[(pool, "8 more")]));
    let without = RequestedSettings { huge_pages: 0, ..wanted(&[Control::HugePages]) };
    assert_eq!(requests(&source, "press", &without), []);
}

#[test]
fn controls_are_asked_for_in_their_order_and_only_once() {
    let (_folder, source) = machine();
    let asked = [Control::Throttling, Control::Timers, Control::Throttling];
    let requests = requests(&source, "press", &wanted(&asked));
    let settings: Vec<_> = requests.iter().map(|request| request.setting.clone()).collect();
    let file = |name: &str| Setting::file(format!("/proc/sys/kernel/{name}"), Form::Text);
    assert_eq!(settings, [file("timer_migration"), file("sched_rt_runtime_us")]);
}

fn mount(folder: &tempfile::TempDir, table: &str, files: &[(&str, &str)]) {
    let proc = folder.path().join("proc/self");
    fs::create_dir_all(&proc).unwrap();
    fs::write(proc.join("mountinfo"), table).unwrap();
    fs::write(proc.join("cgroup"), "0::/\n").unwrap();
    for (path, text) in files {
        let place = folder.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
}

#[test]
fn load_balancing_ends_by_the_version_that_has_cpusets() {
    let (folder, source) = machine();
    assert_eq!(given(&source, Control::LoadBalance), []);
    let unified = "30 1 0:1 / /cg rw - cgroup2 cgroup2 rw\n";
    mount(&folder, unified, &[("cg/cgroup.controllers", "cpu io\n")]);
    assert_eq!(given(&source, Control::LoadBalance), []);
    mount(&folder, unified, &[("cg/cgroup.controllers", "cpuset cpu io\n")]);
    assert_eq!(
        given(&source, Control::LoadBalance),
        pairs(&[("/cg/cgroup.subtree_control", "with cpuset"), ("/cg/quietcore-press", "1")])
    );
    let both = format!("{unified}31 1 0:2 / /cs rw - cgroup cgroup rw,cpuset\n");
    mount(&folder, &both, &[]);
    assert_eq!(
        given(&source, Control::LoadBalance),
        pairs(
            &[("/cs/quietcore-others", "0-3 without 1"), ("/cs/cpuset.sched_load_balance", "0"),]
        )
    );
}

#[test]
fn programs_are_kept_off_by_the_version_that_has_cpusets() {
    let (folder, source) = machine();
    assert_eq!(given(&source, Control::Programs), []);
    let unified = "30 1 0:1 / /cg rw - cgroup2 cgroup2 rw\n";
    mount(&folder, unified, &[("cg/cgroup.controllers", "cpuset cpu io\n")]);
    let kinds = |controls: &[Control]| {
        let asked = requests(&source, "press", &wanted(controls));
        let kinds = asked.into_iter().filter_map(|it| match it.setting {
            Setting::Cpuset { path, kind } if path == "/cg/quietcore-press" => Some(kind),
            _ => None,
        });
        kinds.collect::<Vec<_>>()
    };
    assert_eq!(kinds(&[Control::Programs]), [CpusetKind::Exclusive]);
    // The stronger of two is asked for by both.
    assert_eq!(
        kinds(&[Control::LoadBalance, Control::Programs]),
        [CpusetKind::Isolated, CpusetKind::Isolated]
    );
    let both = format!("{unified}31 1 0:2 / /cs rw - cgroup cgroup rw,cpuset\n");
    mount(&folder, &both, &[]);
    assert_eq!(
        given(&source, Control::Programs),
        pairs(&[
            ("/cs/quietcore-others", "0-3 without 1"),
            ("/cs/quietcore-of-press", "1"),
            ("programs in /cs/quietcore-others", "apart"),
        ])
    );
}
