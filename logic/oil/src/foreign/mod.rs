//! Other implementations of OIL: what they write is turned into what it means here.
//!
//! | they write | it is read as |
//! |---|---|
//! | several CPU sections, an object again in another one | one application; attributes add up |
//! | no OS object; a counter that the implementation defines itself | the object with its defaults |
//! | `STACK = SHARED`, `STACK = PRIVATE { SIZE = 128; }`, `STACKSIZE = 256` | a stack for this machine |
//! | `SOURCE = "TIMER1"`, `ENTRY = …`, an ISR without a source | a number of its own |
//! | interrupt priorities of another machine, or none | levels in the same order |
//! | a hardware counter without its time, `SECONDSPERTICK` | `NANOSECONDSPERTICK` |
//! | schedule tables after AUTOSAR or ERIKA | those of the reference |
//!
//! All this happens in the tree, before it is held against the schema, and each departure is told
//! once. What belongs to another implementation alone is left unused. The definitions in this
//! folder say what that is for some implementations; they are OIL, and read as such.

mod clocks;
mod isrs;
mod objects;
mod schedule;
mod stacks;

use std::sync::LazyLock;

use crate::problem::Collector;
use crate::schema::{Kind, Shape};
use crate::text::declaration::{Declaration, Fallback, Range};
use crate::text::including::{NotIncluded, tokens};
use crate::text::place::Word;
use crate::text::sections::parse;
use crate::text::tree::{Block, Object, Tree};

/// Objects of the language that only set up what is not here, and may be left unused.
pub(crate) const UNUSED_OBJECTS: [&str; 2] = ["COM", "NM"];

const ERIKA_2: &str = include_str!("erika2.oil");
const ERIKA_3: &str = include_str!("erika3.oil");
const TRAMPOLINE: &str = include_str!("trampoline.oil");
const OTHERS: &str = include_str!("others.oil");

/// Most names that a sentence lists.
const NAMES_MAX: usize = 8;

/// An implementation of which a definition is shipped.
struct Implementation {
    /// `None` for what is gathered from several that have little of their own.
    name: Option<&'static str>,
    tree: Tree,
}

static IMPLEMENTATIONS: LazyLock<Vec<Implementation>> = LazyLock::new(|| {
    let texts = [
        (Some("ERIKA Enterprise 2"), ERIKA_2),
        (Some("ERIKA Enterprise 3"), ERIKA_3),
        (None, OTHERS),
        (Some("Trampoline"), TRAMPOLINE),
    ];
    let tree = |text| shipped(text, &mut Collector::new(true));
    texts.map(|(name, text)| Implementation { name, tree: tree(text) }).into()
});

/// Reads a shipped definition, which includes nothing.
fn shipped(text: &str, collector: &mut Collector) -> Tree {
    let mut none = |_: &str| Err(NotIncluded::Missing(String::new()));
    let tokens = tokens("shipped", text, &mut none, collector);
    parse(&tokens, collector)
}

/// Returns whether a known implementation has this kind of object.
pub(crate) fn knows_object(word: &str) -> bool {
    let mut declarations = IMPLEMENTATIONS.iter().map(|it| &it.tree.declarations);
    declarations.any(|it| it.objects.iter().any(|(kind, _)| kind.text == word))
}

/// Returns whether a known implementation has this attribute in a kind of object.
pub(crate) fn knows_attribute(kind: &str, word: &str) -> bool {
    let mut declared = IMPLEMENTATIONS.iter().map(|it| it.tree.declarations.of(kind));
    declared.any(|it| is_among(word, it))
}

/// Returns whether an attribute is declared, here or in the block of another one.
fn is_among(word: &str, declared: &[Declaration]) -> bool {
    declared.iter().any(|declaration| {
        let within = match &declaration.range {
            Range::Words(branches) => branches.as_slice(),
            Range::Any | Range::Numbers(..) | Range::Some(_) => &[],
        };
        declaration.name.text == word
            || within.iter().any(|branch| is_among(word, &branch.attributes))
    })
}

/// Turns a tree as others write it into one as it is written here. `tick_ns` is the time of a tick
/// for hardware counters that say none.
pub(crate) fn understand(tree: &mut Tree, tick_ns: Option<u64>, collector: &mut Collector) {
    objects::merge(tree, collector);
    if let Some(implementation) = recognise(tree) {
        if let Some(name) = implementation.name {
            collector.name_implementation(name);
        }
        for (kind, declared) in &implementation.tree.declarations.objects {
            tree.declarations.extend(kind, declared);
        }
    }
    let predefined = IMPLEMENTATIONS.iter().flat_map(|it| &it.tree.objects);
    objects::add_predefined(tree, predefined, collector);
    objects::add_os(tree, collector);
    objects::leave_out_scheduler(tree, collector);
    objects::tell_processors(tree, collector);
    stacks::understand(tree, collector);
    isrs::understand(tree, collector);
    schedule::understand(tree, collector);
    clocks::understand(tree, tick_ns, collector);
}

/// Finds the implementation that has most of what a text has beyond the language.
fn recognise<'t>(tree: &'t Tree) -> Option<&'static Implementation> {
    let of_objects = |object: &'t Object| foreign_of(&object.kind, &object.block);
    let foreign: Vec<_> = tree.objects.iter().flat_map(of_objects).collect();
    let count = |implementation: &&Implementation| {
        let declarations = &implementation.tree.declarations;
        let known = |(kind, word): &&(&str, &str)| is_among(word, declarations.of(kind));
        let has = |kind: &&Word| declarations.objects.iter().any(|(it, _)| it.text == kind.text);
        foreign.iter().filter(known).count() + tree.unused.iter().filter(has).count()
    };
    // Of several with as many the first one: `max_by_key` takes the last.
    let found = IMPLEMENTATIONS.iter().rev().max_by_key(count)?;
    (count(&found) > 0).then_some(found)
}

/// Lists the attributes of an object that the schema does not have, each with the kind.
fn foreign_of<'t>(kind: &'t Word, block: &'t Block) -> Vec<(&'t str, &'t str)> {
    let mut found = Vec::new();
    let known = Kind::of(&kind.text).map_or(&[][..], Kind::attributes);
    for attribute in &block.attributes {
        let word = attribute.name.text.as_str();
        let schema = known.iter().find(|known| known.word == word);
        if schema.is_none() {
            found.push((kind.text.as_str(), word));
        }
        // What stands in a block of the language may be the language's own in turn.
        let has_block = schema.is_some_and(|known| {
            matches!(known.shape, Shape::Truth(_) | Shape::Named(_) | Shape::Choice(_))
        });
        if let Some(block) = attribute.block.as_ref().filter(|_| !has_block) {
            let within = block.attributes.iter();
            found.extend(within.map(|it| (kind.text.as_str(), it.name.text.as_str())));
        }
    }
    found
}

/// The default of an attribute, where the text or its implementation declares one.
fn default_of<'t>(tree: &'t Tree, kind: &str, word: &str) -> Option<&'t Fallback> {
    let declared = tree.declarations.of(kind);
    declared.iter().find(|it| it.name.text == word)?.default.as_ref()
}

/// Names in a sentence, and how many more there are.
fn names(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(NAMES_MAX).map(String::as_str).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the shipped definitions are whole; a mistake in one would be read as if it weren't
    /// there.
    #[test]
    fn the_shipped_definitions_are_read_without_a_problem() {
        for text in [ERIKA_2, ERIKA_3, TRAMPOLINE, OTHERS] {
            let mut collector = Collector::new(true);
            let tree = shipped(text, &mut collector);
            assert!(!tree.declarations.objects.is_empty());
            if let Err(problems) = collector.finish() {
                panic!("{problems}");
            }
        }
    }
}
