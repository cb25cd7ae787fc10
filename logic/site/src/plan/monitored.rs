//! The watch on partitions while the site is up, in words.

use std::fmt;

use serde::Serialize;

use crate::site::{Criticality, Monitor, Partition, Reaction, Shedding, Site};
use crate::words::exact;

/// A partition that is watched, and what is done when it is late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Monitored {
    /// Name of the partition.
    pub partition: String,
    /// The rank of the partition.
    pub criticality: Criticality,
    /// The reactions, one a line.
    pub reactions: Vec<String>,
}

impl fmt::Display for Monitored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { partition, criticality, reactions } = self;
        write!(f, "watch partition `{partition}` ({criticality}): {}", reactions.join("; "))
    }
}

/// All that are watched, in the order of the file.
pub(super) fn all(site: &Site) -> Vec<Monitored> {
    let watched = site.partitions().iter().filter(|one| one.monitor.is_written);
    let monitored = |one: &Partition| Monitored {
        partition: one.name.clone(),
        criticality: one.criticality,
        reactions: reactions(one, site),
    };
    watched.map(monitored).collect()
}

fn reactions(one: &Partition, site: &Site) -> Vec<String> {
    let Monitor { on_overrun, on_exceedance, on_missed_cycle, limit, after, window, calm, .. } =
        one.monitor;
    let kinds = [
        (on_overrun, "an overrun".to_owned(), "overruns".to_owned()),
        (
            on_exceedance,
            format!("a release later than {}", exact(limit)),
            format!("releases later than {}", exact(limit)),
        ),
        (on_missed_cycle, "a missed cycle".to_owned(), "missed cycles".to_owned()),
    ];
    let said = |(reaction, single, several): (Reaction, String, String)| {
        let when = match after {
            1 => format!("after {single}"),
            _ => format!("after {after} {several} within {}", exact(window)),
        };
        let what = match reaction {
            Reaction::Report => "report it".to_owned(),
            Reaction::Restart => "restart its program".to_owned(),
            Reaction::Shed => {
                format!("{}, until {} of calm", victims(one, site).join(", "), exact(calm))
            }
        };
        format!("{when} {what}")
    };
    kinds.map(said).into()
}

fn victims(one: &Partition, site: &Site) -> Vec<String> {
    let shed = site.partitions().iter().filter(|other| one.may_shed(other));
    let said = |other: &Partition| match other.monitor.when_shed {
        Shedding::Throttle => {
            format!("throttle `{}` to {} %", other.name, other.monitor.share_percent)
        }
        Shedding::Freeze | Shedding::Never => format!("freeze `{}`", other.name),
    };
    shed.map(said).collect()
}
