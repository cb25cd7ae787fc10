//! The files of a folder that are derived from its records: the summary, the page, the JUnit file.
//!
//! They are made when a run ends, and a reader of the page believes it. So they are derived again
//! when a folder is shown, and a file that says something else is named.

pub mod published;

use std::collections::BTreeMap;
use std::io;

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::document;
use quietcore_record::published::{BoxPlot, find};
use quietcore_record::reason::Reason;
use quietcore_record::record::ReleaseMode;
use serde_json::Value;

use crate::summary::label;
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

/// The begin of an earlier sentence on a record that is no release of a thread.
const NOT_AS_ASKED: &str = "not measured as asked for: ";

/// Figures that earlier versions gave as 0 where nothing was measured.
const EXTREMES: [&str; 3] = ["min_ns", "max_ns", "jitter_peak_to_peak_ns"];

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
    #[error(
        "`{file}` says {says} at `{place}`, and from the records follows {follows}{}",
        rules(place)
    )]
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

/// Returns what else may be the reason for a difference at a place.
fn rules(place: &str) -> &'static str {
    if place.starts_with("verdicts.") {
        "; it was changed, or judged by an earlier version, and `quietcore report` makes it anew"
    } else {
        ""
    }
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
    let of_text = |file, is_same: bool| (!is_same).then_some(DerivedError::OtherText { file });
    let look = |file: &'static str| match stored(file) {
        Ok(None) => None,
        Ok(Some(text)) => match file {
            SUMMARY => of_summary(&text, evidence),
            JUNIT => {
                let follows = junit::render(evidence);
                let earlier = || in_earlier_words(&with_earlier_labels(&follows, evidence));
                of_text(file, text == follows || text == earlier())
            }
            _ => of_text(file, text == page(evidence)),
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
                Some(follows) if is_of_an_earlier_version(key, value, follows) => None,
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

/// Returns `true` if the value of a key is what an earlier version made of the same records: zero
/// for the extremes of no values, or a reason in its words.
pub fn is_of_an_earlier_version(key: &str, says: &Value, follows: &Value) -> bool {
    match (says, follows) {
        (Value::String(says), Value::String(follows)) => {
            let is_earlier = *says == in_earlier_words(follows)
                || says.strip_prefix(NOT_AS_ASKED) == Some(follows);
            is_earlier && key == "because"
        }
        (Value::Number(_), Value::Null) => says == 0 && EXTREMES.contains(&key),
        _ => false,
    }
}

/// Returns a text as earlier versions wrote it: with the most releases that can have been late,
/// where both bounds are given now.
fn in_earlier_words(text: &str) -> String {
    let mut earlier = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, bounds)) = rest.split_once("between ") {
        earlier.push_str(before);
        rest = match most_of(bounds) {
            Some(most) => most,
            None => {
                earlier.push_str("between ");
                bounds
            }
        };
    }
    earlier + rest
}

/// Returns a text in which the contexts that `rtla` traced on a CPU are called by the CPU alone, as
/// earlier versions did.
fn with_earlier_labels(text: &str, evidence: &Evidence) -> String {
    let traced = evidence.records.iter().filter_map(|record| {
        let is_traced = matches!(record.conditions.mode, ReleaseMode::Traced { .. });
        let is_foreign = record.degraded.iter().any(|reason| matches!(reason, Reason::Foreign(_)));
        let because = if is_foreign { NOT_AS_ASKED } else { "" };
        Some((label(record), (record.cpu.filter(|_| is_traced)?, because)))
    });
    let traced: BTreeMap<_, _> = traced.collect();
    traced.iter().fold(text.to_owned(), |text, (label, (cpu, because))| {
        text.replace(&format!(": {label}: "), &format!(": CPU {cpu}: {because}"))
    })
}

/// Returns what follows the lower bound of `252 and 263 of 3 916 releases were later than …`.
fn most_of(bounds: &str) -> Option<&str> {
    let most = behind_number(bounds).strip_prefix(" and ")?;
    let count = behind_number(most).strip_prefix(" of ")?;
    behind_number(count).starts_with(" releases were later than ").then_some(most)
}

/// Returns what follows a number with its thousands apart.
fn behind_number(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '\u{202f}')
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

    /// Goal: a folder of an earlier version is not called changed for an upper bound alone, and one
    /// in which somebody changed the number is.
    #[test]
    fn the_upper_bound_alone_is_an_earlier_sentence() {
        let now = "FAIL: between 252 and 1\u{202f}263 of 3\u{202f}916 releases were later than \
                   1 ms\nbetween 1 and 2 of 9 releases were later than 1 ms, between 3 and 4 of 5 \
                   cycles";
        let earlier = "FAIL: 1\u{202f}263 of 3\u{202f}916 releases were later than 1 ms\n\
                       2 of 9 releases were later than 1 ms, between 3 and 4 of 5 cycles";
        assert_eq!(in_earlier_words(now), earlier);
        let is_earlier = |says: &str, follows: &str| {
            is_of_an_earlier_version("because", &json!(says), &json!(follows))
        };
        assert!(is_earlier(earlier, now));
        assert!(!is_earlier(&earlier.replace("263", "262"), now));
        assert!(!is_earlier(now, earlier));
        let traced = "this is the latency of the kernel thread";
        assert!(is_earlier(&format!("{NOT_AS_ASKED}{traced}"), traced));
    }

    /// Goal: the extremes of nothing, which were zero, are no change, and other zeros are.
    #[test]
    fn a_zero_of_nothing_is_an_earlier_figure() {
        let difference = |says, follows| first_difference(&says, &follows, String::new());
        let none = json!({"max_ns": null});
        assert_eq!(difference(json!({"max_ns": 0}), none.clone()), None);
        assert!(difference(json!({"max_ns": 1}), none).is_some());
        assert!(difference(json!({"median_ns": 0}), json!({"median_ns": null})).is_some());
        assert!(difference(json!({"max_ns": 0}), json!({"max_ns": 1})).is_some());
    }
}
