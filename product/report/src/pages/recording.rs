//! Recordings of a program's variables: as a picture, as a page, as a section of the report.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use quietcore_record::trace::{self, Recording};

use crate::figures;
use crate::plot;

/// Colours and strokes of a picture that stands alone.
const STYLE: &str = include_str!("recording.css");

/// A recording with the name of its partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Site and partition, such as `press-line/axis`.
    pub name: String,
    /// The recorded variables over time.
    pub recording: Recording,
}

/// Draws the recording as a picture that needs nothing else.
pub fn svg(named: &Named) -> String {
    let drawn = plot::recording(&named.recording, &named.name).into_string();
    let inside = drawn.strip_prefix("<svg").unwrap_or(&drawn);
    let styled = inside.replacen("</desc>", &format!("</desc><style>{STYLE}</style>"), 1);
    format!("<svg xmlns=\"http://www.w3.org/2000/svg\"{styled}\n")
}

/// Renders recordings as a page that needs nothing else.
pub fn page(recordings: &[Named]) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Quietcore recording" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    @for named in recordings {
                        h1 { (named.name) }
                        (figure(named))
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// Renders the section of the report; `None` without recordings. A recording that can't be read is
/// replaced by the reason.
pub(crate) fn section(tables: &[(String, Vec<u8>)]) -> Option<Markup> {
    if tables.is_empty() {
        return None;
    }
    Some(html! {
        p.remark {
            "Variables of the programs, as they were recorded. Each has an axis of its own, in the "
            "program's own unit; a value holds until the next sample. Where several samples share "
            "a point, the band is from the smallest to the largest of them."
        }
        @for (name, table) in tables {
            h3 { (name) }
            @match trace::read(table) {
                Ok(recording) => { (figure(&Named { name: name.clone(), recording })) }
                Err(error) => { p.empty { "It can't be read: " (error) } }
            }
        }
    })
}

fn figure(named: &Named) -> Markup {
    let recording = &named.recording;
    html! {
        figure.recording {
            (plot::recording(recording, &named.name))
            p.numbers {
                (figures::count(recording.samples)) " samples of "
                (recording.variables.len()) " variables, "
                (figures::count(recording.lost)) " lost"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_record::trace::Moment;

    fn named() -> Named {
        let mut recording = Recording::new(vec!["servo_Y.torque".to_owned()]);
        for cycle in 0..100 {
            let seconds = cycle as f64 / 1e3;
            let moment = Moment { cycle, monotonic_ns: 0, seconds, lost_before: 0 };
            recording.push(&moment, &[(seconds * 60.0).sin()]);
        }
        Named { name: "<line>/axis".to_owned(), recording }
    }

    #[test]
    fn a_picture_stands_alone() {
        let picture = svg(&named());
        let parsed = roxmltree::Document::parse(&picture).unwrap();
        assert!(parsed.root_element().has_tag_name(("http://www.w3.org/2000/svg", "svg")));
        assert!(picture.contains("--accent:"), "{picture}");
        let page = page(&[named()]);
        assert!(page.contains("&lt;line&gt;/axis") && !page.contains("<line>"), "{page}");
    }

    #[test]
    fn a_section_shows_what_can_be_read_and_says_what_cannot() {
        assert!(section(&[]).is_none());
        let good = b"cycle,monotonic_ns,seconds,lost_before,x\n1,2,0,0,5\n".to_vec();
        let tables = [("axis".to_owned(), good), ("bad".to_owned(), b"no".to_vec())];
        let shown = section(&tables).unwrap().into_string();
        assert!(shown.contains("<svg") && shown.contains("1 samples of 1 variables"), "{shown}");
        assert!(shown.contains("can't be read: line 1"), "{shown}");
    }
}
