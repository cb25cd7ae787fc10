//! Surroundings of a domain of Xen while a partition runs in it: Xen's store, which may go and come
//! back, and the pool that has its CPUs.
//!
//! The tests end programs on which all of dom0 relies, so they run only if `QUIETCORE_OWN_MACHINE`
//! says that the machine is thrown away, and after all others.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../site/mod.rs"]
#[expect(dead_code, reason = "other tests call it in other ways")]
mod site;

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use quietcore_supervisor::control::Restart;
use rustix::process::{Pid, Signal, kill_process};
use site::{PATIENCE, SITE, Site};

/// The programs of Xen that are in no user's path.
const PROGRAMS: &str = "/usr/lib/xen-4.17/bin";
const STORE_PID: &str = "/run/xenstored.pid";
const CONSOLE_PID: &str = "/run/xenconsoled.pid";
const SOCKET: &str = "/run/xenstored/socket";
/// The words by which a person learns what is wrong.
const GONE: &str = "Xen's store does not answer; is `xenstored` running?";

/// Longest time to bring a site down whose store has gone; `xl` alone is waited for longer.
const DOWN_MAX: Duration = Duration::from_secs(15);

const NO_DOMAIN: [[String; 2]; 0] = [];

macro_rules! need_own_dom0 {
    () => {
        if std::env::var_os("QUIETCORE_OWN_MACHINE").is_none() || !Path::new(STORE_PID).exists() {
            quietcore_skip::skip!("needs dom0 of Xen on a machine of its own");
            return;
        }
    };
}

fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Kills the program with this number in a file, and waits until it is gone.
fn kill(file: &str) {
    let number: i32 = fs::read_to_string(file).unwrap().trim().parse().unwrap();
    kill_process(Pid::from_raw(number).unwrap(), Signal::KILL).unwrap();
    wait_until("the program ends", || {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z")
    });
    fs::remove_file(file).unwrap();
}

/// Runs a program of Xen's, which ends or goes on in the background.
fn run(name: &str, arguments: &[&str]) {
    let mut command = Command::new(Path::new(PROGRAMS).join(name));
    command.args(arguments).stdin(Stdio::null());
    assert!(command.status().unwrap().success(), "{name}");
}

/// Starts the store anew, without what was in it, and what dom0 needs of it.
fn start_store() {
    run("xenstored", &["--pid-file", STORE_PID]);
    wait_until("the store answers", || UnixStream::connect(SOCKET).is_ok());
    run("xen-init-dom0", &[]);
    kill(CONSOLE_PID);
    run("xenconsoled", &["--log=guest", &format!("--pid-file={CONSOLE_PID}")]);
}

/// Returns what `xl` says, a line without titles each, in words.
fn xl(arguments: &[&str]) -> Vec<Vec<String>> {
    let output = Command::new("xl").args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    lines.lines().skip(1).map(words).collect()
}

/// Returns the numbers of all domains but dom0, as Xen has them, each with its pool.
fn domains() -> Vec<[String; 2]> {
    let words = xl(&["list", "-c"]).into_iter().filter(|words| words[1] != "0");
    words.map(|words| [words[1].clone(), words.last().unwrap().clone()]).collect()
}

/// Returns all pools of Xen, name and CPUs.
fn pools() -> Vec<[String; 2]> {
    xl(&["cpupool-list", "-c"]).into_iter().map(|it| it.try_into().unwrap()).collect()
}

/// Returns the command lines of all processes that this one has started.
fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let of_own = processes.filter(|folder| {
        let stat = fs::read_to_string(folder.join("stat")).unwrap_or_default();
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        rest.split(' ').nth(1) == Some(&own)
    });
    of_own.filter_map(|folder| fs::read_to_string(folder.join("cmdline")).ok()).collect()
}

fn goes_on(site: &Site) {
    let before = site.value("counter_DW.total");
    site.wait_for_value("counter_DW.total", |value| value > before + 20.0);
}

/// Returns how often this was told of the partition that it is not as it should be.
fn drifts(site: &Site, text: &str) -> usize {
    let events = site.client().events(0).unwrap();
    events.iter().filter(|event| event.kind == "drift" && event.text.contains(text)).count()
}

/// Checks that a partition is in a pool that has its CPU and no other, and that this was told.
/// Returns the number of its domain.
fn is_apart(site: &Site) -> String {
    let told = site.wait_for_event("settings");
    assert!(told.contains("Xen's pool of CPUs 1: its own, with the scheduler `credit2`"), "{told}");
    let [[domain, pool]] = &domains()[..] else { panic!("{:?}", domains()) };
    let pools = pools();
    assert!(pools.contains(&[pool.clone(), "1".to_owned()]), "{pool} in {pools:?}");
    assert!(pools.iter().all(|it| it[0] == *pool || !it[1].contains('1')), "{pools:?}");
    domain.clone()
}

/// Goal: a partition does not depend on Xen's store, is told of its end, and leaves nothing behind
/// without it; the next start says what is missing. It has a pool of Xen's for itself, which is
/// removed with it. Method: the store is killed while a partition runs, which is brought down
/// without it; then it is replaced in place, and killed and started anew beneath another one, whose
/// domain somebody has put into another pool.
#[test]
fn a_partition_outlives_xens_store_and_leaves_nothing_behind() {
    need_own_dom0!();
    let before = pools();
    let mut site = Site::up(SITE, "counter");
    goes_on(&site);
    is_apart(&site);
    kill(STORE_PID);
    goes_on(&site);
    let goes_on_without = format!("{GONE}; the domain goes on");
    wait_until("its end is told", || drifts(&site, &goes_on_without) > 0);
    goes_on(&site);
    let begun = Instant::now();
    site.running = None;
    assert!(begun.elapsed() < DOWN_MAX, "nobody waits for the store: {:?}", begun.elapsed());
    assert_eq!(children(), [""; 0], "no process is left");
    let refused = site.start(Restart::Warm).unwrap_err();
    assert!(refused.contains(GONE), "{refused}");
    site.running = None;

    let told = |site: &Site| drifts(site, "");
    start_store();
    assert_eq!(domains(), NO_DOMAIN, "no domain is left");
    site.start(Restart::Warm).unwrap();
    let (known, domain) = (told(&site), is_apart(&site));
    run("xenstore-control", &["live-update", &format!("{PROGRAMS}/xenstored")]);
    goes_on(&site);
    assert_eq!(told(&site), known, "one that is replaced in place is not missed");
    xl(&["cpupool-migrate", &domain, &before[0][0]]);
    wait_until("its move is told", || drifts(&site, "was to run on CPU 1") > 0);
    kill(STORE_PID);
    start_store();
    goes_on(&site);
    site.running = None;
    assert_eq!(domains(), NO_DOMAIN, "a store that knows no names keeps no domain alive");
    assert_eq!((children(), pools()), (Vec::new(), before));
}
