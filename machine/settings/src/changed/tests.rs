//! CPUs that come and go; shares of the network beside a switch: Open vSwitch with its datapath in
//! a process, in a network and a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_site::Network;
use quietcore_units::CpuId;

use super::*;
use crate::journal::Store;

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";
const PATIENCE: Duration = Duration::from_secs(20);

/// A switch below a root of its own, whose `proc` is the machine's.
struct Switch {
    root: tempfile::TempDir,
    processes: Vec<Child>,
}

impl Switch {
    fn start() -> Result<Self, String> {
        let root = tempfile::tempdir().unwrap();
        let mut switch = Self { root, processes: Vec::new() };
        let own = switch.own();
        fs::create_dir_all(&own).unwrap();
        std::os::unix::fs::symlink("/proc", switch.root.path().join("proc")).unwrap();
        let place = |name: &str| own.join(name).display().to_string();
        let (database, socket) = (place("conf.db"), place("db.sock"));
        let mut made = Command::new("ovsdb-tool");
        let made = made.args(["create", &database, SCHEMA]).output();
        let made = made.map_err(|error| format!("`ovsdb-tool`: {error}"))?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned());
        }
        let remote = format!("--remote=punix:{socket}");
        let control = |name: &str| format!("--unixctl={}", place(name));
        switch.run("ovsdb-server", &[&database, &remote, &control("database.ctl")])?;
        switch.wait("the database", |switch| switch.vsctl(&["--no-wait", "init"]).is_ok())?;
        let socket = format!("unix:{socket}");
        switch.run("ovs-vswitchd", &[&socket, &control("switch.ctl")])?;
        let bridge = "add-br br0 -- set bridge br0 datapath_type=netdev -- add-port br0 right";
        switch.vsctl(&bridge.split(' ').collect::<Vec<_>>())?;
        Ok(switch)
    }

    fn own(&self) -> PathBuf {
        self.root.path().join("var/run/openvswitch")
    }

    fn source(&self) -> Source {
        Source::below(self.root.path())
    }

    fn run(&mut self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(program);
        command.args(arguments).args(["-vconsole:off", "--no-chdir"]);
        for variable in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"] {
            command.env(variable, self.own());
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("`{program}`: {error}"))?;
        self.processes.push(child);
        Ok(())
    }

    fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) -> Result<(), String> {
        let begun = Instant::now();
        while !is_so(self) {
            if begun.elapsed() > PATIENCE {
                return Err(format!("{what} does not answer"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn vsctl(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new("ovs-vsctl");
        let database = format!("--db=unix:{}", self.own().join("db.sock").display());
        let run = command.arg(database).arg("--timeout=10").args(arguments).output();
        let run = run.map_err(|error| format!("`ovs-vsctl`: {error}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if run.status.success() { Ok(text(&run.stdout)) } else { Err(text(&run.stderr)) }
    }

    fn policing(&self) -> String {
        let columns = ["ingress_policing_rate", "ingress_policing_burst"];
        let told = self.vsctl(&["get", "Interface", "right", columns[0], columns[1]]).unwrap();
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        for child in self.processes.iter_mut().rev() {
            // One that has ended already is waited for all the same.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn texts<T: ToString>(told: &[T]) -> Vec<String> {
    told.iter().map(ToString::to_string).collect()
}

fn wanted(interface: &str) -> RequestedSettings {
    let share = Network::new("1 Mbit/s".parse().unwrap(), None);
    RequestedSettings {
        traffic: vec![Traffic::new("press", interface, share)],
        ..RequestedSettings::default()
    }
}

fn controls(source: &Source, folder: &Path) -> Controls<LiveSettings> {
    Controls::new(LiveSettings::below(source.clone()), Store::new(folder.join("journal")))
}

#[test]
fn the_switch_behind_an_interface_is_told_the_share_and_what_it_makes_of_it_is_said() {
    quietcore_skip::own_network!();
    let switch = match Switch::start() {
        Ok(switch) => switch,
        Err(reason) => {
            quietcore_skip::skip!(
                "needs Open vSwitch; install Debian's package `openvswitch-switch`: {reason}"
            );
            return;
        }
    };
    let source = switch.source();
    let controls = controls(&source, switch.root.path());
    assert_eq!(switch.policing(), "0 0");
    let mut changed = Changed::begin_on(&source, &wanted("left"), "site", Some(&controls)).unwrap();
    assert_eq!(switch.policing(), "1000 100");
    let own = "what `left` may send: `tbf rate 1000000bit burst 3072b`";
    let behind = "what Open vSwitch takes from `right`";
    // The switch accepts it; that it does nothing where the datapath is a process is told.
    let trouble = format!(
        "{behind}: wrote `rate 1000 burst 100`, read back `rate 1000 burst 100 (not in force)`"
    );
    assert_eq!(changed.found().controls, own);
    assert_eq!(texts(&changed.found().troubles), [trouble]);
    assert_eq!(changed.look(), []);
    let other = ["set", "Interface", "right", "ingress_policing_rate=7"];
    switch.vsctl(&other).unwrap();
    let drifts = texts(&changed.look());
    assert!(drifts.len() == 1 && drifts[0].contains("holds `rate 7 burst 100"), "{drifts:?}");
    switch.vsctl(&["set", "Interface", "right", "ingress_policing_rate=1000"]).unwrap();
    assert_eq!(changed.end().1, Vec::<String>::new());
    assert_eq!(switch.policing(), "0 0");
    assert!(!Store::new(switch.root.path().join("journal")).exists());
    // A port drives its frames past the switch, so nothing but the port itself can limit them.
    let port = Changed::begin_on(&source, &wanted("right"), "site", Some(&controls)).unwrap();
    assert_eq!(port.found().controls, own.replace("left", "right"));
    assert_eq!(port.end().1, Vec::<String>::new());
}

/// Goal: a domain that can't have a pool for itself runs all the same, and who reads what was done
/// learns why. Method: there is no store of Xen's.
#[test]
fn a_domain_without_a_pool_is_pinned_all_the_same_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::below(folder.path());
    let wanted =
        RequestedSettings { pools: vec!["1".parse().unwrap()], ..RequestedSettings::default() };
    assert!(!wanted.is_empty());
    let changed = Changed::begin_on(&source, &wanted, "press", None).unwrap();
    assert_eq!(changed.found().controls, "", "who may not change settings changes none");
    let controls = controls(&source, folder.path());
    let changed = Changed::begin_on(&source, &wanted, "press", Some(&controls)).unwrap();
    let told = "no pool of its own, and pinned all the same: Xen's pool of CPUs 1: Xen's store \
                does not answer; is `xenstored` running?";
    assert_eq!(changed.found().controls, told);
    assert_eq!(texts(&changed.found().troubles), Vec::<String>::new());
    assert_eq!(changed.end().1, Vec::<String>::new());
}

#[test]
fn cpus_that_go_and_come_back_are_told_once_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let online = folder.path().join("sys/devices/system/cpu/online");
    let source = Source::below(folder.path());
    let wanted = RequestedSettings { cpus: "1-2".parse().unwrap(), ..RequestedSettings::default() };
    let mut changed = Changed::begin(&wanted, "press", None).unwrap();
    assert_eq!(changed.look_at_cpus(&source), [], "not to be seen");
    fs::create_dir_all(online.parent().unwrap()).unwrap();
    for (now, told) in [
        ("0-3", None),
        ("0,2", Some("CPU 1 was taken offline")),
        ("0,2", None),
        ("0-2", Some("CPU 1 is online again")),
        ("0-2", None),
        ("0-1", Some("CPU 2 was taken offline")),
    ] {
        fs::write(&online, now).unwrap();
        let news = texts(&changed.look_at_cpus(&source));
        assert_eq!(news.len(), usize::from(told.is_some()), "{now}: {news:?}");
        assert!(news.iter().zip(told).all(|(news, told)| news.starts_with(told)));
        let online: CpuSet = now.parse().unwrap();
        let is_offline = |cpu: &u32| !online.contains(CpuId::new(*cpu).unwrap());
        let expected = [1, 2].into_iter().filter(is_offline);
        let expected: Vec<_> = expected.map(|cpu| format!("CPU {cpu} is offline")).collect();
        assert_eq!(changed.drifting(), expected);
    }
}

#[test]
fn a_cpu_that_goes_is_told_before_the_settings_that_drift_with_it() {
    let mut changed = Changed::begin(&RequestedSettings::default(), "press", None).unwrap();
    let gone = MachineDrift::CpuOffline { cpu: 1 };
    let [cpuset, irq] = ["cpuset", "irq"].map(|error| {
        let error = error.to_owned();
        MachineDrift::NotCompared { error }
    });
    let mut note = |of_cpus: &[&MachineDrift], of_settings: &MachineDrift| {
        let of_cpus = of_cpus.iter().copied().cloned().collect();
        texts(&changed.note(of_cpus, vec![of_settings.clone()]))
    };
    let told: &str = &gone.to_string();
    assert_eq!(note(&[], &cpuset), ["cpuset"]);
    assert_eq!(note(&[&gone], &cpuset), [told]);
    assert_eq!(note(&[&gone], &irq), [told, "irq"]);
    assert_eq!(changed.found().drifts, [gone, cpuset, irq]);
    assert_eq!(changed.drifting(), ["irq"], "what drifted before is as it was set");
}
