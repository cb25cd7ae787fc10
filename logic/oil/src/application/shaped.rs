//! Attributes compared with the tables of the schema: known, of the right kind, within their range,
//! as often as they may be given. What `IMPLEMENTATION` declares narrows ranges and gives defaults.

use crate::application::declared;
use crate::foreign;
use crate::problem::Collector;
use crate::schema::{Attribute, Choice, Shape};
use crate::text::declaration::{Declaration, Range};
use crate::text::place::{Given, TextPosition, Word};
use crate::text::tree::{self, Block, Value};
use quietcore_wording::{either, meant, nearest};

/// Remedy for a value that begins like a number and is none.
const NO_NUMBER: &str = "no number; write it like `20`, `0x14` or `0.5`";
/// Attributes among which one is looked for that is only misspelled.
const COMPARED_MAX: usize = 50;

/// The attributes of an object or a block that are as they should be.
#[derive(Debug, Default)]
pub(crate) struct Shaped {
    entries: Vec<Entry>,
}

/// An attribute with a value of the right kind.
#[derive(Debug)]
pub(crate) struct Entry {
    word: &'static str,
    /// The token of the value.
    pub(crate) token: Word,
    pub(crate) value: Typed,
    /// The attributes of its block.
    pub(crate) block: Shaped,
}

/// A value of the right kind; names are the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Number(u64),
    Auto,
    Truth(bool),
    Choice(&'static str),
    Name,
}

impl Shaped {
    /// The attributes of this name, in their order.
    pub(crate) fn all(&self, word: &'static str) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.word == word)
    }

    /// The attribute of this name.
    pub(crate) fn one(&self, word: &'static str) -> Option<&Entry> {
        self.all(word).next()
    }

    /// The number that it was given; `None` also for `AUTO`.
    pub(crate) fn number(&self, word: &'static str) -> Option<Given<u64>> {
        let entry = self.one(word)?;
        match entry.value {
            Typed::Number(value) => Some(Given { value, word: entry.token.clone() }),
            _ => None,
        }
    }

    /// The truth value that it was given.
    pub(crate) fn truth(&self, word: &'static str) -> Option<bool> {
        self.one(word).map(|entry| entry.value == Typed::Truth(true))
    }

    /// The word that it was given, of those it could be.
    pub(crate) fn choice(&self, word: &'static str) -> Option<Given<&'static str>> {
        let entry = self.one(word)?;
        match entry.value {
            Typed::Choice(value) => Some(Given { value, word: entry.token.clone() }),
            _ => None,
        }
    }

    /// The names that it was given.
    pub(crate) fn names(&self, word: &'static str) -> Vec<Word> {
        self.all(word).map(|entry| entry.token.clone()).collect()
    }
}

/// The object or value that the attributes belong to.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'o> {
    /// As a sentence calls it: ``TASK `blink` ``.
    pub(crate) what: &'o str,
    /// The kind of object that it is or belongs to.
    pub(crate) kind: &'o str,
    /// The token in messages.
    pub(crate) word: &'o str,
    /// Position of the token.
    pub(crate) place: TextPosition,
}

/// Compares the attributes of an owner with what they may be.
pub(crate) fn shape(
    owner: Owner<'_>,
    block: &Block,
    schema: &'static [Attribute],
    declared: &[Declaration],
    collector: &mut Collector,
) -> Shaped {
    let fallbacks = fallbacks(block, schema, declared);
    let mut shaped = Shaped::default();
    for attribute in block.attributes.iter().chain(&fallbacks) {
        let name = attribute.name.text.as_str();
        let Some(known) = schema.iter().find(|known| known.word == name) else {
            unknown(owner, attribute, schema, declared, collector);
            continue;
        };
        if !known.presence.is_many()
            && let Some(first) = shaped.one(known.word)
        {
            let first = collector.name(first.token.place, attribute.name.place);
            let message = format!("given twice; the first one is in {first}");
            collector.refuse_word(&attribute.name, message);
            continue;
        }
        let declaration = declared.iter().find(|declaration| declaration.name.text == name);
        if let Some(entry) = entry(owner.kind, known, attribute, declaration, collector) {
            shaped.entries.push(entry);
        }
    }
    let is_given = |word| block.attributes.iter().chain(&fallbacks).any(|it| it.name.text == word);
    let required = schema.iter().filter(|known| known.presence.is_required());
    // What is written like it is meant to be it, and is told already.
    let is_meant = |word| {
        let given = block.attributes.iter().take(COMPARED_MAX);
        let mut names = given.map(|attribute| attribute.name.text.as_str());
        names.any(|name| nearest(name, usable(schema)) == Some(word))
    };
    let is_missing = |word| !block.is_damaged && !is_given(word) && !is_meant(word);
    for known in required.filter(|known| is_missing(known.word)) {
        let message =
            format!("`{}` of {} is missing; write {}", known.word, owner.what, specimen(known));
        collector.refuse(owner.place, owner.word, message);
    }
    shaped
}

/// The attributes that are not refused.
fn usable(schema: &[Attribute]) -> impl Iterator<Item = &'static str> + Clone {
    let usable = schema.iter().filter(|known| !matches!(known.shape, Shape::Refused(_)));
    usable.map(|known| known.word)
}

/// Attributes that are not given, and for which `IMPLEMENTATION` has a default.
fn fallbacks(
    block: &Block,
    schema: &[Attribute],
    declared: &[Declaration],
) -> Vec<tree::Attribute> {
    let is_open = |declaration: &&Declaration| {
        let name = &declaration.name.text;
        schema.iter().any(|known| known.word == name)
            && !block.attributes.iter().any(|attribute| attribute.name.text == *name)
    };
    let open = declared.iter().filter(is_open);
    open.filter_map(|declaration| {
        let fallback = declaration.default.as_ref()?;
        Some(tree::Attribute {
            name: Word { text: declaration.name.text.clone(), place: fallback.place },
            value: fallback.value.clone(),
            place: fallback.place,
            token: fallback.token.clone(),
            block: None,
        })
    })
    .collect()
}

fn unknown(
    owner: Owner<'_>,
    attribute: &tree::Attribute,
    schema: &[Attribute],
    declared: &[Declaration],
    collector: &mut Collector,
) {
    let name = &attribute.name;
    let is_foreign = || {
        foreign::knows_attribute(owner.kind, &name.text)
            || nearest(&name.text, usable(schema)).is_none()
    };
    if declared.iter().any(|declaration| declaration.name.text == name.text)
        || !collector.is_strict() && is_foreign()
    {
        collector.leave_unused(Some(owner.kind), name);
        return;
    }
    collector.refuse_with(name.place, &name.text, || {
        let words = usable(schema);
        let otherwise = if schema.is_empty() {
            "it has none".to_owned()
        } else {
            format!("it has {}", either(words.clone()).replace(" or ", " and "))
        };
        let hint = meant(&name.text, words, otherwise);
        format!("no attribute of {}; {hint}", owner.what)
    });
}

/// The attribute with its value, if that is of the right kind.
fn entry(
    kind: &str,
    known: &'static Attribute,
    attribute: &tree::Attribute,
    declaration: Option<&Declaration>,
    collector: &mut Collector,
) -> Option<Entry> {
    let mut token = Word { text: attribute.token.clone(), place: attribute.place };
    if attribute.value == Value::Wrong {
        return None;
    }
    if let Shape::Refused(remedy) = known.shape {
        collector.refuse_word(&attribute.name, format!("not used here; {remedy}"));
        return None;
    }
    let value = match typed(known, attribute) {
        Ok(value) => value,
        Err(message) if is_quoted_otherwise(known, attribute) => {
            let understood = "read as a name, with or without quotation marks";
            collector.depart(token.place, &token.text, &message, understood);
            if collector.is_strict() {
                return None;
            }
            token.text = token.text.trim_matches('"').to_owned();
            Typed::Name
        }
        Err(message) => {
            let is_other =
                |it: &Declaration| declared::other_type(&known.shape, &it.type_word.text);
            if !collector.is_strict() && declaration.and_then(is_other).is_some() {
                // As the text declares it, it is no attribute of ours that is wrong.
                collector.leave_unused(Some(kind), &attribute.name);
            } else {
                collector.refuse_word(&token, message);
            }
            return None;
        }
    };
    let within = declaration.is_none_or(|declaration| is_declared(declaration, value, &token));
    if let (Some(declaration), false) = (declaration, within) {
        let place = collector.name(declaration.name.place, token.place);
        let message = format!(
            "not among the values of `{}` that {place} declares; change one of the two",
            declaration.name.text
        );
        collector.refuse_word(&token, message);
        return None;
    }
    if let (Shape::Function, Some(name)) = (&known.shape, unquoted(&token.text)) {
        token.text = name.to_owned();
    }
    let schema = block_schema(known, value);
    let declared = declaration.map_or(&[][..], |it| it.branch(&attribute.token));
    let what = format!("`{} = {}`", known.word, attribute.token);
    let owner = Owner { what: &what, kind, word: &attribute.token, place: attribute.place };
    let empty = Block::default();
    let block = attribute.block.as_ref().unwrap_or(&empty);
    let block = shape(owner, block, schema, declared, collector);
    Some(Entry { word: known.word, token, value, block })
}

/// Returns whether a name stands in quotation marks where none belong, or lacks those that do.
fn is_quoted_otherwise(known: &Attribute, attribute: &tree::Attribute) -> bool {
    match (&known.shape, &attribute.value) {
        (Shape::Reference(_), Value::Text) => {
            let name = unquoted(&attribute.token).unwrap_or_default();
            !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        }
        (Shape::Function, Value::Word) => true,
        _ => false,
    }
}

/// A string without its quotation marks.
fn unquoted(token: &str) -> Option<&str> {
    token.strip_prefix('"')?.strip_suffix('"')
}

/// The attributes that may stand in the block behind a value.
fn block_schema(known: &'static Attribute, value: Typed) -> &'static [Attribute] {
    match (&known.shape, value) {
        (Shape::Truth(attributes), Typed::Truth(true)) | (Shape::Named(attributes), _) => {
            attributes
        }
        (Shape::Choice(choices), Typed::Choice(word)) => choices
            .iter()
            .find(|choice| choice.word == word)
            .map_or(&[], |choice| choice.attributes),
        _ => &[],
    }
}

fn typed(known: &'static Attribute, attribute: &tree::Attribute) -> Result<Typed, String> {
    match (&known.shape, &attribute.value) {
        (Shape::NumberOrAuto { .. }, Value::Auto) => Ok(Typed::Auto),
        (
            Shape::Number { min, max } | Shape::NumberOrAuto { min, max },
            Value::Integer { negative, magnitude },
        ) => {
            let is_within = (!negative || *magnitude == 0) && (min..=max).contains(&magnitude);
            let message = || format!("`{}` is {}", known.word, range(*min, *max));
            is_within.then_some(Typed::Number(*magnitude)).ok_or_else(message)
        }
        (Shape::Truth(_), Value::Truth(value)) => Ok(Typed::Truth(*value)),
        (Shape::Choice(choices), Value::Word | Value::Auto) => choice(known, choices, attribute),
        (Shape::Reference(_) | Shape::Named(_), Value::Word) | (Shape::Function, Value::Text) => {
            Ok(Typed::Name)
        }
        (_, Value::NoNumber) => Err(NO_NUMBER.to_owned()),
        (_, value) => {
            let specimen = specimen(known);
            Err(format!("`{}` can't be {}; write {specimen}", known.word, value.noun()))
        }
    }
}

fn choice(
    known: &Attribute,
    choices: &'static [Choice],
    attribute: &tree::Attribute,
) -> Result<Typed, String> {
    let found = choices.iter().find(|choice| choice.word == attribute.token);
    found.map(|choice| Typed::Choice(choice.word)).ok_or_else(|| {
        let words = choices.iter().map(|choice| choice.word);
        let otherwise = format!("it is {}", either(words.clone()));
        let hint = meant(&attribute.token, words, otherwise);
        format!("no value of `{}`; {hint}", known.word)
    })
}

/// Returns `true` if `IMPLEMENTATION` lets the attribute have this value.
fn is_declared(declaration: &Declaration, value: Typed, token: &Word) -> bool {
    match (&declaration.range, value) {
        (Range::Numbers(first, last), Typed::Number(number)) => {
            (*first..=*last).contains(&i128::from(number))
        }
        (Range::Some(numbers), Typed::Number(number)) => numbers.contains(&i128::from(number)),
        (Range::Words(branches), Typed::Choice(_) | Typed::Truth(_)) => {
            branches.iter().any(|branch| branch.word.text == token.text)
        }
        _ => true,
    }
}

/// A range as a sentence says it.
pub(crate) fn range(min: u64, max: u64) -> String {
    if (min, max) == (1, 2) { "1 or 2".to_owned() } else { format!("a number from {min} to {max}") }
}

/// Returns an example of the attribute, as a user would write it.
fn specimen(known: &Attribute) -> String {
    let word = known.word;
    let value = match &known.shape {
        Shape::Number { min, max } => {
            return format!("`{word} = …;` with {}", range(*min, *max));
        }
        Shape::NumberOrAuto { min, max } => {
            return format!("`{word} = AUTO;` or {}", range(*min, *max));
        }
        Shape::Truth(_) => "TRUE;` or `FALSE".to_owned(),
        Shape::Choice(choices) => {
            let words = either(choices.iter().map(|choice| choice.word));
            return format!("`{word} = …;` with {words}");
        }
        Shape::Reference(kind) => {
            return format!("`{word} = …;` with the name of {}", article(kind.noun()));
        }
        Shape::Function => "\"name\"".to_owned(),
        Shape::Named(_) => "name { … }".to_owned(),
        Shape::Refused(_) => return "nothing".to_owned(),
    };
    format!("`{word} = {value};`")
}

/// A noun with `a` or `an`.
pub(crate) fn article(noun: &str) -> String {
    // The abbreviations ISR and OS are spelled, and both begin with a vowel then.
    let vowels = ['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O'];
    let article = if noun.starts_with(vowels) { "an" } else { "a" };
    format!("{article} {noun}")
}
