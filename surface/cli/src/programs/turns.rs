//! The turns of a campaign on this machine: what it can measure, with the images that guests start
//! from.

use std::path::Path;

use quietcore_evidence::NotMeasured;
use quietcore_host::Facts;
use quietcore_linux_guest::image::{Image, ImageError};
use quietcore_site::{GuestSystem, LeftOut, NeighbourForm, Profile, Refusal, Site, Turns};
use quietcore_units::Causes;

use super::{Built, build};
use crate::status::Failure;
use crate::terminal::say;

/// Decides what of a campaign is possible on this machine. Images are relative to `site_folder`.
///
/// # Errors
/// Everything that stands against it, a line each, where nothing is possible.
pub(crate) fn on(site: &Site, facts: &Facts, site_folder: &Path) -> Result<Turns, Failure> {
    let mut turns = quietcore_site::turns(site, &facts.machine()).map_err(|it| refused(&it))?;
    if site.campaign().alone {
        without_images(&mut turns, site_folder);
        if turns.possible.is_empty() {
            return Err(refused(&turns.refusals()));
        }
    }
    Ok(turns)
}

/// Returns a failure with a line for each refusal.
pub(crate) fn refused(refusals: &[Refusal]) -> Failure {
    let lines: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    Failure::new(lines.join("\n"))
}

/// Leaves out the guests whose images are not there, and profiles whose neighbours are such guests.
fn without_images(turns: &mut Turns, site_folder: &Path) {
    let of_neighbours: fn(&Profile) -> bool = |profile| profile.neighbours.is_some();
    let of_all: fn(&Profile) -> bool = |_| true;
    let mut missing = Vec::new();
    for turn in &turns.possible {
        let partition = &turn.partitions()[0];
        let key = format!("partition.{}.guest.image", partition.name);
        if let GuestSystem::Linux { image } = &partition.system
            && let Some(refusal) = unusable(turn, &key, &site_folder.join(image))
        {
            missing.push((partition.name.clone(), of_all, refusal));
        } else if turn.neighbour_form() == NeighbourForm::LinuxGuest
            && turn.campaign().profiles.iter().any(of_neighbours)
            && let Some(image) = turn.neighbour_image()
            && let Some(refusal) =
                unusable(turn, "campaign.neighbour_image", &site_folder.join(image))
        {
            missing.push((partition.name.clone(), of_neighbours, refusal));
        }
    }
    for (partition, concerns, refusal) in missing {
        turns.leave_out(&partition, concerns, refusal);
    }
}

/// Returns why an image can't be used; `None` where it can be.
fn unusable(site: &Site, key: &str, folder: &Path) -> Option<Refusal> {
    let error = Image::open(folder).err()?;
    let place = site.place(key);
    let shown = folder.display();
    Some(match error {
        ImageError::File { .. } => Refusal {
            place,
            reason: format!("there is no image of a guest in `{shown}`"),
            remedy: format!(
                "`quietcore guest build --out {shown}` makes one, with `--kernel stock` one \
                 without PREEMPT_RT"
            ),
        },
        other => Refusal {
            place,
            reason: Causes(&other).to_string(),
            remedy: format!("`quietcore guest build --out {shown}` makes it again"),
        },
    })
}

/// A part of a campaign with its programs.
pub(crate) struct Ready {
    pub(crate) site: Site,
    pub(crate) built: Built,
}

/// Builds the programs of each turn. Where partitions are measured alone, one whose program can't
/// be built is left out like one that this machine has not.
///
/// # Errors
/// Fails when no turn is left.
pub(crate) fn build_all(
    turns: Turns,
    whole: &Site,
    site_folder: &Path,
) -> Result<(Vec<Ready>, Vec<NotMeasured>), Failure> {
    let Turns { possible, left_out } = turns;
    let mut ready = Vec::new();
    let mut missing: Vec<NotMeasured> =
        left_out.iter().flat_map(|one| not_measured(one, whole)).collect();
    let mut failures = Vec::new();
    for site in possible {
        match build(&site, site_folder) {
            Ok(built) => ready.push(Ready { site, built }),
            Err(failure) if !whole.campaign().alone => return Err(failure),
            Err(failure) => {
                let because = failure.to_string();
                let name = &site.partitions()[0].name;
                say(format_args!("left out: partition `{name}`: {because}"));
                let profiles = site.campaign().profiles.iter();
                missing.extend(profiles.map(|it| entry(name, &it.name, &because, whole)));
                failures.push(because);
            }
        }
    }
    if ready.is_empty() { Err(Failure::new(failures.join("\n"))) } else { Ok((ready, missing)) }
}

fn not_measured<'a>(
    left_out: &'a LeftOut,
    whole: &'a Site,
) -> impl Iterator<Item = NotMeasured> + 'a {
    let because = left_out.because();
    left_out.profiles.iter().map(move |it| entry(&left_out.partition, it, &because, whole))
}

fn entry(partition: &str, profile: &str, because: &str, whole: &Site) -> NotMeasured {
    let known = whole.profiles().iter().find(|it| it.name == profile);
    NotMeasured {
        partition: partition.to_owned(),
        profile: profile.to_owned(),
        reserved: known.is_some_and(|profile| whole.keeps_reservation(profile)),
        because: because.to_owned(),
    }
}

/// Says what is left out of a campaign, a line for each partition.
pub(crate) fn say_left_out(left_out: &[LeftOut]) {
    for LeftOut { partition, profiles, refusals } in left_out {
        let profiles = profiles.join(", ");
        let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        say(format_args!("left out: partition `{partition}` ({profiles}): {}", reasons.join("; ")));
    }
}
