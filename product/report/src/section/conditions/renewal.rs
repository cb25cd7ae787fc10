//! The renewal of an earlier folder: what was measured again and why, and what was taken over.

use quietcore_record::renewal::{Renewal, TakenOver};

use super::super::Reader;
use super::super::content::{Block, Cell, Column, Content, Row, Table};
use crate::figures::moment;
use crate::summary::Summary;

/// Anchor and title of the section.
pub(crate) const NAME: (&str, &str) = ("renewal", "Renewal");

/// Columns before a fact's name in a terminal, and columns of the name.
const FACTS: (usize, usize) = (0, 16);

/// The remark on systems of which only some were measured again.
const SEVERAL_TIMES: &str = "Each partition was measured alone, and not all of them in one \
                             campaign: what is compared here is of several times, as told below. \
                             A difference between two systems may be one between two times.";

/// Makes the content of the section for a reader; empty where all was measured for the folder.
pub(crate) fn content(summary: &Summary<'_>, reader: Reader) -> Content {
    let mut content = Content::default();
    let Some(renewal) = &summary.evidence.manifest.renewal else { return content };
    match reader {
        Reader::Page => on_page(&mut content, renewal),
        Reader::Terminal => in_terminal(&mut content, renewal),
    }
    content
}

fn on_page(content: &mut Content, renewal: &Renewal) {
    content.remark(format!(
        "This folder renews {} of {}, whose SHA256SUMS has the SHA-256 {}. What still held when it \
         was begun was taken over, byte for byte; nothing was measured again for its verdict.",
        renewal.folder,
        moment(&renewal.started_at),
        renewal.sums_sha256
    ));
    if renewal.compares_times() {
        content.remark(SEVERAL_TIMES.to_owned());
    }
    let again = renewal.measured_again.iter().map(|again| {
        let why: Vec<String> = again.because.iter().map(ToString::to_string).collect();
        Row::new(again.part.to_string(), vec![Cell::plain(why.join("; "))])
    });
    content.blocks.push(Block::Table(Table {
        name: "Measured again".to_owned(),
        lead: Column::new("Measured again", 1),
        columns: vec![Column::words("Because", 1)],
        rows: again.collect(),
        ..Table::default()
    }));
    if renewal.taken_over.is_empty() {
        return;
    }
    let taken = renewal.taken_over.iter().map(|it: &TakenOver| {
        let cells = [moment(&it.measured_at), it.folder.clone(), it.sha256.clone()];
        Row::new(it.record.clone(), cells.map(Cell::plain).to_vec())
    });
    content.blocks.push(Block::Table(Table {
        name: "Taken over".to_owned(),
        lead: Column::new("Taken over", 1),
        columns: ["Measured", "In folder", "SHA-256 of its file"]
            .map(|name| Column::words(name, 1))
            .to_vec(),
        rows: taken.collect(),
        ..Table::default()
    }));
}

fn in_terminal(content: &mut Content, renewal: &Renewal) {
    let of = format!("{}, {}", renewal.folder, moment(&renewal.started_at));
    content.fact(FACTS, "Renewal of", &of);
    let mut name = "Measured again";
    for again in &renewal.measured_again {
        content.fact(FACTS, std::mem::take(&mut name), &again.to_string());
    }
    let mut name = "Taken over";
    for taken in &renewal.taken_over {
        let measured = format!("{}, measured {}", taken.record, moment(&taken.measured_at));
        let elsewhere = (taken.folder != renewal.folder).then(|| format!(" in {}", taken.folder));
        let said = measured + &elsewhere.unwrap_or_default();
        content.fact(FACTS, std::mem::take(&mut name), &said);
    }
    if renewal.compares_times() {
        content.fact(FACTS, "Remark", SEVERAL_TIMES);
    }
    content.blocks.push(Block::Gap);
}

#[cfg(test)]
mod tests {
    use super::super::super::content::Fact;
    use super::*;
    use quietcore_record::ageing::{Change, Dependency};
    use quietcore_record::renewal::{CampaignPart, MeasuredAgain, RenewalReason};

    fn renewal() -> Renewal {
        let (before, now) = ("6.1.0-1".to_owned(), "6.1.0-2".to_owned());
        let change = Change { dependency: Dependency::Kernel, before, now };
        let partitions = vec!["axis".to_owned()];
        let taken = |record: &str, folder: &str| TakenOver {
            record: record.to_owned(),
            folder: folder.to_owned(),
            measured_at: "2026-01-02T03:05:00Z".to_owned(),
            sha256: "12ab".to_owned(),
        };
        Renewal {
            folder: "/runs/b".to_owned(),
            started_at: "2026-01-02T03:04:05Z".to_owned(),
            sums_sha256: "34cd".to_owned(),
            measured_again: vec![MeasuredAgain {
                part: CampaignPart::Profile("tp4".to_owned()),
                because: vec![RenewalReason::Expired { partitions, change }],
            }],
            taken_over: vec![taken("axis.tp1.task0", "/runs/b"), taken("axis.tp2.cpu1", "/runs/a")],
        }
    }

    #[test]
    fn a_renewal_tells_why_each_part_was_measured_again_and_where_the_rest_is_from() {
        let mut page = Content::default();
        on_page(&mut page, &renewal());
        let tables: Vec<&Table> = page
            .blocks
            .iter()
            .filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None })
            .collect();
        let because = &tables[0].rows[0].cells[0].text;
        assert_eq!(because, "axis: kernel 6.1.0-1 → 6.1.0-2");
        let second: Vec<_> = tables[1].rows[1].cells.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(second, ["2026-01-02 03:05:00 UTC", "/runs/a", "12ab"]);
        let mut text = Content::default();
        in_terminal(&mut text, &renewal());
        let Block::Facts(facts) = &text.blocks[0] else { panic!("{text:?}") };
        let told: Vec<_> =
            facts.facts.iter().map(|Fact { name, text, .. }| (&**name, &**text)).collect();
        assert_eq!(told[1], ("Measured again", "tp4, since axis: kernel 6.1.0-1 → 6.1.0-2"));
        assert!(told[2].1.starts_with("axis.tp1.task0, measured 2026-01-02"), "{told:?}");
        assert_eq!(told[3].0, "");
        assert!(told[3].1.ends_with(" in /runs/a"), "{told:?}");
    }

    /// Goal: whoever compares systems is told that some were measured at another time; nobody else.
    #[test]
    fn systems_of_several_times_are_told_to_the_reader() {
        let told = |renewal: &Renewal| {
            let (mut page, mut text) = (Content::default(), Content::default());
            on_page(&mut page, renewal);
            in_terminal(&mut text, renewal);
            [page, text].map(|content| format!("{content:?}").contains("of several times"))
        };
        let mut renewal = renewal();
        assert_eq!(told(&renewal), [false, false], "its partitions were measured together");
        let (partition, profile) = ("axis".to_owned(), "tp4".to_owned());
        renewal.measured_again[0].part = CampaignPart::Alone { partition, profile };
        assert_eq!(told(&renewal), [true, true]);
        renewal.taken_over.clear();
        assert_eq!(told(&renewal), [false, false], "all is of one time");
    }
}
