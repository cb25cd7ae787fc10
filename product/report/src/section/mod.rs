//! The sections of a report, one module each: their content is data, which page and terminal
//! render, and programs read.
//!
//! | part | what |
//! |---|---|
//! | [`content`] | the content of a section: answers, tables, figures, remarks |
//! | `page`, `terminal` | its renderers |
//! | [`export`] | all sections for programs: one document, and tables as CSV |
//! | `verdict`, `classes`, `statistics` | releases: answers, classes, all figures |
//! | `distributions`, `comparison`, `course` | releases: histograms, boxes, time lines |
//! | `isolation`, `experiment` | comparisons of releases: the matrix, controls, neighbours, backends |
//! | `interrupts`, `memory`, `round_trips`, `routines` | the other measurements: [`KINDS`] |
//! | `conditions` | the conditions of all of them; what is from an earlier folder |
//!
//! No class judges the figures of [`KINDS`], and they take no part in the verdicts. Ledgers,
//! recordings, the doctor's findings and the method are the page's own.

pub(crate) mod classes;
pub(crate) mod comparison;
pub(crate) mod conditions;
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

use crate::Published;
use crate::plot::Frame;
use crate::summary::{RecordSummary, Summary};
use conditions::renewal;
use content::Content;
use experiment::{cost, disturbance, tuning};
use serde::Serialize;

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

/// The content of a section, with its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedContent {
    /// Anchor of the section on the page.
    pub anchor: &'static str,
    /// Title of the section.
    pub title: &'static str,
    /// Answers, tables, figures and remarks.
    pub content: Content,
}

/// The records of one kind in some evidence.
#[derive(Debug)]
pub struct Section<'a> {
    /// The kind of measurement.
    pub kind: &'static Kind,
    /// The evidence that the records are from.
    pub evidence: &'a Evidence,
    /// The records of the kind that are no blocks of an experiment, each with its statistics, in
    /// the order of the evidence.
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
            .filter(|record| record.trial.is_none() && (kind.holds)(record))
            .map(crate::summary::summarise)
            .collect(),
    };
    KINDS.iter().map(section).collect()
}

/// Makes the contents of all sections in the order of the page, including empty ones. `published`
/// are tables to draw beside the records.
pub(crate) fn contents(
    summary: &Summary<'_>,
    frame: &Frame,
    published: &[Published],
) -> Vec<NamedContent> {
    let named = |(anchor, title), content| NamedContent { anchor, title, content };
    let disturbances = disturbance::content(&summary.disturbances, Reader::Page);
    let mut contents = vec![
        named(verdict::name(summary), verdict::content(summary)),
        named(isolation::NAME, isolation::content(summary, Reader::Page)),
        named(tuning::NAME, tuning::content(&summary.tunings, Reader::Page)),
        named(disturbance::NAME, disturbances),
        named(cost::NAME, cost::content(&summary.costs, Reader::Page)),
        named(classes::NAME, classes::content(summary)),
        named(distributions::NAME, distributions::content(summary, frame)),
        named(comparison::NAME, comparison::content(summary, frame, published)),
        named(course::NAME, course::content(summary, frame)),
    ];
    contents.extend(summary.sections.iter().map(|section| {
        named((section.kind.anchor, section.kind.title), section.content(Reader::Page))
    }));
    contents.push(named(statistics::NAME, statistics::content(summary)));
    contents.push(named(renewal::NAME, renewal::content(summary, Reader::Page)));
    contents.push(named(conditions::NAME, conditions::content(summary)));
    contents
}
