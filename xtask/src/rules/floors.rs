//! Crates depend on lower floors only.
//!
//! | floor | folder | | floor | folder |
//! |:-:|---|---|:-:|---|
//! | 1 | `ground/` | | 5 | `realise/` |
//! | 2 | `logic/` | | 6 | `product/` |
//! | 3 | `machine/` | | 7 | `surface/` |
//! | 4 | `engine/` | | | |
//!
//! Within a floor all crates may use its base, which is in [`BASES`] and uses none of them; else
//! only the pairs in [`SIDEWAYS`] may depend on each other. `guest/` runs one cycle on a bare
//! machine: it may use the floors up to `engine/`, of which it can use nothing that needs an
//! operating system, for it would not link. What stands beside the floors may use all of them and
//! is linked by none; tests and build scripts may use it. For all else the rule holds for their
//! dependencies as well.

use crate::exemptions::{CRATES_OF_NO_FLOOR, SIDEWAYS, Sideways};
use crate::finding::Finding;
use crate::manifest::{Dependency, Manifest, manifests};
use crate::tree::Tree;

/// The folders of the floors, the lowest first.
pub(crate) const FLOORS: [&str; 7] =
    ["ground", "logic", "machine", "engine", "realise", "product", "surface"];

/// The floors that have a base, and the crate that it is: the words in which the other crates of
/// the floor speak.
const BASES: [(&str, &str); 3] = [("ground", "units"), ("logic", "wording"), ("machine", "clock")];

/// The highest floor that the guest may use.
const HIGHEST_OF_GUEST: &str = "engine";

const RULE: &str = "floors";

/// Finds dependencies that go upwards, sideways, or to no floor.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let (manifests, _) = manifests(tree);
    check_with(&manifests, SIDEWAYS)
}

fn check_with(manifests: &[Manifest], sideways: &[Sideways]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in manifests {
        for dependency in &manifest.dependencies {
            let Some(target) = dependency.package.strip_prefix("quietcore-") else {
                continue;
            };
            if let Some((what, remedy)) = judge(manifest, dependency, target, manifests, sideways) {
                findings.push(Finding::new(RULE, &manifest.path, dependency.line, what, remedy));
            }
        }
    }
    for pair in sideways {
        if !is_used(pair, manifests) {
            findings.push(Finding::new(
                RULE,
                "xtask/src/exemptions.rs",
                1,
                format!("`{}` no longer depends on `{}`", pair.from, pair.to),
                "take the pair off `SIDEWAYS`",
            ));
        }
    }
    findings
}

/// The floor of a folder such as `ground/units`, from 1.
fn floor_of(folder: &str) -> Option<usize> {
    let (floor, _) = folder.split_once('/')?;
    FLOORS.iter().position(|name| *name == floor).map(|index| index + 1)
}

fn judge(
    manifest: &Manifest,
    dependency: &Dependency,
    target: &str,
    manifests: &[Manifest],
    sideways: &[Sideways],
) -> Option<(String, String)> {
    let is_linked = !dependency.for_tests && !dependency.for_build;
    if !is_linked && CRATES_OF_NO_FLOOR.contains(&target) {
        return None;
    }
    let from_floor = floor_of(manifest.folder());
    let is_guest = manifest.folder().starts_with("guest");
    if from_floor.is_none() && !is_guest {
        return None;
    }
    let own = manifest.name.0.strip_prefix("quietcore-").unwrap_or(&manifest.name.0);
    let found = manifests.iter().find(|other| other.name.0 == dependency.package);
    let Some(to_floor) = found.and_then(|other| floor_of(other.folder())) else {
        let where_it_is = found.map_or("nowhere in this workspace", Manifest::folder);
        return Some((
            format!("`{own}` depends on `{target}`, which stands on no floor ({where_it_is})"),
            "crates on floors depend on crates of lower floors only".to_owned(),
        ));
    };
    let is_base_of = |floor: usize| BASES.contains(&(FLOORS[floor - 1], target));
    match from_floor {
        None if FLOORS[..to_floor - 1].iter().all(|below| *below != HIGHEST_OF_GUEST) => None,
        None if sideways.iter().any(|pair| pair.from == own && pair.to == target) => None,
        None => Some((
            format!("the guest depends on `{target}` of floor {to_floor}"),
            format!(
                "it may use the floors up to `{HIGHEST_OF_GUEST}`, and what \
                 `xtask/src/exemptions.rs` lists; move what it needs down"
            ),
        )),
        Some(floor) if to_floor < floor => None,
        Some(floor) if to_floor > floor => Some((
            format!("`{own}` on floor {floor} depends on `{target}` on floor {to_floor}"),
            "move what it needs down, or itself up".to_owned(),
        )),
        Some(floor) if is_base_of(floor) => None,
        Some(_) if sideways.iter().any(|pair| pair.from == own && pair.to == target) => None,
        Some(floor) => Some((
            format!("`{own}` depends sideways on `{target}`, both on floor {floor}"),
            "move what both need down, or list the pair with its reason in \
             `xtask/src/exemptions.rs`"
                .to_owned(),
        )),
    }
}

fn is_used(pair: &Sideways, manifests: &[Manifest]) -> bool {
    let package = |name: &str| format!("quietcore-{name}");
    manifests.iter().any(|manifest| {
        manifest.name.0 == package(pair.from)
            && manifest.dependencies.iter().any(|dependency| dependency.package == package(pair.to))
    })
}

#[cfg(test)]
mod tests;
