//! What the terminal can show.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};

use rustix::termios::tcgetwinsize;

/// Width of text where there is no terminal to ask.
const WIDTH: usize = 100;
/// The widest text: longer lines are hard to read, however wide the terminal is.
const WIDTH_MAX: usize = 160;
/// The narrowest text: below, nothing can stand beside anything.
const WIDTH_MIN: usize = 60;

/// Whether standard output takes colour: a terminal, and nobody said `NO_COLOR`.
pub(crate) fn color() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !refused && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Says something on standard error, which may quote text from elsewhere. A reader that has gone
/// away is no reason to stop.
pub(crate) fn say(words: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{}", harmless(&words.to_string()));
}

/// Text without what a terminal would obey, but for the colours of ours where it takes any: it may
/// quote a manifest, a site file or a program. A control character is shown by its number.
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

/// Text from elsewhere without what a terminal would obey.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// How wide text may be: as the terminal is, or as `COLUMNS` says where there is none.
pub(crate) fn width() -> usize {
    let asked = tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    let said = || env::var("COLUMNS").ok()?.parse().ok();
    asked.filter(|columns| *columns > 0).or_else(said).unwrap_or(WIDTH).clamp(WIDTH_MIN, WIDTH_MAX)
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
    /// The palette for standard output.
    pub(crate) fn of_terminal() -> Self {
        if color() {
            Self {
                bold: "\x1b[1m",
                dim: "\x1b[2m",
                red: "\x1b[31m",
                yellow: "\x1b[33m",
                green: "\x1b[32m",
                reset: "\x1b[0m",
            }
        } else {
            Self { bold: "", dim: "", red: "", yellow: "", green: "", reset: "" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_by_its_number() {
        let none = Palette { bold: "", dim: "", red: "", yellow: "", green: "", reset: "" };
        let odd = "a\x1b]0;title\x07\r\u{9b}2J\n\tb";
        let shown = harmless_with(odd, &none);
        assert_eq!(shown, "a\\u{1b}]0;title\\u{7}\\u{d}\\u{9b}2J\n\tb");
        assert_eq!(harmless_with("\x1b[1mPASS\x1b[0m", &none), "\\u{1b}[1mPASS\\u{1b}[0m");
        let ours = Palette { bold: "\x1b[1m", reset: "\x1b[0m", ..none };
        assert_eq!(harmless_with("\x1b[1mµs\x1b[0m\x1b[2J", &ours), "\x1b[1mµs\x1b[0m\\u{1b}[2J");
    }
}
