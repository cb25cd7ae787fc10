//! Tests of partitions in containers, as a person runs them: what a container has, and that nothing
//! of it is left, whichever process is killed.
//!
//! Method: the program of the supervisor's own tests runs in a container of `runc` or `crun`,
//! whichever works here. If neither does, the tests are skipped and say why.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests look at other things")]
mod bench;
#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bench::{Bench, PATIENCE, kill};
use command::said;
use quietcore_backend::container::{ContainerError, Containers};
use serde_json::Value;

/// A probe that ends quickly.
const PROBE: [&str; 9] = [
    "probe",
    "latency",
    "--backend",
    "container",
    "--policy",
    "other",
    "--cycles",
    "20",
    "--warm-up=0s",
];

/// Returns a site of this name: control groups belong to the whole machine, and tests run side by
/// side.
fn site(name: &str) -> String {
    format!(
        "[site]\nname = \"{name}\"\n[[partition]]\nname = \"axis\"\nbackend = \"container\"\n\
         class = \"process-control\"\n[partition.vcr]\ncpus = [0]\nmemory = \"48 MiB\"\n\
         [partition.program]\nmodel = \"counter\"\nperiod = \"5 ms\"\npolicy = \"other\"\n\
         watchdog = \"1 s\"\n\
         restart = {{ limit = 3, wait = \"10 ms\" }}\n"
    )
}

/// Returns why no container can be made here; `None` if one can.
fn obstacle() -> Option<String> {
    match Containers::prepare(PathBuf::new(), "test", 1, None, None) {
        Err(error @ ContainerError::Runtime(_)) => Some(error.to_string()),
        _ => None,
    }
}

/// Returns the folders of control groups with this name.
fn groups(name: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    let mut places = vec![PathBuf::from("/sys/fs/cgroup").join(name)];
    places.extend(folders.map(|entry| entry.path().join(name)));
    places.retain(|place| place.is_dir());
    places
}

/// Returns the folders that containers of a bench have left.
fn left(bench: &Bench) -> Vec<PathBuf> {
    let containers = fs::read_dir(bench.folder.path().join("run/@containers"));
    containers.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Waits until something holds.
#[track_caller]
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns `true` if a process runs. A zombie does not: its new parent may never reap it.
fn lives(pid: u64) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with('Z'))
}

fn pid_of(partition: &Value) -> u64 {
    partition["pid"].as_u64().unwrap()
}

/// Returns a line of a process's status.
fn status(pid: u64, name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_default().trim_start_matches(':').trim().to_owned()
}

/// Goal: the container has what its partition asks for, and not more.
#[test]
fn a_container_has_its_reservation_and_nothing_else() {
    if let Some(obstacle) = obstacle() {
        return quietcore_skip::skip!("{obstacle}");
    }
    let bench = Bench::new(&site("press-has"));
    let mut supervisor = bench.up();
    let partition = bench.wait_until_running();
    assert_eq!(partition["backend"], "container");
    let pid = pid_of(&partition);
    let seen = |path: &str| PathBuf::from(format!("/proc/{pid}/root{path}"));
    assert_eq!(fs::read_link(seen("/exchange")).unwrap(), Path::new("/proc/1/fd/1000"));
    let exchange = fs::read_link(format!("/proc/{pid}/fd/1000")).unwrap();
    assert!(exchange.to_string_lossy().contains("quietcore-exchange"), "{exchange:?}");
    let listed = fs::read_dir(seen("/")).unwrap().flatten();
    let mut names: Vec<_> = listed.map(|it| it.file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(!names.iter().any(|name| ["home", "etc", "root", "sys"].contains(&&**name)));
    assert!(status(pid, "NSpid").ends_with("\t1"), "it is the first of its own processes");
    assert_eq!(status(pid, "NoNewPrivs"), "1");
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let threads = threads.filter_map(|it| it.file_name().to_str()?.parse::<u64>().ok());
    let pinned = threads.filter(|thread| status(*thread, "Cpus_allowed_list") == "0").count();
    assert!(pinned > 0, "the thread of its program is on its CPU");
    let network = fs::read_to_string(format!("/proc/{pid}/net/dev")).unwrap();
    assert_eq!(network.lines().skip(2).count(), 1, "only `lo`: {network}");
    if rustix::process::geteuid().is_root() {
        // Its control group has no other one.
        assert_eq!(status(pid, "Cpus_allowed_list"), "0");
        // CAP_IPC_LOCK and CAP_SYS_NICE.
        assert_eq!(status(pid, "CapBnd"), "0000000000804000");
        let limit = |folder: &PathBuf| {
            let names = ["memory.max", "memory.limit_in_bytes"];
            names.iter().find_map(|name| fs::read_to_string(folder.join(name)).ok())
        };
        let limits: Vec<_> = groups("quietcore-press-has-axis").iter().filter_map(limit).collect();
        assert_eq!(
            limits.first().map(|it| it.trim()),
            Some("117637120"),
            "48 MiB, twice 32 of its own, and what the kernel keeps"
        );
    }
    let down = bench.call(&["down"]);
    assert_eq!(down.status, Some(0), "{}", down.err);
    let ended = supervisor.wait().unwrap();
    let log = bench.log();
    // A machine that stands still misses releases, of which the status tells.
    assert!(ended.success() || log.contains("never came and count as missed"), "{ended}: {log}");
    assert_eq!(left(&bench), Vec::<PathBuf>::new());
    assert_eq!(groups("quietcore-press-has-axis"), Vec::<PathBuf>::new());
}

/// Goal: no process, control group or folder outlives a supervisor that is killed.
#[test]
fn a_killed_supervisor_leaves_no_container() {
    if let Some(obstacle) = obstacle() {
        return quietcore_skip::skip!("{obstacle}");
    }
    let bench = Bench::new(&site("press-killed"));
    let mut supervisor = bench.up();
    let pid = pid_of(&bench.wait_until_running());
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    wait_until("the process ends", || !lives(pid));
    wait_until("its groups go", || groups("quietcore-press-killed-axis").is_empty());
    let down = bench.call(&["down"]);
    assert_eq!(down.status, Some(0), "{}", down.err);
    assert!(down.out.contains("the container is removed"), "{}", down.out);
    assert_eq!(left(&bench), Vec::<PathBuf>::new());
}

/// Goal: the same where what stands between is killed first, and the partition comes back.
#[test]
fn a_killed_shim_takes_its_container_along() {
    if let Some(obstacle) = obstacle() {
        return quietcore_skip::skip!("{obstacle}");
    }
    let bench = Bench::new(&site("press-shim"));
    let mut supervisor = bench.up();
    let pid = pid_of(&bench.wait_until_running());
    let shim: u64 = status(pid, "PPid").parse().unwrap();
    kill(shim);
    wait_until("it is started again", || {
        bench.partition().is_some_and(|partition| {
            partition["state"]["is"] == "running"
                && partition["pid"].as_u64().is_some_and(|new| new != pid)
        })
    });
    assert!(!lives(pid));
    assert_eq!(bench.call(&["down"]).status, Some(0));
    // It was killed, and a fault is what its status says.
    assert_eq!(supervisor.wait().unwrap().code(), Some(1), "{}", bench.log());
    assert_eq!(left(&bench), Vec::<PathBuf>::new());
    assert_eq!(groups("quietcore-press-shim-axis"), Vec::<PathBuf>::new());
}

/// Goal: the same probe runs in a container, and its record says what ran that.
#[test]
fn a_probe_in_a_container_names_its_runtime() {
    if let Some(obstacle) = obstacle() {
        return quietcore_skip::skip!("{obstacle}");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = command::quietcore(folder.path());
    command.env("QUIETCORE_RUN_DIR", folder.path().join("run"));
    let probe = said(&command.args(PROBE).args(["--out", "evidence"]).output().unwrap());
    assert!(probe.status.is_some_and(|status| status < 2), "{}", probe.err);
    let records = fs::read_dir(folder.path().join("evidence/records")).unwrap();
    let record = fs::read_to_string(records.flatten().next().unwrap().path()).unwrap();
    assert!(record.contains("\"container\": \"runc") || record.contains("\"container\": \"crun"));
    let folders = folder.path().join("run/@containers");
    assert_eq!(fs::read_dir(folders).unwrap().count(), 0);
}

/// Goal: where no control group can be made, a plan says so, and how to change it.
/// Method: they are read-only in a mount namespace of the test's own.
#[test]
fn control_groups_that_are_read_only_are_refused_before_anything_starts() {
    if let Some(obstacle) = obstacle() {
        return quietcore_skip::skip!("{obstacle}");
    }
    if !rustix::process::geteuid().is_root() {
        return quietcore_skip::skip!("not root, whose containers need no control groups");
    }
    let bench = Bench::new(&site("press-fixed"));
    let script = "for mount in $(awk '$3 ~ /^cgroup/ { print $2 }' /proc/mounts); do \
                  mount -o remount,bind,ro \"$mount\" || exit 77; done; exec \"$@\"";
    let plan = bench.command(&["up", "press.toml"]);
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(plan.get_program());
    command.args(plan.get_args()).current_dir(bench.folder.path());
    for (name, value) in plan.get_envs() {
        value.map(|value| command.env(name, value));
    }
    let refused = said(&command.output().unwrap());
    if refused.status == Some(77) {
        return quietcore_skip::skip!("no mount namespace can be had: {}", refused.err.trim());
    }
    assert_eq!(refused.status, Some(2), "{}", refused.err);
    assert!(refused.err.contains("no control group can be made"), "{}", refused.err);
    assert!(refused.err.contains("mount /sys/fs/cgroup for writing"), "{}", refused.err);
}

/// Goal: a user without rights has containers, too, and is told what is missing.
/// Method: the programs are run as nobody, by root.
#[test]
fn a_user_without_rights_has_containers() {
    const NOBODY: u32 = 65534;
    if let Some(obstacle) = obstacle() {
        return quietcore_skip::skip!("{obstacle}");
    }
    if !rustix::process::geteuid().is_root() {
        return quietcore_skip::skip!("not root, who can become another user");
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["quietcore", "quietcore-runtime"] {
        let program = Path::new(env!("CARGO_BIN_EXE_quietcore")).with_file_name(name);
        fs::copy(program, folder.path().join(name)).unwrap();
    }
    std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let mut command = Command::new(folder.path().join("quietcore"));
    command.args(PROBE).current_dir(folder.path()).stdin(Stdio::null());
    command.env("QUIETCORE_RUN_DIR", folder.path().join("run")).uid(NOBODY).gid(NOBODY);
    let probe = said(&command.output().unwrap());
    if probe.err.contains("user namespaces") {
        return quietcore_skip::skip!("{}", probe.err.trim());
    }
    assert!(probe.status.is_some_and(|status| status < 2), "{}", probe.err);
    assert!(probe.out.contains("20 cycles"), "{}{}", probe.out, probe.err);
    assert_eq!(fs::read_dir(folder.path().join("run/@containers")).unwrap().count(), 0);
}
