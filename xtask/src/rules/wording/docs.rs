//! The first words of doc comments.
//!
//! | rule | says |
//! |---|---|
//! | `doc-comments` | a doc comment begins with its subject and verb, and says what the name does not |
//!
//! A paragraph that begins with `What`, `Whether`, `Who`, `How` or `Where` is a clause that lacks
//! its sentence: "Whether it is open" instead of "Returns `true` if it is open". A comment of three
//! words or fewer repeats the name below it, unless it holds a name in backticks or a figure.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::source::Source;
use crate::tree::Tree;

/// Words that begin a clause instead of a sentence.
const CLAUSES: [&str; 5] = ["What", "Whether", "Who", "How", "Where"];
/// The fewest words of a comment that says more than a name.
const WORDS_MIN: usize = 4;

/// Finds doc comments that begin with a clause or repeat a name.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.sources.iter().flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<Finding> {
    let comments: BTreeSet<usize> = source.comments.iter().map(|it| it.line).collect();
    let mut findings = Vec::new();
    let mut before: Option<Line<'_>> = None;
    let mut is_code = false;
    let mut lines = source.text.lines().zip(1..).peekable();
    while let Some((text, number)) = lines.next() {
        let line = Line::of(text).filter(|_| comments.contains(&number));
        let Some(line) = line else {
            (before, is_code) = (None, false);
            continue;
        };
        let is_first = before.is_none_or(|it| it.kind != line.kind);
        let begins = is_first || before.is_some_and(|it| it.text.is_empty());
        is_code &= !is_first;
        before = Some(line);
        if line.text.starts_with("```") {
            is_code = !is_code;
        } else if begins && !is_code {
            let next = lines.peek().and_then(|(text, _)| Line::of(text));
            let is_last = next.is_none_or(|it| it.kind != line.kind || it.text.is_empty());
            findings.extend(judge(line.text, is_first && is_last).map(|(what, remedy)| {
                Finding::new("doc-comments", &source.path, number, what, remedy)
            }));
        }
    }
    findings
}

/// Judges the first line of a paragraph; `alone` says that it is the whole first paragraph.
fn judge(text: &str, alone: bool) -> Option<(String, &'static str)> {
    let first = text.split(|character: char| !character.is_alphabetic()).next()?;
    if CLAUSES.contains(&first) {
        return Some((
            format!("a doc comment begins with `{first}`"),
            "begin with subject and verb: \"Returns `true` if ..\", \"Bytes of ..\"",
        ));
    }
    let is_figure = text.contains('`') || text.contains(|it: char| it.is_ascii_digit());
    let is_prose = !text.starts_with(['#', '|', '-', '!', '[']);
    (alone && is_prose && !is_figure && text.split_whitespace().count() < WORDS_MIN).then(|| {
        let remedy = "say what the name does not: unit, range, errors; or delete it";
        (format!("the doc comment \"{text}\" says no more than a name"), remedy)
    })
}

/// A line of a doc comment.
#[derive(Clone, Copy)]
struct Line<'t> {
    /// `///` or `//!`.
    kind: &'t str,
    text: &'t str,
}

impl<'t> Line<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let line = line.trim_start();
        let is_doc =
            line.starts_with("//!") || (line.starts_with("///") && !line.starts_with("////"));
        is_doc.then(|| Self { kind: &line[..3], text: line[3..].trim() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    /// The lines that are found in a file of a folder that is revised.
    fn lines(text: &str) -> Vec<usize> {
        let findings = check(&Tree::of(&[("revised/src/b.rs", text)]));
        assert!(findings.iter().all(|finding| finding.rule == "doc-comments"));
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_paragraph_does_not_begin_with_a_clause() {
        assert_eq!(
            lines("//! What it is about, in short.\n\n/// Whether it is so.\nfn a() {}\n"),
            [1, 3]
        );
        assert_eq!(
            lines(
                "/// Opens the door to everybody.\n///\n/// Who is late waits outside.\nfn a() {}\n"
            ),
            [3]
        );
        assert_eq!(lines("/// Returns\n/// What the caller put in.\nfn a() {}\n"), NONE);
        assert_eq!(lines("/// However late it is, it waits.\nfn a() {}\n"), NONE);
    }

    #[test]
    fn a_comment_says_more_than_a_name() {
        assert_eq!(lines("/// Its name.\nstruct A;\n/// The CPU.\nstruct B;\n"), [1, 3]);
        assert_eq!(lines("/// `SCHED_RR`\nstruct A;\n/// 10⁶ bit/s.\nstruct B;\n"), NONE);
        assert_eq!(lines("/// Its name\n/// in the site file.\nstruct A;\n"), NONE);
        assert_eq!(
            lines("/// Opens the file.\n///\n/// # Errors\n/// Its kind.\nfn a() {}\n"),
            [1]
        );
    }

    #[test]
    fn code_and_texts_are_no_doc_comments() {
        assert_eq!(
            lines("/// An example of it:\n///\n/// ```\n/// What\n/// ```\nfn a() {}\n"),
            NONE
        );
        assert_eq!(lines("const A: &str = \"\n/// Its name.\n\";\n// What comes next.\n"), NONE);
    }
}
