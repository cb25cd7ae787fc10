//! Two sites on one CPU, each with folders that the other does not know.
//!
//! Method: the program of the supervisor's own tests runs at the lowest real-time priorities on CPU
//! 0. Only lines with the name of the first site count: others may have sites up on this machine.

#[expect(dead_code, reason = "other tests look closer at a site")]
mod bench;
#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bench::{Bench, PATIENCE};
use serde_json::Value;

fn site(name: &str, policy: &str) -> String {
    format!(
        "[site]\nname = \"{name}\"\n[[partition]]\nname = \"axis\"\nclass = \"process-control\"\n\
         [partition.vcr]\ncpus = [0]\n[partition.program]\nmodel = \"counter\"\nperiod = \
         \"20 ms\"\n{policy}\nwatchdog = \"1 s\"\n[campaign]\nprofiles = [\"tp2\"]\nduration = \
         \"1 s\"\nexceedance = 1e-1\n"
    )
}

/// Lets one test at a time use CPU 0.
static CPU: Mutex<()> = Mutex::new(());

/// All probes that are pinned to CPUs, on CPU 0 and short.
const PROBES: [&str; 7] = [
    "latency --cpus 0 --cycles 10 --warm-up=0s",
    "latency --backend kvm --cpus 0 --cycles 10 --warm-up=0s",
    "exec press.toml --cycles 10 --warm-up=0s",
    "ethercat --cpu 0 --cycles 10",
    "irq --cpu 0 --interrupts 10",
    "memory --parts curves --cpu 0 --from 64KiB --to 128KiB --rounds 1",
    "osek --cpu 0 --loops 10",
];

/// Returns the line about the site that is up.
fn told(text: &str) -> Option<String> {
    text.lines().find(|line| line.contains("site `held-cpu`")).map(str::to_owned)
}

/// Goal: a CPU on which another site has a real-time task is told, and refused to another one; when
/// that site is killed nothing of it is left.
#[test]
fn a_cpu_of_another_site_is_told_and_refused_to_a_second_real_time_task() {
    let _alone = CPU.lock().unwrap_or_else(PoisonError::into_inner);
    let first = Bench::new(&site("held-cpu", "priority = 2"));
    let mut supervisor = first.up();
    first.wait_until_running();

    let second = Bench::new(&site("second", "priority = 1"));
    let plan = second.call(&["plan", "press.toml"]);
    let line = told(&plan.err).expect("`plan` tells it");
    if line.contains("no real-time priority") {
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        quietcore_skip::skip!("this user gets no real-time priority: {line}");
        return;
    }
    assert_eq!(plan.status, Some(0), "{}", plan.err);
    let start = "remark: CPU 0 of partition `axis` belongs to partition `axis` of site `held-cpu`, \
                 SCHED_FIFO 2, started by ";
    let end = format!(
        " (process {}); bring it down with `quietcore down held-cpu`; until then `up`, \
         `qualify`, `tune` and `disturb` are refused",
        supervisor.id()
    );
    assert!(line.starts_with(start) && line.ends_with(&end), "{line}");
    let plan = second.call(&["plan", "press.toml", "--json"]);
    let document: Value = serde_json::from_str(&plan.out).unwrap();
    let shared = document["shared_cpus"].as_array().unwrap();
    let shared = shared.iter().find(|it| it["other_site"] == "held-cpu").unwrap();
    assert_eq!((&shared["cpu"], &shared["refused"]), (&0.into(), &true.into()));
    assert_eq!(shared["policy"], "SCHED_FIFO 2");

    for arguments in [
        &["up", "press.toml"][..],
        &["qualify", "press.toml", "--out", "out"],
        &["tune", "press.toml", "--out", "out"],
        &["disturb", "press.toml", "--out", "out"],
    ] {
        let refused = second.call(arguments);
        assert_eq!(refused.status, Some(2), "{arguments:?}: {}", refused.err);
        assert!(told(&refused.err).is_some(), "{}", refused.err);
    }
    assert!(!second.folder.path().join("out").exists(), "nothing was measured");

    let mild = Bench::new(&site("mild", "policy = \"other\""));
    let up = mild.call(&["up", "press.toml", "--for", "100ms"]);
    assert!(matches!(up.status, Some(0 | 1)), "{}", up.err);
    assert!(told(&up.err).is_some_and(|line| line.starts_with("remark: ")), "{}", up.err);
    for probe in PROBES {
        let arguments: Vec<&str> = ["probe"].into_iter().chain(probe.split(' ')).collect();
        // What a machine lacks for a probe is another matter; the CPU is told before that is found.
        let probe = mild.call(&arguments);
        let line = told(&probe.err);
        assert!(line.is_some_and(|it| it.starts_with("remark: ")), "{arguments:?}: {}", probe.err);
    }

    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    let plan = second.call(&["plan", "press.toml"]);
    assert_eq!(told(&plan.err), None, "its partition may still be ending");
    let up = second.call(&["up", "press.toml", "--for", "100ms"]);
    assert!(matches!(up.status, Some(0 | 1)), "{}", up.err);
}

/// Goal: two sites that come up at the same instant, each with a real-time task pinned to one CPU,
/// never both run.
#[test]
fn of_two_sites_that_come_up_at_once_on_one_cpu_the_second_is_refused() {
    let _alone = CPU.lock().unwrap_or_else(PoisonError::into_inner);
    let names = ["left", "right"];
    let benches = names.map(|name| Bench::new(&site(name, "priority = 1")));
    let mut both = benches.each_ref().map(Bench::up);
    let runs = |bench: &Bench| bench.partition().is_some_and(|it| it["state"]["is"] == "running");
    let end = Instant::now() + PATIENCE;
    let ended = loop {
        let ended = (0..2).find_map(|it| Some((it, both[it].try_wait().unwrap()?)));
        if ended.is_some() || benches.iter().all(runs) {
            break ended;
        }
        assert!(Instant::now() < end, "neither is refused: {}", benches[0].log());
        thread::sleep(Duration::from_millis(20));
    };
    let logs = || benches.each_ref().map(Bench::log).join("\n");
    let Some((refused, status)) = ended else {
        let plan = benches[0].call(&["plan", "press.toml"]);
        both.iter_mut().for_each(|up| up.kill().and_then(|()| up.wait().map(drop)).unwrap());
        assert!(plan.err.contains("no real-time priority"), "both run: {} {}", plan.err, logs());
        quietcore_skip::skip!("this user gets no real-time priority: {}", plan.err);
        return;
    };
    let other = 1 - refused;
    benches[other].wait_until_running();
    both[other].kill().unwrap();
    both[other].wait().unwrap();
    assert_eq!(status.code(), Some(2), "{}", logs());
    let line =
        format!("CPU 0 of partition `axis` belongs to partition `axis` of site `{}`", names[other]);
    assert!(benches[refused].log().contains(&line), "{}", logs());
}

/// Goal: of two campaigns that measure on one CPU at a time, neither is evidence.
#[test]
fn campaigns_that_share_a_cpu_are_no_evidence() {
    let _alone = CPU.lock().unwrap_or_else(PoisonError::into_inner);
    let benches = ["left", "right"].map(|name| Bench::new(&site(name, "priority = 1")));
    let arguments = ["qualify", "press.toml", "--out", "out", "--duration", "8s", "--json"];
    let said = thread::scope(|scope| {
        let both = benches.each_ref().map(|bench| scope.spawn(|| bench.call(&arguments)));
        both.map(|one| one.join().unwrap())
    });
    for said in said {
        let document: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.err));
        let record = &document["records"][0];
        if record["degraded"].to_string().contains("SCHED_FIFO") {
            quietcore_skip::skip!("this user gets no real-time priority: {}", record["degraded"]);
            return;
        }
        let because = record["invalid_because"].to_string();
        assert!(because.contains("measured on CPU 0 meanwhile"), "{because}");
        assert_eq!(record["valid"], false);
    }
}
