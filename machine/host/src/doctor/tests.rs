//! Findings about described machines.

use std::collections::BTreeSet;

use super::*;
use crate::attempts::{Attempt, Fake, GuestSpeed};
use crate::machines::Machine;
use crate::reading::Reading;
use quietcore_record::record::TimeReality;

fn cpus(text: &str) -> CpuSet {
    text.parse().unwrap()
}

fn find<'a>(findings: &'a [Finding], id: &str) -> &'a Finding {
    findings
        .iter()
        .find(|finding| finding.id == id)
        .unwrap_or_else(|| panic!("there is no finding `{id}`"))
}

fn with(findings: &[Finding], severity: Severity) -> Vec<&str> {
    let those = findings.iter().filter(|finding| finding.severity == severity);
    those.map(|finding| finding.id.as_str()).collect()
}

fn one(machine: &Machine, id: &str) -> Finding {
    find(&examine(&machine.facts(), None), id).clone()
}

#[test]
fn a_tuned_machine_meets_every_requirement_and_gets_no_advice() {
    let findings = examine(&Machine::tuned().facts(), Some(&cpus("2-3")));
    assert_eq!(with(&findings, Severity::Conformance), [""; 0]);
    assert_eq!(with(&findings, Severity::Advice), [""; 0]);
    assert_eq!(with(&findings, Severity::Unknown), [""; 0]);
    assert!(findings.len() > 50);
}

#[test]
fn a_machine_that_refuses_everything_fails_by_name() {
    let mut machine = Machine::tuned();
    machine.attempts = Fake { cpuid: machine.attempts.cpuid.clone(), ..Fake::refusing() };
    machine.write("proc/self/status", "Uid:\t1000\t1000\nCapEff:\t0000000000000000\n");
    machine.write("sys/devices/system/cpu/online", "0");
    machine.write("proc/sys/kernel/sched_rt_runtime_us", "0");
    machine.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
    let findings = examine(&machine.facts(), None);
    let expected = BTreeSet::from([
        "clock-source",
        "cpu-count",
        "locked-memory",
        "realtime-policy",
        "realtime-policy-in-container",
        "realtime-throttling",
        "time-is-real",
    ]);
    let found: BTreeSet<&str> = with(&findings, Severity::Conformance).into_iter().collect();
    assert_eq!(found, expected);
}

/// Goal: nothing that could not be read looks as if it were fine.
#[test]
fn a_machine_without_files_is_mostly_unknown_and_never_fine_where_it_matters() {
    let findings = examine(&Machine::empty().facts(), None);
    for id in [
        "cpu-count",
        "preemption-model",
        "clock-source",
        "tsc-flags",
        "locked-memory",
        "cpu-isolation",
        "interrupt-affinity",
        "high-resolution-timers",
        "stolen-time",
        "hypervisor",
    ] {
        assert_eq!(find(&findings, id).severity, Severity::Unknown, "{id}");
    }
}

#[test]
fn every_finding_says_what_to_do_and_why() {
    let mut refusing = Machine::guest();
    refusing.attempts = Fake::refusing();
    for machine in [Machine::tuned(), Machine::guest(), Machine::empty(), refusing] {
        for partition in [None, Some(cpus("2-3")), Some(cpus("9"))] {
            let findings = examine(&machine.facts(), partition.as_ref());
            let mut seen = BTreeSet::new();
            for finding in &findings {
                let name = (finding.id.clone(), finding.subject.clone());
                assert!(seen.insert(name), "`{}` occurs twice", finding.id);
                assert!(!finding.read.is_empty(), "`{}` read nothing", finding.id);
                assert!(!finding.right.is_empty(), "`{}`", finding.id);
                let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                assert!(finding.id.chars().all(kebab), "`{}`", finding.id);
                match finding.severity {
                    Severity::Ok => assert_eq!(finding.fix, "", "`{}`", finding.id),
                    _ => {
                        assert!(!finding.effect.is_empty(), "`{}` has no effect", finding.id);
                        assert!(!finding.fix.is_empty(), "`{}` has no remedy", finding.id);
                    }
                }
            }
            assert!(findings.is_sorted_by_key(|finding| finding.area));
        }
    }
}

#[test]
fn a_partition_on_cpus_that_do_not_exist_is_refused() {
    let findings = examine(&Machine::tuned().facts(), Some(&cpus("2,9")));
    let finding = find(&findings, "partition-cpus");
    assert_eq!(finding.severity, Severity::Conformance);
    assert!(finding.read.contains("wanted 2,9; online 0-3"), "{}", finding.read);
    assert!(finding.fix.contains("bring 9 online"), "{}", finding.fix);
}

#[test]
fn a_partition_outside_the_cpuset_of_this_process_is_refused() {
    let mut machine = Machine::tuned();
    // An affinity is no limit: Quietcore binds its threads beyond it.
    machine.write("proc/self/status", "Uid:\t0\t0\nCpus_allowed_list:\t0-2\n");
    let findings = examine(&machine.facts(), Some(&cpus("2-3")));
    assert_eq!(find(&findings, "partition-cpus").severity, Severity::Ok);
    machine.attempts.grantable_cpus = Reading::Read("0-2".parse().unwrap());
    let findings = examine(&machine.facts(), Some(&cpus("2-3")));
    let finding = find(&findings, "partition-cpus");
    assert_eq!(finding.severity, Severity::Conformance);
    assert!(finding.read.ends_with("in this control group 0-2"), "{}", finding.read);
    assert!(finding.fix.contains("take others than 3"), "{}", finding.fix);
    let finding = one(&machine, "group-cpus");
    assert_eq!((finding.severity, finding.read.as_str()), (Severity::Advice, "0-2 of 0-3"));
    assert!(finding.fix.contains("`AllowedCPUs=`"), "{}", finding.fix);
}

#[test]
fn cpus_of_sites_that_run_are_those_of_this_group_too() {
    let mut machine = Machine::tuned();
    machine.attempts.grantable_cpus = Reading::Read("0-1".parse().unwrap());
    for (group, cpu, kind) in [("press", "2", "isolated"), ("axis", "3", "member")] {
        let at = |name: &str| format!("sys/fs/cgroup/quietcore-{group}/{name}");
        machine.write(&at("cpuset.cpus"), cpu);
        machine.write(&at("cpuset.cpus.partition"), kind);
        machine.write(&at("cgroup.procs"), "4711\n");
    }
    assert_eq!(machine.facts().machine().usable, "0-2".parse().unwrap());
    machine.write("sys/fs/cgroup/quietcore-press/cgroup.procs", "");
    assert_eq!(machine.facts().machine().usable, "0-1".parse().unwrap(), "nothing is left of it");
}

#[test]
fn a_sibling_counts_only_outside_of_the_partition() {
    let mut machine = Machine::tuned();
    for cpu in [2, 3] {
        machine.write(&format!("sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list"), "2-3");
    }
    let judge = |partition: &str| {
        let findings = examine(&machine.facts(), Some(&cpus(partition)));
        find(&findings, "smt-siblings").severity
    };
    assert_eq!(judge("2-3"), Severity::Ok);
    assert_eq!(judge("2"), Severity::Advice);
}

#[test]
fn a_guest_is_told_what_only_its_host_can_change() {
    let mut machine = Machine::guest();
    machine.attempts.cpuid.remove(&(0x10, 0));
    for id in ["hypervisor", "cache-allocation-cpuid"] {
        let finding = one(&machine, id);
        assert_eq!(finding.severity, Severity::Advice);
        assert!(finding.fix.contains("only the owner of the host"), "{}", finding.fix);
    }
    let metal = one(&Machine::tuned(), "hypervisor");
    assert_eq!((metal.severity, metal.read.as_str()), (Severity::Ok, "none"));
}

#[test]
fn a_fresh_cgroup_that_only_lacks_a_budget_is_advice() {
    let mut machine = Machine::tuned();
    let fresh = &mut machine.attempts.fresh_cgroup;
    fresh.as_made = Attempt::Refused("operation not permitted".to_owned());
    fresh.budget_us = Reading::Read(0);
    fresh.with_budget = Attempt::Succeeded;
    let finding = one(&machine, "realtime-policy-in-container");
    assert_eq!(finding.severity, Severity::Advice);
    assert!(finding.read.contains("budget of 0 µs"), "{}", finding.read);
    machine.attempts.fresh_cgroup.with_budget = Attempt::Refused("invalid argument".to_owned());
    let finding = one(&machine, "realtime-policy-in-container");
    assert_eq!(finding.severity, Severity::Conformance);
    machine.attempts.fresh_cgroup.as_made = Attempt::NotTried("no cgroup".to_owned());
    let finding = one(&machine, "realtime-policy-in-container");
    assert_eq!(finding.severity, Severity::Unknown);
}

#[test]
fn a_group_that_was_left_behind_is_named() {
    let mut machine = Machine::tuned();
    machine.attempts.fresh_cgroup.left_behind = Some("/sys/fs/cgroup/q: busy".to_owned());
    let finding = one(&machine, "realtime-policy-in-container");
    assert!(finding.read.contains("left behind: /sys/fs/cgroup/q"), "{}", finding.read);
}

#[test]
fn guests_are_native_by_speed_not_by_the_device() {
    let mut machine = Machine::tuned();
    for (speed, severity) in
        [(4e9, Severity::Ok), (3e8, Severity::Ok), (2e7, Severity::Advice), (1e6, Severity::Advice)]
    {
        machine.attempts.kvm =
            Reading::Read(GuestSpeed { instructions_per_second: speed, has_sse: None });
        assert_eq!(one(&machine, "kvm-guest-speed").severity, severity, "{speed}");
    }
    machine.attempts.kvm =
        Reading::Read(GuestSpeed { instructions_per_second: 4e9, has_sse: Some(false) });
    let finding = one(&machine, "kvm-guest-speed");
    assert_eq!(finding.severity, Severity::Advice);
    assert!(finding.read.ends_with("a second, without SSE"), "{}", finding.read);
    machine.attempts.kvm = Reading::Unreadable("the guest did not halt".to_owned());
    assert_eq!(one(&machine, "kvm-guest-speed").severity, Severity::Unknown);
    machine.remove("dev/kvm");
    assert_eq!(one(&machine, "kvm-device").severity, Severity::Advice);
}

#[test]
fn interrupts_on_control_cpus_are_named_with_their_remedy() {
    let mut machine = Machine::tuned();
    machine.write("proc/irq/24/effective_affinity_list", "3");
    let findings = examine(&machine.facts(), Some(&cpus("2-3")));
    let finding = find(&findings, "interrupt-affinity");
    assert_eq!((finding.severity, finding.read.as_str()), (Severity::Advice, "24 enp3s0"));
    assert!(finding.fix.starts_with("`echo 0,1 > /proc/irq/NUMBER"), "{}", finding.fix);
    assert_eq!(find(&findings, "network-interrupts").severity, Severity::Advice);
}

#[test]
fn deep_idle_states_count_on_control_cpus_only() {
    let mut machine = Machine::tuned();
    assert_eq!(one(&machine, "idle-states").severity, Severity::Ok);
    machine.write("sys/devices/system/cpu/cpu3/cpuidle/state1/disable", "0");
    let finding = one(&machine, "idle-states");
    assert_eq!(finding.severity, Severity::Advice);
    assert!(finding.effect.contains("230 µs late"), "{}", finding.effect);
}

#[test]
fn an_ordinary_user_is_told_how_to_be_granted_what_is_missing() {
    let mut machine = Machine::tuned();
    machine.attempts.fifo = Attempt::Refused("operation not permitted".to_owned());
    machine.write("proc/self/status", "Uid:\t1000\t1000\nCapEff:\t0\n");
    assert!(one(&machine, "realtime-policy").fix.contains("rtprio"));
    assert!(one(&machine, "locked-memory").fix.contains("memlock"));
}

/// The form that scripts rely on, by its keys.
#[test]
fn a_report_names_its_schema_and_survives_being_written() {
    let report = Report::new(Machine::tuned().facts(), Some(&cpus("2-3")));
    let value = serde_json::to_value(&report).unwrap();
    assert_eq!(value["schema"], "quietcore.doctor/1");
    let keys: BTreeSet<&str> =
        value["findings"][0].as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["area", "effect", "fix", "id", "read", "right", "severity", "subject"];
    assert_eq!(keys, BTreeSet::from(expected));
    assert_eq!(value["findings"][0]["severity"], "ok");
    assert_eq!(value["facts"]["cpu"]["isolated"]["read"], "2,3");
    assert_eq!(serde_json::from_value::<Report>(value).unwrap(), report);
}

#[test]
fn time_that_nobody_could_calibrate_is_not_called_real() {
    let mut facts = Machine::tuned().facts();
    facts.clock.calibration.time = TimeReality::Unknown("no sequences".to_owned());
    let findings = examine(&facts, None);
    assert_eq!(find(&findings, "time-is-real").severity, Severity::Unknown);
}

#[test]
fn a_dom0_is_found_and_advised_if_it_lacks_xl() {
    let mut machine = Machine::dom0();
    let xen = one(&machine, "xen");
    assert_eq!((&*xen.read, xen.severity), ("Xen 4.17.7, /usr/sbin/xl", Severity::Ok));
    machine.remove("usr/sbin/xl");
    let xen = one(&machine, "xen");
    assert_eq!((&*xen.read, xen.severity), ("Xen 4.17.7, without `xl`", Severity::Advice));
    assert!(!xen.fix.is_empty());
    machine.write("usr/sbin/xl", "");
    machine.end_services();
    let read = "Xen 4.17.7, /usr/sbin/xl, and its store does not answer";
    let xen = one(&machine, "xen");
    assert_eq!((&*xen.read, xen.severity), (read, Severity::Advice));
    machine.write("proc/xen/capabilities", "");
    assert!(examine(&machine.facts(), None).iter().all(|finding| finding.id != "xen"));
}
