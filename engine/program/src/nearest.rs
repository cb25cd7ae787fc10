//! The names nearest to one that does not exist.

/// Most names that an error proposes.
pub(crate) const NEAREST_MAX: usize = 3;

/// Most names that are compared: the remark of an error is not worth more time.
pub(crate) const COMPARED_MAX: usize = 20_000;

/// Likeness below which a name is no help, of 1.
const LIKENESS_MIN: f64 = 0.6;

/// The names most like `wanted`, the best first.
pub(crate) fn of<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted_lower = wanted.to_ascii_lowercase();
    let mut likely: Vec<(f64, &str)> = names
        .into_iter()
        .take(COMPARED_MAX)
        .map(|name| {
            let lower = name.to_ascii_lowercase();
            let likeness = strsim::jaro_winkler(&wanted_lower, &lower)
                .max(strsim::normalized_damerau_levenshtein(&wanted_lower, &lower));
            (likeness, name)
        })
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .collect();
    likely.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    likely.dedup_by(|(_, one), (_, other)| one == other);
    likely.truncate(NEAREST_MAX);
    likely.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Names as an error shows them: `a`, `b`, `c`.
pub(crate) fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_name_comes_first_and_unlike_ones_not_at_all() {
        let names = ["servo_P.Kp", "servo_P.Ki", "turbine"];
        assert_eq!(of("servo_P.kp", names)[0], "servo_P.Kp");
        assert!(of("zzz", names).is_empty());
    }
}
