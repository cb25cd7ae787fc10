//! The time of a campaign, divided among its commands. Pure.
//!
//! Each measurement gets the same length, but none a longer one than its paper's; what a short one
//! leaves goes to the others.

use quietcore_units::Nanos;

use super::extent::Extent;

/// The shortest measurement: a shorter one shows nothing but that it works.
pub(super) const EACH_MIN: Nanos = Nanos::from_secs(2);

/// The time is too short for the commands there are.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "--within {within}: too short; the commands of this paper take {needed} with the shortest \
     measurements; give that or more"
)]
pub(super) struct TooShort {
    within: Nanos,
    needed: Nanos,
}

/// Returns the length of each command's measurements, in whole seconds; `None` for one whose length
/// stays as it is written.
pub(super) fn lengths(extents: &[Extent], within: Nanos) -> Result<Vec<Option<Nanos>>, TooShort> {
    let total = |each: Nanos| extents.iter().map(|it| it.time(shortened(*it, each))).sum::<Nanos>();
    let needed = total(EACH_MIN);
    if needed > within {
        let whole_minutes = needed.get().div_ceil(60_000_000_000) * 60;
        return Err(TooShort { within, needed: Nanos::from_secs(whole_minutes) });
    }
    // The total grows with the length of each, so the longest that fits is found by halving.
    let (mut fits, mut beyond) = (EACH_MIN.get() / SECOND, within.get() / SECOND + 1);
    while beyond - fits > 1 {
        let middle = fits + (beyond - fits) / 2;
        if total(Nanos::from_secs(middle)) <= within { fits = middle } else { beyond = middle }
    }
    Ok(extents.iter().map(|it| shortened(*it, Nanos::from_secs(fits))).collect())
}

const SECOND: u64 = 1_000_000_000;

/// Returns the length of a measurement where `each` is the longest; `None` if it is no longer.
fn shortened(extent: Extent, each: Nanos) -> Option<Nanos> {
    match extent {
        Extent::Asked { whole, .. } if whole > each => Some(each),
        Extent::Asked { .. } | Extent::Fixed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_short_measurement_leaves_goes_to_the_long_ones() {
        let secs = Nanos::from_secs;
        let extents = [
            Extent::Fixed(secs(10)),
            Extent::Asked { runs: 1, whole: secs(5) },
            Extent::Asked { runs: 2, whole: secs(3_600) },
        ];
        // 100 s less 10 s, less 5 s with 5 s around it, leave 80 s for two, with 5 s around each.
        assert_eq!(lengths(&extents, secs(100)), Ok(vec![None, None, Some(secs(35))]));
        assert_eq!(lengths(&extents, secs(8_000)), Ok(vec![None; 3]));
    }

    #[test]
    fn a_time_that_is_too_short_is_refused_with_one_that_is_not() {
        let extents = [Extent::Asked { runs: 4, whole: Nanos::from_secs(60) }];
        let error = lengths(&extents, Nanos::from_secs(20)).unwrap_err();
        assert!(error.to_string().starts_with("--within 20.0 s: too short"), "{error}");
        assert!(lengths(&extents, error.needed).is_ok());
    }

    /// Goal: no time is exceeded, and none is left that a longer measurement could use.
    #[test]
    fn the_time_is_used_as_far_as_it_can_be() {
        let secs = Nanos::from_secs;
        let asked = |runs, whole| Extent::Asked { runs, whole: secs(whole) };
        let some = [asked(3, 20), asked(1, 500), asked(7, 3_600), Extent::Fixed(secs(33))];
        for within in (200..40_000).step_by(97).map(secs) {
            let found = lengths(&some, within).expect("time for the shortest");
            let total = |more: u64| -> Nanos {
                let longer = |each: Nanos| secs(each.get() / SECOND + more);
                let times = some.iter().zip(&found);
                times.map(|(extent, each)| extent.time(each.map(longer))).sum()
            };
            assert!(total(0) <= within, "{found:?}");
            assert!(found.iter().all(Option::is_none) || total(1) > within, "{found:?}");
        }
    }
}
