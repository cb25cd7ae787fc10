//! The checks of meaning: from what was written to a [`Site`].
//!
//! Each check reports through the [`Collector`] and goes on. What it builds is `None` where
//! something in it was wrong; a `None` in the raw types was reported already or never written, and
//! [`Collector::has`] tells the two apart where that matters.

mod campaign;
mod channel;
mod class;
mod fieldbus;
mod guest;
mod host;
mod like;
mod monitor;
mod partition;
mod profile;
mod program;

use std::collections::BTreeMap;

use quietcore_record::class::Class;

use crate::problem::Problems;
use crate::raw::RawSite;
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{KeyPositions, Site};

/// Checks everything and builds the site, or says all that is wrong.
pub(crate) fn check(
    raw: &RawSite,
    catalogue: &[Class],
    mut collector: Collector<'_, '_>,
) -> Result<Site, Problems> {
    let top = Path::top();
    let found = &mut collector;
    let classes = class::check(raw.class.as_deref().unwrap_or_default(), catalogue, found);
    let partitions = raw.partition.as_deref().unwrap_or_default();
    let names = partition::names(partitions, found);
    let partitions = partition::check(partitions, &classes, found);
    let housekeeping = host::check(raw, found);
    let channels = channel::check(raw.channel.as_deref().unwrap_or_default(), &names, found);
    channel::among(&channels, &partitions, found);
    let fieldbuses = raw.fieldbus.as_ref();
    let fieldbuses = fieldbuses.map(|raw| fieldbus::check(raw, &names, &partitions, found));
    let driven = raw.fieldbus.iter().flat_map(|all| all.values());
    let raw_partitions = raw.partition.as_deref().unwrap_or_default();
    monitor::among(raw_partitions, &partitions, &driven, &channels, found);
    let profiles = profile::check(raw.profile.as_deref().unwrap_or_default(), found);
    let campaign = raw.campaign.as_ref();
    let campaign = campaign::check(campaign, &profiles, &partitions, fieldbuses.as_deref(), found);
    campaign::among(campaign.as_ref(), &channels, found);
    let name = raw.site.as_ref().and_then(|site| site.name.clone());
    let document = collector.document;
    let remarks = collector.finish()?;
    let places = KeyPositions { whole: document.place(&top), keys: document.places() };
    Ok(Site {
        name: name.expect("a missing name is a problem"),
        housekeeping,
        controls: host::controls(raw),
        container_runtime: raw.host.as_ref().and_then(|host| host.container_runtime),
        partitions,
        channels,
        fieldbuses: fieldbuses.unwrap_or_default(),
        classes: classes.sound,
        profiles: profiles.sound,
        campaign: campaign.expect("a wrong campaign is a problem"),
        remarks,
        places,
    })
}

/// Reports each name that an earlier element has already. `path` leads to the element.
fn unique<'n>(
    what: &str,
    names: impl IntoIterator<Item = (Path, Option<&'n str>)>,
    collector: &mut Collector<'_, '_>,
) {
    let mut seen: BTreeMap<&str, Path> = BTreeMap::new();
    for (path, name) in names {
        let Some(name) = name else { continue };
        let path = path.key("name");
        match seen.get(name) {
            Some(first) => {
                let line = collector.document.place(first).position.line;
                collector.refuse(
                    &path,
                    format!("a {what} `{name}` is there already, on line {line}"),
                    "give each a name of its own",
                );
            }
            None => drop(seen.insert(name, path)),
        }
    }
}
