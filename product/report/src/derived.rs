//! The files of a folder that are derived from its records: the summary, the page, the JUnit file.
//!
//! They are made when a run ends, and a reader of the page believes it. So they are derived again
//! when a folder is shown, and a file that says something else is named.

pub mod published;

use std::io;

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::document;
use quietcore_record::published::{BoxPlot, find};
use serde_json::Value;

use crate::{Published, PublishedBox, html, junit, section};

/// The name of the summary in the folder.
pub const SUMMARY: &str = "evidence.json";
/// The name of the page in the folder.
pub const PAGE: &str = "report.html";
/// The name of the JUnit file in the folder.
pub const JUNIT: &str = "junit.xml";

/// The table whose baseline stands beside a campaign: general-purpose Linux on bare metal.
const BASELINE_TABLE: &str = "queiroz2023/table-3";
/// The name of that system in the table.
const BASELINE: &str = "Baseline";

/// Relative difference up to which two fractions count as the same: four in the last bit.
const LAST_BITS: f64 = 4.0 * f64::EPSILON;

/// A file of a folder that differs from what follows from the records.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DerivedError {
    /// The file can't be read.
    #[error("`{file}` can't be read: {problem}")]
    Unreadable {
        /// Name of the file in the folder.
        file: &'static str,
        /// Error of reading or parsing, in words.
        problem: String,
    },
    /// The file says something else at one place, the first that was found.
    #[error("`{file}` says {says} at `{place}`, and from the records follows {follows}")]
    Other {
        /// Name of the file in the folder.
        file: &'static str,
        /// Keys and numbers that lead to the place.
        place: String,
        /// Value in the file.
        says: String,
        /// Value that follows from the records.
        follows: String,
    },
    /// The file is not the text that this version makes.
    #[error(
        "`{file}` is not what follows from the records: it was changed, or made by another \
         version; `quietcore report` makes it anew"
    )]
    OtherText {
        /// Name of the file in the folder.
        file: &'static str,
    },
}

/// Renders the page of some evidence, with the published tables that fit beside it.
pub fn page(evidence: &Evidence) -> String {
    html::render(evidence, &published_beside(evidence))
}

/// Makes the document of the sections of that page.
pub fn sections(evidence: &Evidence) -> section::export::Document {
    section::export::document(evidence, &published_beside(evidence))
}

/// Derives the files of a folder again and lists how the stored ones differ. `stored` reads a file
/// of the folder by its name and returns `None` where there is none; a missing file is no
/// difference.
pub fn differences(
    evidence: &Evidence,
    stored: &dyn Fn(&str) -> io::Result<Option<String>>,
) -> Vec<DerivedError> {
    let of_text = |file, text: &str, follows: String| {
        (text != follows).then_some(DerivedError::OtherText { file })
    };
    let look = |file: &'static str| match stored(file) {
        Ok(None) => None,
        Ok(Some(text)) => match file {
            SUMMARY => of_summary(&text, evidence),
            JUNIT => of_text(file, &text, junit::render(evidence)),
            _ => of_text(file, &text, page(evidence)),
        },
        Err(error) => Some(DerivedError::Unreadable { file, problem: error.to_string() }),
    };
    [SUMMARY, PAGE, JUNIT].into_iter().filter_map(look).collect()
}

fn of_summary(text: &str, evidence: &Evidence) -> Option<DerivedError> {
    let unreadable = |error: serde_json::Error| DerivedError::Unreadable {
        file: SUMMARY,
        problem: error.to_string(),
    };
    let says: Value = match serde_json::from_str(text) {
        Ok(says) => says,
        Err(error) => return Some(unreadable(error)),
    };
    if let Err(error) = serde_json::from_str::<document::Document>(text) {
        return Some(unreadable(error));
    }
    let document = evidence.document();
    let follows = serde_json::to_value(&document).expect("a document is made of plain values");
    first_difference(&says, &follows, String::new())
        .map(|(place, says, follows)| DerivedError::Other { file: SUMMARY, place, says, follows })
}

/// Finds the first place at which `says` has something that does not follow from the records.
/// Anything that it lacks came with a later version.
fn first_difference(
    says: &Value,
    follows: &Value,
    place: String,
) -> Option<(String, String, String)> {
    match (says, follows) {
        (Value::Object(says), Value::Object(follows)) => says.iter().find_map(|(key, value)| {
            let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
            match follows.get(key) {
                Some(follows) => first_difference(value, follows, place),
                None => Some((place, short(value), "nothing".to_owned())),
            }
        }),
        (Value::Array(says), Value::Array(follows)) if says.len() == follows.len() => {
            let mut pairs = says.iter().zip(follows).enumerate();
            pairs.find_map(|(index, (says, follows))| {
                first_difference(says, follows, format!("{place}.{index}"))
            })
        }
        _ => (!is_same(says, follows)).then(|| (place, short(says), short(follows))),
    }
}

/// Compares two plain values. Earlier versions lost the last bits of a fraction when they read it
/// back, so one of their documents may differ from its records by those bits.
fn is_same(says: &Value, follows: &Value) -> bool {
    match (says.as_f64(), follows.as_f64()) {
        (Some(one), Some(other)) if says.is_f64() && follows.is_f64() => {
            (one - other).abs() <= LAST_BITS * one.abs().max(other.abs())
        }
        _ => says == follows,
    }
}

/// Shortens a value to what a sentence has room for.
fn short(value: &Value) -> String {
    match value {
        Value::Array(entries) => format!("{} entries", entries.len()),
        Value::Object(_) => "an object".to_owned(),
        Value::Null => "nothing".to_owned(),
        other => other.to_string().chars().take(60).collect(),
    }
}

/// Returns the published box plots of the profiles that were measured; empty beside imported data.
fn published_beside(evidence: &Evidence) -> Vec<Published> {
    if evidence.manifest.origin != Origin::Campaign {
        return Vec::new();
    }
    let Ok(table) = find(BASELINE_TABLE) else { return Vec::new() };
    let measured = |row: &BoxPlot| {
        row.label.contains(BASELINE)
            && evidence.records.iter().any(|record| Some(&record.profile) == row.profile.as_ref())
    };
    let rows: Vec<_> = table.box_plots().into_iter().filter(measured).map(published_box).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Published {
        title: format!("{} ({})", table.title, table.id),
        source: table.source(),
        rows,
    }]
}

/// Returns a published box plot as the page draws it.
pub(crate) fn published_box(row: BoxPlot) -> PublishedBox {
    PublishedBox {
        label: row.label,
        lower_whisker_ns: row.lower_whisker_ns,
        q1_ns: row.q1_ns,
        median_ns: row.median_ns,
        mean_ns: row.mean_ns,
        q3_ns: row.q3_ns,
        upper_whisker_ns: row.upper_whisker_ns,
        max_ns: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Goal: a folder of an earlier version is not called changed for a bit that it lost, and a
    /// figure that somebody changed is.
    #[test]
    fn the_last_bits_of_a_fraction_are_no_difference() {
        let share = json!(0.206_797_963_887_100_17);
        assert!(is_same(&share, &json!(0.206_797_963_887_100_14)));
        assert!(!is_same(&share, &json!(0.206_797_963_887_2)));
        assert!(!is_same(&json!(1), &json!(1.0)), "a count is no fraction");
        assert!(!is_same(&json!(u64::MAX), &json!(u64::MAX - 1)));
    }
}
