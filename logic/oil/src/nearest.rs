//! The known name nearest to one that is not known.

/// Most names that are compared: the remark of an error is not worth more time.
const COMPARED_MAX: usize = 2000;

/// Likeness below which a name is no help, of 1.
const LIKENESS_MIN: f64 = 0.75;

/// The known name most like `wanted`, if one is.
pub(crate) fn nearest<'n>(
    wanted: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let wanted_lower = wanted.to_ascii_lowercase();
    names
        .into_iter()
        .take(COMPARED_MAX)
        .map(|name| {
            let lower = name.to_ascii_lowercase();
            let likeness = strsim::jaro_winkler(&wanted_lower, &lower)
                .max(strsim::normalized_damerau_levenshtein(&wanted_lower, &lower));
            (likeness, name)
        })
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

/// What would be right in place of `wanted`: `did you mean `x`?`, or all names where they are few,
/// or what `otherwise` says.
pub(crate) fn remedy<'n>(
    wanted: &str,
    names: impl IntoIterator<Item = &'n str> + Clone,
    otherwise: &str,
) -> String {
    match nearest(wanted, names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => otherwise.to_owned(),
    }
}

/// Names as texts show them: `` `a`, `b` or `c` ``.
pub(crate) fn either<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut quoted: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match (quoted.pop(), quoted.is_empty()) {
        (Some(last), true) => last,
        (Some(last), false) => format!("{} or {last}", quoted.join(", ")),
        (None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_name_is_proposed_and_an_unlike_one_is_not() {
        let names = ["PRIORITY", "SCHEDULE"];
        assert_eq!(remedy("priorty", names, ""), "did you mean `PRIORITY`?");
        assert_eq!(remedy("zzz", names, "nothing like it"), "nothing like it");
    }

    #[test]
    fn names_are_listed_as_a_sentence_does() {
        assert_eq!(either(["a"]), "`a`");
        assert_eq!(either(["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
