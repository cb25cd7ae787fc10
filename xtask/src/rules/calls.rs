//! Calls that must not stand in code, in any form.
//!
//! | rule | refuses | remedy |
//! |---|---|---|
//! | `unfinished` | `todo!`, `unimplemented!`, `dbg!` | finish it, or return an error |
//! | `ignored-tests` | `#[ignore]` | skip at run time with the reason |
//! | `unwrap` | `.unwrap()` outside tests | `expect` with why it can't fail |
//! | `allow` | `#[allow(..)]` | `expect(.., reason = "..")`, which reports when it is not needed |

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::finding::Finding;
use crate::source::{Source, is_hash};
use crate::tree::Tree;

/// Finds calls and attributes that stand for work that was put off.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.sources.iter().flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    source.walk(|tokens, index| {
        let line = tokens[index].span().start().line;
        let found = match &tokens[index] {
            TokenTree::Ident(word) => unfinished(&word.to_string(), tokens, index)
                .or_else(|| unwrapped(source, &word.to_string(), tokens, index)),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                is_hash(tokens, index).then(|| attribute(&group.stream())).flatten()
            }
            _ => None,
        };
        if let Some((rule, what, remedy)) = found {
            findings.push(Finding::new(rule, &source.path, line, what, remedy));
        }
    });
    findings
}

type Fault = (&'static str, String, &'static str);

fn is_punctuation(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(found)) if found.as_char() == character)
}

fn unfinished(word: &str, tokens: &[TokenTree], index: usize) -> Option<Fault> {
    let is_called = is_punctuation(tokens.get(index + 1), '!');
    (matches!(word, "todo" | "unimplemented" | "dbg") && is_called).then(|| {
        let remedy = "finish it, or return an error that says what is missing";
        ("unfinished", format!("`{word}!` is called"), remedy)
    })
}

fn unwrapped(source: &Source, word: &str, tokens: &[TokenTree], index: usize) -> Option<Fault> {
    let after_dot = is_punctuation(index.checked_sub(1).and_then(|at| tokens.get(at)), '.');
    let without_arguments = matches!(
        tokens.get(index + 1),
        Some(TokenTree::Group(group)) if group.stream().is_empty()
    );
    let line = tokens[index].span().start().line;
    let found = word == "unwrap" && after_dot && without_arguments && !source.is_test_line(line);
    found.then(|| {
        let remedy = "use `expect` with why it can't fail, or return the error";
        ("unwrap", "`.unwrap()` outside tests".to_owned(), remedy)
    })
}

fn attribute(body: &TokenStream) -> Option<Fault> {
    let tokens: Vec<TokenTree> = body.clone().into_iter().collect();
    let Some(TokenTree::Ident(name)) = tokens.first() else {
        return None;
    };
    match name.to_string().as_str() {
        "ignore" => {
            let remedy = "skip at run time with `quietcore_skip::skip!` and the reason";
            Some(("ignored-tests", "a test is ignored".to_owned(), remedy))
        }
        "allow" => Some(allowed()),
        "cfg_attr" => match tokens.get(1) {
            Some(TokenTree::Group(group)) if has_allow(&group.stream()) => Some(allowed()),
            _ => None,
        },
        _ => None,
    }
}

fn allowed() -> Fault {
    let remedy = "write `expect(.., reason = \"..\")`";
    ("allow", "a lint is allowed".to_owned(), remedy)
}

fn has_allow(arguments: &TokenStream) -> bool {
    arguments
        .clone()
        .into_iter()
        .any(|token| matches!(token, TokenTree::Ident(word) if word == "allow"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<(&'static str, usize)> {
        let findings = check(&Tree::of(&[("a/src/b.rs", text)]));
        findings.iter().map(|finding| (finding.rule, finding.line)).collect()
    }

    #[test]
    fn unfinished_work_is_found_inside_macros_too() {
        let text = "fn a() {\n    todo!()\n}\nb! { unimplemented!(\"c\"); dbg!(d) }\n";
        let unfinished = "unfinished";
        assert_eq!(rules(text), [(unfinished, 2), (unfinished, 4), (unfinished, 4)]);
    }

    #[test]
    fn words_in_texts_and_names_are_no_calls() {
        let text = "//! `todo!()` and `.unwrap()`\nfn todo() { a(\"dbg!(x)\"); b.unwrap_or(0); }\n";
        assert_eq!(rules(text), []);
    }

    #[test]
    fn unwrap_belongs_into_tests() {
        let text = "fn a() {\n    b()\n        .unwrap();\n}\n#[cfg(test)]\nmod tests {\n    \
                    #[test]\n    fn a() { b().unwrap(); }\n}\n";
        assert_eq!(rules(text), [("unwrap", 3)]);
    }

    #[test]
    fn attributes_that_hide_something_are_found() {
        let text = "#![allow(dead_code)]\n#[cfg_attr(test, allow(unused))]\nfn a() \
                    {}\n#[test]\n#[ignore = \"slow\"]\nfn b() {}\n#[expect(unused, reason = \
                    \"c\")]\nfn d() {}\n";
        assert_eq!(rules(text), [("allow", 1), ("allow", 2), ("ignored-tests", 5)]);
    }
}
