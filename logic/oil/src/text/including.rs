//! `#include`: the tokens of other files in the place of the line that asks for them.
//!
//! The files come from a callback, because this crate reads none. Files that include each other,
//! too many of them and too much text are refused.

use std::fmt;

use crate::problem::Collector;
use crate::text::lexeme::{Item, Token, TokenKind, items};
use crate::text::place::TextPosition;
use crate::text::sections::is_cpu_word;

/// Most bytes of all files together.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 20;
/// Most files that include one another.
pub(crate) const INCLUDE_DEPTH_MAX: usize = 8;
/// Most lines that include a file.
pub(crate) const INCLUDES_MAX: usize = 100;

/// Gives the text of an included file, or says why there is none.
pub(crate) type Include<'i> = dyn FnMut(&str) -> Result<String, NotIncluded> + 'i;

/// Why there is no text of an included file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotIncluded {
    /// There is no such file; the words say where it was looked for.
    Missing(String),
    /// It is there and can't be read, for this reason.
    Unreadable(String),
}

impl fmt::Display for NotIncluded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(why) | Self::Unreadable(why) => f.write_str(why),
        }
    }
}

/// The state while files are put together.
struct Including<'r, 'i> {
    include: &'r mut Include<'i>,
    collector: &'r mut Collector,
    /// The files that are open, the outermost first.
    open: Vec<String>,
    includes: usize,
    bytes: usize,
    /// Blocks that are open at the last token.
    depth: usize,
    /// `true` once a CPU section has begun.
    in_cpu: bool,
    tokens: Vec<Token>,
}

/// A line of the preprocessor.
enum Directive<'l> {
    /// `#include "name"` or `#include <name>`
    Include(&'l str),
    /// `#includeifexists`, which goil has.
    IncludeIfExists(&'l str),
}

/// The tokens of a text and of all that it includes. The last one is the end, and the only one.
pub(crate) fn tokens(
    name: &str,
    text: &str,
    include: &mut Include<'_>,
    collector: &mut Collector,
) -> Vec<Token> {
    let mut including = Including {
        include,
        collector,
        open: Vec::new(),
        includes: 0,
        bytes: 0,
        depth: 0,
        in_cpu: false,
        tokens: Vec::new(),
    };
    let file = including.collector.add_file(name);
    let start = TextPosition { file, line: 1, column: 1 };
    let end = including.add(name, text, file, start);
    including.tokens.push(Token { kind: TokenKind::End, place: end });
    including.tokens
}

impl Including<'_, '_> {
    /// Adds the tokens of a file without its end, and says where that is.
    fn add(&mut self, name: &str, text: &str, file: u16, place: TextPosition) -> TextPosition {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > TEXT_BYTES_MAX {
            let message = format!(
                "with this file there are {} bytes of text; {TEXT_BYTES_MAX} are the most",
                self.bytes
            );
            self.collector.refuse(place, name, message);
            return place;
        }
        let mut end = place;
        self.open.push(name.to_owned());
        for item in items(text, file, self.collector) {
            match item {
                Item::Token(token) if token.kind == TokenKind::End => {
                    end = token.place;
                    break;
                }
                Item::Token(token) => self.push(token),
                Item::Directive(place, line) => self.directive(place, &line),
            }
        }
        self.open.pop();
        end
    }

    fn push(&mut self, token: Token) {
        match &token.kind {
            TokenKind::Mark("{") => self.depth += 1,
            TokenKind::Mark("}") => self.depth = self.depth.saturating_sub(1),
            TokenKind::Word(word) if self.depth == 0 && is_cpu_word(word) => self.in_cpu = true,
            _ => {}
        }
        self.tokens.push(token);
    }

    fn directive(&mut self, place: TextPosition, line: &str) {
        let directive = directive(line).filter(|directive| {
            matches!(directive, Directive::Include(_)) || !self.collector.is_strict()
        });
        let Some(directive) = directive else {
            let known =
                "only `#include \"file\"` and `#include <file>` are known of the preprocessor";
            let is_other = !line.trim_start_matches(['#', ' ', '\t']).starts_with("include");
            let remedy = "; run the file through it first: `gcc -E -P -xc FILE`, with `-D` for \
                          each macro that its build defines";
            let message = format!("{known}{}", if is_other { remedy } else { "" });
            self.collector.refuse(place, line.trim_end(), message);
            return;
        };
        let (Directive::Include(written) | Directive::IncludeIfExists(written)) = directive;
        let names = self.names(written);
        if let Some((entry, name)) = names.iter().find_map(|name| {
            let entry = self.open.iter().position(|open| open == name)?;
            Some((entry, name))
        }) {
            let circle = self.open[entry..].join("` includes `");
            let message = format!("files include each other: `{circle}` includes `{name}`");
            self.collector.refuse(place, written, message);
            return;
        }
        if self.open.len() > INCLUDE_DEPTH_MAX {
            let message =
                format!("{INCLUDE_DEPTH_MAX} files that include one another are the most");
            self.collector.refuse(place, written, message);
            return;
        }
        if self.includes == INCLUDES_MAX {
            let message = format!("{INCLUDES_MAX} `#include` are the most");
            self.collector.refuse(place, written, message);
            return;
        }
        self.includes += 1;
        let mut reasons = Vec::new();
        for name in names {
            match (self.include)(&name) {
                Ok(text) => {
                    let file = self.collector.add_file(&name);
                    self.add(&name, &text, file, place);
                    return;
                }
                Err(reason) => reasons.push(reason),
            }
        }
        let is_optional = matches!(directive, Directive::IncludeIfExists(_))
            && reasons.iter().all(|reason| matches!(reason, NotIncluded::Missing(_)));
        if !is_optional {
            self.missing(place, written, &reasons);
        }
    }

    /// The names under which an included file may lie: beside the file that includes it, then
    /// beside the first one.
    fn names(&self, written: &str) -> Vec<String> {
        let within = self.open.get(1..).and_then(<[String]>::last);
        let beside = within.and_then(|open| open.rsplit_once('/'));
        let mut names: Vec<_> =
            beside.map(|(folder, _)| format!("{folder}/{written}")).into_iter().collect();
        names.push(written.to_owned());
        names
    }

    /// A file that is not there, or that is there and can't be read, which is an error anywhere.
    /// Before the CPU only definitions of an implementation stand; what they define beyond the
    /// language is used for nothing here.
    fn missing(&mut self, place: TextPosition, written: &str, reasons: &[NotIncluded]) {
        let is_there = reasons.iter().any(|reason| matches!(reason, NotIncluded::Unreadable(_)));
        let why = reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let refused = format!("it can't be included: {why}");
        if is_there || self.depth > 0 || self.in_cpu {
            self.collector.refuse(place, written, refused);
            return;
        }
        let understood = format!(
            "not there and not used: before the CPU stands what another implementation defines \
             ({why})"
        );
        self.collector.depart(place, written, &refused, &understood);
    }
}

/// The directive of a line, with nothing but a comment behind it.
fn directive(line: &str) -> Option<Directive<'_>> {
    let rest = line.strip_prefix('#')?.trim_start();
    match rest.strip_prefix("includeifexists") {
        Some(rest) => included_name(rest).map(Directive::IncludeIfExists),
        None => included_name(rest.strip_prefix("include")?).map(Directive::Include),
    }
}

/// The name in `"name"` or `<name>`, with nothing but a comment behind it.
fn included_name(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let (close, rest) = match rest.chars().next()? {
        '"' => ('"', &rest[1..]),
        '<' => ('>', &rest[1..]),
        _ => return None,
    };
    let (name, behind) = rest.split_once(close)?;
    let behind = behind.trim();
    let is_alone = behind.is_empty()
        || behind.starts_with("//")
        || (behind.starts_with("/*") && behind.ends_with("*/"));
    (is_alone && !name.is_empty()).then_some(name)
}
