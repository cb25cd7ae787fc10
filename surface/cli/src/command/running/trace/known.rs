//! Facts about recorded variables beside their values: their units, and changes made to them
//! meanwhile. A plot without these facts is drawn, too.

use std::path::Path;

use quietcore_record::trace::{Deed, MARKS_MAX, Mark, Meaning, Recording};
use quietcore_site::Site;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{AppliedChange, ChangeKind, Effect, History};
use quietcore_supervisor::places::{Places, SiteDescription};

use crate::files;

/// Facts that are noted before a recording begins.
pub(super) struct Known {
    partition: String,
    /// Number of the next change; `None` if the site does not tell.
    since: Option<u64>,
    site: Option<Site>,
}

impl Known {
    pub(super) fn begin(client: &mut Client, partition: &str) -> Self {
        // The oldest of them don't matter: only the number is asked for.
        let since = client.changes(u64::MAX).ok().map(|History { next, .. }| next);
        let running = Places::of_environment().and_then(|places| places.running());
        let mut running = running.unwrap_or_default().into_iter();
        let site = running.find(|site| site.name == client.site());
        let site = site.and_then(|site| site.description).and_then(|it| site_of(&it));
        Self { partition: partition.to_owned(), since, site }
    }

    /// Adds units and changes to a recording that has ended.
    pub(super) fn add_to(self, recording: &mut Recording, client: &mut Client) {
        let buses = self.site.iter().flat_map(Site::fieldbuses);
        for bus in buses.filter(|bus| bus.partition == self.partition) {
            for (variable, meaning) in recording.variables.iter().zip(&mut recording.meanings) {
                if let (Meaning::Plain, Some(unit)) = (&*meaning, bus.unit_of(variable)) {
                    *meaning = Meaning::In(unit);
                }
            }
        }
        let changes = self.since.and_then(|since| client.changes(since).ok());
        let changes = changes.map(|History { changes, .. }| changes).unwrap_or_default();
        let own = changes.iter().filter(|change| change.partition == self.partition);
        own.for_each(|change| add_mark(recording, change));
    }
}

/// Reads the site file of a site, unless it was changed since the site was started.
fn site_of(described: &SiteDescription) -> Option<Site> {
    let started = described.started_at.parse::<jiff::Timestamp>().ok()?;
    let path: &Path = &described.site_file;
    let changed = jiff::Timestamp::try_from(path.metadata().ok()?.modified().ok()?).ok()?;
    if changed > started {
        return None;
    }
    Some(files::read_site(path).ok()?.site)
}

/// Adds a mark for each recorded variable that a change concerns.
fn add_mark(recording: &mut Recording, applied: &AppliedChange) {
    let is_in =
        recording.cycles.is_some_and(|(first, last)| (first..=last).contains(&applied.cycle));
    if !is_in {
        return;
    }
    for variable in 0..recording.variables.len() {
        let Some((deed, value)) = deed(recording, variable, applied) else { continue };
        if recording.marks.len() < MARKS_MAX {
            recording.marks.push(Mark { variable, cycle: applied.cycle, deed, value });
        }
    }
}

/// Returns the effect of a change on a variable; `None` if it concerns another one or had no
/// effect.
fn deed(
    recording: &Recording,
    variable: usize,
    applied: &AppliedChange,
) -> Option<(Deed, Option<String>)> {
    let Effect { change, without_effect: None, .. } = &applied.effect else { return None };
    let deed = match change.kind {
        ChangeKind::Set => Deed::Set,
        ChangeKind::Force => Deed::Forced,
        ChangeKind::Unforce => Deed::Released,
    };
    (change.variable == recording.variables[variable]).then(|| (deed, change.value.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_record::trace::Moment;
    use quietcore_supervisor::control::{Change, WhyNoEffect, samples};

    #[test]
    fn changes_of_recorded_variables_are_marked() {
        let mut recording = Recording::new(vec!["x".to_owned(), "y".to_owned()]);
        for cycle in 10..20 {
            let moment = Moment { cycle, monotonic_ns: 0, seconds: 0.0, lost_before: 0 };
            recording.push(&moment, &[0.0, 0.0]);
        }
        let effect = |kind, variable: &str, without_effect| Effect {
            change: Change {
                kind,
                variable: variable.to_owned(),
                value: Some("1".to_owned()),
                allow_nan: false,
            },
            old: None,
            new: None,
            without_effect,
        };
        let held = Some(WhyNoEffect::HeldByForce);
        for (cycle, effect) in [
            (9, effect(ChangeKind::Set, "x", None)),
            (11, effect(ChangeKind::Set, "z", None)),
            (12, effect(ChangeKind::Set, "y", None)),
            (13, effect(ChangeKind::Force, "x", None)),
            (14, effect(ChangeKind::Set, "x", held)),
            (15, effect(ChangeKind::Unforce, "x", None)),
            (20, effect(ChangeKind::Set, "x", None)),
        ] {
            let (partition, by) = ("axis".to_owned(), samples::asker());
            let applied = AppliedChange { sequence: 0, partition, cycle, by, effect };
            add_mark(&mut recording, &applied);
        }
        let marks: Vec<_> =
            recording.marks.iter().map(|it| (it.variable, it.cycle, it.deed)).collect();
        assert_eq!(marks, [(1, 12, Deed::Set), (0, 13, Deed::Forced), (0, 15, Deed::Released)]);
    }
}
