//! One Rust file in the forms that the rules look at: lines, syntax tree, tokens, comments.

use std::ops::RangeInclusive;
use std::str::FromStr as _;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::comments::{Comment, comments};

/// A Rust file that could be parsed.
pub(crate) struct Source {
    /// Path below the root of the repository.
    pub(crate) path: String,
    /// The text as it stands in the file.
    pub(crate) text: String,
    /// Its syntax tree; what stands inside macro calls is not part of it.
    pub(crate) syntax: syn::File,
    /// Its tokens, those inside macro calls included.
    pub(crate) tokens: TokenStream,
    /// The comments of the file.
    pub(crate) comments: Vec<Comment>,
    test_lines: Vec<RangeInclusive<usize>>,
}

impl Source {
    /// Parses the file; the error is the parser's message with its line.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self, (usize, String)> {
        let syntax = syn::parse_file(text)
            .map_err(|error| (error.span().start().line, error.to_string()))?;
        let tokens = TokenStream::from_str(text)
            .map_err(|error| (error.span().start().line, error.to_string()))?;
        let mut finder = TestFinder::default();
        finder.visit_file(&syntax);
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            syntax,
            tokens,
            comments: comments(text),
            test_lines: finder.lines,
        })
    }

    /// Returns `true` if the whole file is there for tests only.
    pub(crate) fn is_test_file(&self) -> bool {
        is_test_path(&self.path)
    }

    /// Returns `true` if the line belongs to a test or to a module of tests.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.is_test_file() || self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// Calls `visit` at every token of every nesting, with the tokens of its level and its index.
    pub(crate) fn walk(&self, mut visit: impl FnMut(&[TokenTree], usize)) {
        walk(self.tokens.clone(), &mut visit);
    }

    /// The names of all test functions, those inside macro calls such as `proptest!` included.
    pub(crate) fn test_functions(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut attributed = false;
        self.walk(|tokens, index| match &tokens[index] {
            TokenTree::Ident(word) if word == "fn" => {
                if let Some(TokenTree::Ident(name)) = tokens.get(index + 1)
                    && attributed
                {
                    names.push(name.to_string());
                }
                attributed = false;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                attributed |= is_hash(tokens, index) && names_test(&group.stream());
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => attributed = false,
            _ => {}
        });
        names
    }
}

/// Returns `true` if a file at this path is there for tests only.
pub(crate) fn is_test_path(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.starts_with("tests/") || path.contains("/tests/")
}

/// Returns `true` if a bracket group at `index` is the body of an attribute.
pub(crate) fn is_hash(tokens: &[TokenTree], index: usize) -> bool {
    let punctuation = |back: usize| match index.checked_sub(back).map(|at| &tokens[at]) {
        Some(TokenTree::Punct(punctuation)) => Some(punctuation.as_char()),
        _ => None,
    };
    match punctuation(1) {
        Some('#') => true,
        Some('!') => punctuation(2) == Some('#'),
        _ => false,
    }
}

fn walk(stream: TokenStream, visit: &mut impl FnMut(&[TokenTree], usize)) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for index in 0..tokens.len() {
        visit(&tokens, index);
        if let TokenTree::Group(group) = &tokens[index] {
            walk(group.stream(), visit);
        }
    }
}

/// `test`, `some_runtime::test`, with or without arguments.
fn names_test(attribute: &TokenStream) -> bool {
    let mut last = None;
    for token in attribute.clone() {
        match token {
            TokenTree::Ident(word) => last = Some(word.to_string()),
            TokenTree::Punct(punctuation) if punctuation.as_char() == ':' => {}
            _ => break,
        }
    }
    last.as_deref() == Some("test")
}

/// Collects the lines of everything that is compiled for tests only.
#[derive(Default)]
struct TestFinder {
    lines: Vec<RangeInclusive<usize>>,
}

impl TestFinder {
    fn note(&mut self, attributes: &[syn::Attribute], span: proc_macro2::Span) {
        if attributes.iter().any(is_for_tests) {
            self.lines.push(span.start().line..=span.end().line);
        }
    }
}

impl<'ast> Visit<'ast> for TestFinder {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.note(&item.attrs, item.span());
        visit::visit_item_mod(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.note(&item.attrs, item.span());
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.note(&item.attrs, item.span());
        visit::visit_item_impl(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.note(&item.attrs, item.span());
        visit::visit_impl_item_fn(self, item);
    }
}

/// `#[test]`, `#[cfg(test)]` and `#[cfg(all(test, ..))]`, but not `#[cfg(not(test))]`.
pub(crate) fn is_for_tests(attribute: &syn::Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let syn::Meta::List(list) = &attribute.meta else {
        return false;
    };
    let condition = list.tokens.to_string();
    let mut words = condition.split(|character: char| !character.is_alphanumeric());
    attribute.path().is_ident("cfg")
        && words.clone().any(|word| word == "test")
        && !words.any(|word| word == "not")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
fn product() {}

#[cfg(test)]
mod tests {
    #[test]
    fn one_holds() {}

    proptest! {
        #[test]
        fn many_hold(a in 0..3) { check(a); }
    }

    fn helper() {}
}

#[cfg(not(test))]
fn also_product() {}
";

    #[test]
    fn lines_of_tests_are_told_from_lines_of_the_product() {
        let source = Source::parse("a/src/b.rs", TEXT).ok().unwrap();
        assert!(!source.is_test_line(1));
        assert!(source.is_test_line(3) && source.is_test_line(13));
        assert!(!source.is_test_line(17));
        assert!(is_test_path("a/tests/b.rs") && is_test_path("a/src/b/tests.rs"));
        assert!(!is_test_path("a/src/latests.rs"));
    }

    #[test]
    fn test_functions_are_found_inside_macros_too() {
        let source = Source::parse("a/src/b.rs", TEXT).ok().unwrap();
        assert_eq!(source.test_functions(), ["one_holds", "many_hold"]);
    }

    #[test]
    fn what_is_no_rust_is_refused_with_its_line() {
        assert_eq!(Source::parse("a.rs", "//! x\nfn (").err().map(|e| e.0), Some(2));
    }
}
