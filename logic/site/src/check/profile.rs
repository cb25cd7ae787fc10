//! `[[profile]]`: profiles of the user's own, with `like`.

use quietcore_record::isolation::{GROUP, Row};

use crate::check::like::{Chain, Likes};
use crate::check::{host, unique};
use crate::raw::{RawLoad, RawNeighbours, RawProfile};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{
    Load, LoadPlace, NEIGHBOUR_WORKERS_MAX, Neighbours, Profile, WORKERS_MAX, built_in,
    papers_load, unknown_profile,
};

/// Neighbours where a profile does not say how many.
const NEIGHBOURS_DEFAULT: u32 = 2;

/// The profiles that a campaign may name.
pub(super) struct Profiles {
    /// The built-in ones and those of the site that are right.
    pub(super) sound: Vec<Profile>,
    /// Names of the site's profiles that are wrong: reported once, not at each use.
    broken: Vec<String>,
}

impl Profiles {
    /// The profile that a campaign names; reports a name that doesn't exist.
    pub(super) fn find(
        &self,
        name: &str,
        path: &Path,
        collector: &mut Collector<'_, '_>,
    ) -> Option<&Profile> {
        let found = self.sound.iter().find(|profile| profile.name == name);
        if found.is_none() && !self.broken.iter().any(|broken| broken == name) {
            let known = self.sound.iter().map(|profile| profile.name.as_str()).chain([GROUP]);
            let problem = format!("there is no profile `{name}`");
            collector.refuse(path, problem, unknown_profile(name, known));
        }
        found
    }
}

/// Checks the site's profiles and puts them behind the built-in ones.
pub(super) fn check(raws: &[RawProfile], collector: &mut Collector<'_, '_>) -> Profiles {
    let path = |index| Path::top().key("profile").index(index);
    let named = raws.iter().enumerate().map(|(index, one)| (path(index), one.name.as_deref()));
    unique("profile", named, collector);
    let built_in = built_in();
    let likes = Likes {
        elements: raws.iter().map(|one| (one.name.as_deref(), one.like.as_deref())).collect(),
        known: built_in.iter().map(|profile| profile.name.as_str()).collect(),
    };
    // What every profile asks for is checked where it is written, whoever is like it.
    let own: Vec<_> = raws
        .iter()
        .enumerate()
        .map(|(index, raw)| OwnConditions::check(raw, &path(index), collector))
        .collect();
    let mut profiles = Profiles { sound: built_in.clone(), broken: Vec::new() };
    for (index, raw) in raws.iter().enumerate() {
        let path = path(index);
        likes
            .report(index, "profile", &path, collector, |like, names| unknown_profile(like, names));
        let Some(name) = &raw.name else { continue };
        taken(name, &likes, &path, collector);
        match build(index, raws, &own, &built_in, &likes) {
            Some(profile) => {
                without_cpus(raw, &profile, &path, collector);
                profiles.sound.push(profile);
            }
            None => profiles.broken.push(name.clone()),
        }
    }
    profiles
}

/// Conditions that a profile writes itself; `None` where it leaves them to the one that it is like.
struct OwnConditions {
    loads: Option<Vec<Load>>,
    /// Within it `None` where the profile says that it has no neighbours.
    neighbours: Option<Option<Neighbours>>,
}

impl OwnConditions {
    fn check(raw: &RawProfile, path: &Path, collector: &mut Collector<'_, '_>) -> Self {
        let load = raw.load.as_deref();
        let loads = load.and_then(|load| loads(load, &path.key("load"), collector));
        let beside = raw.neighbours.as_ref();
        let neighbours = beside.map(|it| neighbours(it, &path.key("neighbours"), collector));
        Self { loads, neighbours }
    }
}

/// Reports a name that built-in profiles have.
fn taken(name: &str, likes: &Likes<'_>, path: &Path, collector: &mut Collector<'_, '_>) {
    let is_row = Row::of_profile(name).is_some();
    let whose = if is_row || name == GROUP {
        "of the isolation matrix of hofer2019"
    } else if likes.known.contains(&name) {
        "of a test profile of queiroz2023"
    } else {
        return;
    };
    collector.refuse(
        &path.key("name"),
        format!("`{name}` is the name {whose}"),
        "choose another name; with `like` it begins as one of them",
    );
}

/// Reports controls that have no CPU to keep quiet.
fn without_cpus(
    raw: &RawProfile,
    profile: &Profile,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) {
    if !profile.pinned && raw.controls.as_ref().is_some_and(|named| !named.is_empty()) {
        collector.refuse(
            &path.key("controls"),
            "the profile pins no partition, so no CPU is kept quiet for one",
            "pin them, or write `controls = []`",
        );
    }
}

/// Takes each condition from the nearest profile in the chain that gives it.
fn build(
    index: usize,
    raw: &[RawProfile],
    own_conditions: &[OwnConditions],
    built_in: &[Profile],
    likes: &Likes<'_>,
) -> Option<Profile> {
    let Chain::Complete { elements, base } = likes.chain(index) else {
        return None;
    };
    let base = base.and_then(|base| built_in.iter().find(|profile| profile.name == base));
    let own = &raw[index];
    let pinned = elements.iter().find_map(|element| raw[*element].pinned);
    let controls = elements.iter().find_map(|element| raw[*element].controls.as_deref());
    let controls = controls.map(host::each_once);
    let inherited = base.map(|base| base.loads.clone());
    let loads = elements.iter().find_map(|element| own_conditions[*element].loads.clone());
    let described = match &own.like {
        Some(like) => format!("like {like}"),
        None => "own profile".to_owned(),
    };
    let neighbours =
        elements.iter().find_map(|element| own_conditions[*element].neighbours.clone());
    let neighbours = neighbours.unwrap_or_else(|| base?.neighbours.clone());
    let profile = Profile::new(
        own.name.clone()?,
        own.description.clone().unwrap_or(described),
        pinned.or(base.map(|base| base.pinned)).unwrap_or(true),
        controls.or_else(|| base?.controls.clone()),
        loads.or(inherited).unwrap_or_default(),
    );
    Some(profile.beside(neighbours))
}

/// Checks the neighbours of a profile; `None` where it says that it has none.
fn neighbours(
    raw: &RawNeighbours,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Neighbours> {
    let path = path.key("load");
    let written = raw.load.as_deref().unwrap_or_default();
    for index in 0..written.len() {
        let place = path.index(index).key("place");
        if collector.has(&place) {
            let what = "a load in a neighbour runs on the neighbour's CPUs";
            collector.refuse_key(&place, what, "take it out; `own_cpus` says which these are");
        }
    }
    let loads = match &raw.load {
        Some(written) => loads(written, &path, collector)?,
        None => papers_load(LoadPlace::Anywhere),
    };
    let workers: u32 = loads.iter().map(|load| load.workers).sum();
    if workers > NEIGHBOUR_WORKERS_MAX {
        let what = format!("a neighbour has {workers} workers");
        collector.refuse(&path, what, format!("{NEIGHBOUR_WORKERS_MAX} are allowed at most"));
    }
    let count = raw.count.unwrap_or(NEIGHBOURS_DEFAULT);
    (count > 0).then(|| Neighbours::new(count, raw.own_cpus.unwrap_or_default(), loads))
}

fn loads(raw: &[RawLoad], path: &Path, collector: &mut Collector<'_, '_>) -> Option<Vec<Load>> {
    let mut loads = Vec::new();
    for (index, raw) in raw.iter().enumerate() {
        let size = path.index(index).key("size");
        let Some(kind) = raw.kind else { continue };
        if !kind.takes_size() && collector.has(&size) {
            collector.refuse_key(
                &size,
                format!("load `{kind}` has no size"),
                "take it out; malloc, cache, memory-bandwidth and disk have one",
            );
        }
        let place = raw.place.unwrap_or_default();
        loads.push(Load::new(kind, raw.workers.unwrap_or(1), raw.size, place));
    }
    let workers: u32 = loads.iter().map(|load| load.workers).sum();
    if workers > WORKERS_MAX {
        collector.refuse(
            path,
            format!("its loads have {workers} workers in all"),
            format!("{WORKERS_MAX} are allowed at most"),
        );
    }
    Some(loads)
}
