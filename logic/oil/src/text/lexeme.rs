//! Splits characters into tokens.
//!
//! Comments of C and C++ and white space separate tokens. A number with a letter in it, a string
//! without its end and a character that OIL has no use for are tokens too: the parser says what
//! would be right in their place.

use std::borrow::Cow;

use logos::{Filter, Lexer, Logos};

use crate::problem::Collector;
use crate::text::place::TextPosition;

/// Longest word, in bytes.
pub(crate) const WORD_BYTES_MAX: usize = 100;

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a word of OIL.
    Word(String),
    /// Something that begins like a number, as written.
    Number(String),
    /// A string, without its quotation marks.
    Text(String),
    /// One of `{ } [ ] = : ; ,` or `..`.
    Mark(&'static str),
    /// Any other character, which the language doesn't have.
    Foreign(String),
    /// The end of the file.
    End,
}

/// A token and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) place: TextPosition,
}

impl Token {
    /// The token as a problem shows it; empty at the end of the file.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match &self.kind {
            TokenKind::Word(text) | TokenKind::Number(text) | TokenKind::Foreign(text) => {
                Cow::Borrowed(text)
            }
            TokenKind::Text(text) => Cow::Owned(format!("\"{text}\"")),
            TokenKind::Mark(mark) => Cow::Borrowed(mark),
            TokenKind::End => Cow::Borrowed(""),
        }
    }

    /// Returns `true` if it is this mark.
    pub(crate) fn is(&self, mark: &str) -> bool {
        matches!(&self.kind, TokenKind::Mark(own) if *own == mark)
    }
}

/// A token, or a line that asks for another file.
#[derive(Debug)]
pub(crate) enum Item {
    Token(Token),
    /// A line that begins with `#`, as written.
    Directive(TextPosition, String),
}

#[derive(Clone, Copy, Debug, Logos, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\v]+")]
#[logos(skip("//[^\n]*", allow_greedy = true))]
enum Lexeme {
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    // Whatever begins like a number, so that `12ms` is one token; the parser reads it.
    #[regex(r"[+-]?[0-9][0-9A-Za-z_]*(\.[0-9][0-9A-Za-z_]*)?", number)]
    Number,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Text,
    #[regex(r#""([^"\\\n]|\\[^\n])*"#)]
    OpenText,
    #[token("{")]
    BraceOpen,
    #[token("}")]
    BraceClose,
    #[token("[")]
    BracketOpen,
    #[token("]")]
    BracketClose,
    #[token("=")]
    Equals,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token("..")]
    To,
    #[token("/*", comment)]
    OpenComment,
    #[regex("#[^\n]*", allow_greedy = true)]
    Directive,
}

/// Adds the exponent of a number, whose sign is no part of the number otherwise.
fn number(lexer: &mut Lexer<'_, Lexeme>) {
    let is_decimal = !lexer.slice().trim_start_matches(['+', '-']).starts_with("0x");
    let rest = lexer.remainder();
    if is_decimal && lexer.slice().ends_with(['e', 'E']) && rest.starts_with(['+', '-']) {
        let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            lexer.bump(1 + digits);
        }
    }
}

/// Skips a comment; without its end it is the rest of the file.
fn comment(lexer: &mut Lexer<'_, Lexeme>) -> Filter<()> {
    if let Some(end) = lexer.remainder().find("*/") {
        lexer.bump(end + 2);
        return Filter::Skip;
    }
    lexer.bump(lexer.remainder().len());
    Filter::Emit(())
}

/// Adds up lines and columns from one token to the next.
struct Positions<'t> {
    text: &'t str,
    /// Up to where lines and columns are counted, in bytes.
    counted: usize,
    place: TextPosition,
}

impl Positions<'_> {
    /// The place of a byte at or behind the one asked for before.
    fn at(&mut self, offset: usize) -> TextPosition {
        for character in self.text[self.counted..offset].chars() {
            if character == '\n' {
                self.place.line += 1;
                self.place.column = 1;
            } else {
                self.place.column += 1;
            }
        }
        self.counted = offset;
        self.place
    }
}

/// The tokens of a file, the last of which is its end.
pub(crate) fn items(text: &str, file: u16, collector: &mut Collector) -> Vec<Item> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut places =
        Positions { text, counted: 0, place: TextPosition { file, line: 1, column: 1 } };
    let mut items = Vec::new();
    let mut lexer = Lexeme::lexer(text);
    while let Some(lexeme) = lexer.next() {
        let place = places.at(lexer.span().start);
        items.push(item(lexeme, lexer.slice(), place, collector));
    }
    let place = places.at(text.len());
    items.push(Item::Token(Token { kind: TokenKind::End, place }));
    items
}

fn item(
    lexeme: Result<Lexeme, ()>,
    slice: &str,
    place: TextPosition,
    collector: &mut Collector,
) -> Item {
    let kind = match lexeme {
        Ok(Lexeme::Word) => {
            if slice.len() > WORD_BYTES_MAX {
                let message =
                    format!("a name of {} characters; {WORD_BYTES_MAX} are the most", slice.len());
                collector.refuse(place, slice, message);
            }
            TokenKind::Word(slice.to_owned())
        }
        Ok(Lexeme::Number) => TokenKind::Number(slice.to_owned()),
        Ok(Lexeme::Text) => TokenKind::Text(unescaped(&slice[1..slice.len() - 1])),
        Ok(Lexeme::OpenText) => {
            let message = "the string does not end on its line; close it with `\"`";
            collector.refuse(place, slice, message);
            TokenKind::Text(unescaped(&slice[1..]))
        }
        Ok(Lexeme::OpenComment) => {
            collector.refuse(place, "/*", "the comment does not end; close it with `*/`");
            TokenKind::End
        }
        Ok(Lexeme::Directive) => return Item::Directive(place, slice.to_owned()),
        Ok(mark) => mark_of(mark).map_or(TokenKind::End, TokenKind::Mark),
        Err(()) => TokenKind::Foreign(slice.to_owned()),
    };
    Item::Token(Token { kind, place })
}

fn mark_of(lexeme: Lexeme) -> Option<&'static str> {
    match lexeme {
        Lexeme::BraceOpen => Some("{"),
        Lexeme::BraceClose => Some("}"),
        Lexeme::BracketOpen => Some("["),
        Lexeme::BracketClose => Some("]"),
        Lexeme::Equals => Some("="),
        Lexeme::Colon => Some(":"),
        Lexeme::Semicolon => Some(";"),
        Lexeme::Comma => Some(","),
        Lexeme::To => Some(".."),
        Lexeme::Word
        | Lexeme::Number
        | Lexeme::Text
        | Lexeme::OpenText
        | Lexeme::OpenComment
        | Lexeme::Directive => None,
    }
}

/// A string with `\"` and `\\` as what they stand for; other characters stay as they are.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('"' | '\\')) => plain.extend(characters.next()),
            _ => plain.push(character),
        }
    }
    plain
}
