//! `[campaign]`: the profiles exist, and the length is one length and bearable.

use quietcore_record::statistics::cycles_needed;
use quietcore_units::Nanos;

use crate::check::profile::Profiles;
use crate::raw::RawCampaign;
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{
    CAMPAIGN_MAX, Campaign, Channel, ChannelEnd, Fieldbus, Length, Partition, Profile,
    measured_in_all, names_of,
};

const PROFILES_DEFAULT: [&str; 4] = ["tp1", "tp2", "tp3", "tp4"];
const WARM_UP_DEFAULT: Nanos = Nanos::from_secs(1);
const EXCEEDANCE_DEFAULT: f64 = 1e-6;

/// Checks the campaign. `None` where it is wrong and reported. `fieldbuses` is `None` where the
/// site has none, and those that are right otherwise.
pub(super) fn check(
    raw: Option<&RawCampaign>,
    profiles: &Profiles,
    partitions: &[Partition],
    fieldbuses: Option<&[Fieldbus]>,
    collector: &mut Collector<'_, '_>,
) -> Option<Campaign> {
    let nothing = RawCampaign::default();
    let raw = raw.unwrap_or(&nothing);
    let path = Path::top().key("campaign");
    let chosen = chosen(raw, profiles, &path.key("profiles"), collector);
    let (duration, cycles) = (path.key("duration"), path.key("cycles"));
    if collector.has(&duration) && collector.has(&cycles) {
        collector.refuse(
            &cycles,
            "the length is given twice, as `duration` and as `cycles`",
            "keep one of the two",
        );
    }
    let probes = raw.probes.clone().unwrap_or_default();
    for (index, probe) in probes.iter().enumerate() {
        if probes[..index].contains(probe) {
            let place = path.key("probes").index(index);
            collector.refuse(&place, format!("probe `{probe}` is named twice"), "name it once");
        } else if fieldbuses.is_none() && !partitions.iter().any(|it| probe.measures(it, &[])) {
            let place = path.key("probes").index(index);
            collector.refuse(
                &place,
                format!("probe `{probe}` measures the fieldbus of a partition, and none has one"),
                "take it out, or describe a fieldbus",
            );
        }
    }
    let exceedance = raw.exceedance.unwrap_or(EXCEEDANCE_DEFAULT);
    let length = match (raw.duration, raw.cycles) {
        (Some(duration), _) => Length::Duration(duration),
        (None, Some(cycles)) => Length::Cycles(cycles),
        (None, None) => Length::Cycles(cycles_needed(exceedance)),
    };
    let campaign = Campaign {
        profiles: chosen?,
        alone: raw.alone.unwrap_or_default(),
        probes,
        length,
        warm_up: raw.warm_up.unwrap_or(WARM_UP_DEFAULT),
        exceedance,
        explain: raw.explain,
        neighbour_image: raw.neighbour_image.clone(),
    };
    let total = measured_in_all(&campaign, partitions, fieldbuses.unwrap_or_default());
    if total > CAMPAIGN_MAX {
        let written = if collector.has(&cycles) { cycles } else { duration };
        collector.refuse(
            &written,
            format!("the campaign would take {total}"),
            format!(
                "{CAMPAIGN_MAX} are allowed at most; measure less, or fewer profiles or probes"
            ),
        );
    }
    Some(campaign)
}

/// Reports a channel between partitions that are measured alone: its other end would not be there.
pub(super) fn among(
    campaign: Option<&Campaign>,
    channels: &[Channel],
    collector: &mut Collector<'_, '_>,
) {
    let is_partition = |end: &ChannelEnd| matches!(end, ChannelEnd::Partition(_));
    let mut joined = channels.iter().filter(|it| is_partition(&it.from) && is_partition(&it.to));
    let Some(channel) = joined.next().filter(|_| campaign.is_some_and(|it| it.alone)) else {
        return;
    };
    collector.refuse(
        &Path::top().key("campaign").key("alone"),
        format!(
            "channel `{}` joins partitions `{}` and `{}`, and of these only one would be there",
            channel.name, channel.from, channel.to
        ),
        "take it out, and all partitions are measured at the same time",
    );
}

/// The profiles to run, in the order written.
fn chosen(
    raw: &RawCampaign,
    profiles: &Profiles,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Vec<Profile>> {
    if raw.profiles.is_none() && collector.has(path) {
        return None;
    }
    let default = PROFILES_DEFAULT.map(str::to_owned);
    let names = raw.profiles.as_deref().unwrap_or(&default);
    let mut chosen: Vec<Profile> = Vec::new();
    let mut whole = true;
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            collector.refuse(
                &path.index(index),
                format!("profile `{name}` is named twice"),
                "name it once",
            );
        }
        for name in names_of(name) {
            match profiles.find(&name, &path.index(index), collector) {
                Some(profile) if chosen.contains(profile) => {}
                Some(profile) => chosen.push(profile.clone()),
                None => whole = false,
            }
        }
    }
    whole.then_some(chosen)
}
