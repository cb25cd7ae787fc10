//! A section on the page.

use maud::{Markup, PreEscaped, html};

use super::content::{Answer, Block, Cell, Content, Facts, Figure, Paragraph, Span, Table};
use crate::html::{quantity, with_code};

/// Renders the answers of a section, `most` at most.
pub(crate) fn answers(content: &Content, most: usize) -> Markup {
    html! { @for one in content.answers.iter().take(most) { (answer(one)) } }
}

/// Renders all but the answers.
pub(crate) fn blocks(content: &Content) -> Markup {
    html! { @for one in &content.blocks { (block(one)) } }
}

fn answer(answer: &Answer) -> Markup {
    html! {
        div class="hero neutral" {
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
        Block::Remark(text) => html! { p.remark { (spans(text)) } },
        Block::Facts(Facts { facts, .. }) => html! {
            dl { @for (name, text) in facts { div { dt { (name) } dd { (text) } } } }
        },
        Block::Table(found) => table(found),
        Block::Figure(found) => figure(found),
        Block::Prose(paragraphs) => html! {
            div.prose { @for one in paragraphs { (paragraph(one)) } }
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
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.name) {
            table.statistics {
                thead {
                    tr {
                        th scope="col" { (table.lead.name) }
                        @for column in &table.columns {
                            th.n scope="col" title=[column.meaning] { (column.name) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            th scope="row" title=[row.meaning.as_ref()] {
                                (row.name) @for sub in &row.subs { span.sub { (sub) } }
                            }
                            @for cell in &row.cells { td.n { (cell_text(cell)) } }
                        }
                    }
                }
            }
        }
    }
}

fn cell_text(cell: &Cell) -> Markup {
    if cell.is_quantity {
        quantity(&cell.text)
    } else {
        html! { (cell.text) }
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
