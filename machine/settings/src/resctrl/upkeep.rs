//! The default group, which has what nobody reserved, and what those have left who are gone.

use super::bandwidth::ALL_PERCENT;
use super::masks::{Masks, Rules, is_possible};
use super::name::Name;
use super::tree::ResctrlTree;
use super::{ResctrlError, limits_of, masks_of, write_limits, write_masks};

/// Gives the default group these masks, and all groups of ours that have no ways of their own; none
/// of these is left out because another one can't be changed.
pub(super) fn give_default(tree: &impl ResctrlTree, masks: &Masks) -> Result<(), ResctrlError> {
    write_masks(tree, "", masks)?;
    let groups = tree.groups().map_err(ResctrlError::NoResctrl)?;
    let share = |group: &&String| Name::parse(group).is_some_and(|name| name.owed.is_none());
    let written = groups.iter().filter(share).map(|group| write_masks(tree, group, masks));
    written.fold(Ok(()), Result::and)
}

/// Returns `true` if nobody uses a group of ours any more: its process is gone, or has given it up.
pub(super) fn is_left(tree: &impl ResctrlTree, group: &str, name: &Name) -> bool {
    !tree.lives(name.owner.0, name.owner.1) || is_given_up(tree, group, name)
}

/// Gives the ways of a group back to the default one and removes it. Where the default group can't
/// have them yet, they are kept for it. Returns whether they are no longer anybody's.
pub(super) fn give_back(tree: &impl ResctrlTree, rules: Rules, group: &str, name: &Name) -> bool {
    let Some(owed) = name.owed else { return tree.remove(group).is_ok() };
    let Ok(default) = masks_of(tree, "") else { return false };
    // Somebody else may have taken them up, without its being removed.
    let owed = owed & !in_use(tree, group);
    let back = default.map(|mask| mask | owed);
    if back.all().all(|mask| is_possible(mask, rules)) {
        // Those that share them may lack what the default group has already.
        return give_default(tree, &back).is_ok() && tree.remove(group).is_ok();
    }
    if !is_left(tree, group, name) {
        // Where this is refused, it is left when its process ends.
        let _ = give_up(tree, group, &default);
    }
    false
}

/// Says that nobody uses a group any more, which still says what the default group is owed: it has
/// that group's ways and none of its own, and no limit. The ways are last, for they are the sign.
fn give_up(tree: &impl ResctrlTree, group: &str, default: &Masks) -> Result<(), ResctrlError> {
    let limits = limits_of(tree, group)?;
    write_limits(tree, group, &limits.all_at(ALL_PERCENT))?;
    write_masks(tree, group, default)
}

/// The ways that groups of ours have in use, but for this one.
fn in_use(tree: &impl ResctrlTree, but: &str) -> u64 {
    let groups = tree.groups().unwrap_or_default().into_iter().filter(|group| group != but);
    let ways = groups.filter_map(|group| {
        let name = Name::parse(&group).filter(|name| !is_left(tree, &group, name))?;
        name.owed
    });
    ways.fold(0, |all, ways| all | ways)
}

fn is_given_up(tree: &impl ResctrlTree, group: &str, name: &Name) -> bool {
    let owed = name.owed.unwrap_or(0);
    let has_none = |masks: Masks| masks.all().all(|mask| mask & owed == 0);
    owed != 0 && masks_of(tree, group).is_ok_and(has_none)
}

/// Looks after groups whose owner is gone, until none can be given back any more. Returns how many
/// were.
pub(super) fn sweep(tree: &impl ResctrlTree, rules: Rules) -> usize {
    let mut given_back = 0;
    loop {
        let before = given_back;
        for group in tree.groups().unwrap_or_default() {
            let Some(name) = Name::parse(&group) else { continue };
            if is_left(tree, &group, &name) && give_back(tree, rules, &group, &name) {
                given_back += 1;
            }
        }
        // What one has given back may be what stood between another and the default group.
        if given_back == before {
            return given_back;
        }
    }
}
