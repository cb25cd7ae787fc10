//! An error with what caused it, in one line.

use core::error::Error;
use core::fmt;

/// An error and its causes, outermost first, joined by `: `.
///
/// ```
/// # use quietcore_units::{Causes, UnitError};
/// assert_eq!(Causes(&UnitError::Empty).to_string(), "nothing is written");
/// ```
///
/// For errors whose text does not repeat their cause, which is the house rule; a cause that is in
/// both would be written twice.
#[derive(Clone, Copy, Debug)]
pub struct Causes<'a>(pub &'a dyn Error);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Layer {
        text: &'static str,
        cause: Option<Box<Self>>,
    }

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.text)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.cause.as_deref().map(|cause| cause as &dyn Error)
        }
    }

    fn layers(texts: &[&'static str]) -> Layer {
        let (text, rest) = texts.split_first().unwrap();
        let cause = (!rest.is_empty()).then(|| Box::new(layers(rest)));
        Layer { text, cause }
    }

    #[test]
    fn an_error_without_a_cause_is_its_own_text() {
        assert_eq!(Causes(&layers(&["no room"])).to_string(), "no room");
    }

    #[test]
    fn every_cause_follows_what_it_caused() {
        let error = layers(&["the site can't run", "the folder can't be made", "no room"]);
        let text = Causes(&error).to_string();
        assert_eq!(text, "the site can't run: the folder can't be made: no room");
    }

    #[test]
    fn an_error_of_any_type_behind_a_box_is_taken() {
        let boxed: Box<dyn Error + Send + Sync> = "no room".into();
        assert_eq!(Causes(&*boxed).to_string(), "no room");
    }
}
