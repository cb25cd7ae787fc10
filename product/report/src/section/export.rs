//! Sections for programs: all of them as one document, and each of their tables as CSV.

use std::collections::BTreeMap;

use quietcore_evidence::Evidence;
use serde::Serialize;

use super::NamedContent;
use super::content::{Block, Cell, Table};
use crate::Published;
use crate::plot::Frame;
use crate::summary::Summary;

/// Identifies the document and its layout.
const SCHEMA: &str = "quietcore.sections/1";

/// The sections of a report whose content is data, with the words of its page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// Identifier of this layout.
    pub schema: &'static str,
    /// The sections that have a content, in the order of the page.
    pub sections: Vec<NamedContent>,
}

/// Makes the document of some evidence, with published tables beside the records.
pub(crate) fn document(evidence: &Evidence, published: &[Published]) -> Document {
    let summary = Summary::of(evidence);
    let mut sections = super::contents(&summary, &Frame::of(&summary), published);
    sections.retain(|section| !section.content.is_empty());
    Document { schema: SCHEMA, sections }
}

impl Document {
    /// Returns all tables as CSV, each with the name of its file. Cells are as the page shows them,
    /// with their units.
    pub fn tables(&self) -> Vec<(String, String)> {
        let mut tables = Vec::new();
        for section in &self.sections {
            collect(&section.content.blocks, &mut tables);
        }
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let named = tables.into_iter().map(|table| {
            let stem = stem(&table.name);
            let times = seen.entry(stem.clone()).or_default();
            *times += 1;
            let number = if *times > 1 { format!("-{times}") } else { String::new() };
            (format!("{stem}{number}.csv"), csv_of(table))
        });
        named.collect()
    }
}

fn collect<'c>(blocks: &'c [Block], tables: &mut Vec<&'c Table>) {
    for block in blocks {
        match block {
            Block::Table(table) => tables.push(table),
            Block::Details(details) => collect(&details.blocks, tables),
            _ => {}
        }
    }
}

/// Makes a file name of a table's name, which may hold the name of a partition.
fn stem(name: &str) -> String {
    let plain = name.to_lowercase();
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn csv_of(table: &Table) -> String {
    let lead = if table.lead.name.is_empty() { "Figure" } else { &table.lead.name };
    let lead = table.has_names().then(|| lead.to_owned());
    let headings = table.columns.iter().map(|column| column.name.clone());
    let headings: Vec<String> = lead.into_iter().chain(headings).collect();
    let bands = table.bands.iter();
    let bands = bands.flat_map(|(band, rows)| std::iter::repeat_n(Some(band.clone()), *rows));
    let rows = table.rows.iter().zip(bands.chain(std::iter::repeat(None))).map(|(row, band)| {
        let of_row = band.into_iter().chain([row.name.clone()]).chain(row.subs.iter().cloned());
        let name = table.has_names().then(|| of_row.collect::<Vec<_>>().join(" · "));
        name.into_iter().chain(row.cells.iter().map(words)).collect::<Vec<String>>()
    });
    let mut writer = csv::Writer::from_writer(Vec::new());
    for fields in [headings].into_iter().chain(rows) {
        let plain = fields.iter().map(|field| field.replace('\u{a0}', " "));
        // Memory takes every row, and all have as many fields.
        let _ = writer.write_record(plain);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn words(cell: &Cell) -> String {
    let below: Vec<String> = cell.below.iter().map(words).collect();
    if below.is_empty() {
        cell.text.clone()
    } else {
        format!("{} ({})", cell.text, below.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::content::{Column, Content, Row};
    use super::*;

    #[test]
    fn a_table_is_a_file_of_its_own_with_the_words_of_the_page() {
        let cell = Cell { below: vec![Cell::plain("1 %")], ..Cell::quantity("2.5\u{a0}µs") };
        let table = Table {
            name: "Isolation, ../axis".to_owned(),
            lead: Column::new("Row", 1),
            columns: Column::all(["min, max"], 1),
            rows: vec![Row { subs: vec!["iso1".to_owned()], ..Row::new("1", vec![cell]) }],
            ..Table::default()
        };
        let within = Block::details("more", vec![Block::Table(table.clone())]);
        let content = Content { blocks: vec![Block::Table(table), within], ..Content::default() };
        let section = NamedContent { anchor: "isolation", title: "Isolation", content };
        let document = Document { schema: SCHEMA, sections: vec![section] };
        let text = "Row,\"min, max\"\n1 · iso1,2.5 µs (1 %)\n".to_owned();
        let names = ["isolation-axis.csv", "isolation-axis-2.csv"];
        assert_eq!(document.tables(), names.map(|name| (name.to_owned(), text.clone())));
    }

    #[test]
    fn a_row_of_a_group_is_named_with_it() {
        let row = |name: &str| Row::new(name, vec![Cell::plain("1")]);
        let table = Table {
            columns: Column::all(["tp2"], 1),
            rows: vec![row("Median"), row("p99"), row("Median")],
            bands: vec![("Execution".to_owned(), 2), ("Response".to_owned(), 1)],
            ..Table::default()
        };
        let rows = "Execution · Median,1\nExecution · p99,1\nResponse · Median,1\n";
        assert_eq!(csv_of(&table), format!("Figure,tp2\n{rows}"));
    }
}
