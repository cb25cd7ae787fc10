//! A section on the page.

use maud::{Markup, PreEscaped, html};

use super::content::{
    Answer, Block, Cell, Column, ColumnKind, Content, Facts, Figure, Paragraph, Span, Table,
};
use crate::html::{quantity, with_code};

/// Renders the answers of a section, `most` at most.
pub(crate) fn answers(content: &Content, most: usize) -> Markup {
    html! { @for one in content.answers.iter().take(most) { (answer(one)) } }
}

/// Renders all but the answers.
pub(crate) fn blocks(content: &Content) -> Markup {
    of_blocks(&content.blocks)
}

fn of_blocks(blocks: &[Block]) -> Markup {
    html! { @for one in blocks { (block(one)) } }
}

fn answer(answer: &Answer) -> Markup {
    html! {
        div class=(format!("hero {}", answer.tone)) {
            div.answer {
                p.who { (spans(&answer.who)) }
                p.word { (answer.word) }
                p.why { (spans(&answer.why)) }
            }
            @if let Some(tiles) = &answer.tiles {
                div.tiles {
                    @for tile in tiles {
                        div.tile {
                            p.label { (tile.label) }
                            p.value { (tile.value) }
                            p.note { (tile.note) }
                        }
                    }
                }
            }
        }
    }
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Heading(text, sub) => html! {
            h3 { (text) @if let Some(sub) = sub { span.sub { (sub) } } }
        },
        Block::SubHeading(text) => html! { h4 { (text) } },
        Block::Remark(text) => html! { p.remark { (spans(text)) } },
        Block::Facts(Facts { facts, .. }) => html! {
            dl { @for (name, text) in facts { div { dt { (name) } dd { (text) } } } }
        },
        Block::Table(found) => table(found),
        Block::Figure(found) => figure(found),
        Block::Prose(paragraphs) => html! {
            div.prose { @for one in paragraphs { (paragraph(one)) } }
        },
        Block::Details(title, within) => html! {
            details { summary { (title) } (of_blocks(within)) }
        },
        Block::Gap => html! {},
    }
}

fn paragraph(paragraph: &Paragraph) -> Markup {
    match paragraph {
        Paragraph::Text(text) => html! { p { (spans(text)) } },
        Paragraph::Glossary(words) => html! {
            dl.glossary { @for (word, meaning) in words { div { dt { (word) } dd { (meaning) } } } }
        },
    }
}

fn spans(spans: &[Span]) -> Markup {
    html! {
        @for span in spans {
            @match span {
                Span::Plain(text) => (text),
                Span::Bold(text) => b { (text) },
                Span::Marked(text) => (with_code(text)),
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let layout = table.layout.map(|layout| format!("statistics {layout}"));
    let layout = layout.as_deref().unwrap_or("statistics");
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.name) {
            table class=(layout) {
                thead { (headings(table)) }
                tbody {
                    @for row in &table.rows {
                        tr class=[row.is_dim.then_some("dim")] {
                            th scope="row" title=[row.meaning.as_ref()] {
                                (row.name) @for sub in &row.subs { span.sub { (sub) } }
                            }
                            @for (column, cell) in table.columns.iter().zip(&row.cells) {
                                td class=[class_of(column, cell)] title=[cell.published.as_ref()] {
                                    (cell_text(cell))
                                    @for below in &cell.below { span.sub { (cell_text(below)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn headings(table: &Table) -> Markup {
    let heading = |column: &Column| {
        let class = (column.kind == ColumnKind::Numbers).then_some("n");
        html! {
            th class=[class] scope="col" title=[column.meaning] {
                (column.name) @if let Some(below) = &column.below { span.sub { (below) } }
            }
        }
    };
    html! {
        @if table.groups.is_empty() {
            tr {
                th scope="col" { (table.lead.name) }
                @for column in &table.columns { (heading(column)) }
            }
        } @else {
            tr {
                th scope="col" rowspan="2" { (table.lead.name) }
                @for (name, columns) in &table.groups {
                    th.over scope="colgroup" colspan=(columns) { (name) }
                }
            }
            tr { @for column in &table.columns { (heading(column)) } }
        }
    }
}

/// Returns the class of a cell in the style sheet.
fn class_of(column: &Column, cell: &Cell) -> Option<&'static str> {
    match (column.kind, &cell.published) {
        (ColumnKind::Words, _) => None,
        (ColumnKind::Reasons, _) => Some("because"),
        (ColumnKind::Numbers, None) => Some("n"),
        (ColumnKind::Numbers, Some(_)) => Some("n paper"),
    }
}

fn cell_text(cell: &Cell) -> Markup {
    match cell.tone {
        Some(tone) => html! { span class=(format!("mini {tone}")) { (cell.text) } },
        None if cell.is_quantity => quantity(&cell.text),
        None => html! { (cell.text) },
    }
}

fn figure(figure: &Figure) -> Markup {
    let drawing = PreEscaped(figure.svg.as_str());
    html! {
        figure class=[figure.layout] {
            @if let Some((name, sub)) = &figure.caption {
                figcaption { span.name { (name) } span.sub { (sub) } }
            }
            @if !figure.legend.is_empty() {
                p.legend {
                    @for (class, words) in &figure.legend {
                        span class=(format!("key {class}")) { (words) }
                    }
                }
            }
            @match figure.scrolls {
                Some(name) => div.scroll tabindex="0" role="region" aria-label=(name) { (drawing) },
                None => (drawing),
            }
        }
    }
}
