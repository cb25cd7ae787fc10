//! The links of documents lead somewhere.
//!
//! | rule | says |
//! |---|---|
//! | `links` | a link to a file of the repository leads to one that is there, and what follows `#` is one of its headings |
//!
//! Addresses on the network are not looked at: nobody could follow them here.

use super::headings;
use crate::finding::Finding;
use crate::tree::{TrackedFile, Tree};

/// Finds links that lead nowhere.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    // Below `src/` lie pieces, which programs make documents of.
    let is_document = |path: &str| path.ends_with(".md") && !path.contains("/src/");
    let documents = tree.files.iter().filter(|file| is_document(&file.path));
    documents.flat_map(|file| check_file(tree, file)).collect()
}

fn check_file(tree: &Tree, file: &TrackedFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, target) in links(&file.text) {
        if target.contains(':') {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = if path.is_empty() { file.path.clone() } else { resolved(&file.path, path) };
        let mut find = |what: String, remedy: &str| {
            findings.push(Finding::new("links", &file.path, line, what, remedy));
        };
        match tree.file(&path) {
            None if path.is_empty() || tree.has_folder(&path) => {}
            None => find(format!("there is no `{path}`"), "correct the link"),
            Some(page) if anchor.is_empty() || has_anchor(&page.text, anchor) => {}
            Some(_) => find(
                format!("`{path}` has no heading `#{anchor}`"),
                "use a heading's text in lower case, with `-` for spaces",
            ),
        }
    }
    findings
}

/// The targets of links and pictures with their lines. Fenced blocks and code have none.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut in_fence = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        }
        if in_fence {
            continue;
        }
        for (start, _) in line.match_indices("](") {
            // Within code an odd number of marks stands before it.
            let is_code = line[..start].matches('`').count() % 2 == 1;
            if let (false, Some(end)) = (is_code, line[start..].find(')')) {
                found.push((index + 1, &line[start + 2..start + end]));
            }
        }
    }
    found
}

/// The path below the repository's root that a link in `from` means.
fn resolved(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

fn has_anchor(text: &str, anchor: &str) -> bool {
    headings(text).into_iter().any(|(_, _, heading)| anchor_of(heading) == anchor)
}

fn anchor_of(heading: &str) -> String {
    let kept = |it: &char| it.is_alphanumeric() || [' ', '-', '_'].contains(it);
    heading.to_lowercase().chars().filter(kept).map(|it| if it == ' ' { '-' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let files = [
            ("docs/a.md", text),
            ("docs/b.md", "# B\n## `[site]` and more\n```\n# no heading\n```\n"),
            ("lab/src/lib.rs", "//! A.\n"),
            ("lab/src/piece.md", "[above](#a)\n"),
        ];
        check(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_link_leads_to_a_file_a_folder_or_a_heading() {
        let good = "# A\n[b](b.md) and [site](b.md#site-and-more), [here](#a), [lab](../lab/),\n\
                    [root](..), ![file](../lab/src/lib.rs) and [far](https://example.org/x).\n";
        assert!(found(good).is_empty());
        let bad = "[c](c.md)\n[b](b.md#sites)\n[lab](lab/src/lib.rs)\n[b](b.md#no-heading)\n";
        assert_eq!(
            found(bad),
            [
                "docs/a.md:1: links: there is no `docs/c.md`; correct the link",
                "docs/a.md:2: links: `docs/b.md` has no heading `#sites`; use a heading's text in \
                 lower case, with `-` for spaces",
                "docs/a.md:3: links: there is no `docs/lab/src/lib.rs`; correct the link",
                "docs/a.md:4: links: `docs/b.md` has no heading `#no-heading`; use a heading's \
                 text in lower case, with `-` for spaces",
            ]
        );
    }

    #[test]
    fn code_has_no_links() {
        assert!(found("`a[0](b)` is C, and so is\n```c\nf[0](c.md);\n```\n").is_empty());
    }
}
