//! The manifest against the site file: what is judged, and by what.

use quietcore_record::class::Class;
use quietcore_site::Site;

use super::Contradiction;
use crate::files::sum_of_bytes;
use crate::manifest::{Manifest, Origin};

/// The profiles of a probe run by hand.
const OF_PROBES: [&str; 2] = ["pinned", "unpinned"];

/// The part of a number by which two readings of its text may differ.
const ROUNDING: f64 = 1e-12;

pub(super) fn compare(
    manifest: &Manifest,
    site: &Site,
    site_sha256: &str,
    wrong: &mut Vec<Contradiction>,
) {
    let mut differ = |key: &str, says: &dyn ToString, follows: &dyn ToString| {
        let (says, follows) = (says.to_string(), follows.to_string());
        if says != follows {
            wrong.push(Contradiction::Manifest { key: key.to_owned(), says, follows });
        }
    };
    differ("site_sha256", &manifest.site_sha256, &site_sha256);
    differ("name", &manifest.name, &site.name());
    // Two parsers of decimal fractions may differ in the last bit.
    let (says, follows) = (manifest.exceedance, site.campaign().exceedance);
    if (says - follows).abs().total_cmp(&(follows * ROUNDING)).is_gt() {
        differ("exceedance", &format!("{says:e}"), &format!("{follows:e}"));
    }
    for partition in site.measured() {
        let declared = manifest.declared.get(&partition.name);
        let key = format!("declared.{}", partition.name);
        differ(&key, &declared.map_or("missing", String::as_str), &partition.class.name);
    }
    for name in manifest.declared.keys() {
        if !site.partitions().iter().any(|partition| partition.name == *name) {
            differ(&format!("declared.{name}"), &"there", &"no such partition");
        }
    }
    for (profile, _) in &manifest.profiles {
        if !site.profiles().iter().any(|known| known.name == *profile) {
            differ("profiles", profile, &"no such profile");
        }
    }
    for missing in &manifest.not_measured {
        let key = format!("not_measured.{}.{}", missing.partition, missing.profile);
        let profile = site.profiles().iter().find(|profile| profile.name == missing.profile);
        let is_partition = |it: &quietcore_site::Partition| it.name == missing.partition;
        match profile.filter(|_| site.partitions().iter().any(is_partition)) {
            Some(profile) => {
                let keeps = site.keeps_reservation(profile);
                differ(&key, &reserved(missing.reserved), &reserved(keeps));
            }
            None => differ(&key, &"there", &"no such partition or profile"),
        }
    }
    classes(manifest, site.classes(), false, wrong);
}

/// Compares the manifest of a probe or of imported data, which no site file plans. Whoever passes a
/// campaign off as one of these gets rid of its plan, and of the records that fail.
pub(super) fn of_no_campaign(
    manifest: &Manifest,
    site: Option<&str>,
    wrong: &mut Vec<Contradiction>,
) {
    let mut differ = |key: &str, says: &str, follows: &str| {
        let (key, says, follows) = (key.to_owned(), says.to_owned(), follows.to_owned());
        wrong.push(Contradiction::Manifest { key, says, follows });
    };
    let by_hand = |(profile, _): &(String, String)| OF_PROBES.contains(&profile.as_str());
    let is_probe = manifest.origin == Origin::Probe;
    // An experiment keeps its site file and declares nothing; a program that was probed declares
    // its class and keeps none.
    let may_declare = is_probe && site.is_none() && manifest.profiles.iter().all(by_hand);
    if !manifest.declared.is_empty() && !may_declare {
        let says = if is_probe { "probe" } else { "import" };
        differ("origin", says, "campaign, since it declares classes");
    }
    let Some(text) = site else { return };
    let sum = sum_of_bytes(text.as_bytes());
    if !is_probe {
        wrong.push(Contradiction::SiteOfImport);
    } else if manifest.site_sha256 != sum {
        differ("site_sha256", &manifest.site_sha256, &sum);
    }
}

fn reserved(is: bool) -> &'static str {
    if is { "with the reservation" } else { "without the reservation" }
}

/// Compares the figures of classes with those that are known: a limit that was widened is no limit.
/// The words of a class may change from one version to the next. With `others`, classes beside the
/// known ones are accepted.
pub(super) fn classes(
    manifest: &Manifest,
    known: &[Class],
    others: bool,
    wrong: &mut Vec<Contradiction>,
) {
    for (index, class) in manifest.classes.iter().enumerate() {
        let is_it = |other: &&Class| other.name == class.name;
        let follows = match known.iter().find(is_it) {
            Some(known) => figures(known),
            None if others => continue,
            None => "no such class".to_owned(),
        };
        let is_again = manifest.classes[..index].iter().any(|other| other.name == class.name);
        let says = if is_again { "there twice".to_owned() } else { figures(class) };
        if says != follows {
            let key = format!("classes.{}", class.name);
            wrong.push(Contradiction::Manifest { key, says, follows });
        }
    }
}

fn figures(class: &Class) -> String {
    let time = |ns: Option<u64>| ns.map_or("none".to_owned(), |ns| format!("{ns} ns"));
    format!(
        "cycle {}, latency {}, jitter {} ({}), {}",
        time(class.cycle_ns),
        time(class.latency_limit_ns()),
        time(class.jitter_ns),
        class.jitter_definition.description(),
        class.strictness
    )
}
