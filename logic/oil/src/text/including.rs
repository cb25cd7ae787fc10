//! `#include`: the tokens of other files in the place of the line that asks for them.
//!
//! The files come from a callback, because this crate reads none. Files that include each other,
//! too many of them and too much text are refused.

use crate::problem::Collector;
use crate::text::lexeme::{Item, Token, TokenKind, items};
use crate::text::place::Place;

/// Most bytes of all files together.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 20;
/// Most files that include one another.
pub(crate) const INCLUDE_DEPTH_MAX: usize = 8;
/// Most lines that include a file.
pub(crate) const INCLUDES_MAX: usize = 100;

/// Gives the text of an included file, or says why there is none.
pub(crate) type Include<'i> = dyn FnMut(&str) -> Result<String, String> + 'i;

/// What is known while files are put together.
struct Including<'r, 'i> {
    include: &'r mut Include<'i>,
    collector: &'r mut Collector,
    /// The files that are open, the outermost first.
    open: Vec<String>,
    includes: usize,
    bytes: usize,
    tokens: Vec<Token>,
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
        tokens: Vec::new(),
    };
    let file = including.collector.add_file(name);
    let start = Place { file, line: 1, column: 1 };
    let end = including.add(name, text, file, start);
    including.tokens.push(Token { kind: TokenKind::End, place: end });
    including.tokens
}

impl Including<'_, '_> {
    /// Adds the tokens of a file without its end, and says where that is.
    fn add(&mut self, name: &str, text: &str, file: u16, place: Place) -> Place {
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
                Item::Token(token) => self.tokens.push(token),
                Item::Directive(place, line) => self.directive(place, &line),
            }
        }
        self.open.pop();
        end
    }

    fn directive(&mut self, place: Place, line: &str) {
        let Some(name) = included_name(line) else {
            let message =
                "only `#include \"file\"` and `#include <file>` are known of the preprocessor";
            self.collector.refuse(place, line.trim_end(), message);
            return;
        };
        if let Some(entry) = self.open.iter().position(|open| open == name) {
            let circle = self.open[entry..].join("` includes `");
            let message = format!("files include each other: `{circle}` includes `{name}`");
            self.collector.refuse(place, name, message);
            return;
        }
        if self.open.len() > INCLUDE_DEPTH_MAX {
            let message =
                format!("{INCLUDE_DEPTH_MAX} files that include one another are the most");
            self.collector.refuse(place, name, message);
            return;
        }
        if self.includes == INCLUDES_MAX {
            let message = format!("{INCLUDES_MAX} `#include` are the most");
            self.collector.refuse(place, name, message);
            return;
        }
        self.includes += 1;
        match (self.include)(name) {
            Ok(text) => {
                let file = self.collector.add_file(name);
                self.add(name, &text, file, place);
            }
            Err(reason) => {
                self.collector.refuse(place, name, format!("it can't be included: {reason}"));
            }
        }
    }
}

/// The name in `#include "name"` or `#include <name>`, with nothing but a comment behind it.
fn included_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
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
