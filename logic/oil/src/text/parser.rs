//! Tokens to a tree, after the grammar of OIL 2.5.
//!
//! ```text
//! OIL_VERSION = "2.5";
//! IMPLEMENTATION name { TASK { UINT32 [1..16] PRIORITY; … }; … };
//! CPU name { TASK name { PRIORITY = 3; AUTOSTART = TRUE { APPMODE = A; }; } : "remark"; … };
//! ```
//!
//! A statement that can't be read is told and skipped up to its `;` or to the `}` behind it, so
//! that one run finds all of them. Each step takes a token or ends a block, so that it ends.

use crate::problem::Collector;
use crate::schema::is_object_word;
use crate::text::lexeme::{Token, TokenKind};
use crate::text::number::{self, NumberError};
use crate::text::place::{Place, Word};
use crate::text::tree::{Attribute, Block, Object, Tree, Value};
use quietcore_wording::{either, meant};

/// Most blocks within one another.
pub(crate) const NESTING_MAX: usize = 8;

/// The version of the language.
pub(crate) const VERSION: &str = "2.5";

const SECTIONS: [&str; 3] = ["OIL_VERSION", "IMPLEMENTATION", "CPU"];

/// The statement can't be read, which has been told.
#[derive(Debug)]
pub(crate) struct Unreadable;

/// Where in the tokens the parser is.
pub(crate) struct Parser<'t, 'c> {
    tokens: &'t [Token],
    at: usize,
    /// The last token of which was told that it is not what is expected.
    told: Option<usize>,
    pub(crate) collector: &'c mut Collector,
}

/// Makes a tree of tokens, the last of which is the end.
pub(crate) fn parse(tokens: &[Token], collector: &mut Collector) -> Tree {
    let mut parser = Parser { tokens, at: 0, told: None, collector };
    let mut tree = Tree::default();
    let mut sections = Sections::default();
    while !parser.is_at_end() {
        if parser.section(&mut tree, &mut sections).is_err() {
            parser.recover_at(Parser::is_at_section);
            if parser.take("}") {
                parser.take(";");
            }
        }
    }
    let end = parser.peek().place;
    // A section that could not be read may be the one that seems to be missing.
    let is_missing = parser.collector.is_clean();
    if sections.version.is_none() && is_missing {
        let first = &tokens[0];
        let message = format!("`OIL_VERSION = \"{VERSION}\";` is missing; begin with it");
        parser.collector.refuse(first.place, &first.text(), message);
    }
    if sections.cpu.is_none() && is_missing {
        let message = "there is no CPU; describe the application in `CPU name { … };`";
        parser.collector.refuse(end, "", message);
    }
    tree
}

/// Where each section was found first.
#[derive(Default)]
struct Sections {
    version: Option<Place>,
    implementation: Option<Place>,
    cpu: Option<Place>,
}

impl Parser<'_, '_> {
    fn section(&mut self, tree: &mut Tree, sections: &mut Sections) -> Result<(), Unreadable> {
        let word = self.section_word()?;
        let seen = match word.text.as_str() {
            "OIL_VERSION" => &mut sections.version,
            "IMPLEMENTATION" => &mut sections.implementation,
            _ => &mut sections.cpu,
        };
        if let Some(first) = *seen {
            let first = self.collector.name(first, word.place);
            let message = format!("the second of its kind, after that in {first}; leave one");
            self.collector.refuse_word(&word, message);
        } else {
            *seen = Some(word.place);
        }
        match word.text.as_str() {
            "OIL_VERSION" => self.version(),
            "IMPLEMENTATION" => self.implementation(&mut tree.declarations),
            _ => self.cpu(tree),
        }
    }

    fn section_word(&mut self) -> Result<Word, Unreadable> {
        let token = self.peek().clone();
        match token.kind.clone() {
            TokenKind::Word(text) if SECTIONS.contains(&text.as_str()) => {
                self.at += 1;
                Ok(Word { text, place: token.place })
            }
            _ => {
                let found = token.text().into_owned();
                self.collector.refuse_with(token.place, &found, || {
                    let otherwise = format!("expected {}", either(SECTIONS));
                    let hint = if is_object_word(&found) {
                        format!("objects stand in `CPU name {{ … }};`; {otherwise}")
                    } else {
                        meant(&found, SECTIONS, otherwise)
                    };
                    format!("no section of an OIL file; {hint}")
                });
                Err(Unreadable)
            }
        }
    }

    fn version(&mut self) -> Result<(), Unreadable> {
        self.expect("=", "behind `OIL_VERSION`")?;
        let token = self.peek().clone();
        match &token.kind {
            TokenKind::Text(text) if text == VERSION => {}
            TokenKind::Text(_) | TokenKind::Number(_) => {
                let message =
                    format!("this is OIL {VERSION}; write `OIL_VERSION = \"{VERSION}\";`");
                self.collector.refuse(token.place, &token.text(), message);
            }
            _ => return Err(self.expected(&format!("`\"{VERSION}\"`"))),
        }
        self.at += 1;
        self.end_of("the version")
    }

    fn cpu(&mut self, tree: &mut Tree) -> Result<(), Unreadable> {
        let name = self.word("the name of the CPU")?;
        let what = format!("CPU `{}`", name.text);
        tree.cpu.get_or_insert(name);
        let open = self.expect("{", &format!("behind {what}"))?;
        loop {
            if self.take("}") {
                break;
            }
            if self.is_at_end() {
                self.not_closed(&what, open);
                return Ok(());
            }
            match self.object() {
                Ok(object) => tree.objects.push(object),
                Err(Unreadable) => self.recover(),
            }
        }
        self.end_of(&what)
    }

    fn object(&mut self) -> Result<Object, Unreadable> {
        let kind = self.word("an object like `TASK name { … };`, or `}`")?;
        if self.peek().is("=") {
            let message = "an attribute outside of an object; write it into `OS name { … };`, \
                           `TASK name { … };` and so on";
            self.collector.refuse_word(&kind, message);
            return Err(Unreadable);
        }
        let name = self.word(&format!("the name of the {}", kind.text))?;
        let what = format!("{} `{}`", kind.text, name.text);
        let block = if self.peek().is("{") { self.block(&what, 1)? } else { Block::default() };
        self.end_of(&what)?;
        Ok(Object { kind, name, block })
    }

    /// `{ attributes }`, from its `{`.
    fn block(&mut self, what: &str, depth: usize) -> Result<Block, Unreadable> {
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
        self.expect("=", &format!("behind `{}`", name.text))?;
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
            TokenKind::Number(text) => number::read(text).unwrap_or_else(|error| {
                let message = match error {
                    NumberError::NoNumber => {
                        "no number; write it like `20`, `0x14` or `0.5`".to_owned()
                    }
                    NumberError::TooLarge => format!("a number beyond {}", u64::MAX),
                };
                self.collector.refuse(token.place, text, message);
                Value::Wrong
            }),
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
        let unreadable = self.expected(&format!("`;` behind {what}"));
        let begins = |token: &Token| token.is("}") || token.kind == TokenKind::End;
        let next_is_equals = self.tokens.get(self.at + 1).is_some_and(|token| token.is("="));
        let is_word = matches!(self.peek().kind, TokenKind::Word(_));
        if begins(self.peek()) || is_word && (next_is_equals || self.is_at_object()) {
            return Ok(());
        }
        Err(unreadable)
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
    pub(crate) fn expect(&mut self, mark: &str, where_: &str) -> Result<Place, Unreadable> {
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
    pub(crate) fn not_closed(&mut self, what: &str, open: Place) {
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

    /// Whether an object begins here, like `TASK name`, or a section.
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

    /// Whether a section begins here.
    fn is_at_section(&self) -> bool {
        matches!(&self.peek().kind, TokenKind::Word(word) if SECTIONS.contains(&word.as_str()))
    }

    /// Skips what can't be read: up to behind its `;`, or to the `}` or the object behind it.
    pub(crate) fn recover(&mut self) {
        self.recover_at(Self::is_at_object);
    }

    /// As [`Self::recover`], up to what `stops`. The caller makes progress there.
    fn recover_at(&mut self, stops: fn(&Self) -> bool) {
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
