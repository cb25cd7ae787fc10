//! Stacks of tasks. A size that suits a small processor is too little here, so each task gets the
//! usual size at least.

use super::{default_of, names};
use crate::problem::Collector;
use crate::schema::Kind;
use crate::schema::attributes::{STACK_BYTES_DEFAULT, STACK_BYTES_MIN};
use crate::text::place::{TextPosition, Word};
use crate::text::tree::{Attribute, Tree, Value};

/// Names that others have for the size of a stack, in the block of `STACK`.
const SIZES: [&str; 3] = ["SIZE", "SYS_SIZE", "STACK_SIZE"];
const STACK_SIZE: &str = "STACKSIZE";

/// Gives each task a stack in bytes: what it asks for, and the usual size at least.
pub(super) fn understand(tree: &mut Tree, collector: &mut Collector) {
    let by_default =
        default_of(tree, Kind::Task.word(), STACK_SIZE).and_then(|it| it.value.number());
    let mut changed: Vec<String> = Vec::new();
    let mut first: Option<(TextPosition, Word)> = None;
    let tasks = tree.objects.iter_mut().filter(|object| object.kind.text == Kind::Task.word());
    for task in tasks {
        let size = task.block.take(STACK_SIZE);
        let stack = task.block.first("STACK");
        let is_ours = |bytes: u64| bytes >= STACK_BYTES_MIN;
        let asked = match (&stack, &size) {
            (Some(stack), _) if stack.number().is_some_and(is_ours) => continue,
            (Some(stack), _) => stack.number().or_else(|| within(stack)),
            (None, Some(size)) => size.number(),
            (None, None) => by_default,
        };
        let is_another = stack.is_some_and(|it| it.number().is_some() || is_kind(it));
        if stack.is_some() && !is_another {
            continue;
        }
        if stack.is_none() && size.is_none() && by_default.is_none() {
            continue;
        }
        let bytes = asked.unwrap_or(0).max(u64::from(STACK_BYTES_DEFAULT));
        if let Some(given) = stack.or(size.as_ref()) {
            let word = Word { text: given.name.text.clone(), place: given.name.place };
            first.get_or_insert((given.name.place, word));
            changed.push(format!("`{}`", task.name.text));
        }
        task.block.set_number("STACK", bytes, &task.name);
        if let Some(stack) = task.block.first_mut("STACK") {
            stack.block = None;
        }
    }
    if let Some((place, word)) = first {
        let message = format!(
            "a stack for another machine; here those of {} have {STACK_BYTES_DEFAULT} bytes each, \
             or more where more is asked for",
            names(&changed)
        );
        collector.remark(place, &word.text, message);
    }
}

/// Returns whether a stack is one of the kinds that others have, and no misspelled word.
fn is_kind(stack: &Attribute) -> bool {
    stack.value == Value::Auto
        || stack.value == Value::Word
            && (stack.token == "SHARED" || stack.token.starts_with("PRIVATE"))
}

/// Returns the size in bytes that the block behind `STACK = PRIVATE` states.
fn within(stack: &Attribute) -> Option<u64> {
    let block = stack.block.as_ref()?;
    SIZES.iter().find_map(|word| block.first(word)?.number())
}
