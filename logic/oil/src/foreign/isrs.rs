//! ISRs: their sources and their levels.
//!
//! Elsewhere an interrupt has a vector with a name and a priority of its controller. Here its
//! source is a number, which whoever raises it says, and its level one of 62, those of category 1
//! above all of category 2. Only the order of the priorities can be kept.

use std::collections::{BTreeMap, BTreeSet};

use super::{default_of, names};
use crate::problem::Collector;
use crate::schema::Kind;
use crate::schema::attributes::{INTERRUPT_LEVEL_MAX, SOURCE_MAX};
use crate::text::place::Word;
use crate::text::tree::{Attribute, Object, Tree, Value};

/// Names that others have for the source of an interrupt.
const SOURCES: [&str; 5] = ["SOURCE", "ENTRY", "INTERRUPT", "DEVICE", "VECTOR"];
/// The category of an ISR that states none: in 2 it may do all that it may in 1, and more.
const CATEGORY: u64 = 2;

/// Gives each ISR a category, a source and a level.
pub(super) fn understand(tree: &mut Tree, collector: &mut Collector) {
    let kind = Kind::Isr.word();
    let number_by_default = |word| default_of(tree, kind, word)?.value.number();
    let (category, priority) = (number_by_default("CATEGORY"), number_by_default("PRIORITY"));
    let mut isrs: Vec<_> =
        tree.objects.iter_mut().filter(|object| object.kind.text == kind).collect();
    categories(&mut isrs, category, collector);
    sources(&mut isrs, collector);
    levels(&mut isrs, priority, collector);
}

fn categories(isrs: &mut [&mut Object], by_default: Option<u64>, collector: &mut Collector) {
    let mut changed = Vec::new();
    for isr in isrs.iter_mut().filter(|isr| isr.block.first("CATEGORY").is_none()) {
        if isr.block.is_damaged {
            continue;
        }
        changed.push(format!("`{}`", isr.name.text));
        isr.block.set_number("CATEGORY", by_default.unwrap_or(CATEGORY), &isr.name);
    }
    tell(isrs, &changed, collector, |names| {
        let category = by_default.unwrap_or(CATEGORY);
        format!("no `CATEGORY` is given for {names}; read as {category}")
    });
}

/// A source is its number where it is one that can be used, also as a string; each other name
/// gets a number of its own, and those without a name one each.
fn sources(isrs: &mut [&mut Object], collector: &mut Collector) {
    let mut taken: BTreeSet<u64> = BTreeSet::new();
    let mut open: Vec<(usize, Option<String>)> = Vec::new();
    for (index, isr) in isrs.iter_mut().enumerate() {
        let found = SOURCES.iter().find_map(|word| isr.block.first(word));
        let number = found.and_then(usable);
        let name = found.map(|it| it.token.trim_matches('"').to_owned());
        if let Some(number) = number {
            taken.insert(number);
            replace(isr, number);
        } else if !isr.block.is_damaged {
            open.push((index, name));
        }
    }
    let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
    let mut changed = Vec::new();
    let mut next = 0;
    for (index, name) in open {
        let known = name.as_ref().and_then(|name| numbers.get(name)).copied();
        let number = known.unwrap_or_else(|| {
            while taken.contains(&next) {
                next += 1;
            }
            taken.insert(next);
            next
        });
        let said = name.as_deref().map_or_else(String::new, |name| format!(", `{name}`"));
        changed.push(format!("{number} (`{}`{said})", isrs[index].name.text));
        numbers.extend(name.map(|name| (name, number)));
        replace(isrs[index], number);
    }
    tell(isrs, &changed, collector, |names| {
        format!("sources of interrupts are numbers up to {SOURCE_MAX} here; they are {names}")
    });
}

/// Returns the number that a source is written as, if it can be used here.
fn usable(attribute: &Attribute) -> Option<u64> {
    let number = match attribute.value {
        Value::Text => {
            let text = attribute.token.trim_matches('"').trim();
            match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            }
        }
        _ => attribute.number(),
    };
    number.filter(|number| *number <= SOURCE_MAX)
}

/// Puts one source in the place of all attributes that name one.
fn replace(isr: &mut Object, number: u64) {
    let is_source = |it: &mut Attribute| SOURCES.contains(&it.name.text.as_str());
    let given = isr.block.attributes.extract_if(.., is_source).last();
    let at = given.map_or_else(
        || isr.name.clone(),
        |attribute| Word { text: attribute.token, place: attribute.place },
    );
    isr.block.set_number("SOURCE", number, &at);
}

/// Levels in the order of the priorities, where those can't be levels themselves.
fn levels(isrs: &mut [&mut Object], by_default: Option<u64>, collector: &mut Collector) {
    let is_number = |isr: &&mut Object| {
        isr.block.first("PRIORITY").is_none_or(|it| match it.value {
            Value::Integer { .. } | Value::Word | Value::Text | Value::Auto => true,
            Value::Truth(_) | Value::Float | Value::NoNumber | Value::Wrong => false,
        })
    };
    if isrs.iter().any(|isr| isr.block.is_damaged) || !isrs.iter().all(is_number) {
        return;
    }
    let is_first =
        |isr: &Object| isr.block.first("CATEGORY").and_then(Attribute::number) == Some(1);
    let keys: Vec<(bool, Option<u64>)> = isrs
        .iter()
        .map(|isr| {
            (is_first(isr), isr.block.first("PRIORITY").map_or(by_default, Attribute::number))
        })
        .collect();
    let highest =
        keys.iter().filter(|key| !key.0).filter_map(|key| key.1).max().unwrap_or(1).max(1);
    let is_level = |(first, priority): &(bool, Option<u64>)| {
        priority
            .is_some_and(|it| (1..=INTERRUPT_LEVEL_MAX).contains(&it) && (!first || it > highest))
    };
    if keys.iter().all(is_level) {
        return;
    }
    let second: BTreeSet<_> = keys.iter().filter(|key| !key.0).map(|key| key.1).collect();
    let first: BTreeSet<_> = keys.iter().filter(|key| key.0).map(|key| key.1).collect();
    let rank = |set: &BTreeSet<Option<u64>>, key: Option<u64>| {
        u64::try_from(set.range(..=key).count()).unwrap_or(INTERRUPT_LEVEL_MAX)
    };
    let above = u64::try_from(second.len().max(1)).unwrap_or(INTERRUPT_LEVEL_MAX);
    let mut changed = Vec::new();
    for (isr, (is_first, key)) in isrs.iter_mut().zip(&keys) {
        let level = if *is_first { above + rank(&first, *key) } else { rank(&second, *key) };
        isr.block.set_number("PRIORITY", level, &isr.name);
        changed.push(format!("{level} (`{}`)", isr.name.text));
    }
    tell(isrs, &changed, collector, |names| {
        format!(
            "priorities of interrupts are levels from 1 to {INTERRUPT_LEVEL_MAX} here, those of \
             category 1 above all others; by their order they are {names}"
        )
    });
}

/// Adds a remark on the ISRs of these names, at the place of the first ISR.
fn tell(
    isrs: &[&mut Object],
    changed: &[String],
    collector: &mut Collector,
    message: impl FnOnce(String) -> String,
) {
    if let (Some(first), false) = (isrs.first(), changed.is_empty()) {
        let name = &first.name;
        collector.remark(name.place, &name.text, message(names(changed)));
    }
}
