//! The verdicts for the terminal: words and signs, colour only where the caller asks for it.
//!
//! ```text
//! press-line · 2026-11-21 20:15:03 UTC
//! ✗ FAIL        axis: Motion control (factory automation), cycle 1 ms
//!               13 of 300000 releases were later than …
//!
//! class                      cycle  overall      tp1          tp2
//! motion-control              1 ms  ✗ FAIL       ✓ PASS       ✗ FAIL
//! ```
//!
//! The width is the caller's; tables go on below where they are wider ([`table`](crate::table)).
//! Text from files loses its control characters, so nothing in a record can move the cursor or
//! change the colours.

mod ledger;
pub(crate) mod probe;
mod scan;
mod table;

use quietcore_evidence::{Evidence, Origin};
use quietcore_record::verdict::Verdict;
use quietcore_wording::{LongWord, wrap};

use crate::figures;
use crate::section::conditions::renewal;
use crate::section::experiment::{cost, disturbance, tuning};
use crate::section::{Reader, isolation, terminal};
use crate::summary::{Notice, PartitionSummary, Summary, quick_look};
use crate::table::visible;
pub(crate) use probe::spread;
use table::look;

/// The fewest columns of the text; with less, a table of verdicts makes no sense.
pub const WIDTH_MIN: usize = 60;

/// The most records that a notice names one by one.
const CONCERNS_MAX: usize = 6;

/// Number of lines from which on the verdicts are repeated at the end, because those above have
/// scrolled off.
const LONG: usize = 24;

/// Columns of a headline's verdict: the longest one and a gap.
const VERDICT_WIDTH: usize = 14;

/// Writes the report as text of at most `width` columns (at least [`WIDTH_MIN`]), with escape
/// sequences for colour where `color` is true.
pub fn render(evidence: &Evidence, width: usize, color: bool) -> String {
    let summary = Summary::of(evidence);
    let mut page = Page::new(width, color);
    page.head(&summary);
    let (grave, others): (Vec<_>, Vec<_>) =
        summary.notices.iter().partition(|notice| notice.is_grave());
    grave.into_iter().for_each(|notice| page.notice(notice));
    if summary.all_records().next().is_none() {
        let word = page.verdict(Verdict::NotProven, VERDICT_WIDTH);
        page.line(&format!("{word}nothing was measured"));
    }
    // A probe that is run by hand is asked for figures; verdicts stand in the page and the JSON.
    let by_hand = evidence.manifest.origin == Origin::Probe;
    if !by_hand {
        for partition in &summary.partitions {
            page.headline(partition, &summary);
        }
    }
    others.into_iter().for_each(|notice| page.notice(notice));
    terminal::blocks(&mut page, &renewal::content(&summary, Reader::Terminal));
    if by_hand {
        summary.records.iter().for_each(|record| page.probe(record));
        let tunings = tuning::content(&summary.tunings, Reader::Terminal);
        let matrices = disturbance::content(&summary.disturbances, Reader::Terminal);
        let costs = cost::content(&summary.costs, Reader::Terminal);
        [tunings, matrices, costs].iter().for_each(|content| terminal::blocks(&mut page, content));
    } else {
        page.partitions(&summary);
        terminal::blocks(&mut page, &isolation::content(&summary, Reader::Terminal));
    }
    for section in &summary.sections {
        terminal::blocks(&mut page, &section.content(Reader::Terminal));
    }
    if !by_hand && page.text.lines().count() > LONG {
        page.verdicts(&summary);
    }
    page.into_text()
}

/// A text that grows line by line, none of them wider than its width.
pub(crate) struct Page {
    text: String,
    width: usize,
    color: bool,
}

impl Page {
    /// Begins an empty text of `width` columns, [`WIDTH_MIN`] at least.
    pub(crate) fn new(width: usize, color: bool) -> Self {
        Self { text: String::new(), width: width.max(WIDTH_MIN), color }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn head(&mut self, summary: &Summary<'_>) {
        let manifest = &summary.evidence.manifest;
        self.paragraph(
            "",
            &format!("{} · {}", manifest.name, figures::moment(&manifest.started_at)),
        );
        let machine = summary.machine_line();
        if !machine.is_empty() {
            self.paragraph("", &machine);
        }
        self.line("");
    }

    /// Appends the answer for one partition.
    fn headline(&mut self, partition: &PartitionSummary<'_>, summary: &Summary<'_>) {
        match &partition.declared {
            Some(declared) => {
                let word = self.verdict(declared.overall.verdict, VERDICT_WIDTH);
                let title = declared.class.map_or(declared.name, |class| class.title.as_str());
                let cycle = declared.class.and_then(|class| class.cycle_ns);
                let cycle = cycle
                    .map_or_else(String::new, |ns| format!(", cycle {}", figures::set_nanos(ns)));
                let line = format!("{}: {title}{cycle}", partition.name);
                self.hanging(&word, VERDICT_WIDTH, &line);
                self.paragraph(&" ".repeat(VERDICT_WIDTH), &declared.overall.because);
                if let Some(quick) = quick_look(partition, summary) {
                    self.paragraph(&" ".repeat(VERDICT_WIDTH), &quick.sentence());
                }
            }
            None => self.paragraph("", &format!("{}: no class declared", partition.name)),
        }
        let fastest = match &partition.fastest {
            Ok(fastest) => {
                let limit = if fastest.limited_by_period {
                    "limited by the period of the measurement".to_owned()
                } else {
                    format!("limited by {}", summary.records[fastest.record].label())
                };
                format!("{} ({limit})", figures::set_nanos(fastest.cycle_ns))
            }
            Err(because) => format!("none proven ({because})"),
        };
        let rule = if partition.has_other_rule() { " by the tenth-of-cycle rule" } else { "" };
        let fastest = format!("Fastest cycle{rule}: {fastest}");
        self.paragraph(&" ".repeat(VERDICT_WIDTH), &fastest);
        self.line("");
    }

    /// Appends the verdict of each partition once more, one line each.
    fn verdicts(&mut self, summary: &Summary<'_>) {
        for partition in &summary.partitions {
            let Some(declared) = &partition.declared else { continue };
            let word = self.verdict(declared.overall.verdict, VERDICT_WIDTH);
            let title = declared.class.map_or(declared.name, |class| class.title.as_str());
            self.hanging(&word, VERDICT_WIDTH, &format!("{}: {title}", partition.name));
        }
    }

    /// Appends the figures of each partition, and its verdict on each class.
    fn partitions(&mut self, summary: &Summary<'_>) {
        for partition in &summary.partitions {
            if summary.partitions.len() > 1 {
                self.paragraph("", partition.name);
            }
            self.figures(partition, summary);
            self.scan(partition, summary);
            self.classes(partition);
        }
    }

    fn notice(&mut self, notice: &Notice) {
        let what = format!("{}: {}. {}", notice.title, notice.what, notice.cost);
        self.paragraph("! ", &what);
        let (named, more) = notice.concerns.split_at(notice.concerns.len().min(CONCERNS_MAX));
        if !named.is_empty() {
            let more = match more.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            self.paragraph("  ", &format!("Concerns {}{more}.", named.join(", ")));
        }
        self.paragraph("  ", &format!("Remedy: {}", notice.remedy));
        self.line("");
    }

    /// Appends a line as it is.
    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Appends text that is wrapped, the first line behind `head` and the others indented alike.
    pub(crate) fn paragraph(&mut self, head: &str, text: &str) {
        self.hanging(head, head.chars().count(), text);
    }

    /// Appends text behind a head that may be coloured and takes `taken` columns.
    fn hanging(&mut self, head: &str, taken: usize, text: &str) {
        for (index, line) in
            wrap(&visible(text), self.width - taken, LongWord::Cut).into_iter().enumerate()
        {
            let follow = " ".repeat(taken);
            let head = if index == 0 { head } else { &follow };
            self.line(&format!("{head}{line}"));
        }
    }

    /// Formats a verdict as sign and word, in a field of `width` columns.
    fn verdict(&self, verdict: Verdict, width: usize) -> String {
        let text = format!("{:width$}", format!("{} {verdict}", figures::sign(verdict)));
        look(verdict).paint(&text, self.color)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_from_a_file_moves_the_cursor() {
        assert_eq!(visible("a\u{1b}[2Jb\rc\u{202e}d"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d");
    }

    proptest! {
        #[test]
        fn no_line_is_too_long(text in ".{0,200}", room in 5_usize..80) {
            for line in wrap(&visible(&text), room, LongWord::Cut) {
                prop_assert!(line.chars().count() <= room);
            }
        }
    }
}
