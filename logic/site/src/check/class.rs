//! `[[class]]`: application classes of the user's own, with `like`.

mod strictness;

use quietcore_record::class::{Class, JitterDefinition};
use quietcore_units::Nanos;

use crate::check::like::{Chain, Likes};
use crate::check::unique;
use crate::raw::RawClass;
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::words::{exact, instead, list, nearest};

/// The classes that a partition may name.
pub(super) struct Classes {
    /// The published ones and those of the site that are right.
    pub(super) sound: Vec<Class>,
    /// Names of the site's classes that are wrong: reported once, not at each use.
    broken: Vec<String>,
}

impl Classes {
    /// The class that a partition names; reports a name that doesn't exist.
    pub(super) fn find(
        &self,
        name: &str,
        path: &Path,
        collector: &mut Collector<'_, '_>,
    ) -> Option<&Class> {
        let found = self.sound.iter().find(|class| class.name == name);
        if found.is_none() && !self.broken.iter().any(|broken| broken == name) {
            let known = self.sound.iter().map(|class| class.name.as_str());
            let remedy = match nearest(name, known.clone()) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("write one of {}, or add a `[[class]]` of that name", list(known)),
            };
            collector.refuse(path, format!("there is no class `{name}`"), remedy);
        }
        found
    }
}

/// Checks the site's classes and puts them behind the published ones.
pub(super) fn check(
    raw: &[RawClass],
    catalogue: &[Class],
    collector: &mut Collector<'_, '_>,
) -> Classes {
    let path = |index| Path::top().key("class").index(index);
    let named = raw.iter().enumerate().map(|(index, class)| (path(index), class.name.as_deref()));
    unique("class", named, collector);
    let likes = Likes {
        elements: raw.iter().map(|class| (class.name.as_deref(), class.like.as_deref())).collect(),
        known: catalogue.iter().map(|class| class.name.as_str()).collect(),
    };
    let mut classes = Classes { sound: catalogue.to_vec(), broken: Vec::new() };
    for (index, class) in raw.iter().enumerate() {
        let path = path(index);
        likes.report(index, "class", &path, collector, |like, names| instead(like, names));
        let Some(name) = class.name.clone() else {
            continue;
        };
        if likes.known.contains(&name.as_str()) {
            collector.refuse(
                &path.key("name"),
                format!("`{name}` is a published class, whose figures can't be changed"),
                format!("choose another name and write `like = \"{name}\"`"),
            );
        }
        match build(index, raw, catalogue, &likes, &path, collector) {
            Some(class) => classes.sound.push(class),
            None => classes.broken.push(name),
        }
    }
    classes
}

/// Refuses a latency beyond the cycle, by which whole cycles could be lost without a miss, where
/// the class itself gives one of the two.
fn check_latency(
    own: &RawClass,
    cycle_ns: u64,
    latency_ns: u64,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) {
    let key = match (own.latency, own.cycle) {
        (Some(_), _) => "latency",
        (None, Some(_)) => "cycle",
        (None, None) => return,
    };
    if latency_ns > cycle_ns {
        let (latency, cycle) = (exact(Nanos::new(latency_ns)), exact(Nanos::new(cycle_ns)));
        collector.refuse(
            &path.key(key),
            format!("the latency of {latency} is beyond the cycle of {cycle}"),
            "a release that late has lost its cycle; use the cycle at most",
        );
    }
}

/// Takes each figure from the nearest class in the chain that gives it.
fn build(
    index: usize,
    raw: &[RawClass],
    catalogue: &[Class],
    likes: &Likes<'_>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Class> {
    let Chain::Complete { elements, base } = likes.chain(index) else {
        return None;
    };
    let base = base.and_then(|base| catalogue.iter().find(|class| class.name == base));
    let chain: Vec<_> = elements.iter().map(|element| &raw[*element]).collect();
    let own = chain[0];
    let name = own.name.clone()?;
    let first = |figure: fn(&RawClass) -> Option<Nanos>| chain.iter().copied().find_map(figure);
    let cycle = first(|class| class.cycle).map(Nanos::get);
    let cycle_ns = cycle.or(base.and_then(|base| base.cycle_ns));
    let jitter = first(|class| class.jitter).map(Nanos::get);
    let jitter_ns = jitter.or(base.and_then(|base| base.jitter_ns));
    let latency = first(|class| class.latency).map(Nanos::get);
    // A tenth of a cycle of its own comes before the latency of the class that it is like.
    let of_base = base.and_then(|base| base.latency_ns).filter(|_| cycle.is_none());
    let latency_ns = latency.or(of_base);
    let figures = [("cycle", cycle_ns), ("latency", latency_ns), ("jitter", jitter_ns)];
    let is_wrong = figures.iter().any(|(key, _)| collector.has(&path.key(key)));
    if figures.iter().all(|(_, figure)| figure.is_none()) && !is_wrong {
        collector.refuse(
            path,
            "the class has no cycle, latency or jitter, so nothing could be judged",
            "write for example `cycle = \"2 ms\"`",
        );
    }
    if let (Some(cycle_ns), Some(latency_ns)) = (cycle_ns, latency_ns) {
        check_latency(own, cycle_ns, latency_ns, path, collector);
    }
    let strictness = strictness::check(&chain, base, path, collector);
    let ancestor = chain[1..].iter().find_map(|class| class.source.as_deref());
    let ancestor = ancestor.or(base.map(|base| base.source.as_str()));
    let source = match (&own.source, &own.like, ancestor) {
        (Some(source), _, _) => source.clone(),
        // The source does not vouch for figures that were changed here.
        (None, Some(like), Some(source)) => format!("site file, like `{like}` ({source})"),
        (None, Some(like), None) => format!("site file, like `{like}`"),
        (None, None, _) => {
            if !collector.has(&path.key("source")) && !collector.has(&path.key("like")) {
                collector.refuse(
                    &path.key("source"),
                    "a class without `like` needs the source of its figures",
                    "name the document, table and edition",
                );
            }
            return None;
        }
    };
    let definition = chain.iter().find_map(|class| class.jitter_definition);
    let inherited = base.map(|base| base.jitter_definition);
    Some(Class {
        title: own.title.clone().unwrap_or_else(|| name.clone()),
        name,
        cycle_ns,
        latency_ns,
        jitter_ns,
        jitter_definition: definition.or(inherited).unwrap_or(JitterDefinition::Whiskers),
        strictness,
        source,
    })
}
