//! A row of a table: words with places for figures.
//!
//! | in a clause | becomes |
//! |---|---|
//! | `{NAME}` | the median of the figure `NAME`, with its unit |
//! | `{NAME\|range}` | the 95 % interval of that median, in the same unit |
//! | `{peer NAME}` | the version of that peer |
//!
//! A clause whose figure the run could not measure is left out.

use serde::Deserialize;

use super::quantity;
use super::run::Run;

/// One row, as `rows.toml` has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// The comparison that it is of.
    pub(super) bench: String,
    /// The quantity that is measured.
    pub(super) what: String,
    /// The clauses about the peers.
    #[serde(default)]
    pub(super) beside: Vec<String>,
    /// The clauses about the result.
    pub(super) result: Vec<String>,
    /// Values that were typed by hand before the bench recorded its figures.
    pub(super) typed: Option<Typed>,
}

/// A row of earlier days.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Typed {
    #[serde(default)]
    pub(super) beside: String,
    pub(super) result: String,
}

/// A place in a clause that the run has nothing for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing(pub(super) String);

/// A clause with its places filled.
pub(super) fn filled(clause: &str, run: &Run) -> Result<String, Missing> {
    let mut text = String::new();
    let mut rest = clause;
    while let Some((before, place)) = rest.split_once('{') {
        text.push_str(before);
        let (place, after) = place.split_once('}').ok_or_else(|| Missing(place.to_owned()))?;
        text.push_str(&value(place, run).ok_or_else(|| Missing(place.to_owned()))?);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

fn value(place: &str, run: &Run) -> Option<String> {
    if let Some(peer) = place.strip_prefix("peer ") {
        return run.peers.get(peer).cloned();
    }
    let (name, is_range) = match place.strip_suffix("|range") {
        Some(name) => (name, true),
        None => (place, false),
    };
    let figure = run.figure(name)?;
    if is_range {
        quantity::range(figure.value, figure.low, figure.high, &figure.unit)
    } else {
        quantity::written(figure.value, &figure.unit)
    }
}
