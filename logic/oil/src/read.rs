//! From an OIL text to a checked configuration.

use crate::application::application;
use crate::check::check;
use crate::configuration::Configuration;
use crate::foreign;
use crate::problem::{Collector, Problems};
use crate::text::including::{NotIncluded, tokens};
use crate::text::sections::parse;

/// Options of reading a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// `true` if a departure from the language, or a part of another implementation of it, is a
    /// problem. Otherwise it is understood or left unused, and a remark says so.
    pub strict: bool,
    /// The time of a tick for hardware counters that say none, in ns; `None` where nobody knows.
    pub tick_ns: Option<u64>,
}

/// Reads the OIL text of an application. `name` is what problems call the file. `include` gives the
/// text of a file as `#include` names it, or says why there is none. A file that is included from
/// another folder is first asked for beside the one that includes it.
///
/// # Errors
/// Every problem of the text, at its place. Where a statement can't be read, what follows from its
/// absence is not told.
pub fn read(
    name: &str,
    text: &str,
    reading: Reading,
    include: &mut dyn FnMut(&str) -> Result<String, NotIncluded>,
) -> Result<Configuration, Problems> {
    let mut collector = Collector::new(reading.strict);
    let tokens = tokens(name, text, include, &mut collector);
    let mut tree = parse(&tokens, &mut collector);
    if !reading.strict {
        foreign::understand(&mut tree, reading.tick_ns, &mut collector);
    }
    let is_whole = collector.is_clean();
    let application = application(&tree, &mut collector);
    let configuration = match application {
        Some(application) if is_whole => check(application, &mut collector),
        _ => None,
    };
    let remarks = collector.finish()?;
    let mut configuration = configuration.expect("an application without problems is complete");
    configuration.remarks = remarks;
    Ok(configuration)
}

/// The text of a file in UTF-8 or in an older encoding of one byte or two, whose characters beyond
/// ASCII are of no meaning: they stand in comments and strings.
pub fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn what_is_no_utf_8_keeps_its_ascii() {
        assert_eq!(decode("größe".into()), "größe");
        // Latin-1, and Shift-JIS, whose second bytes may be ASCII.
        assert_eq!(decode(b"gr\xf6\xdfe; x".to_vec()), "gr\u{f6}\u{df}e; x");
        assert_eq!(decode(b"/* \x95\x5c */ x".to_vec()), "/* \u{95}\\ */ x");
    }
}
