//! Names beside each other in one row, each as near as possible to what it names.
//!
//! ```text
//!   208 µs 250 µs  1 ms            the names, moved apart
//!        ╲   │    ╱                leaders
//!         ┊  ┊   ┊                 the lines that they name
//! ```
//!
//! The order is kept, so no leader crosses another. The moves are the least there are (the sum of
//! their squares): an isotonic regression, by pooling neighbours that would meet.

/// A name in a row: the place where its middle should be, and its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LabelSpan {
    pub(crate) middle: f64,
    pub(crate) width: f64,
}

/// Returns the middles of names that stand `gap` apart between `left` and `right`, in the order
/// given, which must be that of their wanted middles; `None` where there is no room for all of
/// them.
pub(crate) fn spread(names: &[LabelSpan], gap: f64, left: f64, right: f64) -> Option<Vec<f64>> {
    let (first, last) = (names.first()?, names.last()?);
    // The distance from the first middle to each of the others, if all names touch.
    let mut offsets = vec![0.0];
    for pair in names.windows(2) {
        let before = offsets.last().copied().unwrap_or(0.0);
        offsets.push(before + (pair[0].width + pair[1].width) / 2.0 + gap);
    }
    let least = left + first.width / 2.0;
    let most = right - last.width / 2.0 - offsets.last().copied().unwrap_or(0.0);
    if most < least {
        return None;
    }
    let targets = names.iter().zip(&offsets).map(|(name, offset)| name.middle - offset);
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for target in targets {
        pools.push((target, 1));
        while let [.., (one, count), (other, more)] = pools[..]
            && other < one
        {
            let together = count + more;
            let middle = (one * count as f64 + other * more as f64) / together as f64;
            pools.truncate(pools.len() - 2);
            pools.push((middle, together));
        }
    }
    let middles = pools.into_iter().flat_map(|(middle, count)| std::iter::repeat_n(middle, count));
    Some(middles.zip(offsets).map(|(middle, offset)| middle.clamp(least, most) + offset).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_with_room_stay_at_their_lines_and_others_share_the_move() {
        let name = |middle| LabelSpan { middle, width: 20.0 };
        let apart = spread(&[name(20.0), name(80.0)], 5.0, 0.0, 100.0).unwrap();
        assert_eq!(apart, [20.0, 80.0]);
        let close = spread(&[name(50.0), name(50.0)], 6.0, 0.0, 100.0).unwrap();
        assert_eq!(close, [37.0, 63.0]);
        assert_eq!(spread(&[name(50.0), name(50.0)], 6.0, 0.0, 40.0), None);
        assert_eq!(spread(&[], 6.0, 0.0, 40.0), None);
    }

    proptest! {
        #[test]
        fn names_never_overlap_and_stay_within(
            mut names in proptest::collection::vec((0.0_f64..400.0, 1.0_f64..60.0), 1..12),
        ) {
            names.sort_by(|a, b| a.0.total_cmp(&b.0));
            let names: Vec<_> =
                names.into_iter().map(|(middle, width)| LabelSpan { middle, width }).collect();
            let needed = names.iter().map(|name| name.width + 4.0).sum::<f64>() - 4.0;
            let placed = spread(&names, 4.0, 0.0, 400.0);
            prop_assert_eq!(placed.is_some(), needed <= 400.0);
            let ends: Vec<(f64, f64)> = placed
                .unwrap_or_default()
                .iter()
                .zip(&names)
                .map(|(middle, name)| (middle - name.width / 2.0, middle + name.width / 2.0))
                .collect();
            prop_assert!(ends.windows(2).all(|pair| pair[0].1 + 3.99 <= pair[1].0));
            prop_assert!(ends.iter().all(|(left, right)| *left >= -0.01 && *right <= 400.01));
        }
    }
}
