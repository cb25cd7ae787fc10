//! Clocks and timers: whether time is real, steady and cheap to read.

use quietcore_record::record::TimeReality;

use super::finding::{AS_ROOT, finding};
use super::{Area, Finding, View, kernel_parameter, sysctl};
use crate::reading::Reading;

pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    findings.push(reality(view));
    findings.push(clock_source(view));
    findings.push(counter(view));
    findings.push(high_resolution(view));
    findings.push(slack(view));
    findings.push(migration(view));
}

fn reality(view: &View<'_>) -> Finding {
    let calibration = &view.facts.clock.calibration;
    let rate = calibration.instructions_per_second / 1e6;
    let draft = finding("time-is-real", Area::Time, "time, by calibration")
        .right("instructions executed by a processor")
        .effect(
            "emulated time is not time: every number measured here is labelled `timing not valid` \
             and can't pass",
        )
        .fix(view.on_host(
            "run on hardware, or on a hypervisor that uses the processor's virtualization (KVM \
             instead of TCG)",
        ));
    match &calibration.time {
        TimeReality::Native => {
            draft.read(format!("native, {rate:.0} million simple instructions a second")).ok()
        }
        TimeReality::Emulated(because) => draft.read(format!("emulated: {because}")).conformance(),
        TimeReality::Unknown(because) | TimeReality::Stated(because) => {
            draft.read(because.clone()).unknown("the calibration knows x86-64 only")
        }
        TimeReality::Unstated => draft.unknown("the calibration knows x86-64 only"),
    }
}

fn clock_source(view: &View<'_>) -> Finding {
    let clock = &view.facts.clock;
    let available = clock.available.describe(|names| names.join(", "));
    let draft = finding("clock-source", Area::Time, "clock source").right("`tsc`").fix(format!(
        "`echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource` where it \
         is available, permanent: {}; where the kernel called the TSC unstable, `dmesg | grep -i \
         tsc` says why",
        kernel_parameter("clocksource=tsc tsc=reliable")
    ));
    let name = match &clock.source {
        Reading::Read(name) => name.as_str(),
        other => {
            return draft
                .effect("whether time is steady here is not known")
                .read(other.describe(Clone::clone))
                .unknown("mount /sys to read it");
        }
    };
    let draft = draft.read(format!("{name}; available: {available}"));
    match name {
        "tsc" | "arch_sys_counter" => draft.effect("read in some 20 ns without a system call").ok(),
        "kvm-clock" | "hyperv_clocksource_tsc_page" | "xen" => draft
            .effect(
                "the hypervisor scales the TSC: some 10 ns more a reading, and corrections after \
                 a migration",
            )
            .advice(),
        // Without a steady counter the kernel falls back to these.
        "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies" | "pit" => draft
            .effect(
                "each reading is a system call of 1 µs and more, shared by all CPUs; the kernel \
                 chose it because the TSC is missing or unstable, so intervals measured here are \
                 no evidence",
            )
            .conformance(),
        _ => draft.effect("this clock's cost and steadiness are not known to us").advice(),
    }
}

fn counter(view: &View<'_>) -> Finding {
    let tsc = &view.facts.clock.tsc;
    let flags = [
        ("constant", &tsc.constant),
        ("nonstop", &tsc.nonstop),
        ("invariant by CPUID", &tsc.invariant),
        ("known frequency", &tsc.known_frequency),
        ("adjust register", &tsc.adjust),
        ("reliable", &tsc.reliable),
    ];
    let having = |wanted: bool| {
        let names =
            flags.iter().filter(|(_, flag)| **flag == Reading::Read(wanted)).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(", ")
    };
    let draft = finding("tsc-flags", Area::Time, "time-stamp counter")
        .read(format!("has: {}; has not: {}", having(true), having(false)))
        .right("constant and nonstop, both by flag and by CPUID (invariant)")
        .effect(
            "the counter changes its rate with the clock or stops in idle states; the kernel then \
             leaves it for a slow clock",
        )
        .fix(view.on_host(
            "pass the invariant TSC on (QEMU: `-cpu host,+invtsc`; libvirt: `<feature \
             policy='require' name='invtsc'/>`)",
        ));
    if tsc.constant.get().is_none() {
        return draft.unknown("mount /proc to read the CPU's flags");
    }
    let steady = tsc.constant == Reading::Read(true) && tsc.nonstop == Reading::Read(true);
    if steady && tsc.invariant == Reading::Read(false) {
        return draft
            .effect(
                "the kernel trusts the counter, but the hypervisor does not promise that its rate \
                 survives a migration",
            )
            .advice();
    }
    draft.ok_if(steady)
}

fn high_resolution(view: &View<'_>) -> Finding {
    let kernel = &view.facts.kernel;
    let off = kernel.command_line.value("highres").as_deref() == Some("off");
    let configured = kernel.configured("CONFIG_HIGH_RES_TIMERS");
    let draft = finding("high-resolution-timers", Area::Time, "high-resolution timers")
        .right("on")
        .effect("without them every sleep ends at the next tick, 1 to 10 ms late")
        .fix(
            "remove `highres=off` from the kernel command line, or take a kernel with \
             CONFIG_HIGH_RES_TIMERS",
        );
    match (off, configured) {
        (true, _) => draft.read("highres=off").conformance(),
        (false, Some(false)) => draft.read("not built in").conformance(),
        (false, Some(true)) => draft.read("on").ok(),
        (false, None) => draft
            .read("the kernel's configuration can't be read")
            .unknown("/proc/config.gz or /boot/config-RELEASE tells; make one readable"),
    }
}

fn slack(view: &View<'_>) -> Finding {
    let slack = &view.facts.clock.timer_slack_ns;
    let draft = finding("timer-slack", Area::Time, "timer slack of an ordinary thread")
        .right("1 ns for control threads; real-time policies have none anyway")
        .effect(
            "a thread without a real-time policy is woken up to this much later than it asked for",
        )
        .fix(
            "Quietcore sets it to 1 ns on its own threads; for others: `prctl(PR_SET_TIMERSLACK, \
             1)`",
        );
    match slack {
        Reading::Read(nanos) => draft
            .read(format!("{nanos} ns"))
            // SCHED_FIFO ignores it, and our own threads set it: the default is fine.
            .ok_if(*nanos <= 50_000),
        other => draft.read(other.describe(ToString::to_string)).unknown(AS_ROOT),
    }
}

fn migration(view: &View<'_>) -> Finding {
    let migration = &view.facts.clock.timer_migration;
    let draft = finding("timer-migration", Area::Time, "timer migration")
        .right("off (0), unless CPUs are isolated")
        .effect(
            "timers of idle CPUs are handed to busy ones, a control CPU among them: some µs of \
             foreign work at each",
        )
        .fix(sysctl("kernel.timer_migration", "0"));
    let isolated = view.facts.cpu.isolated.get().is_some_and(|list| !list.0.is_empty());
    match migration {
        Reading::Read(on) => draft.read(if *on { "on" } else { "off" }).ok_if(!*on || isolated),
        other => draft.without(other),
    }
}
