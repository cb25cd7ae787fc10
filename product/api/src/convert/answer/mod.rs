//! The way back: answers of a daemon as the product's own values.
//!
//! A client believes no daemon: what its terminal would obey is replaced in every text
//! ([`harmless`]), and a value that this version does not know is an error ([`UnknownValue`]),
//! never another value. Sizes are limited by that of a message.

mod change;
mod event;
mod finding;
mod partition;
mod program;
mod variable;

pub use change::applied;
pub use event::event;
pub use finding::finding;
pub use partition::partitions;
pub use program::{build_problems, build_remarks, deployed};
pub use variable::read_value;

/// The error of an answer with a value that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the daemon answers with {what} that this `quietcore` does not know; use a `quietcore` of its \
     version"
)]
pub struct UnknownValue {
    /// The kind of the value, such as `an activity`.
    what: &'static str,
}

impl UnknownValue {
    pub(crate) const fn of(what: &'static str) -> Self {
        Self { what }
    }
}

/// Returns a text in which control characters are replaced, and marks that turn the direction of
/// writing; lines and tabulators stay.
pub fn harmless(text: String) -> String {
    if text.chars().any(is_obeyed) {
        text.chars().map(|it| if is_obeyed(it) { '\u{fffd}' } else { it }).collect()
    } else {
        text
    }
}

/// Returns texts that are harmless, each.
pub(crate) fn all_harmless(texts: Vec<String>) -> Vec<String> {
    texts.into_iter().map(harmless).collect()
}

/// Returns `true` for what a terminal does not show but obeys.
fn is_obeyed(it: char) -> bool {
    it.is_control() && !matches!(it, '\n' | '\t')
        || matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_replaced() {
        let sent = "axis\u{1b}[2J\u{9b}31m\r\u{202e}sixa\n\tµs".to_owned();
        assert_eq!(harmless(sent), "axis�[2J�31m��sixa\n\tµs");
        assert_eq!(harmless("servo_P.Kp".to_owned()), "servo_P.Kp");
    }
}
