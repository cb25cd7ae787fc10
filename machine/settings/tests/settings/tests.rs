//! The tests, and the processes that they start and kill.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_host::Source;
use quietcore_settings::{
    Controls, LiveSettings, RequestedSettings, Setting, Settings, Store, requests,
};
use quietcore_site::Control;
use quietcore_units::{CpuId, CpuSet};

const PLANS: u32 = 100;
/// Time after which no interrupt is on its way.
const SETTLED: Duration = Duration::from_secs(2);

/// Skips the test unless the settings of this machine may be changed.
macro_rules! need_own_machine {
    () => {
        if std::env::var_os("QUIETCORE_OWN_MACHINE").is_none() {
            quietcore_skip::skip!(
                "changes settings of the whole machine; the lab has one of its own"
            );
            return;
        }
    };
}

mod offline;
mod programs;

fn online() -> CpuSet {
    std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap().trim().parse().unwrap()
}

/// Returns the values of every setting that a control may change, as they stand in the kernel's
/// files.
fn state() -> BTreeMap<Setting, String> {
    let settings = LiveSettings::default();
    let wanted = RequestedSettings {
        controls: Control::ALL.to_vec(),
        cpus: online(),
        huge_pages: 1,
        ..RequestedSettings::default()
    };
    let asked = requests(&Source::live(), "test", &wanted);
    let raw = |setting: &Setting| match setting {
        Setting::File { path, .. } => std::fs::read_to_string(path).ok(),
        _ => settings.read(setting).ok(),
    };
    asked.into_iter().filter_map(|it| Some((it.setting.clone(), raw(&it.setting)?))).collect()
}

/// Lists the differences between two states. Threads of the kernel come and go.
fn differences(
    before: &BTreeMap<Setting, String>,
    after: &BTreeMap<Setting, String>,
) -> Vec<String> {
    let both = before.iter().filter_map(|(setting, was)| Some((setting, was, after.get(setting)?)));
    let different = both.filter(|(_, was, is)| was != is);
    different.map(|(setting, was, is)| format!("{setting}: {was:?} became {is:?}")).collect()
}

/// Lists what is not as it was, once nothing is on its way: the kernel moves an interrupt when it
/// comes next and shows the CPUs before while it does, however long this machine stands still then.
fn changes_that_stay(before: &BTreeMap<Setting, String>) -> Vec<String> {
    let end = Instant::now() + SETTLED;
    loop {
        let different = differences(before, &state());
        if different.is_empty() || Instant::now() > end {
            return different;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn hold(journal: &Path, cpus: &CpuSet, controls: &[Control]) -> Child {
    let own = std::env::current_exe().unwrap();
    let program = own.parent().and_then(Path::parent).unwrap().join("examples/hold");
    let mut command = Command::new(&program);
    command.arg(journal).arg(cpus.to_string()).args(controls.iter().map(|it| it.name()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap_or_else(|error| {
        panic!("{}: {error}; build it with `cargo build --examples`", program.display())
    })
}

/// Returns the output of a process until it holds what it was asked to.
fn said(child: &mut Child) -> Vec<String> {
    let output = BufReader::new(child.stdout.as_mut().unwrap());
    let lines: Vec<String> =
        output.lines().map_while(Result::ok).take_while(|line| line != "held").collect();
    lines
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32 % limit
    }
}

fn journal() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    (folder, path)
}

#[test]
fn what_is_kept_off_a_cpu_is_off_it_and_comes_back() {
    need_own_machine!();
    let before = state();
    let (_folder, journal) = journal();
    let cpu: CpuSet = CpuId::new(1).into_iter().collect();
    let mut child = hold(&journal, &cpu, &Control::STANDARD);
    let said = said(&mut child);
    for control in ["interrupts", "kernel-threads", "workqueues"] {
        let line = said.iter().find(|line| line.starts_with(control)).unwrap();
        assert!(line.contains(" changed"), "{said:?}");
    }
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    assert_eq!(read("/sys/devices/virtual/workqueue/cpumask").trim(), "1");
    assert_eq!(read("/proc/irq/default_smp_affinity").trim(), "1");
    assert!(!differences(&before, &state()).is_empty());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(changes_that_stay(&before), Vec::<String>::new());
    assert!(!Store::new(&journal).exists());
}

#[test]
fn pages_of_guests_are_set_aside_and_given_back() {
    need_own_machine!();
    let pool = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
    let count = || std::fs::read_to_string(pool).unwrap().trim().parse::<u64>().unwrap();
    let before = count();
    let (_folder, journal) = journal();
    let cpu: CpuSet = CpuId::new(1).into_iter().collect();
    let mut children = [(); 2].map(|()| hold(&journal, &cpu, &[Control::HugePages]));
    let told = children.each_mut().map(said);
    assert!(told.iter().flatten().all(|line| line == "huge-pages 1 changed"), "{told:?}");
    assert_eq!(count(), before + 8, "what each of them needs");
    children[0].kill().unwrap();
    children[0].wait().unwrap();
    drop(children[1].stdin.take());
    assert!(children[1].wait().unwrap().success());
    let controls = Controls::new(LiveSettings::default(), Store::new(&journal));
    assert_eq!(controls.recover().unwrap().left, []);
    assert_eq!(count(), before);
}

/// Goal: after any number of plans, held by processes of which many are killed between two
/// writes, the machine is byte for byte what it was. Method: a hundred random plans; a third of
/// the processes are killed at once, a third when they hold, a third end in order.
#[test]
fn after_a_hundred_random_plans_the_machine_is_what_it_was() {
    need_own_machine!();
    after_random_plans_the_machine_is_what_it_was(PLANS);
}

fn after_random_plans_the_machine_is_what_it_was(plans: u32) {
    let before = state();
    let (_folder, journal) = journal();
    let seed = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64 | 1;
    eprintln!("seed {seed}");
    let mut random = Random(seed);
    let controls = Controls::new(LiveSettings::default(), Store::new(&journal));
    let (mut cut, mut changed) = (0, 0);
    for plan in 0..plans {
        let chosen = Control::ALL.into_iter().filter(|_| random.below(2) == 0);
        let chosen: Vec<_> = chosen.collect();
        let cpu: CpuSet = CpuId::new(random.below(online().len() as u32)).into_iter().collect();
        let mut child = hold(&journal, &cpu, &chosen);
        match random.below(3) {
            0 => thread::sleep(Duration::from_micros(u64::from(random.below(60_000)))),
            1 => drop(said(&mut child)),
            _ => {
                drop(said(&mut child));
                drop(child.stdin.take());
                assert!(child.wait().unwrap().success());
            }
        }
        changed += u32::from(!differences(&before, &state()).is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        cut += u32::from(Store::new(&journal).exists());
        let left = controls.recover().unwrap().left;
        assert_eq!(left, [], "plan {plan}: {chosen:?} on CPU {cpu}");
        let different = changes_that_stay(&before);
        assert_eq!(different, Vec::<String>::new(), "plan {plan}: {chosen:?} on CPU {cpu}");
        assert!(!Store::new(&journal).exists());
    }
    eprintln!("{changed} plans had changed something when looked at, {cut} were cut short");
    assert!(changed > plans / 10, "{changed}");
    assert!(cut > plans / 10, "{cut}");
}
