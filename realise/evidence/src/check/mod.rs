//! Compares everything in a folder that can be computed twice.
//!
//! | from | follows |
//! |------|---------|
//! | site file | its sum, name, classes, exceedance; which records there must be |
//! | site file and profile | of each record: CPU, period, cycles, deadline, loads, reservation |
//! | histogram | counters, worst cycles, time line, duration |
//! | records of one run | the same start, machine and loads |
//! | manifest of a renewal | sums and start of each record that was taken over |
//! | records, classes | verdicts, and all pages |
//!
//! A sum shows that a file was changed by accident. Whoever changes it on purpose makes the sums
//! anew, and then only what is compared here gives the change away; a signature does in any case.

mod contradiction;
mod manifest;
mod planned;
mod probes;
mod record;
mod renewal;
mod runs;

use quietcore_record::class::catalogue;
use quietcore_record::record::Record;
use quietcore_record::record::check::self_check;
use quietcore_site::{Length, Site};
use serde_json::Value;

use crate::files::sum_of_bytes;
use crate::folder::{self, record_file};
use crate::manifest::{Manifest, NotMeasured, Origin};
use crate::read::Part;

pub use contradiction::Contradiction;
pub(crate) use planned::assumed;
pub(crate) use probes::probe_of;
pub(crate) use runs::kernel_of;

/// A record and the file that it was read from.
pub(crate) struct Filed {
    pub(crate) file: String,
    pub(crate) record: Record,
}

/// The outcome of comparing the parts of a folder.
#[derive(Default)]
pub(crate) struct Compared {
    /// Parts that exclude each other.
    pub(crate) contradictions: Vec<Contradiction>,
    /// Planned partitions and profiles without a record, of which the manifest says nothing.
    pub(crate) unaccounted: Vec<NotMeasured>,
}

/// Compares the parts of a folder: its records, the site file, and the doctor's document. `sum_of`
/// returns the SHA-256 of one of its files.
pub(crate) fn compare(
    manifest: &Manifest,
    filed: &[Filed],
    site: &Part<String>,
    doctor: &Part<Value>,
    sum_of: &dyn Fn(&str) -> Option<String>,
) -> Compared {
    let records: Vec<&Record> = filed.iter().map(|filed| &filed.record).collect();
    let mut found = Compared::default();
    let wrong = &mut found.contradictions;
    for filed in filed {
        of_file(filed, wrong);
    }
    let planned = match (manifest.origin, site) {
        (Origin::Campaign, Part::Read(text)) => {
            Some(quietcore_site::read(folder::SITE, text.as_bytes(), &catalogue()))
        }
        _ => None,
    };
    let is_alone = matches!(&planned, Some(Ok(site)) if site.campaign().alone);
    runs::compare(manifest, &records, is_alone, wrong);
    renewal::compare(manifest, filed, sum_of, wrong);
    match doctor {
        Part::Read(doctor) => runs::compare_machine(doctor, &records, wrong),
        Part::Missing if manifest.origin == Origin::Campaign => wrong.push(Contradiction::NoFacts),
        Part::Missing | Part::Unreadable => {}
    }
    match (manifest.origin, site) {
        (Origin::Campaign, Part::Read(text)) => match planned.expect("it was read above") {
            Ok(site) => {
                let site = chosen(site, manifest, wrong);
                manifest::compare(manifest, &site, &sum_of_bytes(text.as_bytes()), wrong);
                probes::compare(manifest, &site, wrong);
                for record in &records {
                    record::compare(record, manifest, &site, wrong);
                }
                found.unaccounted = planned::unaccounted(manifest, &records, &site);
                found.unaccounted.extend(probes::unaccounted(manifest, &records));
            }
            Err(problems) => {
                let problems = problems.to_string();
                let problem = problems.lines().next().unwrap_or_default().to_owned();
                wrong.push(Contradiction::SiteUnreadable { problem });
            }
        },
        (Origin::Campaign, Part::Missing) => wrong.push(Contradiction::NoSite),
        // That is damage.
        (Origin::Campaign, Part::Unreadable) => {}
        (Origin::Probe | Origin::Import, site) => {
            let site = if let Part::Read(text) = site { Some(text.as_str()) } else { None };
            manifest::of_no_campaign(manifest, site, wrong);
            // The classes of a site's own are not known here.
            let is_of_site = !manifest.site_sha256.is_empty();
            manifest::classes(manifest, &catalogue(), is_of_site, wrong);
        }
    }
    found
}

/// Compares a record with itself and with the name of its file.
fn of_file(filed: &Filed, wrong: &mut Vec<Contradiction>) {
    let Filed { file, record } = filed;
    let name = || record.name.clone();
    if record_file(&record.name) != *file {
        wrong.push(Contradiction::OtherFile { record: name(), file: file.clone() });
    }
    // What was found when it was made is in it already; an earlier version kept its sentence.
    let known: Vec<String> = record.invalid_because.iter().map(ToString::to_string).collect();
    let new = self_check(record, None);
    let new = new.into_iter().filter(|problem| !known.contains(&problem.to_string()));
    wrong.extend(new.map(|problem| Contradiction::Numbers { record: name(), problem }));
}

/// The site with the length that the command line chose.
fn chosen(mut site: Site, manifest: &Manifest, wrong: &mut Vec<Contradiction>) -> Site {
    let Some(length) = manifest.length else { return site };
    let length = match length {
        crate::Length::Duration(duration) => Length::Duration(duration),
        crate::Length::Cycles(cycles) => Length::Cycles(cycles),
    };
    if let Err(error) = site.set_length(length) {
        wrong.push(Contradiction::Manifest {
            key: "length".to_owned(),
            says: length.to_string(),
            follows: format!("that it is refused: {error}"),
        });
    }
    site
}
