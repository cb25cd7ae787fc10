//! Values of the libraries' types as words of the command line, each with its help.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word, the value that it stands for, and its help.
pub(super) type Choice<T> = (&'static str, T, &'static str);

/// Takes one of the words.
pub(super) fn one_of<T>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T> + use<T>
where
    T: Copy + Send + Sync + 'static,
{
    let words = choices.iter().map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).map(|given| {
        let found = choices.iter().find(|(word, ..)| *word == given);
        found.expect("no other word comes so far").1
    })
}
