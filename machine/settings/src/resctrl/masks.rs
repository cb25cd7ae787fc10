//! Capacity masks of the last-level cache: read, written, and one chosen.

use std::collections::BTreeMap;
use std::fmt;

/// Names of the last-level cache in resctrl; the last two if code and data are told apart.
pub(super) const LAST_LEVEL: [&str; 3] = ["L3", "L3CODE", "L3DATA"];

/// The most bits of a mask.
const BITS_MAX: u32 = 32;

/// The masks of a group, for the last-level caches alone: by name, and by the number of the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    rows: BTreeMap<String, BTreeMap<u32, u64>>,
}

impl Masks {
    /// Reads `schemata`; what is no last-level cache is passed over.
    pub(super) fn parse(text: &str) -> Self {
        let mut rows = BTreeMap::new();
        for line in text.lines() {
            let Some((name, masks)) = line.trim().split_once(':') else { continue };
            if !LAST_LEVEL.contains(&name) {
                continue;
            }
            let pairs = masks.split(';').filter_map(|pair| {
                let (cache, mask) = pair.split_once('=')?;
                let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
                Some((cache.trim().parse().ok()?, mask))
            });
            rows.insert(name.to_owned(), pairs.collect());
        }
        Self { rows }
    }

    /// Each mask changed by `change`.
    pub(super) fn map(&self, change: impl Fn(u64) -> u64) -> Self {
        let row = |masks: &BTreeMap<u32, u64>| {
            masks.iter().map(|(cache, mask)| (*cache, change(*mask))).collect()
        };
        Self { rows: self.rows.iter().map(|(name, masks)| (name.clone(), row(masks))).collect() }
    }

    /// Returns the masks of all domains.
    pub(super) fn all(&self) -> impl Iterator<Item = u64> + Clone + '_ {
        self.rows.values().flat_map(|masks| masks.values().copied())
    }

    /// Returns `true` if there is no mask.
    pub(super) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}

impl fmt::Display for Masks {
    /// As it is written into `schemata`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, masks) in &self.rows {
            let pairs = masks.iter().map(|(cache, mask)| format!("{cache}={mask:x}"));
            writeln!(f, "{name}:{}", pairs.collect::<Vec<_>>().join(";"))?;
        }
        Ok(())
    }
}

/// Returns `true` if a mask may be written: enough bits, and side by side if the processor wants
/// that.
pub(super) fn is_possible(mask: u64, rules: Rules) -> bool {
    let is_enough = mask != 0 && mask.count_ones() >= rules.least;
    is_enough && mask & !rules.full == 0 && (rules.sparse || is_one_stretch(mask))
}

fn is_one_stretch(mask: u64) -> bool {
    let zeros = mask.leading_zeros() + mask.trailing_zeros();
    mask.count_ones() + zeros == u64::BITS
}

/// The processor's rules for masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// All bits that there are.
    pub(super) full: u64,
    /// The fewest bits of a mask.
    pub(super) least: u32,
    /// Bits that devices fill too.
    pub(super) devices: u64,
    /// `true` if bits need not be side by side.
    pub(super) sparse: bool,
}

/// A mask of a group that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// Name of the group.
    pub(super) name: String,
    /// `true` if it reserves ways for a partition; then nobody else gets them.
    pub(super) is_ours: bool,
    /// All its bits, of all caches.
    pub(super) bits: u64,
}

/// Ways for a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The mask, for every cache.
    pub(super) mask: u64,
    /// `true` if the default group has these ways and must give them up.
    pub(super) from_default: bool,
    /// Other groups that may fill these ways too, with how many of them.
    pub(super) shared: Vec<(String, u32)>,
    /// Number of them that devices may fill, too.
    pub(super) with_devices: u32,
}

impl Choice {
    /// Of these ways, with who else may fill them.
    pub(super) fn of(mask: u64, from_default: bool, rules: Rules, standing: &[Standing]) -> Self {
        let shared = shared(mask, standing);
        Self { mask, from_default, shared, with_devices: (rules.devices & mask).count_ones() }
    }
}

/// The groups of others that may fill these ways, with how many of them.
pub(super) fn shared(mask: u64, standing: &[Standing]) -> Vec<(String, u32)> {
    let others = standing.iter().filter(|group| !group.is_ours && group.bits & mask != 0);
    others.map(|group| (group.name.clone(), (group.bits & mask).count_ones())).collect()
}

/// Chooses so many ways side by side, which the default group can give up and no partition has:
/// those that the fewest others may fill.
pub(super) fn choose(
    ways: u32,
    rules: Rules,
    default: &Masks,
    standing: &[Standing],
) -> Option<Choice> {
    if ways == 0 || ways > BITS_MAX || ways < rules.least {
        return None;
    }
    let window = (1_u64 << ways) - 1;
    let candidates = (0..=BITS_MAX - ways).map(|first| window << first);
    candidates
        .filter(|mask| mask & !rules.full == 0)
        .filter_map(|mask| {
            let mask = &mask;
            let overlaps = |bits: u64| bits & mask != 0;
            if standing.iter().any(|group| group.is_ours && overlaps(group.bits)) {
                return None;
            }
            let free = default.all().all(|bits| !overlaps(bits));
            let given =
                default.all().all(|bits| mask & !bits == 0 && is_possible(bits & !mask, rules));
            if !free && !given {
                return None;
            }
            Some(Choice::of(*mask, !free, rules, standing))
        })
        .min_by_key(|choice| {
            let shared: u32 = choice.shared.iter().map(|(_, ways)| ways).sum();
            (shared, choice.with_devices, choice.mask)
        })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const RULES: Rules = Rules { full: 0xFFF, least: 1, devices: 0xC00, sparse: false };

    fn default() -> Masks {
        Masks::parse("    L3:0=fff;1=fff\n    MB:0=100;1=100\n")
    }

    fn group(name: &str, is_ours: bool, bits: u64) -> Standing {
        Standing { name: name.to_owned(), is_ours, bits }
    }

    #[test]
    fn masks_are_read_and_written() {
        let masks = Masks::parse("MB:0=100\n  L3CODE:0=f;1=0f0\n L3DATA:0=1;1=2;x=3\nL2:0=1");
        assert_eq!(masks.to_string(), "L3CODE:0=f;1=f0\nL3DATA:0=1;1=2\n");
        assert_eq!(
            masks.map(|mask| mask << 4).all().collect::<Vec<_>>(),
            [0xF0, 0xF00, 0x10, 0x20]
        );
        assert!(Masks::parse("MB:0=100").is_empty());
    }

    #[test]
    fn ways_are_taken_where_no_device_fills_them() {
        let choice = choose(4, RULES, &default(), &[]).unwrap();
        assert_eq!((choice.mask, choice.from_default, choice.with_devices), (0xF, true, 0));
        let after = default().map(|mask| mask & !0xF);
        let standing = [group("quietcore-a", true, 0xF)];
        let choice = choose(4, RULES, &after, &standing).unwrap();
        assert_eq!((choice.mask, choice.from_default), (0xF0, true));
        // What is left must be one stretch, and something.
        let after = after.map(|mask| mask & !0xF0);
        assert_eq!(choose(4, RULES, &after, &[group("quietcore-a", true, 0xFF)]), None);
        assert_eq!(
            choose(3, RULES, &after, &[group("quietcore-a", true, 0xFF)]).unwrap().mask,
            0x700
        );
    }

    #[test]
    fn who_else_fills_the_ways_is_told() {
        let all = group("cloud", false, 0xFFF);
        let choice = choose(2, RULES, &default(), &[all, group("batch", false, 3)]).unwrap();
        // The lowest ways would be shared with both.
        assert_eq!(choice.mask, 0xC00);
        assert_eq!((choice.shared, choice.with_devices), (vec![("cloud".to_owned(), 2)], 2));
    }

    #[test]
    fn ways_that_the_default_group_lacks_are_free() {
        let default = Masks::parse("L3:0=ff0;1=ff0");
        let choice = choose(4, RULES, &default, &[]).unwrap();
        assert_eq!((choice.mask, choice.from_default), (0xF, false));
        // It has them in one cache and not in the other: that can't be given back.
        let default = Masks::parse("L3:0=ff0;1=fff");
        assert_ne!(choose(4, RULES, &default, &[]).unwrap().mask, 0xF);
    }

    #[test]
    fn too_many_and_too_few_ways_are_none() {
        for ways in [0, 12, 13, 33, u32::MAX] {
            assert_eq!(choose(ways, RULES, &default(), &[]), None, "{ways}");
        }
        assert_eq!(choose(1, Rules { least: 2, ..RULES }, &default(), &[]), None);
    }

    proptest! {
        #[test]
        fn what_is_chosen_is_possible_and_no_partitions(
            ways in 0_u32..40,
            full_bits in 1_u32..=32,
            ours in vec(any::<u32>(), 0..4),
            devices: u32,
        ) {
            let full = (1_u64 << full_bits) - 1;
            let rules = Rules { full, least: 1, devices: devices.into(), sparse: false };
            let default = Masks::parse(&format!("L3:0={full:x}"));
            let standing: Vec<Standing> =
                ours.iter().map(|bits| group("quietcore", true, u64::from(*bits) & full)).collect();
            if let Some(choice) = choose(ways, rules, &default, &standing) {
                prop_assert_eq!(choice.mask.count_ones(), ways);
                prop_assert!(is_possible(choice.mask, rules));
                prop_assert!(is_possible(full & !choice.mask, rules));
                prop_assert!(standing.iter().all(|group| group.bits & choice.mask == 0));
            }
        }

        #[test]
        fn any_text_is_read(text in "(L3|MB|L3CODE)?:?[0-9a-f=;: ]{0,60}\\n?\\PC{0,20}") {
            let masks = Masks::parse(&text);
            prop_assert_eq!(Masks::parse(&masks.to_string()), masks);
        }
    }
}
