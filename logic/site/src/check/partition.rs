//! `[[partition]]`: class, reservation, program and timing.

use quietcore_record::class::Class;
use quietcore_units::{CpuId, CpuSet, Nanos};

use crate::check::class::Classes;
use crate::check::unique;
use crate::raw::{Policy, RawCache, RawEarlyWake, RawPartition, RawProgram, RawVcr};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Cache, EarlyWake, Network, Partition, Program, Scheduling, Vcr};
use crate::words::exact;

const PRIORITY_DEFAULT: u32 = 90;
const PRIORITY_MAX: u32 = 99;
const SHARE_PERCENT_DEFAULT: u32 = 25;
/// The kernel's default limits on periods of `SCHED_DEADLINE` (`sched_deadline_period_min_us` and
/// `sched_deadline_period_max_us`).
const DEADLINE_PERIODS: (Nanos, Nanos) = (Nanos::from_micros(100), Nanos::from_micros(4_194_304));

/// The names of all partitions, right or wrong otherwise; reports those that are there twice.
pub(super) fn names(raw: &[RawPartition], collector: &mut Collector<'_, '_>) -> Vec<String> {
    let path = |index| Path::top().key("partition").index(index);
    let named = raw.iter().enumerate().map(|(index, one)| (path(index), one.name.as_deref()));
    unique("partition", named, collector);
    raw.iter().filter_map(|partition| partition.name.clone()).collect()
}

/// Checks each partition by itself and returns those that are right.
pub(super) fn check(
    raw: &[RawPartition],
    classes: &Classes,
    collector: &mut Collector<'_, '_>,
) -> Vec<Partition> {
    let mut partitions = Vec::new();
    for (index, raw) in raw.iter().enumerate() {
        let path = Path::top().key("partition").index(index);
        partitions.extend(partition(raw, classes, &path, collector));
    }
    partitions
}

fn partition(
    raw: &RawPartition,
    classes: &Classes,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Partition> {
    let class =
        raw.class.as_deref().and_then(|name| classes.find(name, &path.key("class"), collector));
    let vcr = raw.vcr.as_ref().and_then(|raw| vcr(raw, &path.key("vcr"), collector));
    let nothing = RawProgram::default();
    let program = raw.program.as_ref().unwrap_or(&nothing);
    let program = self::program(program, class, &path.key("program"), collector);
    Some(Partition {
        name: raw.name.clone()?,
        class: class?.clone(),
        backend: raw.backend.unwrap_or_default(),
        vcr: vcr?,
        program: program?,
    })
}

fn vcr(raw: &RawVcr, path: &Path, collector: &mut Collector<'_, '_>) -> Option<Vcr> {
    let network = raw.network.as_ref();
    let cache_path = path.key("cache");
    let cache = raw.cache.as_ref().and_then(|raw| cache(raw, &cache_path, collector));
    Some(Vcr {
        cpus: raw.cpus?.0,
        budget_percent: raw.budget,
        memory: raw.memory,
        cache,
        network: network
            .and_then(|network| Some(Network { rate: network.rate?, burst: network.burst })),
    })
}

fn cache(raw: &RawCache, path: &Path, collector: &mut Collector<'_, '_>) -> Option<Cache> {
    let (ways, colours) = (path.key("ways"), path.key("colours"));
    match (collector.has(&ways), collector.has(&colours)) {
        (true, true) => collector.refuse(
            &colours,
            "ways and colours divide the same cache in two ways",
            "keep one of the two",
        ),
        (false, false) => {
            collector.refuse(
                path,
                "it is empty",
                "write `{ ways = 4 }` or `{ colours = \"0-5\" }`",
            );
        }
        _ => {}
    }
    if let Some(ways) = raw.ways {
        return Some(Cache::Ways(ways));
    }
    let list: CpuSet = raw.colours.as_ref()?.parse().ok()?;
    if list.is_empty() {
        collector.refuse(&colours, "no colour is written", "write for example `\"0-5\"`");
    }
    Some(Cache::Colours(list.iter().map(CpuId::get).collect()))
}

fn program(
    raw: &RawProgram,
    class: Option<&Class>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Program> {
    let period = period(raw, class, path, collector);
    let deadline = raw.deadline.or(period);
    at_most(&path.key("deadline"), deadline, period, "period", collector);
    at_most(&path.key("wcet"), raw.wcet, deadline, "deadline", collector);
    let early_wake = early_wake(raw, period, path, collector);
    let policy = raw.policy.unwrap_or(Policy::Fifo);
    policy_fits(raw, policy, path, collector);
    let (period, deadline) = (period?, deadline?);
    let scheduling = match policy {
        Policy::Fifo => Scheduling::Fifo { priority: raw.priority.unwrap_or(PRIORITY_DEFAULT) },
        Policy::Other => Scheduling::Other,
        Policy::Deadline => {
            if !(DEADLINE_PERIODS.0..=DEADLINE_PERIODS.1).contains(&period) {
                collector.remark(
                    &path.key("period"),
                    "unless told otherwise the kernel refuses SCHED_DEADLINE with a period below \
                     100 us or above 4.19 s",
                );
            }
            Scheduling::Deadline { run_time: raw.wcet?, deadline, period }
        }
    };
    Some(Program {
        model: raw.model.clone(),
        period,
        deadline,
        wcet: raw.wcet,
        scheduling,
        early_wake,
    })
}

/// The period as written, else the cycle of the class.
fn period(
    raw: &RawProgram,
    class: Option<&Class>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Nanos> {
    let path = path.key("period");
    let cycle = class.and_then(|class| class.cycle_ns).map(Nanos::new);
    if let (Some(period), Some(cycle), Some(class)) = (raw.period, cycle, class)
        && period > cycle
    {
        collector.remark(
            &path,
            format!(
                "the class `{}` has a cycle of {}; releases every {} say little about it",
                class.name,
                exact(cycle),
                exact(period)
            ),
        );
    }
    if raw.period.is_some() || collector.has(&path) {
        return raw.period;
    }
    if let (None, Some(class)) = (cycle, class) {
        collector.refuse(
            &path,
            format!("the class `{}` has no cycle, so the period must be given", class.name),
            "write for example `period = \"100 ms\"`",
        );
    }
    cycle
}

fn at_most(
    path: &Path,
    value: Option<Nanos>,
    limit: Option<Nanos>,
    limit_name: &str,
    collector: &mut Collector<'_, '_>,
) {
    if let (Some(value), Some(limit)) = (value, limit)
        && value > limit
        && collector.has(path)
    {
        collector.refuse(
            path,
            format!("{} is beyond the {limit_name} of {}", exact(value), exact(limit)),
            format!("use the {limit_name} at most"),
        );
    }
}

fn early_wake(
    raw: &RawProgram,
    period: Option<Nanos>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> EarlyWake {
    let mode_path = path.key("early_wake");
    let mode = raw.early_wake.unwrap_or(RawEarlyWake::Off);
    let share_path = path.key("early_wake_share");
    let reported = raw.early_wake.is_none() && collector.has(&mode_path);
    if mode != RawEarlyWake::Adaptive && !reported && collector.has(&share_path) {
        collector.refuse_key(
            &share_path,
            "it has an effect under `early_wake = \"adaptive\"` only",
            "take it out, or choose `adaptive`",
        );
    }
    match mode {
        RawEarlyWake::Off => EarlyWake::Off,
        RawEarlyWake::Adaptive => EarlyWake::Adaptive {
            share_percent: raw.early_wake_share.unwrap_or(SHARE_PERCENT_DEFAULT),
        },
        RawEarlyWake::Fixed(margin) => {
            if let Some(period) = period.filter(|period| margin >= *period) {
                collector.refuse(
                    &mode_path,
                    format!(
                        "waking {} early leaves nothing of the period of {}",
                        exact(margin),
                        exact(period)
                    ),
                    "choose less than the period, or `adaptive`",
                );
            }
            EarlyWake::Fixed { margin }
        }
    }
}

fn policy_fits(raw: &RawProgram, policy: Policy, path: &Path, collector: &mut Collector<'_, '_>) {
    let priority = path.key("priority");
    match policy {
        Policy::Fifo if raw.priority == Some(PRIORITY_MAX) => collector.remark(
            &priority,
            "at priority 99 the program competes with the kernel's own migration and watchdog \
             threads; 98 is enough to be above all else",
        ),
        Policy::Fifo => {}
        Policy::Deadline | Policy::Other => {
            if collector.has(&priority) {
                let policy = if policy == Policy::Other { "other" } else { "deadline" };
                collector.refuse_key(
                    &priority,
                    format!("policy `{policy}` knows no priority"),
                    "take it out, or choose `policy = \"fifo\"`",
                );
            }
        }
    }
    let wcet = path.key("wcet");
    if policy == Policy::Deadline && !collector.has(&wcet) {
        collector.refuse(
            &wcet,
            "policy `deadline` reserves this run time, so it must be given",
            "write for example `wcet = \"120 us\"`",
        );
    }
}
