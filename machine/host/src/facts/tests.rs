//! Facts of described machines: each kind of machine is a folder of files.

use super::*;
use crate::machines::{Machine, words};
use crate::reading::Reading::{Absent, Read};

#[test]
fn a_tuned_machine_is_read_as_it_was_laid_out() {
    let facts = Machine::tuned().facts();
    assert_eq!(facts.kernel.preemption.model, PreemptionModel::Realtime);
    assert_eq!(facts.cpu.online_count(), 4);
    assert_eq!(facts.cpu.topology(), (1, 4, 1));
    assert_eq!(facts.cpu.isolated, Read("2-3".parse().unwrap()));
    assert_eq!(facts.power.turbo, Read(false));
    assert_eq!(facts.cgroups.arrangement, CgroupArrangement::V2);
    assert_eq!(
        facts.cgroups.delegated_controllers,
        Read(vec!["cpu".to_owned(), "memory".to_owned()])
    );
    assert_eq!(facts.virtualization.is_guest(), Some(false));
    assert_eq!(facts.network.interfaces[0].speed_mbit, Read(1000));
    assert_eq!(facts.network.interfaces[0].interrupts, [24]);
    assert_eq!(facts.interrupts.list[0].count, 100);
    assert_eq!(facts.limits.capable(23), Some(true));
    assert_eq!(facts.tracing.has("osnoise"), Some(true));
}

#[test]
fn cache_allocation_by_cpuid_and_by_the_kernel_are_kept_apart() {
    let mut machine = Machine::tuned();
    let both = machine.facts().caches;
    let cpuid = both.cpuid_l3.get().unwrap();
    assert_eq!((cpuid.mask_bits, cpuid.classes, cpuid.shared_bits), (12, 16, 0xc00));
    assert!(both.cpuid_l2.is_absent());
    assert_eq!(both.resctrl.levels[0].shareable_bits, Read("c00".to_owned()));
    assert_eq!(both.domains.len(), 2);
    assert_eq!(both.domains[0].page_colours(), Some(256));

    machine.attempts.cpuid.remove(&(0x10, 0));
    let kernel_only = machine.facts().caches;
    assert!(kernel_only.cpuid_l3.is_absent() && kernel_only.resctrl.mounted);
    machine.attempts.cpuid.insert((0x10, 0), words(0, 0b10, 0, 0));
    machine.remove("sys/fs/resctrl/schemata");
    let cpuid_only = machine.facts().caches;
    assert!(cpuid_only.cpuid_l3.get().is_some() && !cpuid_only.resctrl.mounted);
}

#[test]
fn idle_states_that_are_alike_are_joined_and_others_are_not() {
    let facts = Machine::tuned().facts();
    let deep: Vec<(&str, bool)> = facts
        .power
        .idle_states
        .iter()
        .filter(|state| state.name == "C10")
        .map(|state| match state.cpus.to_string().as_str() {
            "0,1" => ("housekeeping", state.disabled == Read(true)),
            "2,3" => ("control", state.disabled == Read(true)),
            _ => ("wrong", false),
        })
        .collect();
    assert_eq!(deep, [("housekeeping", false), ("control", true)]);
    assert_eq!(facts.power.idle_states.len(), 3);
}

#[test]
fn the_live_mode_of_a_dynamic_kernel_comes_before_its_defaults() {
    let mut machine = Machine::guest();
    let model = |machine: &Machine| machine.facts().kernel.preemption;
    assert!(model(&machine).dynamic);
    machine.write("boot/config-6.1.0-rt", "CONFIG_PREEMPT_DYNAMIC=y\nCONFIG_PREEMPT_VOLUNTARY=y\n");
    assert_eq!(model(&machine).model, PreemptionModel::Voluntary);
    machine.write("proc/cmdline", "quiet preempt=none");
    assert_eq!(model(&machine).model, PreemptionModel::None);
    machine.write("sys/kernel/debug/sched/preempt", "none voluntary (full)\n");
    assert_eq!(model(&machine).model, PreemptionModel::Full);
}

#[test]
fn a_kernel_that_names_no_preemption_is_none_or_voluntary() {
    let mut machine = Machine::guest();
    machine.write("proc/version", "Linux version 6.1.0 #1 SMP Debian");
    machine.remove("boot/config-6.1.0-rt");
    let preemption = machine.facts().kernel.preemption;
    assert_eq!(preemption.model, PreemptionModel::Unknown);
    assert!(preemption.because.contains("none or voluntary"));
}

#[test]
fn hybrid_processors_tell_the_type_of_each_core() {
    let mut machine = Machine::tuned();
    machine.attempts.cpuid.insert((7, 0), words(0, 0, 0, 1 << 15));
    machine.attempts.cpuid.insert((0x1a, 0), words(0x20 << 24, 0, 0, 0));
    let facts = machine.facts();
    assert_eq!(facts.cpu.hybrid, Read(true));
    assert_eq!(facts.cpu.cpus[0].core_type, Read(CoreType::Efficiency));
}

/// Goal: a machine that shows nothing is described as showing nothing, without a panic or a guess.
#[test]
fn a_machine_without_files_is_absent_throughout() {
    let facts = Machine::empty().facts();
    assert_eq!(facts.kernel.release, Absent);
    assert_eq!(facts.cpu.online_count(), 0);
    assert_eq!(facts.cpu.topology(), (0, 0, 1));
    assert_eq!(facts.cgroups.arrangement, CgroupArrangement::None);
    assert_eq!(facts.memory.total_kib, Absent);
    assert_eq!(facts.limits.capable(23), None);
    assert_eq!(facts.virtualization.kvm.speed, Absent);
    assert!(facts.activity.steal.unreadable().is_some());
    assert_eq!(facts.virtualization.is_guest(), None);
}

#[test]
fn what_is_there_and_can_not_be_read_is_not_absent() {
    let mut machine = Machine::tuned();
    machine.spoil("proc/sys/kernel/watchdog");
    machine.write("sys/devices/system/cpu/online", "all of them");
    let facts = machine.facts();
    assert!(facts.scheduler.watchdog.unreadable().is_some());
    let reason = facts.cpu.online.unreadable().unwrap();
    assert!(reason.contains("/sys/devices/system/cpu/online"), "{reason}");
}

#[test]
fn facts_survive_being_written_and_read() {
    for machine in [Machine::tuned(), Machine::guest(), Machine::empty()] {
        let facts = machine.facts();
        let text = serde_json::to_string(&facts).unwrap();
        assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), facts);
    }
}

#[test]
fn the_conditions_have_the_same_names_on_every_machine() {
    let names = [
        "c_states",
        "clock_source",
        "command_line",
        "cpu_model",
        "cpus_online",
        "governor",
        "hypervisor",
        "kernel",
        "memory",
        "microcode",
        "preemption",
        "rt_throttling",
        "topology",
    ];
    for machine in [Machine::tuned(), Machine::empty()] {
        let conditions = machine.facts().conditions_summary();
        assert_eq!(conditions.keys().map(String::as_str).collect::<Vec<_>>(), names);
    }
    let conditions = Machine::tuned().facts().conditions_summary();
    assert_eq!(conditions["topology"], "1 socket(s), 4 core(s), 1 thread(s) a core");
    assert_eq!(conditions["c_states"], "intel_idle: POLL 0 µs, C10 230 µs");
    assert_eq!(conditions["memory"], "15.3 GiB");
    assert_eq!(conditions["rt_throttling"], "off");
    assert_eq!(Machine::empty().facts().conditions_summary()["kernel"], "not there");
}

#[test]
fn fields_are_found_by_their_whole_name() {
    let text =
        "MemTotalHigh: 1 kB\nMemTotal:  2 kB\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nempty:\n";
    assert_eq!(field(text, "MemTotal"), Some("2 kB"));
    assert_eq!(field(text, "model"), Some("17"));
    assert_eq!(field(text, "model name"), Some("AMD EPYC"));
    assert_eq!(field(text, "empty"), Some(""));
    assert_eq!(field(text, "none"), None);
}
