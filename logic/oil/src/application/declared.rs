//! Compares the declarations of `IMPLEMENTATION` with those known here: an attribute of another
//! type can't be meant the same.

use crate::problem::Collector;
use crate::schema::{Attribute, Kind, Shape, is_object_word};
use crate::text::declaration::{Declaration, Declarations, Range};
use quietcore_wording::meant;

/// Refuses declarations of known attributes that have another type. Unless asked to be strict they
/// are let be: a value that fits such a type alone is left unused.
pub(crate) fn check(declarations: &Declarations, collector: &mut Collector) {
    if !collector.is_strict() {
        return;
    }
    for (kind, declared) in &declarations.objects {
        if let Some(known) = Kind::of(&kind.text) {
            check_block(declared, known.attributes(), collector);
        } else if !is_object_word(&kind.text) {
            let words = Kind::ALL.map(Kind::word);
            let hint = meant(&kind.text, words, "objects are `OS`, `TASK`, `ALARM` and the like");
            collector.refuse_word(kind, format!("no kind of object; {hint}"));
        }
    }
}

fn check_block(declared: &[Declaration], schema: &'static [Attribute], collector: &mut Collector) {
    for declaration in declared {
        let name = &declaration.name.text;
        let Some(known) = schema.iter().find(|known| known.word == name) else {
            continue;
        };
        let type_word = &declaration.type_word;
        if let Some(right) = other_type(&known.shape, &type_word.text) {
            let message = format!("not the type of `{name}`; it is `{right}`");
            collector.refuse_word(type_word, message);
            continue;
        }
        if declaration.is_many && !known.presence.is_many() {
            let message = "declared with `[]`, and is given once only here; leave `[]` out";
            collector.refuse_word(&declaration.name, message);
        }
        check_branches(declaration, known, collector);
    }
}

fn check_branches(declaration: &Declaration, known: &'static Attribute, collector: &mut Collector) {
    let Range::Words(branches) = &declaration.range else {
        return;
    };
    for branch in branches {
        let schema = match &known.shape {
            Shape::Truth(attributes) if branch.word.text == "TRUE" => *attributes,
            Shape::Choice(choices) => choices
                .iter()
                .find(|choice| choice.word == branch.word.text)
                .map_or(&[][..], |choice| choice.attributes),
            _ => &[],
        };
        check_block(&branch.attributes, schema, collector);
    }
}

/// The type that an attribute of this shape has, if the one that is declared does not fit.
pub(super) fn other_type(shape: &Shape, declared: &str) -> Option<String> {
    let (right, fitting): (String, &[&str]) = match shape {
        Shape::Number { max, .. } | Shape::NumberOrAuto { max, .. } => {
            let is_wide = *max > u64::from(u32::MAX);
            let right = if is_wide { "UINT64" } else { "UINT32" };
            (right.to_owned(), &["UINT32", "INT32", "UINT64", "INT64"])
        }
        Shape::Truth(_) => ("BOOLEAN".to_owned(), &["BOOLEAN"]),
        Shape::Choice(_) => ("ENUM".to_owned(), &["ENUM"]),
        Shape::Reference(kind) => {
            let right = format!("{}_TYPE", kind.word());
            return (declared != right).then_some(right);
        }
        Shape::Function => ("STRING".to_owned(), &["STRING"]),
        Shape::Named(_) => ("IDENTIFIER".to_owned(), &["IDENTIFIER", "ENUM"]),
        Shape::Refused(_) => return None,
    };
    (!fitting.contains(&declared)).then_some(right)
}
