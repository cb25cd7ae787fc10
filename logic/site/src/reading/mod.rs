//! From bytes to a tree that has the right shape.
//!
//! ```text
//! bytes ──limits, UTF-8──► text ──TOML──► Document ──shape walk──► what fits ──► RawSite
//!                                            │            ▲
//!                                          places       schema
//! ```

pub(crate) mod collector;
pub(crate) mod format;
pub(crate) mod place;
pub(crate) mod schema;
pub(crate) mod shape;

use quietcore_wording::FilePosition;
use toml::de::{DeTable, Error};

use crate::problem::{KeyPosition, Problem, Problems, sorted};
use crate::words::{quoted, shortened};
use collector::Collector;
use place::Document;

/// A site file may have this many bytes: 1 MiB. A reader may stop at the first byte beyond it.
pub const SITE_BYTES_MAX: usize = 1 << 20;

/// Syntax errors to look at; a file of garbage has one at every byte.
const SYNTAX_ERRORS_MAX: usize = 50;

/// The text in `bytes`, within the limits of a site file.
pub(crate) fn text<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, Problems> {
    let refuse = |line, column, problem: String, remedy: &str| {
        let place =
            KeyPosition { position: FilePosition::new(file, line, column), key: String::new() };
        let remedy = remedy.to_owned();
        Err(sorted(vec![Problem { place, problem, remedy }], 0))
    };
    if bytes.len() > SITE_BYTES_MAX {
        let problem = format!("the file has more than {SITE_BYTES_MAX} bytes (1 MiB)");
        return refuse(1, 1, problem, "a site file is a short text; is this the right file?");
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = &bytes[..error.valid_up_to()];
            let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
            let start = good.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let column = 1 + String::from_utf8_lossy(&good[start..]).chars().count();
            let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
            let guess = if utf16 { "; it looks like UTF-16" } else { "" };
            let offset = good.len();
            let problem = format!("the byte at offset {offset} isn't UTF-8");
            return refuse(line, column, problem, &format!("save the file as UTF-8{guess}"));
        }
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let remedy = "begin with what `quietcore init` prints";
        return refuse(1, 1, "the file is empty".to_owned(), remedy);
    }
    Ok(text)
}

/// Parses `text`. Syntax errors end the reading, since what follows them can't be trusted; a key
/// that is written twice does not, since everything else is clear.
pub(crate) fn document<'t>(
    file: &str,
    text: &'t str,
) -> Result<(Document<'t>, Vec<Problem>), Problems> {
    let (tree, errors) = DeTable::parse_recoverable(text);
    let document = Document::new(file, text, tree);
    let twice = errors.iter().all(|error| error.message() == DUPLICATE);
    let left_out = errors.len().saturating_sub(SYNTAX_ERRORS_MAX);
    let problems: Vec<_> = errors
        .iter()
        .take(SYNTAX_ERRORS_MAX)
        .map(|error| syntax_problem(&document, text, error))
        .collect();
    if twice { Ok((document, problems)) } else { Err(sorted(problems, left_out)) }
}

/// The parser's words for a key that is written twice.
const DUPLICATE: &str = "duplicate key";

fn syntax_problem(document: &Document<'_>, text: &str, error: &Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let (problem, remedy) = match error.message() {
        DUPLICATE => {
            let key = text.get(span.clone()).unwrap_or_default().to_owned();
            return Problem {
                place: document.place_at(span.start, shortened(&key)),
                problem: format!("{} is written twice", quoted(&key)),
                remedy: "keep one of the two".to_owned(),
            };
        }
        message if message.starts_with("string values must be quoted") => {
            ("a text without quotes".to_owned(), "put it in double quotes".to_owned())
        }
        message => match message.split_once(", expected ") {
            Some((problem, expected)) => {
                (problem.to_owned(), format!("{expected} is expected here"))
            }
            None => (message.trim().to_owned(), "correct the TOML here".to_owned()),
        },
    };
    let line = document.line_at(span.start);
    let key = line.split_once('=').map_or("", |(key, _)| key.trim());
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let key = if key.chars().all(plain) { shortened(key) } else { String::new() };
    Problem { place: document.place_at(span.start, key), problem: shortened(&problem), remedy }
}

/// Walks the document's shape and returns what of it fits.
pub(crate) fn shaped(collector: &mut Collector<'_, '_>) -> crate::raw::RawSite {
    let fitting = shape::walk(&schema::SCHEMA, collector);
    serde_json::from_value(fitting).expect("the shape walk keeps only what the schema allows")
}
