//! `real_time`, `survival` and `quantile` of a class: the misses that it bears.

use quietcore_record::class::{Class, Strictness};

use crate::raw::{RawClass, RealTime};
use crate::reading::collector::Collector;
use crate::reading::place::Path;

/// Takes the strictness from the nearest class in the chain that gives one. Keys beside it are
/// checked in the class itself, which leads the chain; others have been checked in their own turn.
pub(super) fn check(
    chain: &[&RawClass],
    base: Option<&Class>,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Strictness {
    let own = chain[0];
    let kind = own.real_time;
    let figures = [
        ("survival", own.survival.is_some(), RealTime::Firm, "firm", "survival = 2"),
        ("quantile", own.quantile.is_some(), RealTime::Soft, "soft", "quantile = 0.999"),
    ];
    for (key, is_given, of, word, example) in figures {
        let path_of_key = path.key(key);
        if is_given && kind != Some(of) {
            let remedy = format!("write `real_time = \"{word}\"`, or leave `{key}` out");
            collector.refuse(&path_of_key, format!("`{key}` is of a {word} class only"), remedy);
        }
        if !is_given && kind == Some(of) && !collector.has(&path_of_key) {
            collector.refuse(
                &path.key("real_time"),
                format!("a {word} class needs `{key}`, without which nothing could be judged"),
                format!("write for example `{example}`"),
            );
        }
    }
    let inherited = base.map(|base| base.strictness).unwrap_or_default();
    chain.iter().find_map(|class| of(class)).unwrap_or(inherited)
}

/// Returns the strictness that a class itself gives, where it is complete.
fn of(class: &RawClass) -> Option<Strictness> {
    match class.real_time? {
        RealTime::Hard => Some(Strictness::Hard),
        RealTime::Firm => Some(Strictness::Firm { survival_cycles: class.survival? }),
        RealTime::Soft => {
            let misses_ppm = ((1.0 - class.quantile?) * 1e6).round() as u32;
            Some(Strictness::Soft { misses_ppm })
        }
    }
}
