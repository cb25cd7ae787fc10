//! The section `IMPLEMENTATION`: which attributes there are, of which type, within which range.
//!
//! ```text
//! UINT32 WITH_AUTO [1..16] NAME[] = 3 : "description";
//! ENUM [FULL, NON { UINT32 DEPTH; }] NAME = FULL;
//! TASK_TYPE NAME[];
//! ```
//!
//! Unless asked to be strict, what goil, Trampoline's reader, has beyond the standard is read, too:
//! `KIND [] { … };` for a kind of which there may be several, `STRUCT { … } NAME;`, references to
//! kinds that the implementation adds, and an attribute that is declared again, which replaces the
//! first one.

use std::collections::HashSet;

use crate::schema::is_object_word;
use crate::text::declaration::{Branch, Declaration, Declarations, Fallback, Range};
use crate::text::lexeme::TokenKind;
use crate::text::number;
use crate::text::parser::{NESTING_MAX, Parser, Unreadable};
use crate::text::place::Word;
use crate::text::tree::Value;
use quietcore_wording::meant;

/// Types of attributes, but for references, which end in `_TYPE`.
const TYPES: [&str; 9] =
    ["UINT32", "INT32", "UINT64", "INT64", "FLOAT", "ENUM", "BOOLEAN", "STRING", "IDENTIFIER"];

/// Several attributes under one name, which goil has.
const STRUCT: &str = "STRUCT";

impl Parser<'_, '_> {
    /// `IMPLEMENTATION name { … };`, behind the word.
    pub(crate) fn implementation(
        &mut self,
        declarations: &mut Declarations,
    ) -> Result<(), Unreadable> {
        let name = self.word("the name of the implementation")?;
        let what = format!("IMPLEMENTATION `{}`", name.text);
        let open = self.expect("{", &format!("behind {what}"))?;
        loop {
            if self.take("}") {
                break;
            }
            if self.is_at_end() || self.is_at_object() {
                self.not_closed(&what, open);
                return Ok(());
            }
            if self.declared_object(declarations).is_err() {
                self.recover();
            }
        }
        self.end_of(&what)
    }

    fn declared_object(&mut self, declarations: &mut Declarations) -> Result<(), Unreadable> {
        let kind = self.word("a kind of object like `TASK { … };`, or `}`")?;
        let what = format!("the declarations of `{}`", kind.text);
        if !self.collector.is_strict() && self.take("[") {
            self.expect("]", &format!("behind `{} [`", kind.text))?;
        }
        let attributes = self.declarations(&what, 1)?;
        self.end_of(&what)?;
        match declarations.objects.iter_mut().find(|(word, _)| word.text == kind.text) {
            Some((_, declared)) => {
                declared.extend(attributes);
                self.refuse_repeated(declared);
            }
            None => declarations.objects.push((kind, attributes)),
        }
        Ok(())
    }

    /// `{ declarations }`
    fn declarations(&mut self, what: &str, depth: usize) -> Result<Vec<Declaration>, Unreadable> {
        let open = self.peek().place;
        if depth > NESTING_MAX {
            return Err(self.too_deep());
        }
        self.expect("{", &format!("before {what}"))?;
        let mut declarations = Vec::new();
        loop {
            if self.take("}") {
                self.refuse_repeated(&mut declarations);
                return Ok(declarations);
            }
            if self.is_at_end() || self.is_at_object() {
                self.not_closed(what, open);
                return Ok(declarations);
            }
            match self.declaration(depth) {
                Ok(declaration) => declarations.push(declaration),
                Err(Unreadable) => self.recover(),
            }
        }
    }

    /// Leaves one declaration of each attribute.
    fn refuse_repeated(&mut self, declarations: &mut Vec<Declaration>) {
        let mut seen = HashSet::new();
        if !self.collector.is_strict() {
            declarations.reverse();
            declarations.retain(|declaration| seen.insert(declaration.name.text.clone()));
            declarations.reverse();
            return;
        }
        declarations.retain(|declaration| {
            let is_new = seen.insert(declaration.name.text.clone());
            if !is_new {
                self.collector.refuse_word(&declaration.name, "declared twice; leave one");
            }
            is_new
        });
    }

    fn declaration(&mut self, depth: usize) -> Result<Declaration, Unreadable> {
        let type_word = self.type_word()?;
        let with_auto = matches!(&self.peek().kind, TokenKind::Word(word) if word == "WITH_AUTO");
        if with_auto {
            self.word("`WITH_AUTO`")?;
        }
        let range = if type_word.text == STRUCT && self.peek().is("{") {
            self.declarations("the parts of `STRUCT`", depth + 1)?;
            Range::Any
        } else if self.take("[") {
            self.range(depth)?
        } else {
            Range::Any
        };
        let name = self.word(&format!("the name of the {} attribute", type_word.text))?;
        let is_many = self.take("[");
        if is_many {
            self.expect("]", &format!("behind `{}[`", name.text))?;
        }
        let default = if self.take("=") {
            let place = self.peek().place;
            let token = self.peek().text().into_owned();
            let value = self.value(&format!("the default of `{}`", name.text))?;
            let is_one = token != "NO_DEFAULT";
            is_one.then_some(Fallback { value, token, place })
        } else {
            None
        };
        self.end_of(&format!("the declaration of `{}`", name.text))?;
        Ok(Declaration { type_word, name, range, is_many, default })
    }

    fn type_word(&mut self) -> Result<Word, Unreadable> {
        let word = self.word("a type like `UINT32`, or `}`")?;
        let object = word.text.strip_suffix("_TYPE");
        let is_lenient = !self.collector.is_strict();
        let is_foreign = is_lenient && (object.is_some() || word.text == STRUCT);
        let is_reference = object.is_some_and(is_object_word) || is_foreign;
        if TYPES.contains(&word.text.as_str()) || is_reference {
            return Ok(word);
        }
        let hint = meant(&word.text, TYPES, "types are `UINT32`, `ENUM`, `TASK_TYPE` and the like");
        self.collector.refuse_word(&word, format!("no type of an attribute; {hint}"));
        Err(Unreadable)
    }

    /// Reads the range between `[` and `]`, and the latter.
    fn range(&mut self, depth: usize) -> Result<Range, Unreadable> {
        if matches!(self.peek().kind, TokenKind::Number(_)) {
            self.numbers()
        } else {
            self.words(depth)
        }
    }

    fn numbers(&mut self) -> Result<Range, Unreadable> {
        let first = self.bound()?;
        if self.take("..") {
            let last = self.bound()?;
            self.expect("]", "behind the range")?;
            return Ok(match (first, last) {
                (Some(first), Some(last)) => Range::Numbers(first, last),
                _ => Range::Any,
            });
        }
        let mut numbers = vec![first];
        while self.take(",") {
            numbers.push(self.bound()?);
        }
        self.expect("]", "behind the numbers")?;
        Ok(numbers.into_iter().collect::<Option<_>>().map_or(Range::Any, Range::Some))
    }

    /// A number of a range; `None` for one with a fraction.
    fn bound(&mut self) -> Result<Option<i128>, Unreadable> {
        let TokenKind::Number(text) = &self.peek().kind else {
            return Err(self.expected("a number"));
        };
        let bound = match number::read(text) {
            Ok(Value::Integer { negative, magnitude }) => {
                let magnitude = i128::from(magnitude);
                Some(if negative { -magnitude } else { magnitude })
            }
            _ => None,
        };
        self.value("a number")?;
        Ok(bound)
    }

    fn words(&mut self, depth: usize) -> Result<Range, Unreadable> {
        let mut branches = Vec::new();
        loop {
            let word = self.word("one of the values")?;
            let attributes = if self.peek().is("{") {
                self.declarations(&format!("the attributes of `{}`", word.text), depth + 1)?
            } else {
                Vec::new()
            };
            branches.push(Branch { word, attributes });
            if self.take(":") {
                self.value("a description like `\"text\"`")?;
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect("]", "behind the values")?;
        Ok(Range::Words(branches))
    }
}
