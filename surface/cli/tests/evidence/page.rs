//! The text of a report's page: headings, paragraphs, tables, captions, names of plots. The
//! drawing of a plot is left out, and so are quotations: site file, command lines, the doctor's
//! facts.

use roxmltree::{Document, Node};

/// Returns the outline of a page, in the order of the page.
pub(crate) fn outline(page: &str) -> String {
    let xml = xml(page);
    let document = Document::parse(&xml).unwrap();
    let mut outline = String::new();
    add(document.root_element(), &mut outline);
    outline
}

fn add(node: Node<'_, '_>, outline: &mut String) {
    for child in node.children().filter(Node::is_element) {
        let name = child.tag_name().name();
        let line = match name {
            "title" | "h1" | "h2" | "h3" | "h4" | "p" | "li" | "dt" | "dd" | "summary"
            | "caption" | "figcaption" => format!("{name} {}", text(child)),
            "tr" => format!("| {} |", cells(child).join(" | ")),
            "svg" => format!("plot {}", of_plot(child)),
            "pre" | "style" | "script" => continue,
            _ => {
                if let Some(id) = child.attribute("id").filter(|_| name == "section") {
                    outline.push_str(&format!("section {id}\n"));
                }
                add(child, outline);
                continue;
            }
        };
        outline.push_str(line.trim_end());
        outline.push('\n');
        if name == "li" || name == "dd" {
            plots_within(child, outline);
        }
    }
}

/// Names the plots of an element whose text is one line.
fn plots_within(node: Node<'_, '_>, outline: &mut String) {
    for plot in node.descendants().filter(|node| node.has_tag_name("svg")) {
        outline.push_str(&format!("plot {}\n", of_plot(plot)));
    }
}

fn cells<'a>(row: Node<'a, 'a>) -> Vec<String> {
    row.children().filter(Node::is_element).map(text).collect()
}

/// Returns title and description of a plot.
fn of_plot(plot: Node<'_, '_>) -> String {
    let parts = plot.children().filter(|it| it.has_tag_name("title") || it.has_tag_name("desc"));
    parts.map(|part| words(part.text().unwrap_or_default())).collect::<Vec<_>>().join(": ")
}

/// Returns the text of an element, without drawings and quotations in it.
fn text(node: Node<'_, '_>) -> String {
    let is_left_out = |node: Node<'_, '_>| {
        node.ancestors().any(|node| ["svg", "pre"].contains(&node.tag_name().name()))
    };
    let texts = node.descendants().filter(|node| node.is_text() && !is_left_out(*node));
    words(&texts.filter_map(|node| node.text()).collect::<String>())
}

/// Returns a text with single spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the page as XML: void elements closed, the style and the script left out.
fn xml(page: &str) -> String {
    let mut text = page.strip_prefix("<!DOCTYPE html>").unwrap().to_owned();
    for element in ["style", "script"] {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        while let Some(begin) = text.find(&open) {
            let end = text[begin..].find(&close).unwrap() + begin + close.len();
            text.replace_range(begin..end, "");
        }
    }
    let mut parts = text.split("<meta");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |closed, part| closed + "<meta" + &part.replacen('>', "/>", 1))
}
