//! Means to explain a late cycle, and tracers that cause one.

use super::finding::{AS_ROOT, finding};
use super::{Area, Finding, View, sysctl};
use crate::reading::Reading;

pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    findings.push(folder(view));
    findings.push(tracers(view));
    findings.push(active(view));
    findings.push(counting(view));
}

fn folder(view: &View<'_>) -> Finding {
    let draft = finding("tracing-files", Area::Tracing, "tracefs")
        .right("mounted")
        .effect(
            "spikes are seen and not explained: neither the kernel's tracers nor events can be \
             used",
        )
        .fix("`mount -t tracefs none /sys/kernel/tracing`; systemd does it by itself");
    match &view.facts.tracing.folder {
        Reading::Read(folder) => draft.read(folder.clone()).ok(),
        Reading::Absent => draft.read("not mounted").advice(),
        Reading::Unreadable(reason) => draft.read(reason.clone()).unknown(AS_ROOT),
    }
}

fn tracers(view: &View<'_>) -> Finding {
    let tracing = &view.facts.tracing;
    let wanted = ["osnoise", "timerlat", "hwlat"];
    let draft = finding("latency-tracers", Area::Tracing, "tracers of latency")
        .right("osnoise, timerlat and hwlat")
        .effect(
            "without osnoise and timerlat a spike can't be put down to an interrupt, a thread or \
             the host; without hwlat not to the firmware",
        )
        .fix(
            "a kernel with CONFIG_OSNOISE_TRACER, CONFIG_TIMERLAT_TRACER and CONFIG_HWLAT_TRACER, \
             such as Debian's linux-image-rt-amd64",
        );
    if let Reading::Read(names) = &tracing.tracers {
        let all = wanted.into_iter().all(|tracer| tracing.has(tracer) == Some(true));
        return draft.read(names.join(" ")).ok_if(all);
    }
    // Without the files the configuration still tells what was built in.
    let symbols = ["CONFIG_OSNOISE_TRACER", "CONFIG_TIMERLAT_TRACER", "CONFIG_HWLAT_TRACER"];
    let built: Vec<Option<bool>> =
        symbols.into_iter().map(|symbol| view.facts.kernel.configured(symbol)).collect();
    match &tracing.tracers {
        _ if built.contains(&Some(false)) => {
            draft.read("not all are built into this kernel").advice()
        }
        Reading::Unreadable(reason) => draft.read(reason.clone()).unknown(AS_ROOT),
        _ => draft
            .read("tracefs is not mounted")
            .unknown("as root: `mount -t tracefs none /sys/kernel/tracing`"),
    }
}

fn active(view: &View<'_>) -> Finding {
    let current = &view.facts.tracing.current;
    let draft = finding("active-tracer", Area::Tracing, "tracer in use")
        .right("nop: none")
        .effect(
            "a tracer adds 0.1 to 1 µs to each traced function, and its buffers push data out of \
             the caches",
        )
        .fix("`echo nop > /sys/kernel/tracing/current_tracer`");
    match current {
        Reading::Read(name) => draft.read(name.clone()).ok_if(name == "nop"),
        other => draft.without(other),
    }
}

fn counting(view: &View<'_>) -> Finding {
    let paranoid = &view.facts.tracing.perf_paranoid;
    let root = view.facts.limits.user == Reading::Read(0);
    let draft = finding("performance-counters", Area::Tracing, "performance counters")
        .right("usable by the one who measures")
        .effect(
            "cache misses and instructions of a control program can't be counted, so a slow step \
             can't be put down to a neighbour",
        )
        .fix(sysctl("kernel.perf_event_paranoid", "1"));
    match paranoid {
        Reading::Read(level) => {
            draft.read(format!("kernel.perf_event_paranoid = {level}")).ok_if(*level <= 1 || root)
        }
        other => draft.without(other),
    }
}
