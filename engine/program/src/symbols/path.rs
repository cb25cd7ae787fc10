//! The written form of a path: `servo_DW.filter[2].gain`.

/// Longest path that is read, in bytes.
pub(crate) const PATH_BYTES_MAX: usize = 1024;

/// One part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// `.name`, or the name at the start.
    Name(&'a str),
    /// `[text]`; a number in a path, perhaps a wildcard in a pattern.
    Index(&'a str),
}

/// Cuts a path into its parts.
///
/// # Errors
/// What is wrong with it, and where, in bytes.
pub(crate) fn steps(path: &str) -> Result<Vec<Step<'_>>, (usize, &'static str)> {
    if path.len() > PATH_BYTES_MAX {
        return Err((PATH_BYTES_MAX, "it is longer than any path"));
    }
    let mut steps = Vec::new();
    let mut at = 0;
    loop {
        let rest = &path[at..];
        if let Some(inside) = rest.strip_prefix('[').filter(|_| at > 0) {
            let end = inside.find(']').ok_or((at, "a `]` is missing"))?;
            if end == 0 {
                return Err((at, "an index is missing"));
            }
            steps.push(Step::Index(&inside[..end]));
            at += end + 2;
        } else {
            let skipped = if at == 0 { 0 } else { 1 };
            if at > 0 && !rest.starts_with('.') {
                return Err((at, "a `.` or `[` should follow"));
            }
            let name = &rest[skipped..];
            let end = name.find(['.', '[', ']']).unwrap_or(name.len());
            if end == 0 {
                return Err((at + skipped, "a name is missing"));
            }
            steps.push(Step::Name(&name[..end]));
            at += skipped + end;
        }
        if at == path.len() {
            return Ok(steps);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_cut_at_dots_and_brackets() {
        use Step::{Index, Name};
        assert_eq!(steps("a"), Ok(vec![Name("a")]));
        assert_eq!(
            steps("a.b[2][*].c"),
            Ok(vec![Name("a"), Name("b"), Index("2"), Index("*"), Name("c")])
        );
        assert_eq!(steps("file::a.b"), Ok(vec![Name("file::a"), Name("b")]));
    }

    #[test]
    fn a_broken_path_is_refused_with_the_place() {
        for (path, at) in [
            ("", 0),
            ("a.", 2),
            ("a..b", 2),
            ("a[2", 1),
            ("a[]", 1),
            ("a]", 1),
            ("[1]", 0),
            ("a[1]b", 4),
        ] {
            assert_eq!(steps(path).unwrap_err().0, at, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_cut_or_refused(path in ".{0,40}") {
            let _ = steps(&path);
        }
    }
}
