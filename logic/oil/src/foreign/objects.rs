//! Whole objects: merges several CPU sections, adds objects that implementations define themselves.

use std::collections::{HashMap, HashSet};

use crate::problem::Collector;
use crate::schema::Kind;
use crate::text::place::{TextPosition, Word};
use crate::text::tree::{Attribute, Block, Object, Tree};

/// Makes one object of those of one kind and name in several CPU sections, one OS object of all,
/// and one of an object that is only added to. What stands in the file itself goes before what it
/// includes.
pub(super) fn merge(tree: &mut Tree, collector: &mut Collector) {
    let mut merged: Vec<Object> = Vec::new();
    let mut index_of: HashMap<(String, String), usize> = HashMap::new();
    for object in tree.objects.drain(..) {
        let is_os = object.kind.text == Kind::Os.word();
        let name = if is_os { String::new() } else { object.name.text.clone() };
        let key = (object.kind.text.clone(), name);
        let Some(first) = index_of.get(&key).copied() else {
            index_of.insert(key, merged.len());
            merged.push(object);
            continue;
        };
        let known = &mut merged[first];
        if known.section != object.section {
            add(known, object);
        } else if is_os || is_addition(known, &object) {
            let line = collector.name(known.name.place, object.name.place);
            let message = format!("read as a part of the {} in {line}", object.kind.text);
            collector.remark(object.name.place, &object.name.text, message);
            known.block.attributes.extend(object.block.attributes);
            known.block.is_damaged |= object.block.is_damaged;
        } else {
            merged.push(object);
        }
    }
    tree.objects = merged;
    for object in &mut tree.objects {
        leave_out_repeated(object, collector);
    }
}

/// Returns whether an object only adds to another of its name: it contradicts nothing, and one of
/// the two lacks an attribute that is required.
fn is_addition(known: &Object, object: &Object) -> bool {
    let schema = Kind::of(&object.kind.text).map_or(&[][..], Kind::attributes);
    let required = || schema.iter().filter(|it| it.presence.is_required());
    let lacks = |object: &Object| required().any(|it| object.block.first(it.word).is_none());
    let single = schema.iter().filter(|it| !it.presence.is_many());
    let is_repeated = single.into_iter().any(|it| {
        let [one, other] = [known, object].map(|object| object.block.first(it.word));
        matches!((one, other), (Some(one), Some(other)) if one.token != other.token)
    });
    (lacks(known) || lacks(object)) && !is_repeated
}

/// Leaves out attributes that say the same once more.
fn leave_out_repeated(object: &mut Object, collector: &mut Collector) {
    let schema = Kind::of(&object.kind.text).map_or(&[][..], Kind::attributes);
    let mut given: HashMap<String, (String, TextPosition)> = HashMap::new();
    object.block.attributes.retain(|attribute| {
        let name = &attribute.name;
        let known = schema.iter().find(|it| it.word == name.text && !it.presence.is_many());
        if known.is_none() || attribute.block.is_some() {
            return true;
        }
        match given.get(&name.text) {
            Some((token, place)) if *token == attribute.token => {
                let message = format!("given twice, as in {}", collector.name(*place, name.place));
                collector.remark(name.place, &name.text, message);
                false
            }
            Some(_) => true,
            None => {
                given.insert(name.text.clone(), (attribute.token.clone(), name.place));
                true
            }
        }
    });
}

/// Adds the attributes of an object to those of another. Of an attribute that may be given once the
/// one in the outer file stays.
fn add(to: &mut Object, mut from: Object) {
    if from.name.place.file < to.name.place.file {
        std::mem::swap(to, &mut from);
    }
    let schema = Kind::of(&to.kind.text).map_or(&[][..], Kind::attributes);
    let is_many = |word: &str| {
        schema.iter().find(|known| known.word == word).is_none_or(|it| it.presence.is_many())
    };
    let given: HashSet<String> =
        to.block.attributes.iter().map(|attribute| attribute.name.text.clone()).collect();
    let is_new = |it: &Attribute| is_many(&it.name.text) || !given.contains(&it.name.text);
    to.block.attributes.extend(from.block.attributes.into_iter().filter(is_new));
    to.block.is_damaged |= from.block.is_damaged;
}

/// Adds the counters that an implementation defines itself, where they are used and not defined.
pub(super) fn add_predefined<'p>(
    tree: &mut Tree,
    predefined: impl Iterator<Item = &'p Object>,
    collector: &mut Collector,
) {
    for object in predefined {
        let name = &object.name.text;
        if tree.objects.iter().any(|it| it.name.text == *name) {
            continue;
        }
        let used = tree
            .objects
            .iter()
            .find_map(|it| it.block.first("COUNTER").filter(|counter| counter.token == *name));
        let Some(place) = used.map(|used| used.place) else { continue };
        let message = "no object has this name; read as the counter that other implementations \
                       define themselves";
        collector.remark(place, name, message);
        let mut object = object.clone();
        // Its text is ours: what is said of it is said of what uses it.
        object.kind.place = place;
        object.name.place = place;
        for attribute in &mut object.block.attributes {
            attribute.name.place = place;
            attribute.place = place;
        }
        tree.objects.push(object);
    }
}

/// Leaves out the resource that the kernel has itself, where a text writes it down.
pub(super) fn leave_out_scheduler(tree: &mut Tree, collector: &mut Collector) {
    tree.objects.retain(|object| {
        let is_own = object.kind.text == Kind::Resource.word()
            && object.name.text == crate::check::SCHEDULER_RESOURCE;
        if is_own {
            let message = "the kernel has this resource by itself; left out";
            collector.remark(object.name.place, &object.name.text, message);
        }
        !is_own
    });
}

/// Says that objects of several processors run on one here.
pub(super) fn tell_processors(tree: &Tree, collector: &mut Collector) {
    let mut first: Option<&Attribute> = None;
    let blocks = tree.objects.iter().flat_map(|object| &object.block.attributes);
    for attribute in blocks.filter(|it| ["CPU_ID", "CORE"].contains(&it.name.text.as_str())) {
        let Some(other) = first.filter(|first| first.token != attribute.token) else {
            first = first.or(Some(attribute));
            continue;
        };
        let message = format!(
            "another processor than {}; all tasks run on one here, by their priorities",
            other.token
        );
        collector.remark(attribute.place, &attribute.token, message);
        return;
    }
}

/// Adds the OS object with all its defaults where there is none.
pub(super) fn add_os(tree: &mut Tree, collector: &mut Collector) {
    let is_os = |object: &Object| object.kind.text == Kind::Os.word();
    let Some(cpu) = tree.cpu.clone().filter(|_| !tree.objects.iter().any(is_os)) else { return };
    let has_task = tree.objects.iter().any(|object| object.kind.text == Kind::Task.word());
    if !has_task {
        return;
    }
    collector.remark(cpu.place, &cpu.text, "there is no OS object; read as `OS kernel;`");
    let kind = Word { text: Kind::Os.word().to_owned(), place: cpu.place };
    let name = Word { text: "kernel".to_owned(), place: cpu.place };
    tree.objects.push(Object { kind, name, block: Block::default(), section: 0 });
}
