//! The homes of `unsafe`, and the comments that stand beside it.
//!
//! | rule | says |
//! |---|---|
//! | `unsafe-home` | only in the folders of [`UNSAFE_HOMES`] |
//! | `unsafety` | the file says why it needs it, with `// UNSAFETY:` at its head |
//! | `safety` | right above each block, `impl` and `extern` stands `// SAFETY:` |
//! | `safety-section` | the documentation of an unsafe function has a section `# Safety` |

use proc_macro2::{Delimiter, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::exemptions::UNSAFE_HOMES;
use crate::finding::Finding;
use crate::source::Source;
use crate::tree::Tree;

/// Lines of one statement that may stand between the comment and the block.
const STATEMENT_LINES_MAX: usize = 4;

/// Finds `unsafe` without a home or without its reasons.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.sources.iter().flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<Finding> {
    let mut first = None;
    let mut findings = Vec::new();
    source.walk(|tokens, index| {
        let TokenTree::Ident(word) = &tokens[index] else {
            return;
        };
        let line = word.span().start().line;
        if word != "unsafe" || is_attribute(tokens, index) {
            return;
        }
        first = first.or(Some(line));
        if demands_comment(tokens, index) && !has_safety_comment(source, line) {
            findings.push(Finding::new(
                "safety",
                &source.path,
                line,
                "no `// SAFETY:` stands right above this `unsafe`",
                "say there how each duty is met",
            ));
        }
    });
    let Some(first) = first else {
        return findings;
    };
    findings.extend(check_file(source, first));
    let mut sections = SectionFinder { path: &source.path, findings: Vec::new() };
    sections.visit_file(&source.syntax);
    findings.append(&mut sections.findings);
    findings
}

/// `#[unsafe(no_mangle)]`.
fn is_attribute(tokens: &[TokenTree], index: usize) -> bool {
    matches!(
        tokens.get(index + 1),
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis
    )
}

/// Blocks, implementations and foreign blocks; functions are documented instead.
fn demands_comment(tokens: &[TokenTree], index: usize) -> bool {
    match tokens.get(index + 1) {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(TokenTree::Ident(word)) if word == "impl" => true,
        Some(TokenTree::Ident(word)) if word == "extern" => tokens[index + 2..]
            .iter()
            .find(|token| !matches!(token, TokenTree::Literal(_)))
            .is_some_and(|token| matches!(token, TokenTree::Group(_))),
        _ => false,
    }
}

/// Looks upwards from `line`: over the rest of its statement, then through the comment above it.
fn has_safety_comment(source: &Source, line: usize) -> bool {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut in_comment = false;
    let mut statement_lines = 0;
    for number in (0..line - 1).rev() {
        let above = lines[number].trim();
        if above.starts_with("//") {
            in_comment = true;
            if above.trim_start_matches('/').trim_start().starts_with("SAFETY:") {
                return true;
            }
            continue;
        }
        let ends_before = above.is_empty() || above.ends_with([';', '{', '}', ',']);
        statement_lines += 1;
        let is_attribute = above.starts_with("#[");
        if in_comment || (ends_before && !is_attribute) || statement_lines > STATEMENT_LINES_MAX {
            return false;
        }
    }
    false
}

fn check_file(source: &Source, first: usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_home =
        |home: &str| source.path == home || (home.ends_with('/') && source.path.starts_with(home));
    if !UNSAFE_HOMES.iter().any(|(home, _)| is_home(home)) {
        findings.push(Finding::new(
            "unsafe-home",
            &source.path,
            first,
            "`unsafe` stands outside the floors and crates that may use it",
            "move it to `machine/` behind a safe face, or list the folder with its reason in \
             `xtask/src/exemptions.rs`",
        ));
    }
    let head_end = source.syntax.items.first().map_or(first, |item| item.span().start().line);
    let says_why = source
        .comments
        .iter()
        .any(|comment| comment.text.starts_with("UNSAFETY:") && comment.line <= head_end);
    if !says_why {
        findings.push(Finding::new(
            "unsafety",
            &source.path,
            first,
            "the head of the file has no `// UNSAFETY:`",
            "say there why safe code does not do",
        ));
    }
    findings
}

struct SectionFinder<'a> {
    path: &'a str,
    findings: Vec<Finding>,
}

impl SectionFinder<'_> {
    fn judge(&mut self, signature: &syn::Signature, attributes: &[syn::Attribute]) {
        if !matches!(signature.safety, syn::Safety::Unsafe(_))
            || attributes.iter().any(is_safety_section)
        {
            return;
        }
        self.findings.push(Finding::new(
            "safety-section",
            self.path,
            signature.span().start().line,
            format!("the documentation of `{}` has no section `# Safety`", signature.ident),
            "list there what the caller owes",
        ));
    }
}

impl<'ast> Visit<'ast> for SectionFinder<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.judge(&item.sig, &item.attrs);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // The duties of a trait's function are written at the trait.
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.judge(&item.sig, &item.attrs);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.judge(&item.sig, &item.attrs);
        visit::visit_trait_item_fn(self, item);
    }
}

fn is_safety_section(attribute: &syn::Attribute) -> bool {
    let syn::Meta::NameValue(documentation) = &attribute.meta else {
        return false;
    };
    let syn::Expr::Lit(text) = &documentation.value else {
        return false;
    };
    matches!(&text.lit, syn::Lit::Str(text) if text.value().trim() == "# Safety")
}

#[cfg(test)]
mod tests;
