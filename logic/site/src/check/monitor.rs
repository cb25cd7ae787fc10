//! `[partition.monitor]`: what a partition is watched for, and who is shed for whom.

use quietcore_units::Nanos;

use crate::raw::{RawFieldbus, RawMonitor, RawPartition};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Channel, Criticality, Monitor, Partition, Reaction, SHED_PERIOD_MIN, Shedding};
use crate::words::exact;

const WINDOW_DEFAULT: Nanos = Nanos::from_secs(1);
const CALM_DEFAULT: Nanos = Nanos::from_secs(1);
const SHARE_PERCENT_DEFAULT: u32 = 10;

/// Checks a monitor by itself.
pub(super) fn check(
    raw: &RawPartition,
    period: Nanos,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Monitor {
    let nothing = RawMonitor::default();
    let written = raw.monitor.as_ref().unwrap_or(&nothing);
    let path = path.key("monitor");
    let monitor = Monitor {
        is_written: raw.monitor.is_some(),
        on_overrun: written.on_overrun.unwrap_or_default(),
        on_exceedance: written.on_exceedance.unwrap_or_default(),
        on_missed_cycle: written.on_missed_cycle.unwrap_or_default(),
        limit: written.limit.unwrap_or(Nanos::new(period.get() / 10)),
        after: written.after.unwrap_or(1),
        window: written.window.unwrap_or(WINDOW_DEFAULT),
        calm: written.calm.unwrap_or(CALM_DEFAULT),
        when_shed: written.when_shed.unwrap_or_default(),
        share_percent: written.share.unwrap_or(SHARE_PERCENT_DEFAULT),
    };
    if raw.monitor.is_some() && raw.program.as_ref().is_none_or(|it| it.model.is_none()) {
        collector.refuse_key(
            &path,
            "only a program is watched, and without a `model` there is none",
            "take it out, or name a `model` in `[partition.program]`",
        );
    }
    if monitor.limit >= period {
        collector.refuse(
            &path.key("limit"),
            format!("a release that is {} late is a missed cycle already", exact(monitor.limit)),
            format!("stay below the period of {}", exact(period)),
        );
    }
    if monitor.when_shed != Shedding::Throttle && collector.has(&path.key("share")) {
        collector.refuse_key(
            &path.key("share"),
            "it has an effect under `when_shed = \"throttle\"` only",
            "take it out, or choose `throttle`",
        );
    }
    if raw.criticality == Some(Criticality::High) && collector.has(&path.key("when_shed")) {
        collector.refuse_key(
            &path.key("when_shed"),
            "nothing is more critical than `high`, so it is never shed",
            "take it out, or make the partition less critical",
        );
    }
    if monitor.sheds() && period < SHED_PERIOD_MIN {
        collector.refuse(
            &path,
            format!("nothing can be shed within its period of {}", exact(period)),
            format!("shed for partitions with a period of {} or more", exact(SHED_PERIOD_MIN)),
        );
    }
    monitor
}

/// Checks who is shed for whom, where the partitions themselves are right.
pub(super) fn among<'f>(
    raw: &[RawPartition],
    partitions: &[Partition],
    fieldbuses: &(impl Iterator<Item = &'f RawFieldbus> + Clone),
    channels: &[Channel],
    collector: &mut Collector<'_, '_>,
) {
    if partitions.len() != raw.len() {
        return;
    }
    let sheds = |of: Criticality| {
        partitions.iter().find(|other| other.monitor.sheds() && other.criticality > of)
    };
    for (index, one) in partitions.iter().enumerate() {
        let path = Path::top().key("partition").index(index);
        if one.monitor.sheds() && !partitions.iter().any(|other| one.may_shed(other)) {
            collector.refuse(
                &first_shed(&one.monitor, &path.key("monitor")),
                format!("no partition is less critical than `{}` ({})", one.name, one.criticality),
                "give another partition `criticality = \"low\"`, or choose `report`",
            );
        }
        let Some(for_whom) = sheds(one.criticality) else { continue };
        let drives = fieldbuses.clone().any(|bus| bus.partition.as_ref() == Some(&one.name));
        if drives && !collector.has(&path.key("monitor").key("when_shed")) {
            collector.refuse(
                &path,
                format!(
                    "it drives a fieldbus and would be shed for `{}`: its outputs would stay until \
                     the watchdogs of the SubDevices take them away",
                    for_whom.name
                ),
                "say `when_shed = \"never\"` in its `[partition.monitor]`, or `\"freeze\"` or \
                 `\"throttle\"` where that is safe",
            );
        }
        let silent = |it: &&Channel| it.from.is(&one.name) && it.to.is(&for_whom.name);
        for channel in channels.iter().filter(silent) {
            if for_whom.may_shed(one) {
                collector.remark(
                    &path,
                    format!(
                        "while it is shed for `{}`, nothing comes by channel `{}`",
                        for_whom.name, channel.name
                    ),
                );
            }
        }
    }
}

/// The first key that asks for it.
fn first_shed(monitor: &Monitor, path: &Path) -> Path {
    let keys = [
        (monitor.on_overrun, "on_overrun"),
        (monitor.on_exceedance, "on_exceedance"),
        (monitor.on_missed_cycle, "on_missed_cycle"),
    ];
    let first = keys.into_iter().find(|(reaction, _)| *reaction == Reaction::Shed);
    first.map_or_else(|| path.clone(), |(_, key)| path.key(key))
}
