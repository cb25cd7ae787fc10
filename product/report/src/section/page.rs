//! A section on the page.

use maud::{Markup, PreEscaped, html};

use super::content::{
    Answer, Block, Cell, Column, ColumnKind, Command, Content, Definition, Details, Fact, Figure,
    Paragraph, Row, Span, Table,
};
use crate::figures::{self, NONE};
use crate::html::{badge, mini, quantity, with_code};

/// Bytes of a fact above which it gets a line of its own.
const WIDE: usize = 60;

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

/// Renders an answer with its figures beside it, in the colour of its tone.
pub(crate) fn answer(answer: &Answer) -> Markup {
    let words = html! {
        @if !answer.who.is_empty() { p.who { (spans(&answer.who)) } }
        p.word {
            @if let Some(verdict) = answer.verdict {
                span.sign aria-hidden="true" { (figures::sign(verdict)) } " "
            }
            (answer.word)
            @if answer.is_quick_look { " " span.quick { "quick look" } }
        }
        @if let Some(lead) = &answer.lead { p.lead { (lead) } }
        @for paragraph in &answer.why { p.why { (spans(paragraph)) } }
    };
    html! {
        div class=(format!("hero {}", answer.tone)) {
            div.answer { (words) }
            @if let Some(tiles) = &answer.tiles {
                div.tiles {
                    @for tile in tiles {
                        div.tile {
                            p.label { (tile.label) }
                            p.value { (tile.value) }
                            p.note { (with_code(&tile.note)) }
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
        Block::SubHeading(text, sub) => html! {
            h4 { (text) @if let Some(sub) = sub { span.sub { (sub) } } }
        },
        Block::Text(text) => html! { p { (spans(text)) } },
        Block::Remark(text) => html! { p.remark { (spans(text)) } },
        Block::Facts(found) => html! {
            dl.facts { @for one in &found.facts { (fact(one)) } }
        },
        Block::Table(found) => table(found),
        Block::Definitions(terms) => html! {
            dl.footnotes {
                @for Definition { id, term, meaning } in terms {
                    div id=(format!("def-{id}")) { dt { (term) } dd { (meaning) } }
                }
            }
        },
        Block::Figure(found) => figure(found),
        Block::Plots(found) => html! { div.plots { @for one in found { (figure(one)) } } },
        Block::Command(Command { anchor, purpose, command }) => html! {
            p.remark id=(anchor) { (purpose) }
            pre tabindex="0" { code { (command) } }
        },
        Block::Prose(paragraphs) => html! {
            div.prose { @for one in paragraphs { (paragraph(one)) } }
        },
        Block::Listing(lines) => html! { pre tabindex="0" { code { (lines) } } },
        Block::Details(Details { title, is_open, blocks }) => html! {
            details open=[is_open.then_some("")] { summary { (title) } (of_blocks(blocks)) }
        },
        Block::Sources(sources) => html! {
            ol.sources {
                @for (index, source) in sources.iter().enumerate() {
                    li id=(format!("source-{}", index + 1)) { (source) }
                }
            }
        },
        Block::Gap => html! {},
    }
}

fn fact(Fact { name, text, is_code }: &Fact) -> Markup {
    html! {
        div.wide[*is_code || text.len() > WIDE] {
            dt { (name) }
            dd { @if *is_code { code.hash { (text) } } @else { (text) } }
        }
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
                Span::Link(anchor, words) => a href=(format!("#{anchor}")) { (words) },
                Span::Place(text) => span.where { "(" (text) ")" },
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.name) {
            table class=(table.layout.unwrap_or("statistics")) {
                thead { (headings(table)) }
                @for (heading, rows) in bands(table) {
                    tbody {
                        @if let Some(heading) = heading {
                            tr.group {
                                th colspan=(table.columns.len() + 1) scope="colgroup" { (heading) }
                            }
                        }
                        @for row in rows { (line(row, table)) }
                    }
                }
            }
        }
    }
}

/// Returns the groups of rows, each with its heading; all rows together where there are no groups.
fn bands(table: &Table) -> Vec<(Option<&str>, &[Row])> {
    if table.bands.is_empty() {
        return vec![(None, &table.rows)];
    }
    let mut rows = &table.rows[..];
    let mut bands = Vec::new();
    for (heading, count) in &table.bands {
        let (own, others) = rows.split_at((*count).min(rows.len()));
        bands.push((Some(heading.as_str()), own));
        rows = others;
    }
    bands
}

fn row_name(row: &Row) -> Markup {
    html! {
        @match row.defined {
            Some(id) => a.term href=(format!("#def-{id}")) title=[row.meaning.as_ref()] {
                (row.name)
            },
            None => (row.name),
        }
        @if let Some(number) = row.source {
            sup { a href=(format!("#source-{number}")) { (number) } }
        }
        @if row.is_declared { " " span.tag { "declared" } }
        @for sub in &row.subs { span.sub { (sub) } }
    }
}

fn line(row: &Row, table: &Table) -> Markup {
    let unlinked = row.meaning.as_ref().filter(|_| row.defined.is_none());
    html! {
        tr class=[class_of_row(row)] {
            @if table.has_names() { th scope="row" title=[unlinked] { (row_name(row)) } }
            @for (column, cell) in table.columns.iter().zip(&row.cells) {
                @let title = cell.published.as_ref().or(cell.because.as_ref());
                @let short = (!column.short.is_empty()).then_some(column.short);
                td class=[class_of(column, cell)] title=[title] data-name=[short] {
                    (cell_text(cell))
                    @for below in &cell.below { span.sub { (cell_text(below)) } }
                }
            }
        }
    }
}

fn headings(table: &Table) -> Markup {
    let heading = |column: &Column| {
        let kind = (column.kind == ColumnKind::Numbers).then_some("n");
        html! {
            th class=[joined(kind, column.is_dim)] scope="col" title=[column.meaning.as_ref()] {
                (column.name) @for below in &column.below { span.sub { (below) } }
            }
        }
    };
    html! {
        @if table.groups.is_empty() {
            tr {
                @if !table.lead.name.is_empty() { th scope="col" { (table.lead.name) } }
                @else if table.has_names() { td {} }
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
fn class_of(column: &Column, cell: &Cell) -> Option<String> {
    let kind = match (column.kind, &cell.published) {
        (ColumnKind::Words, _) => None,
        (ColumnKind::Reasons, _) => Some("because"),
        (ColumnKind::Numbers, None) => Some("n"),
        (ColumnKind::Numbers, Some(_)) => Some("n paper"),
    };
    joined(kind, column.is_dim)
}

fn class_of_row(row: &Row) -> Option<&'static str> {
    match (row.is_declared, row.is_dim) {
        (true, _) => Some("declared"),
        (false, true) => Some("dim"),
        (false, false) => None,
    }
}

fn joined(kind: Option<&str>, is_dim: bool) -> Option<String> {
    match (kind, is_dim) {
        (None, false) => None,
        (Some(kind), false) => Some(kind.to_owned()),
        (None, true) => Some("dim".to_owned()),
        (Some(kind), true) => Some(format!("{kind} dim")),
    }
}

fn cell_text(cell: &Cell) -> Markup {
    if let Some(verdict) = cell.verdict {
        return mini(verdict);
    }
    if !cell.lines.is_empty() {
        return html! { @for line in &cell.lines { div { (spans(line)) } } };
    }
    match cell.tone {
        Some(tone) => html! { span class=(format!("mini {tone}")) { (cell.text) } },
        None if cell.is_quantity && cell.text == NONE => html! {
            span.dim { (quantity(NONE)) }
        },
        None if cell.is_quantity => quantity(&cell.text),
        None if cell.is_marked => with_code(&cell.text),
        None => html! { (cell.text) },
    }
}

fn figure(figure: &Figure) -> Markup {
    let drawing = PreEscaped(figure.svg.as_str());
    html! {
        figure class=[joined(figure.layout, figure.is_dim)] {
            @if let Some((name, sub)) = &figure.caption {
                figcaption {
                    span.name { (name) }
                    @if let Some(verdict) = figure.verdict { (badge(verdict)) }
                    @for tag in &figure.tags { span.tag { (tag) } }
                    @if !sub.is_empty() { span.sub { (sub) } }
                }
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
            @for line in &figure.numbers { p.numbers { (line) } }
        }
    }
}
