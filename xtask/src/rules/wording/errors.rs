//! The texts of errors.
//!
//! | rule | says |
//! |---|---|
//! | `cause-twice` | a cause is in an error's text or in its chain, and not in both |
//!
//! `quietcore_units::Causes` prints an error with its whole chain, so a cause that its text holds
//! too is read twice. A field is in the chain where it is `#[from]`, `#[source]`, or called
//! `source`; this is how `thiserror` finds it. An error that is `transparent` has the chain of its
//! cause and no text of its own, so it is in order.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::finding::Finding;
use crate::source::Source;
use crate::tree::Tree;

/// Finds errors whose text holds what their chain tells.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.sources.iter().flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<Finding> {
    let mut finder = Finder { path: &source.path, findings: Vec::new() };
    finder.visit_file(&source.syntax);
    finder.findings
}

struct Finder<'a> {
    path: &'a str,
    findings: Vec<Finding>,
}

impl Finder<'_> {
    fn look(&mut self, name: &syn::Ident, attributes: &[syn::Attribute], fields: &syn::Fields) {
        let Some(cause) = cause(fields) else {
            return;
        };
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("error")) {
            if let syn::Meta::List(list) = &attribute.meta
                && holds(list.tokens.clone(), &cause)
            {
                self.findings.push(Finding::new(
                    "cause-twice",
                    self.path,
                    attribute.span().start().line,
                    format!("the text of `{name}` holds `{cause}`, which its chain tells too"),
                    "take it out of the text, and show the error with `Causes`",
                ));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.look(&item.ident, &item.attrs, &item.fields);
        visit::visit_item_struct(self, item);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.look(&variant.ident, &variant.attrs, &variant.fields);
        visit::visit_variant(self, variant);
    }
}

/// The field that the chain goes on with, as a text names it.
fn cause(fields: &syn::Fields) -> Option<String> {
    fields.iter().enumerate().find_map(|(index, field)| {
        let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
        let is_marked = |attribute: &syn::Attribute| {
            attribute.path().is_ident("from") || attribute.path().is_ident("source")
        };
        (name == "source" || field.attrs.iter().any(is_marked)).then_some(name)
    })
}

/// Returns `true` where the tokens in `error(..)` write the field: by a placeholder or argument.
fn holds(tokens: TokenStream, field: &str) -> bool {
    let mut tokens = tokens.into_iter();
    // `transparent` and `fmt = ..` are no literals.
    let Some(TokenTree::Literal(literal)) = tokens.next() else {
        return false;
    };
    let Ok(text) = syn::parse2::<syn::LitStr>(TokenTree::Literal(literal).into()) else {
        return false;
    };
    placeholders(&text.value()).iter().any(|name| name == field) || names(tokens.collect(), field)
}

/// Lists the names between the braces of a format string, without their formats.
fn placeholders(text: &str) -> Vec<String> {
    let text = text.replace("{{", "");
    let insides = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    insides.filter_map(|inside| Some(inside.split(':').next()?.trim().to_owned())).collect()
}

/// Returns `true` where an argument is about the field: `.0`, `_0`, `.source` or `source`.
fn names(tokens: TokenStream, field: &str) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.iter().enumerate().any(|(index, token)| match token {
        TokenTree::Ident(word) => {
            let word = word.to_string();
            word == field || word.strip_prefix('_') == Some(field)
        }
        TokenTree::Literal(number) => {
            let before = index.checked_sub(1).map(|at| &tokens[at]);
            let is_field = matches!(before, Some(TokenTree::Punct(dot)) if dot.as_char() == '.');
            is_field && number.to_string() == field
        }
        TokenTree::Group(group) => {
            group.delimiter() != Delimiter::Bracket && names(group.stream(), field)
        }
        TokenTree::Punct(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the findings of an enum of errors with these variants, which begin in line 2.
    fn lines(variants: &str) -> Vec<usize> {
        let text = format!("enum A {{\n{variants}\n}}\n");
        let findings = check(&Tree::of(&[("a/src/b.rs", &text)]));
        assert!(findings.iter().all(|finding| finding.rule == "cause-twice"));
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_cause_that_is_in_the_chain_is_not_in_the_text() {
        assert_eq!(lines("#[error(\"a: {0}\")]\nB(#[from] C),"), [2]);
        assert_eq!(lines("#[error(\"a: {0:?}; d\")]\nB(#[source] C),"), [2]);
        assert_eq!(lines("#[error(\"a {d}: {source}\")]\nB { d: u8, source: C },"), [2]);
        assert_eq!(lines("#[error(\"a: {cause}\")]\nB { #[source] cause: C },"), [2]);
        assert_eq!(
            lines("#[error(\"a {0}\")]\nB(u8),\n#[error(\"a {1}\")]\nC(u8, #[from] D)"),
            [4]
        );
    }

    #[test]
    fn texts_of_several_lines_and_arguments_are_looked_at() {
        assert_eq!(lines("#[error(\n    \"a: \\\n     {0}; d\"\n)]\nB(#[from] C),"), [2]);
        assert_eq!(lines("#[error(\"a: {}\", .0)]\nB(#[from] C),"), [2]);
        assert_eq!(lines("#[error(\"a: {}\", text(because))]\nB { #[source] because: C },"), [2]);
        assert_eq!(lines("#[error(\"{}: {c}\", d.show(), c = _0)]\nB(#[from] C),"), [2]);
    }

    #[test]
    fn a_cause_in_one_of_the_two_is_in_order() {
        assert!(lines("#[error(\"a: {0}\")]\nB(C),").is_empty());
        assert!(lines("#[error(\"a\")]\nB(#[from] C),").is_empty());
        assert!(lines("#[error(transparent)]\nB(#[from] C),").is_empty());
        assert!(lines("#[error(\"`{d}`, {{0}}, {}\", d.0)]\nB { d: D, source: C },").is_empty());
        assert!(lines("#[error(\"a {} of {D}\", .0)]\nB(u8, #[source] C),").is_empty());
    }

    #[test]
    fn a_struct_is_looked_at_as_a_variant_is() {
        let text = "#[derive(Error)]\n#[error(\"a: {source}\")]\nstruct B {\n    source: C,\n}\n";
        let findings = check(&Tree::of(&[("a/src/b.rs", text)]));
        let what = "the text of `B` holds `source`, which its chain tells too";
        assert_eq!((findings[0].line, findings[0].what.as_str()), (2, what));
    }
}
