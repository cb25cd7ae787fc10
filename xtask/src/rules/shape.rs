//! The shape of what is inside a file.
//!
//! | rule | says |
//! |---|---|
//! | `function-length` | a function has at most 70 lines, those of tests and in macros included |
//! | `test-length` | tests beyond 100 lines live in `name/tests.rs` |
//! | `crate-head` | `lib.rs` holds header, modules and re-exports only |
//! | `no-std` | crates of floor 1 need no standard library outside their tests |

use proc_macro2::{Delimiter, TokenTree};
use syn::spanned::Spanned as _;

use crate::finding::Finding;
use crate::source::{Source, is_for_tests};
use crate::tree::Tree;

const FUNCTION_MAX: usize = 70;
const TESTS_MAX: usize = 100;

/// Finds functions, test modules and crate heads that have outgrown their place.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.sources {
        findings.extend(check_functions(source));
        findings.extend(check_test_modules(source));
        if source.path.ends_with("/src/lib.rs") {
            findings.extend(check_crate_head(source));
        }
    }
    findings
}

fn check_functions(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    source.walk(|tokens, index| {
        let Some((name, first, last)) = function_at(tokens, index) else {
            return;
        };
        let lines = last + 1 - first;
        if lines > FUNCTION_MAX {
            findings.push(Finding::new(
                "function-length",
                &source.path,
                first,
                format!("`{name}` has {lines} lines, and {FUNCTION_MAX} are the most"),
                "branch in the caller and compute in the callee",
            ));
        }
    });
    findings
}

/// Name, first and last line of the function whose `fn` stands at `index`.
///
/// Tokens instead of the syntax tree, because the parser does not look into macro calls.
fn function_at(tokens: &[TokenTree], index: usize) -> Option<(String, usize, usize)> {
    let (TokenTree::Ident(keyword), Some(TokenTree::Ident(name))) =
        (&tokens[index], tokens.get(index + 1))
    else {
        return None;
    };
    if keyword != "fn" {
        return None;
    }
    for token in &tokens[index + 2..] {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let first = keyword.span().start().line;
                return Some((name.to_string(), first, group.span_close().end().line));
            }
            TokenTree::Punct(punctuation) if punctuation.as_char() == ';' => return None,
            _ => {}
        }
    }
    None
}

fn check_test_modules(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for item in &source.syntax.items {
        let syn::Item::Mod(module) = item else {
            continue;
        };
        let lines = module.span().end().line + 1 - module.span().start().line;
        if module.attrs.iter().any(is_for_tests) && lines > TESTS_MAX {
            findings.push(Finding::new(
                "test-length",
                &source.path,
                module.span().start().line,
                format!("the tests have {lines} lines, and {TESTS_MAX} are the most here"),
                "move them to `tests.rs` in a folder named after this file",
            ));
        }
    }
    findings
}

fn check_crate_head(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for item in &source.syntax.items {
        let belongs = match item {
            syn::Item::Mod(module) => {
                module.content.is_none() || module.attrs.iter().any(is_for_tests)
            }
            syn::Item::Use(_) | syn::Item::ExternCrate(_) | syn::Item::Macro(_) => true,
            syn::Item::Const(constant) => constant.ident == "_",
            _ => false,
        };
        if !belongs {
            findings.push(Finding::new(
                "crate-head",
                &source.path,
                item.span().start().line,
                "`lib.rs` holds header, modules and re-exports only",
                "move the item to a module named after its subject",
            ));
        }
    }
    let is_ground = source.path.starts_with("ground/");
    if is_ground && !source.syntax.attrs.iter().any(says_no_std) {
        findings.push(Finding::new(
            "no-std",
            &source.path,
            1,
            "a crate of floor 1 uses the standard library",
            "write `#![cfg_attr(not(test), no_std)]` below the header",
        ));
    }
    findings
}

/// `#![no_std]` or `#![cfg_attr(not(test), no_std)]`.
fn says_no_std(attribute: &syn::Attribute) -> bool {
    match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("no_std"),
        syn::Meta::List(list) => {
            list.path.is_ident("cfg_attr") && list.tokens.to_string().contains("no_std")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| (finding.rule, finding.line)).collect()
    }

    fn function(lines: usize) -> String {
        format!("fn a() {{\n{}}}\n", "    b();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_fits_one_screen() {
        assert_eq!(rules("a/src/b.rs", &function(70)), []);
        assert_eq!(rules("a/src/b.rs", &function(71)), [("function-length", 1)]);
        let inside = format!("struct A;\nimpl A {{\n    pub {}}}\n", function(71));
        assert_eq!(rules("a/src/b.rs", &inside), [("function-length", 3)]);
        let in_macro = format!("proptest! {{\n{}}}\n", function(71));
        assert_eq!(rules("a/src/b.rs", &in_macro), [("function-length", 2)]);
    }

    #[test]
    fn a_declaration_without_body_has_no_length() {
        let text = format!("trait A {{ fn a();\n{}fn b(); }}", "// x\n".repeat(90));
        assert_eq!(rules("a/src/b.rs", &text), []);
    }

    #[test]
    fn long_tests_have_a_file_of_their_own() {
        let tests =
            |lines: usize| format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "//\n".repeat(lines - 3));
        assert_eq!(rules("a/src/b.rs", &tests(100)), []);
        assert_eq!(rules("a/src/b.rs", &tests(101)), [("test-length", 1)]);
    }

    #[test]
    fn the_head_of_a_crate_holds_no_code() {
        let head = "mod a;\npub use a::A;\n#[macro_export]\nmacro_rules! b { () => {} }\n";
        assert_eq!(rules("logic/a/src/lib.rs", head), []);
        assert_eq!(rules("logic/a/src/lib.rs", "mod a;\npub fn b() {}\n"), [("crate-head", 2)]);
        assert_eq!(rules("logic/a/src/main.rs", "mod a;\nfn main() {}\n"), []);
    }

    #[test]
    fn floor_one_needs_no_standard_library() {
        let attribute = "#![cfg_attr(not(test), no_std)]\nmod a;\n";
        assert_eq!(rules("ground/a/src/lib.rs", attribute), []);
        assert_eq!(rules("ground/a/src/lib.rs", "#![no_std]\n"), []);
        assert_eq!(rules("ground/a/src/lib.rs", "mod a;\n"), [("no-std", 1)]);
    }
}
