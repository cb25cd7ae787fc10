//! Words for texts that people read: the nearest known word, lists, quotations, exact quantities.

use quietcore_units::{ByteSize, Nanos};

/// Below this likeness (1 is equal) a word is no plausible misspelling of another.
const LIKENESS_MIN: f64 = 0.75;

/// Longer words are not compared: nobody misspells a name of that length.
const COMPARED_CHARS_MAX: usize = 64;

/// Characters of a value that an error text shows.
const QUOTED_CHARS_MAX: usize = 60;

/// The candidate that is most like `word`, if one is like it at all.
pub(crate) fn nearest<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    if word.chars().count() > COMPARED_CHARS_MAX {
        return None;
    }
    let word = folded(word);
    let likeness = |candidate: &str| {
        let candidate = folded(candidate);
        // The prefix bonus of Jaro-Winkler rates `period_x` near; the other one sees swapped and
        // missing letters anywhere.
        strsim::jaro_winkler(&word, &candidate)
            .max(strsim::normalized_damerau_levenshtein(&word, &candidate))
    };
    candidates
        .into_iter()
        .map(|candidate| (candidate, likeness(candidate)))
        .filter(|(_, likeness)| *likeness >= LIKENESS_MIN)
        // Of equals the first one, which `max_by` would not give.
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map(|(candidate, _)| candidate)
}

/// What would be right in place of `word`: the nearest of the candidates, or all of them.
pub(crate) fn instead<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str> + Clone,
) -> String {
    match nearest(word, candidates.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("write one of {}", list(candidates)),
    }
}

/// The words in backticks with commas between them.
pub(crate) fn list<'c>(words: impl IntoIterator<Item = &'c str>) -> String {
    let words: Vec<_> = words.into_iter().map(quoted).collect();
    words.join(", ")
}

/// A text from the file in backticks, shortened and on one line.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

/// A text from the file, shortened and on one line.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(QUOTED_CHARS_MAX)
        .flat_map(|c| {
            let escaped: Box<dyn Iterator<Item = char>> = if c.is_control() {
                Box::new(c.escape_default())
            } else {
                Box::new(std::iter::once(c))
            };
            escaped
        })
        .collect();
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// A duration without rounding, so that two that differ also look different.
pub(crate) fn exact(duration: Nanos) -> String {
    const UNITS: [(u64, &str); 7] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "µs"),
        (1, "ns"),
    ];
    whole(duration.get(), &UNITS)
}

/// An amount of memory without rounding, in the unit that gives the smallest number.
pub(crate) fn exact_size(size: ByteSize) -> String {
    const UNITS: [(u64, &str); 8] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "kB"),
        (1, "B"),
    ];
    whole(size.get(), &UNITS)
}

/// The value in the largest of the units (descending, the last one 1) that divides it.
fn whole(value: u64, units: &[(u64, &str)]) -> String {
    let fitting = units.iter().find(|(size, _)| value != 0 && value.is_multiple_of(*size));
    let (size, unit) = fitting.or(units.last()).copied().unwrap_or((1, ""));
    format!("{} {unit}", value / size)
}

fn folded(word: &str) -> String {
    word.to_lowercase().replace(['_', ' ', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_its_neighbour() {
        let keys = ["cpus", "memory", "cache", "network", "budget"];
        assert_eq!(nearest("memroy", keys), Some("memory"));
        assert_eq!(nearest("cpu", keys), Some("cpus"));
        assert_eq!(nearest("Cache", keys), Some("cache"));
        assert_eq!(nearest("xyzzy", keys), None);
        assert_eq!(nearest(&"c".repeat(1_000_000), keys), None);
        assert_eq!(instead("xyzzy", ["a", "b"]), "write one of `a`, `b`");
    }

    #[test]
    fn quantities_are_exact_in_the_unit_that_fits() {
        assert_eq!(exact(Nanos::from_millis(1)), "1 ms");
        assert_eq!(exact(Nanos::from_micros(1_001)), "1001 µs");
        assert_eq!(exact(Nanos::from_secs(5_400)), "90 min");
        assert_eq!(exact(Nanos::ZERO), "0 ns");
        assert_eq!(exact_size(ByteSize::new(64_000_000)), "64 MB");
        assert_eq!(exact_size(ByteSize::new(64 << 20)), "64 MiB");
    }

    #[test]
    fn a_quoted_value_stays_short_and_on_one_line() {
        assert_eq!(quoted("1 ms"), "`1 ms`");
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), 63);
    }
}
