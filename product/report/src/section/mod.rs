//! The sections whose content is data that page and terminal render, one module each: those about
//! measurements other than releases, and those about releases.
//!
//! | part | what |
//! |---|---|
//! | [`KINDS`] | the list of the former, in the order of the report |
//! | [`content`] | the content of a section: answers, tables, figures, remarks |
//! | `page`, `terminal` | its renderers |
//! | [`export`] | all sections for programs: one document, and tables as CSV |
//! | `interrupts`, `memory`, `round_trips`, `routines` | the sections of [`KINDS`] |
//! | `verdict`, `classes`, `statistics` | those about releases: answers, classes, all figures |
//! | `distributions`, `course` | those about releases: histograms, time lines and late ones |
//! | `isolation`, `experiment` | those that compare releases: the matrix, controls, neighbours |
//!
//! No class judges the figures of the former, and they take no part in the verdicts.

pub(crate) mod classes;
pub mod content;
pub(crate) mod course;
pub(crate) mod distributions;
pub(crate) mod experiment;
pub mod export;
pub(crate) mod interrupts;
pub(crate) mod isolation;
pub(crate) mod memory;
pub(crate) mod page;
pub(crate) mod round_trips;
pub(crate) mod routines;
pub(crate) mod statistics;
pub(crate) mod terminal;
pub(crate) mod verdict;

use quietcore_evidence::Evidence;
use quietcore_record::record::Record;

use crate::summary::RecordSummary;
use content::Content;

/// The medium of a section's reader: a page has room for drawings and explanations, a terminal for
/// conditions right beside the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A reader of the page.
    Page,
    /// A reader in a terminal.
    Terminal,
}

/// A kind of measurement with a section of its own.
#[derive(Debug)]
pub struct Kind {
    /// Anchor of the section on the page.
    pub anchor: &'static str,
    /// Title of the section.
    pub title: &'static str,
    /// Returns `true` if a record is of this kind.
    pub holds: fn(&Record) -> bool,
    /// Makes the content for a reader; empty where there is nothing of this kind.
    pub content: fn(&Section<'_>, Reader) -> Content,
    /// The conditions that the page lists beside its records.
    pub conditions: ListedConditions,
}

/// The conditions that the page lists for the records of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedConditions {
    /// None, because the section tells them itself.
    Own,
    /// The conditions of releases.
    Releases,
    /// The conditions of records that have neither period nor cycles.
    Untimed,
}

/// All kinds, in the order of the report.
pub static KINDS: [Kind; 4] = [memory::KIND, round_trips::KIND, interrupts::KIND, routines::KIND];

/// The records of one kind in some evidence.
#[derive(Debug)]
pub struct Section<'a> {
    /// The kind of measurement.
    pub kind: &'static Kind,
    /// The evidence that the records are from.
    pub evidence: &'a Evidence,
    /// The records of the kind, each with its statistics, in the order of the evidence.
    pub records: Vec<RecordSummary<'a>>,
}

impl Section<'_> {
    /// Returns the content of the section for a reader.
    pub fn content(&self, reader: Reader) -> Content {
        (self.kind.content)(self, reader)
    }
}

/// Groups the evidence into sections, including those without records.
pub(crate) fn sections(evidence: &Evidence) -> Vec<Section<'_>> {
    let section = |kind: &'static Kind| Section {
        kind,
        evidence,
        records: evidence
            .records
            .iter()
            .filter(|record| (kind.holds)(record))
            .map(crate::summary::summarise)
            .collect(),
    };
    KINDS.iter().map(section).collect()
}
