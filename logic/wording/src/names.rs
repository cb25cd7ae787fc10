//! The names that are most like a wrong one, and names in a sentence.
//!
//! Two names are as alike as the better of two measures says: Jaro-Winkler, which favours a common
//! beginning, and Damerau-Levenshtein, which sees letters swapped or missing anywhere. Case does
//! not count, nor which of `-`, `_`, `.` and space stands between words.

/// Most names that are compared: the remark of an error is not worth more time.
pub const COMPARED_MAX: usize = 2_000;

/// Most names that are compared where there is one error only.
pub const COMPARED_ONCE_MAX: usize = 20_000;

/// Longer words are not compared: nobody misspells a name of that length.
pub const COMPARED_CHARS_MAX: usize = 100;

/// Most names that [`alike`] returns.
pub const ALIKE_MAX: usize = 3;

/// Likeness below which a single name is no help, of 1.
const LIKENESS_MIN: f64 = 0.75;

/// Likeness below which a name is no help among several, of 1.
const LIKENESS_MIN_OF_SEVERAL: f64 = 0.6;

/// The known name that is most like `wanted`, if one is; of equals the first. Of the names,
/// [`COMPARED_MAX`] are looked at.
pub fn nearest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let alike = likenesses(wanted, names.into_iter().take(COMPARED_MAX));
    alike
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        // `max_by` would give the last of equals.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
}

/// The known names that are most like `wanted`, the best first, [`ALIKE_MAX`] at most. Of the
/// names, [`COMPARED_ONCE_MAX`] are looked at.
pub fn alike<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let alike = likenesses(wanted, names.into_iter().take(COMPARED_ONCE_MAX));
    let mut alike: Vec<_> =
        alike.filter(|(likeness, _)| *likeness >= LIKENESS_MIN_OF_SEVERAL).collect();
    alike.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    alike.dedup_by(|(_, one), (_, other)| one == other);
    alike.into_iter().take(ALIKE_MAX).map(|(_, name)| name.to_owned()).collect()
}

/// Returns the remedy for `wanted`: `did you mean `x`?`, or the text of `otherwise`.
pub fn meant<'n>(
    wanted: &str,
    names: impl IntoIterator<Item = &'n str>,
    otherwise: impl Into<String>,
) -> String {
    match nearest(wanted, names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => otherwise.into(),
    }
}

/// Names as texts list them: `` `a`, `b`, `c` ``.
pub fn list<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    let quoted = names.into_iter().map(|name| format!("`{}`", name.as_ref()));
    quoted.collect::<Vec<_>>().join(", ")
}

/// Names that are all meant: `` `a`, `b` and `c` ``.
pub fn both<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    joined(names, "and")
}

/// Names as texts offer them: `` `a`, `b` or `c` ``.
pub fn either<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    joined(names, "or")
}

/// Returns the ending of a noun for a number: nothing for one, else `s`.
pub const fn plural(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

fn joined<N: AsRef<str>>(names: impl IntoIterator<Item = N>, word: &str) -> String {
    let mut names: Vec<_> = names.into_iter().collect();
    match (names.pop(), names.is_empty()) {
        (Some(last), false) => format!("{} {word} `{}`", list(names), last.as_ref()),
        (last, _) => list(last),
    }
}

fn likenesses<'n>(
    wanted: &str,
    names: impl Iterator<Item = &'n str>,
) -> impl Iterator<Item = (f64, &'n str)> {
    let is_short = |name: &str| name.chars().nth(COMPARED_CHARS_MAX).is_none();
    let wanted = is_short(wanted).then(|| folded(wanted));
    names.filter(move |name| is_short(name)).filter_map(move |name| {
        let (wanted, folded) = (wanted.as_deref()?, folded(name));
        let likeness = strsim::jaro_winkler(wanted, &folded)
            .max(strsim::normalized_damerau_levenshtein(wanted, &folded));
        Some((likeness, name))
    })
}

/// Returns a name as it is compared: in small letters, with `-` between words.
pub fn folded(name: &str) -> String {
    name.to_lowercase().replace(['_', ' ', '.'], "-")
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
        assert_eq!(nearest("a_b", ["a-b", "a.b"]), Some("a-b"), "the first of equals");
    }

    #[test]
    fn several_names_come_best_first_and_each_once() {
        let names = ["turbine", "servo_P.Ki", "servo_P.Kp", "servo_P.Ki"];
        assert_eq!(alike("servo_P.kp", names), ["servo_P.Kp", "servo_P.Ki"]);
        assert!(alike("zzz", names).is_empty());
    }

    #[test]
    fn what_was_meant_is_asked_or_something_else_is_said() {
        let names = ["PRIORITY", "SCHEDULE"];
        assert_eq!(meant("priorty", names, ""), "did you mean `PRIORITY`?");
        assert_eq!(meant("zzz", names, "nothing like it"), "nothing like it");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(plural), ["s", "", "s"]);
    }

    #[test]
    fn names_are_listed_as_a_sentence_does() {
        assert_eq!(list(["a", "b"]), "`a`, `b`");
        assert_eq!(either(["a"]), "`a`");
        assert_eq!(either(["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(either([] as [&str; 0]), "");
    }
}
