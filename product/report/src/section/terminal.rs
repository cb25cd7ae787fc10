//! A section in a terminal.

use super::content::{Block, ColumnKind, Content, Fact, Table, words};
use crate::table::{Side, Table as Lines, cut, visible};
use crate::text::Page;

/// Adds all blocks; drawings have no place in a text.
pub(crate) fn blocks(page: &mut Page, content: &Content) {
    content.blocks.iter().for_each(|one| block(page, one));
}

fn block(page: &mut Page, block: &Block) {
    match block {
        Block::Heading(text, sub) => {
            let sub = sub.as_ref().map_or_else(String::new, |sub| format!(", {sub}"));
            page.paragraph("", &format!("{text}{sub}"));
        }
        Block::Text(text) | Block::Remark(text) => page.paragraph("", &words(text)),
        Block::Facts(facts) => {
            for Fact { name, text, .. } in &facts.facts {
                let name = fit(name, facts.width);
                page.paragraph(&format!("{}{name}", " ".repeat(facts.indent)), text);
            }
        }
        Block::Table(found) => table(page, found),
        Block::Figure(_)
        | Block::Prose(_)
        | Block::SubHeading(..)
        | Block::Plots(_)
        | Block::Command(_)
        | Block::Listing(_)
        | Block::Definitions(_)
        | Block::Sources(_)
        | Block::Details(..) => {}
        Block::Gap => page.line(""),
    }
}

fn table(page: &mut Page, table: &Table) {
    let lead = fit(&table.lead.name, table.lead.width);
    let mut lines = Lines::new().leading(&lead, Side::Left);
    for column in &table.columns {
        let is_number = column.kind == ColumnKind::Numbers;
        let side = if is_number { Side::Right } else { Side::Left };
        lines = lines.column(&column.name, side, column.width);
    }
    for row in &table.rows {
        let cells = row.cells.iter().map(|cell| &*cell.text);
        lines.row([&*row.name].into_iter().chain(cells));
    }
    page.table(&lines);
}

/// Fits `text` into exactly `width` columns; a longer one ends in `…`.
fn fit(text: &str, width: usize) -> String {
    format!("{:width$}", cut(&visible(text), width))
}
