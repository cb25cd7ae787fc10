//! Text for the terminal: its width, colours, and escaped control characters.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};

use quietcore_report::table::Look;
use quietcore_wording::hanging;
use rustix::fd::AsFd;
use rustix::termios::tcgetwinsize;

/// Width of text if there is no terminal to ask.
const WIDTH: usize = 100;
/// The widest text: longer lines are hard to read, however wide the terminal is.
const WIDTH_MAX: usize = 160;
/// The narrowest text: in less, nothing fits beside anything.
const WIDTH_MIN: usize = 60;
/// Number of spaces before the rest of a wrapped line.
const INDENT: usize = 2;

/// Returns `true` if standard output takes colour: it is a terminal that is not `dumb`, and
/// `NO_COLOR` is not set.
pub(crate) fn color() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !refused && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Writes a line to standard error; it may quote text from elsewhere. Errors are ignored, since a
/// reader that has gone away is no reason to stop.
pub(crate) fn say(words: impl std::fmt::Display) {
    let text = harmless(&words.to_string());
    let _ = writeln!(io::stderr(), "{}", fitting_errors(&text));
}

/// Writes a question to standard error; the answer is typed on the same line.
pub(crate) fn ask(words: impl std::fmt::Display) {
    let text = harmless(&words.to_string());
    let _ = write!(io::stderr(), "{} ", fitting_errors(&text));
}

/// Wraps text for standard output at the width of the terminal. If a file or a program reads it,
/// its lines stay whole.
pub(crate) fn fitting(text: &str) -> String {
    within(text, width_of(io::stdout()))
}

/// Wraps text for standard error in the same way.
pub(crate) fn fitting_errors(text: &str) -> String {
    within(text, width_of(io::stderr()))
}

fn within(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let end = if text.ends_with('\n') { "\n" } else { "" };
    hanging(text, columns, INDENT) + end
}

/// Shows control characters by their numbers, except our own colours where the terminal takes any:
/// the text may quote a manifest, a site file or a program.
pub(crate) fn harmless(text: &str) -> String {
    let colours = Palette::of_terminal();
    harmless_with(text, &colours)
}

fn harmless_with(text: &str, colours: &Palette) -> String {
    let Palette { bold, dim, red, yellow, green, reset } = *colours;
    let ours =
        [bold, dim, red, yellow, green, reset].map(|it| Some(it).filter(|it| !it.is_empty()));
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let colour = ours.iter().flatten().find(|colour| rest.starts_with(**colour));
        let bytes = colour.map_or(first.len_utf8(), |colour| colour.len());
        if colour.is_some() || !first.is_control() || matches!(first, '\n' | '\t') {
            shown.push_str(&rest[..bytes]);
        } else {
            shown.extend(first.escape_unicode());
        }
        rest = &rest[bytes..];
    }
    shown
}

/// Escapes what a terminal would obey in JSON, which may hold control characters from U+007F on as
/// they are. A reader of the JSON gets the same strings.
pub(crate) fn harmless_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{7f}'..='\u{9f}' => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => shown.push(c),
        }
    }
    shown
}

/// Returns text from elsewhere on one line, with control characters replaced. Its lines, such as
/// those of a compiler, are separated by ` | `, or by a space after a colon.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        if !shown.is_empty() {
            shown.push_str(if shown.ends_with(':') { " " } else { " | " });
        }
        shown.extend(line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }));
    }
    shown
}

/// Returns the width of text on standard output in columns, whether it is a terminal or not.
pub(crate) fn width() -> usize {
    width_of(io::stdout()).unwrap_or(WIDTH)
}

/// Returns the width of a terminal in columns, or that of `COLUMNS` if it is none.
fn width_of(output: impl AsFd) -> Option<usize> {
    let asked = tcgetwinsize(output).ok().map(|size| usize::from(size.ws_col));
    let said = || env::var("COLUMNS").ok()?.parse().ok();
    let columns = asked.filter(|columns| *columns > 0).or_else(said)?;
    Some(columns.clamp(WIDTH_MIN, WIDTH_MAX))
}

/// A palette: escape sequences, or nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    pub(crate) bold: &'static str,
    pub(crate) dim: &'static str,
    pub(crate) red: &'static str,
    pub(crate) yellow: &'static str,
    pub(crate) green: &'static str,
    pub(crate) reset: &'static str,
}

impl Palette {
    /// The palette without colour.
    const PLAIN: Self = Self { bold: "", dim: "", red: "", yellow: "", green: "", reset: "" };

    /// The looks of the report's tables, and bold. [`harmless`] lets these pass.
    const COLOURED: Self = Self {
        bold: "\x1b[1m",
        dim: Look::Dim.begin(),
        red: Look::Bad.begin(),
        yellow: Look::Open.begin(),
        green: Look::Good.begin(),
        reset: Look::END,
    };

    /// Returns the palette for standard output.
    pub(crate) fn of_terminal() -> Self {
        if color() { Self::COLOURED } else { Self::PLAIN }
    }
}

#[cfg(test)]
mod tests {
    use quietcore_report::table::{Field, Side, Table};

    use super::*;

    /// Goal: a reader of the JSON gets the text as it was.
    #[test]
    fn json_stays_json_and_means_the_same() {
        let odd = "a\x1b[2J\u{7f}\u{9b}2J\n\t\"\\µ";
        let shown = harmless_json(&serde_json::to_string_pretty(&[odd]).unwrap());
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap(), [odd]);
    }

    #[test]
    fn lines_of_a_text_stand_apart_on_one_line() {
        let warned = "the compiler has 2 warnings:\na.c:1: odd\r\nb.c:2: even\n";
        let shown = "the compiler has 2 warnings: a.c:1: odd | b.c:2: even";
        assert_eq!(visible(warned), shown);
        assert_eq!(visible("a\x1b[2J\rb"), "a\u{fffd}[2J\u{fffd}b");
        assert_eq!(visible(""), "");
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_by_its_number() {
        let none = Palette::PLAIN;
        let odd = "a\x1b]0;title\x07\r\u{9b}2J\n\tb";
        let shown = harmless_with(odd, &none);
        assert_eq!(shown, "a\\u{1b}]0;title\\u{7}\\u{d}\\u{9b}2J\n\tb");
        assert_eq!(harmless_with("\x1b[1mPASS\x1b[0m", &none), "\\u{1b}[1mPASS\\u{1b}[0m");
        let ours = Palette { bold: "\x1b[1m", reset: "\x1b[0m", ..none };
        assert_eq!(harmless_with("\x1b[1mµs\x1b[0m\x1b[2J", &ours), "\x1b[1mµs\x1b[0m\\u{1b}[2J");
    }

    /// Goal: each look of a table, a verdict's among them, reaches the terminal as a colour, and
    /// takes no columns. Method: paints one of each, as the tables do.
    #[test]
    fn every_colour_of_a_table_passes() {
        let mut table = Table::new().leading("look", Side::Left).column("verdict", Side::Left, 0);
        for look in Look::ALL {
            table.row([Field::new("\u{1b}[1;31mx", look), Field::new("✗ FAIL", look)]);
        }
        let lines = table.lines(80, true).join("\n");
        assert_eq!(harmless_with(&lines, &Palette::COLOURED), lines);
        assert!(lines.contains("\u{1b}[1;31m✗ FAIL"), "{lines}");
    }
}
