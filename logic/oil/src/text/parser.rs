//! The grammar that all sections of a text share: blocks of attributes, values, ends of statements.
//!
//! A statement that can't be read is told and skipped up to its `;` or to the `}` behind it, so
//! that one run finds all of them. Each step takes a token or ends a block, so that it ends.

use crate::problem::Collector;
use crate::schema::is_object_word;
use crate::text::lexeme::{Token, TokenKind};
use crate::text::number::{self, NumberError};
use crate::text::place::{TextPosition, Word};
use crate::text::sections::SECTIONS;
use crate::text::tree::{Attribute, Block, Value};

/// Most blocks within one another.
pub(crate) const NESTING_MAX: usize = 8;

/// The statement can't be read, which has been told.
#[derive(Debug)]
pub(crate) struct Unreadable;

/// The parser, with its position among the tokens.
pub(crate) struct Parser<'t, 'c> {
    tokens: &'t [Token],
    at: usize,
    /// The last token of which was told that it is not what is expected.
    told: Option<usize>,
    pub(crate) collector: &'c mut Collector,
}

impl<'t, 'c> Parser<'t, 'c> {
    /// A parser of tokens, the last of which is the end.
    pub(crate) fn new(tokens: &'t [Token], collector: &'c mut Collector) -> Self {
        Self { tokens, at: 0, told: None, collector }
    }
}

impl Parser<'_, '_> {
    /// `{ attributes }`, from its `{`.
    pub(crate) fn block(&mut self, what: &str, depth: usize) -> Result<Block, Unreadable> {
        let open = self.peek().place;
        if depth > NESTING_MAX {
            return Err(self.too_deep());
        }
        self.at += 1;
        let mut block = Block::default();
        loop {
            if self.take("}") {
                return Ok(block);
            }
            if self.take_empty() {
                continue;
            }
            if self.is_at_end() || self.is_at_object() {
                self.not_closed(what, open);
                block.is_damaged = true;
                return Ok(block);
            }
            match self.attribute(depth) {
                Ok(attribute) => block.attributes.push(attribute),
                Err(Unreadable) => {
                    block.is_damaged = true;
                    self.recover();
                }
            }
        }
    }

    fn attribute(&mut self, depth: usize) -> Result<Attribute, Unreadable> {
        let name = self.word("an attribute like `NAME = value;`, or `}`")?;
        if !self.is_structure() {
            self.expect("=", &format!("behind `{}`", name.text))?;
        }
        let place = self.peek().place;
        let token = self.peek().text().into_owned();
        let what = format!("the value of `{}`", name.text);
        let value = self.value(&what)?;
        let block = if self.peek().is("{") {
            Some(self.block(&format!("`{} = {token}`", name.text), depth + 1)?)
        } else {
            None
        };
        self.end_of(&what)?;
        Ok(Attribute { name, value, place, token, block })
    }

    /// Returns whether `name {` is next: other tools write so an attribute with parts and a name.
    fn is_structure(&self) -> bool {
        let opens = self.tokens.get(self.at + 1).is_some_and(|token| token.is("{"));
        !self.collector.is_strict() && opens && self.next_word().is_some()
    }

    /// A value; `what` it is.
    pub(crate) fn value(&mut self, what: &str) -> Result<Value, Unreadable> {
        let token = &self.tokens[self.at];
        let value = match &token.kind {
            TokenKind::Word(word) => match word.as_str() {
                "TRUE" => Value::Truth(true),
                "FALSE" => Value::Truth(false),
                "AUTO" => Value::Auto,
                _ => Value::Word,
            },
            TokenKind::Text(_) => Value::Text,
            TokenKind::Number(text) => match number::read(text) {
                Ok(value) => value,
                // Where it is another implementation's word, it is nobody's mistake.
                Err(NumberError::NoNumber) => Value::NoNumber,
                Err(NumberError::TooLarge) => {
                    let message = format!("a number beyond {}", u64::MAX);
                    self.collector.refuse(token.place, text, message);
                    Value::Wrong
                }
            },
            TokenKind::Mark(_) | TokenKind::Foreign(_) | TokenKind::End => {
                return Err(self.expected(what));
            }
        };
        self.at += 1;
        Ok(value)
    }

    /// An optional description and `;`, behind `what`. Where a `;` is only forgotten, the parser
    /// goes on behind it.
    pub(crate) fn end_of(&mut self, what: &str) -> Result<(), Unreadable> {
        if self.take(":") {
            if !matches!(self.peek().kind, TokenKind::Text(_)) {
                return Err(self.expected("a description like `\"text\"`"));
            }
            self.at += 1;
        }
        if self.take(";") {
            return Ok(());
        }
        let begins = |token: &Token| token.is("}") || token.kind == TokenKind::End;
        let next_is_equals = self.tokens.get(self.at + 1).is_some_and(|token| token.is("="));
        let is_word = matches!(self.peek().kind, TokenKind::Word(_));
        let is_forgotten = begins(self.peek())
            || is_word && (next_is_equals || self.is_at_object() || self.is_at_section());
        if is_forgotten && !self.collector.is_strict() {
            let token = self.peek().clone();
            let understood = format!("`;` is missing behind {what}; read as if it were there");
            self.collector.remark(token.place, &token.text(), understood);
            return Ok(());
        }
        let unreadable = self.expected(&format!("`;` behind {what}"));
        if is_forgotten { Ok(()) } else { Err(unreadable) }
    }

    /// Takes a `;` without a statement, which some tools allow.
    pub(crate) fn take_empty(&mut self) -> bool {
        !self.collector.is_strict() && self.take(";")
    }

    /// Returns the next token if it is a word.
    pub(crate) fn next_word(&self) -> Option<&str> {
        match &self.peek().kind {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Skips a block from its `{` to its `}`, whatever it holds.
    pub(crate) fn skip_block(&mut self, what: &str) {
        let open = self.peek().place;
        let mut depth = 0_usize;
        while !self.is_at_end() {
            depth += usize::from(self.peek().is("{"));
            depth -= usize::from(self.peek().is("}"));
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
        self.not_closed(what, open);
    }

    /// A word; `what` it should be.
    pub(crate) fn word(&mut self, what: &str) -> Result<Word, Unreadable> {
        let token = self.peek();
        let TokenKind::Word(text) = &token.kind else {
            return Err(self.expected(what));
        };
        let word = Word { text: text.clone(), place: token.place };
        self.at += 1;
        Ok(word)
    }

    /// The mark `mark`, where it is said to stand.
    pub(crate) fn expect(&mut self, mark: &str, where_: &str) -> Result<TextPosition, Unreadable> {
        let place = self.peek().place;
        if self.take(mark) { Ok(place) } else { Err(self.expected(&format!("`{mark}` {where_}"))) }
    }

    /// Takes a mark if it is the next token.
    pub(crate) fn take(&mut self, mark: &str) -> bool {
        let is_next = self.peek().is(mark);
        self.at += usize::from(is_next);
        is_next
    }

    /// Tells that something else is expected than what is there.
    pub(crate) fn expected(&mut self, what: &str) -> Unreadable {
        // What follows from the same token follows from the first problem with it.
        if self.told.replace(self.at) != Some(self.at) {
            let token = &self.tokens[self.at];
            self.collector.refuse(token.place, &token.text(), format!("expected {what}"));
        }
        Unreadable
    }

    /// Tells that the block of `what` has no end.
    pub(crate) fn not_closed(&mut self, what: &str, open: TextPosition) {
        let here = self.peek().place;
        let open = self.collector.name(open, here);
        self.expected(&format!("`}}`; the block of {what} begins in {open} and has no end"));
    }

    /// Tells that there are too many blocks within one another.
    pub(crate) fn too_deep(&mut self) -> Unreadable {
        let message = format!("a block too deep; {NESTING_MAX} within one another are the most");
        let place = self.peek().place;
        self.collector.refuse(place, "{", message);
        Unreadable
    }

    /// The next token; the end again and again.
    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// Returns `true` if an object begins here, like `TASK name`, or a section.
    pub(crate) fn is_at_object(&self) -> bool {
        let is_word = |token: &Token| matches!(token.kind, TokenKind::Word(_));
        let token = self.peek();
        let next = self.tokens.get(self.at + 1);
        match &token.kind {
            TokenKind::Word(word) if word == "CPU" || is_object_word(word) => {
                next.is_some_and(is_word)
            }
            _ => false,
        }
    }

    /// Returns `true` if a section begins here.
    pub(crate) fn is_at_section(&self) -> bool {
        matches!(&self.peek().kind, TokenKind::Word(word) if SECTIONS.contains(&word.as_str()))
    }

    /// Skips what can't be read: up to behind its `;`, or to the `}` or the object behind it.
    pub(crate) fn recover(&mut self) {
        self.recover_at(Self::is_at_object);
    }

    /// As [`Self::recover`], up to what `stops`. The caller makes progress there.
    pub(crate) fn recover_at(&mut self, stops: fn(&Self) -> bool) {
        let mut depth = 0_usize;
        while !self.is_at_end() {
            let token = self.peek();
            if depth == 0 && (token.is("}") || stops(self)) {
                return;
            }
            let (opens, closes, ends) = (token.is("{"), token.is("}"), token.is(";"));
            self.at += 1;
            depth = depth + usize::from(opens) - usize::from(closes);
            if depth == 0 && ends {
                return;
            }
        }
    }
}
